package report

import (
	"cmp"
	"maps"
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
	for _, key := range c.mostAsked(rows, is) {
		row := listRow{}
		var rules []string
		all := c.askedBy(key)
		slices.SortFunc(all, func(a, b *request) int { return cmp.Or(cmp.Compare(rows(b), rows(a)), cmp.Compare(a.key, b.key)) })
		for _, r := range all {
			row.URL = string(c.requested.url(r))
			row.Of += r.counts.rows
			row.Missed += int64(r.missed)
			if !is(r) || rows(r) == 0 {
				continue
			}
			row.Requests += rows(r)
			if answer := c.kinds.all[r.kind].answer; answer >= 0 {
				rules = append(rules, c.nameOf(c.denials.all[answer][0].rule-1))
			}
		}
		if c.byTime {
			row.Missed += int64(c.requested.floor) // by a text of which it has no request here
		}
		if c.fromLog {
			row.Crawler = c.agentName(int(key.agent))
		}
		row.By = strings.Join(distinct(rules), "; ")
		l.Ruled = l.Ruled || row.By != ""
		l.Listed += row.Requests
		l.Rows = append(l.Rows, row)
	}
	slices.SortFunc(l.Rows, func(a, b listRow) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Crawler, b.Crawler))
	})
	return l
}

// An asker is a crawler that asked for a URL, by whatever text was in force.
type asker struct {
	url   uint64 // its hash
	agent uint16
}

// mostAsked returns those with the most rows of a kind.
func (c *Counter) mostAsked(rows func(r *request) int64, is func(r *request) bool) []asker {
	sums := map[asker]int64{}
	for i := range c.requested.all {
		if r := &c.requested.all[i]; is(r) && rows(r) > 0 && !c.isOther(r.agent) {
			sums[asker{r.hash, r.agent}] += rows(r)
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b asker) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a.url, b.url), cmp.Compare(a.agent, b.agent))
	})
	return keys[:min(len(keys), shownURLs)]
}

// askedBy returns the requests of one URL by a crawler.
func (c *Counter) askedBy(key asker) (all []*request) {
	for i := range c.requested.all {
		if r := &c.requested.all[i]; r.hash == key.url && r.agent == key.agent {
			all = append(all, r)
		}
	}
	return all
}

// distinct returns texts without those that came before.
func distinct(texts []string) (all []string) {
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
