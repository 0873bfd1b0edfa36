// Package pipe adds verdicts to the rows of an Arrow IPC stream. The columns of each record batch are passed on byte
// for byte, followed by the columns of [output.Verdicts].
//
// It serves query engines, which send rows to a program and read rows back. The package therefore writes and flushes
// each record batch before it waits for the next. Batches keep their rows, and rows keep their order.
//
// The package handles the format of Arrow's messages. Commands import it, and programs that serve an engine themselves;
// no other package does.
//
// # Messages, not tables
//
// An Arrow stream is a sequence of messages: a schema, dictionaries, record batches. Each has a header (a FlatBuffer)
// and a body with the buffers of all columns, one after the other. The header of a record batch lists the lengths of
// the columns, and the positions of their buffers. The package can therefore add columns without reading the others: it
// appends their buffers to the body and writes a header with longer lists. It reads only the column of the URLs, and
// that of the agents if there is one. Unknown types, compression, dictionaries and their changes are passed on. The
// package must only know the number of buffers in the columns before the URLs.
//
//	in    schema | dictionary | header: lists | body
//	out   schema + fields | dictionary | verdicts' dictionaries | header: lists + lists | body + verdicts' buffers
//
// A new header refers to parts of the old one, which follows it unchanged: offsets in a FlatBuffer point forward.
//
// # Faults
//
// Lengths and offsets in a stream are untrusted. They are checked before use, and memory grows with the bytes received,
// not with the lengths announced. A fault is a [*StreamError] with the number of the record batch; earlier batches are
// written.
//
// # Several streams
//
// Another stream, with another schema, may follow the end of one: an engine may keep the program for its next query.
// Each stream gets a stream as its response. With Options.Ended, rows are counted per stream.
package pipe
