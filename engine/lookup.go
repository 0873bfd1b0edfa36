package engine

import (
	"cmp"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/robots"
)

// memoSize is how many origins a Lookup remembers.
const memoSize = 64

// A Lookup finds the sites of a store for one goroutine. Of a pack under a limit of memory, it remembers those that were
// asked for lately, by name and by SiteID, so that they are neither looked up nor dropped while rows of one origin follow
// each other. Use [Store.NewLookup].
type Lookup struct {
	store  *Store
	byName [memoSize]nameEntry
	byID   [memoSize]memoEntry
	size   int64 // bytes of the rules in byID, which are in memory whatever the limit
	most   int64 // that they may have, but for one site; 0 is what a store gives that knows nothing of others
	held   held  // of the batch that is looked at
}

// NewLookup returns a Lookup for one goroutine.
func (s *Store) NewLookup() *Lookup { return &Lookup{store: s} }

// A nameEntry is an origin that was asked for. Its name is empty if the entry is.
type nameEntry struct {
	name string
	id   SiteID
}

// A memoEntry is a site whose rules were asked for.
type memoEntry struct {
	id   SiteID
	site *Site // nil if the entry is empty
}

// Site returns the origin that id names, as [Store.Site] does. Of a pack under a limit of memory it may lack the name, which
// Origin returns.
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
		m.remember(e, id)
	}
	return e.site
}

// remember loads a site into an entry of byID, and drops what there is too much of.
func (m *Lookup) remember(e *memoEntry, id SiteID) {
	if e.site != nil {
		m.size -= e.site.size
	}
	*e = memoEntry{id, m.store.pack.rules(id)}
	if m.size += e.site.size; m.size > cmp.Or(m.most, m.store.share(unknownHolders)) {
		kept := *e
		clear(m.byID[:])
		*e, m.size = kept, kept.site.size
	}
}

// find returns the number of the site of an origin; ok is false if the store has nothing in force for it.
func (m *Lookup) find(origin []byte) (id SiteID, ok bool) {
	if m.store.pack == nil {
		id, ok = m.store.ids[robots.Origin(origin)]
		return id, ok
	}
	if m.store.pack.sites != nil {
		return m.store.pack.find(origin)
	}
	e := &m.byName[xxh3.Hash(origin)%memoSize]
	if e.name == "" || e.name != string(origin) {
		if id, ok = m.store.pack.locate(origin); !ok {
			return 0, false
		}
		*e = nameEntry{string(origin), id}
	}
	return e.id, true
}

// FirstAgent returns the first agent that has the same rules at the site: itself, or one before it. Of a store that may
// have dropped its rules since, it is the agent itself.
func (m *Lookup) FirstAgent(id SiteID, agent int) int {
	if m.store.forgets() {
		return agent
	}
	return int(m.Site(id).Firsts[agent])
}

// Rule returns the rule that decided, by the verdict for a site and an agent. It is empty if the store has failed since.
func (m *Lookup) Rule(id SiteID, agent int, rule int32) robots.Rule {
	if r, ok := m.held.rules[heldRule{id, int32(agent), rule}]; ok && r.hasText {
		return r.Rule
	}
	rs := m.Site(id).Rules[agent]
	if int(rule) >= len(rs.rules) {
		return robots.Rule{}
	}
	return rs.Rule(rule)
}

// line returns the line of the rule that Rule returns.
func (m *Lookup) line(id SiteID, agent int, rule int32) int32 {
	if r, ok := m.held.rules[heldRule{id, int32(agent), rule}]; ok {
		return r.Line
	}
	return m.Rule(id, agent, rule).Line
}
