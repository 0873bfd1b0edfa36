package engine

import (
	"sync"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// A ruleScratch is the memory that compileRuleset works in. It is used again, as most files are small.
type ruleScratch struct {
	in      []automaton.Rule // the patterns to compile, in the order of the rules, which decides between equals
	origin  []int32          // the index of the rule of each
	offsets []uint32         // by rule: where its value is in Ruleset.text
}

var ruleScratches = sync.Pool{New: func() any { return new(ruleScratch) }}

// keptRules is the number of patterns from which on a ruleScratch is not kept: few files have as many.
const keptRules = 4096

// release gives the scratch back, without what it holds of the rules.
func (s *ruleScratch) release() {
	if len(s.in) <= keptRules {
		clear(s.in)
		ruleScratches.Put(s)
	}
}

// expand sets in and origin: a rule may have two patterns, see [robots.Dialect.IndexPattern].
func (s *ruleScratch) expand(rules []robots.Rule, d robots.Dialect) {
	s.in, s.origin = s.in[:0], s.origin[:0]
	for i := range rules {
		r := &rules[i]
		s.in = append(s.in, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow})
		s.origin = append(s.origin, int32(i))
		if pattern, ok := d.IndexPattern(*r); ok {
			s.in = append(s.in, automaton.Rule{Pattern: pattern, Allow: true})
			s.origin = append(s.origin, int32(i))
		}
	}
}
