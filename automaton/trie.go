package automaton

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A builder writes the table: the trie, and the patterns with floating segments.
type builder struct {
	limits
	*workspace
	table  table    // in workspace.buf
	listed bool     // patterns with floating segments are in lists, see addFloating
	lists  []uint32 // the offsets of the lists
	crowd  int      // the largest crowd of an index, see addIndex
}

// The anchors form a radix trie. A node is
//
//	flags     1 byte: which of the following exist; its two highest bits: how many of prefix, exact and floating
//	run       1 byte length, then the bytes of the anchors from the label that led here to the node
//	prefix    3 bytes: the rank of the pattern that matches whatever follows          (if hasPrefix)
//	exact     3 bytes: the rank of the pattern that matches if nothing follows        (if hasExact)
//	floating  3 bytes: the offset of the patterns whose floating segments may follow  (if hasFloating)
//	children  1 byte count minus one, a label of 1 byte each, an offset of 3 bytes each (if hasChildren)
//	range     1 byte lowest label, 1 byte highest label minus it, an offset of 3 bytes for each of these, 0 if there
//	          is not a child (if hasRange, instead of children)
//
// Its children follow it, each with all nodes below it.
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

// maxRun is the maximum length of a node's run; a longer one continues in an only child.
const maxRun = 255

// addNode writes the node for the entries lo to hi, whose anchors share their first depth bytes, and all nodes
// below it.
func (b *builder) addNode(lo, hi, depth int) {
	if lo+1 == hi && b.addLeaf(&b.distinct[lo], depth) {
		return
	}
	run := b.run(lo, hi, depth)
	depth += len(run)
	at := len(b.table)
	b.table = append(b.table, 0, byte(len(run)))
	b.table = append(b.table, run...)
	var flags byte
	for ; lo < hi && b.distinct[lo].endsAt(depth) && b.distinct[lo].tail < 0; lo++ { // prefix, exact, then floating
		flags += b.distinct[lo].flag()
		b.table.addU24(uint32(b.distinct[lo].rank))
	}
	floating := lo
	for lo < hi && b.distinct[lo].endsAt(depth) {
		lo++
	}
	slot := len(b.table)
	if floating < lo {
		flags += b.distinct[floating].flag()
		b.table.addU24(0)
	}
	slots, form := b.addChildren(lo, hi, depth)
	b.table[at] = flags | form
	if floating < lo {
		b.table.putU24(uint32(slot), b.addFloating(b.distinct[floating:lo]))
	}
	for i := uint32(0); lo < hi; i++ {
		next := b.nextSibling(lo, hi, depth)
		if form == hasRange {
			i = uint32(b.anchorOf(&b.distinct[lo])[depth] - b.table[slots-2])
		}
		b.table.putU24(slots+3*i, uint32(len(b.table)))
		b.addNode(lo, next, depth+1)
		lo = next
	}
}

// flag returns the flag in a trie node for the pattern.
func (e *entry) flag() byte {
	switch e.tail {
	case anyTail:
		return hasPrefix + oneOwn
	case noTail:
		return hasExact + oneOwn
	}
	return hasFloating + oneOwn
}

// addLeaf writes the node of a single entry without floating segments whose run fits in one node. Most nodes are such
// leaves. It reports whether it wrote the node; otherwise it changes nothing.
func (b *builder) addLeaf(e *entry, depth int) bool {
	n := int(e.anchor) - depth
	if n > maxRun || e.tail >= 0 {
		return false
	}
	b.table = append(b.table, e.flag(), byte(n))
	b.table = append(b.table, b.anchorOf(e)[depth:]...)
	b.table.addU24(uint32(e.rank))
	return true
}

// run returns the bytes that the anchors of the entries lo to hi have in common from depth on, at most maxRun.
func (b *builder) run(lo, hi, depth int) string {
	first := b.anchorOf(&b.distinct[lo])
	end := min(len(first), depth+maxRun)
	for i := lo + 1; i < hi; i++ {
		end = min(end, int(b.distinct[i].shared))
	}
	return first[depth:end]
}

