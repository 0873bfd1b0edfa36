package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// BenchmarkRowTimes is BenchmarkEvaluate for rows with times in random order, which are decided by the rules in force
// at these times. The rules have several captures, each with a different text.
func BenchmarkRowTimes(b *testing.B) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, in := range inputs() {
		for _, captures := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/captures=%d", in.name, captures), func(b *testing.B) {
				c, l := in.open(b)
				var all []robots.Response
				for i := range captures {
					for _, r := range responses(b, c) {
						r.FetchedAt = start.AddDate(0, 0, i)
						r.Body = append(bytes.Clone(r.Body), fmt.Sprintf("\n# %d\n", i)...)
						all = append(all, r)
					}
				}
				store, err := engine.BuildStore(withoutErrors(all), engine.StoreOptions{Dialect: dialect, RowTimes: true})
				if err != nil {
					b.Fatal(err)
				}
				batches, urls, size := batches(b, l)
				random := rand.New(rand.NewPCG(1, 1))
				times := make([][]int64, len(batches))
				for i := range batches {
					for range batches[i].URLs {
						times[i] = append(times[i], start.UnixMicro()+random.Int64N(int64(captures)*86_400e6))
					}
				}
				e := store.NewEvaluator()
				var work engine.Batch
				m := startMeter(b)
				for b.Loop() {
					for i := range batches {
						work.Reset()
						src := &batches[i]
						work.Data, work.URLs, work.Lines, work.Times = src.Data, src.URLs, src.Lines, times[i]
						e.Evaluate(&work)
					}
				}
				m.report("url", urls, size)
			})
		}
	}
}
