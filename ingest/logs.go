package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/ingest/sitemapfiles"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/sitemap"
)

const (
	// defaultRows and defaultBytes are the default size of a batch. It leaves room in a second-level cache for the rules
	// and for the text that the decompressor refers back to, but a batch still has about a thousand rows. Compared with
	// batches of 1 MiB, a whole run takes 0.97 of the time if hosts are grouped, and 0.92 to 0.97 over 30,000 origins in
	// random order. The difference to 64 and 256 KiB is within the noise (BenchmarkLong and BenchmarkScattered of bench).
	defaultRows  = 8192
	defaultBytes = 128 << 10

	// maxBatchBytes is the maximum of LogOptions.BatchBytes. Offsets in such a batch fit in a Span.
	maxBatchBytes = 1 << 30
)

// LogOptions say how to read logs. The zero value reads all rows, in batches of the default size.
type LogOptions struct {
	Stdin      io.Reader    // the input named "-"; nil means os.Stdin. It is not closed
	Limit      int64        // maximum number of rows over all inputs; 0 or less means no limit
	BatchRows  int          // maximum number of rows in a batch; 0 or less means 8192
	BatchBytes int          // bytes of text, plus or minus a line, that end a batch; 0 or less means 128 KiB, the maximum is 1 GiB
	Format     Format       // of all inputs; Auto, the default, detects the format of each input from its first lines
	Fields     Fields       // the fields to read; Fields.Keep is set from Keep
	Keep       []KeptColumn // fields to keep as [engine.Batch].Kept
	Raws       bool         // keep lines as read, their offsets, and rejected lines
	Part       Part         // the part of the only log to read; the zero value is all of it
	Ahead      int          // goroutines that unpack ahead of Next, at most 16; 0 or less means that Next unpacks

	// Window is the maximum window in bytes of a zstd frame; 0 means 128 MiB. Each goroutine of Ahead has such a window.
	// A file that needs a larger one is a fault.
	Window int64
}

// A KeptColumn is a field of the logs that is kept as a column.
type KeptColumn struct {
	Field string // as in [Fields].Keep
	Kind  engine.KeptKind

	Optional bool // the field is null in logs that lack it; otherwise such a log causes ErrNoField

	// Own sets Kind to the kind of the column in the Parquet files, see [Logs.Kept]. All inputs must have the same kind.
	// Other inputs, decimals and fields of structures have the kind Text.
	Own bool

	// Of is the first input if Own is set. OpenLogs sets it.
	Of string
}

// parser returns the parser of a format; nil if it needs none. The error is about the requested fields, for example an
// ErrNoField, or says that the format does not exist.
func (o *LogOptions) parser(f Format) (weblog.Parser, error) {
	switch f { //nolint:exhaustive // all others have a parser
	case weblog.Auto, weblog.Parquet: // each log says itself what it is
		return nil, nil
	case weblog.WARC:
		return nil, capture.CheckFields(o.Fields)
	case weblog.URLs, weblog.Sitemap:
		return nil, checkNoFields(o.Fields)
	}
	return weblog.New(f, o.Fields)
}

// A rowLog is an open log: lines of text, a Parquet file or a WARC file.
type rowLog interface {
	// fill adds about rows rows, or size bytes, to b, which is empty. It returns an error if the log has no more rows
	// because of a fault.
	fill(r *rowReader, b *engine.Batch, rows, size int) error
	// done reports whether all rows were read.
	done() bool
	// at returns where fill found a fault.
	at() where
	// unverified returns the first unverified line before a fault of fill; 0 if there is none.
	unverified() int64
	// format returns the format; Auto while unknown.
	format() Format
	// packed returns approximately how many stored bytes of the log were read. It is 0 for logs that textLog.texts
	// counts.
	packed() int64
	close() error
}

// where returns the position of a line, row or record.
type where struct{ line, offset int64 }

