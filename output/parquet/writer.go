package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/output/parquet/internal/wordzstd"
)

// Options configure a file. The zero value means an uncompressed file without the name of its creator.
type Options struct {
	CreatedBy string // valid UTF-8
	Codec     Codec
	Level     int // of Zstd and Gzip; must be valid for the codec
}

// A Sink is the destination of a file. Errors must be sticky, because the library does not return all of them.
type Sink interface {
	io.Writer
	Tell() int64 // bytes written so far
}

// magic begins and ends a file.
const magic = "PAR1"

// A Writer writes a file by row groups. The pages of a row group are in memory until it ends. A Writer is not safe for
// concurrent use, but its encoders may work at the same time.
type Writer struct {
	sink    Sink
	fields  []Field
	opt     Options
	builder *metadata.FileMetaDataBuilder
	groups  int // row groups written

	pages  []*Pages // of the current row group
	spare  []*Pages // for reuse
	framer framer
	pack   packer // for dictionaries
	dict   []byte // scratch: a dictionary
	packed []byte // scratch: a compressed dictionary
}

// NewWriter begins a file with these columns. It panics if a [Type] or the [Codec] is invalid.
func NewWriter(to Sink, fields []Field, opt Options) (*Writer, error) {
	props, root, err := opt.librarySchema(fields)
	if err != nil {
		return nil, err
	}
	w := &Writer{sink: to, fields: fields, opt: opt, framer: framer{sink: to}}
	if w.pack, err = newPacker(opt.Codec, opt.Level); err != nil {
		return nil, err
	}
	w.builder = metadata.NewFileMetadataBuilder(schema.NewSchema(root), props, nil)
	_, err = to.Write([]byte(magic))
	return w, err
}

// Beside begins another file with the same columns and options. Encoders of one Writer can fill pages of the other. The
// two share memory, so they must be used by the same goroutine.
func (w *Writer) Beside(to Sink) (*Writer, error) {
	props, root, err := w.opt.librarySchema(w.fields)
	if err != nil {
		return nil, err
	}
	next := &Writer{sink: to, fields: w.fields, opt: w.opt, framer: framer{sink: to}, pack: w.pack, spare: w.spare}
	w.spare = nil
	next.builder = metadata.NewFileMetadataBuilder(schema.NewSchema(root), props, nil)
	_, err = to.Write([]byte(magic))
	return next, err
}

// librarySchema returns the properties and columns of a file in the form of the library.
func (o Options) librarySchema(fields []Field) (*parquet.WriterProperties, *schema.GroupNode, error) {
	props := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithCreatedBy(o.CreatedBy),
		parquet.WithCompression(library[o.Codec]), parquet.WithDictionaryDefault(false),
	}
	types := [...]struct {
		physical parquet.Type
		logical  schema.LogicalType
	}{
		Int64: {parquet.Types.Int64, nil}, Int32: {parquet.Types.Int32, nil}, Bool: {parquet.Types.Boolean, nil},
		Text: {parquet.Types.ByteArray, schema.StringLogicalType{}}, Dictionary: {parquet.Types.ByteArray, schema.StringLogicalType{}},
		Time:   {parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)},
		Double: {parquet.Types.Double, nil},
	}
	nodes := make(schema.FieldList, 0, len(fields))
	for _, f := range fields {
		rep := parquet.Repetitions.Required
		if f.Nullable {
			rep = parquet.Repetitions.Optional
		}
		if t := types[f.Type]; t.logical == nil {
			nodes = append(nodes, schema.MustPrimitive(schema.NewPrimitiveNode(f.Name, rep, t.physical, -1, 0)))
		} else {
			nodes = append(nodes, schema.MustPrimitive(schema.NewPrimitiveNodeLogical(f.Name, rep, t.logical, t.physical, 0, -1)))
		}
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	return parquet.NewWriterProperties(props...), root, nil
}

// NewEncoder returns an encoder for pages of the file, for one goroutine at a time.
func (w *Writer) NewEncoder() (*Encoder, error) {
	pack, err := newPacker(w.opt.Codec, w.opt.Level)
	e := &Encoder{pack: pack, fields: w.fields}
	if w.opt.Codec == Zstd && zstd.EncoderLevelFromZstd(w.opt.Level) == zstd.SpeedFastest &&
		slices.ContainsFunc(w.fields, func(f Field) bool { return f.Type == Text && f.Delta }) {
		e.words = wordzstd.NewEncoder()
	}
	return e, err
}

