package container

import (
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/parquet"
)

// A Container lays the rows of chunks out in a file.
type Container interface {
	// Write adds a chunk, which is its from then on, and returns empty columns for the next one.
	// The numbering stays the caller's; the container resets it when it has written the
	// dictionaries, and not before.
	Write(c *columnar.Chunk) (*columnar.Chunk, error)
	// Close writes the rest, given empty columns. The sink is not its to flush.
	Close(c *columnar.Chunk, md Metadata) error
	// Abort ends all work under way, after an error or in place of close.
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
		errGroup = fmt.Errorf("%w of %d rows: use 1 or more, or 0 for the usual ones", ErrRowGroup, o.RowGroup)
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
