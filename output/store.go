package output

import (
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A storeCatalog is the catalog of a Store.
type storeCatalog struct{ *engine.Store }

// Origin returns the origin of a site.
func (s storeCatalog) Origin(site engine.SiteID) robots.Origin { return s.Site(site).Origin }

// FirstAgent returns the first agent that has the same rules.
func (s storeCatalog) FirstAgent(site engine.SiteID, agent int) int {
	return int(s.Site(site).Firsts[agent])
}

// Rule returns a rule of the set that holds for an agent.
func (s storeCatalog) Rule(site engine.SiteID, agent int, rule int32) robots.Rule {
	return s.Site(site).Rules[agent].Rule(rule)
}
