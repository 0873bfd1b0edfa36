package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/robots"
)

func TestParseWhere(t *testing.T) {
	for list, want := range map[string]Where{
		"": 0, " ": 0, "disallowed": WhereDisallowed, "bad, allowed": WhereAllowed | WhereBad, "bad,bad": WhereBad,
		"violations": WhereViolations, strings.Join(WhereKinds(), ","): 1<<len(WhereKinds()) - 1,
	} {
		got, err := ParseWhere(list)
		if got != want || err != nil {
			t.Errorf("ParseWhere(%q) = %v, %v, want %v", list, got, err, want)
		}
		if again, err := ParseWhere(got.String()); again != want || err != nil {
			t.Errorf("%q reads as %v, %v", got, again, err)
		}
	}
	_, err := ParseWhere("denied,allowed,,")
	if !errors.Is(err, errWhere) || strings.Count(err.Error(), "use one or more of "+strings.Join(WhereKinds(), ", ")) != 3 {
		t.Error(err)
	}
}

// rowMatches is the obvious implementation of a filter, for a row of the long layout.
func rowMatches(w Where, row []any) bool {
	for name, is := range map[string]bool{
		"disallowed": row[colAllowed] == false,
		"allowed":    row[colAllowed] == true,
		"violations": row[colViolation] == true, "impostors": row[colVerified] == "no",
		"bad": row[colReason] == "bad_url",

		"no_train_ai":  row[colTrainAI] == false,
		"no_search":    row[colSearch] == false,
		"no_ai_input":  row[colAIInput] == false,
		"yes_train_ai": row[colTrainAI] == true,
		"yes_search":   row[colSearch] == true,
		"yes_ai_input": row[colAIInput] == true,

		"in_sitemap":            row[colInSitemap] == true,
		"not_in_sitemap":        row[colInSitemap] == false,
		"in_sitemap_disallowed": row[colInSitemap] == true && row[colAllowed] == false,
	} {
		if is && slices.Contains(strings.Split(w.String(), ","), name) {
			return true
		}
	}
	return false
}

// filtered is what is left of a table's rows.
func (t *table) filtered(opt Options) [][]any {
	n := len(t.agents)
	if opt.Layout == Long {
		return slices.DeleteFunc(slices.Clone(t.rows), func(row []any) bool { return !rowMatches(opt.Where, row) })
	}
	var urls [][]any
	for url := 0; url < len(t.rows); url += n {
		if slices.ContainsFunc(t.rows[url:url+n], func(row []any) bool { return rowMatches(opt.Where, row) }) {
			urls = append(urls, t.rows[url:url+n]...)
		}
	}
	return urls
}

