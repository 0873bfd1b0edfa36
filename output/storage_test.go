package output

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/robobatch/robobatch/output/internal/container"
)

// TestCompression writes and reads each compression of each format, with several numbers of workers.
func TestCompression(t *testing.T) {
	table := tableSpec{urls: max(2000, shorter(4000)), agents: 2, sites: 50, batch: 3000, dirty: true, keepRows: true}.make()
	for f, all := range container.CompressionsOf {
		plain := len(table.bytes(t, Options{Format: f, Columns: Columns(), Compression: NoCompression}))
		for _, c := range all {
			for _, level := range []int{0, 1, container.MaxLevels[c]} {
				if level > 0 && (f != Parquet || container.MaxLevels[c] == 0) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/level=%d", f.String()[1:], c, level), func(t *testing.T) {
					opt := Options{Format: f, Columns: Columns(), Compression: c, Level: level}
					data := table.bytes(t, opt)
					sameRows(t, read(t, f, data).rows, table.rows)
					if c != NoCompression && len(data) > plain*3/4 {
						t.Errorf("%d bytes, and %d uncompressed", len(data), plain)
					}
					opt.Workers = 4
					if !bytes.Equal(recut(table, 777).bytes(t, opt), data) {
						t.Error("four workers give other bytes")
					}
				})
			}
		}
	}
}

