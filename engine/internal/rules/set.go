package rules

import (
	"strings"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// A Set holds the compiled rules for one agent at one site. It is immutable and safe for concurrent use. Sites with
// equal texts share it. If a fetch decides instead of rules, the Set gives every URL the same verdict.
type Set struct {
	// The first fields are used to decide, and fit in one cache line.
	automaton automaton.Automaton
	otherwise Verdict // if no rule matches
	isRead    bool    // see HasReadings
	rivals    *rivals // nil if there are none

	rules []ruleRef // by automaton.Rank.Position
	text  string    // the rules' values, one after the other
}

// A ruleRef is a rule without its text. It contains no pointer.
type ruleRef struct {
	value uint32 // offset in text
	size  uint32 // bytes of the value
	line  int32  // 1-based
	allow bool
}

// NoGroup is the Set of an agent that no group binds.
var NoGroup = &Set{otherwise: Verdict{NoRule, ReasonNoGroup, Allowed}}

// Compile compiles the rules of a file that bind the agent. The Set is NoGroup if no group does.
func Compile(f *robots.File, agent robots.Agent, d robots.Dialect) (*Set, error) {
	rules, ok := f.Select(agent)
	if !ok {
		return NoGroup, nil
	}
	return compileRules(rules, d)
}

// compileRules compiles the rules of an agent that has a group, even if it has no rules. The Set copies their values.
// The error wraps [automaton.ErrTooLarge].
func compileRules(rules []robots.Rule, d robots.Dialect) (*Set, error) {
	s := scratches.Get().(*scratch)
	defer func() {
		if len(s.in) <= maxScratch {
			clear(s.in)
			scratches.Put(s)
		}
	}()
	s.setPatterns(rules, d)
	rs := &Set{otherwise: Verdict{NoRule, ReasonDefault, Allowed}}
	a, order, err := automaton.Compile(s.in)
	if err != nil {
		return nil, err
	}
	rs.automaton = *a
	// The text itself is no longer needed: the Set copies the values.
	size := 0
	s.offsets = s.offsets[:0]
	for i := range rules {
		s.offsets = append(s.offsets, uint32(size))
		size += len(rules[i].Value)
	}
	var text strings.Builder
	text.Grow(size)
	for i := range rules {
		text.WriteString(rules[i].Value)
	}
	rs.text = text.String()
	rs.rules = make([]ruleRef, len(order))
	for pos, i := range order {
		n := s.origin[i]
		r := &rules[n]
		rs.rules[pos] = ruleRef{s.offsets[n], uint32(len(r.Value)), r.Line, r.Allow}
	}
	if rs.rivals, err = compileRivals(s.in, d); err != nil {
		return nil, err
	}
	return rs, nil
}

// causeReasons are the reasons of verdicts that follow from fetches.
var causeReasons = map[robots.Cause]Reason{
	robots.CauseStatus4xx:     ReasonStatus4xx,
	robots.CauseUnreachable:   ReasonUnreachable,
	robots.CauseExpired:       ReasonUnreachableExpired,
	robots.CauseRedirectLimit: ReasonRedirectLimit,
	robots.CauseTooLarge:      ReasonTooLarge,
}

// HasReadings reports whether the text has readings, see [Ruling.HasReadings]. It is false if no rules of the text
// bind the agent.
func (rs *Set) HasReadings() bool { return rs.isRead }

// Rule returns a rule by its number in a Verdict: its line, its value, and whether it allows. Pattern is empty. If
// the number is unknown, the rule is empty.
func (rs *Set) Rule(i int32) robots.Rule {
	if uint(i) >= uint(len(rs.rules)) {
		return robots.Rule{}
	}
	r := &rs.rules[i]
	return robots.Rule{Allow: r.allow, Line: r.line, Value: rs.text[r.value : r.value+r.size]}
}

// Rules returns all rules in the order of precedence, as [Set.Rule] does.
func (rs *Set) Rules() []robots.Rule {
	all := make([]robots.Rule, len(rs.rules))
	for i := range all {
		all[i] = rs.Rule(int32(i))
	}
	return all
}

// Len returns the number of rules.
func (rs *Set) Len() int { return len(rs.rules) }

// Has reports whether the Set has a rule with the same text. It compares all rules.
func (rs *Set) Has(r robots.Rule) bool {
	for i := range rs.rules {
		ref := &rs.rules[i]
		if ref.allow == r.Allow && int(ref.size) == len(r.Value) && rs.text[ref.value:][:ref.size] == r.Value {
			return true
		}
	}
	return false
}

// Line returns the line of the rule that won, or 0 if none did.
func (rs *Set) Line(v Verdict) int64 {
	if uint(v.Rule) >= uint(len(rs.rules)) {
		return 0
	}
	return int64(rs.rules[v.Rule].line)
}

// Decide returns the verdict on a normalised path. s is its working memory.
func (rs *Set) Decide(path []byte, s *automaton.Scratch) Verdict {
	rank := rs.automaton.Match(path, s)
	if rank == automaton.NoMatch {
		return rs.otherwise
	}
	v := Verdict{Rule: int32(rank.Position()), Reason: ReasonRule, Access: Denied}
	if rank.Allow() {
		v.Access = Allowed
	}
	if rs.rivals != nil && rs.rivals.mayDecide(rank, path, s) {
		v.Reason = ReasonUndefined
	}
	return v
}

// Reads returns the number of leading bytes of a normalised path that decide the verdict, as
// [automaton.Automaton.Reads] does.
func (rs *Set) Reads(path []byte, s *automaton.Scratch) int {
	if rs.rivals != nil {
		return automaton.Anywhere
	}
	return rs.automaton.Reads(path, s)
}

// Peek reads one byte of the tables, which brings it into the cache.
func (rs *Set) Peek() byte { return rs.automaton.Peek() }
