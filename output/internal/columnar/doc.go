// Package columnar turns evaluated batches into the columns of a table.
//
// It hides which columns there are, how each is gathered from a batch, and how texts that repeat
// become numbers. spec.go lists the columns, gather.go fills them, and column.go has one type for
// each kind of value. A [Schema] is the columns of one table; a [Chunk] holds rows of it, and a
// [Numbering] the dictionaries that chunks share. It knows no files: package container writes chunks.
// Package output and the rooms beside this one import it.
package columnar
