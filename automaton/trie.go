package automaton

// The anchors form a radix trie. A node is
//
//	flags     1 byte: which of the following there is
//	run       1 byte length, then the bytes that lead on to the node's own place after the label that led to it
//	prefix    3 bytes: the rank of the pattern that matches whatever follows          (if hasPrefix)
//	exact     3 bytes: the rank of the pattern that matches if nothing follows        (if hasExact)
//	floating  3 bytes: the offset of the patterns whose floating segments may follow  (if hasFloating)
//	children  1 byte count less one, a label of 1 byte each, an offset of 3 bytes each (if hasChildren)
//
// and its children follow it, each with all below it.
const (
	hasPrefix = 1 << iota
	hasExact
	hasFloating
	hasChildren
)

// maxRun is the longest run of a node; a longer one goes on in an only child.
const maxRun = 255

// node writes the node for the patterns lo to hi, whose anchors share their first depth bytes, and all below it.
func (b *builder) node(lo, hi, depth int) {
	run := b.run(lo, hi, depth)
	depth += len(run)
	at := len(b.table)
	b.table = append(b.table, 0, byte(len(run)))
	b.table = append(b.table, run...)
	var flags byte
	for lo < hi && len(b.pats[lo].Anchor) == depth { // these come first: prefix, exact, floating
		p := &b.pats[lo]
		if p.Rest != "" {
			break
		}
		flags |= b.ownRank(p)
		lo++
	}
	firstFloating := lo
	for lo < hi && len(b.pats[lo].Anchor) == depth {
		lo++
	}
	lastFloating, slot := lo, len(b.table)
	if firstFloating < lastFloating {
		flags |= hasFloating
		b.table = b.table.appendU24(0)
	}
	if lo < hi {
		flags |= hasChildren
	}
	b.table[at] = flags
	slots := b.labels(lo, hi, depth)
	if firstFloating < lastFloating {
		b.table.putU24(uint32(slot), b.floating(b.pats[firstFloating:lastFloating]))
	}
	for i := 0; lo < hi; i++ {
		next := b.sibling(lo, hi, depth)
		b.table.putU24(uint32(slots+3*i), uint32(len(b.table)))
		b.node(lo, next, depth+1)
		lo = next
	}
}

// run returns what the anchors of lo to hi have in common from depth on, at most maxRun bytes.
func (b *builder) run(lo, hi, depth int) string {
	first, last := b.pats[lo].Anchor[depth:], b.pats[hi-1].Anchor[depth:] // sorted, so these two tell
	n := 0
	for n < len(first) && n < len(last) && n < maxRun && first[n] == last[n] {
		n++
	}
	return first[:n]
}

// ownRank writes the rank of a pattern that ends at the node, and returns the flag that tells it.
func (b *builder) ownRank(p *ranked) byte {
	b.table = b.table.appendU24(uint32(p.rank))
	if p.End {
		return hasExact
	}
	return hasPrefix
}

// labels writes the children's labels, leaves room for their offsets, and returns where that is.
func (b *builder) labels(lo, hi, depth int) (slots int) {
	if lo == hi {
		return 0
	}
	count := len(b.table)
	b.table = append(b.table, 0)
	for lo < hi {
		b.table = append(b.table, b.pats[lo].Anchor[depth])
		lo = b.sibling(lo, hi, depth)
	}
	n := len(b.table) - count - 1
	b.table[count] = byte(n - 1)
	slots = len(b.table)
	b.table = append(b.table, make([]byte, 3*n)...)
	return slots
}

// sibling returns the first of the patterns after lo whose anchor has another byte at depth, or hi.
func (b *builder) sibling(lo, hi, depth int) int {
	label := b.pats[lo].Anchor[depth]
	for lo < hi && b.pats[lo].Anchor[depth] == label {
		lo++
	}
	return lo
}