// Begin returns pages for the next rows of the row group. The caller fills them by one encoder before it calls
// EndGroup. Pages are written in the order of the calls of Begin. texts are the dictionaries: one element for each
// column, nil for columns without one. The rows may refer only to texts that the dictionaries already have.
func (w *Writer) Begin(rows int, texts []TextList) *Pages {
	to := &Pages{columns: make([]page, len(w.fields))}
	if n := len(w.spare); n > 0 {
		to, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	to.rows = rows
	for i, list := range texts {
		if list != nil {
			to.columns[i].texts = list.Len()
		}
	}
	w.pages = append(w.pages, to)
	return to
}

// EndGroup writes the row group. texts are the complete dictionaries: one element for each column, nil for columns
// without one. All pages from Begin must be filled; they are reused, so do not keep them. Without pages it does
// nothing.
func (w *Writer) EndGroup(texts []TextList) error {
	if len(w.pages) == 0 {
		return nil
	}
	group := w.builder.AppendRowGroup()
	start, rows := w.sink.Tell(), 0
	for i, f := range w.fields {
		if err := w.writeColumn(group.NextColumnChunk(), i, texts[i]); err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	for _, p := range w.pages {
		rows += p.rows
	}
	w.spare, w.pages = append(w.spare, w.pages...), w.pages[:0]
	group.SetNumRows(rows)
	ordinal := int16(min(w.groups, math.MaxInt16)) // only readers of encrypted files use it, so it need not be unique
	if err := group.Finish(w.sink.Tell()-start, ordinal); err != nil {
		return fmt.Errorf("row group: %w", err)
	}
	w.groups++
	return nil
}

// writeColumn writes a column of the row group, with its statistics: its dictionary, if it has one, and its pages.
// texts is nil unless the type is Dictionary.
func (w *Writer) writeColumn(meta *metadata.ColumnChunkMetaDataBuilder, column int, texts TextList) error {
	f := w.fields[column]
	w.framer.begin()
	var stats statistics
	if f.Type == Dictionary {
		w.dict = w.dict[:0]
		for i := range texts.Len() {
			text := texts.At(int32(i))
			w.dict = append(binary.LittleEndian.AppendUint32(w.dict, uint32(len(text))), text...)
		}
		w.packed = w.pack(w.packed[:0], w.dict)
		if err := w.framer.writeDictionary(w.packed, len(w.dict), texts.Len()); err != nil {
			return err
		}
	}
	for _, pages := range w.pages {
		p := &pages.columns[column]
		if err := w.framer.writeData(p, pages.rows); err != nil {
			return err
		}
		stats.merge(&p.stats)
	}
	if f.Type == Dictionary {
		stats.addList(texts)
	}
	meta.SetStats(stats.encode(f.Type))
	return w.framer.finish(meta)
}

// Close writes the footer with this metadata: values[i] is the value of keys[i]. Call EndGroup first. It does not
// close the Sink.
func (w *Writer) Close(keys, values []string) error {
	for i, key := range keys {
		if err := w.builder.AppendKeyValueMetadata(key, values[i]); err != nil {
			return fmt.Errorf("metadata %s: %w", key, err)
		}
	}
	footer, err := w.builder.Finish()
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	n, err := footer.WriteTo(w.sink, nil)
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	_, err = w.sink.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
	return err
}

// A Codec is a compression of pages.
type Codec uint8

// The codecs.
const (
	Uncompressed Codec = iota
	Zstd               // levels 1 to 22
	Snappy             // no levels
	Gzip               // levels 1 to 9
)

// library maps codecs to those of the library.
var library = [...]compress.Compression{
	Uncompressed: compress.Codecs.Uncompressed, Zstd: compress.Codecs.Zstd,
	Snappy: compress.Codecs.Snappy, Gzip: compress.Codecs.Gzip,
}

// A packer compresses src. The result depends only on src. It may use the memory of dst, whose content is ignored.
type packer func(dst, src []byte) []byte

// newPacker returns a packer for one goroutine. The level must be valid for the codec.
func newPacker(c Codec, level int) (packer, error) {
	switch c {
	case Zstd:
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderCRC(false), // readers of Parquet ignore it
			zstd.WithZeroFrames(true))
		if err != nil {
			return nil, err
		}
		return func(dst, src []byte) []byte { return enc.EncodeAll(src, dst[:0]) }, nil
	case Snappy:
		return func(dst, src []byte) []byte { return s2.EncodeSnappy(dst[:cap(dst)], src) }, nil
	case Gzip:
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			return nil, err
		}
		return func(dst, src []byte) []byte {
			buf := bytes.NewBuffer(dst[:0])
			w.Reset(buf)
			w.Write(src) //nolint:errcheck // memory accepts all bytes
			w.Close()    //nolint:errcheck // memory accepts all bytes
			return buf.Bytes()
		}, nil
	case Uncompressed:
		return func(_, src []byte) []byte { return src }, nil
	}
	return nil, fmt.Errorf("codec %d is unknown", c)
}

// zstdWindow is the window of zstd encoders, in bytes: more than the size of nearly all pages. It limits their memory;
// the default windows of the levels are 4 to 16 MiB, and encoders may allocate twice that.
const zstdWindow = 2 << 20
