package summary

import (
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/engine"
)

// An AgentCount counts the verdicts for one agent. Without -agent-from-log, Rows is the same for all agents.
type AgentCount struct {
	Agent      string `json:"agent"` // with -agent-from-log, "*" means all other clients
	Rows       int64  `json:"rows"`
	Allowed    int64  `json:"allowed"`
	Disallowed int64  `json:"disallowed"`
	Null       int64  `json:"null"`
	Violations *int64 `json:"violations,omitempty"` // with -agent-from-log
	Bound      string `json:"bound"`                // whether robots.txt binds it: yes, no or unknown

	Verified *Verified `json:"verified,omitempty"` // with -ranges or -hosts, for crawlers
}

// Clients counts rows of clients that cannot be violations.
type Clients struct {
	Rows       int64 `json:"rows"`
	Disallowed int64 `json:"disallowed"`
}

// Busiest lists the origins and rules with the most rows, the busiest first. If there are too many to count exactly,
// a count may be too low by up to OriginsOff or RulesOff.
type Busiest struct {
	Origins    []BusyOrigin `json:"origins"`
	OriginsOff int64        `json:"origins_off_by"`
	Rules      []BusyRule   `json:"rules"`
	RulesOff   int64        `json:"rules_off_by"`
	Violated   []BusyRule   `json:"violated,omitempty"` // with -agent-from-log; their Rows are violations
}

// A BusyOrigin is an origin and the number of its rows.
type BusyOrigin struct {
	Origin string `json:"origin"`
	Rows   int64  `json:"rows"`
}

// A BusyRule is a rule and the number of verdicts that it decided.
type BusyRule struct {
	Origin string `json:"origin"` // origin of its robots.txt
	Others bool   `json:"others"` // whether the count includes rows of other origins with the same robots.txt
	Line   int32  `json:"line"`
	Rule   string `json:"rule"` // "Disallow: /private/", truncated if very long
	Rows   int64  `json:"rows"`

	allow bool
}

// longestRule is the maximum length, in bytes, of the text of a rule in the statistics.
const longestRule = 500

// appendRule adds a rule, if it has rows.
func appendRule(all []BusyRule, t *engine.BusyRule) []BusyRule {
	if t.Rows == 0 {
		return all
	}
	return append(all, BusyRule{string(t.Origin), t.Others, t.Rule.Line, shortenTo(t.Rule.String(), longestRule), t.Rows, t.Rule.Allow})
}

// addAgent adds the rows of an agent.
func (c *Clients) addAgent(a *AgentCount) {
	c.Rows += a.Rows
	c.Disallowed += a.Disallowed
}

// agentsWorstFirst returns the agents sorted by their number of violations, with -agent-from-log, and then by their
// number of disallowed rows, most first. ByAgent is unchanged.
func (r *Report) agentsWorstFirst() []AgentCount {
	return slices.SortedStableFunc(slices.Values(r.ByAgent), func(a, b AgentCount) int {
		if r.AgentFromLog {
			if c := cmp.Compare(*b.Violations, *a.Violations); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.Disallowed, a.Disallowed)
	})
}
