package rules

import (
	"strings"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// rivals finds out whether the winner of a path has a rival: a rule that says the opposite and
// matches too, where one of both has a "*". The dialect google-2010 leaves undefined which of such
// two wins, see [robots.Undefined].
//
// A path has one winner but may match any number of rules, and the automaton reports only the first
// in precedence. So the possible rivals are compiled a second time, by what they say: all of them,
// for a winner with a "*", and those with a "*", for one without. A path costs one match more. Only
// this dialect pays for it, and only for groups that have both kinds of rules and a "*".
type rivals struct {
	wild []bool                  // by automaton.Rank.Position: the rule has a "*"
	all  [2]*automaton.Automaton // rules that disallow, that allow
	some [2]*automaton.Automaton // those with a "*"
}

// compileRivals returns the rivals of rules whose order of precedence is known, or nil if there can
// be none.
func compileRivals(rules []automaton.Rule, order []int32, d robots.Dialect) (*rivals, error) {
	if !d.Has(robots.WildcardsUndefined) {
		return nil, nil //nolint:nilnil // no rivals is what nil means
	}
	r := &rivals{wild: make([]bool, len(order))}
	var all, some [2][]automaton.Rule
	for pos, i := range order {
		says := index(rules[i].Allow)
		all[says] = append(all[says], rules[i])
		if r.wild[pos] = strings.Contains(rules[i].Pattern, "*"); r.wild[pos] {
			some[says] = append(some[says], rules[i])
		}
	}
	if len(all[0]) == 0 || len(all[1]) == 0 || len(some[0])+len(some[1]) == 0 {
		return nil, nil //nolint:nilnil // no rivals is what nil means
	}
	for says := range 2 {
		var err error
		if r.all[says], _, err = automaton.Compile(all[says]); err != nil {
			return nil, err
		}
		if r.some[says], _, err = automaton.Compile(some[says]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// index returns the index of rules that allow, or do not.
func index(allow bool) int {
	if allow {
		return 1
	}
	return 0
}

// match reports whether the winner has a rival on the path.
func (r *rivals) match(winner automaton.Rank, path []byte, s *automaton.Scratch) bool {
	opposite := r.some[index(!winner.Allow())]
	if r.wild[winner.Position()] {
		opposite = r.all[index(!winner.Allow())]
	}
	return opposite.Match(path, s) != automaton.NoMatch
}

// size returns the bytes of the tables.
func (r *rivals) size() int {
	if r == nil {
		return 0
	}
	return len(r.wild) + r.all[0].Size() + r.all[1].Size() + r.some[0].Size() + r.some[1].Size()
}
