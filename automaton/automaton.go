package automaton

import (
	"errors"
	"fmt"
	"math"

	"github.com/robobatch/robobatch/automaton/internal/onepass"
)

// An Automaton matches a path against all its rules at once. It is immutable, and safe for concurrent use by
// callers that each have their own [Scratch]. Use [Compile]; the zero Automaton has no rules and matches nothing.
type Automaton struct {
	table  table
	search *onepass.Matcher // of the lists in table; nil if patterns with floating segments are tried one by one
}

// ErrTooLarge is the error of rules that do not fit in a table of 16 MiB. That is about 30 times as much as a
// robots.txt of 500 KiB can need.
var ErrTooLarge = errors.New("rules too large to compile")

// Compile compiles rules. It returns the automaton and the order of precedence: [Rank.Position] is an index in the
// order, and its elements are indices in rules. Time and size are linear in the bytes of the patterns, apart from a
// factor of log(len(rules)) for sorting. The automaton does not keep rules. The error is ErrTooLarge or nil; after
// an error the automaton has no rules.
func Compile(rules []Rule) (*Automaton, []int32, error) {
	a := &Automaton{} // allocated here, so that it can stay on the stack of a caller that copies it
	order, err := a.compileWith(rules, chosen)
	return a, order, err
}

// compileWith is like [Compile] for a new Automaton, with other limits, by which tests choose the form of the floating
// segments.
func (a *Automaton) compileWith(rules []Rule, l limits) ([]int32, error) {
	if len(rules) > maxRules {
		return nil, fmt.Errorf("%w: %d rules, the limit is %d", ErrTooLarge, len(rules), maxRules)
	}
	w := workspaces.Get().(*workspace)
	defer w.release()
	order := w.rankRules(rules)
	w.makeEntries(rules, order)
	if len(w.distinct) == 0 {
		return order, nil
	}
	b := builder{limits: l, workspace: w, table: w.buf[:0], listed: w.needsLists(l)}
	b.addNode(0, len(w.distinct), 0)
	if b.crowd > crowdLimit && l == chosen {
		w.makeEntries(rules, order) // again, because addNode has reordered them
		b = builder{limits: l, workspace: w, table: b.table[:0], listed: true}
		b.addNode(0, len(w.distinct), 0)
	}
	w.buf = append(b.table, make([]byte, padding)...)
	if len(w.buf) > maxTable {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(w.buf), maxTable)
	}
	a.table = make(table, len(w.buf)) // without spare capacity
	copy(a.table, w.buf)
	if b.listed {
		a.search = a.table.newSearch(b.lists)
	}
	return order, nil
}

// Size returns the size of the tables in bytes.
func (a *Automaton) Size() int {
	return len(a.table) + a.search.Size()
}

// A Scratch is the working memory of [Automaton.Match]. The zero Scratch is ready for use. It grows to the size
// that the largest automaton needs, and is then reused. It can be used with any number of automata, but only by one
// goroutine at a time.
type Scratch struct {
	// First the trie nodes with floating segments that the path passes, later the groups to try. walk writes to one
	// element after the last node.
	pending [2*triedLimit + 1]pending
	search  onepass.Scratch
	starts  []onepass.Start
	passed  []pending // the same nodes if the patterns are in lists: at most one per byte of a path

	candidates candidates
}

// Match returns the highest rank of the rules whose patterns match the path, or NoMatch. The rule with this rank
// decides the path.
//
// It makes one pass over the path, and stops when no later byte can change the result. The package documentation
// gives the worst-case time. Match does not allocate once s has grown.
func (a *Automaton) Match(path []byte, s *Scratch) Rank {
	if a.search != nil {
		return a.matchSearch(path, s)
	}
	var best Rank
	var n, end int
	if len(path) < shortest || len(a.table) == 0 || !hasVectors {
		best, n, _ = a.table.walkGeneric(path, s.pending[:])
		end = n + a.table.siftGeneric(path, s.pending[:n], best)
	} else { // called directly, because another call takes a tenth of the time with few rules
		best, n, end = siftAVX2(&a.table[0], &path[0], len(path), &s.pending[0])
	}
	for i := end - 1; i >= n; i-- {
		if p := &s.pending[i]; Rank(a.table.u24(p.group+1)) > best {
			best = a.table.tryFound(p, path, best, &s.candidates)
		}
	}
	return best
}

// Reads returns the number of leading bytes of a path that decide the result of [Automaton.Match]: all paths that
// begin with these bytes have the same result. If the result depends on the end of the path, or on bytes anywhere
// in it, the number is greater than the length of the path. It is [Anywhere] if no path with the same first byte
// has a smaller number.
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

// Anywhere is the result of [Automaton.Reads] if a pattern has a wildcard directly after the first byte.
const Anywhere = math.MaxInt

// matchSearch is [Automaton.Match] for patterns with floating segments in lists, that is, if a.search is set.
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

// nodes returns memory for the trie nodes that a path of this length can pass.
func (s *Scratch) nodes(length int) []pending {
	if len(s.passed) <= length {
		s.passed = make([]pending, length+1)
	}
	return s.passed
}

// Peek reads a byte of the tables, which brings it into the cache.
func (a *Automaton) Peek() byte {
	if len(a.table) == 0 {
		return 0
	}
	return a.table[0]
}
