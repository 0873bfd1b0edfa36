package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/report/internal/timeline"
)

// A Crawler is a row of the table of crawlers.
type Crawler struct {
	Name, About string
	Requests    int64
	URLs        *int64 // nil if not counted, for example for sums of several crawlers
	Denied      int64
	Violations  int64
	Binding     string
	Unbound     bool // whether it includes unidentified clients, which robots.txt does not bind
	Bytes       int64
	Classes     [statuses]int64
	Spark       string // an SVG path; "" means none
	SparkWidth  int

	verified [ranges.NumAnswers]engine.VerifiedCount
}

// crawlers returns the rows of the table of crawlers, and their sums.
func (c *Counter) crawlers(run *Run, sparks *timeline.Points) (all, sums []Crawler) {
	for a, counts := range c.AgentCounts(run) {
		name := counts.Name
		row := Crawler{Name: name, Denied: counts.Denied, Violations: counts.Violations, verified: counts.Verified, Requests: counts.Allowed + counts.Denied + counts.Unknown}
		if !c.fromLog {
			row.Denied -= c.fetched[a]
		}
		token, _, _ := strings.Cut(name, "/")
		known, ok := crawlers.Lookup(token)
		if ok {
			row.About = strings.Join(known.Purposes, ", ")
			if known.Operator != "" {
				row.About = known.Operator + ", " + row.About
			}
		}
		if a >= len(c.store.Options().Agents) {
			row.About = "named in robots.txt"
		}
		row.Binding = map[engine.Binding]string{engine.Bound: "yes", engine.Exempt: "no", engine.BindingUnknown: "unknown"}[c.look.Binding(a)]
		if c.fromLog {
			if row.Requests == 0 {
				continue
			}
			if a == 0 {
				row.Name, row.About, row.Unbound = otherClients, "browsers and unknown crawlers", true
			}
			row.URLs, row.Classes, row.Bytes = &c.agentURLs[a].N, c.classes[a], c.agentBytes[a]
			if sparks != nil && a < len(sparks.Of[timeline.Requests]) {
				row.Spark, row.SparkWidth = timeline.Spark(sparks.Sum(timeline.Requests, a))
			}
		}
		all = append(all, row)
	}
	slices.SortStableFunc(all, func(a, b Crawler) int {
		return cmp.Or(cmp.Compare(b.Violations, a.Violations), cmp.Compare(b.Denied, a.Denied), cmp.Compare(b.Requests, a.Requests))
	})
	for _, set := range []string{"search", "ai"} {
		if row, n := together(set, all); n > 1 || n == 1 && c.fromLog {
			if !c.fromLog {
				row.About += ", in verdicts"
			}
			sums = append(sums, row)
		}
	}
	if len(all) > 1 {
		sum := Crawler{Name: "all", About: fmt.Sprintf("all %d crawlers, in verdicts", len(all))}
		for i := range all {
			sum.addRow(&all[i])
		}
		if c.fromLog {
			sum.About, sum.URLs = "crawlers and other clients", &c.urls
			if sparks != nil {
				sum.Spark, sum.SparkWidth = timeline.Spark(sparks.Sum(timeline.Requests))
			}
		}
		sums = append(sums, sum)
	}
	return all, sums
}

// together returns the sum of the crawlers in a set, and how many they are.
func together(set string, all []Crawler) (sum Crawler, n int) {
	sum.Name = map[string]string{"search": "search engines", "ai": "AI crawlers"}[set]
	members := crawlers.Set(set)
	for i := range all {
		token, _, _ := strings.Cut(all[i].Name, "/")
		if slices.ContainsFunc(members, func(c crawlers.Crawler) bool { return strings.EqualFold(c.Token, token) }) {
			n++
			sum.addRow(&all[i])
		}
	}
	sum.About = fmt.Sprintf("%d crawlers combined", n)
	return sum, n
}

// addRow adds the requests of a row.
func (c *Crawler) addRow(row *Crawler) {
	c.Requests += row.Requests
	c.Denied += row.Denied
	c.Violations += row.Violations
	c.Bytes += row.Bytes
	c.Unbound = c.Unbound || row.Unbound
	for i, n := range row.Classes {
		c.Classes[i] += n
	}
	for i, n := range row.verified {
		c.verified[i].Rows += n.Rows
		c.verified[i].Denied += n.Denied
	}
}

// Came returns the requests and disallowed requests by verification result: verified; from impostors; and unknown,
// because no list is published, lists are stale, or the address is missing.
func (c Crawler) Came() []engine.VerifiedCount {
	v := &c.verified
	return []engine.VerifiedCount{v[ranges.Yes], v[ranges.No], v[ranges.Unpublished], v[ranges.Stale], v[ranges.Null]}
}

// agentName returns the name of a crawler of the log for the page.
func (c *Counter) agentName(a int) string {
	if c.fromLog {
		return clientName(c.callers, a)
	}
	return c.store.Options().Agents[a]
}

// clientName returns the name of a crawler of a log.
func clientName(callers *engine.AgentList, a int) string {
	if a == 0 {
		return otherClients
	}
	return callers.Names()[a]
}

// AgentCounts returns the request counts by agent number: the agents of the store, then, with crawlers of the log,
// those that only a robots.txt names.
func (c *Counter) AgentCounts(run *Run) (all []engine.NamedCount) {
	for a, name := range c.store.Options().Agents {
		all = append(all, engine.NamedCount{Name: name, AgentCount: run.Stats.Agents[a]})
	}
	if !c.fromLog {
		return all
	}
	at := map[string]int{}
	for _, name := range c.callers.Names()[len(all):] {
		at[name] = len(all)
		all = append(all, engine.NamedCount{Name: name})
	}
	for _, n := range run.Stats.Named {
		i, ok := at[n.Name]
		if !ok {
			i = at[engine.OtherNamed]
		}
		all[i].Add(&n.AgentCount)
	}
	return all
}

// otherClients stands for unidentified clients.
const otherClients = "other clients"

// known returns the number of responses with a status.
func (c Crawler) known() (n int64) {
	for _, one := range c.Classes[1:] {
		n += one
	}
	return n
}

// Failing returns the share of responses with 4xx or 5xx.
func (c Crawler) Failing() float64 { return show.Share(c.Classes[4]+c.Classes[5], c.known()) }

// Shares returns the shares of responses from 2xx to 5xx.
func (c Crawler) Shares() (all [4]string) {
	known := c.known()
	for i := range all {
		all[i] = show.Percent(show.Share(c.Classes[i+2], known))
	}
	return all
}
