package diagnose

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// The limits of chains.
const (
	recentRedirects = 8  // of a crawler that are remembered
	recentRows      = 64 // of a crawler, after which they are forgotten
	mostHops        = 1 << 10
	mostChain       = 8   // paths
	longChain       = 128 // bytes of a path, without its last segment
	chainName       = 'X'
	manyShapes      = "/…/X"
)

// Chains find which redirects lead where, and those that follow one another: after a redirect, its crawler asks for another path with the
// same last segment. The log does not say where a redirect leads. The zero value has none.
type Chains struct {
	by   [][]redirect // by crawler, the oldest first
	rows []int        // by crawler
	hops map[hop]int64
}

// A redirect is a request that was redirected.
type redirect struct {
	site  uint64
	last  uint64 // the hash of the last segment
	shape string
	row   int // of its crawler
}

// A hop leads from paths of one shape to those of another.
type hop struct{ from, to string }

// AddAnswer counts an answer to a crawler for a URL of a site.
func (c *Chains) AddAnswer(site uint64, url []byte, crawler uint16, redirected bool) {
	for len(c.by) <= int(crawler) {
		c.by, c.rows = append(c.by, nil), append(c.rows, 0)
	}
	c.rows[crawler]++
	recent := c.by[crawler]
	for len(recent) > 0 && recent[0].row+recentRows < c.rows[crawler] {
		recent = recent[1:]
	}
	c.by[crawler] = recent
	if !redirected && len(recent) == 0 {
		return
	}
	_, path := split(url)
	path, _, _ = bytes.Cut(path, []byte("?"))
	path, _, _ = bytes.Cut(path, []byte("#"))
	last, from, to := lastSegment(path)
	if from == to || len(path)-(to-from) > longChain {
		return
	}
	for i := len(recent) - 1; i >= 0; i-- {
		if r := &recent[i]; r.last == last && r.site == site {
			if shape := hopShape(path, from, to); r.shape != shape {
				c.addHop(hop{r.shape, shape})
				c.by[crawler] = append(recent[:i], recent[i+1:]...)
			}
			break
		}
	}
	if !redirected {
		return
	}
	if recent = c.by[crawler]; len(recent) == recentRedirects {
		recent = append(recent[:0], recent[1:]...)
	}
	c.by[crawler] = append(recent, redirect{site, last, hopShape(path, from, to), c.rows[crawler]})
}

// addHop counts a hop.
func (c *Chains) addHop(one hop) {
	if _, known := c.hops[one]; !known && len(c.hops) >= mostHops {
		return
	}
	if c.hops == nil {
		c.hops = map[hop]int64{}
	}
	c.hops[one]++
}

// lastSegment returns the hash of the last segment of a path, and where it stands; an empty place is none.
func lastSegment(path []byte) (hash uint64, from, to int) {
	to = len(bytes.TrimSuffix(path, []byte("/")))
	from = bytes.LastIndexByte(path[:to], '/') + 1
	return xxh3.Hash(path[from:to]), from, to
}

// hopShape returns a path with a name in place of its last segment.
func hopShape(path []byte, from, to int) string {
	return string(path[:from]) + string(chainName) + string(path[to:])
}

// Longest returns the chain that most redirects lead along, of two or more if there are any, as shapes of paths in the order of the redirects,
// and how many redirects it has; nil if there is none. A redirect that comes less than half as often as the commonest is no part of it.
func (c *Chains) Longest() (shapes []string, redirects int64) {
	seeds := slices.SortedFunc(maps.Keys(c.hops), func(a, b hop) int {
		return cmp.Or(cmp.Compare(c.hops[b], c.hops[a]), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for _, seed := range seeds {
		if one, n := c.from(seed); len(one) > 2 {
			return one, n
		} else if seed == seeds[0] {
			shapes, redirects = one, n
		}
	}
	return shapes, redirects
}

// from returns the chain around a hop.
func (c *Chains) from(seed hop) (shapes []string, redirects int64) {
	least := c.hops[seed]
	shapes, redirects, least = []string{seed.from, seed.to}, least, (least+1)/2
	for len(shapes) < mostChain {
		ends, n := c.next(shapes, least, func(h hop) (string, string) { return h.from, h.to }, len(shapes)-1)
		if n == 0 {
			break
		}
		shapes, redirects = append(shapes, ends), redirects+n
	}
	for len(shapes) < mostChain {
		begins, n := c.next(shapes, least, func(h hop) (string, string) { return h.to, h.from }, 0)
		if n == 0 {
			break
		}
		shapes, redirects = append([]string{begins}, shapes...), redirects+n
	}
	if c.isSiblings(shapes, least) {
		return nil, 0
	}
	onward := int64(0) // from the last to pages of many shapes
	for one, n := range c.hops {
		if one.from == shapes[len(shapes)-1] && !slices.Contains(shapes, one.to) {
			onward += n
		}
	}
	if onward >= least {
		shapes, redirects = append(shapes, manyShapes), redirects+onward
	}
	return shapes, redirects
}

// isSiblings reports whether a later path of a chain leads to an earlier one, but for its last slash: the crawler asked for /de/X, /en/X and
// then for /de/X/, so each of them may lead to itself with a slash.
func (c *Chains) isSiblings(shapes []string, least int64) bool {
	for i, early := range shapes {
		variant, hasSlash := strings.CutSuffix(early, "/")
		if !hasSlash {
			variant += "/"
		}
		for _, later := range shapes[i+1:] {
			if 2*c.hops[hop{later, variant}] >= least {
				return true
			}
		}
	}
	return false
}

// next returns the shape at the other end of the commonest hop that has a shape at one end, and how often it came; 0 if that is too seldom.
func (c *Chains) next(shapes []string, least int64, ends func(hop) (near, far string), at int) (shape string, came int64) {
	for one, n := range c.hops {
		near, far := ends(one)
		if near == shapes[at] && !slices.Contains(shapes, far) && n >= least && (n > came || n == came && far < shape) {
			shape, came = far, n
		}
	}
	return shape, came
}
