package engine

import (
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// hasPreferences reports whether Evaluate fills Batch.Preferences.
func (s *Store) hasPreferences() bool {
	return slices.Contains(s.opt.Directives, robots.UsageLines) || slices.Contains(s.opt.Directives, robots.SignalLines)
}

// prefer fills b.Preferences, once the verdicts are there.
func (e *Evaluator) prefer(b *Batch) {
	agents, n := e.store.agentsPerURL(), len(b.Rulings)
	b.Preferences = slices.Grow(b.Preferences[:0], n*agents)[:n*agents]
	clear(b.Preferences)
	last := rules.NoRuling
	var ruling *rules.Ruling // of last; nil if no agent has preferences there
	for i, id := range b.Rulings {
		if id != last {
			last, ruling = id, nil
			if _, text := id.Text(); text {
				if ruling = e.reader.Ruling(id); !ruling.HasPreferences() {
					ruling = nil
				}
			}
		}
		if ruling != nil {
			e.preferRow(b, i, ruling)
		}
	}
}

// preferRow sets the preferences of a row.
func (e *Evaluator) preferRow(b *Batch, row int, r *rules.Ruling) {
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
		p := set.Decide(path, &e.scratch)
		if v.Access != Allowed {
			p = p.Unfetched()
		}
		b.Preferences[row*agents+a] = p
	}
}

// SignalUse returns the value of use that Content-Signal gives in a Preference of an agent, "" if there
// is none. A store that may drop rules may load them again.
func (m *Lookup) SignalUse(id RulingID, agent int, p Preference) string {
	if p.Use == 0 {
		return ""
	}
	return m.reader.Ruling(id).Preferences(agent).Use(p)
}
