package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestTally compares what several tallies counted with a map.
func TestTally(t *testing.T) {
	for _, origins := range []int{0, 1, 3, 100, 50_000} {
		r := rand.New(rand.NewPCG(1, uint64(origins)))
		tallies := make([]tally, 3)
		want := map[uint64]int64{}
		for range 2 * origins {
			hash, rows := hashOrigin(fmt.Appendf(nil, "https://%d.example", r.IntN(origins))), 1+r.Int64N(3)
			tallies[r.IntN(len(tallies))].addRows(hash, rows)
			want[hash] += rows
		}
		sum := &tallies[0]
		for i := range tallies[1:] {
			sum.merge(&tallies[1+i])
		}
		if sum.count != len(want) {
			t.Errorf("%d origins are counted as %d", len(want), sum.count)
		}
		for hash, rows := range want {
			if got := sum.rows(hash); got != rows {
				t.Fatalf("%d rows of %d origins, want %d", got, origins, rows)
			}
		}
	}
}
