package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// A matchRow is a path and the rules to match it with.
type matchRow struct {
	rules *automaton.Automaton
	path  []byte // in normal form
}

// compile compiles the rules of a robots.txt for "*", like package engine. It returns nil if there are none.
func compile(tb testing.TB, body []byte) *automaton.Automaton {
	tb.Helper()
	in := automatonRules(robots.Parse(body, dialect))
	if len(in) == 0 {
		return nil
	}
	a, _, err := automaton.Compile(in)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// star is the agent of the benchmarks.
var star = robots.NewAgent("*", dialect)

// automatonRules returns the patterns of the rules for "*".
func automatonRules(f *robots.File) []automaton.Rule {
	return appendRules(nil, f)
}

// appendRules appends the patterns of the rules for "*" to dst.
func appendRules(dst []automaton.Rule, f *robots.File) []automaton.Rule {
	rules, _ := f.Select(star)
	for i := range rules {
		r := &rules[i]
		dst = append(dst, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow})
		if pattern, ok := dialect.IndexPattern(*r); ok {
			dst = append(dst, automaton.Rule{Pattern: pattern, Allow: true})
		}
	}
	return dst
}

// matchRows returns a row for each URL of a log whose origin has rules. Equal texts are compiled once, and the paths
// are stored one after the other, so that memory is used as in a run.
func matchRows(tb testing.TB, files []robots.Response, l corpus.Log) []matchRow {
	tb.Helper()
	byText := map[string]*automaton.Automaton{}
	byOrigin := map[robots.Origin]*automaton.Automaton{}
	for _, r := range files {
		a, known := byText[string(r.Body)]
		if !known {
			a = compile(tb, r.Body)
			byText[string(r.Body)] = a
		}
		byOrigin[r.Origin] = a
	}
	all, urls, size := batches(tb, l)
	rows := make([]matchRow, 0, urls)
	paths := make([]byte, 0, size+size/8) // if it grows, earlier rows keep the old memory
	var origin, path, buf []byte
	for i := range all {
		for j := range all[i].URLs {
			u, err := robots.SplitURL(all[i].URL(j))
			if err != nil {
				continue
			}
			if origin, err = robots.AppendOrigin(origin[:0], u); err != nil {
				continue
			}
			if a := byOrigin[robots.Origin(origin)]; a != nil {
				path, buf = dialect.Path(u.Path, buf)
				paths = append(paths, path...)
				rows = append(rows, matchRow{a, paths[len(paths)-len(path):]})
			}
		}
	}
	return rows
}

// denied counts the rows that a rule disallows.
func denied(rows []matchRow, s *automaton.Scratch) (n int) {
	for i := range rows {
		if rank := rows[i].rules.Match(rows[i].path, s); rank != automaton.NoMatch && !rank.Allow() {
			n++
		}
	}
	return n
}

// benchmarkMatch measures only Match on the rows.
func benchmarkMatch(b *testing.B, rows []matchRow) {
	b.Helper()
	s := new(automaton.Scratch)
	if want := denied(rows, s); want == 0 || want == len(rows) {
		b.Fatalf("%d of %d URLs are denied: nothing to measure", want, len(rows))
	}
	benchmarkAnyMatch(b, rows)
}

// benchmarkAnyMatch is benchmarkMatch for rows that may all be allowed, or all disallowed.
func benchmarkAnyMatch(b *testing.B, rows []matchRow) {
	b.Helper()
	var size int64
	for i := range rows {
		size += int64(len(rows[i].path))
	}
	s := new(automaton.Scratch)
	want := denied(rows, s)
	m := startMeter(b)
	for b.Loop() {
		if n := denied(rows, s); n != want {
			b.Fatalf("%d URLs are denied, %d the first time", n, want)
		}
	}
	m.report("url", len(rows), size)
}

// BenchmarkMatch measures only the automaton: paths are in normal form, and their rules are known. The bytes are those
// of the paths.
func BenchmarkMatch(b *testing.B) {
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			c, l := in.open(b)
			benchmarkMatch(b, matchRows(b, responses(b, c), l))
		})
	}
	b.Run("data=collection/rules=15-40/path=20-60", func(b *testing.B) { benchmarkMatch(b, fewRules(b)) })
	for _, origin := range largeFiles {
		b.Run("data=collection/rules="+hostOf(origin), func(b *testing.B) {
			benchmarkMatch(b, fileRows(b, origin, otherPaths))
		})
	}
	for _, origin := range slowOwn {
		b.Run("data=collection/rules="+hostOf(origin)+"/paths=own", func(b *testing.B) {
			benchmarkAnyMatch(b, fileRows(b, origin, 0))
		})
	}
	for _, origin := range slowOther {
		b.Run("data=collection/rules="+hostOf(origin)+"/paths=other", func(b *testing.B) {
			benchmarkAnyMatch(b, fileRows(b, origin, otherPaths))
		})
	}
	for _, shape := range []madeup.Shape{{Rules: 20}, {Rules: 20, Wildcard: 100}, {Rules: madeup.LargeShop.Rules}, madeup.LargeShop} {
		b.Run(fmt.Sprintf("data=madeup/rules=%d/wildcard=%d", shape.Rules, shape.Wildcard), func(b *testing.B) {
			benchmarkMatch(b, setRows(b, shape.Make()))
		})
	}
	b.Run("data=madeup/rules=20/wildcard=100/path=140", func(b *testing.B) {
		benchmarkMatch(b, setRows(b, madeup.Words()))
	})
	b.Run("data=madeup/rules=15-43/path=20-60", func(b *testing.B) {
		var rows []matchRow
		for _, set := range madeup.FewRules() {
			rows = append(rows, setRows(b, set)...)
		}
		benchmarkMatch(b, rows)
	})
	b.Run("data=hostile", func(b *testing.B) {
		var rows []matchRow
		for _, form := range []string{"/*/%s*%s", "/*%s*html", "/*?*%s=*&%s=", "/%s/*%s*%s"} {
			rows = append(rows, setRows(b, madeup.Hostile(form, 700, 500))...)
		}
		s, least := new(automaton.Scratch), time.Hour
		for b.Loop() { // the least time, because others who use the caches change the mean by 5 %
			from := measure.CPU()
			denied(rows, s)
			least = min(least, measure.CPU()-from)
		}
		b.ReportMetric(float64(least.Nanoseconds())/float64(len(rows)), "cpu-ns/url")
	})
}

// fewRules returns rows for paths of 20 to 60 bytes in the collection's log, of files with 15 to 40 rules, at most one
// in five of them with "*", as on most sites.
func fewRules(tb testing.TB) []matchRow {
	tb.Helper()
	c := corpora[1].open(tb)
	files := slices.DeleteFunc(responses(tb, c), func(r robots.Response) bool {
		rules := appendRules(nil, robots.Parse(r.Body, dialect))
		stars := 0
		for i := range rules {
			stars += min(1, strings.Count(rules[i].Pattern, "*"))
		}
		return len(rules) < 15 || len(rules) > 40 || 5*stars > len(rules)
	})
	return slices.DeleteFunc(matchRows(tb, files, c.Logs[0]), func(row matchRow) bool {
		return len(row.path) < 20 || len(row.path) > 60
	})
}

// setRows returns the rows of a generated set.
func setRows(tb testing.TB, set *madeup.RuleSet) []matchRow {
	tb.Helper()
	a := compile(tb, set.Body)
	rows := make([]matchRow, 0, len(set.Paths))
	for _, path := range set.Paths {
		rows = append(rows, matchRow{a, path})
	}
	return rows
}
