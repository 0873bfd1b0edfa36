package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	output "github.com/robobatch/robobatch/output/parquet"
)

// files returns the names of the Parquet files of testdata.
func files(tb testing.TB) []string {
	tb.Helper()
	names, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(names) < 10 {
		tb.Fatalf("%d files, %v", len(names), err)
	}
	return names
}

// read returns the rows of a file as texts, including those before an error.
func read(data []byte) (rows []string, err error) {
	rows, _, err = readSome(data, math.MaxInt)
	return rows, err
}

// readSome is read for a limited number of rows. It also reports whether the file has no more rows.
func readSome(data []byte, most int) (rows []string, ended bool, err error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, true, err
	}
	var columns []*Column
	for i := range f.Schema().NumColumns() {
		columns = append(columns, f.NewColumn(i))
	}
	var text []byte // one text for all rows, because allocating a string per row costs more than reading the row
	var ends []int
	defer func() {
		all, from := string(text), 0
		for _, end := range ends {
			rows = append(rows, all[from:end])
			from = end
		}
	}()
	for g := range f.Groups() {
		for _, c := range columns {
			if err := c.Open(g); err != nil {
				return nil, true, err
			}
		}
		for range f.Rows(g) {
			if len(ends) == most {
				return nil, false, nil
			}
			for _, c := range columns {
				v, null, err := c.Next()
				if err != nil {
					return nil, true, err
				}
				text = append(append(append(text, ' '), c.desc.Name()...), '=')
				text = appendValue(text, c.desc, v, null)
			}
			ends = append(ends, len(text))
		}
	}
	return nil, true, nil
}

// appendValue appends a value as text, according to its type in the schema.
func appendValue(dst []byte, col *schema.Column, v Value, null bool) []byte {
	if null {
		return append(dst, "null"...)
	}
	var at time.Time
	switch t := col.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		switch t.TimeUnit() {
		case schema.TimeUnitMillis:
			at = time.UnixMilli(v.Int)
		case schema.TimeUnitMicros:
			at = time.UnixMicro(v.Int)
		default:
			at = time.Unix(0, v.Int)
		}
	default:
		switch col.PhysicalType() {
		case parquet.Types.ByteArray:
			return strconv.AppendQuote(dst, string(v.Bytes))
		case parquet.Types.Float, parquet.Types.Double:
			return strconv.AppendFloat(dst, v.Float, 'g', -1, 64)
		case parquet.Types.Int96:
			at = parquet.Int96(v.Bytes).ToTime()
		default:
			return strconv.AppendInt(dst, v.Int, 10)
		}
	}
	dst = append(strconv.AppendInt(dst, at.Unix(), 10), 's')
	return strconv.AppendInt(dst, int64(at.Nanosecond()), 10)
}

// wantRow returns row i of the files of testdata.
func wantRow(i int) string {
	url, status, ok := fmt.Sprintf("%q", fmt.Sprintf("https://www.example.com/page/%d/%d", i/7, i)), strconv.Itoa(200+i%3), 0
	switch {
	case i%10 == 3:
		url = "null"
	case i%50 == 4:
		url = `""`
	}
	if i%7 == 2 {
		status = "null"
	}
	if i%3 == 0 {
		ok = 1
	}
	at := time.Date(2026, 1, 31, 18, 0, i, 0, time.UTC)
	return fmt.Sprintf(" url=%s host=%q status=%s size=%d score=%v ratio=%v ok=%d at=%ds0", url, fmt.Sprintf("host%d.example", i/90), status,
		i*i*1000003-5, float64(i)/8, float64(i)/4, ok, at.Unix())
}

// TestWriters reads files of other programs, and checks that they have the features to be tested.
func TestWriters(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range files(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := read(data)
		if err != nil || len(rows) != 400 {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
			continue
		}
		for i, row := range rows {
			if strings.HasSuffix(name, "fastparquet.parquet") { // it stores integers with nulls as floats
				row = strings.Replace(row, "status=NaN", "status=null", 1)
			}
			if want := wantRow(i); row != want {
				t.Fatalf("%s: row %d is\n%s, want\n%s", name, i, row, want)
			}
		}
		for _, p := range pagesOf(t, data) {
			seen[fmt.Sprintf("page %d", p.kind)] = true
			seen[fmt.Sprintf("encoding %s", p.encoding)] = true
			seen[fmt.Sprintf("checksum %t", p.checked)] = true
		}
	}
	for _, what := range []string{
		"page 0", "page 2", "page 3", "encoding PLAIN", "encoding RLE_DICTIONARY", "encoding RLE", "encoding DELTA_BINARY_PACKED",
		"encoding DELTA_LENGTH_BYTE_ARRAY", "encoding DELTA_BYTE_ARRAY", "encoding BYTE_STREAM_SPLIT", "checksum true", "checksum false",
	} {
		if !seen[what] {
			t.Errorf("no file has %s, only %v", what, seen)
		}
	}
}

