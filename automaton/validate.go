package automaton

import (
	"math/bits"
)

// A validator checks tables that come from a file: that every offset leads to what the builder
// would have put there, and nothing is counted that is not there. Matching then needs no check of
// its own.
type validator struct {
	table    table
	rules    int
	search   *searchTable // nil if floating segments are tried
	anchors  uint32       // of the search: how many trie nodes were seen that have floating segments
	maxDepth int          // most trie nodes with floating segments on one way
	ways     []way
}

// A way is a trie node whose children are being checked.
type way struct {
	slots uint32 // offsets of the children that are left
	left  int    // how many
	gaps  bool   // whether some may be missing
	depth int    // trie nodes with floating segments up to here
}

// isDone reports whether no children are left, after passing over those that are missing.
func (w *way) isDone(t table) bool {
	for w.gaps && w.left > 0 && t.u24(w.slots) == 0 {
		w.slots += 3
		w.left--
	}
	return w.left == 0
}

// isRank reports whether v is the rank of a rule.
func (v *validator) isRank(r uint32) bool { return r >= 2 && int(r>>1) <= v.rules }

// checkTable checks the trie, whose nodes lie in the order in which they are met, with nothing
// between them.
func (v *validator) checkTable() bool {
	if len(v.table) == 0 {
		return v.search == nil
	}
	if len(v.table) < padding || len(v.table) > maxTable {
		return false
	}
	end := uint32(len(v.table) - padding)
	for off, depth := uint32(0), 0; ; {
		next, ok := v.checkNode(off, end, depth)
		if !ok {
			return false
		}
		off = next
		for len(v.ways) > 0 && v.ways[len(v.ways)-1].isDone(v.table) {
			v.ways = v.ways[:len(v.ways)-1]
		}
		if len(v.ways) == 0 {
			return off == end
		}
		w := &v.ways[len(v.ways)-1]
		if v.table.u24(w.slots) != off {
			return false
		}
		w.slots += 3
		w.left--
		depth = w.depth
	}
}

// checkNode checks the node at off and returns where the next one begins. It notes the children as
// a way.
func (v *validator) checkNode(off, end uint32, depth int) (next uint32, ok bool) {
	t := v.table
	if off+2 > end {
		return 0, false
	}
	flags := t[off]
	if own := flags & (hasPrefix | hasExact | hasFloating); bits.OnesCount8(own) != int(flags>>6) || flags&(oneOwn>>1) != 0 {
		return 0, false
	}
	off += 2 + uint32(t[off+1])
	for _, flag := range []byte{hasPrefix, hasExact} {
		if flags&flag == 0 {
			continue
		}
		if off+3 > end || !v.isRank(t.u24(off)) {
			return 0, false
		}
		off += 3
	}
	floating := uint32(0)
	if flags&hasFloating != 0 {
		if off+3 > end {
			return 0, false
		}
		floating = t.u24(off)
		off += 3
		depth++
	}
	switch flags & (hasChildren | hasRange) {
	case hasChildren:
		if off+1 > end || off+1+4*(uint32(t[off])+1) > end {
			return 0, false
		}
		count := uint32(t[off]) + 1
		v.ways = append(v.ways, way{off + 1 + count, int(count), false, depth})
		off += 1 + 4*count
	case hasRange:
		if off+2 > end || off+2+3*(uint32(t[off+1])+1) > end {
			return 0, false
		}
		span := uint32(t[off+1]) + 1
		v.ways = append(v.ways, way{off + 2, int(span), true, depth})
		off += 2 + 3*span
	case hasChildren | hasRange:
		return 0, false
	}
	if flags&hasFloating != 0 {
		if off, ok = v.checkFloating(floating, off, end, flags, depth); !ok {
			return 0, false
		}
	}
	return off, off <= end
}

// checkFloating checks what a trie node says of its floating segments. Where they are tried, what
// there is of them is at off.
func (v *validator) checkFloating(floating, off, end uint32, flags byte, depth int) (next uint32, ok bool) {
	v.maxDepth = max(v.maxDepth, depth)
	if v.search != nil {
		v.anchors++
		return off, floating == v.anchors-1 && v.search.anchor+floating < uint32(len(v.search.nodes))
	}
	groups := 1
	for ; ; groups++ {
		more := floating < end && v.table[floating]&moreGroups != 0
		if more {
			off += 3
		}
		if floating != off || off+groupHeader > end {
			return 0, false
		}
		if off, ok = v.checkGroup(off, end); !ok {
			return 0, false
		}
		if !more {
			break
		}
		floating = v.table.u24(floating - 3)
	}
	depth += groups - 1
	if flags&(hasChildren|hasRange) != 0 {
		v.ways[len(v.ways)-1].depth = depth
	}
	return off, depth <= triedLimit
}

// checkGroup checks the group at off.
func (v *validator) checkGroup(off, end uint32) (next uint32, ok bool) {
	switch t, count := v.table, uint32(v.table[off]&^moreGroups); count {
	case 0:
		return v.checkIndex(off, end)
	case 1:
		if off+printedHeader > end || t[off+printedHeader-1]-1 >= printSize {
			return 0, false
		}
		return v.checkPattern(off+printedHeader, end)
	default: // the masks and the needs may be any
		offsets := off + maskedHeader + count
		if count > groupSize || offsets+3*count > end {
			return 0, false
		}
		return v.checkPatterns(offsets, count, end)
	}
}

