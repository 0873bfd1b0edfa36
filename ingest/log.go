package ingest

import (
	"cmp"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

const (
	// defaultRows and defaultBytes make a batch that leaves room in a second-level cache for the rules and for what the decompressor refers back to, and
	// still has a thousand rows for each hand-over. A whole run takes 0.97 of what it takes with batches of 1 MiB where hosts are grouped, 0.92
	// to 0.97 over 30,000 origins in random order; 64 and 256 KiB are within the noise of that (BenchmarkLong and BenchmarkScattered of bench).
	defaultRows  = 8192
	defaultBytes = 128 << 10

	// guessBytes is how much text may be read for the lines by which a format is guessed: they may be long.
	guessBytes = 1 << 20

	// maxAhead bounds the memory of unpackers. Sixteen give out more text than one goroutine can cut into lines.
	maxAhead = 16

	// maxBatchBytes keeps the offsets of a batch within a Span.
	maxBatchBytes = 1 << 30
)

// LogOptions says how to read logs. The zero value reads all rows, in batches of the default size.
type LogOptions struct {
	Stdin      io.Reader    // what "-" names; nil means os.Stdin. It is not closed
	Limit      int64        // rows to yield, over all inputs; 0 or less means all
	BatchRows  int          // most rows of a batch; 0 or less means 8192
	BatchBytes int          // bytes of text that end a batch, give or take a line; 0 or less means 128 KiB, and 1 GiB is the most
	Format     Format       // of all inputs; Auto, the default, guesses that of each by its first lines
	Fields     Fields       // which fields of the lines to read; Keep is set from the one below
	Keep       []KeptColumn // fields that are kept as [engine.Batch].Kept
	Raws       bool         // keep lines as read, their offsets and those refused
	Ahead      int          // goroutines that unpack ahead of Next; 0 or less means that Next unpacks, and 16 are the most
}

// Logs yields the rows of one or more logs in order, as an [engine.Source]. Next, Err and Close are for one goroutine;
// the counters (Inputs, Progress, EmptyLines, LongLines) may be read from any other meanwhile.
type Logs struct {
	opt       LogOptions
	names     []string
	text      textSource
	lines     lineReader
	form      formats
	tables    []weblog.Format // of names: Input.table
	table     tableLog        // the open one of these, in place of text and lines
	tableRead int64           // what of its bytes l.read counts
	next      int             // index of the first input not yet opened
	isOpen    bool            // the input before it is being read
	rows      int64           // yielded so far
	err       error

	sizes       []atomic.Int64 // of names; -1 is unknown
	read        atomic.Int64
	empty, long atomic.Int64
}

var _ engine.Source = (*Logs)(nil)

// OpenLogs finds the logs of these names, which are files, patterns as of [path/filepath.Match] and "-" for standard
// input, and checks that they can be read. A name may occur more than once, except "-". A pattern matches files only, in
// sorted order, and at least one; a file whose name is that very text comes before what the text matches. An error is one or
// more [*NameError], joined, or ErrNoInput if there are no names.
func OpenLogs(names []string, opt LogOptions) (*Logs, error) {
	if opt.Stdin == nil {
		opt.Stdin = os.Stdin
	}
	opt.BatchRows = cmp.Or(max(0, opt.BatchRows), defaultRows)
	opt.BatchBytes = min(cmp.Or(max(0, opt.BatchBytes), defaultBytes), maxBatchBytes)
	inputs, err := expand(names, opt.Stdin)
	if err != nil {
		return nil, err
	}
	l := &Logs{opt: opt, names: make([]string, len(inputs)), sizes: make([]atomic.Int64, len(inputs))}
	var texts []string
	for i, in := range inputs {
		l.names[i] = in.Name
		if opt.Format == weblog.WARC && in.table == weblog.Auto && in.isFile() {
			in.table = weblog.WARC
		}
		l.tables = append(l.tables, in.table)
		if in.table == weblog.Auto {
			texts = append(texts, in.Name)
		}
		l.sizes[i].Store(in.Size)
	}
	if opt.Ahead > 0 {
		l.text = newAheadReader(texts, min(opt.Ahead, maxAhead), &l.read)
	} else {
		l.text = &textReader{total: &l.read}
	}
	if err := l.setFormats(); err != nil {
		return nil, err
	}
	return l, nil
}

// Next fills b with the next rows of one log and reports whether there were any. What it wrote to b belongs to b.
func (l *Logs) Next(b *engine.Batch) bool {
	for {
		b.Reset()
		rows := l.room()
		if rows == 0 || l.err != nil || !l.isOpen && !l.open() {
			return false
		}
		b.Input = l.next - 1
		l.fill(b, rows)
		l.empty.Add(l.lines.empty)
		l.long.Add(l.lines.long)
		l.lines.empty, l.lines.long = 0, 0
		if l.err == nil && l.isOpen && l.table == nil && l.lines.done() {
			l.end()
		}
		if b.Len() > 0 || b.Refused > 0 {
			l.rows += int64(b.Len())
			return true
		}
	}
}

// room returns how many rows the next batch may have; 0 means that the limit is reached.
func (l *Logs) room() int {
	if l.opt.Limit <= 0 {
		return l.opt.BatchRows
	}
	return int(min(int64(l.opt.BatchRows), l.opt.Limit-l.rows))
}

// open opens the next input. It returns false at the end of the last one and at an error.
func (l *Logs) open() bool {
	if l.next == len(l.names) {
		return false
	}
	if l.tables[l.next] != weblog.Auto {
		return l.openTable()
	}
	if l.err = l.text.open(l.names[l.next], l.opt.Stdin); l.err != nil {
		return false
	}
	l.lines.reset(l.text)
	l.next++
	l.isOpen = true
	l.setFormat(l.opt.Format)
	return l.err == nil
}

// end closes the input that was read to its end or to a fault.
func (l *Logs) end() {
	i := l.next - 1
	l.isOpen = false
	l.sizes[i].CompareAndSwap(-1, l.text.packed())
	err := l.text.close()
	if l.lines.err != io.EOF { //nolint:errorlint // a Reader's end is io.EOF itself
		err = l.lines.err
	}
	if err != nil {
		l.err = &LineError{Name: l.names[i], Line: l.lines.line + 1, Offset: l.lines.offset, Err: err}
	}
}

// Err returns what ended the rows early: a [*LineError] for a fault in a log, a [*NameError] for a log that could no
// longer be opened, or nil.
func (l *Logs) Err() error { return l.err }

// Close closes the log being read and gives back the memory. Next then reports false, and the counters keep their
// values. Only the first call can return an error.
func (l *Logs) Close() error {
	err := errors.Join(l.closeTable(), l.text.release())
	l.lines = lineReader{}
	l.isOpen, l.next = false, len(l.names)
	return err
}

// Inputs returns the logs, in order; [engine.Batch].Input is an index of it.
func (l *Logs) Inputs() []Input {
	inputs := make([]Input, len(l.names))
	for i, name := range l.names {
		inputs[i] = Input{Name: name, Size: l.sizes[i].Load()}
		if f := l.form.seen[i].Load(); f != nil {
			inputs[i].Format = *f
		}
	}
	return inputs
}

// Progress returns how many bytes of the logs, as stored, were read, and how many there are. The total is -1 as long as
// the size of one is unknown.
func (l *Logs) Progress() (done, total int64) {
	for i := range l.sizes {
		size := l.sizes[i].Load()
		if size < 0 {
			return l.read.Load(), -1
		}
		total += size
	}
	return l.read.Load(), total
}

// EmptyLines returns how many lines had no bytes and so gave no row.
func (l *Logs) EmptyLines() int64 { return l.empty.Load() }

// LongLines returns how many rows have no URL because their line is longer than [MaxLine].
func (l *Logs) LongLines() int64 { return l.long.Load() }
