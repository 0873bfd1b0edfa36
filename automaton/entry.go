package automaton

import (
	"math/bits"
	"slices"
	"strings"
)

// An entry is a pattern on its way into the trie. It holds no pointers, so that moving it about
// costs the garbage collector nothing: the text of its anchor is looked up in the rules, and
// seldom, as prefix and shared mostly do instead.
type entry struct {
	prefix uint64 // of the anchor, see prefixOf
	rank   Rank
	anchor int32 // length of the anchor
	shared int32 // how many bytes the anchor and that of the entry before it both start with
	tail   tail
}

// A tail is what a pattern has behind its anchor: one of the constants, or the index in
// workspace.parsed of a pattern with floating segments. Those of one anchor come in the order of
// their tails in a trie node.
type tail int32

const (
	anyTail tail = -2 // whatever follows
	noTail  tail = -1 // the end of the path
)

// enter sets w.distinct to an entry for each distinct pattern, in the order of [Pattern.compare],
// each with the highest rank that any rule gives it: a rule with the same pattern and a lower rank
// can never win.
func (w *workspace) enter(rules []Rule, order []int32) {
	w.rules, w.order = rules, order
	w.entries = slices.Grow(w.entries[:0], len(order))
	all := w.entries[:len(order)]
	n := 0
	for pos, i := range order {
		if rules[i].Pattern != "" {
			w.describe(&all[n], &rules[i], pos)
			n++
		}
	}
	w.distinct = w.unique(w.sort(all[:n]))
}

// unique drops all but the first of equal entries, in place, and says of the others what their
// anchors share.
func (w *workspace) unique(all []entry) []entry {
	n := 0
	for i := range all {
		e := &all[i]
		if n > 0 {
			e.shared = w.sharedBytes(&all[n-1], e)
			if w.equal(&all[n-1], e) {
				continue
			}
		}
		if n < i { // else it would be read while shared is still being written: a tenth of the time to compile
			all[n] = *e
		}
		n++
	}
	return all[:n]
}

// describe sets e to the entry of a rule, given its position in the order of precedence.
func (w *workspace) describe(e *entry, r *Rule, pos int) {
	rank := Rank(pos+1) << 1
	if r.Allow {
		rank |= 1
	}
	anchor, t := r.Pattern, anyTail
	if star := strings.IndexByte(anchor, '*'); star >= 0 {
		anchor = anchor[:star]
		if p := ParsePattern(r.Pattern); p.Rest != "" {
			t = w.note(ranked{Pattern: p, rank: rank})
		}
	} else if last := len(anchor) - 1; anchor[last] == '$' {
		anchor, t = anchor[:last], noTail
	}
	*e = entry{prefix: prefixOf(anchor), rank: rank, anchor: int32(len(anchor)), tail: t}
}

// note keeps a pattern with floating segments.
func (w *workspace) note(p ranked) tail {
	w.parsed = append(w.parsed, p)
	return tail(len(w.parsed) - 1)
}

// endsAt reports whether the anchor has that length.
func (e *entry) endsAt(depth int) bool { return int(e.anchor) == depth }

// flag returns what tells of the pattern in its trie node.
func (e *entry) flag() byte {
	switch e.tail {
	case anyTail:
		return hasPrefix + oneOwn
	case noTail:
		return hasExact + oneOwn
	}
	return hasFloating + oneOwn
}

// anchorOf returns the text of the anchor.
func (w *workspace) anchorOf(e *entry) string {
	return w.rules[w.order[e.rank.Position()]].Pattern[:e.anchor]
}

// equal reports whether two entries are of equal patterns, given how much their anchors share.
func (w *workspace) equal(x, y *entry) bool {
	return y.shared == y.anchor && x.anchor == y.anchor &&
		(x.tail == y.tail || x.tail >= 0 && y.tail >= 0 && w.parsed[x.tail].Pattern == w.parsed[y.tail].Pattern)
}

// sharedBytes returns how many bytes both anchors start with.
func (w *workspace) sharedBytes(x, y *entry) int32 {
	most := min(x.anchor, y.anchor)
	if x.prefix != y.prefix {
		return min(most, int32(bits.LeadingZeros64(x.prefix^y.prefix)/8))
	}
	n := min(most, prefixLen)
	if n < most {
		for p, q := w.anchorOf(x), w.anchorOf(y); n < most && p[n] == q[n]; {
			n++
		}
	}
	return n
}

// prefixLen is how many bytes of an anchor are its prefix.
const prefixLen = 8

// prefixOf returns the first eight bytes of an anchor as a number, zeros in the place of those that
// it lacks: where numbers differ, they are ordered as the anchors are.
func prefixOf(s string) (n uint64) {
	if len(s) >= prefixLen { // one load
		return uint64(s[7]) | uint64(s[6])<<8 | uint64(s[5])<<16 | uint64(s[4])<<24 |
			uint64(s[3])<<32 | uint64(s[2])<<40 | uint64(s[1])<<48 | uint64(s[0])<<56
	}
	for i := range len(s) {
		n |= uint64(s[i]) << (56 - 8*i)
	}
	return n
}
