package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// The first and last bytes of a file.
const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
)

// Errors of Open and Column.Open that concern a whole file.
var (
	ErrTruncated = errors.New("it does not end like a Parquet file: it is truncated, or damaged at its end")
	ErrFooter    = errors.New("its footer is damaged")
	// ErrUnsupported means that a file is valid, but uses features that this package does not support.
	ErrUnsupported = errors.New("which is not supported")
	errEncrypted   = fmt.Errorf("it is encrypted, %w", ErrUnsupported)
)

// A File is a Parquet file whose footer was read. It is safe for concurrent use if its io.ReaderAt is.
type File struct {
	r    io.ReaderAt
	end  int64 // end of the pages: the position of the footer
	meta *metadata.FileMetaData
}

// Open reads the footer of a file with that size, and checks it. The errors are ErrTruncated, ErrFooter,
// ErrUnsupported, and those of r.
func Open(r io.ReaderAt, size int64) (*File, error) {
	const tail = 8 // the length of the footer, and the magic bytes
	var b [tail]byte
	if size < int64(len(magic))+tail {
		return nil, ErrTruncated
	}
	if _, err := r.ReadAt(b[:], size-tail); err != nil {
		return nil, err
	}
	switch string(b[4:]) {
	case magic:
	case encryptedMagic:
		return nil, errEncrypted
	default:
		return nil, ErrTruncated
	}
	end := size - tail - int64(binary.LittleEndian.Uint32(b[:]))
	if end < int64(len(magic)) {
		return nil, fmt.Errorf("%w: it would be longer than the file", ErrFooter)
	}
	footer := make([]byte, size-tail-end)
	if _, err := r.ReadAt(footer, end); err != nil {
		return nil, err
	}
	f := &File{r: r, end: end}
	if err := f.parse(footer); err != nil {
		return nil, err
	}
	return f, f.check()
}

// parse reads the footer to f.meta. A panic of the library, which means that the schema is not a tree, becomes an
// ErrFooter.
func (f *File) parse(footer []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its schema is not a tree of columns", ErrFooter)
		}
	}()
	if f.meta, err = metadata.NewFileMetaData(footer, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrFooter, err)
	}
	return nil
}

// check compares the row counts in the footer for the file with those for the row groups, and the types of the
// columns with their legacy form. An encrypted file is an error.
func (f *File) check() error {
	if f.meta.IsSetEncryptionAlgorithm() {
		return errEncrypted
	}
	// Compare the column types with their legacy form, which most programs write, too.
	for _, e := range f.meta.FileMetaData.Schema {
		older := schema.ConvertedTypes.None
		if e.ConvertedType != nil {
			older = schema.ConvertedType(*e.ConvertedType)
		}
		if t := e.LogicalType; t != nil && t.TIMESTAMP != nil && t.TIMESTAMP.Unit != nil {
			unit := t.TIMESTAMP.Unit
			if older == schema.ConvertedTypes.TimestampMillis && unit.MILLIS == nil || older == schema.ConvertedTypes.TimestampMicros && unit.MICROS == nil {
				return fmt.Errorf("%w: column %s has two units of time", ErrFooter, e.Name)
			}
		}
		if e.GetScale()|e.GetPrecision() != 0 && e.LogicalType == nil && older != schema.ConvertedTypes.Decimal {
			return fmt.Errorf("%w: column %s has a scale, but is not a decimal", ErrFooter, e.Name)
		}
	}

	rows := int64(0)
	for i, group := range f.meta.RowGroups {
		if group.NumRows < 0 || len(group.Columns) != f.meta.Schema.NumColumns() {
			return fmt.Errorf("%w: row group %d has %d rows and %d columns, the schema %d", ErrFooter, i, group.NumRows, len(group.Columns), f.meta.Schema.NumColumns())
		}
		rows += group.NumRows
	}
	if rows != f.meta.NumRows {
		return fmt.Errorf("%w: it has %d rows, its row groups %d", ErrFooter, f.meta.NumRows, rows)
	}
	return nil
}

// Schema returns the schema.
func (f *File) Schema() *schema.Schema { return f.meta.Schema }

// Groups returns the number of row groups.
func (f *File) Groups() int { return len(f.meta.RowGroups) }

// Rows returns the number of rows of a row group.
func (f *File) Rows(group int) int64 { return f.meta.RowGroups[group].NumRows }

// FitsSigned reports whether, according to the footer, all numbers of an unsigned 64-bit column fit in a signed one. It
// is false if a row group has no statistics.
func (f *File) FitsSigned(index int) bool {
	for _, group := range f.meta.RowGroups {
		meta := group.Columns[index].GetMetaData()
		if meta == nil || meta.Statistics == nil {
			return false
		}
		s := meta.Statistics
		nulls := s.NullCount != nil && *s.NullCount == meta.NumValues
		if !nulls && (len(s.MaxValue) != 8 || s.MaxValue[7] >= 0x80) { // little-endian
			return false
		}
	}
	return true
}

