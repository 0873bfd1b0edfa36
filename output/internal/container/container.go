// Package container encodes chunks as a file: Parquet, Arrow, CSV or JSON Lines.
//
// It hides the formats: their names and features, how chunks are encoded in parallel, and when dictionaries start
// again. It depends only on the types of columns, and not on verdicts. Package output and its other internal
// packages import it.
package container

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/parquet"
)

// A Container writes the rows of chunks to a file.
type Container interface {
	// Write adds a chunk, which then belongs to the container, and returns an empty chunk for the next rows. The
	// numbering still belongs to the caller; the container resets it only after it has written the dictionaries.
	Write(c *columnar.Chunk) (*columnar.Chunk, error)
	// Close completes the file; c is empty. The caller flushes the sink.
	Close(c *columnar.Chunk, md Metadata) error
	// Abort stops all work. It is called after an error, instead of Close, or after Close.
	Abort()
}

// Options configure a file. The fields are those of the Options of package output.
type Options struct {
	Format      Format
	Compression Compression
	Level       int
	RowGroup    int
	CSV         CSVForm
	Version     string
	Workers     int
	DictMemory  int64

	Formulas *Formulas // counts cells that spreadsheets would run as formulas; nil means they are not counted
	Encoders *Encoders // of Parquet, shared by files of one schema; nil means that the file has its own
}

// CheckFormat returns an ErrFormat if the format is unknown.
func (o Options) CheckFormat() error {
	if int(o.Format) >= NumFormats {
		return fmt.Errorf("%w: %d", ErrFormat, o.Format)
	}
	return nil
}

// Check returns the joined errors of options that the format does not support: ErrCompression, ErrLevel, ErrRowGroup
// and ErrCSV.
func (o Options) Check() error {
	_, _, errCompression := o.Compression.chooseFor(o.Format, o.Level)
	var errGroup error
	if o.RowGroup < 0 {
		errGroup = fmt.Errorf("%w %d: use 1 or more, or 0 for the default", ErrRowGroup, o.RowGroup)
	} else if o.RowGroup > 0 && o.Format != Parquet {
		errGroup = fmt.Errorf("%w for %s: only .parquet has row groups", ErrRowGroup, o.Format)
	}
	var errCSV error
	switch isTSV := o.Format.isCSV() && Specs[o.Format].Syntax == &fieldtext.TSV; {
	case o.CSV == CSVForm{}:
	case !o.Format.isCSV():
		errCSV = fmt.Errorf("%w for %s: only .csv and .tsv have separators, byte order marks and safe cells", ErrCSV, o.Format)
	case o.CSV.Separator != 0 && isTSV && o.CSV.Separator != '\t':
		errCSV = fmt.Errorf("%w for %s: its separator is the tab; for another one, use .csv", ErrCSV, o.Format)
	}
	return errors.Join(errCompression, errGroup, errCSV)
}

