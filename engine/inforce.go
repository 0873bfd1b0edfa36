package engine

import (
	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A Choice says by which name the groups of an agent are chosen. String returns "name" for the agent's own product
// token, "family" for another token that it answers to, "*", or "none" if no group binds it.
type Choice = rules.Choice

// The values of Choice.
const (
	NoChoice   = rules.NoChoice
	ByToken    = rules.ByToken
	ByFallback = rules.ByFallback
	ByStar     = rules.ByStar
)

// InForce appends the ruling in force for a site at each moment, in microseconds since 1970 UTC. [NoTime] means the
// time of the newest capture. Without [StoreOptions].RowTimes, all moments mean the store's own moment.
func (m *Lookup) InForce(dst []RulingID, site SiteID, moments []int64) []RulingID {
	_, id, _ := m.reader.Find([]byte(m.reader.Origin(uint32(site))))
	var periods []rules.Period
	if id == rules.Dated {
		periods = m.reader.Periods(uint32(site))
	}
	for _, at := range moments {
		if periods != nil {
			if at == NoTime {
				at = m.reader.Newest(uint32(site))
			}
			id = periods[rules.Index(periods, at)].ID
		}
		dst = append(dst, id)
	}
	return dst
}

// Span returns, with [StoreOptions].RowTimes, the time of the first ruling in force for a site and the time of its
// newest capture. ok is false if no capture has a time.
func (m *Lookup) Span(site SiteID) (first, last int64, ok bool) {
	periods := m.reader.Periods(uint32(site))
	if len(periods) < 2 {
		return 0, 0, false
	}
	return periods[1].From, m.reader.Newest(uint32(site)), true
}

// Answer returns the answer for an agent of [Store.Options] on a normalised path. It ignores other readings.
func (m *Lookup) Answer(id RulingID, agent int, path []byte) (a Answer) {
	if id <= rules.NoRobots {
		v := m.store.without[id]
		return Answer{Access: v.Access, Reason: v.Reason}
	}
	if m.scratch == nil {
		m.scratch = new(automaton.Scratch)
	}
	set := m.set(id, agent)
	v := set.Decide(path, m.scratch)
	a.Access, a.Reason, a.Rule = v.Access, v.Reason, set.Rule(v.Rule)
	if m.store.opt.Dialect.AlwaysAllowed(path) {
		a = Answer{Access: Allowed, Reason: ReasonRobotsTxt}
	}
	r := m.reader.Ruling(id)
	if said := r.Preferences(agent); said != nil {
		var p Preference
		if said.Decide(&p, path, m.scratch); a.Access != Allowed {
			p.Unfetch()
		}
		a.Preferences = robots.Answers{Said: p.Said, How: said.How(p)}
	}
	a.License, _ = m.Note(id, agent, robots.LicenseLines)
	return a
}

// Choice returns by which name the groups of an agent of [Store.Options] are chosen, with [StoreOptions].Choices.
// It is zero if no text is in force.
func (m *Lookup) Choice(id RulingID, agent int) (c Choice) {
	if id > rules.NoRobots {
		if r := m.reader.Ruling(id); agent < len(r.Choices) {
			c = r.Choices[agent]
		}
	}
	return c
}

// Odd returns why the text in force is not a valid robots.txt, or [robots.NotOdd] if it is valid or no text is in
// force.
func (m *Lookup) Odd(id RulingID) robots.Oddity { return m.store.rules.Odd().Of(id) }
