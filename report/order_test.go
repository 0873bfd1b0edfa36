package report

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/engine"
)

// TestBySite compares with a stable sort, for sites of all sizes, as orders are used again.
func TestBySite(t *testing.T) {
	rng, o := rand.New(rand.NewPCG(6, 18)), order{}
	for range 200 {
		all, want := make([]request, rng.IntN(3000)), []uint32{}
		sites := 1 + rng.IntN(1<<16)
		for i := range all {
			all[i].site = engine.SiteID(rng.IntN(sites))
			want = append(want, uint32(i))
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(all[a].site, all[b].site) })
		if got := o.bySite(all); !slices.Equal(got, want) {
			t.Fatalf("%d requests of %d sites: %v, want %v", len(all), sites, got, want)
		}
	}
}
