package decide

import (
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// samePreferences reports whether a text states the same preferences for two crawlers, regardless of the lines.
func samePreferences(a, b *robots.Bound) bool {
	for s := range a {
		if !slices.EqualFunc(a[s], b[s], func(a, b robots.Statement) bool { return a.Pattern == b.Pattern && a.Uses == b.Uses }) {
			return false
		}
	}
	return true
}

// A Wish counts the requests by preference before and after, for one use.
type Wish struct {
	Use      int // index of robots.Uses
	From, To robots.Preference
	Requests int64
	URLs     int
	Top      int32 // the most requested URL; among equals the first
}

// wishCounts count requests by use, preference before, and preference after.
type wishCounts struct {
	urls  int
	byURL [robots.NumUses][3][3][]int64 // nil is none
}

// addUses adds the requests for a URL, by use, unless neither text states a preference for the use.
func (c *wishCounts) addUses(url int32, from, to robots.Uses, requests int64) {
	for use := range from {
		if from[use] == robots.Unstated && to[use] == robots.Unstated {
			continue
		}
		list := &c.byURL[use][from[use]][to[use]]
		if *list == nil {
			*list = make([]int64, c.urls)
		}
		(*list)[url] += requests
	}
}

// list returns the sums of the counts: by use, and for each use changed preferences first.
func (c *wishCounts) list() (all []Wish) {
	for use := range c.byURL {
		for _, changed := range [...]bool{true, false} {
			for from := range c.byURL[use] {
				for to, requests := range c.byURL[use][from] {
					if requests != nil && changed == (from != to) {
						all = append(all, sumWish(Wish{Use: use, From: robots.Preference(from), To: robots.Preference(to)}, requests))
					}
				}
			}
		}
	}
	return all
}

// sumWish returns w with the sum of requests, which are by URL, the number of URLs, and the most requested URL.
func sumWish(w Wish, requests []int64) Wish {
	for url, n := range requests {
		if n == 0 {
			continue
		}
		if w.URLs == 0 || n > requests[w.Top] {
			w.Top = int32(url)
		}
		w.URLs++
		w.Requests += n
	}
	return w
}
