package replies

import "github.com/robobatch/robobatch/engine"

// mostTxtSites is how many origins the answers to requests of robots.txt are counted of.
const mostTxtSites = 1 << 12

// Txt counts the answers to requests of robots.txt by origin. The page counts them nowhere else. The zero value is none.
type Txt struct {
	Unserved UnservedTxt // the origin that failed most often

	of map[engine.SiteID]map[int64]int64 // by status
}

// An UnservedTxt is a robots.txt that was never sent: each request of it was answered by 4xx or 5xx.
type UnservedTxt struct {
	Origin    string
	Requests  int64
	Status    int64 // the commonest
	Commonest int64 // requests that it answered
	Ruled     bool  // the rules have a text of it
}

// AddAnswer counts an answer. Those of origins that the rules do not know are left out.
func (t *Txt) AddAnswer(site engine.SiteID, status int64) {
	if _, stray := site.Stray(); stray {
		return
	}
	by := t.of[site]
	if by == nil {
		if len(t.of) >= mostTxtSites {
			return
		}
		if t.of == nil {
			t.of = map[engine.SiteID]map[int64]int64{}
		}
		by = map[int64]int64{}
		t.of[site] = by
	}
	by[status]++
}

// EndSite looks at the answers of an origin, when the URL of its robots.txt is visited.
func (t *Txt) EndSite(site engine.SiteID, origin []byte, ruled bool) {
	by := t.of[site]
	if by == nil {
		return
	}
	delete(t.of, site) // there may be URLs with a query
	one := UnservedTxt{Origin: string(origin), Ruled: ruled}
	for status, n := range by {
		if class := status / 100; class != 4 && class != 5 {
			return
		}
		if one.Requests += n; n > one.Commonest || n == one.Commonest && status < one.Status {
			one.Status, one.Commonest = status, n
		}
	}
	if one.Requests > t.Unserved.Requests {
		t.Unserved = one
	}
}
