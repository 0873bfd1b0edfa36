package automaton

import (
	"errors"
	"fmt"
)

// An Automaton decides paths by all its rules at once. It is immutable, and safe for concurrent use by callers that
// have a [Scratch] each. Use [Compile]; the zero Automaton has no rules and matches nothing.
type Automaton struct {
	table  table
	search *searchTable // how to find floating segments if they are too many to try in turn; else nil
}

// ErrTooLarge is the error of rules that do not fit a table of 16 MiB, some 30 times what a robots.txt of 500 KiB can
// hold.
var ErrTooLarge = errors.New("rules too large to compile")

// Compile compiles rules. It returns the automaton and the rules' order of precedence: [Rank.Position] is an index of
// it, and its elements are indices of rules. Time and size are linear in the bytes of the patterns, but for a factor
// of log(len(rules)) for sorting them. The automaton keeps nothing of rules. The error is [ErrTooLarge] or nil.
func Compile(rules []Rule) (*Automaton, []int32, error) { return compile(rules, chosen) }

// compile is Compile with limits that choose the form of the floating segments.
func compile(rules []Rule, l limits) (*Automaton, []int32, error) {
	if len(rules) > maxRules {
		return nil, nil, fmt.Errorf("%w: %d rules, the most is %d", ErrTooLarge, len(rules), maxRules)
	}
	w := workspaces.Get().(*workspace)
	defer w.release()
	order := w.rankRules(rules)
	pats := w.rankPatterns(rules, order)
	a := &Automaton{}
	if len(pats) == 0 {
		return a, order, nil
	}
	b := builder{limits: l, pats: pats, table: w.table[:0]}
	if !l.few(pats) {
		b.search = newSearchBuilder(pats)
	}
	b.node(0, len(pats), 0)
	w.table = b.table
	a.table = make(table, len(b.table)+padding) // nothing is kept of what was more than needed
	copy(a.table, b.table)
	if b.search != nil {
		a.search = b.search.finish()
	}
	if len(a.table) > maxTable {
		return nil, nil, fmt.Errorf("%w: %d bytes, the most is %d", ErrTooLarge, len(a.table), maxTable)
	}
	return a, order, nil
}

// Size returns the bytes of the tables.
func (a *Automaton) Size() int {
	return len(a.table) + a.search.size()
}

// A builder writes the table of the trie, and of the patterns that are tried.
type builder struct {
	limits
	table  table
	pats   []ranked       // in the order of Pattern.compare
	search *searchBuilder // nil if few patterns with floating segments can meet
}
