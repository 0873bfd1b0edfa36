package output

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/robobatch/robobatch/internal/testdata/parquettest"
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
	c := parquettest.Read(tb, data)
	return contents{c.Columns, c.Rows, c.Groups, c.Pages, c.Metadata}
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

func arrowValue(tb testing.TB, a arrow.Array, i int) any { //nolint:thelper // see jsonValue
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
