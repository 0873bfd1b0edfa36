package bench

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestInputs checks that the benchmarks measure something, and that all measure the same: each log has URLs, and rules
// match some of them; an Evaluator decides batches like a run; and BenchmarkMatch has the same number of disallowed
// paths.
func TestInputs(t *testing.T) {
	for _, p := range corpora {
		t.Run(p.name, func(t *testing.T) {
			if testing.Short() && p.name != "quickstart" {
				t.Skip("long: make test-all runs it")
			}
			c := p.open(t)
			store := buildStore(t, responses(t, c), 0)
			if m := store.Memory(); m.Rules == 0 || m.Tables == 0 || m.Text == 0 {
				t.Fatalf("no rules: %+v", m)
			}
			for _, l := range c.Logs {
				t.Run(l.Name, func(t *testing.T) { testLog(t, c, l, store) })
			}
		})
	}
}

// TestHeader checks that results name their data.
func TestHeader(t *testing.T) {
	for _, p := range corpora {
		var out strings.Builder
		if err := p.corpus("").Header(&out); err != nil || out.String() != "corpus: "+p.name+"\n" {
			t.Errorf("%s: %q, %v", p.name, &out, err)
		}
	}
}

func testLog(t *testing.T, c *corpus.Corpus, l corpus.Log, store *engine.Store) {
	t.Helper()
	all, urls, size := batches(t, l)
	want := tally(store, all)
	got := run(t, store, l, filepath.Join(t.TempDir(), "out.parquet"), runOptions{url: true, workers: 2})
	if got.Odd.Rows > got.Rows || got.Strays != got.Reasons[engine.ReasonNoRobots] {
		t.Errorf("%d of %d rows rest on odd files, %d of %d without rules are strays",
			got.Odd.Rows, got.Rows, got.Strays, got.Reasons[engine.ReasonNoRobots])
	}
	want.Origins, want.Strays, want.Busiest, want.Odd = got.Origins, got.Strays, got.Busiest, got.Odd // tally does not count these
	want.Agents, want.TopOrigins, want.TopRules = got.Agents, got.TopOrigins, got.TopRules
	if !reflect.DeepEqual(got, want) {
		t.Errorf("run decides %+v\nevaluating the same batches %+v", got, want)
	}
	if int64(urls) != got.URLs || size != got.URLBytes {
		t.Errorf("%d URLs of %d bytes read, %d of %d run", urls, size, got.URLs, got.URLBytes)
	}
	if got.Denied == 0 || got.Allowed == 0 || got.Reasons[engine.ReasonRule] == 0 {
		t.Errorf("nothing to measure: %+v", got)
	}
	rows := matchRows(t, responses(t, c), l)
	if n := denied(rows, new(automaton.Scratch)); int64(n) != got.Denied {
		t.Errorf("%d of %d rows denied by Match, %d by the run", n, len(rows), got.Denied)
	}
	t.Logf("%d URLs, %d with rules to match, %d denied", urls, len(rows), got.Denied)
}

// tally evaluates batches and counts like engine.Run, except for counts of origins.
func tally(store *engine.Store, all []engine.Batch) (s engine.Stats) {
	e, look := store.NewEvaluator(), store.NewLookup()
	var work engine.Batch
	for i := range all {
		evaluate(e, &work, &all[i])
		s.URLs += int64(work.Len())
		s.Rows += int64(len(work.Verdicts))
		for j, v := range work.Verdicts {
			s.URLBytes += int64(work.URLs[j].Len)
			s.Reasons[v.Reason]++
			switch v.Access {
			case engine.Allowed:
				s.Allowed++
			case engine.Denied:
				s.Denied++
			case engine.Unknown:
				s.Unknown++
			}
			if v.Rule != engine.NoRule {
				s.RuleLines += int64(look.Rule(work.Rulings[j], 0, v.Rule).Line)
			}
		}
	}
	return s
}

// TestShapes checks that generated sets have the requested shape, and paths that the rules match and others that they
// do not match.
func TestShapes(t *testing.T) {
	for _, shape := range []madeup.Shape{{Rules: 20}, {Rules: 20, Wildcard: 100}, madeup.LargeShop} {
		set := shape.Make()
		f := robots.Parse(set.Body, dialect)
		rules, _ := f.Select(robots.NewAgent("*", dialect))
		if len(rules) != shape.Rules {
			t.Fatalf("%+v has %d rules", shape, len(rules))
		}
		wild := 0
		for _, r := range rules {
			if automaton.ParsePattern(r.Pattern).Rest != "" {
				wild++
			}
		}
		if got := (100*wild + shape.Rules/2) / shape.Rules; got != shape.Wildcard {
			t.Errorf("%+v has %d %% wildcards", shape, got)
		}
		var s automaton.Scratch
		n := denied(setRows(t, set), &s)
		t.Logf("%+v: %d of %d paths denied, %d bytes of rules", shape, n, len(set.Paths), len(set.Body))
		if n < len(set.Paths)/5 || n > len(set.Paths)*4/5 {
			t.Errorf("%+v: %d of %d paths denied", shape, n, len(set.Paths))
		}
	}
}
