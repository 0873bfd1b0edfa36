package report

import (
	"cmp"
	"slices"
	"strings"
)

// A list is the most requested URLs of a kind.
type list struct {
	Name   string // what the URLs are
	Verb   string // what the server did with their requests
	Total  int64
	Others int64 // requests of the same kind of clients that are no known crawlers; they are not listed
	Listed int64
	Rows   []listRow
	Ruled  bool   // rules stand beside some
	Missed uint32 // a URL that is not here has at most so many requests
}

// A listRow is a URL.
type listRow struct {
	URL, Crawler, By string
	Requests         int64
	Of               int64 // all requests of it
	Missed           int64
}

// shownURLs is how many URLs a list has.
const shownURLs = 100

// list returns the requests with the most rows of a kind.
func (c *Counter) list(name string, rows func(r *request) int64, is func(r *request) bool, total parted) *list {
	_, verb, _ := strings.Cut(name, " but ")
	l := &list{Name: name, Verb: strings.ToUpper(verb[:1]) + verb[1:], Total: total.own, Others: total.others, Missed: c.requested.floor}
	var found []*request
	for i := range c.requested.all {
		if r := &c.requested.all[i]; is(r) && rows(r) > 0 && !c.isOther(r.agent) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *request) int {
		return cmp.Or(cmp.Compare(rows(b), rows(a)), slices.Compare(c.requested.url(a), c.requested.url(b)), cmp.Compare(a.agent, b.agent), cmp.Compare(a.key, b.key))
	})
	for _, r := range found[:min(len(found), shownURLs)] {
		row := listRow{URL: string(c.requested.url(r)), Requests: rows(r), Of: r.counts.rows, Missed: int64(r.missed)}
		if c.fromLog {
			row.Crawler = c.agentName(int(r.agent))
		}
		if answer := c.kinds.all[r.kind].answer; answer >= 0 {
			row.By, l.Ruled = c.nameOf(c.denials.all[answer][0].rule-1), true
		}
		l.Listed += row.Requests
		l.Rows = append(l.Rows, row)
	}
	return l
}

// isRobots reports whether a request of a known crawler is for a robots.txt itself, which crawlers have to fetch.
func (c *Counter) isRobots(r *request) bool {
	name, _, _ := strings.Cut(string(c.requested.url(r)[r.prefix:]), "?")
	return name == "/robots.txt" && !c.isOther(r.agent)
}