// A chunk is the position of a column of a row group in the file, with its metadata from the footer.
type chunk struct {
	start, end int64
	old        bool // end may be too small, see mrBug
	codec      compress.Compression
	values     int64
	encodings  []parquet.Encoding
}

// mrBug is the number of bytes by which the pages of a column may exceed their end in the footer, in files of
// parquet-mr before 1.2.9, which did not count the dictionary header (PARQUET-816).
const mrBug = 100

// chunk returns the chunk of a column in a row group, after it has compared the metadata with the schema. index is
// the index of the column.
func (f *File) chunk(group int, col *schema.Column, index int) (chunk, error) {
	column := f.meta.RowGroups[group].Columns[index]
	meta := column.GetMetaData()
	switch {
	case column.CryptoMetadata != nil:
		return chunk{}, errEncrypted
	case column.FilePath != nil && *column.FilePath != "":
		return chunk{}, fmt.Errorf("its data is in another file, %w", ErrUnsupported)
	case meta == nil:
		return chunk{}, fmt.Errorf("%w: row group %d has no metadata for it", ErrFooter, group)
	case !slices.Equal(meta.PathInSchema, col.ColumnPath()):
		return chunk{}, fmt.Errorf("%w: it is called %q in row group %d", ErrFooter, strings.Join(meta.PathInSchema, "."), group)
	case parquet.Type(meta.Type) != col.PhysicalType():
		return chunk{}, fmt.Errorf("%w: it has the type %s in row group %d, and %s in the schema", ErrFooter, meta.Type, group, col.PhysicalType())
	case meta.NumValues < f.Rows(group), meta.NumValues > f.Rows(group) && col.MaxRepetitionLevel() == 0:
		return chunk{}, fmt.Errorf("%w: it has %d values in row group %d, which has %d rows", ErrFooter, meta.NumValues, group, f.Rows(group))
	}
	c := chunk{
		start: meta.DataPageOffset, codec: compress.Compression(meta.Codec), values: meta.NumValues,
		old: f.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion),
	}
	if at := meta.DictionaryPageOffset; at != nil && *at > 0 && *at < c.start { // some writers use 0 for none
		c.start = *at
	}
	c.end = c.start + meta.TotalCompressedSize
	if c.start < int64(len(magic)) || meta.TotalCompressedSize < 0 || c.end < c.start || c.end > f.end {
		return chunk{}, fmt.Errorf("%w: in row group %d, it would be at bytes %d to %d, but the pages end at %d", ErrFooter, group, c.start, c.end, f.end)
	}
	for _, e := range meta.Encodings {
		c.encodings = append(c.encodings, parquet.Encoding(e))
	}
	return c, nil
}

// A pageKind is the type of a page.
type pageKind int64

// Types of pages.
const (
	dataPage pageKind = iota
	indexPage
	dictionaryPage
	dataPageV2
)

// A header holds the page header fields.
type header struct {
	kind         pageKind
	size, packed int64 // size of the page before and after compression
	crc          uint32
	checked      bool // crc is set

	values   int64
	encoding parquet.Encoding
	levels   parquet.Encoding // encoding of the definition levels, version 1
	repeats  parquet.Encoding // encoding of the repetition levels, version 1

	// Version 2 only.
	nulls, rows        int64
	defBytes, repBytes int64
	stored             bool // the values are not compressed
}

// errHeader means that a header lacks a field, or has it twice or with the wrong type.
var errHeader = errors.New("is not that of a page")

// readHeader reads the header at the beginning of data, and returns the header and its length. If data is too short, it
// returns errShort; if the header is invalid, errHeader or errThrift.
func readHeader(data []byte) (h header, n int, err error) {
	c := compact{data: data}
	var kind, crc, encoding, levels, repeats int64
	numbers := map[int64]*int64{1: &kind, 2: &h.size, 3: &h.packed, 4: &crc}
	parts := map[int64]map[int64]*int64{
		5: {1: &h.values, 2: &encoding, 3: &levels, 4: &repeats},
		7: {1: &h.values, 2: &encoding},
		8: {1: &h.values, 2: &h.nulls, 3: &h.rows, 4: &encoding, 5: &h.defBytes, 6: &h.repBytes},
	}
	part := int64(0)
	c.eachField(0, func(id int64, kind byte) bool {
		if fields := parts[id]; fields != nil && kind == typeStruct && part == 0 {
			part = id
			c.eachField(1, func(id int64, kind byte) bool {
				if kind == typeFalse && id == 7 && part == 8 {
					h.stored = true
				}
				return c.readNumber(fields, id, kind)
			})
			if len(fields) > 0 {
				c.fail(errHeader)
			}
			return true
		}
		return c.readNumber(numbers, id, kind)
	})
	_, plain := numbers[4]
	delete(numbers, 4)
	if c.err == nil && len(numbers) > 0 {
		c.err = errHeader
	}
	h.kind, h.crc, h.checked = pageKind(kind), uint32(crc), !plain
	h.encoding, h.levels = parquet.Encoding(encoding), parquet.Encoding(levels)
	h.repeats = parquet.Encoding(repeats)
	if c.err == nil && !h.isValid(part) {
		c.err = errHeader
	}
	return h, c.pos, c.err
}

