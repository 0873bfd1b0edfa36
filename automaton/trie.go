package automaton

import "encoding/binary"

// The anchors form a radix trie. A node is
//
//	flags     1 byte: which of the following there is, and in its two highest bits how many of prefix, exact and floating
//	run       1 byte length, then the bytes that lead on to the node's own place after the label that led to it
//	prefix    3 bytes: the rank of the pattern that matches whatever follows          (if hasPrefix)
//	exact     3 bytes: the rank of the pattern that matches if nothing follows        (if hasExact)
//	floating  3 bytes: the offset of the patterns whose floating segments may follow  (if hasFloating)
//	children  1 byte count less one, a label of 1 byte each, an offset of 3 bytes each (if hasChildren)
//	range     1 byte lowest label, 1 byte how many more there can be, an offset of 3 bytes for each of these, 0 where there
//	          is no child (if hasRange, instead of children)
//
// and its children follow it, each with all below it.
const (
	hasPrefix = 1 << iota
	hasExact
	hasFloating
	hasChildren
	hasRange

	oneOwn = 1 << 6 // in flags, for each of prefix, exact and floating
)

// ownSize returns the size of prefix, exact and floating.
func ownSize(flags byte) uint32 { return 3 * uint32(flags>>6) }

// maxRun is the longest run of a node; a longer one goes on in an only child.
const maxRun = 255

// node writes the node for the entries lo to hi, whose anchors share their first depth bytes, and
// all below it.
func (b *builder) node(lo, hi, depth int) {
	if lo+1 == hi && b.leaf(&b.distinct[lo], depth) {
		return
	}
	run := b.run(lo, hi, depth)
	depth += len(run)
	at := len(b.table)
	b.table = append(b.table, 0, byte(len(run)))
	b.table = append(b.table, run...)
	var flags byte
	for ; lo < hi && b.distinct[lo].endsAt(depth) && b.distinct[lo].tail < 0; lo++ { // prefix, exact, and then floating
		flags += b.distinct[lo].flag()
		b.u24(uint32(b.distinct[lo].rank))
	}
	floating := lo
	for lo < hi && b.distinct[lo].endsAt(depth) {
		lo++
	}
	slot := len(b.table)
	if floating < lo {
		flags += b.distinct[floating].flag()
		b.u24(0)
	}
	slots, form := b.children(lo, hi, depth)
	b.table[at] = flags | form
	if floating < lo {
		b.table.putU24(uint32(slot), b.floats(b.distinct[floating:lo]))
	}
	for i := uint32(0); lo < hi; i++ {
		next := b.sibling(lo, hi, depth)
		if form == hasRange {
			i = uint32(b.anchorOf(&b.distinct[lo])[depth] - b.table[slots-2])
		}
		b.table.putU24(slots+3*i, uint32(len(b.table)))
		b.node(lo, next, depth+1)
		lo = next
	}
}

// leaf writes the node for a single entry, as most are, and reports whether the short way will do:
// it has no floating segments, and a run of one node.
func (b *builder) leaf(e *entry, depth int) bool {
	n := int(e.anchor) - depth
	if n > maxRun || e.tail >= 0 {
		return false
	}
	b.table = append(b.table, e.flag(), byte(n))
	b.table = append(b.table, b.anchorOf(e)[depth:]...)
	b.u24(uint32(e.rank))
	return true
}

// u24 is appendU24 that grows the table in place: no pointer is written, so no write barrier is due
// while garbage is collected.
func (b *builder) u24(v uint32) { b.table = append(b.table, byte(v), byte(v>>8), byte(v>>16)) }
func (b *builder) u16(v int)    { b.table = binary.LittleEndian.AppendUint16(b.table, uint16(v)) }
func (b *builder) u64(v uint64) { b.table = binary.LittleEndian.AppendUint64(b.table, v) }

// run returns what the anchors of lo to hi have in common from depth on, at most maxRun bytes.
func (b *builder) run(lo, hi, depth int) string {
	first := b.anchorOf(&b.distinct[lo])
	end := min(len(first), depth+maxRun)
	for i := lo + 1; i < hi; i++ {
		end = min(end, int(b.distinct[i].shared))
	}
	return first[depth:end]
}

// children writes the children's labels, leaves room for their offsets, and returns where that is
// and the flag of the form.
func (b *builder) children(lo, hi, depth int) (slots uint32, form byte) {
	if lo == hi {
		return 0, 0
	}
	at := len(b.table)
	b.table = append(b.table, 0)
	for lo < hi {
		b.table = append(b.table, b.anchorOf(&b.distinct[lo])[depth])
		lo = b.sibling(lo, hi, depth)
	}
	labels := b.table[at+1:]
	n, first := len(labels), labels[0]
	form = hasChildren
	b.table[at] = byte(n - 1)
	if more := labels[n-1] - first; n > leastRange && int(more) < maxSpread*n {
		n, form = int(more)+1, hasRange
		b.table = append(b.table[:at], first, more)
	}
	slots = uint32(len(b.table))
	b.table = append(b.table, make([]byte, 3*n)...)
	return slots, form
}

const (
	// leastRange is the most children whose labels are looked through eight at a time, which takes
	// less room than a range.
	leastRange = 8

	// maxSpread is how many times as many labels as there are can be in a range.
	maxSpread = 3
)

// sibling returns the first of the entries after lo whose anchor has another byte at depth, or hi.
func (b *builder) sibling(lo, hi, depth int) int {
	for lo++; lo < hi && int(b.distinct[lo].shared) > depth; lo++ {
	}
	return lo
}
