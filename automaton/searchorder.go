package automaton

import "slices"

// orderSegments numbers the segments so that those that end one another are neighbours: the tree of
// what each is ended by is laid out in heavy paths (Sleator, Tarjan: A data structure for dynamic
// trees, 1983). The way from a segment to the root meets few of them: one more only where there are
// twice as many segments. So a word of 64 bits finds the active ones among that many.
func (b *searchBuilder) orderSegments(t *searchTable) {
	n := len(t.shorter)
	byLength := make([]uint32, n)
	some := false
	for g := range byLength {
		byLength[g] = uint32(g)
		some = some || t.shorter[g] != 0
	}
	if !some {
		return
	}
	slices.SortFunc(byLength, func(x, y uint32) int { return int(t.length[x] - t.length[y]) })
	size, heavy := make([]uint32, n), make([]uint32, n) // of the subtree; 1 + its largest child
	for _, g := range slices.Backward(byLength) {
		size[g]++
		if o := t.shorter[g]; o != 0 {
			size[o-1] += size[g]
			if h := heavy[o-1]; h == 0 || size[h-1] < size[g] {
				heavy[o-1] = g + 1
			}
		}
	}
	number, next := make([]uint32, n), uint32(0) // 1 + the new one
	for _, g := range byLength {
		for o := g + 1; o != 0 && number[o-1] == 0; o = heavy[o-1] {
			next++
			number[o-1] = next
		}
	}
	b.renumber(t, number)
}

// renumber gives the segments new numbers, given with 1 added.
func (b *searchBuilder) renumber(t *searchTable, number []uint32) {
	shorter, length := t.shorter, t.length
	t.shorter, t.length = make([]uint32, len(shorter)), make([]int32, len(length))
	for g, renumbered := range number {
		t.length[renumbered-1] = length[g]
		if o := shorter[g]; o != 0 {
			t.shorter[renumbered-1] = number[o-1]
		}
	}
	for s, o := range t.out {
		if o != 0 {
			t.out[s] = number[o-1]
		}
	}
	for v := range b.nodes {
		if n := &b.nodes[v]; n.last != noSegment {
			n.last = number[n.last] - 1
		}
	}
}
