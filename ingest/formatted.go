package ingest

import (
	"fmt"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// formats are what [Logs] needs for logs that are more than a list of URLs.
type formats struct {
	current weblog.Format // of the open input; Auto as long as it is not guessed
	seen    []atomic.Pointer[Format]
	reader  rowReader
	raw     engine.Batch // the lines of a batch, as rows are in them
	offsets []int64      // where they begin
}

// setFormats checks what was asked of the formats. The error is a weblog.ErrNoField.
func (l *Logs) setFormats() error {
	opt := &l.opt
	for _, k := range opt.Keep {
		opt.Fields.Keep = append(opt.Fields.Keep, k.Field)
	}
	f := &l.form
	f.seen = make([]atomic.Pointer[Format], len(l.names))
	f.reader = rowReader{keep: opt.Keep, clocks: make([]weblog.Clock, len(opt.Keep)), fields: &opt.Fields, raws: opt.Raws}
	_, err := l.parser(opt.Format)
	return err
}

// parser returns a parser for a format; nil for those that need none.
func (l *Logs) parser(f weblog.Format) (weblog.Parser, error) {
	fields := &l.opt.Fields
	if f == weblog.Auto {
		return nil, nil
	}
	if f == weblog.Parquet {
		return nil, nil // told by its first bytes, whatever is asked for
	}
	if f == weblog.WARC {
		_, err := newWARCFields(*fields)
		return nil, err
	}
	if f != weblog.URLs {
		return weblog.New(f, *fields)
	}
	for _, name := range append([]string{fields.URL, fields.Host, fields.Agent, fields.Time}, fields.Keep...) {
		if name != "" {
			return nil, fmt.Errorf("%w: %q; %w", weblog.ErrNoField, name, ErrURLList)
		}
	}
	return nil, nil
}

// setFormat begins to read the open input in a format.
func (l *Logs) setFormat(f weblog.Format) {
	parser, err := l.parser(f)
	if f == weblog.Parquet {
		err = fmt.Errorf("%w: it does not begin with %s, or is no file but a pipe", ErrParquet, parquetMagic)
	}
	if f == weblog.WARC {
		err = fmt.Errorf("a WARC file in a pipe, or packed and without .warc in its name, is %w: name the file, and say that its format is warc", ErrFormat)
	}
	if err != nil {
		l.fail(err, where{line: 1})
	}
	l.form.current = f
	l.form.seen[l.next-1].Store(&f)
	l.form.reader.reset(parser)
}

// fail makes an error that is no fault in the data the end.
func (l *Logs) fail(err error, at where) {
	l.err = &LineError{Name: l.names[l.next-1], Line: at.line, Offset: at.offset, Err: err}
}

// fill fills b, which is empty, with about so many rows of the open input, and no more than the limit has left. To guess a
// format it reads as many lines as that takes.
func (l *Logs) fill(b *engine.Batch, rows int) {
	if l.table != nil {
		l.fillTable(b, rows)
		return
	}
	f := &l.form
	to, bytes := b, l.opt.BatchBytes
	if f.current != weblog.URLs {
		to = &f.raw
		to.Reset()
	}
	if f.current == weblog.Auto {
		rows, bytes = max(rows, weblog.GuessLines), max(bytes, guessBytes)
	}
	l.lines.fill(to, rows, bytes)
	if f.current == weblog.Auto && f.raw.Len() > 0 {
		l.setFormat(l.guess())
		if l.err == nil && f.current == weblog.URLs {
			*b, f.raw = f.raw, *b
			b.Input = l.next - 1
		}
	}
	switch {
	case l.err != nil || f.current == weblog.Auto:
	case f.current == weblog.URLs:
		f.reader.start(b)
		f.reader.plain(b, &l.lines)
	default:
		l.parse(b)
	}
	if left := l.opt.Limit - l.rows; l.opt.Limit > 0 && int64(b.Len()) > left {
		b.Truncate(int(left))
	}
}

// guess returns the format that the first lines look like.
func (l *Logs) guess() weblog.Format {
	raw := &l.form.raw
	var lines [][]byte
	for i := range raw.URLs {
		if line := raw.URL(i); line != nil {
			lines = append(lines, line)
		}
		if len(lines) == weblog.GuessLines {
			break
		}
	}
	return weblog.Guess(lines, l.opt.Fields)
}

// parse makes rows of the lines that were read.
func (l *Logs) parse(b *engine.Batch) {
	f := &l.form
	f.offsets = l.lines.offsets(f.offsets[:0], &f.raw)
	l.lines.long = 0 // they are refused
	f.reader.start(b)
	at, err := f.reader.read(&f.raw, f.offsets, b)
	if err == nil && l.lines.done() {
		at, err = where{l.lines.line, l.lines.offset}, f.reader.settle(b, true)
	}
	if err != nil {
		l.fail(err, at)
	}
}

// Refused returns how many lines were refused, by reason. It is for when Next has reported false.
func (l *Logs) Refused() map[string]int64 {
	counts := map[string]int64{}
	for i, n := range l.form.reader.refused {
		if n > 0 {
			counts[weblog.Result(i).String()] = n
		}
	}
	return counts
}

// OddRequests returns how many rows have a request that is none for a URL, by kind. It is for when Next has reported
// false.
func (l *Logs) OddRequests() map[string]int64 {
	counts := map[string]int64{}
	for i, n := range l.form.reader.odds {
		if n > 0 && i > 0 {
			counts[weblog.Odd(i).String()] = n
		}
	}
	return counts
}

// HeaderLines returns how many lines were headers, directives and comments. It is for when Next has reported false.
func (l *Logs) HeaderLines() int64 { return l.form.reader.headers }
