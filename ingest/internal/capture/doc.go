// Package capture reads files of captures, WARC and JSON Lines: as rules, which gives
// [robots.Response] values, and as a log, which gives a row for each fetch. Only the packages
// ingest and ingest/rulefiles may import it.
//
// It hides records: their headers, lengths and digests, how to find the next one behind damage,
// the record that a revisit record repeats, and which records make one fetch. Package ingest/rulefiles
// describes both kinds of files.
//
//   - A [Pass] reads files as rules and counts the [Problems] in them.
//   - [Fetches] read a WARC file as a log.
//
// Both keep their memory from file to file. Neither is safe for concurrent use.
//
// HTTP messages often differ from their headers in such files: a body may be stored decoded, with the fields of its
// codings still there. A body that looks like text is therefore not decoded. The size of a decoded body is bounded.
//
// # A crawl as its own log
//
// In a WARC file one fetch is two records. Crawlers write either first, and some write only one. So neighbours with one
// URL are joined, by order and not by WARC-Concurrent-To, which some writers omit. A single record is a row. So no
// fetch is lost, and only the record before must be kept. The reader of captures reads the file, and finds its way
// behind damage. It uses one goroutine, as it may have to go back.
package capture