// Begin returns the container of a file with these columns, and the limits of its first chunk. Arrow reads md with the
// first chunk, Parquet gets its metadata in Close, and text formats have none.
func (o Options) Begin(s *Sink, l *columnar.Schema, md *Metadata) (Container, columnar.Limits, error) {
	switch o.Format {
	case Parquet:
		c, level, err := o.Compression.chooseFor(Parquet, o.Level)
		if err != nil {
			return nil, columnar.Limits{}, err
		}
		fields := make([]parquet.Field, len(l.Fields))
		for i, f := range l.Fields {
			fields[i] = f.Field
			fields[i].Delta = f.Delta || f.Type == parquet.Text
		}
		p := &ParquetFile{sink: s, Limits: parquetGroup, Chunk: ParquetChunk.ForSchema(l), encoders: o.Encoders}
		if p.encoders == nil {
			p.encoders = &Encoders{}
		}
		if p.Limits.Rows = l.MostRows(p.Limits.Rows, wideGroupCells); o.RowGroup > 0 {
			p.Limits.Rows = o.RowGroup
		}
		p.out, err = p.encoders.begin(s, fields, parquet.Options{
			CreatedBy: "robobatch version " + fieldtext.Valid(o.Version), Codec: parquetCodecs[c], Level: level,
		}, o.Workers)
		if err != nil {
			return nil, columnar.Limits{}, err
		}
		return p, p.nextLimits(), nil
	case ArrowFile, ArrowStream:
		a, err := newArrow(s, l, o, md)
		return a, arrowChunk, err
	default:
		syntax, head := o.CSV.Begin(o.Format)
		f := &LineFile{
			sink: s, syntax: syntax, header: []byte(head), packing: Specs[o.Format].Packing, Dicts: lineDicts, Piece: linePiece,
			ready: make(chan struct{}, 1),
		}
		if o.Format.isCSV() && !o.CSV.Safe {
			f.formulas = o.Formulas
		}
		f.encoders = newPool(o.Workers, func() (*lineEncoder, error) {
			return &lineEncoder{Packer: fieldtext.NewPacker(f.packing)}, nil
		})
		f.ready <- struct{}{}
		for i, field := range l.Fields {
			lead := f.syntax.Lead(nil, i, field.Name)
			value := func(text string) []byte { return append(lead[:len(lead):len(lead)], text...) }
			f.columns = append(f.columns, lineColumn{lead: lead, null: value(f.syntax.Null), yes: value("true"), no: value("false"), offsets: []int{0}})
			if f.syntax.Header {
				f.header = f.syntax.Text(append(f.header, lead...), []byte(field.Name))
			}
		}
		if f.syntax.Header {
			f.header = append(f.header, f.syntax.End...)
		}
		return f, lineChunk, nil
	}
}

// sinkBuffer is the size of writes, in bytes: large enough that the cost of system calls is negligible.
const sinkBuffer = 256 << 10

// A Sink buffers the output of a container and counts its bytes. Errors are sticky: Flush returns an error of an
// earlier Write, which not all libraries that write here pass on.
type Sink struct {
	buf *bufio.Writer
	pos int64
}

// NewSink returns a Sink that writes to w.
func NewSink(w io.Writer) *Sink { return &Sink{buf: bufio.NewWriterSize(w, sinkBuffer)} }

// Reset starts again with another stream of bytes.
func (s *Sink) Reset(w io.Writer) {
	s.buf.Reset(w)
	s.pos = 0
}

// Write appends p.
func (s *Sink) Write(p []byte) (int, error) {
	n, err := s.buf.Write(p)
	s.pos += int64(n)
	return n, err
}

// Tell returns the number of bytes written.
func (s *Sink) Tell() int64 { return s.pos }

// errSeek is the error of a Seek that does not merely ask for the position.
var errSeek = errors.New("the output cannot be rewound")

// Seek returns the position. The writer of Arrow files uses it only for that.
func (s *Sink) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errSeek
	}
	return s.pos, nil
}

// Flush writes the buffered bytes and returns the first error.
func (s *Sink) Flush() error { return s.buf.Flush() }

// firstError returns the first error so far.
func (s *Sink) firstError() error {
	_, err := s.buf.Write(nil)
	return err
}

// Keys of the metadata. NewWriter sets the value unless stated otherwise.
const (
	KeyVersion      = "robobatch.version"        // version of the program
	KeyDialect      = "robobatch.dialect"        // of robots.txt
	KeyAgents       = "robobatch.agents"         // JSON array, as given by the user
	KeyRulesHash    = "robobatch.rules_hash"     // hash of the content of the rules
	KeyRulesHashOld = "robobatch.rules_hash_old" // the same for Options.Old
	KeyPreferences  = "robobatch.preferences"    // revision of the preference drafts, if a column depends on them
	KeyInputs       = "robobatch.inputs"         // JSON array of names; the caller may set names and sizes
	KeyCounts       = "robobatch.counts"         // JSON object; the caller sets it at the end
	KeyRows         = "robobatch.rows"           // rows of the table; Close sets it, Parquet only
	KeyInvalidUTF8  = "robobatch.invalid_bytes"  // Writer.InvalidBytes; Close sets it, Parquet only
)

