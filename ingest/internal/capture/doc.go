// Package capture reads capture files, WARC and JSON Lines. Read as rules, they give [robots.Response] values; read as
// a log, they give a row for each fetch. Only the packages ingest and ingest/rulefiles may import it.
//
// It handles records: their headers, lengths and digests, the search for the next record after corrupt data, the
// records that revisit records refer to, and the grouping of records into fetches. Package ingest/rulefiles describes
// both file formats.
//
//   - A [Pass] reads files as rules and counts the [Problems] in them.
//   - [Fetches] read a WARC file as a log.
//
// Both reuse their memory for the next file. Neither is safe for concurrent use.
//
// In such files, HTTP messages often differ from their headers: a body may be stored decoded although the header still
// names its codings. A body that looks like text is therefore not decoded. The size of a decoded body is bounded.
//
// # A crawl as its own log
//
// In a WARC file, a fetch consists of two records. Crawlers write either one first, and some write only one. Adjacent
// records with the same URL are therefore joined. WARC-Concurrent-To is not used, because some writers omit it. A
// record without a partner is also a row, so no fetch is lost, and only the previous record must be kept. The capture
// reader reads the file and recovers after corrupt data. It uses one goroutine, because it may have to go back.
package capture