// limited writes the table in chunks of these limits.
func (t *table) limited(tb testing.TB, opt Options, chunk columnar.Limits) ([]byte, *Writer) {
	tb.Helper()
	var buf bytes.Buffer
	opt.Inputs = t.inputs
	w, err := newWriter(&buf, t.catalog, t.agents, opt, container.Metadata{})
	if err != nil {
		tb.Fatal(err)
	}
	w.chunk.Limits = chunk
	for _, b := range t.batches {
		if err := w.Write(b); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes(), w
}

// TestWhere compares filtered output with all rows, filtered: each kind and some combinations, in both layouts, with
// one agent and several, kept columns, invalid URLs and long lines.
func TestWhere(t *testing.T) {
	for _, spec := range []tableSpec{
		{urls: 500, agents: 1, sites: 9, batch: 7, dirty: true, keepRows: true},
		{urls: shorter(2000), agents: 3, sites: 90, batch: 1000, dirty: true, keepRows: true},
		{urls: shorter(2000), agents: 1, sites: 90, batch: 300, strays: true, keepRows: true},
	} {
		table := spec.make()
		table.addKept()
		for _, list := range []string{"disallowed", "allowed", "violations", "bad", "disallowed,bad", "bad,violations", "impostors", "bad,impostors", "disallowed,allowed,violations,bad", "no_train_ai,yes_search", "yes_ai_input", "in_sitemap", "not_in_sitemap,bad", "in_sitemap_disallowed"} {
			where, err := ParseWhere(list)
			if err != nil {
				t.Fatal(err)
			}
			for _, layout := range []Layout{Long, Wide} {
				names := Columns()
				if layout == Wide {
					names = slices.DeleteFunc(names, func(name string) bool {
						return name == columnar.NameAgent || name == Violation || name == columnar.NameBinding || columnar.NeedsOf(name).Ranges
					})
				}
				opt := Options{Layout: layout, Where: where, Columns: names, Kept: keptColumns, Workers: 2}
				left := *table
				left.rows = table.filtered(opt)
				want := left.rows
				if layout == Wide {
					want = left.wideRows(names)
				}
				if len(want) == 0 {
					t.Errorf("%s: nothing is left to compare", list)
				}
				for _, f := range testedFormats() {
					t.Run(fmt.Sprintf("%d/%s/%s/%s", spec.urls, list, layout, f), func(t *testing.T) {
						t.Parallel()
						opt := opt
						opt.Format = f
						data, w := table.limited(t, opt, columnar.Limits{Rows: 333, Bytes: 20_000})
						sameRows(t, read(t, f, data).rows, want)
						if w.Rows() != int64(len(want)) {
							t.Errorf("%d rows counted of %d", w.Rows(), len(want))
						}
					})
				}
			}
		}
	}
}

// TestWhereSameBytes writes the same rows in batches of other sizes, and with more workers.
func TestWhereSameBytes(t *testing.T) {
	table := tableSpec{urls: shorter(40_000), agents: 2, sites: 100, batch: 8192, dirty: true}.make()
	for _, f := range testedFormats() {
		for _, layout := range []Layout{Long, Wide} {
			for _, where := range []Where{0, WhereDisallowed, WhereAllowed | WhereBad} {
				t.Run(fmt.Sprintf("%s/%s/%s", f, layout, where), func(t *testing.T) {
					t.Parallel()
					opt := Options{Format: f, Layout: layout, Where: where, Columns: layout.DefaultColumns(), Workers: 1}
					if layout == Wide {
						opt.Columns = append(opt.Columns, "reason", "rule")
					}
					want := table.bytes(t, opt)
					for _, workers := range []int{1, 3, 8} {
						opt.Workers = workers
						if got := recut(table, 777*workers).bytes(t, opt); !bytes.Equal(got, want) {
							t.Errorf("%d workers and smaller batches give other bytes", workers)
						}
					}
				})
			}
		}
	}
}

// TestWhereAll tests that a filter which selects all rows gives the same bytes as no filter.
func TestWhereAll(t *testing.T) {
	for _, tt := range []struct {
		agents int
		layout Layout
	}{{1, Long}, {3, Wide}} {
		table := tableSpec{urls: shorter(50_000), agents: tt.agents, sites: 100, batch: 8192, dirty: true}.make()
		for _, f := range testedFormats() {
			t.Run(fmt.Sprintf("%s/%s", f, tt.layout), func(t *testing.T) {
				t.Parallel()
				want := table.bytes(t, Options{Format: f, Layout: tt.layout})
				if got := table.bytes(t, Options{Format: f, Layout: tt.layout, Where: WhereAllowed | WhereDisallowed | WhereBad}); !bytes.Equal(got, want) {
					t.Error("other bytes")
				}
			})
		}
	}
}

// TestWhereFromLog leaves the violations of a log, and those that are none.
func TestWhereFromLog(t *testing.T) {
	store := logStore(t)
	for where, want := range map[Where][][]any{
		WhereViolations:            {{int64(1), "GPTBot", "Disallow: /a", true}, {int64(3), "bingbot", "Disallow: /b", true}},
		WhereAllowed | WhereBad:    {{int64(2), "GPTBot", nil, false}, {int64(5), "GPTBot", nil, nil}},
		WhereDisallowed | WhereBad: {{int64(1), "GPTBot", "Disallow: /a", true}, {int64(3), "bingbot", "Disallow: /b", true}, {int64(4), "*", "Disallow: /b", nil}, {int64(5), "GPTBot", nil, nil}},
	} {
		b := logBatch()
		store.NewEvaluator().Evaluate(b)
		for f := range Format(container.NumFormats) {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, store, Options{Format: f, Where: where, Inputs: []string{"log"}, Columns: []string{"line", "agent", "rule", Violation}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(b), w.Close()); err != nil {
				t.Fatal(err)
			}
			sameRows(t, read(t, f, buf.Bytes()).rows, want)
		}
	}
	store, err := engine.BuildStore(func(func(robots.Response, error) bool) {}, engine.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(io.Discard, store, Options{Where: WhereBad | WhereViolations}); !errors.Is(err, columnar.ErrLogAgents) {
		t.Errorf("New: %v", err)
	}
}

// TestWhereAllocs tests that filtered and wide output needs no allocation per row.
func TestWhereAllocs(t *testing.T) {
	table := tableSpec{urls: 64 << 10, agents: 3, sites: 500, batch: 8192}.make()
	for _, opt := range []Options{{Where: WhereDisallowed}, {Layout: Wide}, {Layout: Wide, Where: WhereAllowed}} {
		opt.Inputs = table.inputs
		w, err := newWriter(io.Discard, table.catalog, table.agents, opt, container.Metadata{})
		if err != nil {
			t.Fatal(err)
		}
		perRow := testing.AllocsPerRun(max(2, shorter(8)), func() {
			for _, b := range table.batches {
				if err := w.Write(b); err != nil {
					t.Fatal(err)
				}
			}
		}) / (64 << 10)
		if perRow > 0.05 {
			t.Errorf("layout %s, where %s: %.3f allocations a URL", opt.Layout, opt.Where, perRow)
		}
	}
}
