// Package pipe adds verdicts to the rows of an Arrow IPC stream. The columns of each record batch
// come out as they were, byte for byte; the columns of [output.Verdicts] follow them.
//
// A query engine calls it: the engine sends rows to a program and reads rows back. So the package
// writes and flushes each record batch before it waits for another. Batches keep their rows, and
// rows keep their order.
//
// The package hides the format of Arrow's messages. Commands import it, and programs that serve an
// engine themselves; no other package does.
//
// # Messages, not tables
//
// An Arrow stream is a row of messages: a schema, dictionaries, record batches. Each has a header
// (a FlatBuffer) and a body, where the buffers of all columns lie end to end. The header of a
// record batch lists the lengths of the columns, and where their buffers lie. So the package adds
// columns without reading the others: it puts their buffers behind the body and writes a header
// with longer lists. It reads the column of the URLs, and the agents' if there is one. It passes on types that it does not know,
// compression, dictionaries and their changes. It must only know how many buffers the columns
// before the URLs have.
//
//	in    schema | dictionary | header: lists | body
//	out   schema + fields | dictionary | verdicts' dictionaries | header: lists + lists | body + verdicts' buffers
//
// A new header refers to parts of the old one, which follows it unchanged: offsets in a FlatBuffer
// lead forward.
//
// # Faults
//
// Lengths and offsets in a stream can have any value. They are checked before use, and memory grows
// with the bytes that come, not with the lengths that are promised. A fault is a [*StreamError]
// with the number of the record batch; those before it are written.
//
// # Several streams
//
// Another stream may follow the end of one, with another schema: an engine may keep the program for
// its next query. Each stream gets a stream as its answer. With Options.Ended rows are counted
// stream by stream.
package pipe
