package rules

import (
	"strings"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// rivals finds out whether the verdict on a path is undefined, see [robots.Undefined]: whether a rule with the
// opposite verdict might decide instead of the winner. Such a rule has a "*" and matches, or it takes precedence
// among the rules without a "*".
//
// The automaton of all rules reports only the rule with the highest precedence, so rules that might decide are
// compiled a second time. Each path then costs two more matches. This concerns only the dialect google-2010, and
// there only groups that have Allow and Disallow rules and a "*".
type rivals struct {
	literal *automaton.Automaton    // rules without a "*"
	wild    [2]*automaton.Automaton // rules with a "*": those that disallow, and those that allow
}

// compileRivals returns the rivals of rules, or nil if a verdict is never undefined.
func compileRivals(rules []automaton.Rule, d robots.Dialect) (*rivals, error) {
	if !d.Has(robots.WildcardsUndefined) {
		return nil, nil //nolint:nilnil // nil means no rivals
	}
	var literal []automaton.Rule
	var wild [2][]automaton.Rule
	var says [2]bool
	for _, r := range rules {
		says[index(r.Allow)] = true
		if strings.Contains(r.Pattern, "*") {
			wild[index(r.Allow)] = append(wild[index(r.Allow)], r)
		} else {
			literal = append(literal, r)
		}
	}
	if len(literal) == len(rules) || !says[0] || !says[1] {
		return nil, nil //nolint:nilnil // nil means no rivals
	}
	r := &rivals{}
	for _, part := range []struct {
		automaton **automaton.Automaton
		rules     []automaton.Rule
	}{{&r.literal, literal}, {&r.wild[0], wild[0]}, {&r.wild[1], wild[1]}} {
		var err error
		if *part.automaton, _, err = automaton.Compile(part.rules); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// index returns the index in wild of rules that allow, or disallow.
func index(allow bool) int {
	if allow {
		return 1
	}
	return 0
}

// match reports whether a rule with the opposite verdict might decide the path instead of the winner.
func (r *rivals) match(winner automaton.Rank, path []byte, s *automaton.Scratch) bool {
	if r.wild[index(!winner.Allow())].Match(path, s) != automaton.NoMatch {
		return true
	}
	best := r.literal.Match(path, s)
	return best != automaton.NoMatch && best.Allow() != winner.Allow()
}

// size returns the size of the tables in bytes.
func (r *rivals) size() int {
	if r == nil {
		return 0
	}
	return r.literal.Size() + r.wild[0].Size() + r.wild[1].Size()
}
