package automaton

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// A Scratch is the memory that [Automaton.Match] works in. The zero Scratch is ready; it grows to
// what the largest automaton needs and is then used again and again. It serves any number of
// automata, and one goroutine at a time.
type Scratch struct {
	// The nodes that a path passes, room for one more, as walk writes it, and then the groups.
	pending [2*triedLimit + 1]pending
	search  registers

	candidates candidates
}

// Match returns the rank of the rule that decides the path: the highest of those whose patterns
// match it, or NoMatch.
//
// It takes one pass over the path, and stops where no later byte can change the answer. See the
// package doc for what that costs at worst. Match does not allocate once s has grown.
func (a *Automaton) Match(path []byte, s *Scratch) Rank {
	if a.search != nil {
		return a.matchSearch(path, s)
	}
	best, groups := a.table.sift(path, &s.pending)
	for i := len(groups) - 1; i >= 0; i-- {
		if p := &groups[i]; Rank(a.table.u24(p.group+1)) > best {
			best = a.table.tryFound(p, path, best, &s.candidates)
		}
	}
	return best
}

// Reads returns how many of the first bytes of a path decide what Match returns: it is the same for
// all paths that begin with these. If it depends on where the path ends, or on what stands anywhere
// in it, the number is more than the length of the path; it is [Anywhere] if no path that begins
// with the same byte has a smaller one.
func (a *Automaton) Reads(path []byte, s *Scratch) int {
	nodes := s.pending[:]
	if a.search != nil {
		nodes = a.search.pendingOf(&s.search)
	}
	switch _, n, read := a.table.walkGeneric(path, nodes); {
	case n == 0:
		return read
	case nodes[0].pos <= 1:
		return Anywhere
	}
	return len(path) + 1
}

// Anywhere is what [Automaton.Reads] returns where a pattern has a wildcard behind its first byte.
const Anywhere = math.MaxInt

// matchSearch is Match where the floating segments are searched all at once.
func (a *Automaton) matchSearch(path []byte, s *Scratch) Rank {
	r := &s.search
	nodes := a.search.pendingOf(r)
	best, n := a.table.walk(path, nodes)
	if n == 0 {
		return best
	}
	return a.search.match(path, nodes[:n], best, r)
}

// walkGeneric follows the path through the trie. It returns the highest rank of the patterns
// without floating segments that match. Nodes may have patterns with such segments, which are looked
// for in what follows of the path: those that were passed before its end are written to nodes. There
// are n of them, and room for all. read is how many bytes of the path it has read; one more than
// there are if the end was.
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
		} else if same := t.runs(off+2, run, path[pos:]); same < run {
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
		case flags&hasChildren != 0: // eight labels at a time: the byte that is zero is the place of the label
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

// ones is a number of bytes that are all 1.
const ones = 0x0101010101010101

// runs returns how many of the n bytes at off the path starts with.
func (t table) runs(off uint32, n int, path []byte) (same int) {
	if len(path) >= n && string(path[:n]) == string(t[off:off+uint32(n)]) {
		return n
	}
	for same < len(path) && path[same] == t[off+uint32(same)] {
		same++
	}
	return same
}
