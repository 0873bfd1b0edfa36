package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/timespan"
	"github.com/robobatch/robobatch/report/internal/replies"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/report/internal/timeline"
)

// An Outage is a path that fails for crawlers from a moment on to the end of the log.
type Outage struct {
	Origin, Path string // Path ends with "/", which alone is all of the site, or is a page
	From, To     time.Time
	By           []Failed // by crawler, those with the most errors first
	Every        bool     // no other crawler got a page there in that time
}

// A Failed is the answers to a crawler in an outage.
type Failed struct {
	Part     // Requests are errors, and Of all answers
	Statuses map[int64]int64
	Hours    []replies.Hour
}

// sums returns the errors of an outage, and all answers.
func (o *Outage) sums() (failed, of int64) {
	for i := range o.By {
		failed, of = failed+o.By[i].Requests, of+o.By[i].Of
	}
	return failed, of
}

// status returns the commonest error, and how often it came.
func (o *Outage) status() (status, came int64) {
	all := map[int64]int64{}
	for i := range o.By {
		for status, n := range o.By[i].Statuses {
			all[status] += n
		}
	}
	return commonest(all)
}

// commonest returns the key with the greatest number, the least of equal ones, and the number; the zero values if there is none.
func commonest[K cmp.Ordered](numbers map[K]int64) (key K, number int64) {
	for one, n := range numbers {
		if n > number || n == number && one < key {
			key, number = one, n
		}
	}
	return key, number
}

// named returns a crawler by its name; nil if it is not there.
func (f *Facts) named(name string) *Crawler {
	if i := slices.IndexFunc(f.Crawlers, func(c Crawler) bool { return c.Name == name }); i >= 0 {
		return &f.Crawlers[i]
	}
	return nil
}

// failingPaths finds the paths that fail at the end of the log, and returns the outages that it tells of.
func (f *Facts) failingPaths() (found []Finding, told []*Outage) {
	const shown = 2
	for i := range f.Outages {
		o := &f.Outages[i]
		failed, _ := o.sums()
		of, search := int64(0), false
		for n := range o.By {
			if c := f.named(o.By[n].Crawler); c != nil {
				of, search = of+f.answered(c, o.From), search || c.Search
			}
		}
		if timespan.Between(o.To, f.To) > max(f.slack(), timespan.Between(o.From, o.To)/4) {
			continue
		}
		for _, one := range f.findingOf(FailingPath, failed, of, o.From, f.To, f.failingPath(o)) {
			one.When = "for " + length(timespan.Between(o.From, f.To))
			one.Unit, one.Link, one.Title = "requests of crawlers", "answers", "Answers"
			if one.losesPages = search; !search {
				one.score /= 4
			}
			one.Do = "Repair these pages, or the proxy or firewall that refuses crawlers there: crawlers come less to a server that fails, and pages that keep failing drop out of search."
			found, told = append(found, one), append(told, o)
		}
	}
	if found = most(found, shown); len(told) > shown {
		told = slices.DeleteFunc(told, func(o *Outage) bool {
			return !slices.ContainsFunc(found, func(one Finding) bool { return one.Text == f.failingPath(o) })
		})
	}
	return found, told
}

// answered returns the answers to a crawler from a time on.
func (f *Facts) answered(c *Crawler, from time.Time) int64 {
	if len(c.Points) == 0 {
		return c.Answered
	}
	return f.within(c.Points, from, f.To.Add(time.Second)).Answered
}

// failingPath is the sentence about an outage.
func (f *Facts) failingPath(o *Outage) string {
	failed, of := o.sums()
	status, n := o.status()
	what, answers, nearly := brief(o.Path), "answers", ""
	if failed < of {
		nearly = "nearly always "
	}
	if o.Path == "/" {
		what, answers, nearly = "All pages", "answer", ""
		if failed < of {
			what = "Nearly all pages"
		}
	}
	code := strconv.FormatInt(status, 10)
	if n < failed {
		code = fmt.Sprintf("errors (5xx), most often %d,", status)
	}
	names, parts := make([]string, 0, len(o.By)), make([]string, 0, len(o.By))
	for i := range o.By {
		p := &o.By[i]
		names = append(names, show.Text(p.Crawler))
		parts = append(parts, fmt.Sprintf("%s of %s", show.Number(p.Requests), ofRequests(p.Of, i == 0))+" of "+show.Text(p.Crawler))
	}
	if len(parts) > 3 {
		rest := Outage{By: o.By[2:]}
		failed, of := rest.sums()
		parts = append(parts[:2], fmt.Sprintf("%s of %s of %d other crawlers", show.Number(failed), show.Number(of), len(rest.By)))
	}
	to := list(names, "other crawler")
	switch {
	case o.Every && len(names) > 2:
		to = "every crawler"
	case len(names) == 1:
		parts[0] = strings.TrimSuffix(parts[0], " of "+names[0])
	}
	since := " since " + o.From.Format(minute)
	if timespan.Between(f.From, o.From) <= f.slack() {
		since = " in the whole log"
	}
	return fmt.Sprintf("%s%s %s%s %s to %s%s: %s.", what, f.of(show.Text(o.Origin)), nearly, answers, code, to, since, list(parts, ""))
}

// ofRequests returns a number of requests, with their name at first.
func ofRequests(n int64, first bool) string {
	if first {
		return show.Plural(n, "request")
	}
	return show.Number(n)
}

// without returns the facts without the answers of some outages.
func (f *Facts) without(told []*Outage) *Facts {
	left := *f
	left.Crawlers = slices.Clone(f.Crawlers)
	for _, o := range told {
		for i := range o.By {
			p := &o.By[i]
			c := left.named(p.Crawler)
			if c == nil {
				continue
			}
			c.Answers = c.Sub(timeline.Answers{Answered: p.Of, Failed: p.Requests})
			c.Points = slices.Clone(c.Points)
			for _, hour := range p.Hours {
				if n, is := slices.BinarySearch(f.Starts, hour.At); is || n > 0 {
					if !is {
						n--
					}
					if n < len(c.Points) {
						c.Points[n].Answers = c.Points[n].Sub(timeline.Answers{Answered: hour.Answered, Failed: hour.Failed})
					}
				}
			}
			s := &c.Samples[2]
			s.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(row Answer) bool { return strings.HasPrefix(row.Path, o.Path) && !row.At.Before(o.From) })
			s.Of = max(0, s.Of-p.Requests)
		}
	}
	return &left
}
