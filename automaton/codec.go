package automaton

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrEncoding is the error of bytes that do not encode an automaton.
var ErrEncoding = errors.New("not the encoding of an automaton")

// AppendBinary appends the encoding of the automaton, which [FromBytes] reads. It is a number of 4 bytes, which is
// twice the length of the table, plus 1 if the patterns with floating segments are in lists; then the table.
func (a *Automaton) AppendBinary(dst []byte) []byte {
	head := uint32(len(a.table)) << 1
	if a.search != nil {
		head |= 1
	}
	return append(binary.LittleEndian.AppendUint32(dst, head), a.table...)
}

// FromBytes decodes an automaton that [Automaton.AppendBinary] encoded, with that number of rules. Whatever the
// bytes are, Match of the result terminates without a panic, and its ranks are within that number; if the bytes are
// invalid, the error is ErrEncoding. Time is linear in the bytes. The automaton keeps data, which must not change.
func FromBytes(data []byte, rules int) (*Automaton, error) {
	if len(data) < 4 || int(binary.LittleEndian.Uint32(data)>>1) != len(data)-4 {
		return nil, ErrEncoding
	}
	a := &Automaton{table: data[4:len(data):len(data)]}
	v := validator{table: a.table, rules: rules, listed: data[0]&1 == 1}
	if !v.checkTable() {
		return nil, ErrEncoding
	}
	if v.listed {
		a.search = a.table.newSearch(v.lists)
	}
	return a, nil
}

// A validator checks tables that come from a file: every offset leads to the kind of data that the builder writes
// there, and every count is correct. So matching needs no checks.
type validator struct {
	table  table
	rules  int
	listed bool     // patterns with floating segments are in lists
	lists  []uint32 // the offsets of the lists checked so far
	ways   []way
}

// A way is a trie node whose children are being checked.
type way struct {
	slots uint32 // offset of the offsets of the remaining children
	left  int    // number of remaining children
	gaps  bool   // some offsets may be 0, because the child does not exist
	depth int    // trie nodes with floating segments up to here
}

// isDone skips missing children, and reports whether no children remain to be checked.
func (w *way) isDone(t table) bool {
	for w.gaps && w.left > 0 && t.u24(w.slots) == 0 {
		w.slots += 3
		w.left--
	}
	return w.left == 0
}

// isRank reports whether v is the rank of a rule.
func (v *validator) isRank(r uint32) bool { return r >= 2 && int(r>>1) <= v.rules }

// checkTable checks the whole table. Its nodes must be in the order in which they are visited, without gaps.
func (v *validator) checkTable() bool {
	if len(v.table) == 0 {
		return !v.listed
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

// checkNode checks the node at off with its floating segments, and returns the offset of the next node. It adds the
// children as a way. depth is the number of trie nodes with floating segments above the node.
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

// checkFloating checks the patterns with floating segments of a trie node, which must begin at off, and returns the
// offset of what follows them. floating is the offset that the node has for them. depth includes the node; each further
// group counts as another node, for the children, too.
func (v *validator) checkFloating(floating, off, end uint32, flags byte, depth int) (next uint32, ok bool) {
	if v.listed {
		if floating != off {
			return 0, false
		}
		return v.checkList(off, end)
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

// checkGroup checks the group or the index at off, and returns the offset of what follows.
func (v *validator) checkGroup(off, end uint32) (next uint32, ok bool) {
	switch t, count := v.table, uint32(v.table[off]&^moreGroups); count {
	case 0:
		return v.checkIndex(off, end)
	case 1:
		if off+printedHeader > end || t[off+printedHeader-1]-1 >= printSize {
			return 0, false
		}
		return v.checkPattern(off+printedHeader, end)
	default: // any masks and needs are valid
		offsets := off + maskedHeader + count
		if count > groupSize || offsets+3*count > end {
			return 0, false
		}
		return v.checkPatterns(offsets, count, end)
	}
}

// checkIndex checks the index at off: the bits of the filter must lead to entries, and the entries to patterns. It
// returns the offset of what follows.
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

// checkHashes checks that the number of hashes in the filter of an index is correct, and that the numbers of their
// first entries never decrease and end with the number of all entries.
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

// checkPatterns checks that count offsets, the first of which is at offsets, lead to patterns that follow them without
// gaps. It returns the offset of what follows the patterns.
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

// checkPattern checks the pattern at off, as table.addPattern writes it, and returns the offset of what follows.
func (v *validator) checkPattern(off, end uint32) (next uint32, ok bool) {
	if off+patternHeader > end {
		return 0, false
	}
	h := v.table.headerAt(off)
	off += patternHeader
	next = off + h.size()
	if !v.isRank(uint32(h.ruleRank())) || h.size() == 0 || next > end {
		return 0, false
	}
	for off < next {
		size, window := uint32(v.table[off]), uint32(v.table[off+1]) // inside the table because of its padding
		if size == 0 || window+min(size, printSize) > size {
			return 0, false
		}
		off += segmentHeader + size
	}
	return next, off == next
}

// checkList checks the list at off, and returns the offset of what follows. It adds off to v.lists.
func (v *validator) checkList(off, end uint32) (next uint32, ok bool) {
	t := v.table
	if off+6 > end || t.u24(off) != uint32(len(v.lists)) {
		return 0, false
	}
	v.lists = append(v.lists, off)
	count := t.u24(off + 3)
	off += 6
	for range count {
		if off+7 > end || !v.isRank(t.u24(off)) || t[off+3] > 1 {
			return 0, false
		}
		rest := off + 7
		off = rest + t.u24(off+4)
		if off > end || !isRest(t[rest:off]) {
			return 0, false
		}
	}
	return off, true
}

// isRest reports whether a text is a valid Pattern.Rest, other than "".
func isRest(text []byte) bool {
	if len(text) == 0 || text[0] != '*' || text[len(text)-1] == '*' {
		return false
	}
	for i := 1; i < len(text); i++ {
		if text[i] == '*' && text[i-1] == '*' {
			return false
		}
	}
	return true
}