// Logs yield the rows of one or more logs in order, as an [engine.Source]. They are for one goroutine, except that
// others may call Inputs and Progress at any time.
type Logs struct {
	opt    LogOptions
	inputs []Input
	text   textLog
	rows   rowReader
	log    rowLog // the open one; nil between inputs
	next   int    // index of the first input not yet opened
	given  int64  // rows
	packed int64  // the part of log.packed that is already in read
	err    error
	grown  []string     // see Grown
	took   *weblog.Took // of the previous log
	unsure Unsure
	notes  []sitemapfiles.Note

	sizes    []atomic.Int64 // of inputs; -1 is unknown
	formats  []atomic.Pointer[Format]
	choices  []atomic.Pointer[weblog.Choice] // of the field of the URL
	headless []atomic.Bool                   // see Input
	read     atomic.Int64
}

var _ engine.Source = (*Logs)(nil)

// OpenLogs finds the logs with these names, which are files, patterns for logfiles.Match, or "-" for standard input,
// and checks that they can be read. For directories and lists, see package logfiles. A name may occur more than once,
// except "-". A pattern matches only files, in sorted order, and must match at least one. A file with exactly the name
// of a pattern takes precedence. The error is one or more joined [*NameError], ErrNoInput if there are no names, or
// about the format and the named fields.
func OpenLogs(names []string, opt LogOptions) (*Logs, error) {
	if opt.Stdin == nil {
		opt.Stdin = os.Stdin
	}
	opt.BatchRows = cmp.Or(max(0, opt.BatchRows), defaultRows)
	opt.BatchBytes = min(cmp.Or(max(0, opt.BatchBytes), defaultBytes), maxBatchBytes)
	opt.Fields.Keep, opt.Fields.Optional = nil, nil
	for _, k := range opt.Keep {
		opt.Fields.Keep = append(opt.Fields.Keep, k.Field)
		if k.Optional {
			opt.Fields.Optional = append(opt.Fields.Optional, k.Field)
		}
	}
	for role := range opt.Fields.Named {
		if !slices.Contains(FieldRoles(), role) {
			return nil, fmt.Errorf("%w: there is no role %q", ErrNoField, role)
		}
	}
	inputs, err := resolveNames(names, opt.Stdin)
	if err != nil {
		return nil, err
	}
	if _, err := opt.parser(opt.Format); err != nil {
		return nil, err
	}
	inputs, notes, err := expandIndexes(inputs, &opt)
	if err != nil {
		return nil, err
	}
	l := &Logs{opt: opt, inputs: inputs, notes: notes, sizes: make([]atomic.Int64, len(inputs)), formats: make([]atomic.Pointer[Format], len(inputs)), choices: make([]atomic.Pointer[weblog.Choice], len(inputs)), headless: make([]atomic.Bool, len(inputs))}
	if p := opt.Part; p != (Part{}) && (len(inputs) != 1 || p.From < 0 || p.To != 0 && p.To <= p.From) {
		err = fmt.Errorf("%w: %d to %d", errPart, p.From, p.To)
	}
	if err := errors.Join(err, l.findKinds()); err != nil {
		return nil, err
	}
	l.rows = rowReader{keep: l.opt.Keep, clocks: make([]weblog.Clock, len(l.opt.Keep)), fields: &l.opt.Fields, raws: l.opt.Raws}
	var texts []string
	for i := range inputs {
		in := &inputs[i]
		l.sizes[i].Store(in.Size)
		if opt.Format == weblog.WARC && in.content == unpack.Text && in.isFile() {
			in.content = unpack.WARC
		}
		if in.content == unpack.Text {
			texts = append(texts, in.Name)
		}
	}
	l.text = textLog{opt: &l.opt, texts: unpack.NewTexts(texts, opt.Ahead, opt.Window, &l.read)}
	return l, nil
}

// Next fills b with the next rows of one log, and reports whether there were any rows or rejected lines. b owns the
// data.
func (l *Logs) Next(b *engine.Batch) bool {
	defer panics.At(l.place)
	for {
		b.Reset()
		rows := l.room()
		if rows == 0 || l.err != nil || l.log == nil && !l.open() {
			return false
		}
		b.Input = l.next - 1
		l.fill(b, rows)
		if b.Len() > 0 || b.Refused > 0 {
			l.given += int64(b.Len())
			if l.opt.Limit > 0 && l.given >= l.opt.Limit && l.log == rowLog(&l.text) && b.Len() > 0 {
				if from := l.text.lines.unverified(); from > 0 && from <= b.Lines[b.Len()-1] {
					l.unsure = Unsure{l.inputs[b.Input].Name, from}
				}
			}
			return true
		}
	}
}

