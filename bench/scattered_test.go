package bench

import (
	"bytes"
	"errors"
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

// copiesOfHost is the number of hosts made from each real one, so that there are more than 30,000 origins.
const copiesOfHost = 12

// scatter makes a corpus and log of many origins in random order: each host is copied copiesOfHost times with texts
// that differ in a comment, and each URL gets one of these hosts.
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

// BenchmarkScattered measures the cost of many origins in random order: reading, evaluating, and complete runs without
// the column url.
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

// BenchmarkOrigins measures deciding URLs of 100,000 origins in random order with an opened pack: each rule set is used
// for the first time, or was last used long ago.
func BenchmarkOrigins(b *testing.B) {
	const origins, texts = 100_000, 10_000
	rng := rand.New(rand.NewPCG(9309, 100))
	bodies := make([][]byte, texts)
	for i := range bodies {
		bodies[i] = []byte("User-agent: *\n")
		for range 4 + rng.IntN(12) {
			bodies[i] = fmt.Appendf(bodies[i], "Disallow: /%x/%x\n", rng.IntN(64), rng.IntN(1<<16))
		}
	}
	var all []robots.Response
	var urls []engine.Batch
	for i := range origins {
		all = append(all, robots.Response{Origin: robots.Origin(fmt.Sprintf("https://www.site%d.example", i)), Status: 200, Body: bodies[rng.IntN(texts)]})
	}
	for i, n := range rng.Perm(origins) {
		if i%8192 == 0 {
			urls = append(urls, engine.Batch{})
		}
		to := &urls[len(urls)-1]
		to.AddURL(fmt.Appendf(nil, "%s/%x/%x", all[n].Origin, rng.IntN(64), rng.IntN(1<<16)), int64(i+1))
	}
	file, err := os.Create(filepath.Join(b.TempDir(), "rules.pack"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if _, err := engine.WritePack(b.Context(), file, withoutErrors(all), engine.PackOptions{Dialect: dialect}); err != nil {
		b.Fatal(err)
	}
	b.Run("order=random", func(b *testing.B) {
		var work engine.Batch
		m := startMeter(b)
		for b.Loop() {
			store, err := engine.OpenPack(file.Name(), engine.StoreOptions{Dialect: dialect})
			if err != nil {
				b.Fatal(err)
			}
			e := store.NewEvaluator()
			for i := range urls {
				evaluate(e, &work, &urls[i])
			}
			if err := errors.Join(store.Err(), store.Close()); err != nil {
				b.Fatal(err)
			}
		}
		m.report("url", origins, 0)
	})
}
