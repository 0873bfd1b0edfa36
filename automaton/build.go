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
func Compile(rules []Rule) (*Automaton, []int32, error) { return compile(rules, fewFloating) }

// compile is Compile with inTurn to choose the form of the floating segments.
func compile(rules []Rule, inTurn func([]ranked) bool) (*Automaton, []int32, error) {
	if len(rules) > maxRules {
		return nil, nil, fmt.Errorf("%w: %d rules, the most is %d", ErrTooLarge, len(rules), maxRules)
	}
	order := rankRules(rules)
	pats := rankPatterns(rules, order)
	a := &Automaton{}
	if len(pats) == 0 {
		return a, order, nil
	}
	b := builder{pats: pats, inTurn: inTurn(pats)}
	if !b.inTurn {
		b.search = newSearchBuilder(pats)
	}
	b.node(0, len(pats), 0)
	a.table = append(b.table, make(table, padding)...)
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

// A builder writes the table of the trie, and of the patterns that are tried in turn.
type builder struct {
	table  table
	pats   []ranked // in the order of Pattern.compare
	inTurn bool     // floating segments are tried pattern by pattern, see fewFloating
	search *searchBuilder
}
