package automaton

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// A workspace is the working memory of [Compile]. It is reused: most files are small, and allocating it for each
// took a fifth of the compile time.
type workspace struct {
	keys     []uint64 // see rankRules
	rules    []Rule   // the argument of Compile
	order    []int32  // of precedence
	entries  []entry
	spare    []entry  // room for the same number of entries, for merging
	distinct []entry  // one per distinct pattern, in the memory of entries or spare
	parsed   []ranked // the patterns with floating segments, by ascending rank
	gathered []ranked // result of gatherFloating
	buf      []byte   // the table is written here
}

// keptRules is the number of rules from which a workspace is not kept for reuse. Few files have more.
const keptRules = 4096

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// release makes the workspace available for reuse, unless it is large. It drops all references to the memory of the
// caller.
func (w *workspace) release() {
	if len(w.order) > keptRules {
		return
	}
	clear(w.parsed)
	w.rules, w.order, w.parsed = nil, nil, w.parsed[:0]
	workspaces.Put(w)
}

// rankRules returns the indices of the rules in ascending order of precedence: a longer pattern takes precedence
// over a shorter one, Allow over Disallow, and an earlier rule over a later one (RFC 9309 section 2.2.2; the last
// only to make the winner unique).
func (w *workspace) rankRules(rules []Rule) []int32 {
	const lowIndex = 1<<31 - 1
	w.keys = slices.Grow(w.keys[:0], len(rules))
	keys := w.keys[:len(rules)] // length, allow, index: sorting numbers takes half as long as comparing rules
	for i := range rules {
		keys[i] = uint64(len(rules[i].Pattern)-int(rules[i].Uncounted))<<32 | uint64(lowIndex-i)
		if rules[i].Allow {
			keys[i] |= 1 << 31
		}
	}
	slices.Sort(keys)
	order := make([]int32, len(rules))
	for i, key := range keys {
		order[i] = int32(lowIndex - key&lowIndex)
	}
	return order
}

// An entry is a pattern while it is sorted for the trie. It has no pointers, so that moving it does not involve the
// garbage collector. The text of its anchor is in the rules, and rarely needed, because prefix and shared usually
// suffice.
type entry struct {
	prefix uint64 // beginning of the anchor, see prefixOf
	rank   Rank
	anchor int32 // length of the anchor
	shared int32 // length of the common prefix of the anchors of this and the previous entry
	tail   tail
}

// A tail says how a pattern continues after its anchor: it is one of the constants, or the index in
// workspace.parsed of a pattern with floating segments. A trie node has the patterns of its anchor in the order of
// their tails.
type tail int32

const (
	anyTail tail = -2 // anything may follow
	noTail  tail = -1 // the path must end
)

// makeEntries sets w.distinct to an entry for each distinct pattern, in the order of [Pattern.compare], with the
// highest rank of its rules: a rule with the same pattern and a lower rank can never win. order is the result of
// rankRules. Empty patterns get no entry. The workspace keeps rules and order until release.
func (w *workspace) makeEntries(rules []Rule, order []int32) {
	w.rules, w.order = rules, order
	w.entries = slices.Grow(w.entries[:0], len(order))
	all := w.entries[:len(order)]
	n := 0
	for pos, i := range order {
		if rules[i].Pattern == "" {
			continue
		}
		r := &rules[i]
		rank := Rank(pos+1) << 1
		if r.Allow {
			rank |= 1
		}
		anchor, t := r.Pattern, anyTail
		if star := strings.IndexByte(anchor, '*'); star >= 0 {
			anchor = anchor[:star]
			if p := ParsePattern(r.Pattern); p.Rest != "" {
				w.parsed = append(w.parsed, ranked{Pattern: p, rank: rank})
				t = tail(len(w.parsed) - 1)
			}
		} else if last := len(anchor) - 1; anchor[last] == '$' {
			anchor, t = anchor[:last], noTail
		}
		all[n] = entry{prefix: prefixOf(anchor), rank: rank, anchor: int32(len(anchor)), tail: t}
		n++
	}
	w.distinct = w.dropEqual(w.sort(all[:n]))
}

