package aggregate

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLargest compares the largest of random items with those of a sort.
func TestLargest(t *testing.T) {
	type item struct {
		number int64
		tie    uint64
		order  int
	}
	r := rand.New(rand.NewPCG(5, 8))
	for range 3000 {
		most := r.IntN(20)
		l := NewLargest[item](most)
		var all []item
		numbers, ties := 1+r.IntN(30), 1+r.IntN(1000)
		for i := range r.IntN(200) {
			one := item{int64(r.IntN(numbers)), uint64(r.IntN(ties)), i}
			if all = append(all, one); l.Takes(one.number, one.tie) {
				l.AddItem(one.number, one.tie, one)
			}
			if r.IntN(100) == 0 {
				l.Items() // which changes nothing
			}
		}
		all = slices.DeleteFunc(all, func(one item) bool { return one.number == 0 })
		slices.SortStableFunc(all, func(a, b item) int {
			return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(b.tie, a.tie))
		})
		if got := l.Items(); !slices.Equal(got, all[:min(most, len(all))]) {
			t.Fatalf("the largest %d are %v, want those of %v", most, got, all)
		}
		if len(l.items) > max(1, 2*most) {
			t.Fatalf("%d items are held for the largest %d", len(l.items), most)
		}
	}
	if NewLargest[int](3).Takes(0, 1) {
		t.Error("an item without requests is taken")
	}
}
