package engine

import (
	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/robots"
)

// memoSize is how many origins a Lookup remembers. Their rules are in memory, whatever the limit, so that they are few.
const memoSize = 64

// A Lookup finds the sites of a store for one goroutine. Of a pack under a limit of memory, it remembers those that were
// asked for lately, by name and by SiteID, so that they are neither looked up nor dropped while rows of one origin follow
// each other. Use [Store.NewLookup].
type Lookup struct {
	store  *Store
	byName [memoSize]memoEntry
	byID   [memoSize]memoEntry
	held   held // of the batch that is looked at
}

// NewLookup returns a Lookup for one goroutine.
func (s *Store) NewLookup() *Lookup { return &Lookup{store: s} }

// A memoEntry is a site that was asked for.
type memoEntry struct {
	id   SiteID
	site *Site // nil if the entry is empty
}

// Site returns the origin that id names, as [Store.Site] does.
func (m *Lookup) Site(id SiteID) *Site {
	if m.store.pack == nil {
		return &m.store.sites[id]
	}
	return m.packed(id)
}

func (m *Lookup) packed(id SiteID) *Site {
	p := m.store.pack
	if p.sites != nil {
		return p.site(id)
	}
	e := &m.byID[id%memoSize]
	if e.site == nil || e.id != id {
		*e = memoEntry{id, p.site(id)}
	}
	return e.site
}

// find returns the number of the site of an origin; ok is false if the store has nothing in force for it.
func (m *Lookup) find(origin []byte) (id SiteID, ok bool) {
	if m.store.pack == nil {
		id, ok = m.store.ids[robots.Origin(origin)]
		return id, ok
	}
	if m.store.pack.sites != nil {
		id, _, ok = m.store.pack.find(origin)
		return id, ok
	}
	e := &m.byName[xxh3.Hash(origin)%memoSize]
	if e.site == nil || string(e.site.Origin) != string(origin) {
		var site *Site
		if id, site, ok = m.store.pack.find(origin); !ok {
			return 0, false
		}
		*e = memoEntry{id, site}
	}
	m.byID[e.id%memoSize] = *e
	return e.id, true
}

// FirstAgent returns the first agent that has the same rules at the site: itself, or one before it. Of a store that may
// have dropped its rules since, it is the agent itself.
func (m *Lookup) FirstAgent(id SiteID, agent int) int {
	if p := m.store.pack; p != nil && p.sites == nil {
		return agent
	}
	return int(m.Site(id).Firsts[agent])
}

// Rule returns the rule that decided, by the verdict for a site and an agent. It is empty if the store has failed since.
func (m *Lookup) Rule(id SiteID, agent int, rule int32) robots.Rule {
	if r, ok := m.held.rules[heldRule{id, int32(agent), rule}]; ok {
		return r
	}
	rs := m.Site(id).Rules[agent]
	if int(rule) >= len(rs.rules) {
		return robots.Rule{}
	}
	return rs.Rule(rule)
}
