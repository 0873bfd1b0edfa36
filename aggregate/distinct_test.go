package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestDistinct holds that a set tells which URLs are new while all fit.
func TestDistinct(t *testing.T) {
	rng, d, seen := rand.New(rand.NewPCG(1, 18)), NewDistinct(0), map[uint64]bool{}
	for range 100_000 {
		url := In(uint32(rng.IntN(3)), uint64(rng.IntN(20_000)))
		if rng.IntN(1000) == 0 {
			url = 0
		}
		want := int64(1)
		if seen[max(1, url)] {
			want = 0
		}
		seen[max(1, url)] = true
		if got := d.Add(url); got != want {
			t.Fatalf("%x stands for %d new URLs, want %d", url, got, want)
		}
	}
	if !d.Exact() || d.used != len(seen) {
		t.Errorf("%d URLs, want %d", d.used, len(seen))
	}
}

// TestDistinctEstimate holds that a set does not grow beyond its memory, and that numbers of URLs are within
// four times the error that they say, also of groups.
func TestDistinctEstimate(t *testing.T) {
	for _, n := range []int{10_000, 100_000, 2_000_000} {
		d, all, tenth := NewDistinct(1<<20), Tally{}, Tally{}
		for round := range 2 {
			for i := range n {
				weight := d.Add(Hash(fmt.Appendf(nil, "/%d", i)))
				if all.Add(1, weight); i%10 == round {
					tenth.Add(1, weight)
				}
			}
		}
		if size := 8 * len(d.slots); size > 1<<20 || d.Exact() != (n == 10_000) {
			t.Errorf("%d URLs: %d bytes; exact is %t", n, size, d.Exact())
		}
		for _, c := range []struct {
			got  Estimate
			want int
		}{{all.URLs(), n}, {tenth.URLs(), n / 10}} {
			off := math.Abs(float64(c.got.N)/float64(c.want) - 1)
			if off > 4*c.got.Error || c.got.Error > 0.05 || c.got.Error == 0 != d.Exact() {
				t.Errorf("%d URLs are %+v, %.4f off", c.want, c.got, off)
			}
		}
	}
	if got := (&Tally{Requests: 3}).URLs(); got != (Estimate{N: 1, Error: 1}) {
		t.Errorf("requests of no URL in the sample: %+v", got)
	}
}

// TestFewRequests holds that there are no more URLs than requests, though one stands for several.
func TestFewRequests(t *testing.T) {
	var tally Tally
	tally.Add(3, 8)
	if got := tally.URLs(); got.N != 3 || got.Error == 0 {
		t.Errorf("3 requests are for %+v", got)
	}
}
