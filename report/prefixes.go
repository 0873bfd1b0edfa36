package report

import (
	"bytes"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/waste"
)

// The limits of prefixes.
const (
	mostPrefixes  = 1 << 10 // that are kept, the busiest
	leastPrefix   = 50      // requests of these
	prefixDepth   = 3       // directories of a prefix
	prefixSamples = 32      // paths of a prefix that are kept
	sampleZeros   = 3       // that the hashes of these begin with, so that few paths are copied
)

// prefixCounts count the requests for the directories of each site, to a depth of prefixDepth. URLs come in an order in which those of
// one directory are neighbours, so that only one directory of each depth is open.
type prefixCounts struct {
	site engine.SiteID
	open [prefixDepth + 1]prefix // 0 is all of the site
	used int
	kept *aggregate.Largest[sitePrefix]
}

// A prefix is an open directory.
type prefix struct {
	path     []byte // it ends with "/"
	requests int64
	made     []waste.Spent // requests that robots.txt allowed, without those of impostors
	by       []textRequests
	sample   []sampled // by ascending hash
}

// A textRequests is the requests while a text was in force.
type textRequests struct {
	text     engine.RulingID
	requests int64
}

// addText adds requests while a text was in force.
func addText(all []textRequests, text engine.RulingID, requests int64) []textRequests {
	for i := range all {
		if all[i].text == text {
			all[i].requests += requests
			return all
		}
	}
	return append(all, textRequests{text, requests})
}

// requestsBy returns the requests while a text was in force.
func requestsBy(all []textRequests, text engine.RulingID) int64 {
	for _, by := range all {
		if by.text == text {
			return by.requests
		}
	}
	return 0
}

// filesOf returns the indexes of the files of each site.
func filesOf(files []aggregate.BusyFile) map[engine.SiteID][]int {
	of := map[engine.SiteID][]int{}
	for i := range files {
		for _, site := range files[i].Sites {
			of[site] = append(of[site], i)
		}
	}
	return of
}

// A sampled is a path of the sample, which has the paths with the least hashes.
type sampled struct {
	hash uint64
	path []byte
}

// A sitePrefix is a directory of a site that is complete.
type sitePrefix struct {
	Prefix
	site engine.SiteID
	by   []textRequests
}

func newPrefixes() prefixCounts {
	return prefixCounts{site: engine.NoSite, kept: aggregate.NewLargest[sitePrefix](mostPrefixes)}
}

// addURL counts the requests of a URL, by text if kinds are given, and those that robots.txt allowed crawlers.
func (p *prefixCounts) addURL(u *aggregate.URL, kinds []kind, hash uint64, made []waste.Spent) {
	if u.Site == engine.NoSite || len(u.Text) >= aggregate.MaxURL || u.PathEnd <= u.Prefix || u.Text[u.Prefix] != '/' {
		return
	}
	if u.Site != p.site {
		p.leave(0)
		p.site = u.Site
	}
	path, depth := u.Text[u.Prefix:u.PathEnd], 0
	for end := 1; ; depth++ {
		if depth < p.used && !bytes.Equal(p.open[depth].path, path[:end]) {
			p.leave(depth)
		}
		if depth == p.used {
			one := &p.open[depth]
			one.path, one.requests, one.made, one.sample = append(one.path[:0], path[:end]...), 0, one.made[:0], one.sample[:0]
			one.by = one.by[:0]
			p.used++
		}
		next := bytes.IndexByte(path[end:], '/')
		if next < 0 || depth == prefixDepth {
			break
		}
		end += next + 1
	}
	p.leave(depth + 1)
	one := &p.open[depth]
	for i := range u.Requests {
		r := &u.Requests[i]
		one.requests += r.Rows
		if kinds != nil && kinds[r.Kind].file != nil {
			one.by = addText(one.by, kinds[r.Kind].file.Ruling(), r.Rows)
		}
	}
	for _, by := range made {
		one.made = waste.Spend(one.made, by.Crawler, by.Requests)
	}
	if hash>>(64-sampleZeros) == 0 {
		one.addSample(hash, u.Text[u.Prefix:])
	}
}

