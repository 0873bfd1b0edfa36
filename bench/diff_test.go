package bench

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// diffAgents are the crawlers of BenchmarkDiff.
var diffAgents = []string{"*", "Googlebot", "GPTBot"}

// BenchmarkDiff measures, in turns, a run that writes line, allowed and rule_line, and one that compares with rules in
// which one of 50 files was changed, both for three crawlers and with loaded rules. It reports the CPU time of each,
// the least of all rounds, and the ratio of the second to the first. With all=true, the old rules disallow everything,
// so that every row changes.
func BenchmarkDiff(b *testing.B) {
	for _, in := range inputs() {
		for _, all := range []string{"false", "true"} {
			b.Run(in.name+"/all="+all, func(b *testing.B) { benchmarkDiff(b, in, all == "true") })
		}
	}
}

// benchmarkDiff measures both runs of one log.
func benchmarkDiff(b *testing.B, in input, all bool) {
	b.Helper()
	c, l := in.open(b)
	rules := responses(b, c)
	build := func(rules []robots.Response) *engine.Store {
		store, err := engine.BuildStore(withoutErrors(rules), engine.StoreOptions{Dialect: dialect, Agents: diffAgents})
		if err != nil {
			b.Fatal(err)
		}
		return store
	}
	now, old := build(rules), build(edited(rules, all))
	out := filepath.Join(b.TempDir(), "out.parquet")
	var plain, diff time.Duration
	urls := 0
	for b.Loop() {
		from := measure.CPU()
		stats := run(b, now, l, out, runOptions{workers: 1, columns: []string{"line", "allowed", "rule_line"}})
		between := measure.CPU()
		runDiff(b, now, old, l)
		plain, diff, urls = least(plain, between-from), least(diff, measure.CPU()-between), int(stats.URLs)
	}
	b.ReportMetric(float64(plain.Nanoseconds())/float64(urls), "plain-cpu-ns/url")
	b.ReportMetric(float64(diff.Nanoseconds())/float64(urls), "diff-cpu-ns/url")
	b.ReportMetric(float64(diff)/float64(plain), "diff/plain")
}

// least returns the lesser of two times; zero means no time yet.
func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// edited returns rules in which one file of 50 is different, or all are.
func edited(rules []robots.Response, all bool) []robots.Response {
	changed := make([]robots.Response, len(rules))
	copy(changed, rules)
	for i := range changed {
		switch {
		case all:
			changed[i].Body = []byte("User-agent: *\nDisallow: /\n")
		case i%50 == 7:
			changed[i].Body = append([]byte("User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /*a*e\n\n"), changed[i].Body...)
		}
	}
	return changed
}

// runDiff compares the decisions of two stores on a log.
func runDiff(tb testing.TB, now, old *engine.Store, l corpus.Log) {
	tb.Helper()
	src, err := ingest.OpenLogs([]string{l.Path}, ingest.LogOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	changes := aggregate.NewChanges(now, old, aggregate.ChangesOptions{})
	if _, err := engine.Run(tb.Context(), now, src, changes, engine.Options{Workers: 1, Old: old}); err != nil {
		tb.Fatal(err)
	}
	if len(changes.Report(100).Agents) != len(diffAgents) {
		tb.Fatal("agents are missing")
	}
}

// BenchmarkDiffOut measures writing the changed rows if all rows have changed.
func BenchmarkDiffOut(b *testing.B) {
	in := inputs()[0]
	c, l := in.open(b)
	rules := responses(b, c)
	now := buildStore(b, rules, 0)
	old := buildStore(b, edited(rules, true), 0)
	var urls int
	var size int64
	m := startMeter(b)
	for b.Loop() {
		src, err := ingest.OpenLogs([]string{l.Path}, ingest.LogOptions{})
		if err != nil {
			b.Fatal(err)
		}
		dst, err := output.NewWriter(io.Discard, now, output.Options{Old: old, Inputs: []string{l.Path}})
		if err != nil {
			b.Fatal(err)
		}
		stats, err := engine.Run(b.Context(), now, src, dst, engine.Options{Workers: 1, Old: old})
		if err != nil {
			b.Fatal(err)
		}
		if err := dst.Close(); err != nil {
			b.Fatal(err)
		}
		src.Close()
		urls, size = int(stats.URLs), stats.URLBytes
	}
	m.report("url", urls, size)
}
