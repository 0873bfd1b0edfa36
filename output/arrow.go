package output

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// arrowChunk is one record batch: large enough that the dictionaries which a stream repeats do not count.
var arrowChunk = limits{rows: 64 << 10, bytes: 8 << 20}

// dictType is the type of the dictionary columns.
var dictType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// ErrDictionary is returned when an Arrow file would need a dictionary of more than 2 GiB, the most that the type of
// its columns can hold.
var ErrDictionary = errors.New("dictionary of an Arrow file exceeds 2 GiB: write Parquet or an Arrow stream instead")

// A recordWriter is what the library's writers of files and streams have in common.
type recordWriter interface {
	Write(arrow.Record) error
	Close() error
}

// An arrowOutput writes each chunk as a record batch.
type arrowOutput struct {
	sink *sink
	layout
	format  Format
	packing []ipc.Option   // how buffers are packed
	md      *metadataPairs // read when the first chunk is written

	schema *arrow.Schema
	writer recordWriter // nil before the first chunk
}

// newArrow returns an Arrow file or stream with nothing written. md is read with the first chunk.
func newArrow(s *sink, l layout, opt Options, md *metadataPairs) (*arrowOutput, error) {
	o := &arrowOutput{sink: s, layout: l, format: opt.Format, md: md}
	compression, _, err := opt.Compression.settle(opt.Format, opt.Level)
	if err != nil {
		return nil, err
	}
	switch compression { //nolint:exhaustive // settle returns none of the others
	case Zstd:
		o.packing = append(o.packing, ipc.WithZstd())
	case LZ4:
		o.packing = append(o.packing, ipc.WithLZ4())
	}
	return o, nil
}

// arrowType returns the type of the field as Arrow describes it.
func (f field) arrowType() arrow.DataType {
	switch f.kind {
	case kindInt64:
		return arrow.PrimitiveTypes.Int64
	case kindInt32:
		return arrow.PrimitiveTypes.Int32
	case kindBool:
		return arrow.FixedWidthTypes.Boolean
	case kindText:
		return arrow.BinaryTypes.String
	case kindDictionary:
		return dictType
	case kindTime:
		return arrow.FixedWidthTypes.Timestamp_us
	case kindFloat:
		return arrow.PrimitiveTypes.Float64
	}
	panic("a column of no kind")
}

// start writes the schema, once.
func (o *arrowOutput) start() (err error) {
	if o.writer != nil {
		return nil
	}
	list := make([]arrow.Field, 0, len(o.picked)+len(o.kept))
	for _, f := range o.fields() {
		list = append(list, arrow.Field{Name: f.name, Type: f.arrowType(), Nullable: f.nullable})
	}
	md := arrow.NewMetadata(o.md.keys, o.md.values)
	o.schema = arrow.NewSchema(list, &md)
	if o.format == ArrowStream {
		o.writer = ipc.NewWriter(o.sink, append(o.packing, ipc.WithSchema(o.schema))...)
		return nil
	}
	o.writer, err = ipc.NewFileWriter(o.sink, append(o.packing, ipc.WithSchema(o.schema))...)
	return err
}

// write writes a chunk as a record batch: in a stream with its dictionaries, which are then forgotten; in a file
// without.
func (o *arrowOutput) write(c *columns) (*columns, error) {
	if err := o.writeRecord(c); err != nil {
		return nil, err
	}
	c.reset()
	return c, nil
}

func (o *arrowOutput) writeRecord(c *columns) error {
	if err := o.start(); err != nil {
		return err
	}
	if o.format == ArrowStream {
		rec := o.record(c, true)
		defer rec.Release()
		c.names.reset()
		if err := o.writer.Write(rec); err != nil {
			return err
		}
		return o.sink.err()
	}
	for _, col := range o.picked {
		if f := o.field(col); f.kind == kindDictionary && len(c.names.dict(col).text) > math.MaxInt32-arrowChunk.bytes {
			return fmt.Errorf("column %s: %w", f.name, ErrDictionary)
		}
	}
	rec := o.indexOnly(c)
	defer rec.Release()
	if err := o.writer.Write(rec); err != nil {
		return err
	}
	return o.sink.err()
}

