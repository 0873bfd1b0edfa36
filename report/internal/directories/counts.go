// Package directories counts the requests for the directories of sites. Package report imports it.
package directories

import (
	"bytes"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// The limits of directories.
const (
	mostKept    = 1 << 10 // the busiest
	leastKept   = 50      // requests of these
	mostDepth   = 3       // names of a directory
	samplePaths = 32      // of a directory that are kept
	sampleZeros = 3       // that the hashes of these begin with, so that few paths are copied
)

// Counts count the requests for the directories of each site, to a depth of three names. URLs come in an order in which those of
// one directory are neighbours, so that only one directory of each depth is open.
type Counts struct {
	site engine.SiteID
	open [mostDepth + 1]open // 0 is all of the site
	used int
	kept *aggregate.Largest[Directory]
}

// An open is a directory that is not complete.
type open struct {
	path     []byte // it ends with "/"
	requests int64
	made     tally[int] // by crawler
	by       ByText
	sample   []sampled // by ascending hash
}

// A Directory is a directory of a site, and the requests for paths in it.
type Directory struct {
	Site     engine.SiteID
	Path     string // it ends with "/", which alone is all of the site
	Requests int64
	ByText   ByText
	Made     map[int]int64 // by crawler, those of AddMade
	Sample   []string      // paths in it, each as likely as any other; a small directory may have none
}

// A sampled is a path of the sample, which has the paths with the least hashes.
type sampled struct {
	hash uint64
	path []byte
}

// New returns counts without a request.
func New() *Counts {
	return &Counts{site: engine.NoSite, kept: aggregate.NewLargest[Directory](mostKept)}
}

// AddURL counts the requests of a URL, and reports whether a directory has it, which AddText and AddMade then are about. The hash
// is of the URL.
func (c *Counts) AddURL(u *aggregate.URL, hash uint64) bool {
	if u.Site == engine.NoSite || len(u.Text) >= aggregate.MaxURL || u.PathEnd <= u.Prefix || u.Text[u.Prefix] != '/' {
		return false
	}
	if u.Site != c.site {
		c.leave(0)
		c.site = u.Site
	}
	path, depth, end := u.Text[u.Prefix:u.PathEnd], 0, 1
	if last := c.used - 1; last > 0 && bytes.HasPrefix(path, c.open[last].path) {
		depth, end = last, len(c.open[last].path)
	}
	for ; ; depth++ {
		if depth < c.used && !bytes.Equal(c.open[depth].path, path[:end]) {
			c.leave(depth)
		}
		if depth == c.used {
			one := &c.open[depth]
			one.path, one.requests, one.made, one.by, one.sample = append(one.path[:0], path[:end]...), 0, one.made[:0], one.by[:0], one.sample[:0]
			c.used++
		}
		next := bytes.IndexByte(path[end:], '/')
		if next < 0 || depth == mostDepth {
			break
		}
		end += next + 1
	}
	c.leave(depth + 1)
	one := &c.open[depth]
	for i := range u.Requests {
		one.requests += u.Requests[i].Rows
	}
	if hash>>(64-sampleZeros) == 0 {
		one.addSample(hash, u.Text[u.Prefix:])
	}
	return true
}

// AddText adds requests of the last URL while a text was in force.
func (c *Counts) AddText(text engine.RulingID, requests int64) {
	one := &c.open[c.used-1]
	one.by = one.by.Add(text, requests)
}

// AddMade adds requests of the last URL that a crawler made.
func (c *Counts) AddMade(crawler int, requests int64) {
	one := &c.open[c.used-1]
	one.made = one.made.Add(crawler, requests)
}

// Complete completes all directories, after the last URL, and returns the busiest.
func (c *Counts) Complete() []Directory {
	c.leave(0)
	return c.kept.Items()
}

// leave completes the open directories from a depth on.
func (c *Counts) leave(depth int) {
	for c.used > depth {
		c.used--
		one := &c.open[c.used]
		if one.requests >= leastKept && c.kept.Takes(one.requests, 0) {
			c.kept.AddItem(one.requests, 0, one.complete(c.site))
		}
		if c.used == 0 {
			return
		}
		above := &c.open[c.used-1]
		above.requests += one.requests
		for _, by := range one.by {
			above.by = above.by.Add(by.key, by.requests)
		}
		for _, by := range one.made {
			above.made = above.made.Add(by.key, by.requests)
		}
		for i := range one.sample {
			above.addSample(one.sample[i].hash, one.sample[i].path)
		}
	}
}

// addSample adds a path to the sample if its hash is one of the least.
func (o *open) addSample(hash uint64, path []byte) {
	n := len(o.sample)
	if n == samplePaths {
		if hash >= o.sample[n-1].hash {
			return
		}
		n--
	} else if n < cap(o.sample) {
		o.sample = o.sample[:n+1] // with the room of an earlier path
	} else {
		o.sample = append(o.sample, sampled{})
	}
	room := o.sample[n].path[:0]
	at := n
	for ; at > 0 && o.sample[at-1].hash > hash; at-- {
		o.sample[at] = o.sample[at-1]
	}
	o.sample[at] = sampled{hash, append(room, path...)}
}

// complete returns the directory.
func (o *open) complete(site engine.SiteID) Directory {
	one := Directory{Site: site, Path: string(o.path), Requests: o.requests, ByText: slices.Clone(o.by), Made: map[int]int64{}}
	for _, by := range o.made {
		one.Made[by.key] += by.requests
	}
	for i := range o.sample {
		one.Sample = append(one.Sample, string(o.sample[i].path))
	}
	return one
}