// InputName returns the name of an input, by [engine.Batch.Input].
func (l *Logs) InputName(input int) string { return fault.Display(l.inputs[input].Name) }

// place returns the name of the open log, and the line if it is known. It is called after a panic.
func (l *Logs) place() (text string) {
	if l.next == 0 {
		return ""
	}
	text = l.InputName(l.next - 1)
	err := panics.Catch(func() error { // the state may be inconsistent
		text += fmt.Sprintf(": line %d", l.log.at().line)
		return nil
	})
	_ = err // the name is enough
	return text
}

// An Unsure is a packed log in which the limit ended the rows before the checksum of the last ones.
type Unsure struct {
	Name string
	From int64 // the first unverified line; 0 if there is none
}

// Unsure returns the rows before the limit that were not verified. It must not be called during Next.
func (l *Logs) Unsure() Unsure { return l.unsure }

// room returns the maximum number of rows of the next batch; 0 if the limit is reached.
func (l *Logs) room() int {
	if l.opt.Limit <= 0 {
		return l.opt.BatchRows
	}
	return int(min(int64(l.opt.BatchRows), l.opt.Limit-l.given))
}

// open opens the next input, and sets l.log. It returns false after the last one and, with l.err set, after an error.
func (l *Logs) open() bool {
	if l.next == len(l.inputs) {
		return false
	}
	in := &l.inputs[l.next]
	var err error
	switch l.next++; in.content {
	case unpack.Parquet:
		l.log, err = openParquet(in, l.opt.Fields, l.opt.Part)
	case unpack.WARC:
		w := &warcLog{size: in.Size}
		if w.Fetches, err = capture.OpenFetches(in.Name, l.opt.Fields); err == nil && l.opt.Part != (Part{}) {
			err = errors.Join(errPart, w.close())
		}
		l.log = w
	default:
		if l.err = l.text.open(in.Name); l.err != nil {
			return false
		}
		if l.text.isSitemap(l.opt.Format) && l.opt.Part == (Part{}) {
			first, _, _ := bytes.Cut(l.text.utf8.Head(), []byte("\n"))
			l.log = &sitemapLog{text: &l.text, rd: sitemap.NewReader(&l.text.utf8), named: l.opt.Format == weblog.Sitemap, first: string(first), place: where{line: 1}}
			if err = checkNoFields(l.opt.Fields); err != nil {
				err = fmt.Errorf("a sitemap: %w", err)
			}
		} else {
			l.log, err = &l.text, l.text.setFormat(l.opt.Format)
			if err == nil && l.opt.Part.From > 0 {
				err = l.text.skipTo(&l.rows, l.opt.Part.From)
			}
		}
		l.noteFormat(l.log)
	}
	if err != nil {
		l.log = nil
		l.fail(err, where{line: 1}, 0)
		return false
	}
	l.packed = 0
	l.rows.open.reset()
	return true
}

// noteFormat records the format and the chosen fields of the open log for Inputs, as soon as they are known. Later
// calls do not change them.
func (l *Logs) noteFormat(log rowLog) {
	f := log.format()
	if i := l.next - 1; f != weblog.Auto && l.formats[i].Load() == nil {
		l.formats[i].Store(&f)
	}
	if l.text.headless && log == rowLog(&l.text) {
		l.headless[l.next-1].Store(true)
	}
	choice := weblog.Choice{}
	switch log := log.(type) {
	case *textLog:
		choice = log.choice
	case *parquetLog:
		choice = log.choice
	}
	if choice != (weblog.Choice{}) && l.choices[l.next-1].Load() == nil {
		if reflect.DeepEqual(choice.Took, l.took) { // rotated logs share it
			choice.Took = l.took
		}
		l.took = choice.Took
		l.choices[l.next-1].Store(&choice)
	}
}

