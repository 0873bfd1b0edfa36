package automaton

import (
	"errors"
	"fmt"
	"math"

	"github.com/robobatch/robobatch/automaton/internal/onepass"
)

// An Automaton decides paths by all its rules at once. It is immutable, and safe for concurrent use
// by callers that have a [Scratch] each. Use [Compile]; the zero Automaton has no rules and matches
// nothing.
type Automaton struct {
	table  table
	search *onepass.Matcher // of the lists in table; nil if patterns with floating segments are tried
}

// ErrTooLarge is the error of rules that do not fit a table of 16 MiB, some 30 times the most that a
// robots.txt of 500 KiB can hold.
var ErrTooLarge = errors.New("rules too large to compile")

// Compile compiles rules. It returns the automaton and the rules' order of precedence:
// [Rank.Position] is an index of it, and its elements are indices of rules. Time and size are
// linear in the bytes of the patterns, except for a factor of log(len(rules)) for sorting them. The
// automaton keeps nothing of rules. The error is [ErrTooLarge] or nil; with it the automaton has no
// rules.
func Compile(rules []Rule) (*Automaton, []int32, error) {
	a := &Automaton{} // allocated here, so that the compiler can put it on the stack of a caller that copies it
	order, err := a.compile(rules, chosen)
	return a, order, err
}

// compile is [Compile] with other limits, that let tests choose the form of the floating segments.
func (a *Automaton) compile(rules []Rule, l limits) ([]int32, error) {
	if len(rules) > maxRules {
		return nil, fmt.Errorf("%w: %d rules, the most is %d", ErrTooLarge, len(rules), maxRules)
	}
	w := workspaces.Get().(*workspace)
	defer w.release()
	order := w.rankRules(rules)
	w.makeEntries(rules, order)
	if len(w.distinct) == 0 {
		return order, nil
	}
	b := builder{limits: l, workspace: w, table: w.buf[:0], listed: w.isMany(l)}
	b.addNode(0, len(w.distinct), 0)
	if b.crowd > crowdLimit && l == chosen {
		w.makeEntries(rules, order) // addNode has changed their order
		b = builder{limits: l, workspace: w, table: b.table[:0], listed: true}
		b.addNode(0, len(w.distinct), 0)
	}
	w.buf = append(b.table, make([]byte, padding)...)
	if len(w.buf) > maxTable {
		return nil, fmt.Errorf("%w: %d bytes, the most is %d", ErrTooLarge, len(w.buf), maxTable)
	}
	a.table = make(table, len(w.buf)) // exactly as large as it has to be
	copy(a.table, w.buf)
	if b.listed {
		a.search = a.table.newSearch(b.lists)
	}
	return order, nil
}

// Size returns the bytes of the tables.
func (a *Automaton) Size() int {
	return len(a.table) + a.search.Size()
}

// A Scratch is the memory that [Automaton.Match] works in. The zero Scratch is ready; it grows to
// the need of the largest automaton and is then used again and again. It serves any number of
// automata, and one goroutine at a time.
type Scratch struct {
	// The trie nodes with floating segments that a path passes, and then the groups to try. walk writes to one place
	// after the last node.
	pending [2*triedLimit + 1]pending
	search  onepass.Scratch
	starts  []onepass.Start
	passed  []pending // the same nodes, where they have lists: one for each byte of a path at most

	candidates candidates
}

// Match returns the rank of the rule that decides the path: the highest of those whose patterns
// match it, or NoMatch.
//
// It takes one pass over the path, and stops where no later byte can change the answer. The package
// doc says how long it takes at worst. Match does not allocate once s has grown.
func (a *Automaton) Match(path []byte, s *Scratch) Rank {
	if a.search != nil {
		return a.matchSearch(path, s)
	}
	var best Rank
	var n, end int
	if len(path) < shortest || len(a.table) == 0 || !hasVectors {
		best, n, _ = a.table.walkGeneric(path, s.pending[:])
		end = n + a.table.siftGeneric(path, s.pending[:n], best)
	} else { // called here, as another call takes a tenth of the time with few rules
		best, n, end = siftAVX2(&a.table[0], &path[0], len(path), &s.pending[0])
	}
	for i := end - 1; i >= n; i-- {
		if p := &s.pending[i]; Rank(a.table.u24(p.group+1)) > best {
			best = a.table.tryFound(p, path, best, &s.candidates)
		}
	}
	return best
}

// Reads returns how many bytes at the beginning of a path decide the result of [Automaton.Match]: all
// paths that begin with these bytes have the same result. If the result depends on the end of the
// path, or on bytes anywhere in it, the number is more than the length of the path. It is [Anywhere]
// if no path that begins with the same byte has a smaller number.
func (a *Automaton) Reads(path []byte, s *Scratch) int {
	nodes := s.pending[:]
	if a.search != nil {
		nodes = s.nodes(len(path))
	}
	switch _, n, read := a.table.walkGeneric(path, nodes); {
	case n == 0:
		return read
	case nodes[0].pos <= 1:
		return Anywhere
	}
	return len(path) + 1
}

// Anywhere is the result of [Automaton.Reads] where a pattern has a wildcard after its first byte.
const Anywhere = math.MaxInt

// matchSearch is [Automaton.Match] where patterns with floating segments are in lists.
func (a *Automaton) matchSearch(path []byte, s *Scratch) Rank {
	nodes := s.nodes(len(path))
	best, n := a.table.walk(path, nodes)
	if n == 0 {
		return best
	}
	s.starts = s.starts[:0]
	for _, p := range nodes[:n] {
		s.starts = append(s.starts, onepass.Start{List: int(a.table.u24(p.group)), Pos: int(p.pos)})
	}
	return Rank(a.search.Match(path, s.starts, uint32(best), &s.search))
}

// nodes returns memory for the trie nodes that a path of that length passes.
func (s *Scratch) nodes(length int) []pending {
	if len(s.passed) <= length {
		s.passed = make([]pending, length+1)
	}
	return s.passed
}

// Peek returns a byte of the tables.
func (a *Automaton) Peek() byte {
	if len(a.table) == 0 {
		return 0
	}
	return a.table[0]
}