// readNumber reads a number to the field with that id, and removes the field from missing. It reports whether it has
// done so: the field must be missing, and a 32-bit number.
func (c *compact) readNumber(missing map[int64]*int64, id int64, kind byte) bool {
	to := missing[id]
	if to == nil || kind != typeI32 {
		return false
	}
	delete(missing, id)
	*to = c.int()
	return true
}

// isValid reports whether the numbers of the header are possible, and match the kind of page. part is the id of the
// struct that the header has.
func (h *header) isValid(part int64) bool {
	for _, n := range [...]int64{h.size, h.packed, h.values, h.nulls, h.rows, h.defBytes, h.repBytes} {
		if n < 0 || n > math.MaxInt32 {
			return false
		}
	}
	switch h.kind {
	case dataPage:
		return part == 5
	case dictionaryPage:
		return part == 7
	case dataPageV2:
		levels := h.defBytes + h.repBytes
		return part == 8 && h.nulls <= h.values && levels <= h.packed && levels <= h.size
	case indexPage:
		return true
	}
	return false
}

// errShort means that a structure continues after the given bytes.
var errShort = errors.New("ends too early")

// errThrift means that bytes are not a valid structure.
var errThrift = errors.New("is not in Thrift's compact protocol")

// A compact reads structures in Thrift's compact protocol. Errors are sticky: after an error, all numbers are 0 and no
// field follows.
type compact struct {
	data []byte
	pos  int
	err  error
}

// Types of fields.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
)

// maxDepth is the maximum nesting depth of structures.
const maxDepth = 16

func (c *compact) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compact) byte() byte {
	if c.err != nil || c.pos >= len(c.data) {
		c.fail(errShort)
		return 0
	}
	c.pos++
	return c.data[c.pos-1]
}

// uvarint reads an unsigned number; it returns 0 after an error.
func (c *compact) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.data[c.pos:])
	if n <= 0 {
		c.fail(errShort)
		if n < 0 {
			c.err = errThrift
		}
		return 0
	}
	c.pos += n
	return v
}

// int reads a number in zigzag encoding.
func (c *compact) int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// eachField calls read for each field of a structure. read returns whether it consumed the value; eachField skips
// values that were not consumed. depth is the number of structures around this one.
func (c *compact) eachField(depth int, read func(id int64, kind byte) bool) {
	if depth > maxDepth {
		c.fail(errThrift)
	}
	id := int64(0)
	for c.err == nil {
		b := c.byte()
		if b == 0 {
			return
		}
		if delta := int64(b >> 4); delta != 0 {
			id += delta
		} else {
			id = c.int()
		}
		if kind := b & 15; c.err == nil && !read(id, kind) {
			c.skip(kind, depth)
		}
	}
}

// skip skips the value of a field. depth is that of its structure.
func (c *compact) skip(kind byte, depth int) {
	switch {
	case kind == typeTrue, kind == typeFalse:
	case kind == typeByte:
		c.byte()
	case kind > typeByte && kind <= typeI64:
		c.uvarint()
	case kind == typeDouble:
		c.skipBytes(8)
	case kind == typeBinary:
		c.skipBytes(c.uvarint())
	case kind == typeList, kind == typeSet:
		b := c.byte()
		n := uint64(b >> 4)
		if n == 15 {
			n = c.uvarint()
		}
		kind := b & 15
		for ; n > 0 && c.err == nil; n-- {
			c.skipElement(kind, depth)
		}
	case kind == typeMap:
		if n := c.uvarint(); n > 0 {
			b := c.byte()
			for ; n > 0 && c.err == nil; n-- {
				c.skipElement(b>>4, depth)
				c.skipElement(b&15, depth)
			}
		}
	case kind == typeStruct:
		c.eachField(depth+1, func(int64, byte) bool { return false })
	default:
		c.fail(errThrift)
	}
}

// skipElement skips an element of a list or map. Unlike as a field, a boolean takes a byte there.
func (c *compact) skipElement(kind byte, depth int) {
	if kind == typeTrue || kind == typeFalse {
		c.byte()
		return
	}
	c.skip(kind, depth+1)
}

// skipBytes skips that many bytes.
func (c *compact) skipBytes(n uint64) {
	if c.err == nil && n > uint64(len(c.data)-c.pos) {
		c.fail(errShort)
		return
	}
	c.pos += int(n)
}
