// Package timeline counts requests by time and crawler, and shows them as a bar chart, a table and peaks. Package
// report imports it.
package timeline

import (
	"math"
	"slices"

	"github.com/robobatch/robobatch/internal/times"
)

// A Cell counts the rows of a crawler in an interval.
type Cell [numbers]int64

// The numbers of a Cell.
const (
	Requests = iota
	Errors   // whose status is 4xx or 5xx
	Denied   // disallowed for at least one of the crawlers
	Bytes    // that were sent
	Violations
	Moved  // whose status is 3xx
	Server // whose status is 5xx
	numbers
)

// steps are the possible lengths of intervals, in microseconds.
var steps = []int64{hour, day, 7 * day, 28 * day, 364 * day, 100 * 364 * day}

// stepNames are the names of steps.
var stepNames = []string{"hour", "day", "week", "4 weeks", "52 weeks", "100 years"}

const (
	second = int64(1e6)
	hour   = 3600 * second
	day    = 24 * hour

	// monday is the first Monday of 1970: intervals are aligned to it, so that weeks begin on Mondays.
	monday = 4 * day
)

// The limits of a series.
const (
	maxStretches = 4096
	maxDays      = 1 << 14
	seriesMemory = 28 << 20
)

// A Series counts rows by interval and by crawler. The number of intervals is limited: if there are more, they become
// longer.
type Series struct {
	crawlers int
	step     int // index of steps
	most     int
	all      map[int64][]Cell // by the number of the interval
	now      int64            // number of the last one
	cells    []Cell           // of the last one
	from, to int64            // time range of all rows; from > to if there are none
	None     int64            // rows without a time
}

// New returns an empty series for the given number of crawlers.
func New(crawlers int) *Series {
	const cellBytes = 64
	return &Series{
		crawlers: crawlers, all: map[int64][]Cell{}, from: math.MaxInt64, to: math.MinInt64,
		most: max(64, min(maxStretches, seriesMemory/(cellBytes*crawlers))),
	}
}

// CellAt returns the cell of a time, in microseconds, and a crawler, and creates it if needed. It is valid until the
// next call.
func (s *Series) CellAt(t int64, crawler int) *Cell {
	if cells := s.cellsAt(t); crawler < len(cells) {
		return &cells[crawler]
	}
	s.crawlers = max(s.crawlers, crawler+1)
	s.cells = slices.Concat(s.cells, make([]Cell, s.crawlers-len(s.cells)))
	s.all[s.now] = s.cells
	return &s.cells[crawler]
}

// cellsAt returns the cells of a time, by crawler, and makes intervals longer if there are too many. It may be too
// short for crawlers that were added later.
func (s *Series) cellsAt(t int64) []Cell {
	s.from, s.to = min(s.from, t), max(s.to, t)
	n := intervalOf(t, steps[s.step])
	if s.cells != nil && n == s.now {
		return s.cells
	}
	s.now, s.cells = n, s.all[n]
	for s.cells == nil {
		if len(s.all) < s.most || s.step == len(steps)-1 {
			s.cells = make([]Cell, s.crawlers)
			s.all[s.now] = s.cells
			break
		}
		s.step++
		s.all = joinIntervals(s.all, steps[s.step-1], steps[s.step])
		s.now = intervalOf(t, steps[s.step])
		s.cells = s.all[s.now]
	}
	return s.cells
}

// intervalOf returns the number of the interval that contains a time: the one from monday on has number 0. step is the
// length of intervals in microseconds.
func intervalOf(t, step int64) int64 {
	if t >= monday {
		return (t - monday) / step
	}
	return -1 - (monday-1-t)/step
}

// joinIntervals combines the cells of intervals of length step into longer ones of length next, a multiple of step. It
// changes and keeps the cells in all; copy them before if they are still needed.
func joinIntervals(all map[int64][]Cell, step, next int64) map[int64][]Cell {
	joined := map[int64][]Cell{}
	for n, cells := range all {
		m := intervalOf(monday+n*step, next)
		sum := joined[m]
		if sum == nil {
			joined[m] = cells
			continue
		}
		if len(sum) < len(cells) {
			sum, cells = cells, sum
			joined[m] = sum
		}
		for i, c := range cells {
			sum[i].addCell(c)
		}
	}
	return joined
}