// Metadata is a list of keys and values, in the order in which the keys were first set.
type Metadata struct{ Keys, Values []string }

// Set sets the value of a key, or adds the key if it is new. Invalid UTF-8 in the value is escaped.
func (m *Metadata) Set(key, value string) {
	value = fieldtext.Valid(value)
	for i, k := range m.Keys {
		if k == key {
			m.Values[i] = value
			return
		}
	}
	m.Keys = append(m.Keys, key)
	m.Values = append(m.Values, value)
}

// JSONText returns a list of names as a JSON array. Invalid UTF-8 is escaped.
func JSONText(names []string) string {
	valid := make([]string, len(names))
	for i, name := range names {
		valid[i] = fieldtext.Valid(name)
	}
	b, _ := json.Marshal(valid) // cannot fail for strings
	return string(b)
}

// Without returns the metadata without these keys.
func (m *Metadata) Without(keys ...string) (rest Metadata) {
	for i, key := range m.Keys {
		if !slices.Contains(keys, key) {
			rest.Keys, rest.Values = append(rest.Keys, key), append(rest.Values, m.Values[i])
		}
	}
	return rest
}

// A pool runs the encoders of a container, one per worker. Each encodes one chunk at a time, while the next chunk is
// gathered. A single worker encodes in the caller's goroutine.
type pool[E any] struct {
	workers int
	idle    chan *worker[E]
	made    int // workers made so far
	newE    func() (E, error)
}

// A worker is an encoder with the chunk that it encoded last, now empty.
type worker[E any] struct {
	encoder E
	spare   *columnar.Chunk
	runs    bool  // run was called since takeWorker
	err     error // sticky: a run panicked
}

func newPool[E any](workers int, newE func() (E, error)) pool[E] {
	workers = max(1, workers)
	return pool[E]{workers: workers, idle: make(chan *worker[E], workers), newE: newE}
}

// takeWorker waits for an idle worker, or makes one. The caller defers giveBack if there is no error. The error is
// that of newE, or a panic in an earlier run.
func (p *pool[E]) takeWorker() (*worker[E], error) {
	if p.made == p.workers || len(p.idle) > 0 {
		w := <-p.idle
		w.runs = false
		if w.err != nil {
			p.giveBack(w)
		}
		return w, w.err
	}
	e, err := p.newE()
	if err == nil {
		p.made++
	}
	return &worker[E]{encoder: e}, err
}

// giveBack returns a worker to the pool, unless it was run: then it returns when it is done.
func (p *pool[E]) giveBack(w *worker[E]) {
	if !w.runs {
		p.idle <- w
	}
}

// run calls encode, in another goroutine if there are several workers, and empties the chunk. It returns an empty
// chunk for the next rows.
func (p *pool[E]) run(w *worker[E], c *columnar.Chunk, encode func()) *columnar.Chunk {
	if p.workers == 1 {
		encode()
		c.Reset()
		w.runs = true
		p.idle <- w // before wait, which Write may call
		return c
	}
	next := w.spare
	if w.spare = c; next == nil {
		next = c.Next()
	}
	next.Use(c.Names)
	w.runs = true
	panics.Send(p.idle, func() *worker[E] {
		encode()
		c.Reset()
		return w
	}, func(err error) *worker[E] {
		w.err = err
		return w
	})
	return next
}

// wait waits until all workers are idle, and calls each for the encoder of each worker. The error is a panic in a run.
func (p *pool[E]) wait(each func(E)) (err error) {
	all := make([]*worker[E], p.made)
	for i := range all {
		all[i] = <-p.idle
		each(all[i].encoder)
		err = cmp.Or(err, all[i].err)
	}
	for _, w := range all {
		p.idle <- w
	}
	return err
}