// addChildren writes the labels of the children of a node, and reserves space for their offsets. The children are the
// entries lo to hi by their byte at depth. It returns the offset of this space, and the flag of the form; both are 0 if
// there are no children.
func (b *builder) addChildren(lo, hi, depth int) (slots uint32, form byte) {
	if lo == hi {
		return 0, 0
	}
	at := len(b.table)
	b.table = append(b.table, 0)
	for lo < hi {
		b.table = append(b.table, b.anchorOf(&b.distinct[lo])[depth])
		lo = b.nextSibling(lo, hi, depth)
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
	// leastRange is the maximum number of children whose labels are searched, eight at a time; this takes less
	// space than a range.
	leastRange = 8

	// maxSpread bounds the width of a range, as a multiple of the number of its labels.
	maxSpread = 3
)

// nextSibling returns the first entry after lo whose anchor has another byte at depth, or hi.
func (b *builder) nextSibling(lo, hi, depth int) int {
	for lo++; lo < hi && int(b.distinct[lo].shared) > depth; lo++ {
	}
	return lo
}

// walkGeneric follows the path through the trie. best is the highest rank of the matching patterns without floating
// segments. It writes to nodes, which must have room, the n nodes before the end of the path with patterns whose
// floating segments must be found in the rest of the path. read is the number of bytes of the path that were read, plus
// one if the end was reached.
func (t table) walkGeneric(path []byte, nodes []pending) (best Rank, n, read int) {
	if len(t) == 0 {
		return NoMatch, 0, 0
	}
	off, pos := uint32(0), 0
	for {
		flags, run := t[off], int(t[off+1])
		if run <= 8 && len(path)-pos >= 8 {
			if x := (t.u64(off+2) ^ binary.LittleEndian.Uint64(path[pos:])) << (64 - 8*run); x != 0 {
				return best, n, pos + run - 8 + bits.TrailingZeros64(x)/8 + 1
			}
		} else if same := t.sharedRun(off+2, run, path[pos:]); same < run {
			return best, n, pos + same + 1
		}
		off += 2 + uint32(run)
		pos += run
		if flags&hasPrefix != 0 {
			best = max(best, Rank(t.u24(off)))
		}
		if pos == len(path) {
			if flags&hasExact != 0 {
				best = max(best, Rank(t.u24(off+3*uint32(flags&hasPrefix))))
			}
			return best, n, pos + 1
		}
		if flags&hasFloating != 0 {
			nodes[n] = pending{t.u24(off + ownSize(flags) - 3), uint32(pos), 0}
			n++
		}
		off += ownSize(flags)
		b := path[pos]
		pos++
		var slot uint32
		switch {
		case flags&hasRange != 0:
			i := uint32(b - t[off])
			if i > uint32(t[off+1]) {
				return best, n, pos
			}
			slot = off + 2 + 3*i
		case flags&hasChildren != 0: // eight labels at a time: a byte that becomes zero is at the position of the label
			count := uint32(t[off]) + 1
			off++
			x := t.u64(off) ^ uint64(b)*ones
			i := uint32(bits.TrailingZeros64((x-ones)&^x&(ones<<7))) / 8
			if count > 8 && i == 8 {
				i = uint32(bytes.IndexByte(t[off:off+count], b))
			}
			if i >= count {
				return best, n, pos
			}
			slot = off + count + 3*i
		default:
			return best, n, pos
		}
		if off = t.u24(slot); off == 0 {
			return best, n, pos
		}
	}
}

// sharedRun returns how many of the n bytes at off are a prefix of the path.
func (t table) sharedRun(off uint32, n int, path []byte) (same int) {
	if len(path) >= n && string(path[:n]) == string(t[off:off+uint32(n)]) {
		return n
	}
	for same < len(path) && path[same] == t[off+uint32(same)] {
		same++
	}
	return same
}
