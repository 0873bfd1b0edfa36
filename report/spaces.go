package report

import (
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/report/internal/waste"
)

// A spaceView is URLs without end as the page shows them.
type spaceView struct {
	*waste.Space
	Spent []spentView // the crawler with the most requests first
	More  int64       // other crawlers
}

// A spentView is the requests a crawler spent on them.
type spentView struct {
	Name         string
	Requests, Of int64 // of all that it made, without impostors
}

// Share returns the share of the requests of the crawler.
func (s spentView) Share() float64 { return show.Share(s.Requests, s.Of) }

// shownSpent is how many crawlers stand beside a space.
const shownSpent = 4

// spaceViews returns the spaces, and the requests that the crawlers spent on them.
func (c *Counter) spaceViews(rows []Crawler) (all []spaceView) {
	made := map[string]int64{}
	for i := range rows {
		made[rows[i].Name] = rows[i].Requests - rows[i].verified[ranges.No].Rows
	}
	for _, one := range c.spaces.Rows() {
		v := spaceView{Space: one}
		for _, by := range one.By {
			if name := c.agentName(by.Crawler); len(v.Spent) < shownSpent {
				v.Spent = append(v.Spent, spentView{name, by.Requests, made[name]})
			} else {
				v.More++
			}
		}
		all = append(all, v)
	}
	return all
}
