package container

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/robobatch/robobatch/output/internal/columnar"
)

// arrowChunk limits a record batch. It is large enough that the dictionaries, which a stream repeats for every batch,
// hardly matter.
var arrowChunk = columnar.Limits{Rows: 64 << 10, Bytes: 8 << 20}

// errDictionary is the error of an Arrow file with a dictionary of more than 2 GiB, the maximum for the type of its
// columns.
var errDictionary = errors.New("dictionary of an Arrow file exceeds 2 GiB: write Parquet or an Arrow stream instead")

// ErrDictMemory is the kind of error for an Arrow file whose dictionaries exceed [Options].DictMemory.
var ErrDictMemory = errors.New("the dictionaries of an Arrow file exceed their part of the memory limit")

// A recordWriter writes an Arrow file or stream.
type recordWriter interface {
	Write(arrow.Record) error
	Close() error
}

// An arrowOutput writes each chunk as a record batch.
type arrowOutput struct {
	sink    *Sink
	layout  *columnar.Schema
	format  Format
	packing []ipc.Option // the compression
	md      *Metadata    // read when the first chunk is written
	dicts   int64        // Options.DictMemory

	schema *arrow.Schema
	writer recordWriter // nil before the first chunk
}

// newArrow begins an Arrow file or stream. It writes nothing yet: md is read with the first chunk.
func newArrow(s *Sink, l *columnar.Schema, opt Options, md *Metadata) (*arrowOutput, error) {
	o := &arrowOutput{sink: s, layout: l, format: opt.Format, md: md, dicts: opt.DictMemory}
	compression, _, err := opt.Compression.chooseFor(opt.Format, opt.Level)
	if err != nil {
		return nil, err
	}
	switch compression { //nolint:exhaustive // choose does not return the others
	case Zstd:
		o.packing = append(o.packing, ipc.WithZstd())
	case LZ4:
		o.packing = append(o.packing, ipc.WithLZ4())
	}
	return o, nil
}

// start begins the file with the metadata and the schema of c. It does nothing if the file has begun.
func (o *arrowOutput) start(c *columnar.Chunk) (err error) {
	if o.writer != nil {
		return nil
	}
	md := arrow.NewMetadata(o.md.Keys, o.md.Values)
	o.schema = arrow.NewSchema(c.ArrowFields(), &md)
	if o.format == ArrowStream {
		o.writer = ipc.NewWriter(o.sink, append(o.packing, ipc.WithSchema(o.schema))...)
		return nil
	}
	o.writer, err = ipc.NewFileWriter(o.sink, append(o.packing, ipc.WithSchema(o.schema))...)
	return err
}

// Write writes a chunk as a record batch: in a stream with its dictionaries, which then start again; in a file without
// them, because Close writes the dictionaries of all batches.
func (o *arrowOutput) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	if err := o.start(c); err != nil {
		return nil, err
	}
	var rec arrow.Record
	if o.format == ArrowStream {
		rec = o.newRecord(c, columnar.CopiedTexts)
		c.Names.Reset()
	} else {
		for i, d := range c.Names.Dicts {
			if d != nil && len(d.Text) > math.MaxInt32-arrowChunk.Bytes {
				return nil, fmt.Errorf("column %s: %w", o.layout.Fields[i].Name, errDictionary)
			}
		}
		if o.dicts > 0 && int64(c.Names.Memory()) > o.dicts {
			return nil, fmt.Errorf("%w, %d MiB", ErrDictMemory, o.dicts>>20)
		}
		rec = o.newRecord(c, columnar.NoTexts)
		cols := slices.Clone(rec.Columns())
		for i, col := range cols {
			if d, ok := col.(*array.Dictionary); ok {
				cols[i] = d.Indices()
			}
		}
		rec = indexRecord{Record: rec, cols: cols}
	}
	err := o.writer.Write(rec)
	rec.Release()
	if err == nil {
		err = o.sink.firstError()
	}
	if err != nil {
		return nil, err
	}
	c.Reset()
	return c, nil
}

// Close writes the end of a stream; for a file, it writes the dictionaries, with an empty record batch, and the footer.
// It ignores the metadata, which was written with the first chunk.
func (o *arrowOutput) Close(c *columnar.Chunk, _ Metadata) error {
	if err := o.start(c); err != nil {
		return err
	}
	if o.format == ArrowFile {
		rec := o.newRecord(c, columnar.SharedTexts) // they no longer change
		defer rec.Release()
		if err := o.writer.Write(rec); err != nil {
			return err
		}
	}
	return o.writer.Close()
}

// Abort does nothing: no work runs in the background.
func (o *arrowOutput) Abort() {}

// An indexRecord is a record batch with plain indices as its dictionary columns, although its schema says dictionary.
// Both are encoded to the same bytes. But before a record batch, the library writes the dictionaries that it finds in
// its columns, and for a file only the first time; here it finds none.
type indexRecord struct {
	arrow.Record
	cols []arrow.Array
}

// Column returns the array that is encoded for column i.
func (r indexRecord) Column(i int) arrow.Array { return r.cols[i] }

// Columns returns the arrays that are encoded.
func (r indexRecord) Columns() []arrow.Array { return r.cols }

// newRecord returns the chunk as a record that shares the memory of its columns.
func (o *arrowOutput) newRecord(c *columnar.Chunk, texts columnar.DictTexts) arrow.Record {
	return array.NewRecord(o.schema, c.Arrays(texts), int64(c.Rows))
}