// pagesOf returns the pages of a file.
func pagesOf(t *testing.T, data []byte) (all []page) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for g := range f.Groups() {
		for i := range f.Schema().NumColumns() {
			c := f.NewColumn(i)
			if err := c.Open(g); err != nil {
				t.Fatal(err)
			}
			all = append(all, c.pages...)
		}
	}
	return all
}

// TestDamage damages each byte of each file, and truncates it at random positions. Either all rows must be correct,
// or an error must follow correct rows. Only damage in the data of pages without a checksum may remain undetected.
func TestDamage(t *testing.T) {
	step := 5 // interval of the damaged bytes in the data of pages; in headers and footers, each byte is damaged
	if testing.Short() {
		step = 307
	}
	inputs := map[string][]byte{}
	for _, name := range files(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs[filepath.Base(name)] = data
	}
	for codec, name := range []string{output.Uncompressed: "none", output.Zstd: "zstd", output.Snappy: "snappy"} {
		inputs["ours-"+name] = ours(t, output.Codec(codec), 3000)
	}
	percent := debug.SetGCPercent(1000) // there is little live memory, and much garbage
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	for name, whole := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, 6))
			want, err := read(whole)
			if err != nil {
				t.Fatal(err)
			}
			inPage, unsummed := make([]bool, len(whole)), make([]bool, len(whole)) // for each byte: whether it is in a page, and whether it is in a page without a checksum
			for _, p := range pagesOf(t, whole) {
				for i := p.at; i < p.at+p.packed; i++ {
					inPage[i], unsummed[i] = true, !p.checked
				}
			}
			var flips, outside, found, harmless, unknown, lost int
			for at := range whole {
				if inPage[at] && at%step != 0 || !inPage[at] && testing.Short() && at%41 != 0 {
					continue
				}
				data := bytes.Clone(whole)
				data[at] ^= 1 << rng.IntN(8)
				if rng.IntN(4) == 0 {
					data[at] = byte(rng.Uint32())
				}
				rows, err := read(data)
				if flips++; !inPage[at] {
					outside++
				}
				switch {
				case err != nil:
					found++
				case slices.Equal(rows, want):
					harmless++
				case unsummed[at]:
					unknown++
					continue
				case otherTimes(t, data, whole):
					lost++
					continue
				default:
					t.Errorf("byte %d, %d to %d: other rows and no error: %s", at, whole[at], data[at], differ(rows, want))
				}
				if len(rows) > len(want) || !slices.Equal(rows, want[:len(rows)]) {
					if !unsummed[at] {
						t.Errorf("byte %d, %d to %d: other rows before the error %v: %s", at, whole[at], data[at], err, differ(rows, want))
					}
				}
				if at%97 != 0 {
					continue
				}
				if rows, err := read(whole[:at]); err == nil {
					t.Errorf("cut at byte %d: %d rows and no error", at, len(rows))
				}
			}
			if strings.HasPrefix(name, "ours") && unknown > 0 {
				t.Errorf("our pages have no checksums")
			}
			if lost > 2 {
				t.Errorf("%d flips make other times, or integers, of times", lost)
			}
			t.Logf("%d flips, %d of them not in pages: %d found, %d without effect, nothing tells %d in pages without checksum, and %d in the footer", flips, outside, found, harmless, unknown, lost)
		})
	}
}

// FuzzRead reads any bytes. It must end in an error or with as many rows as the file states, and the same when
// repeated.
func FuzzRead(f *testing.F) {
	f.Add(ours(f, output.Uncompressed, 50), 100)
	f.Add(ours(f, output.Zstd, 50), 100)
	f.Add(ours(f, output.Snappy, 50), 100)
	for _, name := range files(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 13_000 {
			f.Add(data, 100)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, most int) {
		most = max(1, most%1000) // a few bytes can encode a large number of equal rows
		rows, ended, err := readSome(data, most)
		again, _, errAgain := readSome(data, most)
		if !slices.Equal(rows, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("%d rows and %v, then %d and %v", len(rows), err, len(again), errAgain)
		}
		if !ended || err != nil {
			return
		}
		file, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var want int64
		for g := range file.Groups() {
			want += file.Rows(g)
		}
		if int64(len(rows)) != want {
			t.Errorf("%d rows and no error, and the file says %d", len(rows), want)
		}
	})
}

