package report

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// A Requested is a path of the origins that share a file, with the crawlers that requested it.
type Requested struct {
	Path   string          // the part after the origin, as written in the log
	Counts []AgentRequests // by ascending Agent

	requests int64 // the sum of Counts
}

// A requestedURL is a candidate for MostRequested.
type requestedURL struct {
	path     []byte // the part after the origin
	counts   []AgentRequests
	requests int64 // the sum of counts
	site     engine.SiteID
}

// Bytes of a requestedURL.
const (
	requestedBytes = 128 // without its slices
	countBytes     = int(unsafe.Sizeof(AgentRequests{}))
)

// pieceBytes is the size of a piece of an arena. It is enough for many URLs.
const pieceBytes = 16 * aggregate.MaxURL

// An arena allocates many short slices in few large pieces.
type arena[T any] struct {
	pieces   [][]T
	at, used int // the piece in use, and the length of its used part
}

// alloc returns an empty slice with capacity n.
func (a *arena[T]) alloc(n int) []T {
	for ; a.at < len(a.pieces); a.at, a.used = a.at+1, 0 {
		if from := a.used; n <= len(a.pieces[a.at])-from {
			a.used += n
			return a.pieces[a.at][from:from:a.used]
		}
	}
	a.pieces = append(a.pieces, make([]T, max(n, pieceBytes/int(unsafe.Sizeof(*new(T))))))
	return a.alloc(n)
}

// clone returns a copy of a slice. After reset, the slices still in use may be cloned in the order of their
// allocation: none is overwritten before it is cloned.
func (a *arena[T]) clone(s []T) []T { return append(a.alloc(len(s)), s...) }

// reset has the pieces serve again.
func (a *arena[T]) reset() { a.at, a.used = 0, 0 }

// compactRequested moves the texts and counts of the remaining URLs together.
func (c *Counter) compactRequested(kept []requestedURL) {
	c.paths.reset()
	c.counts.reset()
	for i := range kept {
		kept[i].path, kept[i].counts = c.paths.clone(kept[i].path), c.counts.clone(kept[i].counts)
	}
}

// AgentRequests counts the requests for a URL of one crawler: a crawler of the log or a requested crawler.
type AgentRequests struct {
	Agent           int // index of the agents of the store, or a higher number, see Counter.AgentCounts
	Requests, Bytes int64
}

// SiteTotals returns the number of URLs and requests of some sites, summed; false if a site is not among the busiest.
// Call it after Settle.
func (c *Counter) SiteTotals(sites []engine.SiteID) (urls, requests int64, known bool) {
	left := len(sites)
	for _, one := range c.sites.Items() {
		if slices.Contains(sites, one.site) {
			urls, requests, left = urls+one.urls, requests+one.requests, left-1
		}
	}
	return urls, requests, left == 0
}

// addRequested adds a URL to the candidates for MostRequested.
func (c *Counter) addRequested(u *aggregate.URL, hash uint64) {
	rows := int64(0)
	for i := range u.Requests {
		rows += u.Requests[i].Rows
	}
	c.addSite(u, rows)
	if len(u.Text) >= aggregate.MaxURL || u.Site == engine.NoSite {
		return // the URL is truncated, or its rules cannot be edited
	}
	if !c.requested.Takes(rows, hash) {
		return
	}
	path := u.Text[u.Prefix:]
	r := c.requested.NewItem(rows, hash, requestedBytes+len(path)+len(u.Requests)*countBytes)
	r.path, r.site, r.requests = c.paths.clone(path), u.Site, rows
	r.counts = c.counts.alloc(len(u.Requests))
	for i := range u.Requests {
		r.counts = append(r.counts, AgentRequests{Agent: int(c.kinds.all[u.Requests[i].Kind].agent), Requests: u.Requests[i].Rows, Bytes: u.Requests[i].Bytes})
	}
}

// MostRequested returns, for each of some files given by their sites, up to a maximum number of URLs, the most
// requested first. Paths of sites with the same file are combined. It selects from the most requested URLs of all
// files, see Options.Memory. Call it after Settle and before Write.
func (c *Counter) MostRequested(files [][]engine.SiteID, most int) [][]Requested {
	of := map[engine.SiteID]int{}
	for i, sites := range files {
		for _, site := range sites {
			of[site] = i
		}
	}
	items, numbers := c.requested.All(), make([]int, len(files))
	for r := range items {
		if i, wanted := of[r.site]; wanted {
			numbers[i]++
		}
	}
	found := make([]map[uint64]int, len(files)) // index in all, by hash of the path
	all, chosen := make([][]requestedURL, len(files)), make([][]Requested, len(files))
	for i, n := range numbers {
		found[i], all[i] = make(map[uint64]int, n), make([]requestedURL, 0, n)
	}
	for r := range items {
		file, wanted := of[r.site]
		if !wanted {
			continue
		}
		path := aggregate.Hash(r.path)
		n, known := found[file][path]
		if !known {
			found[file][path] = len(all[file])
			all[file] = append(all[file], *r)
			continue
		}
		same := &all[file][n]
		same.counts, same.requests = slices.Concat(same.counts, r.counts), same.requests+r.requests
	}
	for i, urls := range all {
		slices.SortStableFunc(urls, func(a, b requestedURL) int { return cmp.Compare(b.requests, a.requests) })
		for _, r := range urls[:min(len(urls), most)] {
			chosen[i] = append(chosen[i], Requested{string(r.path), c.sumByAgent(r.counts), r.requests})
		}
	}
	return chosen
}

// sumByAgent sums the requests of each crawler.
func (c *Counter) sumByAgent(counts []AgentRequests) (sums []AgentRequests) {
	slices.SortFunc(counts, func(a, b AgentRequests) int { return cmp.Compare(a.Agent, b.Agent) })
	for _, n := range counts {
		if last := len(sums) - 1; last >= 0 && sums[last].Agent == n.Agent {
			sums[last].Requests += n.Requests
			sums[last].Bytes += n.Bytes
		} else {
			sums = append(sums, n)
		}
	}
	if !c.fromLog { // all of them ask for each
		for a := 1; a < c.verdicts; a++ {
			sums = append(sums, AgentRequests{Agent: a, Requests: sums[0].Requests, Bytes: sums[0].Bytes})
		}
	}
	return sums
}