// TestCheckContainer tests options that a format does not support.
func TestCheckContainer(t *testing.T) {
	for _, test := range []struct {
		opt  Options
		kind error
		want string
	}{
		{Options{Compression: LZ4}, container.ErrCompression, "lz4 for .parquet: use zstd, none, snappy or gzip"},
		{Options{Compression: Gzip, Format: ArrowFile}, container.ErrCompression, "use none, zstd or lz4"},
		{Options{Level: 23}, ErrLevel, "zstd has levels 1 to 22"},
		{Options{Level: -1}, ErrLevel, "zstd has levels 1 to 22"},
		{Options{Compression: Gzip, Level: 10}, ErrLevel, "gzip has levels 1 to 9"},
		{Options{Compression: Snappy, Level: 1}, ErrLevel, "snappy has no levels"},
		{Options{Compression: Zstd, Level: 1, Format: ArrowStream}, ErrLevel, "levels are for .parquet"},
		{Options{RowGroup: -1}, ErrRowGroup, "use 1 or more"},
		{Options{RowGroup: 10, Format: ArrowFile}, ErrRowGroup, "only .parquet has row groups"},
	} {
		_, err := newWriter(nil, newFakeCatalog(1), nil, test.opt, container.Metadata{})
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.opt, err, test.want)
		}
	}
	for name := range slices.Values(Compressions()) {
		if c, err := ParseCompression(name); err != nil || c.String() != name {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	if _, err := ParseCompression("default"); !errors.Is(err, container.ErrCompression) {
		t.Error(err)
	}
}

// TestRowGroups tests that row groups have the maximum number of rows that keeps the rows of each URL together.
func TestRowGroups(t *testing.T) {
	table := tableSpec{urls: 300, agents: 3, sites: 5, batch: 70, keepRows: true}.make()
	for _, n := range []int{1, 3, 100, 500, 900, 1 << 40} {
		data := table.bytes(t, Options{RowGroup: n, Columns: Columns()})
		sameRows(t, read(t, Parquet, data).rows, table.rows)
		r := open(t, data)
		most := max(3, n/3*3) // a URL's rows stay together
		for g := range r.NumRowGroups() {
			rows := int(r.MetaData().RowGroups[g].NumRows)
			if want := min(most, 900-g*most); rows != want {
				t.Fatalf("-row-group %d: group %d has %d rows, want %d", n, g, rows, want)
			}
		}
		if again := recut(table, 99).bytes(t, Options{RowGroup: n, Columns: Columns(), Workers: 3}); !bytes.Equal(again, data) {
			t.Errorf("-row-group %d: three workers give other bytes", n)
		}
	}
}

func open(t *testing.T, data []byte) *file.Reader {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// eachChunk calls do with every column of every row group, and its values.
func eachChunk(t *testing.T, data []byte, do func(name string, chunk *metadata.ColumnChunkMetaData, values []any)) {
	t.Helper()
	r, got := open(t, data), read(t, Parquet, data)
	row := 0
	for g := range r.NumRowGroups() {
		rows := got.rows[row:][:r.MetaData().RowGroups[g].NumRows]
		row += len(rows)
		for i, name := range got.columns {
			chunk, err := r.MetaData().RowGroup(g).ColumnChunk(i)
			if err != nil {
				t.Fatal(err)
			}
			values := make([]any, len(rows))
			for k := range rows {
				values[k] = rows[k][i]
			}
			do(name, chunk, values)
		}
	}
}

// TestStatistics compares the statistics of each column chunk with its values.
func TestStatistics(t *testing.T) {
	table := tableSpec{urls: 9000, agents: 2, sites: 50, batch: 700, dirty: true, keepRows: true}.make()
	table.addKept()
	ranges := map[string]int{}
	eachChunk(t, table.bytes(t, Options{Columns: Columns(), Kept: keptColumns, RowGroup: 5000}), func(name string, chunk *metadata.ColumnChunkMetaData, values []any) {
		want, nulls := boundsOf(values)
		stats, err := chunk.Statistics()
		if err != nil {
			t.Fatal(err)
		}
		if stats.NullCount() != nulls {
			t.Errorf("%s: %d nulls, want %d", name, stats.NullCount(), nulls)
		}
		if stats.HasMinMax() {
			ranges[name]++
		}
		if got := [2][]byte{stats.EncodeMin(), stats.EncodeMax()}; want[0] != nil && !slices.EqualFunc(got[:], want[:], bytes.Equal) {
			t.Errorf("%s: from %q to %q, want from %q to %q", name, got[0], got[1], want[0], want[1])
		}
	})
	for _, name := range append(Columns(), "status", "referer", "time", "a.b", "hit") {
		if ranges[name] != 4 {
			t.Errorf("%s has a range in %d row groups, want 4", name, ranges[name])
		}
	}
}

// boundsOf returns the least and greatest value as Parquet has them, in the obvious way.
func boundsOf(values []any) (bounds [2][]byte, nulls int64) {
	var encoded [][]byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			nulls++
		case string:
			encoded = append(encoded, []byte(v))
		case bool:
			b := []byte{0}
			if v {
				b[0] = 1
			}
			encoded = append(encoded, b)
		case int64:
			encoded = append(encoded, binary.BigEndian.AppendUint64(nil, uint64(v)^1<<63))
		case int32:
			encoded = append(encoded, binary.BigEndian.AppendUint32(nil, uint32(v)^1<<31))
		case float64:
			bits := math.Float64bits(v)
			if v == 0 {
				bits = 0 // which is less: see TestFloatBounds
			}
			if bits>>63 == 1 {
				bits = ^bits
			} else {
				bits |= 1 << 63
			}
			encoded = append(encoded, binary.BigEndian.AppendUint64(nil, bits))
		}
	}
	if len(encoded) == 0 {
		return bounds, nulls
	}
	slices.SortFunc(encoded, bytes.Compare)
	for i, b := range [][]byte{encoded[0], encoded[len(encoded)-1]} {
		bounds[i] = slices.Clone(b)
		switch values[slices.IndexFunc(values, func(v any) bool { return v != nil })].(type) {
		case int64, int32:
			bounds[i][0] ^= 0x80
			slices.Reverse(bounds[i])
		case float64:
			if bounds[i][0]&0x80 == 0 {
				for k := range bounds[i] {
					bounds[i][k] = ^bounds[i][k]
				}
			} else {
				bounds[i][0] ^= 0x80
			}
			slices.Reverse(bounds[i])
		}
	}
	return bounds, nulls
}
