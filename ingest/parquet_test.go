package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// tableStart is the time of row 0 of makeParquet.
var tableStart = time.Date(2026, 1, 31, 18, 0, 0, 250_000_000, time.UTC)

// makeParquet returns a file with row groups of these sizes, with the columns of Common Crawl's index and others. In
// row i, url is null if i%10 is 3, and fetch_status if i%7 is 2.
func makeParquet(tb testing.TB, groups ...int) []byte {
	tb.Helper()
	text := func(name string, rep parquet.Repetition) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, rep, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1))
	}
	stamp := func(name string, unit schema.TimeUnitType) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, schema.NewTimestampLogicalType(true, unit), parquet.Types.Int64, 0, -1))
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		text("host", parquet.Repetitions.Required),
		text("url", parquet.Repetitions.Optional),
		stamp("fetch_time", schema.TimeUnitMillis),
		schema.NewInt32Node("fetch_status", parquet.Repetitions.Optional, -1),
		schema.NewFloat64Node("score", parquet.Repetitions.Required, -1),
		schema.NewBooleanNode("ok", parquet.Repetitions.Required, -1),
		schema.NewInt96Node("old_time", parquet.Repetitions.Required, -1),
		text("tags", parquet.Repetitions.Repeated),
		stamp("early", schema.TimeUnitMicros),
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("price", parquet.Repetitions.Required, schema.NewDecimalLogicalType(9, 2), parquet.Types.Int32, 0, -1)),
	}, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageSize(2000))))
	row := 0
	for _, n := range groups {
		g := w.AppendRowGroup()
		writeGroup(tb, g, row, n)
		if err := g.Close(); err != nil {
			tb.Fatal(err)
		}
		row += n
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// writeGroup writes a row group, starting with row from.
func writeGroup(tb testing.TB, g file.SerialRowGroupWriter, row, n int) {
	tb.Helper()
	var (
		hosts, urls       []parquet.ByteArray
		urlDefs, statDefs []int16
		millis            []int64
		statuses          []int32
		scores            []float64
		oks               []bool
		olds              []parquet.Int96
		early             []int64
	)
	for i := row; i < row+n; i++ {
		hosts = append(hosts, []byte("www.example.com"))
		urlDefs, statDefs = append(urlDefs, int16(1)), append(statDefs, int16(1))
		if i%10 == 3 {
			urlDefs[i-row] = 0
		} else {
			urls = append(urls, fmt.Appendf(nil, "/page/%d", i))
		}
		if i%7 == 2 {
			statDefs[i-row] = 0
		} else {
			statuses = append(statuses, int32(200+i%3))
		}
		at := tableStart.Add(time.Duration(i) * time.Second)
		millis, early = append(millis, at.UnixMilli()), append(early, int64(i))
		var old parquet.Int96 // nanoseconds of the day and Julian day
		binary.LittleEndian.PutUint64(old[:], uint64(at.UnixNano()%(24*3600*1e9)))
		binary.LittleEndian.PutUint32(old[8:], uint32(2440588+at.Unix()/(24*3600)))
		olds = append(olds, old)
		scores, oks = append(scores, float64(i)/8), append(oks, i%2 == 0)
	}
	column := func() file.ColumnChunkWriter {
		c, err := g.NextColumn()
		if err != nil {
			tb.Fatal(err)
		}
		return c
	}
	check := func(_ int64, err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	check(column().(*file.ByteArrayColumnChunkWriter).WriteBatch(hosts, nil, nil))
	check(column().(*file.ByteArrayColumnChunkWriter).WriteBatch(urls, urlDefs, nil))
	check(column().(*file.Int64ColumnChunkWriter).WriteBatch(millis, nil, nil))
	check(column().(*file.Int32ColumnChunkWriter).WriteBatch(statuses, statDefs, nil))
	check(column().(*file.Float64ColumnChunkWriter).WriteBatch(scores, nil, nil))
	check(column().(*file.BooleanColumnChunkWriter).WriteBatch(oks, nil, nil))
	check(column().(*file.Int96ColumnChunkWriter).WriteBatch(olds, nil, nil))
	zeros := make([]int16, n)
	check(column().(*file.ByteArrayColumnChunkWriter).WriteBatch(nil, zeros, zeros))
	check(column().(*file.Int64ColumnChunkWriter).WriteBatch(early, nil, nil))
	check(column().(*file.Int32ColumnChunkWriter).WriteBatch(make([]int32, n), nil, nil))
}

// parquetOptions reads all columns of makeParquet except the list.
func parquetOptions(rows int) LogOptions {
	return LogOptions{
		BatchRows: rows, Fields: weblog.Options{Times: true},
		Keep: []KeptColumn{{Field: "status", Kind: engine.KeptInt}, {Field: "score", Kind: engine.KeptFloat}, {Field: "ok", Kind: engine.KeptBool}, {Field: "old_time", Kind: engine.KeptTime}, {Field: "host", Kind: engine.KeptText}, {Field: "early", Kind: engine.KeptTime}},
	}
}

// TestParquet reads columns of all types, in row groups of several sizes, between text logs, with and without Ahead.
func TestParquet(t *testing.T) {
	dir := t.TempDir()
	table := testpack.WriteFile(t, dir, "x.parquet", makeParquet(t, 1000, 1, 0, 2345))
	for _, rows := range []int{1, 100, 8192} {
		l, err := OpenLogs([]string{table}, parquetOptions(rows))
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for b := (engine.Batch{}); l.Next(&b); {
			for i := range b.Len() {
				checkTableRow(t, &b, i, next)
				next++
			}
			if done, total := l.Progress(); next < 3346 && (done <= 0 || done >= total) {
				t.Errorf("after %d rows: %d of %d bytes", next, done, total)
			}
		}
		if next != 3346 || l.Err() != nil || l.Counts().Odd["empty_request"] != 335 || l.Inputs()[0].Format != weblog.Parquet {
			t.Errorf("%d rows, %v, odd %v, format %s", next, l.Err(), l.Counts().Odd, l.Inputs()[0].Format)
		}
		if done, total := l.Progress(); done != total {
			t.Errorf("%d of %d bytes", done, total)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkTableRow compares row i of a batch with row n of the file.
func checkTableRow(t *testing.T, b *engine.Batch, i, n int) {
	t.Helper()
	at := tableStart.Add(time.Duration(n) * time.Second).UnixMicro()
	want := fmt.Sprintf("%d https://www.example.com/page/%d %d %t %d %v %d %d %s %d", n+1, n, at, n%7 != 2, 200+n%3, float64(n)/8, 1-n%2, at, "www.example.com", n)
	if n%10 == 3 { // a null URL is also a row
		want = strings.Replace(want, fmt.Sprintf("https://www.example.com/page/%d", n), "", 1)
	}
	if n%7 == 2 {
		want = strings.Replace(want, fmt.Sprintf(" %d ", 200+n%3), " 0 ", 1)
	}
	k := b.Kept
	got := fmt.Sprintf("%d %s %d %t %d %v %d %d %s %d", b.Lines[i], b.URL(i), b.Times[i], k[0].Present[i], k[0].Ints[i], k[1].Floats[i], k[2].Ints[i], k[3].Ints[i], b.Piece(k[4].Texts[i]), k[5].Ints[i])
	if got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// TestParquetBeside reads Parquet files between text logs, with and without Ahead and a limit.
func TestParquetBeside(t *testing.T) {
	dir := t.TempDir()
	table := testpack.WriteFile(t, dir, "x.parquet", makeParquet(t, 20))
	text := testpack.WriteFile(t, dir, "x.txt", []byte("http://a/\nhttp://b/\n"))
	for _, ahead := range []int{0, 2} {
		for _, limit := range []int64{0, 3, 10, 23} {
			l, err := OpenLogs([]string{text, table, text, table}, LogOptions{Ahead: ahead, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for b := (engine.Batch{}); l.Next(&b); {
				for len(got) <= b.Input {
					got = append(got, 0)
				}
				got[b.Input] += b.Len()
			}
			want := map[int64][]int{0: {2, 20, 2, 20}, 3: {2, 1}, 10: {2, 8}, 23: {2, 20, 1}}[limit]
			if !slices.Equal(got, want) || l.Err() != nil {
				t.Errorf("%d ahead, limit %d: %v, %v, want %v", ahead, limit, got, l.Err(), want)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestParquetErrors reads missing columns.
func TestParquetErrors(t *testing.T) {
	dir := t.TempDir()
	table := testpack.WriteFile(t, dir, "x.parquet", makeParquet(t, 20))
	text := testpack.WriteFile(t, dir, "x.txt", []byte("http://a/\n"))
	for _, test := range []struct {
		name string
		opt  LogOptions
		want error
	}{
		{table, LogOptions{Keep: []KeptColumn{{Field: "none"}}}, weblog.ErrNoField},
		{table, LogOptions{Keep: []KeptColumn{{Field: "tags"}}}, weblog.ErrNoField},
		{table, LogOptions{Fields: weblog.Options{Named: map[string]string{"url": "link"}}}, weblog.ErrNoField},
		{text, LogOptions{Format: weblog.Parquet}, ErrParquet},
		{"-", LogOptions{Stdin: strings.NewReader("PAR1" + "...")}, ErrFormat},
		{testpack.WriteFile(t, dir, "y.parquet", []byte("PAR1PAR1")), LogOptions{}, ErrParquet},
	} {
		l, err := OpenLogs([]string{test.name}, test.opt)
		if err != nil {
			t.Fatal(err)
		}
		if b := (engine.Batch{}); l.Next(&b) || !errors.Is(l.Err(), test.want) {
			t.Errorf("%s: %v, want %v", test.name, l.Err(), test.want)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestParquetUnverified checks that, if pages have no checksums, rows before a fault in one of them are unverified.
func TestParquetUnverified(t *testing.T) {
	data := makeParquet(t, 300, 200)
	at := bytes.Index(data, []byte("/page/300")) // in the second row group
	clear(data[at : at+40])
	l, err := OpenLogs([]string{testpack.WriteFile(t, t.TempDir(), "x.parquet", data)}, parquetOptions(100))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for b := (engine.Batch{}); l.Next(&b); {
		rows += b.Len() + b.Refused
	}
	fault, ok := errors.AsType[*LineError](l.Err())
	if !ok || !errors.Is(fault, ErrParquet) {
		t.Fatalf("the fault is %v", l.Err())
	}
	if rows < 300 || fault.Unverified != 1 || fault.Line != int64(rows)+1 {
		t.Errorf("%d rows, unverified from %d, fault in %d", rows, fault.Unverified, fault.Line)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestParquetDamage damages files at random positions. There must be an error, or as many rows as were written. Tests
// of package parquetfile compare the values.
func TestParquetDamage(t *testing.T) {
	whole := makeParquet(t, 300, 200)
	rng := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	faults := 0
	for range 300 {
		data := bytes.Clone(whole)
		at := 4 + rng.IntN(len(data)-4)
		switch rng.IntN(3) {
		case 0:
			data[at] ^= byte(1 + rng.IntN(255))
		case 1:
			data = data[:at]
		case 2:
			data = slices.Delete(data, at, min(len(data), at+1+rng.IntN(50)))
		}
		l, err := OpenLogs([]string{testpack.WriteFile(t, dir, "x.parquet", data)}, parquetOptions(100))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for b := (engine.Batch{}); l.Next(&b); {
			rows += b.Len() + b.Refused
		}
		if l.Err() != nil {
			faults++
		}
		if rows > 500 || rows < 500 && l.Err() == nil {
			t.Errorf("%d rows, %v", rows, l.Err())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if faults < 100 {
		t.Errorf("only %d faults", faults)
	}
}
