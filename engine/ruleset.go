package engine

import (
	"strings"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// A Ruleset is what one robots.txt says to one agent, compiled. It is immutable and safe for concurrent use. Sites
// with equal texts share it.
type Ruleset struct {
	// What decides comes first, in one line of the cache.
	automaton automaton.Automaton
	otherwise Verdict // if no rule matches
	rivals    *rivals // of rules whose precedence the dialect leaves undefined; nil if there are none

	rules []ruleRef // by automaton.Rank.Position
	text  string    // the rules' values, one after the other
}

// A ruleRef is a rule without its text. It holds no pointer.
type ruleRef struct {
	value uint32 // offset in text
	size  uint32 // bytes of the value
	line  int32  // 1-based
	allow bool
}

// compileRuleset compiles what the file says to the agent.
func compileRuleset(f *robots.File, agent robots.Agent, d robots.Dialect) (*Ruleset, error) {
	rules, ok := f.Select(agent)
	if !ok {
		return &Ruleset{otherwise: Verdict{NoRule, ReasonNoGroup, Allowed}}, nil
	}
	s := ruleScratches.Get().(*ruleScratch)
	defer s.release()
	s.expand(rules, d)
	rs := &Ruleset{otherwise: Verdict{NoRule, ReasonDefault, Allowed}}
	a, order, err := automaton.Compile(s.in)
	if err != nil {
		return nil, err
	}
	rs.automaton = *a
	rs.setRules(rules, s, order)
	if rs.rivals, err = compileRivals(s.in, order, d); err != nil {
		return nil, err
	}
	return rs, nil
}

// causeReasons are the reasons of verdicts that a fetch decides.
var causeReasons = map[robots.Cause]Reason{
	robots.CauseStatus4xx:     ReasonStatus4xx,
	robots.CauseUnreachable:   ReasonUnreachable,
	robots.CauseExpired:       ReasonUnreachableExpired,
	robots.CauseRedirectLimit: ReasonRedirectLimit,
	robots.CauseTooLarge:      ReasonTooLarge,
}

// fixedRuleset returns the Ruleset without rules that gives the outcome's verdict on every URL.
func fixedRuleset(o robots.Outcome) *Ruleset {
	access := Allowed
	if o.Effect == robots.DisallowAll {
		access = Denied
	}
	return &Ruleset{otherwise: Verdict{NoRule, causeReasons[o.Cause], access}}
}

// setRules keeps what the output says of a rule. Values are copied, so that the rest of the file can go.
func (rs *Ruleset) setRules(rules []robots.Rule, s *ruleScratch, order []int32) {
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
}

// Rule returns the rule that [Verdict].Rule names: its line, its text and what it says; Pattern is empty. The index must
// not be NoRule.
func (rs *Ruleset) Rule(i int32) robots.Rule {
	r := &rs.rules[i]
	return robots.Rule{Allow: r.allow, Line: r.line, Value: rs.text[r.value : r.value+r.size]}
}

// decide returns the verdict on a path in normal form.
func (rs *Ruleset) decide(path []byte, s *automaton.Scratch) Verdict {
	rank := rs.automaton.Match(path, s)
	if rank == automaton.NoMatch {
		return rs.otherwise
	}
	v := Verdict{Rule: int32(rank.Position()), Reason: ReasonRule, Access: Denied}
	if rank.Allow() {
		v.Access = Allowed
	}
	if rs.rivals != nil && rs.rivals.match(rank, path, s) {
		v.Reason = ReasonUndefined
	}
	return v
}
