package report

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestRequestedBounded checks that the most requested URLs stay within their memory limit, for URLs of any length and
// in any order, and that they have their own counts.
func TestRequestedBounded(t *testing.T) {
	const share = 4 << 20
	for name, length := range map[string]func(*rand.Rand) int{
		"long":  func(*rand.Rand) int { return 3500 },
		"mixed": func(rng *rand.Rand) int { return []int{10, 10, 10, 3500}[rng.IntN(4)] },
		"usual": func(rng *rand.Rand) int { return 20 + rng.IntN(80) },
	} {
		rng := rand.New(rand.NewPCG(7, 3))
		visit := []fetch{{url: "https://a.example/", at: engine.NoTime}}
		c, _ := counted(t, sites, visit, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 1, Options: Options{Memory: 8 * share}})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		const number, origin = 60_000, "https://a.example"
		requests := make([]int64, number)
		for i := range requests {
			requests[i] = 2 + int64(i) // each pushes others out
			if i%3 == 0 {
				requests[i] = 1 + rng.Int64N(number)
			}
			url := []byte(fmt.Sprintf("%s/%06d%s", origin, i, strings.Repeat("x", length(rng))))
			u := aggregate.URL{Text: url, Prefix: len(origin), PathEnd: len(url), Requests: []aggregate.Request{{RowCounts: aggregate.RowCounts{Rows: requests[i], Bytes: int64(i)}}}}
			c.addRequested(&u, aggregate.Hash(url))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		t.Logf("%s: %d bytes", name, held)
		if held > share*3/2 {
			t.Errorf("%s: the most requested URLs take %d bytes, the limit is %d", name, held, share)
		}
		slices.SortFunc(requests, func(a, b int64) int { return cmp.Compare(b, a) })
		urls := c.MostRequested([][]engine.SiteID{{0}}, number)[0]
		if len(urls) < share/2/4096 {
			t.Errorf("%s: %d URLs", name, len(urls))
		}
		for i, u := range urls {
			var number int64
			if _, err := fmt.Sscanf(u.Path, "/%06d", &number); err != nil || strings.Trim(u.Path[7:], "x") != "" {
				t.Fatalf("%s: %q: %v", name, u.Path, err)
			}
			if len(u.Counts) != 1 || u.Counts[0].Requests != requests[i] || u.Counts[0].Bytes != number {
				t.Fatalf("%s: URL number %d is %s: %+v, want %d requests", name, i, u.Path[:7], u.Counts, requests[i])
			}
		}
	}
}
