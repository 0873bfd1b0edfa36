package automaton

// A validator checks tables that come from a file: that every offset leads to what the builder would have put there,
// and nothing is counted that is not there. Matching then needs no check of its own.
type validator struct {
	table    table
	rules    int
	search   *searchTable // nil if floating segments are tried in turn
	anchors  uint32       // of the search: how many trie nodes were seen that have floating segments
	maxDepth int          // most trie nodes with floating segments on one way
	ways     []way
}

// A way is a trie node whose children are being checked.
type way struct {
	slots uint32 // offsets of the children that are left
	left  int    // how many
	depth int    // trie nodes with floating segments up to here
}

// isRank reports whether v is the rank of a rule.
func (v *validator) isRank(r uint32) bool { return r >= 2 && int(r>>1) <= v.rules }

// checkTable checks the trie, whose nodes lie in the order in which they are met, with nothing between them.
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
		for len(v.ways) > 0 && v.ways[len(v.ways)-1].left == 0 {
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

// checkNode checks the node at off and returns where the next one begins. It notes the children as a way.
func (v *validator) checkNode(off, end uint32, depth int) (next uint32, ok bool) {
	t := v.table
	if off+2 > end || t[off] > hasPrefix|hasExact|hasFloating|hasChildren {
		return 0, false
	}
	flags := t[off]
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
	if flags&hasChildren != 0 {
		if off+1 > end || off+1+4*(uint32(t[off])+1) > end {
			return 0, false
		}
		count := uint32(t[off]) + 1
		v.ways = append(v.ways, way{off + 1 + count, int(count), depth})
		off += 1 + 4*count
	}
	if flags&hasFloating != 0 {
		if off, ok = v.checkFloating(floating, off, end, depth); !ok {
			return 0, false
		}
	}
	return off, off <= end
}

// checkFloating checks what a trie node says of its floating segments. Where they are tried in turn, their list is at off.
func (v *validator) checkFloating(floating, off, end uint32, depth int) (next uint32, ok bool) {
	v.maxDepth = max(v.maxDepth, depth)
	if v.search != nil {
		v.anchors++
		return off, floating == v.anchors-1 && v.search.anchor+floating < uint32(len(v.search.nodes))
	}
	if floating != off || off+1 > end || depth > inTurnLimit {
		return 0, false
	}
	count := v.table[off]
	off++
	for range count {
		if off+inTurnHeader > end || !v.isRank(v.table.u24(off)) {
			return 0, false
		}
		segments := off + inTurnHeader
		size := v.table.u32(off+12) & 0xffff
		if off = segments + size; off > end || size == 0 {
			return 0, false
		}
		for segments < off {
			segments += 1 + uint32(v.table[segments])
		}
		if segments != off {
			return 0, false
		}
	}
	return off, true
}

// checkSearch checks the tables of the search.
func (v *validator) checkSearch(t *searchTable) bool {
	v.search = t
	states, segments, nodes := uint32(len(t.labels)), uint32(len(t.length)), uint32(len(t.nodes))
	if states == 0 || t.anchor > nodes || !isRising(t.first, states) || !isRising(t.ending, t.anchor) {
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
		if t.length[g] < 0 || o > segments || o != 0 && t.length[o-1] >= t.length[g] { // so that the list ends
			return false
		}
	}
	for i := range t.nodes {
		if n := &t.nodes[i]; n.parent >= nodes || n.last >= segments && n.last != noSegment ||
			n.rank != NoMatch && !v.isRank(uint32(n.rank)) || n.exact != NoMatch && !v.isRank(uint32(n.exact)) {
			return false
		}
	}
	return v.checkQueues(t)
}

// checkQueues checks that no sequence node waits in two queues, or for any but its parent: so none waits twice.
func (v *validator) checkQueues(t *searchTable) bool {
	at := uint32(0)
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.queue != at || n.queues > uint32(len(t.queued))-at {
			return false
		}
		at += n.queues
		for k, child := range t.queued[n.queue:at] {
			if child >= t.anchor || t.nodes[child].parent != uint32(i) || t.nodes[child].last == noSegment {
				return false
			}
			if k > 0 && child <= t.queued[n.queue+uint32(k)-1] {
				return false
			}
		}
	}
	if at != uint32(len(t.queued)) {
		return false
	}
	for g := range t.length {
		if t.ending[g+1]-t.ending[g] > crowd && at == 0 {
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
