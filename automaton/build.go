package automaton

import (
	"errors"
	"fmt"
)

// An Automaton decides paths by all its rules at once. It is immutable, and safe for concurrent use
// by callers that have a [Scratch] each. Use [Compile]; the zero Automaton has no rules and matches
// nothing.
type Automaton struct {
	table  table
	search *searchTable // how to find floating segments if they are too many to be tried; else nil
}

// ErrTooLarge is the error of rules that do not fit a table of 16 MiB, some 30 times what a
// robots.txt of 500 KiB can hold.
var ErrTooLarge = errors.New("rules too large to compile")

// Compile compiles rules. It returns the automaton and the rules' order of precedence:
// [Rank.Position] is an index of it, and its elements are indices of rules. Time and size are
// linear in the bytes of the patterns, but for a factor of log(len(rules)) for sorting them. The
// automaton keeps nothing of rules. The error is [ErrTooLarge] or nil; with it the automaton has no
// rules.
func Compile(rules []Rule) (*Automaton, []int32, error) {
	a := &Automaton{} // here, so that it need not be on the heap if the caller copies it
	order, err := a.compile(rules, chosen)
	return a, order, err
}

// compile is Compile with limits that choose the form of the floating segments.
func (a *Automaton) compile(rules []Rule, l limits) ([]int32, error) {
	if len(rules) > maxRules {
		return nil, fmt.Errorf("%w: %d rules, the most is %d", ErrTooLarge, len(rules), maxRules)
	}
	w := workspaces.Get().(*workspace)
	defer w.release()
	order := w.rankRules(rules)
	w.enter(rules, order)
	if len(w.distinct) == 0 {
		return order, nil
	}
	b := builder{l, w, w.buf[:0], w.searchBuilder(l)}
	b.node(0, len(w.distinct), 0)
	w.buf = append(b.table, make([]byte, padding)...)
	if len(w.buf) > maxTable {
		return nil, fmt.Errorf("%w: %d bytes, the most is %d", ErrTooLarge, len(w.buf), maxTable)
	}
	a.table = make(table, len(w.buf)) // nothing is kept of what was more than needed
	copy(a.table, w.buf)
	if b.search != nil {
		a.search = b.search.finish()
	}
	return order, nil
}

// Size returns the bytes of the tables.
func (a *Automaton) Size() int {
	return len(a.table) + a.search.size()
}

// A builder writes the table of the trie, and of the patterns that are tried.
type builder struct {
	limits
	*workspace
	table  table          // in workspace.buf
	search *searchBuilder // nil if few patterns with floating segments can meet
}
