package ingest

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// detectBytes is the maximum number of bytes of text read to detect a format. Lines may be long.
const detectBytes = 1 << 20

// A textLog reads line-based logs one after the other, and reuses its memory: lists of URLs, and the formats of package
// weblog.
type textLog struct {
	opt      *LogOptions
	texts    unpack.Texts
	utf8     unpack.Decoder // of texts
	lines    lineReader
	raw      rawLines // of the batch being filled
	of       Format   // of the open log; Auto until detected
	parser   weblog.Parser
	begun    bool // begin was called
	headless bool // it is read as URLs, but looks like a table without a header row
	choice   weblog.Choice
	stop     string // the field at which the first line does not match the format

	fieldless bool   // its first lines are rows of W3C without their #Fields
	failed    *where // the line that could not be parsed; nil if there is none

	rows, refused, long int64 // of the open log; long are overlong lines
}

// open opens a log, and forgets the previous one. Call setFormat next.
func (l *textLog) open(name string) error {
	if err := l.texts.Open(name, l.opt.Stdin); err != nil {
		return err
	}
	l.utf8.Reset(l.texts)
	if l.opt.Part.To > 0 {
		l.lines.reset(&partReader{Decoder: &l.utf8, to: l.opt.Part.To})
	} else {
		l.lines.reset(&l.utf8)
	}
	l.begun, l.headless, l.fieldless, l.choice, l.stop, l.failed, l.rows, l.refused, l.long = false, false, false, weblog.Choice{}, "", nil, 0, 0, 0
	return nil
}

// setFormat sets the format and parser of the open log. The format is set even after an error.
func (l *textLog) setFormat(f Format) (err error) {
	l.of = f
	switch f { //nolint:exhaustive // all others are line-based
	case weblog.Parquet:
		return fmt.Errorf("%w: it does not begin as one, or is a pipe instead of a file", ErrParquet)
	case weblog.WARC:
		return ErrPipedWARC
	}
	l.lines.track = f != weblog.URLs || l.opt.Raws
	l.parser, err = l.opt.parser(f)
	return err
}

// fill adds the next rows to b. The first call reads enough lines to detect the format and the columns of a table. If a
// line cannot be parsed, or the format is unknown, l.failed is set.
func (l *textLog) fill(r *rowReader, b *engine.Batch, rows, size int) error {
	if !l.begun {
		rows, size = max(rows, weblog.DetectLines), max(size, detectBytes)
	}
	before := l.lines.bytesGiven()
	l.lines.fill(&l.raw, rows, size)
	r.odd.Bytes += l.lines.bytesGiven() - before
	r.odd.Empty += l.raw.empty
	l.long += int64(len(l.raw.long))
	r.noteEncoding(&l.raw, b.Input, l.utf8.Wide())
	if !l.begun && len(l.raw.spans) > 0 {
		l.begun = true
		if err := l.begin(r); err != nil {
			r.odd.Long += int64(len(l.raw.long)) // they are counted nowhere else
			l.failed = &where{line: 1}
			return err
		}
		if l.opt.Part != (Part{}) && !l.of.IsByLine() {
			return errPart
		}
	}
	r.kind, r.bareCR = l.of, l.raw.bareCR
	r.joins, _ = l.parser.(weblog.Joiner)
	r.noteDamage(&l.raw, b.Input)
	if l.of == weblog.URLs {
		r.addURLs(&l.raw, b)
	} else if l.of != weblog.Auto {
		if at, err := r.read(l.parser, &l.raw, b); err != nil {
			l.failed = &at
			return err
		}
	}
	if l.lines.done() {
		if err := r.finishRecords(l.parser, b, true); err != nil {
			l.failed = &where{l.lines.line, l.lines.offset}
			return err
		}
		if l.lines.err != io.EOF {
			return l.lines.err
		}
	}
	l.rows += int64(b.Len())
	l.refused += int64(b.Refused)
	if l.lines.done() {
		return l.checkFormat()
	}
	return nil
}

// begin detects the format from the first lines in l.raw, unless it is set, and the columns of a table. It sets the
// parser. The error says why the log cannot be read.
func (l *textLog) begin(r *rowReader) error {
	var lines [][]byte // without overlong ones
	for i := range l.raw.spans {
		if line := l.raw.line(i); line != nil && len(lines) < weblog.DetectLines {
			lines = append(lines, line)
		}
	}
	if l.lines.done() && len(l.raw.spans) == 1 && len(lines) == 1 && slices.Contains(lines[0], '\r') {
		return ErrLineEnds
	}
	if (l.of == weblog.Auto || l.of == weblog.JSON) && len(lines) > 0 && isJSONText(lines[0]) {
		return ErrJSONText
	}
	f, prefix := weblog.Choose(lines, l.of, l.opt.Fields)
	if prefix == "" && f == weblog.JSON && weblog.IsWrapped(lines, l.opt.Fields) {
		return ErrWrapped
	}
	if l.of == weblog.Auto && len(lines) > 0 && unpack.Detect(lines[0]).Content == unpack.WARC {
		f, prefix = weblog.WARC, ""
	}
	if l.of == weblog.Auto {
		if (f == weblog.URLs || f == weblog.CSV || f == weblog.TSV) && weblog.LacksFields(lines) {
			return ErrNoFields
		}
		if kind := weblog.ForeignOf(f, lines); kind != "" {
			return &ForeignError{Kind: kind, First: string(lines[0])}
		}
		if err := weblog.CheckShape(f, lines, l.opt.Fields); err != nil {
			return err
		}
		if err := l.setFormat(f); err != nil {
			return err
		}
		l.headless = l.of == weblog.URLs && weblog.IsHeadless(lines)
	}
	if prefix != "" {
		l.parser = weblog.Behind(prefix, l.parser, &l.opt.Fields)
	}
	if len(lines) > 0 {
		l.stop = weblog.Stop(l.of, lines[0])
	}
	l.fieldless = (l.of == weblog.W3C || l.of == weblog.CloudFront) && weblog.LacksFields(lines)
	if l.of == weblog.URLs && len(lines) > 0 && !weblog.IsURL(lines[0]) {
		r.odd.noteBare(lines[0])
	}
	if table, ok := l.parser.(weblog.Sampler); ok {
		l.choice = table.Sample(lines)
	}
	return nil
}

