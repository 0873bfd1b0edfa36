package onepass

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// isMatch is the reference: it finds the segments one after the other, each at its first position.
func isMatch(p Pattern, path []byte) bool {
	segments := strings.Split(p.Segments[1:], "*")
	for i, seg := range segments {
		if p.End && i == len(segments)-1 {
			return bytes.HasSuffix(path, []byte(seg))
		}
		at := bytes.Index(path, []byte(seg))
		if at < 0 {
			return false
		}
		path = path[at+len(seg):]
	}
	return true
}

// randomPattern returns a pattern of few letters.
func randomPattern(rng *rand.Rand, rank uint32) Pattern {
	stock := []string{"a", "b", "ab", "aa", "aba", "/", "aaaa", "baab", "$", "c"}
	var b strings.Builder
	for range 1 + rng.IntN(5) {
		b.WriteByte('*')
		for range 1 + rng.IntN(2) {
			b.WriteString(stock[rng.IntN(len(stock))])
		}
	}
	return Pattern{b.String(), rng.IntN(3) == 0, rank}
}

// TestMatch compares random patterns with the reference, with one Scratch for all.
func TestMatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9309))
	s, found := &Scratch{}, 0
	for range 3000 {
		lists, rank := make([][]Pattern, 1+rng.IntN(3)), uint32(0)
		for i := range lists {
			for range rng.IntN(1 + rng.IntN(60)) {
				rank++
				lists[i] = append(lists[i], randomPattern(rng, rank))
			}
		}
		rng.Shuffle(len(lists), func(i, j int) { lists[i], lists[j] = lists[j], lists[i] })
		m := New(lists)
		for range 30 {
			path := make([]byte, 1+rng.IntN(40))
			for i := range path {
				path[i] = "aaaabbb/$c"[rng.IntN(10)]
			}
			var starts []Start
			best := uint32(rng.IntN(3))
			want := best
			for i, pos := range rng.Perm(len(path)) {
				if i < len(lists) {
					starts = append(starts, Start{i, pos})
				}
			}
			for i := range starts { // in order
				for j := i; j > 0 && starts[j].Pos < starts[j-1].Pos; j-- {
					starts[j], starts[j-1] = starts[j-1], starts[j]
				}
			}
			for _, at := range starts {
				for _, p := range lists[at.List] {
					if isMatch(p, path[at.Pos:]) {
						want = max(want, p.Rank)
					}
				}
			}
			if got := m.Match(path, starts, best, s); got != want {
				t.Fatalf("%q from %v: rank %d, want %d, of %v", path, starts, got, want, lists)
			}
			if want > best {
				found++
			}
		}
	}
	if found < 10_000 {
		t.Errorf("only %d paths were matched", found)
	}
}
