package report

import (
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// A Requested is a path of the origins of a file, and who asked for it.
type Requested struct {
	Path   string          // what follows the origin, as the log has it
	Counts []AgentRequests // by ascending Agent
	Missed int64           // requests that may be missing in Counts, at most
}

// AgentRequests are the requests of a crawler for a URL: that of the log or, without crawlers of the
// log, of each that is asked for.
type AgentRequests struct {
	Agent    int // index of the agents of the store
	Requests int64
}

// MostRequested returns the most requested URLs of each of some files, whose sites are given, at most so
// many of each, those with the most requests first. Paths of sites that have the same file are put together.
// It is called before Write.
func (c *Counter) MostRequested(files [][]engine.SiteID, most int) [][]Requested {
	of := map[engine.SiteID]int{}
	for i, sites := range files {
		for _, site := range sites {
			of[site] = i
		}
	}
	found := make([][]pathEntry, len(files))
	for i := range c.requested.all {
		r := &c.requested.all[i]
		if n, wanted := of[r.site]; wanted && r.n < maxURL {
			found[n] = append(found[n], pathEntry{aggregate.Hash(c.requested.url(r)[r.prefix:]), int32(i)})
		}
	}
	all := make([][]Requested, len(files))
	for n := range found {
		all[n] = c.mostRequested(found[n], most)
	}
	return all
}

// A pathEntry is a request, by the hash of its path.
type pathEntry struct {
	hash    uint64
	request int32 // index of Counter.requested.all
}

// mostRequested returns the paths of a file with the most requests, at most so many.
func (c *Counter) mostRequested(entries []pathEntry, most int) []Requested {
	all := c.requested.all
	slices.SortFunc(entries, func(a, b pathEntry) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return cmp.Compare(all[a.request].agent, all[b.request].agent) // looked at for these alone: it is a wait for memory
	})
	type span struct { // the entries of a path
		rows     int64
		from, to int32
	}
	var paths []span
	for from := 0; from < len(entries); {
		s := span{from: int32(from)}
		for hash := entries[from].hash; from < len(entries) && entries[from].hash == hash; from++ {
			s.rows += all[entries[from].request].counts.rows
		}
		s.to = int32(from)
		paths = append(paths, s)
	}
	slices.SortFunc(paths, func(a, b span) int { return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.from, b.from)) })
	paths = paths[:min(len(paths), most)]
	urls := make([]Requested, len(paths))
	var counts []AgentRequests // of all: a slice for each would take longer
	for i, p := range paths {
		r := &all[entries[p.from].request]
		urls[i].Path = string(c.requested.url(r)[r.prefix:])
		begin := len(counts)
		for _, e := range entries[p.from:p.to] {
			urls[i].Missed += int64(all[e.request].missed)
			if last := len(counts) - 1; last >= begin && counts[last].Agent == int(all[e.request].agent) {
				counts[last].Requests += all[e.request].counts.rows
			} else {
				counts = append(counts, AgentRequests{int(all[e.request].agent), all[e.request].counts.rows})
			}
		}
		if !c.fromLog { // all of them ask for each
			for a := 1; a < c.verdicts; a++ {
				counts = append(counts, AgentRequests{a, counts[begin].Requests})
			}
		}
		urls[i].Counts = counts[begin:len(counts):len(counts)]
	}
	return urls
}

// requests returns the sum of the requests.
func (r *Requested) requests() (n int64) {
	for _, c := range r.Counts {
		n += c.Requests
	}
	return n
}
