package output

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
)

// keptColumns are one of each kind.
var keptColumns = []KeptColumn{
	{Name: "status", Kind: engine.KeptInt}, {Name: "referer", Kind: engine.KeptText}, {Name: "time", Kind: engine.KeptTime}, {Name: "a.b", Kind: engine.KeptFloat}, {Name: "hit", Kind: engine.KeptBool},
}

// addKept makes up kept columns for the table, and what they must be in its rows. Every fifth value
// or so is null, every tenth text is not UTF-8.
func (t *table) addKept() {
	rng := rand.New(rand.NewPCG(3, 4))
	row := 0
	for _, b := range t.batches {
		for _, k := range keptColumns {
			b.Kept = append(b.Kept, engine.Kept{Kind: k.Kind})
		}
		for range b.Len() {
			var want []any
			for i := range b.Kept {
				want = append(want, addKeptValue(b, &b.Kept[i], rng))
			}
			for range t.agents {
				t.rows[row] = append(t.rows[row], want...)
				row++
			}
		}
	}
}

// addKeptValue makes up a value, and returns what a reader must find.
func addKeptValue(b *engine.Batch, k *engine.Kept, rng *rand.Rand) any {
	n, present := rng.Int64N(1000)-500, rng.IntN(5) > 0
	k.Present = append(k.Present, present)
	if !present {
		n = 0
	}
	var want any = n
	switch k.Kind {
	case engine.KeptText:
		text := fmt.Sprintf("https://é.example/%d", n)
		if n%10 == 0 {
			text += "\xff"
		}
		want = escape(text)
		span := engine.NoURL
		if present {
			span = engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(text))}
			b.Data = append(b.Data, text...)
		}
		k.Texts = append(k.Texts, span)
	case engine.KeptFloat:
		k.Floats = append(k.Floats, float64(n)/8)
		want = float64(n) / 8
	case engine.KeptBool:
		k.Ints = append(k.Ints, n&1)
		want = n&1 != 0
	default:
		k.Ints = append(k.Ints, n)
	}
	if !present {
		return nil
	}
	return want
}

// TestKept reads kept columns of all kinds back, in every format, with one agent and with more,
// over several pages, and beside all other columns or one of them.
func TestKept(t *testing.T) {
	for _, test := range []struct {
		spec    tableSpec
		columns []string
	}{
		{tableSpec{urls: 100, agents: 1, sites: 5, batch: 7, dirty: true, keepRows: true}, Columns()},
		{tableSpec{urls: shorter(20_000), agents: 3, sites: 50, batch: 8192, keepRows: true}, []string{"allowed"}},
	} {
		table := test.spec.make()
		table.addKept()
		for _, f := range testedFormats() {
			t.Run(fmt.Sprintf("%d%s", test.spec.urls, f), func(t *testing.T) {
				t.Parallel()
				opt := Options{Format: f, Columns: test.columns, Kept: keptColumns, Workers: 2}
				got := read(t, f, table.bytes(t, opt))
				if want := []string{"status", "referer", "time", "a.b", "hit"}; !slices.Equal(got.columns[len(test.columns):], want) {
					t.Fatalf("columns %q", got.columns)
				}
				for i, row := range table.rows {
					if have, want := got.rows[i][len(test.columns):], row[len(Columns()):]; !reflect.DeepEqual(have, want) {
						t.Fatalf("row %d: %v, want %v", i, have, want)
					}
				}
			})
		}
	}
}

// TestKeptSchema holds the types in Parquet.
func TestKeptSchema(t *testing.T) {
	table := tableSpec{urls: 3, agents: 1, sites: 1, batch: 3, keepRows: true}.make()
	table.addKept()
	r, err := file.NewParquetReader(bytes.NewReader(table.bytes(t, Options{Columns: []string{"line"}, Kept: keptColumns})))
	if err != nil {
		t.Fatal(err)
	}
	var buf strings.Builder
	schema.PrintSchema(r.MetaData().Schema.Root(), &buf, 2)
	const want = `required group field_id=-1 schema {
  required int64 field_id=-1 line;
  optional int64 field_id=-1 status;
  optional byte_array field_id=-1 referer (String);
  optional int64 field_id=-1 time (Timestamp(isAdjustedToUTC=true, timeUnit=microseconds, is_from_converted_type=false, force_set_converted_type=false));
  optional double field_id=-1 a.b;
  optional boolean field_id=-1 hit;
}
`
	if buf.String() != want {
		t.Errorf("got\n%s", buf.String())
	}
}

// Names of other columns, and batches without the columns, are errors.
func TestKeptErrors(t *testing.T) {
	table := tableSpec{urls: 3, agents: 1, sites: 1, batch: 3}.make()
	for _, names := range [][]string{{"url"}, {"x", "x"}, {""}, {"x"}} {
		var kept []KeptColumn
		for _, name := range names {
			kept = append(kept, KeptColumn{Name: name})
		}
		if _, err := table.writeTo(&bytes.Buffer{}, Options{Kept: kept}); !errors.Is(err, columnar.ErrColumn) {
			t.Errorf("%q: %v", names, err)
		}
	}
}
