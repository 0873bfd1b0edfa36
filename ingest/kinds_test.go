package ingest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
)

// typed returns a Parquet file of one row, with columns of all types.
func typed(t *testing.T) []byte {
	t.Helper()
	leaf := func(name string, logical schema.LogicalType, typ parquet.Type, length int) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, logical, typ, length, -1))
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		leaf("url", schema.StringLogicalType{}, parquet.Types.ByteArray, 0),
		leaf("small", schema.NewIntLogicalType(8, true), parquet.Types.Int32, 0),
		leaf("plus", schema.NewIntLogicalType(32, false), parquet.Types.Int32, 0),
		leaf("large", schema.NewIntLogicalType(64, false), parquet.Types.Int64, 0),
		leaf("fits", schema.NewIntLogicalType(64, false), parquet.Types.Int64, 0),
		leaf("price", schema.NewDecimalLogicalType(9, 2), parquet.Types.Int32, 0),
		leaf("wide", schema.NewDecimalLogicalType(20, 3), parquet.Types.FixedLenByteArray, 9),
		leaf("day", schema.DateLogicalType{}, parquet.Types.Int32, 0),
		leaf("at", schema.NewTimestampLogicalType(true, schema.TimeUnitNanos), parquet.Types.Int64, 0),
		leaf("share", schema.NoLogicalType{}, parquet.Types.Float, 0),
		leaf("ok", schema.NoLogicalType{}, parquet.Types.Boolean, 0),
		schema.MustGroup(schema.NewGroupNode("user", parquet.Repetitions.Required, schema.FieldList{leaf("id", schema.NoLogicalType{}, parquet.Types.Int64, 0)}, -1)),
	}, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root)
	g := w.AppendRowGroup()
	for g.CurrentColumn() < root.NumFields()-1 {
		c, err := g.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *file.ByteArrayColumnChunkWriter:
			_, err = c.WriteBatch([]parquet.ByteArray{[]byte("https://a.example/")}, nil, nil)
		case *file.FixedLenByteArrayColumnChunkWriter:
			_, err = c.WriteBatch([]parquet.FixedLenByteArray{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}}, nil, nil)
		case *file.Int32ColumnChunkWriter:
			_, err = c.WriteBatch([]int32{-5}, nil, nil)
		case *file.Int64ColumnChunkWriter:
			n := int64(-1_000)
			if c.Descr().Name() == "fits" {
				n = 7
			}
			_, err = c.WriteBatch([]int64{n}, nil, nil)
		case *file.Float32ColumnChunkWriter:
			_, err = c.WriteBatch([]float32{0.1}, nil, nil)
		case *file.BooleanColumnChunkWriter:
			_, err = c.WriteBatch([]bool{true}, nil, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{g.Close(), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// TestKinds checks that columns of Parquet files keep their kinds and values.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	name := testpack.WriteFile(t, dir, "x.parquet", typed(t))
	wants := []struct {
		field string
		kind  engine.KeptKind
		text  string
		n     int64
		f     float64
	}{
		{"small", engine.KeptInt, "", -5, 0},
		{"plus", engine.KeptInt, "", 1<<32 - 5, 0},
		{"large", engine.KeptText, "18446744073709550616", 0, 0},
		{"fits", engine.KeptInt, "", 7, 0},
		{"price", engine.KeptText, "-0.05", 0, 0},
		{"wide", engine.KeptText, "-0.002", 0, 0},
		{"day", engine.KeptTime, "", -5 * 24 * 3600 * 1_000_000, 0},
		{"at", engine.KeptTime, "", -1, 0},
		{"share", engine.KeptFloat, "", 0, 0.1},
		{"ok", engine.KeptBool, "", 1, 0},
		{"user.id", engine.KeptText, "-1000", 0, 0},
	}
	var opt LogOptions
	for _, w := range wants {
		opt.Keep = append(opt.Keep, KeptColumn{Field: w.field, Own: true})
	}
	l, err := OpenLogs([]string{name, name}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var b engine.Batch
	if !l.Next(&b) {
		t.Fatal(l.Err())
	}
	for i, w := range wants {
		k := b.Kept[i]
		switch {
		case l.Kept()[i].Kind != w.kind || k.Kind != w.kind || !k.Present[0]:
			t.Errorf("%s: kind %d, want %d", w.field, k.Kind, w.kind)
		case w.kind == engine.KeptText && string(b.Piece(k.Texts[0])) != w.text:
			t.Errorf("%s: %q, want %q", w.field, b.Piece(k.Texts[0]), w.text)
		case w.kind == engine.KeptFloat && k.Floats[0] != w.f:
			t.Errorf("%s: %v, want %v", w.field, k.Floats[0], w.f)
		case w.kind != engine.KeptText && w.kind != engine.KeptFloat && k.Ints[0] != w.n:
			t.Errorf("%s: %d, want %d", w.field, k.Ints[0], w.n)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestKindsDiffer expects an error that names both inputs if their columns have different kinds.
func TestKindsDiffer(t *testing.T) {
	dir := t.TempDir()
	table := testpack.WriteFile(t, dir, "x.parquet", typed(t))
	text := testpack.WriteFile(t, dir, "x.csv", []byte("url,small\nhttps://a.example/,7\n"))
	for _, names := range [][]string{{table, text}, {text, table}} {
		_, err := OpenLogs(names, LogOptions{Keep: []KeptColumn{{Field: "small", Own: true}}})
		if err == nil || !strings.Contains(err.Error(), "-keep small:int") || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), table) {
			t.Errorf("%v: %v", names, err)
		}
		l, err := OpenLogs(names, LogOptions{Keep: []KeptColumn{{Field: "small", Kind: engine.KeptInt}}})
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for b := (engine.Batch{}); l.Next(&b); {
			sum += b.Kept[0].Ints[0]
		}
		if sum != 2 || l.Err() != nil {
			t.Errorf("%v: sum %d, %v", names, sum, l.Err())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
