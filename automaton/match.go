package automaton

import "bytes"

// A Scratch is the memory that [Automaton.Match] works in. The zero Scratch is ready; it grows to what the largest
// automaton needs and is then used again and again. It serves any number of automata, and one goroutine at a time.
type Scratch struct {
	pending [inTurnLimit]pending
	search  registers
}

// Match returns the rank of the rule that decides the path: the highest of those whose patterns match it, or NoMatch.
//
// It takes one pass over the path, and stops where no later byte can change the answer. See the package doc for what
// that costs at worst. Match does not allocate once s has grown.
func (a *Automaton) Match(path []byte, s *Scratch) Rank {
	if a.search != nil {
		return a.matchSearch(path, s)
	}
	best, n := a.table.walk(path, s.pending[:0:inTurnLimit])
	if n == 0 {
		return best
	}
	have := uint64(0) // the classes of the path, once they are asked for
	for n--; n >= 0; n-- {
		best = a.table.tryInTurn(s.pending[n], path, best, &have)
	}
	return best
}

// matchSearch is Match where the floating segments are searched all at once.
func (a *Automaton) matchSearch(path []byte, s *Scratch) Rank {
	r := &s.search
	if cap(r.pending) < a.search.maxDepth {
		r.pending = make([]pending, a.search.maxDepth)
	}
	best, n := a.table.walk(path, r.pending[:0])
	if n == 0 {
		return best
	}
	return a.search.match(path, r.pending[:n], best, r)
}

// walk follows the path through the trie. It returns the highest rank of the patterns without floating segments that
// match, and writes the nodes passed whose patterns have some to nodes, which has room for all: n of them.
func (t table) walk(path []byte, nodes []pending) (best Rank, n int) {
	if len(t) == 0 {
		return NoMatch, 0
	}
	for off, pos := uint32(0), 0; ; pos++ {
		flags, run := t[off], int(t[off+1])
		off += 2
		if len(path)-pos < run || string(path[pos:pos+run]) != string(t[off:off+uint32(run)]) {
			return best, n
		}
		off += uint32(run)
		pos += run
		if flags&hasPrefix != 0 {
			best = max(best, Rank(t.u24(off)))
			off += 3
		}
		if flags&hasExact != 0 {
			if pos == len(path) {
				best = max(best, Rank(t.u24(off)))
			}
			off += 3
		}
		if flags&hasFloating != 0 {
			nodes = append(nodes, pending{t.u24(off), pos})
			n++
			off += 3
		}
		if flags&hasChildren == 0 || pos == len(path) {
			return best, n
		}
		count := uint32(t[off]) + 1
		off++
		child := bytes.IndexByte(t[off:off+count], path[pos])
		if child < 0 {
			return best, n
		}
		off = t.u24(off + count + 3*uint32(child))
	}
}
