package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/findings"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/robots"
)

// TestTxtAnswers holds that answers to requests of robots.txt are in no number of those of pages, and that a robots.txt that always
// fails is a finding.
func TestTxtAnswers(t *testing.T) {
	for _, test := range []struct {
		name, origin string
		statuses     map[int64]int // of robots.txt
		want         string        // the finding; "" is none
	}{
		{"missing", "https://a.example", map[int64]int{404: 600}, "/robots.txt is never answered with 200: 600 of 600 requests got 404. Crawlers then take everything as allowed."},
		{"fails", "https://a.example", map[int64]int{503: 600, 403: 2}, "/robots.txt is never answered with 200: 600 of 602 requests got 503. Crawlers then take everything as disallowed, and may stop."},
		{"too many", "https://c.example", map[int64]int{429: 10}, ""}, // the rules do not know the origin
		{"refuses", "https://b.example", map[int64]int{429: 10}, "/robots.txt is never answered with 200: 10 of 10 requests got 429. Crawlers then take everything as disallowed, and may stop."},
		{"sent once", "https://a.example", map[int64]int{404: 600, 200: 1}, ""},
		{"not modified", "https://a.example", map[int64]int{404: 600, 304: 1}, ""},
		{"elsewhere", "https://a.example", map[int64]int{301: 600}, ""},
		{"few", "https://a.example", map[int64]int{404: 9}, ""},
	} {
		var all []fetch
		for status, n := range test.statuses {
			for i := range n {
				url := test.origin + robots.TxtPath
				if i%9 == 8 {
					url += "?x=1"
				}
				all = append(all, fetch{url: url, userAgent: clients[1], at: 1_770_000_000_000_000 + int64(i)*1e6, status: status})
			}
		}
		for i := range 20 {
			all = append(all, fetch{url: fmt.Sprintf("%s/q/%d", test.origin, i), userAgent: clients[1], at: 1_770_000_000_000_000 + int64(i)*1e6, status: 200})
		}
		c, stats := counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1})
		v, got := c.newView(&Run{Stats: stats}), ""
		for _, one := range v.Findings.All {
			if one.Kind == findings.Unserved {
				got = one.Text
			} else if slices.Contains([]findings.Kind{findings.Missing, findings.Failing, findings.Redirected}, one.Kind) {
				t.Errorf("%s: found is %s", test.name, one.Text)
			}
		}
		if got != test.want {
			t.Errorf("%s: found is %q, want %q", test.name, got, test.want)
		}
		sum := timeline.Answers{}
		for _, cells := range c.series.Points(c.series.Shown(), 0, 1<<12).Answers {
			for _, cell := range cells {
				sum = sum.Plus(cell)
			}
		}
		if sum != (timeline.Answers{Answered: 20}) {
			t.Errorf("%s: answers by time are %+v", test.name, sum)
		}
		if row := v.Crawlers[0]; row.Classes != [statuses]int64{2: 20} || v.Failed.Total != 0 || len(v.Waste) > 0 {
			t.Errorf("%s: answers are %v, %d fail, parameters are %v", test.name, row.Classes, v.Failed.Total, v.Waste)
		}
	}
}