// fill adds about this number of rows of the open log to b, up to the limit. At the end of the log it closes the log
// and sets l.log to nil; after a fault it sets l.err.
func (l *Logs) fill(b *engine.Batch, rows int) {
	i := l.next - 1
	l.rows.start(b)
	err := l.log.fill(&l.rows, b, rows, l.opt.BatchBytes)
	if left := l.opt.Limit - l.given; l.opt.Limit > 0 && int64(b.Len()) > left {
		b.Truncate(int(left))
	}
	l.noteFormat(l.log)
	if n := l.log.packed(); n > l.packed {
		l.read.Add(n - l.packed)
		l.packed = n
	}
	at, unverified := l.log.at(), l.log.unverified()
	if l.log.done() {
		if l.sizes[i].Load() < 0 {
			l.sizes[i].Store(l.text.texts.Packed())
		}
		if err == nil {
			if l.readsText() && l.text.texts.Grown() > 0 {
				l.grown = append(l.grown, l.inputs[i].Name)
			}
			err = l.log.close()
			l.log = nil
		}
	}
	if err != nil {
		l.fail(err, at, unverified)
	}
}

// readsText reports whether the open log is read from l.text.
func (l *Logs) readsText() bool {
	_, isSitemap := l.log.(*sitemapLog)
	return isSitemap || l.log == rowLog(&l.text)
}

// fail sets l.err to a fault of the open log, so that there are no more rows. unverified is the first unverified line;
// 0 if there is none.
func (l *Logs) fail(err error, at where, unverified int64) {
	l.err = &LineError{Name: l.inputs[l.next-1].Name, Line: at.line, Offset: at.offset, Unverified: unverified, Err: err}
}

// Err returns the error that ended the rows early: a [*LineError] for a fault in a log, a [*NameError] for a
// log that could no longer be opened, or nil.
func (l *Logs) Err() error { return l.err }

// Close closes the open log and releases memory. Next then returns false, and Counts stays as it is. Only the first
// call can return an error.
func (l *Logs) Close() error {
	var err error
	if l.log != nil && !l.readsText() {
		err = l.log.close()
	}
	err = errors.Join(err, l.text.texts.Release())
	l.text.lines, l.text.raw = lineReader{}, rawLines{}
	l.log, l.next = nil, len(l.inputs)
	return err
}

// Inputs returns the logs, in order; [engine.Batch].Input is an index of it.
func (l *Logs) Inputs() []Input {
	inputs := make([]Input, len(l.inputs))
	for i := range inputs {
		inputs[i] = Input{Name: l.inputs[i].Name, archive: l.inputs[i].archive, Size: l.sizes[i].Load(), Headless: l.headless[i].Load()}
		if f := l.formats[i].Load(); f != nil {
			inputs[i].Format = *f
		}
		if choice := l.choices[i].Load(); choice != nil {
			inputs[i].Field, inputs[i].Taken, inputs[i].Other, inputs[i].Took = choice.Field, choice.Taken, choice.Other, choice.Took
		}
	}
	return inputs
}

// Progress returns how many stored bytes of the logs were read, and how many there are. The total is -1 while the size
// of a log is unknown.
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

// Grown returns the names of logs that grew while they were read. The last line of such a log may be incomplete. Grown
// must not be called during Next.
func (l *Logs) Grown() []string { return l.grown }

// Counts returns the counts so far, which the caller owns. It must not be called during Next.
func (l *Logs) Counts() Counts { return l.rows.odd.counts() }

// CountLines unpacks the logs and counts their line ends, which is a lower bound for the cost of reading them. It uses
// Stdin, Ahead and Window of opt. For logs that are not text, such as Parquet or captures, it returns
// [errors.ErrUnsupported] before it reads any.
func CountLines(names []string, opt LogOptions) (lines int64, err error) {
	l, err := OpenLogs(names, opt)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for i := range l.inputs {
		if in := &l.inputs[i]; in.content != unpack.Text {
			return 0, fmt.Errorf("count the lines of %s, which is not text: %w", in.Name, errors.ErrUnsupported)
		}
	}
	buf := make([]byte, 256<<10)
	for i := range l.inputs {
		if err := l.text.texts.Open(l.inputs[i].Name, l.opt.Stdin); err != nil {
			return lines, err
		}
		for err = nil; err == nil; {
			var n int
			n, err = l.text.texts.Read(buf)
			lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		}
		if !errors.Is(err, io.EOF) {
			return lines, err
		}
		if err := l.text.texts.Close(); err != nil {
			return lines, err
		}
	}
	return lines, nil
}
