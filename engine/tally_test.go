package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTally compares merged tallies with a map.
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
		if n, about := sum.origins(); n != int64(len(want)) || about {
			t.Errorf("%d origins are counted as %d, estimated: %v", len(want), n, about)
		}
		for hash, rows := range want {
			if got, ok := sum.rows(hash); got != rows || !ok {
				t.Fatalf("%d rows of %d origins, want %d", got, origins, rows)
			}
		}
	}
}

// TestTallyMost checks that a tally with a limit has no more origins than that, estimates their number to within 1%,
// has all rows of the origins that it keeps, and keeps the same ones however the rows are divided.
func TestTallyMost(t *testing.T) {
	const origins, most = 300_000, 10_000
	var first []slot
	for goroutines := 1; goroutines <= 4; goroutines++ {
		r := rand.New(rand.NewPCG(1, 2))
		tallies := make([]tally, goroutines)
		for i := range tallies {
			tallies[i].most = most
		}
		want := map[uint64]int64{}
		for i := range 2 * origins {
			hash := hashOrigin(fmt.Appendf(nil, "https://%d.example", i%origins))
			rows := 1 + r.Int64N(3)
			tallies[r.IntN(goroutines)].addRows(hash, rows)
			want[hash] += rows
		}
		sum := &tallies[0]
		for i := range tallies[1:] {
			sum.merge(&tallies[1+i])
		}
		if n, about := sum.origins(); !about || n < origins*98/100 || n > origins*102/100 || sum.count > most || len(sum.slots) > 4*most {
			t.Errorf("%d goroutines: %d origins, estimated: %v; %d slots, %d used", goroutines, n, about, len(sum.slots), sum.count)
		}
		var kept []slot
		for _, s := range sum.slots {
			if s.hash == 0 {
				continue
			}
			kept = append(kept, s)
			if rows, ok := sum.rows(s.hash); rows != want[s.hash] || !ok {
				t.Fatalf("%d goroutines: %d rows, want %d", goroutines, rows, want[s.hash])
			}
		}
		slices.SortFunc(kept, func(a, b slot) int { return cmp.Compare(a.hash, b.hash) })
		for i := range kept {
			kept[i].rows = 0 // the numbers of rows are random
		}
		if first == nil {
			first = kept
		} else if !slices.Equal(kept, first) {
			t.Errorf("%d goroutines keep %d origins, one keeps %d, or different ones", goroutines, len(kept), len(first))
		}
	}
}
