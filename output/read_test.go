package output

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/robobatch/robobatch/output/internal/container"
)

// contents is what a reader finds in a file: rows with a value per column, nil for null.
type contents struct {
	columns  []string
	rows     [][]any
	groups   int // row groups or record batches
	pages    int // data pages of all columns; Parquet only
	metadata map[string]string
}

// read reads a file of the format: with the reader of arrow/go, or as text.
func read(tb testing.TB, f Format, data []byte) contents {
	tb.Helper()
	if f == Parquet {
		return readParquet(tb, data)
	}
	if container.Specs[f].Syntax != nil {
		return readLines(tb, f, data)
	}
	return readArrow(tb, f, data)
}

func readParquet(tb testing.TB, data []byte) contents {
	tb.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	c := contents{groups: r.NumRowGroups(), metadata: map[string]string{}}
	md := r.MetaData().KeyValueMetadata()
	for i, key := range md.Keys() {
		c.metadata[key] = md.Values()[i]
	}
	for i := range r.MetaData().Schema.NumColumns() {
		c.columns = append(c.columns, r.MetaData().Schema.Column(i).Name())
	}
	c.rows = make([][]any, r.NumRows())
	done := 0
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		for i := range c.columns {
			pages, err := group.GetColumnPageReader(i)
			if err != nil {
				tb.Fatal(err)
			}
			for pages.Next() {
				if _, ok := pages.Page().(*file.DataPageV1); ok {
					c.pages++
				}
			}
			col, err := group.Column(i)
			if err != nil {
				tb.Fatal(err)
			}
			values := readColumn(tb, col, group.NumRows())
			for k, v := range values {
				c.rows[done+k] = append(c.rows[done+k], v)
			}
		}
		done += int(group.NumRows())
	}
	return c
}

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

func readArrow(tb testing.TB, f Format, data []byte) contents {
	tb.Helper()
	var next func() (arrow.Record, error)
	var schema *arrow.Schema
	if f == ArrowFile {
		r, err := ipc.NewFileReader(bytes.NewReader(data))
		if err != nil {
			tb.Fatal(err)
		}
		defer r.Close()
		next, schema = r.Read, r.Schema()
	} else {
		r, err := ipc.NewReader(bytes.NewReader(data))
		if err != nil {
			tb.Fatal(err)
		}
		defer r.Release()
		next, schema = r.Read, r.Schema()
	}
	c := contents{metadata: schema.Metadata().ToMap()}
	for _, f := range schema.Fields() {
		c.columns = append(c.columns, f.Name)
	}
	for {
		rec, err := next()
		if errors.Is(err, io.EOF) {
			return c
		}
		if err != nil {
			tb.Fatal(err)
		}
		if rec.NumRows() > 0 {
			c.groups++
		}
		for i := range int(rec.NumRows()) {
			row := make([]any, rec.NumCols())
			for k := range row {
				row[k] = arrowValue(tb, rec.Column(k), i)
			}
			c.rows = append(c.rows, row)
		}
	}
}

func arrowValue(tb testing.TB, a arrow.Array, i int) any {
	tb.Helper()
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Int64:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Boolean:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.String:
		return string([]byte(a.Value(i)))
	case *array.Dictionary:
		return arrowValue(tb, a.Dictionary(), a.GetValueIndex(i))
	}
	tb.Fatalf("array of type %T", a)
	return nil
}
