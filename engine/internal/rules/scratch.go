package rules

import (
	"sync"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// A scratch is the working memory of Compile. It is reused, because most files are small.
type scratch struct {
	in      []automaton.Rule // the patterns to compile, in the order of the rules
	origin  []int32          // by pattern: the index of its rule
	offsets []uint32         // by rule: where its value is in Set.text
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxScratch is the number of patterns from which a scratch is not reused. Few files have so many.
const maxScratch = 4096

// release clears the scratch and returns it for reuse.
func (s *scratch) release() {
	if len(s.in) <= maxScratch {
		clear(s.in)
		scratches.Put(s)
	}
}

// expand sets in and origin. A rule may have two patterns, see [robots.Dialect.IndexPattern].
func (s *scratch) expand(rules []robots.Rule, d robots.Dialect) {
	s.in, s.origin = s.in[:0], s.origin[:0]
	for i := range rules {
		r := &rules[i]
		s.in = append(s.in, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow, Uncounted: d.Uncounted(r.Pattern)})
		s.origin = append(s.origin, int32(i))
		if pattern, ok := d.IndexPattern(*r); ok {
			s.in = append(s.in, automaton.Rule{Pattern: pattern, Allow: true})
			s.origin = append(s.origin, int32(i))
		}
	}
}
