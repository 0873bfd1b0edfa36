package findings

import (
	"fmt"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
)

// A Repair is a rule without effect that would have one if it were written right.
type Repair struct {
	Origin         string
	Line           int32
	Rule, Repaired string
	Requests       int64            // of crawlers that it would have disallowed
	By             map[string]int64 // the same by crawler
}

// AddRequests counts requests of a crawler.
func (r *Repair) AddRequests(crawler string, requests int64) {
	if r.By == nil {
		r.By = map[string]int64{}
	}
	r.By[crawler] += requests
	r.Requests += requests
}

// ineffective finds rules that would have closed URLs that crawlers fetched, were they written right.
func ineffective(f *Facts) (found []Finding) {
	if f.Draft {
		return nil // crawlers were not sent these rules
	}
	for i := range f.Repairs {
		r := &f.Repairs[i]
		first, times := commonest(r.By)
		text := fmt.Sprintf("Line %d of the robots.txt%s, %s, is a whole URL, and matches nothing: crawlers fetched what it means, %s %s.",
			r.Line, f.of(show.Text(r.Origin)), brief(r.Rule), show.Text(first), show.Plural(times, "time"))
		if len(r.By) > 1 {
			text = fmt.Sprintf("Line %d of the robots.txt%s, %s, is a whole URL, and matches nothing: %s fetched what it means, %s alone %s.",
				r.Line, f.of(show.Text(r.Origin)), brief(r.Rule), show.Plural(int64(len(r.By)), "crawler"), show.Text(first), show.Plural(times, "time"))
		}
		for _, one := range f.findingOf(Ineffective, r.Requests, f.Requests, time.Time{}, time.Time{}, text) {
			one.Unit, one.Link, one.Title = "requests of crawlers that it was to close", "rules", "Rules"
			one.Do = "Write it as " + brief(r.Repaired) + "."
			found = append(found, one)
		}
	}
	return most(found, 2)
}
