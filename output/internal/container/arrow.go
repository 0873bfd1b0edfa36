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

// arrowChunk is one record batch: large enough that the dictionaries which a stream repeats do not
// count.
var arrowChunk = columnar.Limits{Rows: 64 << 10, Bytes: 8 << 20}

// errDictionary is returned when an Arrow file would need a dictionary of more than 2 GiB, the most
// that the type of its columns can hold.
var errDictionary = errors.New("dictionary of an Arrow file exceeds 2 GiB: write Parquet or an Arrow stream instead")

// ErrDictMemory is the kind of the error of an Arrow file whose dictionaries take more than
// [Options].DictMemory.
var ErrDictMemory = errors.New("the dictionaries of an Arrow file exceed their part of the memory limit")

// A recordWriter is the common part of the library's writers of files and streams.
type recordWriter interface {
	Write(arrow.Record) error
	Close() error
}

// An arrowOutput writes each chunk as a record batch.
type arrowOutput struct {
	sink    *Sink
	layout  *columnar.Schema
	format  Format
	packing []ipc.Option // how buffers are packed
	md      *Metadata    // read when the first chunk is written
	dicts   int64        // Options.DictMemory

	schema *arrow.Schema
	writer recordWriter // nil before the first chunk
}

// newArrow returns an Arrow file or stream with nothing written. md is read with the first chunk.
func newArrow(s *Sink, l *columnar.Schema, opt Options, md *Metadata) (*arrowOutput, error) {
	o := &arrowOutput{sink: s, layout: l, format: opt.Format, md: md, dicts: opt.DictMemory}
	compression, _, err := opt.Compression.choose(opt.Format, opt.Level)
	if err != nil {
		return nil, err
	}
	switch compression { //nolint:exhaustive // choose returns none of the others
	case Zstd:
		o.packing = append(o.packing, ipc.WithZstd())
	case LZ4:
		o.packing = append(o.packing, ipc.WithLZ4())
	}
	return o, nil
}

// start writes the schema, once.
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

// Write writes a chunk as a record batch: in a stream with its dictionaries, which are then
// forgotten; in a file without.
func (o *arrowOutput) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	if err := o.writeRecord(c); err != nil {
		return nil, err
	}
	c.Reset()
	return c, nil
}

// writeRecord writes a chunk. A stream sends dictionaries as they grow; a file has them once, at the
// end.
func (o *arrowOutput) writeRecord(c *columnar.Chunk) error {
	if err := o.start(c); err != nil {
		return err
	}
	if o.format == ArrowStream {
		rec := o.record(c, columnar.CopiedTexts)
		defer rec.Release()
		c.Names.Reset()
		if err := o.writer.Write(rec); err != nil {
			return err
		}
		return o.sink.failed()
	}
	for i, d := range c.Names.Dicts {
		if d != nil && len(d.Text) > math.MaxInt32-arrowChunk.Bytes {
			return fmt.Errorf("column %s: %w", o.layout.Fields[i].Name, errDictionary)
		}
	}
	if o.dicts > 0 && int64(c.Names.Memory()) > o.dicts {
		return fmt.Errorf("%w, %d MiB", ErrDictMemory, o.dicts>>20)
	}
	rec := o.indexOnly(c)
	defer rec.Release()
	if err := o.writer.Write(rec); err != nil {
		return err
	}
	return o.sink.failed()
}

// Close writes the end of a stream; or the dictionaries of a file, with an empty record batch, and
// the footer. Metadata added since the first chunk comes too late.
func (o *arrowOutput) Close(c *columnar.Chunk, _ Metadata) error {
	if err := o.start(c); err != nil {
		return err
	}
	if o.format == ArrowFile {
		rec := o.record(c, columnar.SharedTexts) // nothing changes them any more
		defer rec.Release()
		if err := o.writer.Write(rec); err != nil {
			return err
		}
	}
	return o.writer.Close()
}

// Abort has nothing to stop.
func (o *arrowOutput) Abort() {}

// An indexRecord is a record batch whose dictionary columns are bare indices, while its schema says
// dictionary. The bytes of both are the same, but the library, which writes the dictionaries it
// finds in a record before it and takes only the first in a file, finds none.
type indexRecord struct {
	arrow.Record
	cols []arrow.Array
}

// Column returns a column as it is to be encoded.
func (r indexRecord) Column(i int) arrow.Array { return r.cols[i] }

// Columns returns the columns as they are to be encoded.
func (r indexRecord) Columns() []arrow.Array { return r.cols }

// indexOnly returns the chunk as a record without dictionaries.
func (o *arrowOutput) indexOnly(c *columnar.Chunk) arrow.Record {
	rec := o.record(c, columnar.NoTexts)
	cols := slices.Clone(rec.Columns())
	for i, col := range cols {
		if d, ok := col.(*array.Dictionary); ok {
			cols[i] = d.Indices()
		}
	}
	return indexRecord{Record: rec, cols: cols}
}

// record returns the chunk as a record that shares the memory of its columns, with the texts of
// dictionaries or without.
func (o *arrowOutput) record(c *columnar.Chunk, texts columnar.DictTexts) arrow.Record {
	return array.NewRecord(o.schema, c.Arrays(texts), int64(c.Rows))
}
