package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// noTime is the time of a row without one, see [engine.Batch].Times.
const noTime = math.MinInt64

// A cell counts the rows of a crawler in a stretch of time. Denied are those that are disallowed for one
// of the crawlers at least.
type cell struct{ requests, denied, violations int64 }

// steps are how long the stretches may be, in microseconds.
var steps = []int64{hour, day, 7 * day, 28 * day, 364 * day, 100 * 364 * day}

const (
	second = int64(1e6)
	hour   = 3600 * second
	day    = 24 * hour

	// The first Monday of 1970, so that weeks begin with it.
	monday = 4 * day
)

// What a series takes.
const (
	maxStretches = 4096
	seriesMemory = 16 << 20
	shownPoints  = 400
)

// A series counts rows by stretches of time and by crawler. There are at most so many stretches: when
// there are more, they become longer.
type series struct {
	crawlers int
	step     int // index of steps
	most     int
	all      map[int64][]cell // by the number of the stretch
	now      int64            // number of the last one
	cells    []cell           // of the last one
	from, to int64            // of all times; from > to if there are none
	none     int64            // rows without a time
}

func newSeries(crawlers int) *series {
	const cellBytes = 24
	return &series{
		crawlers: crawlers, all: map[int64][]cell{}, from: math.MaxInt64, to: noTime,
		most: max(64, min(maxStretches, seriesMemory/(cellBytes*crawlers))),
	}
}

// at returns the cells of a time, by crawler.
func (s *series) at(t int64) []cell {
	s.from, s.to = min(s.from, t), max(s.to, t)
	n := stretch(t, steps[s.step])
	if s.cells != nil && n == s.now {
		return s.cells
	}
	s.now, s.cells = n, s.all[n]
	for s.cells == nil {
		if len(s.all) < s.most || s.step == len(steps)-1 {
			s.cells = make([]cell, s.crawlers)
			s.all[s.now] = s.cells
			break
		}
		s.step++
		s.all = longer(s.all, steps[s.step-1], steps[s.step])
		s.now = stretch(t, steps[s.step])
		s.cells = s.all[s.now]
	}
	return s.cells
}

// stretch returns the number of the stretch of a time.
func stretch(t, step int64) int64 {
	if t >= monday {
		return (t - monday) / step
	}
	return -1 - (monday-1-t)/step
}

// longer returns the cells by stretches of another length, a multiple.
func longer(all map[int64][]cell, step, next int64) map[int64][]cell {
	joined := map[int64][]cell{}
	for n, cells := range all {
		m := stretch(monday+n*step, next)
		sum := joined[m]
		if sum == nil {
			joined[m] = cells
			continue
		}
		for i, c := range cells {
			sum[i].add(c)
		}
	}
	return joined
}

// Points are the rows by stretches of time.
type Points struct {
	Step   string    // how long a stretch is
	Starts []int64   // of each stretch, seconds since 1970; those without rows are there as well
	Cells  [][]int64 // requests, by crawler
	Denied [][]int64
	Bad    [][]int64 // violations

	Before, After aside
}

// points returns the rows of a span by at most so many stretches, at least so long.
func (s *series) points(in span, step int, most int64) *Points {
	if s.from > s.to {
		return nil
	}
	all := s.all
	for i := s.step; i < step; i++ {
		all = longer(clone(all), steps[i], steps[i+1])
	}
	step = max(step, s.step)
	for step+1 < len(steps) && stretch(in.to, steps[step])-stretch(in.from, steps[step]) >= most {
		all = longer(clone(all), steps[step], steps[step+1])
		step++
	}
	first, last := stretch(in.from, steps[step]), stretch(in.to, steps[step])
	p := &Points{Step: [...]string{"hour", "day", "week", "4 weeks", "52 weeks", "100 years"}[step]}
	n := int(min(last-first+1, 2*most))
	p.Cells, p.Denied, p.Bad = columns(s.crawlers, n), columns(s.crawlers, n), columns(s.crawlers, n)
	for i := range n {
		at := first + int64(i)
		p.Starts = append(p.Starts, (monday+at*steps[step])/second)
		for c, cell := range all[at] {
			p.Cells[c][i], p.Denied[c][i], p.Bad[c][i] = cell.requests, cell.denied, cell.violations
		}
	}
	p.Before, p.After = s.aside(math.MinInt64, monday+first*steps[step]-1), s.aside(monday+(last+1)*steps[step], math.MaxInt64)
	return p
}

func columns(number, length int) [][]int64 {
	all := make([][]int64, number)
	for i := range all {
		all[i] = make([]int64, length)
	}
	return all
}

// clone returns a copy that may be changed.
func clone(all map[int64][]cell) map[int64][]cell {
	other := make(map[int64][]cell, len(all))
	for n, cells := range all {
		other[n] = slices.Clone(cells)
	}
	return other
}

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
func (p *paces) add(b *engine.Batch, row int, look *engine.Lookup) {
	site := b.Sites[row]
	key := paceKey{agent: b.Agents[row], site: uint64(site)}
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
	p.last.add(b.Times[row])
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
