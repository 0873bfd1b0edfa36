package engine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSiteOrder compares the order with a stable sort, for numbers of sites below and above the range of one pass.
func TestSiteOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var o rulingOrder
	for _, numSites := range []int{1, 2, 1 << digit, 1<<digit + 1, 50_000, 1<<(2*digit) + 1} {
		for _, rows := range []int{0, 1, 3000, 100} {
			sites := make([]RulingID, rows)
			want := make([]rulingRow, rows)
			for i := range sites {
				sites[i] = RulingID(r.IntN(numSites))
				want[i] = rulingRow{sites[i], uint32(i)}
			}
			slices.SortStableFunc(want, func(a, b rulingRow) int { return cmp.Compare(a.id, b.id) })
			if got := o.sort(sites); !slices.Equal(got, want) {
				t.Errorf("%d rows of %d sites are not sorted", rows, numSites)
			}
		}
	}
}

// TestEvaluateOrder checks that a batch has the same verdicts whether rows are decided in their order or in the order
// of their sites.
func TestEvaluateOrder(t *testing.T) {
	s := runStore(t)
	e := s.NewEvaluator()
	b := newBatch(randomURLs(3, 3000)...)
	e.Evaluate(b)
	for name, order := range map[string][]rulingRow{"as they lie": nil, "by ruling": e.order.sort(b.Rulings)} {
		want := slices.Clone(b.Verdicts)
		clear(b.Verdicts)
		if e.decide(b, order); !slices.Equal(b.Verdicts, want) {
			t.Errorf("%s: other verdicts", name)
		}
	}
}
