package automaton

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMakeEntries compares the entries of few and many random rules with the simplest way to sort their patterns.
func TestMakeEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, runLength - 1, runLength, runLength + 1, 2 * runLength, 2*runLength + 1, 5 * runLength, 1000} {
		for _, shared := range []string{"", "/shared", "/sharedby"} {
			t.Run(fmt.Sprintf("rules=%d/shared=%q", n, shared), func(t *testing.T) {
				rules := make([]Rule, n)
				for i := range rules {
					rules[i] = Rule{Pattern: randomPattern(rng, shared), Allow: rng.IntN(2) == 0}
				}
				checkEntries(t, rules)
			})
		}
	}
}

// randomPattern returns a pattern of few bytes, sometimes empty. It may have zero bytes, which pad the prefix of an
// entry.
func randomPattern(rng *rand.Rand, shared string) string {
	b := []byte(shared)
	for range rng.IntN(5) {
		b = append(b, "/a\x00*$"[rng.IntN(5)])
	}
	return string(b)
}

func checkEntries(t *testing.T, rules []Rule) {
	t.Helper()
	w := &workspace{}
	order := w.rankRules(rules)
	w.makeEntries(rules, order)
	want := distinctPatterns(rules, order)
	if len(w.distinct) != len(want) {
		t.Fatalf("%d entries for %d distinct patterns", len(w.distinct), len(want))
	}
	for i := range w.distinct {
		e := &w.distinct[i]
		if w.anchorOf(e) != want[i].Anchor || e.rank != want[i].rank || w.patternOf(e) != want[i].Pattern {
			t.Fatalf("entry %d is %q of rank %d, want %q of rank %d", i, w.patternOf(e), e.rank, want[i].Pattern, want[i].rank)
		}
		if i > 0 && int(e.shared) != countShared(want[i-1].Anchor, want[i].Anchor) {
			t.Fatalf("anchors %q and %q share %d bytes, the entry says %d",
				want[i-1].Anchor, want[i].Anchor, countShared(want[i-1].Anchor, want[i].Anchor), e.shared)
		}
	}
}

// distinctPatterns returns the distinct patterns that are not empty in the order of Pattern.compare, each with its
// highest rank.
func distinctPatterns(rules []Rule, order []int32) []ranked {
	highest := map[Pattern]Rank{}
	for pos, i := range order {
		if r := rules[i]; r.Pattern != "" {
			rank := Rank(pos+1) << 1
			if r.Allow {
				rank++
			}
			highest[ParsePattern(r.Pattern)] = rank
		}
	}
	all := make([]ranked, 0, len(highest))
	for p, rank := range highest {
		all = append(all, ranked{Pattern: p, rank: rank})
	}
	slices.SortFunc(all, func(x, y ranked) int { return x.compare(y.Pattern) })
	return all
}

// patternOf returns the pattern of an entry.
func (w *workspace) patternOf(e *entry) Pattern {
	if e.tail >= 0 {
		return w.parsed[e.tail].Pattern
	}
	return Pattern{Anchor: w.anchorOf(e), End: e.tail == noTail}
}

func countShared(x, y string) (n int) {
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}
