// Package container encodes chunks as a file: Parquet, Arrow, CSV or JSON Lines.
//
// It hides the formats: their names and abilities, how chunks are encoded in parallel, and when dictionaries start
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

// A Container lays the rows of chunks out in a file.
type Container interface {
	// Write adds a chunk, which then belongs to the container, and returns empty columns for the next one. The
	// numbering still belongs to the caller; the container resets it only after it has written the dictionaries.
	Write(c *columnar.Chunk) (*columnar.Chunk, error)
	// Close writes the rest, given empty columns. The sink is not its to flush.
	Close(c *columnar.Chunk, md Metadata) error
	// Abort stops all work, after an error or instead of Close.
	Abort()
}

// Options say how a file holds its table. Their fields are as in Options.
type Options struct {
	Format      Format
	Compression Compression
	Level       int
	RowGroup    int
	CSV         CSVForm
	Version     string
	Workers     int
	DictMemory  int64

	Formulas *Formulas // counts cells that spreadsheets would run; nil counts none
	Encoders *Encoders // of Parquet, which files of one schema share; nil is the file's own
}

// CheckFormat returns an ErrFormat unless there is such a format.
func (o Options) CheckFormat() error {
	if int(o.Format) >= NumFormats {
		return fmt.Errorf("%w: %d", ErrFormat, o.Format)
	}
	return nil
}

// Check returns the demands that the format cannot meet, whatever the columns, joined: of the kinds
// ErrCompression, ErrLevel, ErrRowGroup and ErrCSV.
func (o Options) Check() error {
	_, _, errCompression := o.Compression.choose(o.Format, o.Level)
	var errGroup error
	if o.RowGroup < 0 {
		errGroup = fmt.Errorf("%w of %d rows: use 1 or more, or 0 for the default", ErrRowGroup, o.RowGroup)
	} else if o.RowGroup > 0 && o.Format != Parquet {
		errGroup = fmt.Errorf("%w in %s: they are for .parquet", ErrRowGroup, o.Format)
	}
	return errors.Join(errCompression, errGroup, o.CSV.check(o.Format))
}

// Begin returns the container of a file, and how long its first chunk is.
func (o Options) Begin(s *Sink, l *columnar.Schema, md *Metadata) (Container, columnar.Limits, error) {
	switch o.Format {
	case Parquet:
		// Start a Parquet file.
		c, level, err := o.Compression.choose(Parquet, o.Level)
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
		// Start a file of lines. As many goroutines as there are workers encode chunks, with one
		// worker the caller's.
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

// sinkBuffer is the size of the writes: large enough that system calls do not count.
const sinkBuffer = 256 << 10

// A Sink buffers the output of a container and counts it. Errors are sticky, and surface at the
// latest with flush: not all of the libraries that write here pass them on.
type Sink struct {
	buf *bufio.Writer
	pos int64
}

// NewSink returns a Sink that writes to w.
func NewSink(w io.Writer) *Sink { return &Sink{buf: bufio.NewWriterSize(w, sinkBuffer)} }

// Reset starts again on another stream of bytes.
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

// Tell returns the position.
func (s *Sink) Tell() int64 { return s.pos }

// errSeek is returned for all seeks but the one that asks for the position.
var errSeek = errors.New("the output cannot be rewound")

// Seek reports the position, which is all that the writer of Arrow files asks for.
func (s *Sink) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errSeek
	}
	return s.pos, nil
}

// Flush passes on the buffered bytes and returns the first error there was.
func (s *Sink) Flush() error { return s.buf.Flush() }

// failed returns the first error there was.
func (s *Sink) failed() error {
	_, err := s.buf.Write(nil)
	return err
}

// The names of the key-value metadata.
const (
	KeyVersion      = "robobatch.version"        // of the program; set by the caller
	KeyDialect      = "robobatch.dialect"        // set by NewWriter
	KeyAgents       = "robobatch.agents"         // JSON array, as asked for; set by NewWriter
	KeyRulesHash    = "robobatch.rules_hash"     // of the rules' content; set by NewWriter
	KeyRulesHashOld = "robobatch.rules_hash_old" // the hash of Options.Old; set by NewWriter
	KeyPreferences  = "robobatch.preferences"    // the revision of preferences, if columns have them; set by NewWriter
	KeyInputs       = "robobatch.inputs"         // JSON array; set by NewWriter to the names, by the caller to names and sizes
	KeyCounts       = "robobatch.counts"         // JSON object; set by the caller at the end
	KeyRows         = "robobatch.rows"           // rows of the table; set by Close, Parquet only
	KeyInvalidUTF8  = "robobatch.invalid_bytes"  // as of InvalidBytes; set by Close, Parquet only
)

// Metadata is a list of pairs in the order of the first setting of their keys.
type Metadata struct{ Keys, Values []string }

// Set adds a pair, in valid UTF-8, or replaces the value of its key.
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

// JSONText returns a list of names as a JSON array.
func JSONText(names []string) string {
	valid := make([]string, len(names))
	for i, name := range names {
		valid[i] = fieldtext.Valid(name)
	}
	b, _ := json.Marshal(valid) // strings always have a form in JSON
	return string(b)
}

// Without returns the pairs except for the pairs of the keys.
func (m *Metadata) Without(keys ...string) (rest Metadata) {
	for i, key := range m.Keys {
		if !slices.Contains(keys, key) {
			rest.Keys, rest.Values = append(rest.Keys, key), append(rest.Values, m.Values[i])
		}
	}
	return rest
}

// A pool runs the encoders of a container, one for each worker. Each encodes a chunk at a time,
// beside the gathering of the next; with one worker, Write itself encodes.
type pool[E any] struct {
	workers int
	idle    chan *worker[E]
	made    int // workers that were started
	newE    func() (E, error)
}

// A worker is an encoder and the chunk that it encoded last, emptied.
type worker[E any] struct {
	encoder E
	spare   *columnar.Chunk
	runs    bool  // since it was taken
	err     error // the panic of a run; sticky
}

func newPool[E any](workers int, newE func() (E, error)) pool[E] {
	workers = max(1, workers)
	return pool[E]{workers: workers, idle: make(chan *worker[E], workers), newE: newE}
}

// takeWorker waits for a worker that has nothing to do. The caller defers giveBack.
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

// giveBack gives back a worker, unless it was run: then it comes back by itself.
func (p *pool[E]) giveBack(w *worker[E]) {
	if !w.runs {
		p.idle <- w
	}
}

// run has the worker encode a chunk, and returns an empty chunk for the next rows.
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

// wait waits until all workers have nothing to do, and passes their encoders to each. The error is a panic of one.
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
