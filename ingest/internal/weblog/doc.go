// Package weblog reads the lines of logs: the URL that was asked for, who asked, when, and the
// fields to keep. It knows the formats of web servers, proxies and crawlers; docs/FORMATS.md has a
// table for each.
//
// It hides how each format writes its fields. Only the packages ingest and capture import it.
// CONTRIBUTING.md has the steps that add a format.
//
// A [Parser] reads the lines of one log in order and tells the kind of each line: a row, a line without
// a row (a header, a comment), or a line that it refuses, with the reason. A parser is strict about
// the format, so that it never takes a damaged line for another URL. It accepts any bytes as a
// request: the bytes that scanners send are a row too, without a URL.
//
// The URL of a row comes from the line, from the host that the line names, and else from
// [Options].Base. Escapes that the writer of the log added are undone. Escapes of the URL itself
// stay.
//
// Parsers do not allocate once their buffers have grown, and take time linear in the line. They are
// not safe for concurrent use.
package weblog