// isJSONText reports whether a first line begins a JSON text of several lines, or an array of objects: "[", "{" or
// "[{".
func isJSONText(line []byte) bool {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte(unpack.ByteOrderMark))
	rest, array := bytes.CutPrefix(line, []byte("["))
	rest = bytes.TrimSpace(rest)
	return array && (len(rest) == 0 || rest[0] == '{') || string(line) == "{"
}

// checkFormat returns an error if no line of the whole log matched the named format: ErrLongLines if most are too long,
// ErrNoFields if they are W3C lines without their #Fields, and otherwise ErrNotFormat. If the format was detected, only
// ErrNoFields is possible.
func (l *textLog) checkFormat() error {
	if l.rows > 0 || l.refused == 0 || l.opt.Format == weblog.Auto && !l.fieldless {
		return nil
	}
	l.failed = &where{line: 1}
	if l.fieldless {
		return ErrNoFields
	}
	if 2*l.long > l.refused {
		return ErrLongLines
	}
	if l.stop != "" {
		return fmt.Errorf("%w: %.200s; its first line does not fit at %s", ErrNotFormat, l.of, l.stop)
	}
	return fmt.Errorf("%w: %.200s", ErrNotFormat, l.of) // a pattern may be long
}

// unverified returns the first unverified line before a fault of the text; 0 if there is none, or if a line could not
// be parsed.
func (l *textLog) unverified() int64 {
	if l.failed != nil || l.lines.err == nil || l.lines.err == io.EOF {
		return 0
	}
	return l.lines.unverified()
}

func (l *textLog) done() bool     { return l.lines.done() }
func (l *textLog) format() Format { return l.of }
func (l *textLog) packed() int64  { return 0 } // counted by texts
func (l *textLog) close() error   { return l.texts.Close() }

// at returns the line that could not be parsed, or that was cut off by a fault.
func (l *textLog) at() where {
	if l.failed != nil {
		return *l.failed
	}
	return where{l.lines.line + 1, l.lines.offset}
}

// checkNoFields returns an ErrNoField if fields require one, which a list of URLs does not have.
func checkNoFields(fields Fields) error {
	for _, name := range append([]string{fields.AnyNamed()}, fields.Keep...) {
		if name != "" && !fields.MayLack(name) {
			return fmt.Errorf("%w: %q; %w", ErrNoField, name, ErrURLList)
		}
	}
	return nil
}

// A warcLog reads the fetches of a WARC file as rows.
type warcLog struct {
	*capture.Fetches
	size int64
}

// fill adds at most rows rows, of about size bytes, to b. Rejected records are added, too.
func (w *warcLog) fill(r *rowReader, b *engine.Batch, rows, size int) error {
	var to capture.Rows = warcRows{r, b}
	for b.Len() < rows && len(b.Data) < size && !w.Done() { // each iteration adds at most one row
		if err := w.Next(to); err != nil {
			return err
		}
	}
	return nil
}

// packed returns the position in the file. At the end it is the size, whatever follows the last record.
func (w *warcLog) packed() int64 {
	if w.Done() {
		return w.size
	}
	return w.BytesRead()
}

// at returns the last record read.
func (w *warcLog) at() where {
	record, offset := w.At()
	return where{record, offset}
}

func (w *warcLog) unverified() int64 { return w.Unverified() }
func (w *warcLog) done() bool        { return w.Done() }
func (w *warcLog) format() Format    { return weblog.WARC }
func (w *warcLog) close() error      { return w.Close() }

// warcRows add the rows of a WARC file to a batch.
type warcRows struct {
	r *rowReader
	b *engine.Batch
}

// Row adds a fetch.
func (w warcRows) Row(row *weblog.Row, record, offset int64) {
	w.r.row = *row
	w.r.row.Blank = weblog.HasBlank(row.Target) // possible if a header continues in the next line
	w.r.addRow(w.b, row.Target, where{record, offset})
}

// Refuse rejects a record.
func (w warcRows) Refuse(why weblog.Result, record, offset int64) {
	w.r.refuse(w.b, why, nil, where{record, offset})
}

// Skip counts a record that is not a fetch.
func (w warcRows) Skip() { w.r.odd.Headers++ }
