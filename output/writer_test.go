package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
)

// project returns the named columns of full rows.
func project(rows [][]any, names []string) [][]any {
	var cols []int
	for _, name := range names {
		cols = append(cols, slices.Index(Columns(), name))
	}
	out := make([][]any, len(rows))
	for i, row := range rows {
		out[i] = make([]any, len(cols))
		for k, col := range cols {
			out[i][k] = row[col]
		}
	}
	return out
}

// sameRows reports the first row that differs.
func sameRows(t *testing.T, got, want [][]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("row %d:\n got %v\nwant %v", i, got[i], want[i])
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, spec := range []tableSpec{
		{urls: 1, agents: 1, sites: 1, batch: 1},
		{urls: 7, agents: 3, sites: 2, batch: 3},
		{urls: 60_000, agents: 1, sites: 300, batch: 8192, dirty: true},
		{urls: 30_000, agents: 3, sites: 300, batch: 1000, dirty: true},
		{urls: 40_000, agents: 1, sites: 10, batch: 8192, strays: true},
	} {
		spec.keepRows = true
		if testing.Short() {
			spec.urls = min(spec.urls, 3_000)
		}
		table := spec.make()
		t.Run(fmt.Sprintf("urls=%d/agents=%d/strays=%t", spec.urls, spec.agents, spec.strays), func(t *testing.T) {
			for _, f := range testedFormats() {
				t.Run(f.String()[1:], func(t *testing.T) {
					t.Parallel()
					got := read(t, f, table.bytes(t, Options{Format: f, Columns: Columns()}))
					if !slices.Equal(got.columns, Columns()) {
						t.Errorf("columns %v", got.columns)
					}
					sameRows(t, got.rows, table.rows)
				})
			}
		})
	}
}

func TestColumnSubsets(t *testing.T) {
	table := tableSpec{urls: shorter(3000), agents: 2, sites: 20, batch: 700, dirty: true, keepRows: true}.make()
	for f := range Format(container.NumFormats) {
		t.Run(f.String()[1:], func(t *testing.T) {
			t.Parallel()
			lists := []string{"url,line", "allowed", "rule", "rule_line", "reason,agent,input", "rule,origin,line", "canonical_url", "allowed,canonical_url,url", "violation", "violation,allowed", "verified_by,verified"}
			for _, list := range lists {
				names, err := ParseColumns(list)
				if err != nil {
					t.Fatal(err)
				}
				got := read(t, f, table.bytes(t, Options{Format: f, Columns: names}))
				if !slices.Equal(got.columns, names) {
					t.Errorf("columns %v, want %v", got.columns, names)
				}
				sameRows(t, got.rows, project(table.rows, names))
			}
		})
	}
}

func TestNoRows(t *testing.T) {
	table := tableSpec{urls: 0, agents: 1, sites: 1, batch: 1}.make()
	for f := range Format(container.NumFormats) {
		t.Run(f.String()[1:], func(t *testing.T) {
			got := read(t, f, table.bytes(t, Options{Format: f}))
			want := Long.DefaultColumns()
			if f == JSONL || f == JSONLZstd || f == JSONLGzip {
				want = nil
			}
			if len(got.rows) != 0 || !slices.Equal(got.columns, want) {
				t.Errorf("%d rows, columns %v", len(got.rows), got.columns)
			}
		})
	}
}

