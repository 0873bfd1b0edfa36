package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// What is counted of successive requests.
const (
	maxPaces = 1024
	tenth    = second / 10
	maxGap   = 6000 // tenths of a second; longer gaps are counted together
)

// A pace is the successive requests of a crawler at an origin.
type pace struct {
	origin   robots.Origin
	requests int64
	last     int64
	back     int64    // requests that are earlier than the one before
	gaps     []uint32 // by tenths of a second, rounded down
	long     int64    // of maxGap and more
}

// A paceKey is a crawler at an origin: a site of the store or, as those that it does not know have
// another number in each batch, the hash of a name.
type paceKey struct {
	agent uint16
	stray bool
	site  uint64
}

// paces are those of the crawlers and origins that came first.
type paces struct {
	all    map[paceKey]*pace
	key    paceKey
	last   *pace
	others int64 // requests that are not counted for a pace
}

func newPaces() *paces { return &paces{all: map[paceKey]*pace{}} }

// add counts a request of a row.
func (p *paces) add(b *engine.Batch, h *hand, look *engine.Lookup) {
	site := b.Sites[h.row]
	key := paceKey{agent: h.agent, site: uint64(site)}
	if n, stray := site.Stray(); stray {
		key.stray, key.site = true, aggregate.Hash(b.Strays[n])
	}
	if p.last == nil || key != p.key {
		p.key, p.last = key, p.all[key]
	}
	switch {
	case p.last != nil:
	case len(p.all) == maxPaces:
		p.others++
		return
	default:
		p.last = &pace{last: noTime, origin: originOf(b, site, look)}
		p.all[key] = p.last
	}
	p.last.add(b.Times[h.row])
}

// originOf returns the name of an origin.
func originOf(b *engine.Batch, site engine.SiteID, look *engine.Lookup) robots.Origin {
	if n, stray := site.Stray(); stray {
		return robots.Origin(b.Strays[n])
	}
	return robots.Origin(strings.Clone(string(look.Origin(site))))
}

func (p *pace) add(t int64) {
	p.requests++
	gap := t - p.last
	first := p.last == noTime
	switch {
	case first:
	case gap < 0:
		p.back++
	case gap >= maxGap*tenth:
		p.long++
	default:
		n := int(gap / tenth)
		for n >= len(p.gaps) {
			p.gaps = append(p.gaps, make([]uint32, n+1-len(p.gaps))...)
		}
		p.gaps[n]++
	}
	p.last = t
}

// median returns the median of the gaps, rounded down to a tenth of a second; long is whether it is
// maxGap or more.
func (p *pace) median() (gap time.Duration, long bool) {
	total := p.long
	for _, n := range p.gaps {
		total += int64(n)
	}
	seen := int64(0)
	for i, n := range p.gaps {
		if seen += int64(n); 2*seen >= total && seen > 0 {
			return time.Duration(i) * 100 * time.Millisecond, false
		}
	}
	return maxGap * 100 * time.Millisecond, true
}

// faster returns how many gaps are shorter, and how many there are.
func (p *pace) faster(seconds float64) (fast, all int64) {
	all = p.long
	for i, n := range p.gaps {
		all += int64(n)
		if float64(i) < math.Round(seconds*1e7)/1e6 {
			fast += int64(n)
		}
	}
	if seconds > maxGap/10 {
		fast += p.long // at least some of them
	}
	return fast, all
}

// A Pace is how fast a crawler fetched from an origin.
type Pace struct {
	Agent    string
	Origin   robots.Origin
	Requests int64
	Median   string
	Seconds  float64 // of Median
	Long     bool    // the median is that or more
	Ignored  bool    // the operator says that the crawler ignores a delay
	Delay    float64 // that robots.txt states; less than 0 if it states none
	Fast     int64   // gaps that are shorter
	Gaps     int64
	Share    float64
	Back     int64 // requests that are earlier than the one before them in the log
}

// shownPaces is how many of the busiest the page shows.
const shownPaces = 100

// busiest returns the busiest keys.
func (p *paces) busiest() []paceKey {
	keys := slices.Collect(maps.Keys(p.all))
	slices.SortFunc(keys, func(a, b paceKey) int {
		return cmp.Or(cmp.Compare(p.all[b].requests, p.all[a].requests), cmp.Compare(a.agent, b.agent), cmp.Compare(p.all[a].origin, p.all[b].origin))
	})
	return slices.DeleteFunc(keys, func(k paceKey) bool { return p.all[k].requests < 2 })
}

// shownPaces returns how fast crawlers fetched, and how many requests the rows do not count.
func (c *Counter) shownPaces(run *Run) (all []Pace, more int64) {
	more = c.paces.others
	for i, key := range c.paces.busiest() {
		p := c.paces.all[key]
		if i >= shownPaces {
			more += p.requests
			continue
		}
		row := Pace{Agent: c.callers.Names()[key.agent], Requests: p.requests, Back: p.back, Delay: -1, Origin: p.origin}
		token, _, _ := strings.Cut(row.Agent, "/")
		if known, ok := crawlers.Lookup(token); ok {
			row.Ignored = known.IgnoresDelay()
		}
		gap, long := p.median()
		row.Seconds, row.Median = gap.Seconds(), strconv.FormatFloat(gap.Seconds(), 'f', 1, 64)+" s"
		row.Long = long
		_, row.Gaps = p.faster(0)
		for f := range run.Files {
			file := &run.Files[f]
			if file.Report == nil || file.Older || file.Origin != string(row.Origin) {
				continue
			}
			if delay, ok := file.Report.CrawlDelay(robots.NewAgent(row.Agent, c.store.Options().Dialect)); ok {
				row.Delay = delay
				row.Fast, _ = p.faster(delay)
				row.Share = share(row.Fast, row.Gaps)
			}
		}
		all = append(all, row)
	}
	return all, more
}

// Stated reports whether robots.txt states a delay.
func (p *Pace) Stated() bool { return p.Delay >= 0 }

// Told reports whether the page says how many gaps are shorter than the delay: robots.txt states one, and
// the gaps are known.
func (p *Pace) Told() bool { return p.Stated() && !p.Jumbled() }

// AnyJumbled reports whether some crawler's requests are out of order.
func (v *view) AnyJumbled() bool {
	return slices.ContainsFunc(v.Paces, func(p Pace) bool { return p.Jumbled() })
}

// AnyDelay reports whether robots.txt states a delay for some crawler.
func (v *view) AnyDelay() bool {
	return slices.ContainsFunc(v.Paces, func(p Pace) bool { return p.Stated() })
}

// DelayText returns the delay as the page shows it.
func (p *Pace) DelayText() string {
	if p.Delay < 0 {
		return "none"
	}
	return strconv.FormatFloat(p.Delay, 'f', -1, 64) + " s"
}

// mostBack is the share of requests that go back in time from which on the gaps tell nothing: those that
// go back are left out, and those beside them are too long.
const mostBack = 0.02

// Jumbled reports whether too many requests go back in time for the gaps to tell anything.
func (p *Pace) Jumbled() bool { return share(p.Back, p.Requests) > mostBack }

// MedianText returns the median as the page shows it.
func (p *Pace) MedianText() string {
	if p.Jumbled() {
		return "–"
	}
	return p.Median
}

// OriginText returns the origin as a text.
func (p *Pace) OriginText() string { return string(p.Origin) }