// dropEqual removes all but the first of equal entries, in place, and sets shared in the others. all must be sorted.
func (w *workspace) dropEqual(all []entry) []entry {
	n := 0
	for i := range all {
		e := &all[i]
		if n > 0 {
			last := &all[n-1]
			e.shared = w.sharedBytes(last, e)
			if e.shared == e.anchor && last.anchor == e.anchor && // the anchors are equal
				(last.tail == e.tail || last.tail >= 0 && e.tail >= 0 && w.parsed[last.tail].Pattern == w.parsed[e.tail].Pattern) {
				continue
			}
		}
		if n < i { // otherwise shared is read while it is being written, which takes a tenth of the compile time
			all[n] = *e
		}
		n++
	}
	return all[:n]
}

// endsAt reports whether the anchor has that length.
func (e *entry) endsAt(depth int) bool { return int(e.anchor) == depth }

// anchorOf returns the text of the anchor.
func (w *workspace) anchorOf(e *entry) string {
	return w.rules[w.order[e.rank.Position()]].Pattern[:e.anchor]
}

// sharedBytes returns the length of the longest common prefix of two anchors.
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

// prefixLen is the number of bytes of an anchor in entry.prefix.
const prefixLen = 8

// prefixOf returns the first eight bytes of an anchor as a number, padded with zeros. If two numbers differ, they
// have the order of the anchors.
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

// runLength is the number of entries that are sorted by insertion, without a function call per comparison. Most
// files have no more entries. The compile time is the same with 16 and with 32.
const runLength = 24

// sort sorts entries by pattern. all must be in ascending order of rank; of equal patterns, the highest rank comes
// first in the result. Runs are sorted by insertion and then merged. The result is in the memory of all or of w.spare.
func (w *workspace) sort(all []entry) []entry {
	for lo := 0; lo < len(all); lo += runLength {
		w.sortRun(all[lo:min(lo+runLength, len(all))])
	}
	if len(all) <= runLength {
		return all
	}
	w.spare = slices.Grow(w.spare[:0], len(all))
	to := w.spare[:len(all)]
	for n := runLength; n < len(all); n *= 2 {
		for lo := 0; lo < len(all); lo += 2 * n {
			mid, hi := min(lo+n, len(all)), min(lo+2*n, len(all))
			w.merge(to[lo:lo:hi], all[lo:mid], all[mid:hi])
		}
		all, to = to, all
	}
	return all
}

// sortRun sorts one run by insertion. Equal patterns are reversed, so that the highest rank comes first.
func (w *workspace) sortRun(run []entry) {
	for i := 1; i < len(run); i++ {
		j := i
		for j > 0 && !w.less(&run[j-1], &run[i]) {
			j--
		}
		if j < i {
			e := run[i]
			copy(run[j+1:i+1], run[j:i])
			run[j] = e
		}
	}
}

// merge merges two sorted runs and appends them to dst, which must have room for them. The ranks of y are higher
// than those of x.
func (w *workspace) merge(dst, x, y []entry) {
	for len(x) > 0 && len(y) > 0 {
		if w.less(&x[0], &y[0]) {
			dst, x = append(dst, x[0]), x[1:]
		} else {
			dst, y = append(dst, y[0]), y[1:]
		}
	}
	_ = append(append(dst, x...), y...)
}

// less reports whether the pattern of x sorts before that of y.
func (w *workspace) less(x, y *entry) bool {
	return x.prefix < y.prefix || x.prefix == y.prefix && w.compare(x, y) < 0
}

// compare is [Pattern.compare] for entries whose prefix is equal.
func (w *workspace) compare(x, y *entry) int {
	if x.anchor > prefixLen || y.anchor > prefixLen {
		if c := strings.Compare(w.anchorOf(x), w.anchorOf(y)); c != 0 {
			return c
		}
	}
	if x.anchor != y.anchor { // they differ in zero bytes, or one is empty
		return cmp.Compare(x.anchor, y.anchor)
	}
	if x.tail < 0 || y.tail < 0 {
		return cmp.Compare(x.tail, y.tail)
	}
	return w.parsed[x.tail].compare(w.parsed[y.tail].Pattern)
}