// TestGroups writes many row groups, record batches and pieces of lines, ended by each of the limits.
func TestGroups(t *testing.T) {
	chunk := columnar.Limits{Rows: 1000, Bytes: 50_000}
	urls := max(10_000, shorter(30_000))
	table := tableSpec{urls: urls, agents: 2, sites: 50, batch: 700, strays: true, dirty: true, keepRows: true}.make()
	for name, group := range map[string]container.GroupLimits{
		"rows":      {Rows: 5000, TextBytes: 1 << 30, DictBytes: 1 << 30},
		"textBytes": {Rows: 1 << 30, TextBytes: 300_000, DictBytes: 1 << 30},
		"dictBytes": {Rows: 1 << 30, TextBytes: 1 << 30, DictBytes: 100_000},
	} {
		for _, f := range testedFormats() {
			if f != Parquet && name != "dictBytes" {
				continue // it has no such limits
			}
			t.Run(name+"/"+f.String()[1:], func(t *testing.T) {
				t.Parallel()
				var buf bytes.Buffer
				w, err := newWriter(&buf, table.catalog, table.agents, Options{Format: f, Columns: Columns(), Inputs: table.inputs, Workers: 2}, container.Metadata{})
				if err != nil {
					t.Fatal(err)
				}
				w.chunk.Limits = chunk
				if p, ok := w.container.(*container.ParquetFile); ok {
					p.Limits, p.Chunk = group, chunk
				}
				if l, ok := w.container.(*container.LineFile); ok {
					l.Dicts, l.Piece = group.DictBytes, 20_000
				}
				for _, b := range table.batches {
					if err := w.Write(b); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				got := read(t, f, buf.Bytes())
				if got.groups < 4 && !f.Readable() {
					t.Errorf("%d groups", got.groups)
				}
				if f == Parquet && got.pages < 2*numColumns*got.groups {
					t.Errorf("%d pages in %d groups", got.pages, got.groups)
				}
				sameRows(t, got.rows, table.rows)
			})
		}
	}
}

// TestLargeDictionary tests dictionaries over 1 MiB, which the library's own column writer would abandon.
func TestLargeDictionary(t *testing.T) {
	names := []string{"line", "origin"}
	table := tableSpec{urls: max(50_000, shorter(100_000)), agents: 1, sites: 10, batch: 8192, strays: true, keepRows: true}.make()
	for _, f := range testedFormats() {
		t.Run(f.String()[1:], func(t *testing.T) {
			t.Parallel()
			sameRows(t, read(t, f, table.bytes(t, Options{Format: f, Columns: names})).rows, project(table.rows, names))
		})
	}
}

// TestSameBytes writes the same rows in batches of other sizes.
func TestSameBytes(t *testing.T) {
	spec := tableSpec{urls: shorter(90_000), agents: 2, sites: 100, batch: 8192, dirty: true}
	table := spec.make()
	for _, f := range testedFormats() {
		t.Run(f.String()[1:], func(t *testing.T) {
			t.Parallel()
			want := table.bytes(t, Options{Format: f, Columns: Columns()})
			if again := table.bytes(t, Options{Format: f, Columns: Columns()}); !bytes.Equal(again, want) {
				t.Error("a second run gives other bytes")
			}
			if got := recut(table, 777).bytes(t, Options{Format: f, Columns: Columns()}); !bytes.Equal(got, want) {
				t.Error("smaller batches give other bytes")
			}
			for _, workers := range []int{2, 8} {
				if got := recut(table, 3000).bytes(t, Options{Format: f, Columns: Columns(), Workers: workers}); !bytes.Equal(got, want) {
					t.Errorf("%d workers give other bytes", workers)
				}
			}
		})
	}
}

// recut returns the table in batches of n URLs. Its strays keep their numbers.
func recut(t *table, n int) *table {
	out := *t
	out.batches = nil
	for _, b := range t.batches {
		for from := 0; from < b.Len(); from += n {
			to := min(from+n, b.Len())
			agents := len(t.agents)
			out.batches = append(out.batches, &engine.Batch{
				Input: b.Input, Data: b.Data, URLs: b.URLs[from:to], Lines: b.Lines[from:to], Sites: b.Sites[from:to], Rulings: b.Rulings[from:to],
				Canonicals: b.Canonicals[from:to], Strays: b.Strays, Verdicts: b.Verdicts[from*agents : to*agents],
				Violations: b.Violations[from*agents : to*agents], Listed: b.Listed[from:to], Verified: b.Verified[from*agents : to*agents], Proofs: b.Proofs[from*agents : to*agents],
				Preferences: b.Preferences[from*agents : to*agents],
			})
		}
	}
	return &out
}

func TestInvalidBytes(t *testing.T) {
	table := tableSpec{urls: 20_000, agents: 2, sites: 60, batch: 3000, dirty: true, keepRows: true}.make()
	want := int64(0)
	for _, b := range table.batches {
		for i := range b.Len() {
			if url := string(b.URL(i)); url != "" {
				want += 2 * (int64(len(escape(url))-len(url)) / 2)
			}
		}
	}
	for _, row := range table.rows {
		for _, col := range []int{colInput, colRule} {
			if text, ok := row[col].(string); ok {
				want += int64(strings.Count(text, "%F"))
			}
		}
	}
	for f := range Format(container.NumFormats) {
		t.Run(f.String()[1:], func(t *testing.T) {
			var buf bytes.Buffer
			w, err := table.writeTo(&buf, Options{Format: f})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.InvalidBytes(); got != want || want == 0 {
				t.Errorf("%d invalid bytes, want %d", got, want)
			}
			if w.Rows() != int64(len(table.rows)) {
				t.Errorf("%d rows, want %d", w.Rows(), len(table.rows))
			}
			if f != Parquet {
				return
			}
			md := readParquet(t, buf.Bytes()).metadata
			if md[container.KeyInvalidUTF8] != strconv.FormatInt(want, 10) || md[container.KeyRows] != strconv.Itoa(len(table.rows)) {
				t.Errorf("metadata %v", md)
			}
		})
	}
}

// TestSplitRune tests two neighbouring URLs that are valid UTF-8 together, but not separately.
func TestSplitRune(t *testing.T) {
	table := &table{catalog: newFakeCatalog(1), inputs: []string{"-"}, agents: []string{"*"}}
	v := engine.Verdict{Rule: engine.NoRule, Reason: engine.ReasonDefault, Access: engine.Allowed}
	table.batches = []*engine.Batch{{
		Data: []byte("http://a/\xc3\xa9http://b/"), URLs: []engine.Span{{Off: 0, Len: 10}, {Off: 10, Len: 10}},
		Lines: []int64{1, 2}, Sites: []engine.SiteID{0, 0}, Rulings: []engine.RulingID{0, 0}, Verdicts: []engine.Verdict{v, v},
	}}
	got := readParquet(t, table.bytes(t, Options{Columns: []string{"url"}}))
	want := [][]any{{"http://a/%C3"}, {"%A9http://b/"}}
	if !reflect.DeepEqual(got.rows, want) {
		t.Errorf("%q", got.rows)
	}
}

func TestSetMetadata(t *testing.T) {
	table := tableSpec{urls: 10, agents: 1, sites: 1, batch: 10}.make()
	for f := range Format(container.NumFormats) {
		t.Run(f.String()[1:], func(t *testing.T) {
			var buf bytes.Buffer
			w, err := newWriter(&buf, table.catalog, table.agents, Options{Format: f, Inputs: table.inputs, Version: "1.2.3"}, container.Metadata{})
			if err != nil {
				t.Fatal(err)
			}
			w.SetMetadata(KeyCounts, "{}")
			w.SetMetadata(KeyCounts, `{"urls":10}`)
			w.SetMetadata("x", "\xff")
			if err := errors.Join(w.Write(table.batches[0]), w.Close()); err != nil {
				t.Fatal(err)
			}
			if !f.HasMetadata() {
				return
			}
			md := read(t, f, buf.Bytes()).metadata
			if md[KeyVersion] != "1.2.3" || md[KeyCounts] != `{"urls":10}` || md["x"] != "%FF" {
				t.Errorf("metadata %v", md)
			}
		})
	}
}

var errDisk = errors.New("disk full")

// A fullDisk takes so many bytes.
type fullDisk int

func (d *fullDisk) Write(p []byte) (int, error) {
	if *d < fullDisk(len(p)) {
		n := int(*d)
		*d = 0
		return n, errDisk
	}
	*d -= fullDisk(len(p))
	return len(p), nil
}

// TestDiskFull lets the output fail after each number of bytes: Write or Close must return the error.
func TestDiskFull(t *testing.T) {
	table := tableSpec{urls: max(30_000, shorter(80_000)), agents: 1, sites: 100, batch: 8192}.make()
	for _, f := range testedFormats() {
		t.Run(f.String()[1:], func(t *testing.T) {
			t.Parallel()
			size := len(table.bytes(t, Options{Format: f}))
			for _, room := range []int{0, 3, 1000, size / 3, size - 200_000, size - 5, size - 1} {
				disk := fullDisk(room)
				w, err := table.writeTo(&disk, Options{Format: f, Workers: 1 + room%3})
				if !errors.Is(err, errDisk) {
					t.Errorf("room for %d of %d bytes: %v", room, size, err)
				}
				if err := w.Close(); !errors.Is(err, errDisk) {
					t.Errorf("the error is forgotten: %v", err)
				}
				if err := w.Write(table.batches[0]); !errors.Is(err, errDisk) {
					t.Errorf("the error is forgotten: %v", err)
				}
			}
			disk := fullDisk(size)
			if _, err := table.writeTo(&disk, Options{Format: f}); err != nil {
				t.Errorf("room enough: %v", err)
			}
		})
	}
}

func TestWriteAfterClose(t *testing.T) {
	table := tableSpec{urls: 10, agents: 1, sites: 1, batch: 10}.make()
	w, err := table.writeTo(io.Discard, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(table.batches[0]); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

// TestAllocs tests that the Writer needs no allocation per row.
func TestAllocs(t *testing.T) {
	table := tableSpec{urls: 64 << 10, agents: 1, sites: 500, batch: 8192}.make()
	for _, f := range testedFormats() {
		t.Run(f.String()[1:], func(t *testing.T) {
			w, err := newWriter(io.Discard, table.catalog, table.agents, Options{Format: f, Inputs: table.inputs}, container.Metadata{})
			if err != nil {
				t.Fatal(err)
			}
			perRow := testing.AllocsPerRun(shorter(16), func() {
				for _, b := range table.batches {
					if err := w.Write(b); err != nil {
						t.Fatal(err)
					}
				}
			}) / (64 << 10)
			if perRow > 0.05 {
				t.Errorf("%.3f allocations a row", perRow)
			}
		})
	}
}
