package engine

import "github.com/robobatch/robobatch/robots"

// plain reports whether the store is what most are: for agents that are asked for, with all rules in memory and no path that is
// allowed whatever they say. What is done for each row then fits into a loop.
func (s *Store) plain() bool {
	return s.pack == nil && s.logAgents == LogAgentsOff && !s.dialect.Has(robots.ImplicitRobotsTxt)
}

// alike reports whether all agents have the same Ruleset, as at most sites.
func (s *Site) alike() bool {
	for _, first := range s.Firsts {
		if first != 0 {
			return false
		}
	}
	return true
}

// decidePlain is decideInTurn for a store that is plain.
func (e *Evaluator) decidePlain(b *Batch) {
	var (
		agents = e.agents()
		site   *Site
		last   = NoSite // its number
		alike  bool
		path   []byte
	)
	for i, id := range e.rulings {
		verdicts := b.Verdicts[i*agents:][:agents]
		if id >= strayBit {
			fillVerdicts(verdicts, e.store.withoutRules(id))
			continue
		}
		if id != last {
			site, last = &e.store.sites[id], id
			alike = site.alike()
		}
		path, e.path = e.store.dialect.Path(e.rawPath(b, i), e.path)
		if alike {
			fillVerdicts(verdicts, site.Rules[0].decide(path, &e.scratch))
		} else {
			site.decide(verdicts, path, &e.scratch)
		}
	}
}

// countPlain counts the verdicts of a batch, by answer and reason, and the lines of the rules, for a store that is plain.
func (c *counter) countPlain(b *Batch) {
	agents := c.store.AgentsPerURL()
	last, alike := NoSite, false
	for i, id := range b.Rulings() {
		verdicts := b.Verdicts[i*agents:][:agents]
		if id >= strayBit {
			c.countVerdict(verdicts[0], int64(agents))
			continue
		}
		site := &c.store.sites[id]
		if id != last {
			last, alike = id, site.alike()
		}
		if alike {
			c.countVerdict(verdicts[0], int64(agents))
			c.stats.RuleLines += int64(agents) * site.Rules[0].line(verdicts[0])
			continue
		}
		c.countVerdicts(verdicts)
		for a, v := range verdicts {
			c.stats.RuleLines += site.Rules[a].line(v)
		}
	}
}

// line returns the line of the rule that decided, 0 if none did.
func (rs *Ruleset) line(v Verdict) int64 {
	if v.Rule == NoRule {
		return 0
	}
	return int64(rs.rules[v.Rule].line)
}
