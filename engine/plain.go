package engine

import "github.com/robobatch/robobatch/robots"

// plain reports whether the store is what most are: for one agent that is asked for, with all rules in memory and no path that is
// allowed whatever they say. What is done for each row then fits into a loop.
func (s *Store) plain() bool {
	return s.pack == nil && s.AgentsPerURL() == 1 && s.logAgents == LogAgentsOff && !s.dialect.Has(robots.ImplicitRobotsTxt)
}

// decidePlain is decideInTurn for a store that is plain.
func (e *Evaluator) decidePlain(b *Batch) {
	var (
		rs   *Ruleset
		last = NoSite // whose rules these are
		path []byte
	)
	for i, site := range e.rulings {
		if site >= strayBit {
			b.Verdicts[i] = e.store.withoutRules(site)
			continue
		}
		if site != last {
			rs, last = e.store.sites[site].Rules[0], site
		}
		path, e.path = e.store.dialect.Path(e.rawPath(b, i), e.path)
		b.Verdicts[i] = rs.decide(path, &e.scratch)
	}
}

// plainRuleLines is the sum of ruleLines of all rows of a batch, for a store that is plain.
func (s *Store) plainRuleLines(b *Batch) (sum int64) {
	sites := b.Rulings()
	for i, v := range b.Verdicts {
		if v.Rule != NoRule {
			sum += int64(s.sites[sites[i]].Rules[0].rules[v.Rule].line)
		}
	}
	return sum
}
