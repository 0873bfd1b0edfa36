package aggregate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLargest compares Largest with a sort, on random items with random numbers of bytes.
func TestLargest(t *testing.T) {
	type item struct {
		number int64
		tie    uint64
		order  int
		bytes  int
	}
	r := rand.New(rand.NewPCG(5, 8))
	for round := range 3000 {
		most, limit := r.IntN(20), int64(math.MaxInt64/2)
		l, compacted := NewLargest[item](most), 0
		if round%3 > 0 {
			limit = r.Int64N(500)
			l = NewLargestWithin(most, limit, func(kept []item) {
				compacted++
				if !slices.IsSortedFunc(kept, func(a, b item) int { return cmp.Compare(a.order, b.order) }) {
					t.Fatalf("%v stay in another order", kept)
				}
			})
		}
		var all []item
		numbers, ties := 1+r.IntN(30), 1+r.IntN(1000)
		for i := range r.IntN(200) {
			one := item{number: int64(r.IntN(numbers)), tie: uint64(r.IntN(ties)), order: i, bytes: r.IntN(60)}
			if one.number == 0 {
				continue
			}
			if all = append(all, one); round%2 > 0 || l.Takes(one.number, one.tie) {
				*l.NewItem(one.number, one.tie, one.bytes) = one
			}
			if r.IntN(100) == 0 {
				l.Items() // which changes nothing
			}
			if l.held > limit+limit/2+60 {
				t.Fatalf("%d bytes are held, the limit is %d", l.held, limit)
			}
		}
		slices.SortStableFunc(all, func(a, b item) int {
			return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(b.tie, a.tie))
		})
		want, bytes := 0, int64(0)
		for want < min(most, len(all)) && bytes+int64(all[want].bytes) <= limit {
			bytes += int64(all[want].bytes)
			want++
		}
		if got := l.Items(); !slices.Equal(got, all[:want]) {
			t.Fatalf("the largest %d within %d bytes are %v, want those of %v", most, limit, got, all)
		}
		if l.compact != nil && most > 0 && want < len(all) && compacted == 0 {
			t.Fatal("items were dropped, but the remaining ones were not compacted")
		}
		if len(l.items) > max(1, 2*most) {
			t.Fatalf("%d items are held to keep the largest %d", len(l.items), most)
		}
	}
	if NewLargest[int](3).Takes(0, 1) {
		t.Error("an item with 0 requests is taken")
	}
}
