package automaton

import (
	"bytes"
	"slices"
	"strings"
)

// A limits says how floating segments are looked for. This is the one place that has them:
// limits.few and limits.parts decide by them.
type limits struct {
	// grouped is the most patterns at one anchor that are in groups; if there are more, those that
	// can be are in an index.
	grouped int

	// tried is the most patterns that one path can meet and that are tried; if there are more
	// anywhere, all of the rules' segments are found by one search.
	tried int
}

// chosen are the limits of [Compile]. A path may have the fingerprints of all patterns, so that
// each is tried (BenchmarkHostile).
var chosen = limits{grouped: groupedLimit, tried: triedLimit}

const (
	// groupedLimit is where two groups cost a path as much as an index, which takes longer to
	// compile. With 12 in place of 24, all real files with more than 12 patterns at an anchor take
	// 1.03 of the time to match.
	groupedLimit = 24

	triedLimit = 896

	// longSegment is the longest segment for which bytes.Index works with vector instructions
	// alone, so that it takes time linear in the path whatever the segment.
	longSegment = 63

	// longSegmentCost is how many patterns more a longer segment counts as: where it nearly occurs
	// again and again, it takes that much longer.
	longSegmentCost = 8

	// longestSegment is the longest for whose length there is room.
	longestSegment = 255

	// manySegments is how many segments count as one pattern more: each may nearly occur maxMisses
	// times before it does, which takes 40 ns.
	manySegments = 8

	// longRest is the longest Pattern.Rest that a header has room for; with its segments' lengths
	// and places it takes at most twice that.
	longRest = endBit/2 - 1

	// endBit marks a pattern with an end anchor, beside its size.
	endBit = 1 << 15
)

// fewInAll reports whether the patterns with floating segments count as so few that a path may meet
// all: mostly so, and then nobody needs to look at which anchors they are.
func (l limits) fewInAll(pats []ranked) bool {
	n := 0
	for i := range pats {
		if n += pats[i].cost(l.tried + 1); n > l.tried {
			return false
		}
	}
	return true
}

// few reports whether no path meets more of the patterns with floating segments, in the order of
// Pattern.compare, than are tried, as many as they count.
func (l limits) few(pats []ranked) bool {
	above := anchors{}
	for i := range pats {
		p := &pats[i]
		if above.add(p.Anchor, p.cost(l.tried+1)) > l.tried {
			return false
		}
	}
	return true
}

// cost returns as how many patterns one counts, or tooMuch if its segments, or all of them
// together, are too long to be tried.
func (p *ranked) cost(tooMuch int) int {
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

// An anchors is the stack of the anchors with floating segments that a path passes on its way to
// the last one, as patterns come in order.
type anchors []struct {
	anchor string
	count  int // patterns at this anchor and at those that it starts with
}

// add counts a pattern, and returns the count at its anchor.
func (a *anchors) add(anchor string, n int) int {
	s := *a
	for len(s) > 0 && !strings.HasPrefix(anchor, s[len(s)-1].anchor) {
		s = s[:len(s)-1]
	}
	if len(s) > 0 {
		n += s[len(s)-1].count
	}
	if len(s) == 0 || len(s[len(s)-1].anchor) < len(anchor) {
		s = append(s, struct {
			anchor string
			count  int
		}{anchor, 0})
	}
	s[len(s)-1].count = n
	*a = s
	return n
}

// searchBuilder returns what finds the floating segments if they are too many or too long to be
// tried, else nil.
func (w *workspace) searchBuilder(l limits) *searchBuilder {
	if l.fewInAll(w.parsed) {
		return nil
	}
	pats := w.floating(w.distinct)
	defer clear(pats)
	if l.few(pats) {
		return nil
	}
	return newSearchBuilder(pats)
}

// floating returns the patterns with floating segments among the entries, in their order. They are
// in w.group: the caller clears them once they are written.
func (w *workspace) floating(entries []entry) []ranked {
	w.group = w.group[:0]
	for i := range entries {
		if t := entries[i].tail; t >= 0 {
			w.group = append(w.group, w.parsed[t])
		}
	}
	return w.group
}

// floats writes the patterns with floating segments that share an anchor, and returns what its trie
// node is to say of them.
func (b *builder) floats(entries []entry) (off uint32) {
	if b.search == nil && len(entries) > 1 {
		slices.SortFunc(entries, func(x, y entry) int { return int(y.rank) - int(x.rank) })
	}
	pats := b.floating(entries)
	if b.search != nil {
		off = b.search.addRoot(pats)
	} else {
		off = b.groups(pats)
	}
	clear(pats)
	return off
}

// pattern writes a pattern that is tried: 3 bytes for its rank, 2 for how long the segments are and
// whether the last is at the end of the path, and of each segment its length and the place of its
// window, 1 byte each, and the bytes.
func (b *builder) pattern(p *ranked) {
	at := uint32(len(b.table))
	b.u24(uint32(p.rank))
	b.table = append(b.table, 0, 0)
	p.segments(func(seg string, _ bool) {
		b.table = append(b.table, byte(len(seg)), window(seg))
		b.table = append(b.table, seg...)
	})
	size := uint32(len(b.table)) - at - patternHeader
	if p.End {
		size |= endBit
	}
	b.table[at+3], b.table[at+4] = byte(size), byte(size>>8)
}

// A header is what builder.pattern writes before the segments, and three bytes more.
type header uint64

const patternHeader = 3 + 2

func (t table) headerAt(off uint32) header { return header(t.u64(off)) }

func (h header) rank() Rank   { return Rank(h & (1<<24 - 1)) }
func (h header) size() uint32 { return uint32(h>>24) & (endBit - 1) }
func (h header) atEnd() bool  { return h>>24&endBit != 0 }

// follow reports whether the segments at off, up to end, occur in path one after the other.
func (t table) follow(off, end uint32, path []byte) bool {
	for off < end {
		seg := t.segmentAt(off)
		i := seg.index(path)
		if i < 0 {
			return false
		}
		path = path[i+len(seg.text):]
		off += segmentHeader + uint32(len(seg.text))
	}
	return true
}

// endsWith is follow for a pattern with an end anchor: the last segment is at the end of the path.
func (t table) endsWith(off, end uint32, path []byte) bool {
	for {
		seg := t.segmentAt(off)
		off += segmentHeader + uint32(len(seg.text))
		if off == end {
			return bytes.HasSuffix(path, seg.text)
		}
		i := seg.index(path)
		if i < 0 {
			return false
		}
		path = path[i+len(seg.text):]
	}
}
