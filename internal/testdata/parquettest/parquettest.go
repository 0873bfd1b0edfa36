// Package parquettest reads Parquet files for tests, by the reader of arrow-go, which has nothing in common with the
// writer of this project. Only tests import it.
package parquettest

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// Contents are all values of a file.
type Contents struct {
	Columns  []string // names
	Rows     [][]any  // a value per column, nil for null
	Groups   int      // row groups
	Pages    int      // data pages of all columns
	Metadata map[string]string
}

// Read reads a whole file. An error ends the test.
func Read(tb testing.TB, data []byte) Contents {
	tb.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	c := Contents{Groups: r.NumRowGroups(), Metadata: map[string]string{}}
	md := r.MetaData().KeyValueMetadata()
	for i, key := range md.Keys() {
		c.Metadata[key] = md.Values()[i]
	}
	for i := range r.MetaData().Schema.NumColumns() {
		c.Columns = append(c.Columns, r.MetaData().Schema.Column(i).Name())
	}
	c.Rows = make([][]any, r.NumRows())
	done := 0
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		for i := range c.Columns {
			pages, err := group.GetColumnPageReader(i)
			if err != nil {
				tb.Fatal(err)
			}
			for pages.Next() {
				if _, ok := pages.Page().(*file.DataPageV1); ok {
					c.Pages++
				}
			}
			col, err := group.Column(i)
			if err != nil {
				tb.Fatal(err)
			}
			values := readColumn(tb, col, group.NumRows())
			for k, v := range values {
				c.Rows[done+k] = append(c.Rows[done+k], v)
			}
		}
		done += int(group.NumRows())
	}
	return c
}

// readColumn reads a column of a row group.
func readColumn(tb testing.TB, col file.ColumnChunkReader, rows int64) []any {
	tb.Helper()
	switch col := col.(type) {
	case *file.Int64ColumnChunkReader:
		return readValues(tb, col.ReadBatch, rows, col.Descriptor().MaxDefinitionLevel(), func(v int64) any { return v })
	case *file.Int32ColumnChunkReader:
		return readValues(tb, col.ReadBatch, rows, col.Descriptor().MaxDefinitionLevel(), func(v int32) any { return v })
	case *file.BooleanColumnChunkReader:
		return readValues(tb, col.ReadBatch, rows, col.Descriptor().MaxDefinitionLevel(), func(v bool) any { return v })
	case *file.Float64ColumnChunkReader:
		return readValues(tb, col.ReadBatch, rows, col.Descriptor().MaxDefinitionLevel(), func(v float64) any { return v })
	case *file.ByteArrayColumnChunkReader:
		return readValues(tb, col.ReadBatch, rows, col.Descriptor().MaxDefinitionLevel(), func(v parquet.ByteArray) any { return string(v) })
	}
	tb.Fatalf("column of type %T", col)
	return nil
}

// readValues reads a column in small steps: the texts of a step are valid only until the next.
func readValues[T any](tb testing.TB, readBatch func(int64, []T, []int16, []int16) (int64, int, error), rows int64, maxDef int16, conv func(T) any) []any {
	tb.Helper()
	var out []any
	values, defs := make([]T, 1000), make([]int16, 1000)
	for int64(len(out)) < rows {
		total, _, err := readBatch(min(1000, rows-int64(len(out))), values, defs, nil)
		if err != nil || total == 0 {
			tb.Fatalf("after %d of %d rows: %v", len(out), rows, err)
		}
		next := 0
		for i := range int(total) {
			if maxDef == 0 || defs[i] == maxDef {
				out = append(out, conv(values[next]))
				next++
			} else {
				out = append(out, nil)
			}
		}
	}
	return out
}
