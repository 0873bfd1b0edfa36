package aggregate

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLargest compares the largest of random items with those of a sort.
func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for range 3000 {
		most := 1 + r.IntN(20)
		l := NewLargest[rank](most)
		var all []rank
		numbers, ties := 1+r.IntN(30), 1+r.IntN(1000)
		for range r.IntN(200) {
			one := rank{int64(r.IntN(numbers)), uint64(r.IntN(ties))}
			if all = append(all, one); l.Takes(one.number, one.tie) {
				l.AddItem(one.number, one.tie, one)
			}
		}
		all = slices.DeleteFunc(all, func(one rank) bool { return one.number == 0 })
		slices.SortFunc(all, func(a, b rank) int {
			return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(b.tie, a.tie))
		})
		if got := l.Items(); !slices.Equal(got, all[:min(most, len(all))]) {
			t.Fatalf("the largest %d are %v, want those of %v", most, got, all)
		}
	}
	if NewLargest[int](3).Takes(0, 1) {
		t.Error("an item without requests is taken")
	}
}
