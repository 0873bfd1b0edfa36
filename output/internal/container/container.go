package container

import (
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/output/internal/columnar"
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
		p, err := newParquet(s, l, o)
		if err != nil {
			return nil, columnar.Limits{}, err
		}
		return p, p.nextLimits(), nil
	case ArrowFile, ArrowStream:
		a, err := newArrow(s, l, o, md)
		return a, arrowChunk, err
	default:
		return newLines(s, l, o), lineChunk, nil
	}
}
