package engine

import (
	"slices"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// compileRulesets compiles what the file says to each agent. Agents that the same groups bind get the same Ruleset: most
// of many crawlers are bound by the groups for "*".
func compileRulesets(f *robots.File, agents []robots.Agent, d robots.Dialect) ([]*Ruleset, error) {
	if len(agents) == 1 { // the common case: nothing to compare
		rs, err := compileRuleset(f, agents[0], d)
		return []*Ruleset{rs}, err
	}
	rules := make([]*Ruleset, len(agents))
	bound := make([][]int, len(agents)) // the groups of each
	for i, agent := range agents {
		bound[i] = f.Binding(agent)
		same := slices.IndexFunc(bound[:i], func(groups []int) bool { return slices.Equal(groups, bound[i]) })
		if same >= 0 {
			rules[i] = rules[same]
			continue
		}
		rs, err := compileRuleset(f, agent, d)
		if err != nil {
			return nil, err
		}
		rules[i] = rs
	}
	return rules, nil
}

// firstAgents returns for each agent the first one that has the same Ruleset: itself, or one before it.
func firstAgents(rules []*Ruleset) []uint16 {
	firsts := make([]uint16, len(rules))
	for i, rs := range rules {
		firsts[i] = uint16(slices.Index(rules[:i+1], rs))
	}
	return firsts
}

// decide sets the verdict of each agent on a path in normal form: one match for all agents that have the same rules.
func (s *Site) decide(verdicts []Verdict, path []byte, scratch *automaton.Scratch) {
	for a, rs := range s.Rules {
		if first := int(s.Firsts[a]); first < a {
			verdicts[a] = verdicts[first]
		} else {
			verdicts[a] = rs.decide(path, scratch)
		}
	}
}

// ruleLines returns the sum of the lines of the rules that decided a row of the batch, which has a site.
func (m *Lookup) ruleLines(b *Batch, row int) (sum int64) {
	id, agents := b.Rulings()[row], m.store.AgentsPerURL()
	line := int64(0) // of the agent before
	for a, v := range b.Verdicts[row*agents : (row+1)*agents] {
		switch {
		case v.Rule == NoRule:
			line = 0
		case a > 0 && v == b.Verdicts[row*agents+a-1] && m.FirstAgent(id, a) == m.FirstAgent(id, a-1):
		default:
			line = int64(m.line(id, b.agent(row, a), v.Rule))
		}
		sum += line
	}
	return sum
}
