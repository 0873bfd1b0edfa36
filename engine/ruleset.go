package engine

import (
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
	rs := &Ruleset{otherwise: Verdict{NoRule, ReasonDefault, Allowed}}
	in, origin := automatonRules(rules, d)
	a, order, err := automaton.Compile(in)
	if err != nil {
		return nil, err
	}
	rs.automaton = *a
	rs.setRules(rules, origin, order)
	if rs.rivals, err = compileRivals(in, order, d); err != nil {
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

// automatonRules returns the patterns to compile, and for each the index of its rule: a rule may have two, see
// [robots.Dialect.IndexPattern]. They are in the order of the rules, which decides between equals.
func automatonRules(rules []robots.Rule, d robots.Dialect) (in []automaton.Rule, origin []int32) {
	in = make([]automaton.Rule, 0, len(rules))
	origin = make([]int32, 0, len(rules))
	for i, r := range rules {
		in = append(in, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow})
		origin = append(origin, int32(i))
		if pattern, ok := d.IndexPattern(r); ok {
			in = append(in, automaton.Rule{Pattern: pattern, Allow: true})
			origin = append(origin, int32(i))
		}
	}
	return in, origin
}

// setRules keeps what the output says of a rule. Values are copied, so that the rest of the file can go.
func (rs *Ruleset) setRules(rules []robots.Rule, origin, order []int32) {
	size := 0
	for _, r := range rules {
		size += len(r.Value)
	}
	text := make([]byte, 0, size)
	offsets := make([]uint32, len(rules))
	for i, r := range rules {
		offsets[i] = uint32(len(text))
		text = append(text, r.Value...)
	}
	rs.text = string(text)
	rs.rules = make([]ruleRef, len(order))
	for pos, i := range order {
		r := &rules[origin[i]]
		rs.rules[pos] = ruleRef{offsets[origin[i]], uint32(len(r.Value)), r.Line, r.Allow}
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
