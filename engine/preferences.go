package engine

import (
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// hasPreferences reports whether Evaluate fills Batch.Preferences.
func (s *Store) hasPreferences() bool {
	return slices.ContainsFunc(s.opt.Directives, func(d robots.Directive) bool { return robots.SourceOf(d) < robots.NumSources })
}

// fillPreferences fills b.Preferences, after the verdicts.
func (e *Evaluator) fillPreferences(b *Batch) {
	agents, n := e.store.agentsPerURL(), len(b.Rulings)
	b.Preferences = slices.Grow(b.Preferences[:0], n*agents)[:n*agents]
	clear(b.Preferences)
	last := rules.NoRuling
	var ruling *rules.Ruling // for last; nil if it has no preferences
	for i, id := range b.Rulings {
		if id != last {
			last, ruling = id, e.findPreferring(id)
		}
		if ruling != nil {
			e.setPreferences(b, i, ruling)
		}
	}
}

// findPreferring returns the ruling if it is a text with preferences, otherwise nil.
func (e *Evaluator) findPreferring(id rules.RulingID) *rules.Ruling {
	if _, text := id.Text(); text {
		if r := e.reader.Ruling(id); r.HasPreferences() {
			return r
		}
	}
	return nil
}

// setPreferences sets the preferences of a row, for each agent, according to the ruling in force. It needs the verdicts
// of the row.
func (e *Evaluator) setPreferences(b *Batch, row int, r *rules.Ruling) {
	agents := e.store.agentsPerURL()
	var path []byte
	for a, v := range b.Verdicts[row*agents:][:agents] {
		set := r.Preferences(b.agent(row, a))
		if set == nil {
			continue
		}
		if path == nil && !set.Constant() {
			path, e.path = e.store.opt.Dialect.Path(e.rawPath(b, row), e.path)
		}
		p := &b.Preferences[row*agents+a]
		if set.Decide(p, path, &e.scratch); v.Access != Allowed {
			p.Unfetch()
		}
	}
}

// HowUsed returns the value of use in the Content-Signal line that gave an agent's Preference, or "". If the store
// drops rules, it may load them again.
func (m *Lookup) HowUsed(id RulingID, agent int, p Preference) string {
	if p.How == 0 {
		return ""
	}
	return m.reader.Ruling(id).Preferences(agent).How(p)
}
