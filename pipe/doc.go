// Package pipe adds verdicts to the rows of an Arrow IPC stream: the columns of each record batch come out as they were,
// byte for byte, and behind them those of [output.Verdicts].
//
// It is what an engine calls that hands rows to a program and takes rows back. So a record batch that was read is written
// and flushed before another is waited for, batches stay what they are, and their rows stay where they are.
//
// # Messages, not tables
//
// An Arrow stream is messages: a schema, dictionaries, record batches. Each is a header (a FlatBuffer), and a body, in which
// the buffers of all columns lie end to end. The header of a record batch lists lengths of columns, and place and length
// of their buffers. So columns are added without a look at the others: their buffers go behind the body, and the
// header gets longer lists. Of the columns that come in, one is read: the URLs. Types that
// this package does not know, compression, dictionaries and their changes pass as they are; only of columns that stand before the URLs
// must it know how many buffers they have.
//
//	in    schema | dictionary | header: lists | body
//	out   schema + fields | dictionary | verdicts' dictionaries | header: lists + lists | body + verdicts' buffers
//
// A new header refers to parts of the one that came in, which stands unchanged behind it: offsets in a FlatBuffer lead forward.
//
// # Faults
//
// Lengths and offsets in a stream can say anything. They are checked before they are used, and memory is taken as bytes come, not as
// lengths promise. A fault is a [*StreamError] with the number of the record batch; those before it are written.
//
// # Streams behind each other
//
// Behind the end of a stream there may be another, with another schema, as of an engine that keeps the program for the
// next query. It is answered by another stream.
package pipe
