package ingest

import (
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
)

const (
	// defaultRows and defaultBytes make a batch that leaves room in a second-level cache for the
	// rules and for the text that the decompressor refers back to, and still has a thousand rows for each
	// hand-over. A whole run takes 0.97 of its time with batches of 1 MiB where hosts are
	// grouped, 0.92 to 0.97 over 30,000 origins in random order; 64 and 256 KiB are within the
	// noise of that (BenchmarkLong and BenchmarkScattered of bench).
	defaultRows  = 8192
	defaultBytes = 128 << 10

	// maxBatchBytes keeps the offsets of a batch within a Span.
	maxBatchBytes = 1 << 30
)

// LogOptions say how to read logs. The zero value reads all rows, in batches of the default size.
type LogOptions struct {
	Stdin      io.Reader    // the input that "-" names; nil means os.Stdin. It is not closed
	Limit      int64        // rows to yield, over all inputs; 0 or less means all
	BatchRows  int          // most rows of a batch; 0 or less means 8192
	BatchBytes int          // bytes of text that end a batch, give or take a line; 0 or less means 128 KiB, and 1 GiB is the most
	Format     Format       // of all inputs; Auto, the default, detects each input's by its first lines
	Fields     Fields       // which fields of the lines to read; Keep is set from the one below
	Keep       []KeptColumn // fields that are kept as [engine.Batch].Kept
	Raws       bool         // keep lines as read, their offsets and those refused
	Part       Part         // of the one log; the zero value is all of it
	Ahead      int          // goroutines that unpack ahead of Next; 0 or less means that Next unpacks, and 16 are the most

	// Window is the most bytes of the window of a zstd frame, each goroutine of Ahead having one; 0 is 128
	// MiB. A file that needs more is a fault.
	Window int64
}

// A KeptColumn is a field of the logs that is kept as a column.
type KeptColumn struct {
	Field string // as of [Fields].Keep
	Kind  engine.KeptKind

	Optional bool // a log may lack the field, which then has no value; otherwise that is an ErrNoField

	// Own makes the column keep its kind in Parquet files: then [Logs.Kept] has the Kind. All inputs must have the same
	// kind. Other inputs, decimals and fields of structures have the kind Text.
	Own bool

	// Of is another input of the Kind, with Own; "" if there is none.
	Of string
}

// parser returns the parser of a format; nil for a format without one. The error is an ErrNoField, or that the format
// does not exist.
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
	// fill adds rows to b, which is empty: about this number of rows and bytes. It returns why it stopped before the
	// end.
	fill(r *rowReader, b *engine.Batch, rows, bytes int) error
	// done reports whether all rows were read.
	done() bool
	// at returns where a fault of fill is.
	at() where
	// unverified returns the first unverified line of the rows before a fault of fill; 0 if there is none.
	unverified() int64
	// format returns the format; Auto while unknown.
	format() Format
	// packed returns how many bytes of the log were read, as stored, as far as that is known. It is
	// 0 for a log whose bytes are counted elsewhere.
	packed() int64
	close() error
}

// where returns the position of a line, row or record.
type where struct{ line, offset int64 }

// Logs yield the rows of one or more logs in order, as an [engine.Source]. They are for one
// goroutine; only Inputs and Progress may be called from others at the same time.
type Logs struct {
	opt    LogOptions
	inputs []Input
	text   textLog
	rows   rowReader
	log    rowLog // the open one; nil between inputs
	next   int    // index of the first input not yet opened
	given  int64  // rows
	packed int64  // the part of log.packed that read counts already
	err    error
	grown  []string     // names of logs
	took   *weblog.Took // of the last log
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
	inputs, err := expand(names, opt.Stdin)
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
	if err := errors.Join(l.checkPart(), l.findKinds()); err != nil {
		return nil, err
	}
	l.rows = newRowReader(&l.opt)
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

// Next fills b with the next rows of one log and reports whether there were any. Data that it wrote to b
// belongs to b.
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
			l.noteUnsure(b)
			return true
		}
	}
}

// InputName returns the name of an input, by [engine.Batch.Input].
func (l *Logs) InputName(input int) string { return fault.Display(l.inputs[input].Name) }

// place names the log that is read, and the line if that is known.
func (l *Logs) place() (text string) {
	if l.next == 0 {
		return ""
	}
	text = l.InputName(l.next - 1)
	err := panics.Catch(func() error { // the state may be any
		text += fmt.Sprintf(": line %d", l.log.at().line)
		return nil
	})
	_ = err // the name is enough
	return text
}

// An Unsure is a packed log in which the limit ended the rows before their last checksum.
type Unsure struct {
	Name string
	From int64 // the first line of those rows; 0 if there are none
}

// noteUnsure notes whether the last rows of b, which reach the limit, are verified.
func (l *Logs) noteUnsure(b *engine.Batch) {
	if l.opt.Limit <= 0 || l.given < l.opt.Limit || l.log != rowLog(&l.text) || b.Len() == 0 {
		return
	}
	if from := l.text.lines.unverified(); from > 0 && from <= b.Lines[b.Len()-1] {
		l.unsure = Unsure{l.inputs[l.next-1].Name, from}
	}
}

// Unsure returns where the limit ended the rows before they were verified. Call it as Counts.
func (l *Logs) Unsure() Unsure { return l.unsure }