// checkIndex checks the index at off: that the filter's bits lead to entries, and these to patterns.
func (v *validator) checkIndex(off, end uint32) (next uint32, ok bool) {
	if off+indexHeader > end || v.table[off+indexLog] > maxIndexLog {
		return 0, false
	}
	x := v.table.indexAt(off)
	if x.count > triedLimit || x.offsets+3*x.count > end || !v.checkHashes(off, &x) {
		return 0, false
	}
	for e := x.entries; e < x.offsets; e += entrySize {
		if v.table.u16(e+8) >= x.count {
			return 0, false
		}
	}
	return v.checkPatterns(x.offsets, x.count, end)
}

// checkHashes checks that the hashes in the filter of an index are counted, and that what they say
// are their first entries never falls, and ends with the entries.
func (v *validator) checkHashes(off uint32, x *index) bool {
	t, before, last := v.table, uint32(0), uint32(0)
	for w := uint32(0); x.before+2*w < x.first; w++ {
		if t.u16(x.before+2*w) != before {
			return false
		}
		before += uint32(bits.OnesCount64(t.u64(off + indexHeader + 8*w)))
	}
	for at := x.first; at < x.entries; at += 2 {
		first := t.u16(at)
		if first < last {
			return false
		}
		last = first
	}
	return x.first+2*before+2 == x.entries && last == x.count
}

// checkPatterns checks that offsets lead to one pattern after the other behind them.
func (v *validator) checkPatterns(offsets, count, end uint32) (next uint32, ok bool) {
	next = offsets + 3*count
	for n := range count {
		if v.table.u24(offsets+3*n) != next {
			return 0, false
		}
		if next, ok = v.checkPattern(next, end); !ok {
			return 0, false
		}
	}
	return next, true
}

// checkPattern checks the pattern at off, as builder.pattern writes it.
func (v *validator) checkPattern(off, end uint32) (next uint32, ok bool) {
	if off+patternHeader > end {
		return 0, false
	}
	h := v.table.headerAt(off)
	off += patternHeader
	next = off + h.size()
	if !v.isRank(uint32(h.rank())) || h.size() == 0 || next > end {
		return 0, false
	}
	for off < next {
		size, window := uint32(v.table[off]), uint32(v.table[off+1]) // within the table, which has its padding behind next
		if size == 0 || window+min(size, printSize) > size {
			return 0, false
		}
		off += segmentHeader + size
	}
	return next, off == next
}

// checkSearch checks the tables of the search.
func (v *validator) checkSearch(t *searchTable) bool {
	v.search = t
	states, segments, nodes := uint32(len(t.labels)), uint32(len(t.length)), uint32(len(t.nodes))
	if states == 0 || segments >= chainEnd || t.anchor > nodes || !isRising(t.first, states) || !isRising(t.ending, t.anchor) {
		return false
	}
	for _, s := range t.start {
		if s >= states {
			return false
		}
	}
	for s := range states {
		if t.fail[s] >= max(s, 1) || t.out[s] > segments { // so that failing ends
			return false
		}
	}
	for g, o := range t.shorter {
		if t.length[g] < 1 || o > segments || o != 0 && t.length[o-1] >= t.length[g] { // so that the list ends
			return false
		}
	}
	return v.checkNodes(t) && v.checkChains(t)
}

// checkNodes checks the sequence nodes: each is among those that its last segment reaches, and no
// other.
func (v *validator) checkNodes(t *searchTable) bool {
	isRank := func(r Rank) bool { return r == NoMatch || v.isRank(uint32(r)) }
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.parent >= uint32(len(t.nodes)) || !isRank(n.rank) || !isRank(n.exact) {
			return false
		}
		if uint32(i) >= t.anchor {
			if n.last != noSegment {
				return false
			}
			continue
		}
		if n.last >= uint32(len(t.length)) || uint32(i) < t.ending[n.last] || uint32(i) >= t.ending[n.last+1] {
			return false
		}
	}
	return true
}

// checkChains checks that the chains lie one after the other, in the order of the nodes where they
// begin, and that each leads from there to a node that is not listed.
func (v *validator) checkChains(t *searchTable) bool {
	start, at := uint32(0), uint32(0)
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.start != start || n.chains > uint32(len(t.starts))-start {
			return false
		}
		start += n.chains
		for _, begin := range t.starts[n.start:start] {
			next, ok := v.checkChain(t, begin, uint32(i))
			if begin != at || !ok {
				return false
			}
			at = next
		}
	}
	return start == uint32(len(t.starts)) && at == uint32(len(t.chains)) && v.checkListed(t)
}

// checkChain checks the chain at a place that begins at a node, and returns where the next one
// does.
func (v *validator) checkChain(t *searchTable, at, node uint32) (next uint32, ok bool) {
	begin := at
	for at < uint32(len(t.chains)) && t.chains[at] < uint32(len(t.length)) {
		at++
	}
	if at == begin || at >= uint32(len(t.chains)) || t.chains[at] < chainEnd {
		return 0, false
	}
	end := t.chains[at] - chainEnd
	if end >= t.anchor || t.nodes[end].parent != node || t.nodes[end].last != t.chains[at-1] {
		return 0, false
	}
	return at + 1, end >= t.listed[t.nodes[end].last]
}

// checkListed checks that few of the nodes that each segment reaches are listed.
func (v *validator) checkListed(t *searchTable) bool {
	for g, listed := range t.listed {
		if listed < t.ending[g] || listed > t.ending[g+1] || listed-t.ending[g] > crowd {
			return false
		}
	}
	return true
}

// isRising reports whether the numbers never fall, and end at most at limit.
func isRising(list []uint32, limit uint32) bool {
	last := uint32(0)
	for _, n := range list {
		if n < last || n > limit {
			return false
		}
		last = n
	}
	return true
}
