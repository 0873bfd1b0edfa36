package automaton

import "slices"

// A Rule is one pattern to compile and what it says.
type Rule struct {
	Pattern string // in normal form, see [Pattern]; its length in bytes is its priority; an empty one has no effect
	Allow   bool   // whether a path that it decides may be fetched
}

// A Rank is a rule's place in the order of precedence; a higher one wins. Its lowest bit says
// whether the rule allows, so that the winner's answer needs no look-up; the other bits number the
// rules from 1. The zero Rank stands for no rule.
type Rank uint32

// NoMatch is the Rank of a path that no rule matches.
const NoMatch Rank = 0

// maxRules is what fits a Rank of three bytes, the form in which tables hold it.
const maxRules = 1<<23 - 1

// Allow reports whether the rule allows; NoMatch allows nothing.
func (r Rank) Allow() bool { return r&1 != 0 }

// Position returns the rule's index in the order that [Compile] returned, or -1 for NoMatch.
func (r Rank) Position() int { return int(r>>1) - 1 }

// rankRules returns the indices of the rules in ascending order of precedence: a longer pattern
// over a shorter one, allow over disallow, the earlier rule over the later (RFC 9309 section 2.2.2;
// the last for a definite winner).
func (w *workspace) rankRules(rules []Rule) []int32 {
	const lowIndex = 1<<31 - 1
	w.keys = slices.Grow(w.keys[:0], len(rules))
	keys := w.keys[:len(rules)] // length, allow, index: sorting numbers takes half of what comparing rules does
	for i := range rules {
		keys[i] = uint64(len(rules[i].Pattern))<<32 | uint64(lowIndex-i)
		if rules[i].Allow {
			keys[i] |= 1 << 31
		}
	}
	slices.Sort(keys)
	order := make([]int32, len(rules))
	for i, key := range keys {
		order[i] = int32(lowIndex - key&lowIndex)
	}
	return order
}

// ranked is a pattern with its rank, and its fingerprint once that is chosen.
type ranked struct {
	Pattern
	rank  Rank
	print fingerprint
}
