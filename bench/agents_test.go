package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
)

// BenchmarkAgents measures complete runs, like BenchmarkRun, for many crawlers at once, without the column url.
func BenchmarkAgents(b *testing.B) {
	for _, in := range inputs() {
		for _, n := range []int{1, 2, 5, 10, 50} {
			b.Run(fmt.Sprintf("%s/agents=%d", in.name, n), func(b *testing.B) {
				benchmarkAgents(b, in, n, runOptions{workers: 1})
			})
		}
	}
}

// benchmarkAgents measures runs of one log for the first n crawlers.
func benchmarkAgents(b *testing.B, in input, n int, opt runOptions) {
	b.Helper()
	c, l := in.open(b)
	store, err := engine.BuildStore(withoutErrors(responses(b, c)), engine.StoreOptions{Dialect: dialect, Agents: manyAgents(n)})
	if err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(b.TempDir(), "out.parquet")
	var stats engine.Stats
	m := startMeter(b)
	for b.Loop() {
		stats = run(b, store, l, out, opt)
	}
	m.report("url", int(stats.URLs), stats.URLBytes)
}

// manyAgents returns n crawlers: those that robots.txt files name most, and then all others.
func manyAgents(n int) []string {
	names := []string{
		"Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "AhrefsBot", "SemrushBot", "YandexBot", "Applebot", "PerplexityBot",
	}
	for _, c := range crawlers.Set("all") {
		if !slices.Contains(names, c.Token) {
			names = append(names, c.Token)
		}
	}
	return names[:n]
}