// close writes the end of a stream; or the dictionaries of a file, with an empty record batch, and the footer. What
// the metadata has gained since the first chunk comes too late.
func (o *arrowOutput) close(c *columns, _ metadataPairs) error {
	if err := o.start(); err != nil {
		return err
	}
	if o.format == ArrowFile {
		rec := o.record(c, true)
		defer rec.Release()
		if err := o.writer.Write(rec); err != nil {
			return err
		}
	}
	return o.writer.Close()
}

// abort has nothing to stop.
func (o *arrowOutput) abort() {}

// An indexRecord is a record batch whose dictionary columns are bare indices, while its schema says dictionary. The
// bytes of both are the same, but the library, which writes the dictionaries it finds in a record before it and takes
// only the first in a file, finds none.
type indexRecord struct {
	arrow.Record
	cols []arrow.Array
}

// Column returns a column as it is to be encoded.
func (r indexRecord) Column(i int) arrow.Array { return r.cols[i] }

// Columns returns the columns as they are to be encoded.
func (r indexRecord) Columns() []arrow.Array { return r.cols }

// indexOnly returns the chunk as a record without dictionaries.
func (o *arrowOutput) indexOnly(c *columns) arrow.Record {
	rec := o.record(c, false)
	cols := slices.Clone(rec.Columns())
	for i, col := range cols {
		if d, ok := col.(*array.Dictionary); ok {
			cols[i] = d.Indices()
		}
	}
	return indexRecord{Record: rec, cols: cols}
}

// record returns the chunk as a record that shares the memory of its columns, with the dictionaries or with empty ones.
func (o *arrowOutput) record(c *columns, dictionaries bool) arrow.Record {
	cols := make([]arrow.Array, 0, len(o.picked)+len(o.kept))
	for _, col := range o.picked {
		cols = append(cols, c.arrowColumn(col, dictionaries))
	}
	for i, f := range o.kept {
		cols = append(cols, c.arrowKept(i, f.arrowType()))
	}
	return array.NewRecord(o.schema, cols, int64(c.rows))
}

// arrowColumn returns a column of the chunk.
func (c *columns) arrowColumn(col column, dictionaries bool) arrow.Array {
	switch col.base() {
	case colLine:
		return newArray(arrow.PrimitiveTypes.Int64, c.rows, nil, 0, arrow.Int64Traits.CastToBytes(c.line))
	case colURL, colCanonical:
		t := &c.texts[col]
		return newArray(arrow.BinaryTypes.String, c.rows, t.present, t.nulls,
			arrow.Int32Traits.CastToBytes(t.offsets), t.text)
	case colAllowed, colViolation:
		v := c.bools(col)
		return newArray(arrow.FixedWidthTypes.Boolean, c.rows, v.present, v.nulls, packBits(nil, v.values))
	case colRuleLine:
		v := c.ruleLines(col)
		return newArray(arrow.PrimitiveTypes.Int32, c.rows, v.present, v.nulls, arrow.Int32Traits.CastToBytes(v.values))
	default:
		ids := c.indices(col)
		indices := newArray(arrow.PrimitiveTypes.Int32, c.rows, ids.present, ids.nulls,
			arrow.Int32Traits.CastToBytes(ids.values))
		texts := newDictionaryArray(nil, []int32{0})
		if dictionaries {
			// A copy: the library keeps a stream's dictionary to compare it with the next.
			d := c.names.dict(col)
			texts = newDictionaryArray(slices.Clone(d.text), slices.Clone(d.offsets))
		}
		return array.NewDictionaryArray(dictType, indices, texts)
	}
}

// newArray returns an array of n values over buffers, which it shares.
func newArray(t arrow.DataType, n int, present []int16, nulls int, buffers ...[]byte) arrow.Array {
	all := make([]*memory.Buffer, 1, 1+len(buffers))
	if nulls > 0 {
		all[0] = memory.NewBufferBytes(packBits(nil, present))
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.MakeFromData(array.NewData(t, n, all, nil, nulls, 0))
}

// newDictionaryArray returns texts as an array that shares their memory.
func newDictionaryArray(text []byte, offsets []int32) arrow.Array {
	return newArray(arrow.BinaryTypes.String, len(offsets)-1, nil, 0, arrow.Int32Traits.CastToBytes(offsets), text)
}
