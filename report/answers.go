package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
)

// A list holds the most requested URLs whose responses contradict their verdicts.
type list struct {
	Name   string // what the URLs are and how the server responded
	Total  int64
	Others int64 // requests of the same kind by unidentified clients; their URLs are not listed
	Listed int64
	Rows   []listRow
	Ruled  bool // some rows have a rule
}

// A listRow is a URL, with the requests of one crawler.
type listRow struct {
	URL, Crawler, By string
	Requests         int64
	Of               int64 // all requests of the crawler for the URL, whatever their response
}

// shownURLs is the number of URLs in a list.
const shownURLs = 100

// answers collects the rows of a list.
type answers struct {
	rows   *aggregate.Largest[answerRow]
	byKind func(k *kind, n *aggregate.RowCounts) int64 // number of rows with the listed kind of response
	total  sumOf
}

// An answerRow counts the requests of one crawler for a URL, by kind.
type answerRow struct {
	url      string
	agent    uint16
	requests []aggregate.Request
}

// A sumOf is two sums: for known crawlers (or all clients, if crawlers are not identified), and for unidentified
// clients.
type sumOf struct{ own, others int64 }

// newAnswers returns an empty list.
func newAnswers(byKind func(k *kind, n *aggregate.RowCounts) int64) answers {
	return answers{rows: aggregate.NewLargest[answerRow](shownURLs), byKind: byKind}
}

// addURL adds the requests of one URL by one crawler.
func (a *answers) addURL(c *Counter, u *aggregate.URL, hash uint64, requests []aggregate.Request) {
	sum, agent := int64(0), c.kinds.all[requests[0].Kind].agent
	for i := range requests {
		sum += a.byKind(&c.kinds.all[requests[i].Kind], &requests[i].RowCounts)
	}
	if c.isOther(agent) {
		a.total.others += sum
		return
	}
	if a.total.own += sum; a.rows.Takes(sum, hash) {
		a.rows.AddItem(sum, hash, answerRow{string(u.Text), agent, slices.Clone(requests)})
	}
}

// list returns the list, with the most requested URLs first.
func (c *Counter) list(name string, a *answers) *list {
	l := &list{Name: name, Total: a.total.own, Others: a.total.others}
	for _, item := range a.rows.Items() {
		row := listRow{URL: item.url}
		listed := func(r *aggregate.Request) int64 { return a.byKind(&c.kinds.all[r.Kind], &r.RowCounts) }
		slices.SortStableFunc(item.requests, func(x, y aggregate.Request) int { return cmp.Compare(listed(&y), listed(&x)) })
		var rules []string
		for i := range item.requests {
			r := &item.requests[i]
			n := listed(r)
			row.Of += r.Rows
			row.Requests += n
			if answer := c.kinds.all[r.Kind].answer; n > 0 && answer >= 0 {
				if rule := c.nameOf(c.denials.all[answer][0].rule); !slices.Contains(rules, rule) {
					rules = append(rules, rule)
				}
			}
		}
		if c.fromLog {
			row.Crawler = c.agentName(int(item.agent))
		}
		row.By = strings.Join(rules, "; ")
		l.Ruled = l.Ruled || row.By != ""
		l.Listed += row.Requests
		l.Rows = append(l.Rows, row)
	}
	slices.SortFunc(l.Rows, func(a, b listRow) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Crawler, b.Crawler))
	})
	return l
}
