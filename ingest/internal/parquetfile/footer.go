package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// The bytes that a file begins and ends with.
const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
)

// The errors of Open and Column.Open that name a fault of a file as a whole.
var (
	ErrTruncated = errors.New("it does not end as a Parquet file does: it is truncated, or damaged at its end")
	ErrFooter    = errors.New("its footer is damaged")
	// ErrUnsupported means that a file is sound, but has features that this package does not read.
	ErrUnsupported = errors.New("which is not read")
	errEncrypted   = fmt.Errorf("it is encrypted, %w", ErrUnsupported)
)

// A File is a Parquet file whose footer was read. It is safe for concurrent use if its reader is.
type File struct {
	r    io.ReaderAt
	end  int64 // of the pages: where the footer begins
	meta *metadata.FileMetaData
}

// Open reads the footer of a file of that size.
func Open(r io.ReaderAt, size int64) (*File, error) {
	const tail = 8 // the length of the footer, and magic
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

// parse reads the footer. The library panics if the schema makes no tree.
func (f *File) parse(footer []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its schema is no tree of columns", ErrFooter)
		}
	}()
	if f.meta, err = metadata.NewFileMetaData(footer, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrFooter, err)
	}
	return nil
}

// check compares the footer's numbers for the file with those for the row groups.
func (f *File) check() error {
	if f.meta.IsSetEncryptionAlgorithm() {
		return errEncrypted
	}
	// Compare the types of columns with their older forms, which most programs write too.
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
			return fmt.Errorf("%w: column %s has a scale, and is no decimal", ErrFooter, e.Name)
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

// Small reports whether the footer says that no number of a column of unsigned 64 bits is too large for
// a signed one.
func (f *File) Small(index int) bool {
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

// A chunk is where a column of a row group lies in the file, and the footer's facts about it.
type chunk struct {
	start, end int64
	old        bool // end may be too early, see mrBug
	codec      compress.Compression
	values     int64
	encodings  []parquet.Encoding
}

// mrBug is how many bytes the pages of a column may go beyond their end in the footer, in files of
// parquet-mr before 1.2.9: it did not count the header of the dictionary there (PARQUET-816).
const mrBug = 100

// chunk compares the footer's facts about a column of a row group with the schema.
func (f *File) chunk(group int, col *schema.Column, index int) (chunk, error) {
	column := f.meta.RowGroups[group].Columns[index]
	meta := column.GetMetaData()
	switch {
	case column.CryptoMetadata != nil:
		return chunk{}, errEncrypted
	case column.FilePath != nil && *column.FilePath != "":
		return chunk{}, fmt.Errorf("its data lie in another file, %w", ErrUnsupported)
	case meta == nil:
		return chunk{}, fmt.Errorf("%w: row group %d says nothing of it", ErrFooter, group)
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
	if at := meta.DictionaryPageOffset; at != nil && *at > 0 && *at < c.start { // some writers have 0 for none
		c.start = *at
	}
	c.end = c.start + meta.TotalCompressedSize
	if c.start < int64(len(magic)) || meta.TotalCompressedSize < 0 || c.end < c.start || c.end > f.end {
		return chunk{}, fmt.Errorf("%w: in row group %d, it would lie at byte %d to %d, and the pages end at %d", ErrFooter, group, c.start, c.end, f.end)
	}
	for _, e := range meta.Encodings {
		c.encodings = append(c.encodings, parquet.Encoding(e))
	}
	return c, nil
}
