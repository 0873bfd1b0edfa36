// Package httpmsg reads HTTP messages as crawlers store them in files: headers, chunks, and the
// content codings gzip, deflate, br and zstd. Only package capture may import it.
//
// It hides that such messages often differ from their headers: a body may be stored decoded, with
// the fields of its codings still there. A body that looks like text is therefore not decoded. The
// size of a decoded body is bounded.
package httpmsg
