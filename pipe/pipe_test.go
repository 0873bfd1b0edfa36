package pipe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// TestMaxURL tests that a URL may be as long as in a log.
func TestMaxURL(t *testing.T) {
	if maxURL != ingest.MaxLine {
		t.Errorf("at most %d bytes in a pipe, but %d in a log", maxURL, ingest.MaxLine)
	}
}

// TestSameAsMainJob sends random rows through a pipe. It checks that the input columns are unchanged or omitted, and
// that the verdicts are those of the main job.
func TestSameAsMainJob(t *testing.T) {
	all := []string{"canonical_url", "origin", "rule", "allowed", "rule_line", "reason"}
	for _, agents := range [][]string{{"*"}, {"botone"}, {"*", "botone", "Other-Bot"}} {
		store := newStore(t, true, agents...)
		for i, dt := range urlTypes() {
			t.Run(fmt.Sprintf("agents=%d/%v", len(agents), dt), func(t *testing.T) {
				seed := uint64(i)
				r := rand.New(rand.NewPCG(seed, uint64(len(agents))))
				for range 4 {
					checkPipe(t, r, store, dt, all[r.IntN(3):])
				}
			})
		}
	}
}

// checkPipe is TestSameAsMainJob for one stream.
func checkPipe(t *testing.T, r *rand.Rand, store *engine.Store, dt arrow.DataType, columns []string) {
	t.Helper()
	in, urls := madeUpStream(t, r, dt)
	var out bytes.Buffer
	opt := Options{Columns: columns, VerdictsOnly: r.IntN(2) == 0, Prefix: []string{"", "p_"}[r.IntN(2)], Workers: 1 + r.IntN(3)}
	stats, err := Run(t.Context(), store, bytes.NewReader(in), &out, opt)
	if err != nil {
		t.Fatal(err)
	}
	if stats.URLs != int64(len(urls)) {
		t.Errorf("%d URLs, want %d", stats.URLs, len(urls))
	}
	before, after := readStream(t, bytes.NewReader(in)), readStream(t, &out)
	n := before.schema.NumFields()
	if opt.VerdictsOnly {
		n = 0
	} else {
		checkSchema(t, before.schema, after.schema)
	}
	if len(after.records) != len(before.records) {
		t.Fatalf("%d record batches of %d", len(after.records), len(before.records))
	}
	got := map[string][]string{}
	for i, rec := range after.records {
		if rec.NumRows() != before.records[i].NumRows() {
			t.Fatalf("record batch %d has %d rows, want %d", i+1, rec.NumRows(), before.records[i].NumRows())
		}
		for c, col := range rec.Columns() {
			if c < n {
				if !array.Equal(col, before.records[i].Column(c)) {
					t.Errorf("record batch %d: column %s became\n%v, was\n%v", i+1, rec.ColumnName(c), col, before.records[i].Column(c))
				}
				continue
			}
			name := strings.TrimPrefix(rec.ColumnName(c), opt.Prefix)
			for row := range col.Len() {
				got[name] = append(got[name], value(col, row))
			}
		}
	}
	want := mainJob(t, store, urls, columns)
	for name, values := range want {
		for row, value := range values {
			if row >= len(got[name]) || got[name][row] != value {
				t.Fatalf("%s of row %d (%.100q) differs: the main job has %q, the pipe has %q", name, row, urls[row], value, got[name][row])
			}
		}
	}
	if len(got) != len(want) && len(urls) > 0 {
		t.Errorf("%d columns, but the main job has %d", len(got), len(want))
	}
}

// checkSchema checks that one schema begins as the other.
func checkSchema(t *testing.T, before, after *arrow.Schema) {
	t.Helper()
	n := before.NumFields()
	if md := after.Metadata(); !md.Equal(before.Metadata()) {
		t.Errorf("metadata %v became %v", before.Metadata(), md)
	}
	for i, f := range before.Fields() {
		if !f.Equal(after.Field(i)) {
			t.Errorf("field %v became %v", f, after.Field(i))
		}
	}
	if after.NumFields() <= n {
		t.Errorf("no field of verdicts behind %v", before)
	}
}

// madeUpStream returns a stream with a column "url" of the given type, and its URLs.
func madeUpStream(t *testing.T, r *rand.Rand, dt arrow.DataType) (in []byte, urls [][]byte) {
	t.Helper()
	var (
		b    bytes.Buffer
		w    *ipc.Writer
		opts = [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}, {ipc.WithDictionaryDeltas(true)}}[r.IntN(4)]
		at   = r.IntN(15) // of the column
	)
	distinct := make([][]byte, 1+r.IntN(100))
	for i := range distinct {
		distinct[i] = randomURL(r)
	}
	seed := r.Uint64() // each record batch has the same types
	for range r.IntN(5) {
		skip, n, drop := r.IntN(3), []int{0, 1, 3, 50}[r.IntN(4)], r.IntN(3)
		if n == 0 {
			skip, drop = 0, 0 // an empty slice of a binary column cannot be written by the library
		}
		rows := skip + n + drop
		texts := make([][]byte, rows)
		for i := range texts {
			texts[i] = distinct[r.IntN(len(distinct))]
		}
		fields, cols := companions(t, rand.New(rand.NewPCG(seed, 1)), n)
		fields = slices.Insert(fields, at, arrow.Field{Name: "url", Type: dt, Nullable: true})
		cols = slices.Insert(cols, at, array.NewSlice(textArray(t, dt, texts), int64(skip), int64(skip+n)))
		md := arrow.MetadataFrom(map[string]string{"of": "the stream"})
		schema := arrow.NewSchema(fields, &md)
		if w == nil {
			w = ipc.NewWriter(&b, append(opts, ipc.WithSchema(schema))...)
		}
		if err := w.Write(array.NewRecord(schema, cols, int64(n))); err != nil {
			t.Fatal(err)
		}
		urls = append(urls, texts[skip:skip+n]...)
	}
	if w == nil { // no record batch
		w = ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema([]arrow.Field{{Name: "url", Type: dt}}, nil)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), urls
}
