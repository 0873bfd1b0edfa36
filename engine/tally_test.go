package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTally compares what several tallies counted of a few busy origins among many with a map, on
// both sides of the number of names that are kept.
func TestTally(t *testing.T) {
	for _, origins := range []int{0, 1, 2, 3, 100, 2 * keptNames, 50_000} {
		r := rand.New(rand.NewPCG(1, uint64(origins)))
		tallies := make([]tally, 3)
		want := map[string]int64{}
		add := func(n int) {
			name := fmt.Sprintf("https://%d.example", n)
			rows := 1 + r.Int64N(3)
			tallies[r.IntN(len(tallies))].add([]byte(name), rows)
			want[name] += rows
		}
		for n := range origins {
			add(n)
			if n%2 == 0 {
				add(n % 40 / 10) // 0 to 3 are busy
			}
		}
		sum := &tallies[0]
		for i := range tallies[1:] {
			sum.merge(&tallies[1+i])
		}
		if sum.count != len(want) {
			t.Errorf("%d origins are counted as %d", len(want), sum.count)
		}
		all := make([]BusyOrigin, 0, len(want))
		for name, rows := range want {
			all = append(all, BusyOrigin{name, rows})
		}
		slices.SortFunc(all, func(a, b BusyOrigin) int {
			return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Origin, b.Origin))
		})
		var top [Busy]BusyOrigin
		copy(top[:], all)
		if got := sum.busiest(); got != top {
			t.Errorf("of %d origins the busiest are %v, want %v", origins, got, top)
		}
		for _, one := range tallies {
			if len(one.names) > len(tallies)*2*keptNames {
				t.Errorf("%d names of %d origins", len(one.names), origins)
			}
		}
	}
}

// TestTallyLateBusy: an origin that is busy only after its name was dropped gets it back.
func TestTallyLateBusy(t *testing.T) {
	var one tally
	one.add([]byte("https://late.example"), 1)
	for n := range 4 * keptNames {
		one.add(fmt.Appendf(nil, "https://%d.example", n), 2)
	}
	if len(one.names) >= 2*keptNames {
		t.Fatalf("%d names", len(one.names))
	}
	for range 5 {
		one.add([]byte("https://late.example"), 1)
	}
	if got := one.busiest()[0]; got != (BusyOrigin{"https://late.example", 6}) {
		t.Errorf("the busiest is %v", got)
	}
}

// TestTallyAllocates: where origins are as many as rows, names are kept of few.
func TestTallyAllocates(t *testing.T) {
	const rows = 200_000
	var one tally
	names := make([][]byte, rows)
	for n := range names {
		names[n] = fmt.Appendf(nil, "https://%d.example", n)
	}
	total := testing.AllocsPerRun(1, func() {
		one = tally{}
		for _, name := range names {
			one.add(name, 1)
		}
	})
	if total > rows/8 {
		t.Errorf("%.0f allocations for %d origins", total, rows)
	}
}
