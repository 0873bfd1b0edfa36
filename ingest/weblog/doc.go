// Package weblog takes the lines of logs apart: which URL was asked for, by whom, when, and the columns that are to be
// kept. It reads the formats that web servers, proxies and crawlers write; docs/FORMATS.md has a table for each.
//
// A [Parser] reads one line after the other and says what each is: a row, a line that gives none (a header, a comment),
// or a line that it refuses, and why. It is strict about the format, so that a damaged line is not taken for another
// URL, and takes any bytes as a request: what scanners send is a row too, though its URL is none.
//
// The URL of a row is put together from what the line says, the host it names, and else [Options].Base. Escapes that
// the writer of the log added are undone; escapes of the URL itself stay as they are.
//
// Parsers do not allocate once their buffers have grown, and take time linear in the line. They are not safe for
// concurrent use.
package weblog
