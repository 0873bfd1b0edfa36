package report

import (
	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/findings"
	"github.com/robobatch/robobatch/robots"
)

// mostTxtSites is how many origins the answers to requests of robots.txt are counted of.
const mostTxtSites = 1 << 12

// txtAnswers count the answers to requests of robots.txt by origin. The page counts them nowhere else. The zero value is none.
type txtAnswers struct {
	of  map[engine.SiteID]map[int64]int64 // by status
	top findings.UnservedTxt              // the origin that failed most often
}

// addAnswer counts the answer of a row. Rows of origins that the rules do not know are left out.
func (a *txtAnswers) addAnswer(c *Counter, b *engine.Batch, i int) {
	site := b.Sites[i]
	if _, stray := site.Stray(); stray || statusClass(b, i, c.status) == 0 {
		return
	}
	by := a.of[site]
	if by == nil {
		if len(a.of) >= mostTxtSites {
			return
		}
		if a.of == nil {
			a.of = map[engine.SiteID]map[int64]int64{}
		}
		by = map[int64]int64{}
		a.of[site] = by
	}
	by[b.Kept[c.status].Ints[i]]++
}

// isTxt reports whether a URL names a robots.txt.
func isTxt(u *aggregate.URL) bool { return robots.IsTxt(u.Text[u.Prefix:]) }

// endURL looks at the answers of an origin, when the URL of its robots.txt is visited.
func (a *txtAnswers) endURL(c *Counter, u *aggregate.URL) {
	by := a.of[u.Site]
	if by == nil {
		return
	}
	delete(a.of, u.Site) // there may be URLs with a query
	one := findings.UnservedTxt{Origin: string(u.Text[:u.Prefix])}
	for status, n := range by {
		if class := status / 100; class != 4 && class != 5 {
			return
		}
		if one.Requests += n; n > one.Commonest || n == one.Commonest && status < one.Status {
			one.Status, one.Commonest = status, n
		}
	}
	for i := range u.Requests {
		one.Ruled = one.Ruled || c.kinds.all[u.Requests[i].Kind].file != nil
	}
	if one.Requests > a.top.Requests {
		a.top = one
	}
}