// Points are the rows by interval.
type Points struct {
	Step   string             // how long an interval is
	Starts []int64            // begin of each interval in seconds since 1970, including intervals without rows
	Of     [numbers][][]int64 // by crawler

	before, after aside
}

// Points returns the rows of a time range in at most the given number of intervals; nil if no row has a time. step is
// the index of the shortest length to use. If even the longest intervals are too many, there may be up to twice as
// many.
func (s *Series) Points(in times.Span, step int, most int64) *Points {
	if s.from > s.to {
		return nil
	}
	all := s.all
	for i := s.step; i < step; i++ {
		all = joinIntervals(cloneCells(all), steps[i], steps[i+1])
	}
	step = max(step, s.step)
	for step+1 < len(steps) && intervalOf(in.Last, steps[step])-intervalOf(in.First, steps[step]) >= most {
		all = joinIntervals(cloneCells(all), steps[step], steps[step+1])
		step++
	}
	first, last := intervalOf(in.First, steps[step]), intervalOf(in.Last, steps[step])
	p := &Points{Step: stepNames[step]}
	n := int(min(last-first+1, 2*most))
	for kind := range p.Of {
		p.Of[kind] = make([][]int64, s.crawlers)
		for c := range p.Of[kind] {
			p.Of[kind][c] = make([]int64, n)
		}
	}
	for i := range n {
		at := first + int64(i)
		p.Starts = append(p.Starts, (monday+at*steps[step])/second)
		for c, cell := range all[at] {
			for kind, n := range cell {
				p.Of[kind][c][i] = n
			}
		}
	}
	p.before, p.after = s.sumAside(math.MinInt64, monday+first*steps[step]-1), s.sumAside(monday+(last+1)*steps[step], math.MaxInt64)
	return p
}

// Sum returns one of the numbers by interval, summed over the given crawlers; over all crawlers if none is given.
func (p *Points) Sum(kind int, crawlers ...int) []int64 {
	sum := make([]int64, len(p.Starts))
	for c, numbers := range p.Of[kind] {
		if len(crawlers) > 0 && !slices.Contains(crawlers, c) {
			continue
		}
		for i, n := range numbers {
			sum[i] += n
		}
	}
	return sum
}

// cloneCells returns a copy that the caller may change.
func cloneCells(all map[int64][]Cell) map[int64][]Cell {
	other := make(map[int64][]Cell, len(all))
	for n, cells := range all {
		other[n] = slices.Clone(cells)
	}
	return other
}

// Days returns the cells of each complete day in the range of Shown, by crawler, and the first day in days since
// 1970. It returns none if the range is too long to be counted by day.
func (s *Series) Days() (first int64, days [][]Cell) {
	daily := slices.Index(steps, day)
	if s.from > s.to || s.step > daily {
		return 0, nil
	}
	all, within := s.all, s.Shown()
	for i := s.step; i < daily; i++ {
		all = joinIntervals(cloneCells(all), steps[i], steps[i+1])
	}
	rows := int64(0)
	for _, cells := range all {
		for i := range cells {
			rows += cells[i][Requests]
		}
	}
	least := leastGap(day, within, rows)
	from, to := intervalOf(within.First, day), intervalOf(within.Last, day)
	if within.First-monday-from*day > least {
		from++
	}
	if monday+(to+1)*day-within.Last > least {
		to--
	}
	for n := from; n <= to && to-from < maxDays; n++ {
		days = append(days, all[n])
	}
	return from + monday/day, days
}

// HasTimes reports whether a row has a time.
func (s *Series) HasTimes() bool { return s.from <= s.to }

// Apart returns the number of requests before and after the points.
func (p *Points) Apart() int64 { return p.before.sum[Requests] + p.after.sum[Requests] }