// leave completes the open directories from a depth on.
func (p *prefixCounts) leave(depth int) {
	for p.used > depth {
		p.used--
		one := &p.open[p.used]
		if one.requests >= leastPrefix && p.kept.Takes(one.requests, 0) {
			p.kept.AddItem(one.requests, 0, sitePrefix{one.complete(), p.site, slices.Clone(one.by)})
		}
		if p.used == 0 {
			return
		}
		above := &p.open[p.used-1]
		above.requests += one.requests
		for _, by := range one.by {
			above.by = addText(above.by, by.text, by.requests)
		}
		for _, by := range one.made {
			above.made = waste.Spend(above.made, by.Crawler, by.Requests)
		}
		for i := range one.sample {
			above.addSample(one.sample[i].hash, one.sample[i].path)
		}
	}
}

// addSample adds a path to the sample if its hash is one of the least.
func (p *prefix) addSample(hash uint64, path []byte) {
	n := len(p.sample)
	if n == prefixSamples {
		if hash >= p.sample[n-1].hash {
			return
		}
		n--
	} else if n < cap(p.sample) {
		p.sample = p.sample[:n+1] // with the room of an earlier path
	} else {
		p.sample = append(p.sample, sampled{})
	}
	room := p.sample[n].path[:0]
	at := n
	for ; at > 0 && p.sample[at-1].hash > hash; at-- {
		p.sample[at] = p.sample[at-1]
	}
	p.sample[at] = sampled{hash, append(room, path...)}
}

// complete returns the directory.
func (p *prefix) complete() Prefix {
	one := Prefix{Path: string(p.path), Requests: p.requests, Made: map[int]int64{}}
	for _, by := range p.made {
		one.Made[by.Crawler] += by.Requests
	}
	for i := range p.sample {
		one.Sample = append(one.Sample, string(p.sample[i].path))
	}
	return one
}

// addAllowed adds the requests of a kind that a text allowed.
func (c *Counter) addAllowed(k *kind) {
	if k.file == nil || !c.fromLog || k.agent == 0 || k.denies > 0 || k.faked {
		return
	}
	by := c.allowed[k.file.Ruling()]
	if by == nil {
		by = map[int]int64{}
		c.allowed[k.file.Ruling()] = by
	}
	by[int(k.agent)] += k.Rows
}

// Allowed returns how many requests a text allowed, by crawler, without those of impostors. It is called after Settle.
func (c *Counter) Allowed(text engine.RulingID) map[int]int64 { return c.allowed[text] }

// Prefixes returns the busiest directories of the sites of each of some files, by path. Directories of sites that have
// the same file are put together. It is called as MostRequested is.
func (c *Counter) Prefixes(files []aggregate.BusyFile) [][]Prefix {
	of := filesOf(files)
	all := make([][]Prefix, len(files))
	for _, one := range c.prefixes.kept.Items() {
		for _, i := range of[one.site] {
			one.Within = requestsBy(one.by, files[i].Ruling)
			all[i] = addPrefix(all[i], &one.Prefix)
		}
	}
	for i := range all {
		slices.SortFunc(all[i], func(a, b Prefix) int { return strings.Compare(a.Path, b.Path) })
	}
	return all
}

// addPrefix adds the requests of a directory.
func addPrefix(all []Prefix, one *Prefix) []Prefix {
	i := slices.IndexFunc(all, func(p Prefix) bool { return p.Path == one.Path })
	if i < 0 {
		i, all = len(all), append(all, Prefix{Path: one.Path, Made: map[int]int64{}})
	}
	all[i].Requests += one.Requests
	all[i].Within += one.Within
	for crawler, n := range one.Made {
		all[i].Made[crawler] += n
	}
	all[i].Sample = append(all[i].Sample, one.Sample...)
	return all
}
