package automaton

import (
	"cmp"
	"slices"
)

// A Rule is one pattern to compile and what it says.
type Rule struct {
	Pattern string // in normal form, see [Pattern]; its length in bytes is its priority; an empty one has no effect
	Allow   bool   // whether a path that it decides may be fetched
}

// A Rank is a rule's place in the order of precedence; a higher one wins. Its lowest bit says whether the rule
// allows, so that the winner's answer needs no look-up; the other bits number the rules from 1. The zero Rank stands
// for no rule.
type Rank uint32

// NoMatch is the Rank of a path that no rule matches.
const NoMatch Rank = 0

// maxRules is what fits a Rank of three bytes, the form in which tables hold it.
const maxRules = 1<<23 - 1

// Allow reports whether the rule allows; NoMatch allows nothing.
func (r Rank) Allow() bool { return r&1 != 0 }

// Position returns the rule's index in the order that [Compile] returned, or -1 for NoMatch.
func (r Rank) Position() int { return int(r>>1) - 1 }

// rankRules returns the indices of the rules in ascending order of precedence: a longer pattern over a shorter one,
// allow over disallow, the earlier rule over the later (RFC 9309 section 2.2.2; the last for a definite winner).
func rankRules(rules []Rule) []int32 {
	order := make([]int32, len(rules))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &rules[i], &rules[j]
		if c := cmp.Compare(len(a.Pattern), len(b.Pattern)); c != 0 {
			return c
		}
		if a.Allow != b.Allow {
			if a.Allow {
				return 1
			}
			return -1
		}
		return cmp.Compare(j, i)
	})
	return order
}

// ranked is a pattern with its rank.
type ranked struct {
	Pattern
	rank Rank
}

// rankPatterns returns the distinct patterns in the order of [Pattern.compare], each with the highest rank that any
// rule gives it: a rule with the same pattern and a lower rank can never win.
func rankPatterns(rules []Rule, order []int32) []ranked {
	pats := make([]ranked, 0, len(order))
	for pos, i := range order {
		if rules[i].Pattern == "" {
			continue
		}
		rank := Rank(pos+1) << 1
		if rules[i].Allow {
			rank |= 1
		}
		pats = append(pats, ranked{ParsePattern(rules[i].Pattern), rank})
	}
	slices.SortFunc(pats, func(p, q ranked) int {
		if c := p.compare(q.Pattern); c != 0 {
			return c
		}
		return cmp.Compare(q.rank, p.rank) // the highest first: that is the one CompactFunc keeps
	})
	return slices.CompactFunc(pats, func(p, q ranked) bool { return p.Pattern == q.Pattern })
}
