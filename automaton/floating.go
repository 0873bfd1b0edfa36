package automaton

import (
	"slices"

	"github.com/robobatch/robobatch/automaton/internal/onepass"
)

// limits choose the encoding of patterns with floating segments. Only needsLists and partsOf use them.
type limits struct {
	// grouped is the maximum number of patterns at one anchor that are stored in groups. If there are more, the
	// suitable ones are stored in an index.
	grouped int

	// tried is the maximum total weight of patterns that are tried one by one. If the weight is higher, they are
	// stored in lists, and package onepass finds them.
	tried int
}

// chosen are the limits of [Compile].
var chosen = limits{grouped: groupedLimit, tried: triedLimit}

const (
	// groupedLimit is the number of patterns for which two groups cost a path as much as an index, which takes
	// longer to compile. With 12 instead of 24, matching takes 1.03× the time over all real files with more than 12
	// patterns at an anchor.
	groupedLimit = 24

	// triedLimit bounds the time of a match: a path may contain the fingerprints of all patterns, so that each is
	// tried (BenchmarkHostile). Of 12,015 groups of real files, the heaviest weighs 628, and the second 322.
	triedLimit = 640

	// crowdLimit is the maximum number of patterns that are tried because of a single key of an index, such as all
	// of /*cat*html, /*dog*html and so on. For more, package onepass is faster. The maximum in real files is 14.
	crowdLimit = 24

	// longSegmentCost is the weight of a segment of more than longSegment bytes. If a path nearly contains it again
	// and again, the search takes that many times as long as for a short pattern.
	longSegmentCost = 8

	// manySegments is the number of segments that weigh 1. A path may nearly contain each of them maxMisses times
	// before it contains it, which takes 40 ns.
	manySegments = 8
)

// weight returns the weight of a pattern, or at least tooMuch if a segment, or all segments together, are too long to
// be tried.
func (p *ranked) weight(tooMuch int) int {
	if len(p.Rest) <= longSegment {
		return 1
	}
	if len(p.Rest) > longRest {
		return tooMuch
	}
	cost, segments := 1, 0
	p.segments(func(seg string, _ bool) {
		segments++
		if len(seg) > longestSegment {
			cost = tooMuch
		} else if len(seg) > longSegment {
			cost += longSegmentCost
		}
	})
	return cost + segments/manySegments
}

// needsLists reports whether the patterns with floating segments are too many or too long to be tried one by one, so
// that they are stored in lists. makeEntries must have been called.
func (w *workspace) needsLists(l limits) bool {
	if totalWeight(w.parsed, l.tried) <= l.tried {
		return false
	}
	pats := w.gatherFloating(w.distinct) // without duplicates
	defer clear(pats)
	return totalWeight(pats, l.tried) > l.tried
}

// totalWeight returns the total weight of patterns, or any number above limit if the weight exceeds it.
func totalWeight(pats []ranked, limit int) (weight int) {
	for i := range pats {
		if weight += pats[i].weight(limit + 1); weight > limit {
			break
		}
	}
	return weight
}

// gatherFloating returns the patterns with floating segments among the entries, in their order. The result is in
// w.gathered, which the next call reuses; the caller clears it after use.
func (w *workspace) gatherFloating(entries []entry) []ranked {
	w.gathered = w.gathered[:0]
	for i := range entries {
		if t := entries[i].tail; t >= 0 {
			w.gathered = append(w.gathered, w.parsed[t])
		}
	}
	return w.gathered
}

// Patterns that are not tried one by one are stored in lists, one per anchor, from which a Matcher of package
// onepass is built. The offset in the trie node leads to a list:
//
//	number    3 bytes: the number of lists before this one
//	count     3 bytes: the number of patterns
//	patterns  of each its rank, in 3 bytes; 1 byte that is 1 if it has an end anchor, else 0; the length
//	          of Pattern.Rest, in 3 bytes; and Pattern.Rest

// addFloating writes the patterns with floating segments of one anchor, and returns the offset for their trie node. It
// reorders the entries unless b.listed is set; then it also adds the offset to b.lists.
func (b *builder) addFloating(entries []entry) (off uint32) {
	if !b.listed && len(entries) > 1 {
		slices.SortFunc(entries, func(x, y entry) int { return int(y.rank) - int(x.rank) })
	}
	pats := b.gatherFloating(entries)
	if b.listed {
		off = uint32(len(b.table))
		b.table.addU24(uint32(len(b.lists)))
		b.table.addU24(uint32(len(pats)))
		for i := range pats {
			p := &pats[i]
			b.table.addU24(uint32(p.rank))
			end := byte(0)
			if p.End {
				end = 1
			}
			b.table = append(b.table, end)
			b.table.addU24(uint32(len(p.Rest)))
			b.table = append(b.table, p.Rest...)
		}
		b.lists = append(b.lists, off)
	} else {
		var crowd int
		off, crowd = b.table.addGroups(pats, b.grouped)
		b.crowd = max(b.crowd, crowd)
	}
	clear(pats)
	return off
}

// newSearch returns a Matcher for the lists at these offsets.
func (t table) newSearch(offsets []uint32) *onepass.Matcher {
	lists := make([][]onepass.Pattern, len(offsets))
	for i, off := range offsets {
		lists[i] = make([]onepass.Pattern, t.u24(off+3))
		off += 6
		for j := range lists[i] {
			rest := off + 7
			off = rest + t.u24(off+4)
			lists[i][j] = onepass.Pattern{Rank: t.u24(rest - 7), End: t[rest-4] == 1, Segments: string(t[rest:off])}
		}
	}
	return onepass.New(lists)
}
