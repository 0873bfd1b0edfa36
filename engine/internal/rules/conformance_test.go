package rules

import (
	"testing"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// TestConformance runs the rows of testdata/rep/conformance through compiled rules.
func TestConformance(t *testing.T) { repcase.Run(t, compiledMatcher(t)) }

// TestTexts runs the readable cases of testdata/rep through compiled rules.
func TestTexts(t *testing.T) { repcase.RunTexts(t, compiledMatcher(t)) }

// compiledMatcher returns a matcher that compiles the rules like a Set, and returns the index of the deciding rule.
func compiledMatcher(tb testing.TB) repcase.Matcher {
	tb.Helper()
	s, in := &automaton.Scratch{}, &scratch{}
	return func(rules []robots.Rule, path []byte, d robots.Dialect) int {
		in.setPatterns(rules, d)
		a, order, err := automaton.Compile(in.in)
		if err != nil {
			tb.Fatalf("compile %d rules: %v", len(rules), err)
		}
		rank := a.Match(path, s)
		if rank == automaton.NoMatch {
			return -1
		}
		winner := in.origin[order[rank.Position()]]
		if rank.Allow() != rules[winner].Allow {
			tb.Errorf("rank %d says that it allows: %t, but its rule is %+v", rank, rank.Allow(), rules[winner])
		}
		return int(winner)
	}
}
