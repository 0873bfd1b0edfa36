// Package httpmsg reads HTTP messages as crawlers store them in files: headers, chunks, and the
// content codings gzip, deflate, br and zstd. Only package capture may import it.
//
// It hides that such messages are often not what their headers say: a body may be stored decoded
// with the fields of its codings still there, so a body that looks like text is not decoded. What a
// body becomes by decoding is bounded.
package httpmsg
