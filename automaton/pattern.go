package automaton

import "strings"

// A Rule is a pattern to compile, and whether it allows.
type Rule struct {
	Pattern string // in normal form, see [Pattern]; an empty one has no effect
	Allow   bool   // whether a path that it decides may be fetched

	// Uncounted is the number of bytes of Pattern that do not count for its length in bytes, which is its priority.
	Uncounted int32
}

// A Rank is a rule's place in the order of precedence; a higher one wins. Its lowest bit says
// whether the rule allows, so that the winner's answer needs no look-up; the other bits number the
// rules from 1. The zero Rank stands for no rule.
type Rank uint32

// NoMatch is the Rank of a path that no rule matches.
const NoMatch Rank = 0

// maxRules is the largest number of rules whose ranks fit in the three bytes of a table.
const maxRules = 1<<23 - 1

// Allow reports whether the rule allows; NoMatch allows nothing.
func (r Rank) Allow() bool { return r&1 != 0 }

// Position returns the rule's index in the order that [Compile] returned, or -1 for NoMatch.
func (r Rank) Position() int { return int(r>>1) - 1 }

// A Pattern is a robots.txt pattern taken apart for matching (RFC 9309 section 2.2.3): a path
// matches if it starts with Anchor and the floating segments of Rest follow in order, none
// overlapping another, the last of them at the very end of the path if End is set.
//
// In a pattern "*" stands for any bytes, also none, and "$" as the last byte for the end of the
// path; every other byte, a "$" elsewhere included, stands for itself. A "*" at the end is dropped,
// as every pattern matches prefixes anyway, and a run of "*" is one; so patterns that match the
// same paths for such reasons are equal as Patterns.
type Pattern struct {
	Anchor string // the path starts with it
	Rest   string // the floating segments, each with a "*" before it; "" if there are none
	End    bool   // the path ends where the last segment does
}

// ParsePattern takes a pattern in its normal form apart. Every string is a pattern.
func ParsePattern(s string) Pattern {
	var p Pattern
	s, p.End = strings.CutSuffix(s, "$")
	star := strings.IndexByte(s, '*')
	if star < 0 {
		p.Anchor = s
		return p
	}
	p.Anchor, p.Rest = s[:star], s[star:]
	if trimmed := strings.TrimRight(p.Rest, "*"); len(trimmed) < len(p.Rest) {
		p.Rest, p.End = trimmed, false // whatever is left of the path matches the final "*"
	}
	for strings.Contains(p.Rest, "**") {
		p.Rest = strings.ReplaceAll(p.Rest, "**", "*")
	}
	return p
}

// String returns the pattern in its shortest spelling.
func (p Pattern) String() string {
	if p.End {
		return p.Anchor + p.Rest + "$"
	}
	return p.Anchor + p.Rest
}

// segments calls yield with each floating segment and whether it is the last, in order.
func (p Pattern) segments(yield func(seg string, last bool)) {
	for rest := p.Rest; rest != ""; {
		seg, tail, _ := strings.Cut(rest[1:], "*")
		rest = rest[len(seg)+1:]
		yield(seg, tail == "" && rest == "")
	}
}

// compare orders patterns by anchor, then by the rest, so that patterns whose anchors share a
// prefix are neighbours.
func (p Pattern) compare(q Pattern) int {
	if c := strings.Compare(p.Anchor, q.Anchor); c != 0 {
		return c
	}
	if c := strings.Compare(p.Rest, q.Rest); c != 0 {
		return c
	}
	switch {
	case p.End == q.End:
		return 0
	case p.End:
		return 1
	}
	return -1
}

// ranked is a pattern with its rank, and its fingerprint once that is chosen.
type ranked struct {
	Pattern
	rank  Rank
	print fingerprint
}
