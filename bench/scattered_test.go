package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// copiesOfHost is how many hosts each real one becomes, so that there are over 30,000 origins.
const copiesOfHost = 12

// scatter makes of a corpus and its log one of many origins in random order: each host becomes
// copiesOfHost ones, whose texts differ by a comment, and each URL goes to one of them.
func scatter(tb testing.TB, c *corpus.Corpus, l corpus.Log) ([]robots.Response, corpus.Log) {
	tb.Helper()
	var all []robots.Response
	for _, r := range responses(tb, c) {
		for i := range copiesOfHost {
			again := r
			again.Origin = robots.Origin(toHost([]byte(r.Origin), i))
			again.Body = fmt.Appendf(bytes.Clone(r.Body), "\n# %d\n", i)
			all = append(all, again)
		}
	}
	read, _, _ := batches(tb, l)
	rng := rand.New(rand.NewPCG(1, 2))
	var lines [][]byte
	for i := range read {
		for j := range read[i].URLs {
			lines = append(lines, toHost(read[i].URL(j), rng.IntN(copiesOfHost)))
		}
	}
	rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	long := corpus.Log{Name: l.Name, Path: filepath.Join(tb.TempDir(), "scattered.zst")}
	if err := os.WriteFile(long.Path, enc.EncodeAll(bytes.Join(lines, []byte("\n")), nil), 0o600); err != nil {
		tb.Fatal(err)
	}
	return all, long
}

// toHost returns the URL with another host.
func toHost(url []byte, i int) []byte {
	scheme, rest, ok := bytes.Cut(url, []byte("://"))
	if !ok {
		return url
	}
	return fmt.Appendf(nil, "%s://h%d.%s", scheme, i, rest)
}

// BenchmarkScattered measures what many origins in random order cost: reading alone, evaluating,
// and whole runs without the column url.
func BenchmarkScattered(b *testing.B) {
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			c, l := in.open(b)
			rules, log := scatter(b, c, l)
			store := buildStore(b, rules, 0)
			b.Run("part=evaluate", func(b *testing.B) {
				all, urls, size := batches(b, log)
				e := store.NewEvaluator()
				var work engine.Batch
				m := startMeter(b)
				for b.Loop() {
					for i := range all {
						evaluate(e, &work, &all[i])
					}
				}
				m.report("url", urls, size)
			})
			b.Run("part=run", func(b *testing.B) { benchmarkRun(b, store, log, runOptions{workers: 1}) })
		})
	}
}
