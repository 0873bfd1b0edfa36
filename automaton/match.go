package automaton

import (
	"bytes"
	"encoding/binary"
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

// matchSearch is Match where the floating segments are searched all at once.
func (a *Automaton) matchSearch(path []byte, s *Scratch) Rank {
	r := &s.search
	if len(r.pending) <= a.search.maxDepth {
		r.pending = make([]pending, a.search.maxDepth+1)
	}
	best, n := a.table.walk(path, r.pending)
	if n == 0 {
		return best
	}
	return a.search.match(path, r.pending[:n], best, r)
}

// walkGeneric follows the path through the trie. It returns the highest rank of the patterns
// without floating segments that match. Nodes may have patterns with such segments, which are looked
// for in what follows of the path: those that were passed before its end are written to nodes. There
// are n of them, and room for all.
func (t table) walkGeneric(path []byte, nodes []pending) (best Rank, n int) {
	if len(t) == 0 {
		return NoMatch, 0
	}
	off, pos := uint32(0), 0
	for {
		flags, run := t[off], int(t[off+1])
		if run <= 8 && len(path)-pos >= 8 {
			if (t.u64(off+2)^binary.LittleEndian.Uint64(path[pos:]))<<(64-8*run) != 0 {
				return best, n
			}
		} else if !t.runs(off+2, run, path[pos:]) {
			return best, n
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
			return best, n
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
				return best, n
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
				return best, n
			}
			slot = off + count + 3*i
		default:
			return best, n
		}
		if off = t.u24(slot); off == 0 {
			return best, n
		}
	}
}

// ones is a number of bytes that are all 1.
const ones = 0x0101010101010101

// runs reports whether path starts with the n bytes at off.
func (t table) runs(off uint32, n int, path []byte) bool {
	return len(path) >= n && string(path[:n]) == string(t[off:off+uint32(n)])
}
