package madeup

import (
	"bytes"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

func quickstart() *corpus.Corpus {
	return corpus.Quickstart(filepath.Join("..", "..", "..", "testdata", "quickstart"))
}

// each runs a test on the quick start's corpus, and on the collection if it exists.
func each(t *testing.T, test func(*testing.T, *corpus.Corpus)) {
	t.Helper()
	t.Run("quickstart", func(t *testing.T) { test(t, quickstart()) })
	t.Run("collection", func(t *testing.T) {
		if testing.Short() {
			t.Skip("long: make test-all runs it")
		}
		test(t, corpus.Collection(filepath.Join(repcase.SharedDir(t), "data")))
	})
}

// generator returns a generator over the quick start's data.
func generator(tb testing.TB, s Spec) *Generator {
	tb.Helper()
	g, err := New(quickstart(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// A bounds is the permitted range of a statistic.
type bounds struct {
	name      string
	got       float64
	low, high float64
}

func check(t *testing.T, all []bounds) {
	t.Helper()
	for _, b := range all {
		t.Logf("%-20s %.4g", b.name, b.got)
		if b.got < b.low || b.got > b.high {
			t.Errorf("%s is %g, not from %g to %g", b.name, b.got, b.low, b.high)
		}
	}
}

// quantile returns the p-quantile of values, which it sorts.
func quantile(values []int, p float64) float64 {
	slices.Sort(values)
	return float64(values[int(p*float64(len(values)))])
}

// TestGeneratedRules checks that generated robots.txt files have the statistics of the web, see webShares. The quick
// start has so few large files that the 99th percentile depends on single ones.
func TestGeneratedRules(t *testing.T) {
	each(t, testGeneratedRules)
}

func testGeneratedRules(t *testing.T, c *corpus.Corpus) {
	t.Helper()
	tail := map[string][4]float64{"quickstart": {30_000, 130_000, 200, 5000}, "collection": {60_000, 80_000, 360, 530}}[c.Name]
	const origins = 36046
	g, err := New(c, Spec{Origins: origins, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var sizes, rules []int
	wild := 0
	texts := map[uint64]bool{}
	names := map[robots.Origin]bool{}
	for r := range g.Responses() {
		if o, err := robots.ParseOrigin(string(r.Origin)); err != nil || o != r.Origin {
			t.Fatalf("origin %q is %q: %v", r.Origin, o, err)
		}
		texts[xxh3.Hash(r.Body)], names[r.Origin] = true, true
		b := newBase(r.Body)
		sizes, rules = append(sizes, len(b.body)), append(rules, b.rules)
		if b.wild {
			wild++
		}
	}
	check(t, []bounds{
		{"origins", float64(len(names)), origins, origins},
		{"bytes, median", quantile(sizes, 0.5), 240, 300},
		{"bytes, p99", quantile(sizes, 0.99), tail[0], tail[1]},
		{"rules, median", quantile(rules, 0.5), 3, 5},
		{"rules, p99", quantile(rules, 0.99), tail[2], tail[3]},
		{"share with wildcard", float64(wild) / origins, 0.31, 0.33},
		{"share of texts", float64(len(texts)) / origins, 0.57, 0.61},
	})
}

// TestGeneratedURLs checks that a generated log has the statistics of the web, and that some URLs are disallowed.
func TestGeneratedURLs(t *testing.T) {
	each(t, testGeneratedURLs)
}

func testGeneratedURLs(t *testing.T, c *corpus.Corpus) {
	t.Helper()
	const urls = 200_000
	g, err := New(c, Spec{Origins: 30_000, URLs: urls, Seed: 1, Aimed: 25})
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]int{}
	size, queries, n := 0, 0, 0
	for u := range g.URLs(Grouped) {
		n++
		size += len(u)
		if bytes.IndexByte(u, '?') >= 0 {
			queries++
		}
		hosts[strings.Join(strings.SplitN(string(u), "/", 4)[:3], "/")]++
	}
	counts := slices.Sorted(maps.Values(hosts))
	slices.Reverse(counts)
	top := 0
	for _, c := range counts[:topOrigins] {
		top += c
	}
	stats := decide(t, g)
	check(t, []bounds{
		{"URLs", float64(n), urls, urls},
		{"bytes, mean", float64(size) / urls, 74, 88},
		{"share with query", float64(queries) / urls, 0.09, 0.135},
		{"share of top 100", float64(top) / urls, 0.78, 0.82},
		{"origins", float64(len(hosts)), 4000, 30_000},
		{"denied", float64(stats.Denied) / urls, 0.1, 0.4},
		{"without robots.txt", float64(stats.Reasons[engine.ReasonNoRobots]), 0, 0},
		{"bad", float64(stats.Reasons[engine.ReasonBadURL]), 0, 0},
	})
}

// A discard is a sink that discards everything.
type discard struct{}

func (discard) Write(*engine.Batch) error { return nil }
func (discard) Close() error              { return nil }

// decide runs a generated log with the generated rules.
func decide(t *testing.T, g *Generator) engine.Stats {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	writeFile(t, name, func(w io.Writer) error { return g.WriteLog(w, Shuffled, 3) })
	rules := filepath.Join(t.TempDir(), "rules.jsonl.zst")
	if err := WriteRules(rules, g.Responses()); err != nil {
		t.Fatal(err)
	}
	files, err := rulefiles.Find(rules, "")
	if err != nil {
		t.Fatal(err)
	}
	store, err := engine.BuildStore(files.Responses(), engine.StoreOptions{Dialect: robots.Google})
	if err != nil {
		t.Fatal(err)
	}
	src, err := ingest.OpenLogs([]string{name}, ingest.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	stats, err := engine.Run(t.Context(), store, src, discard{}, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if store.NumSites() != g.spec.Origins || files.Problems().Total != 0 {
		t.Errorf("%d origins have rules, %d records are broken", store.NumSites(), files.Problems().Total)
	}
	return stats
}

func lines(g *Generator, o Order) (all []string) {
	for u := range g.URLs(o) {
		all = append(all, string(u))
	}
	return all
}

// TestGeneratorRepeats checks that equal seeds give equal data, and different seeds different data, and that all orders
// and forms of a log have the same URLs.
func TestGeneratorRepeats(t *testing.T) {
	spec := Spec{Origins: 300, URLs: 40_000, Seed: 7, Aimed: 40}
	g := generator(t, spec)
	grouped, shuffled := lines(g, Grouped), lines(g, Shuffled)
	if !slices.Equal(shuffled, lines(generator(t, spec), Shuffled)) {
		t.Error("the same seed gives two logs")
	}
	if slices.Equal(grouped, shuffled) {
		t.Error("the log is not shuffled")
	}
	for _, frames := range []int{0, 1, 8} {
		if got := readLog(t, g, frames); !slices.Equal(got, grouped) {
			t.Errorf("a log of %d frames has %d other lines", frames, len(got))
		}
	}
	slices.Sort(grouped)
	slices.Sort(shuffled)
	if !slices.Equal(grouped, shuffled) {
		t.Error("the orders have different URLs")
	}
	spec.Seed++
	other := generator(t, spec)
	if slices.Equal(shuffled, slices.Sorted(slices.Values(lines(other, Shuffled)))) {
		t.Error("two seeds give the same log")
	}
	head := func(g *Generator) (all []byte) {
		n := 0
		for r := range g.Responses() {
			if all = append(all, r.Body...); n == 20 {
				break
			}
			n++
		}
		return all
	}
	if !bytes.Equal(head(g), head(generator(t, Spec{Origins: 300, Seed: 7}))) {
		t.Error("the same seed gives two sets of rules")
	}
}

// TestEven checks that all origins of an even log have the same number of URLs.
func TestEven(t *testing.T) {
	for _, urls := range []int64{0, 299, 300, 1000} {
		g := generator(t, Spec{Origins: 300, URLs: urls, Seed: 7, Even: true})
		count := map[string]int64{}
		for u := range g.URLs(Shuffled) {
			scheme, rest, _ := strings.Cut(string(u), "://")
			host, _, _ := strings.Cut(rest, "/")
			count[scheme+"://"+host]++
		}
		least, most := urls/300, (urls+299)/300
		for i := range g.spec.Origins {
			if n := count[string(g.Origin(i))]; n < least || n > most {
				t.Errorf("%d URLs: %s has %d of them", urls, g.Origin(i), n)
			}
		}
	}
}

// readLog returns the URLs of a log that was written in grouped order in several frames, and checks their number.
func readLog(t *testing.T, g *Generator, frames int) (all []string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	writeFile(t, name, func(w io.Writer) error { return g.WriteLog(w, Grouped, frames) })
	urls, err := corpus.Log{Path: name}.URLs()
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range urls {
		all = append(all, string(url))
	}
	return all
}

// TestWriteRules checks that written rules are read unchanged, from a directory and from JSON Lines.
func TestWriteRules(t *testing.T) {
	g := generator(t, Spec{Origins: 200, Seed: 3})
	for _, name := range []string{"dir", "rules.jsonl", "rules.jsonl.zst"} {
		path := filepath.Join(t.TempDir(), name)
		if err := WriteRules(path, g.Responses()); err != nil {
			t.Fatal(err)
		}
		files, err := rulefiles.Find(path, "")
		if err != nil {
			t.Fatal(err)
		}
		got := map[robots.Origin]string{}
		for r, err := range files.Responses() {
			if err != nil {
				t.Fatal(err)
			}
			got[r.Origin] = string(r.Body)
		}
		for want := range g.Responses() {
			body, ok := got[want.Origin]
			if !ok || body != string(want.Body[:min(len(want.Body), rulefiles.MaxBody)]) {
				t.Errorf("%s: %s is read otherwise", name, want.Origin)
			}
		}
	}
}

// TestShuffle checks that each number occurs once.
func TestShuffle(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 1000, 1 << 16} {
		seen := make([]bool, n)
		s := shuffle{n, n}
		for i := range n {
			j := s.at(i)
			if j >= n || seen[j] {
				t.Fatalf("%d of %d is at two places", j, n)
			}
			seen[j] = true
		}
	}
}

func writeFile(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	if err := WriteFile(name, write); err != nil {
		t.Fatal(err)
	}
}
