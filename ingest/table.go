package ingest

import (
	"io"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A tableLog is an open log that is not read by lines: a Parquet or a WARC file.
type tableLog interface {
	// fill adds rows to b: at most so many, of about so many bytes. It returns why it stopped before the end.
	fill(r *rowReader, b *engine.Batch, rows, bytes int) error
	// done reports whether all rows were read.
	done() bool
	// at returns where a fault of fill is.
	at() where
	// read returns how many bytes of the file were read, as far as that is known.
	read() int64
	close() error
}

// tableFormat returns the format of a file that is not to be read by lines, and Auto for others.
func tableFormat(name string, f io.ReaderAt, size int64) weblog.Format {
	switch {
	case isParquet(f):
		return weblog.Parquet
	case isWARC(name, f, size):
		return weblog.WARC
	}
	return weblog.Auto
}

// isFile reports whether an input is a file that has a name and can be read at any place.
func (in *Input) isFile() bool { return in.Name != stdinName && in.Size >= 0 }

// openTable opens the next input, which is a table.
func (l *Logs) openTable() bool {
	name, f := l.names[l.next], l.tables[l.next]
	l.next++
	var err error
	if f == weblog.WARC {
		l.table, err = openWARC(name, l.opt.Fields)
	} else {
		l.table, err = openParquet(name, l.opt.Fields)
	}
	if err != nil {
		l.table = nil
		l.fail(err, where{line: 1})
		return false
	}
	l.isOpen, l.tableRead = true, 0
	l.form.seen[l.next-1].Store(&f)
	return true
}

// fillTable fills b with rows of the open table.
func (l *Logs) fillTable(b *engine.Batch, rows int) {
	r := &l.form.reader
	r.start(b)
	if err := l.table.fill(r, b, rows, l.opt.BatchBytes); err != nil {
		l.fail(err, l.table.at())
	}
	read := l.table.read()
	if l.err == nil && l.table.done() {
		read = l.sizes[l.next-1].Load()
		l.err = l.closeTable()
	}
	if read > l.tableRead {
		l.read.Add(read - l.tableRead)
		l.tableRead = read
	}
}

// closeTable closes the open table, if there is one.
func (l *Logs) closeTable() error {
	if l.table == nil {
		return nil
	}
	err := l.table.close()
	l.table, l.isOpen = nil, false
	return err
}