// ours returns a file with a number of rows, written by package output.
func ours(tb testing.TB, codec output.Codec, rows int64) []byte {
	tb.Helper()
	var s sink
	table, err := output.NewTable(&s, []output.Field{
		{Name: "url", Type: output.Text, Nullable: true},
		{Name: "host", Type: output.Dictionary},
		{Name: "line", Type: output.Int64, Delta: true},
		{Name: "status", Type: output.Int32, Nullable: true},
		{Name: "ok", Type: output.Bool, Nullable: true},
		{Name: "at", Type: output.Time},
	}, output.Options{Codec: codec, Level: 1})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range rows {
		err := table.Add([]output.Cell{
			{Text: fmt.Sprintf("https://www.example.com/%d/%x", i/7, i*i), Null: i%10 == 3},
			{Text: fmt.Sprintf("host%d", i/50)},
			{Int: i + 1},
			{Int: 200 + i%3, Null: i%7 == 2},
			{Int: i % 2, Null: i%3 == 1},
			{Int: 1e15 + i},
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := table.Close([]string{"key"}, []string{"value"}); err != nil {
		tb.Fatal(err)
	}
	return s.Bytes()
}

// A sink is a file in memory.
type sink struct{ bytes.Buffer }

// Tell returns how many bytes were written.
func (s *sink) Tell() int64 { return int64(s.Len()) }

// otherTimes reports whether the type of the last column has changed: a field with an unknown number looks like one of
// a later version of the format, and some writers store the time unit only once.
func otherTimes(t *testing.T, data, whole []byte) bool {
	t.Helper()
	var types [2]string
	for i, data := range [][]byte{data, whole} {
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		types[i] = f.Schema().Column(f.Schema().NumColumns() - 1).LogicalType().String()
	}
	return types[0] != types[1]
}

// differ returns the first rows that differ.
func differ(got, want []string) string {
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("row %d is %s", i, got[i])
		}
	}
	return fmt.Sprintf("%d rows, want %d", len(got), len(want))
}

// TestCauses compares error messages with the damage.
func TestCauses(t *testing.T) {
	whole, err := os.ReadFile("testdata/pyarrow-crc.parquet")
	if err != nil {
		t.Fatal(err)
	}
	first := pagesOf(t, whole)[0]
	flip := func(at int64) []byte {
		data := bytes.Clone(whole)
		data[at] ^= 1
		return data
	}
	plain, err := os.ReadFile("testdata/pyarrow-plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	plain[36685] ^= 16 // the field that means microseconds
	for name, test := range map[string]struct {
		data  []byte
		want  error
		words string
	}{
		"page":      {flip(first.at + 5), ErrChecksum, fmt.Sprintf("the page at byte %d: its checksum is wrong", first.at)},
		"header":    {flip(4), nil, "the header of the page at byte 4: "},
		"units":     {plain, ErrFooter, "column at has two units of time"},
		"cut":       {whole[:len(whole)-1], ErrTruncated, "it does not end like a Parquet file"},
		"empty":     {nil, ErrTruncated, ""},
		"encrypted": {append(whole[:len(whole)-4:len(whole)-4], "PARE"...), ErrUnsupported, ""},
		"no tree":   {bytes.Replace(whole, []byte("schema\x15\x10\x00"), []byte("schema\x15\x12\x00"), 1), ErrFooter, "its footer is damaged: its schema is not a tree of columns"},
	} {
		_, err := read(test.data)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v, want %v, %q", name, err, test.want, test.words)
		}
	}
}

// TestDeltasCut checks that a truncated block of deltas is an error.
func TestDeltasCut(t *testing.T) {
	data := []byte{0x80, 1, 4, 5, 0, 0, 3, 0, 0, 0, 0xff} // four deltas of 3 bits, in one byte
	if got, _, err := readDeltas(nil, data, 5); err == nil {
		t.Errorf("read %v", got)
	}
}
