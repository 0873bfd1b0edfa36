// Package weblog parses lines of logs: the requested URL, the client, the time, and fields to keep. It knows the formats
// of web servers, proxies and crawlers; docs/FORMATS.md has a table for each. Only the packages ingest and capture import
// it. CONTRIBUTING.md describes how to add a format.
//
// A [Parser] reads the lines of one log in order. A line is a row, a line without a row (a header, a comment), or is
// rejected with a reason. A parser is strict about the format, so that it never mistakes a damaged line for another URL.
// It accepts any bytes as a request: the bytes that scanners send are a row without a URL.
//
// The URL of a row comes from the line, the host that the line names, and otherwise from [Options].Base. Escapes added by
// the writer of the log are decoded. Escapes of the URL itself are unchanged.
//
// Parsers do not allocate once their buffers have grown, and take time linear in the line. They are not safe for
// concurrent use.
package weblog