// room returns how many rows the next batch may have; 0 if the limit is reached.
func (l *Logs) room() int {
	if l.opt.Limit <= 0 {
		return l.opt.BatchRows
	}
	return int(min(int64(l.opt.BatchRows), l.opt.Limit-l.given))
}

// open opens the next input. It returns false at the end of the last one and at an error.
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
		if l.log, err = openWARC(in, l.opt.Fields); err == nil && l.opt.Part != (Part{}) {
			err = errors.Join(errPart, l.log.close())
		}
	default:
		if l.err = l.text.open(in.Name); l.err != nil {
			return false
		}
		if l.text.isSitemap(l.opt.Format) && l.opt.Part == (Part{}) {
			l.log, err = l.text.openSitemap(l.opt.Format)
		} else {
			l.log, err = &l.text, l.text.setFormat(l.opt.Format)
			if err == nil && l.opt.Part.From > 0 {
				err = l.text.passTo(&l.rows, l.opt.Part.From)
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

// noteFormat notes the format of the log that was opened last once it is known, and the field of the
// URL if its values said so.
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
		if reflect.DeepEqual(choice.Took, l.took) { // as of rotated logs
			choice.Took = l.took
		}
		l.took = choice.Took
		l.choices[l.next-1].Store(&choice)
	}
}

// fill fills b with about that many rows of the open log, up to the limit.
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

// readsText reports whether the open log is read from a text.
func (l *Logs) readsText() bool {
	_, isSitemap := l.log.(*sitemapLog)
	return isSitemap || l.log == rowLog(&l.text)
}

// fail ends the rows with an error of the open log.
func (l *Logs) fail(err error, at where, unverified int64) {
	l.err = &LineError{Name: l.inputs[l.next-1].Name, Line: at.line, Offset: at.offset, Unverified: unverified, Err: err}
}

// Err returns the error that ended the rows early: a [*LineError] for a fault in a log, a [*NameError] for a
// log that could no longer be opened, or nil.
func (l *Logs) Err() error { return l.err }

// Close closes the log being read and gives back the memory. Next then reports false, and the
// counters keep their values. Only the first call can return an error.
func (l *Logs) Close() error {
	var err error
	if l.log != nil && !l.readsText() {
		err = l.log.close()
	}
	err = errors.Join(err, l.text.release())
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

// Progress returns how many bytes of the logs, as stored, were read, and how many there are. The
// total is -1 as long as the size of one is unknown.
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

// Grown returns the names of the logs that were longer at their end than when they were opened. The
// last line of such a log may be the first part of one that was being written. Call it as Counts.
func (l *Logs) Grown() []string { return l.grown }

// Counts are the lines that gave no row, and the rows without a URL.
type Counts struct {
	Empty   int64            // lines without bytes, which give no row
	Long    int64            // rows without their URL: the line has more than [MaxLine] bytes
	Headers int64            // lines that are headers, directives and comments, and records of a WARC file that are not fetches
	Refused map[string]int64 // lines that are not of the format, by reason
	Odd     map[string]int64 // rows with a request that has no URL, by kind

	Blank      int64      // URLs of lists and tables that hold white space
	FirstBlank []BlankURL // the first ones, at most three

	Wide      int64   // lines in UTF-16 of logs that are read as UTF-8, and lines of logs in UTF-16 that are ASCII or have the other order of bytes
	FirstWide []Place // the first ones, at most three

	Agents int64 // rows whose line has a field for the User-Agent, if only an empty one; 0 without Fields.Agents

	Bytes int64 // of the lines, with their ends
	Lost  int64 // bytes of lines that are refused or too long

	Joined      int64   // lines that hold more than a record: CRs, several records, or NULs that a crash has left
	FirstJoined []Place // the first ones, at most three

	Mixed      int64   // lines rejected as another format, or as part of a sequence
	FirstMixed []Place // the first line of the first parts, at most three

	Headed      int64   // lines of lists of URLs that are the header of a table
	FirstHeaded []Place // the first ones, at most three

	Elsewhere int64 // rows whose line names another host than that of Fields.Base

	Queries      int64   // rows whose URL has a query, and whose field for the query has another
	FirstQueries []Place // the first ones, at most three

	NoTimes     int64  // rows whose time field has no valid time
	FirstNoTime string // what the first of them has

	Addresses    int64   // rows whose host is an address before the line, which may be the client's
	FirstAddress []Place // the first ones, at most three

	FirstBare string // the first value of the URL field that is neither a URL nor a path; "" if all are valid

	Urlless FieldList // fields of the first JSON line without a URL
}

// A FieldList has the fields of a line, by the names that [Fields] take.
type FieldList = weblog.FieldList

// A Place is a line of a log.
type Place struct {
	Input int // index of [Logs.Inputs]
	Line  int64
}

// firstPlaces is the most lines or URLs of a kind that are shown.
const firstPlaces = 3

// A BlankURL is a URL that holds white space.
type BlankURL struct {
	Input int // index of [Logs.Inputs]
	Line  int64
	URL   string
}

// Counts returns the counts so far. The caller owns it. Call it on the goroutine that calls
// Next, or once no other goroutine does so any more.
func (l *Logs) Counts() Counts { return l.rows.counts() }
