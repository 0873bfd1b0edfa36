package parquet

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// A Cell is a value of a row. Its zero value is an empty text, 0 or false.
type Cell struct {
	Null bool
	Text string // of Text, in UTF-8
	Int  int64  // of the other types; a Bool is 0 or 1
}

// When a row group of a Table ends.
const (
	tableRows  = 128 << 10
	tableBytes = 32 << 20 // of texts
)

// A Table writes a file row by row, of all types but Dictionary and Double. It leaves encoding to
// the library's column writers, which are fast enough for a listing. They lose some errors of the
// Sink, so a caller must ask the Sink. It is not safe for concurrent use.
type Table struct {
	file    *file.Writer
	fields  []Field
	columns []tableColumn
	rows    int // of the open row group
	bytes   int // of its texts
}

// A tableColumn is a column of the open row group. Only the values of its type are set.
type tableColumn struct {
	levels []int16
	texts  []parquet.ByteArray
	longs  []int64
	ints   []int32
	bools  []bool
}

// NewTable begins a file of these columns. Of the options, it ignores the level.
func NewTable(to io.Writer, fields []Field, opt Options) (*Table, error) {
	nodes := make(schema.FieldList, len(fields))
	for i, f := range fields {
		nodes[i] = f.node()
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	props := parquet.NewWriterProperties(parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCreatedBy(opt.CreatedBy), parquet.WithCompression(library[opt.Codec]))
	return &Table{
		file:   file.NewParquetWriter(to, root, file.WithWriterProps(props)),
		fields: fields, columns: make([]tableColumn, len(fields)),
	}, nil
}

// Add adds a row, one cell for each column.
func (t *Table) Add(row []Cell) error {
	for i, cell := range row {
		c := &t.columns[i]
		if cell.Null {
			c.levels = append(c.levels, 0)
			continue
		}
		c.levels = append(c.levels, 1)
		switch t.fields[i].Type { //nolint:exhaustive // there are no others
		case Text:
			c.texts = append(c.texts, parquet.ByteArray(cell.Text))
			t.bytes += len(cell.Text)
		case Int64, Time:
			c.longs = append(c.longs, cell.Int)
		case Int32:
			c.ints = append(c.ints, int32(cell.Int))
		case Bool:
			c.bools = append(c.bools, cell.Int != 0)
		}
	}
	if t.rows++; t.rows >= tableRows || t.bytes >= tableBytes {
		return t.endGroup()
	}
	return nil
}

// endGroup writes the rows so far.
func (t *Table) endGroup() error {
	group := t.file.AppendRowGroup()
	for i, f := range t.fields {
		w, err := group.NextColumn()
		if err == nil {
			err = t.columns[i].write(w, f.Nullable)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	if err := group.Close(); err != nil {
		return fmt.Errorf("row group: %w", err)
	}
	t.rows, t.bytes = 0, 0
	return nil
}

// write writes a column of the row group and empties it.
func (c *tableColumn) write(w file.ColumnChunkWriter, nullable bool) (err error) {
	levels := c.levels
	if !nullable {
		levels = nil
	}
	switch w := w.(type) {
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(c.texts, levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(c.ints, levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(c.bools, levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(c.longs, levels, nil)
	}
	*c = tableColumn{c.levels[:0], c.texts[:0], c.longs[:0], c.ints[:0], c.bools[:0]}
	if err != nil {
		return err
	}
	return w.Close()
}

// Close writes the last rows and the footer, with these metadata.
func (t *Table) Close(keys, values []string) error {
	if t.rows > 0 {
		if err := t.endGroup(); err != nil {
			return err
		}
	}
	for i, key := range keys {
		if err := t.file.AppendKeyValueMetadata(key, values[i]); err != nil {
			return fmt.Errorf("metadata %s: %w", key, err)
		}
	}
	if err := t.file.Close(); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	return nil
}
