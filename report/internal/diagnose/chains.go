package diagnose

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Limits of chains.
const (
	mostSteps   = 1 << 16        // remembered steps
	chainWithin = 30 * 1_000_000 // microseconds between a redirect and the next request
	mostChain   = 8              // paths
	longChain   = 128            // bytes of a path without its last segment
	chainName   = "X"
	manyShapes  = "/…/X"
)

// Chains finds where redirects lead, and sequences of redirects. The log does not contain the target of a redirect, so
// a request is attributed to it if the same crawler soon requests another path with the same last segment. The result
// does not depend on the order of rows. In large logs, only the requests of some last segments, chosen by a hash, are
// remembered; the numbers are estimates then. The zero value is empty.
type Chains struct {
	steps []step
	zeros int // leading zeros of the hashes of remembered last segments
	hops  map[hop]int64
}

// A step is a request of a crawler.
type step struct {
	name       uint64 // hash of the site and the last segment
	crawler    uint16
	at         int64 // microseconds
	shape      string
	redirected bool
}

// A hop leads from paths of one shape to paths of another.
type hop struct{ from, to string }

// AddAnswer counts a response to a crawler for a URL. The time is in microseconds.
func (c *Chains) AddAnswer(url []byte, crawler uint16, redirected bool, at int64) {
	origin, path := split(url)
	if i := bytes.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	to := len(bytes.TrimSuffix(path, []byte("/")))
	from := bytes.LastIndexByte(path[:to], '/') + 1
	name := xxh3.HashSeed(path[from:to], xxh3.Hash(origin))
	if from == to || len(path)-(to-from) > longChain || name>>(64-c.zeros) != 0 {
		return
	}
	c.steps = append(c.steps, step{name, crawler, at, string(path[:from]) + chainName + string(path[to:]), redirected})
	for len(c.steps) > mostSteps {
		c.zeros++
		c.steps = slices.DeleteFunc(c.steps, func(s step) bool { return s.name>>(64-c.zeros) != 0 })
	}
}

// count counts the hops. Most logs cannot order steps within one second: these take the order that such steps have
// elsewhere, or else redirects come first.
func (c *Chains) count() {
	before := map[hop]int{}
	for range 2 {
		slices.SortFunc(c.steps, func(a, b step) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.crawler, b.crawler), cmp.Compare(a.at, b.at), before[hop{b.shape, a.shape}]-before[hop{a.shape, b.shape}], bit(b.redirected)-bit(a.redirected), cmp.Compare(a.shape, b.shape))
		})
		c.hops = map[hop]int64{}
		for i := 1; i < len(c.steps); i++ {
			if a, b := &c.steps[i-1], &c.steps[i]; a.name == b.name && a.crawler == b.crawler && a.redirected && a.shape != b.shape && b.at-a.at <= chainWithin {
				one := hop{a.shape, b.shape}
				c.hops[one]++
				before[one] += bit(b.at > a.at)
			}
		}
	}
}

// Longest returns the most frequent chain of at least two redirects, as shapes of paths in the order of the redirects,
// and its number of redirects; nil if there is none. A redirect that occurs less than half as often as the most
// frequent one is not included.
func (c *Chains) Longest() (shapes []string, redirects int64) {
	c.count()
	seeds := slices.SortedFunc(maps.Keys(c.hops), func(a, b hop) int {
		return cmp.Or(cmp.Compare(c.hops[b], c.hops[a]), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for _, seed := range seeds {
		if shapes, redirects = c.from(seed); len(shapes) > 2 {
			return shapes, redirects << c.zeros
		}
	}
	return nil, 0
}

// from returns the chain around a hop.
func (c *Chains) from(seed hop) (shapes []string, redirects int64) {
	least := c.hops[seed]
	shapes, redirects, least = []string{seed.from, seed.to}, least, (least+1)/2
	for _, isAhead := range []bool{true, false} { // forwards from its last shape, then backwards from its first one
		for len(shapes) < mostChain {
			near, next, came := shapes[0], "", int64(0)
			if isAhead {
				near = shapes[len(shapes)-1]
			}
			for one, n := range c.hops {
				from, to := one.from, one.to
				if !isAhead {
					from, to = to, from
				}
				if from == near && !slices.Contains(shapes, to) && n >= least && (n > came || n == came && to < next) {
					next, came = to, n
				}
			}
			if came == 0 {
				break
			}
			if redirects += came; isAhead {
				shapes = append(shapes, next)
			} else {
				shapes = append([]string{next}, shapes...)
			}
		}
	}
	for i, early := range shapes { // after /de/X and /en/X, a crawler requests /de/X/: each may just redirect to itself with a slash
		variant, hasSlash := strings.CutSuffix(early, "/")
		if !hasSlash {
			variant += "/"
		}
		if slices.ContainsFunc(shapes[i+1:], func(later string) bool { return 2*c.hops[hop{later, variant}] >= least }) {
			return nil, 0
		}
	}
	onward := int64(0) // from the last shape to pages of many shapes
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
