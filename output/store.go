package output

import (
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A storeCatalog is the catalog of a Store.
type storeCatalog struct {
	*engine.Store
	lookup *engine.Lookup
}

func newStoreCatalog(s *engine.Store) storeCatalog { return storeCatalog{s, s.NewLookup()} }

// Origin returns the origin of a site.
func (s storeCatalog) Origin(site engine.SiteID) robots.Origin { return s.lookup.Origin(site) }

// FirstAgent returns the first agent that has the same rules.
func (s storeCatalog) FirstAgent(id engine.RulingID, agent int) int {
	return s.lookup.FirstAgent(id, agent)
}

// Rule returns a rule of the set that holds for an agent.
func (s storeCatalog) Rule(id engine.RulingID, agent int, rule int32) robots.Rule {
	return s.lookup.Rule(id, agent, rule)
}
