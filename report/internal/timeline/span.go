package timeline

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report/internal/show"
)

// Text formats a time as on the page, in UTC.
func Text(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.DateTime) }

// Limits for outliers: a few rows far from all others should not determine the scale of the chart.
const (
	leastRows   = 20 // the minimum number of rows of a log in which one row may be an outlier
	rowsForOne  = 100
	timesLonger = 8 // the time range of all rows is at least this many times as long as the range shown
)

// Shown returns the time range of a chart. It covers all rows, unless at least 99 of 100 rows lie in at most an eighth
// of the time: then it omits the outliers.
func (s *Series) Shown() times.Span {
	whole := times.Span{First: s.from, Last: s.to}
	numbers := slices.Sorted(maps.Keys(s.all))
	if len(numbers) == 0 {
		return whole
	}
	rows := make([]int64, len(numbers)) // of each interval, and all before it
	sum := int64(0)
	for i, n := range numbers {
		for _, c := range s.all[n] {
			sum += c[Requests]
		}
		rows[i] = sum
	}
	apart := sum / rowsForOne
	if sum >= leastRows {
		apart = max(1, apart)
	}
	first, last := shortestRange(numbers, rows, sum-apart)
	// Include rows close to the range, even if they are less than one of 100.
	near := max(numbers[last]-numbers[first]+1, timePoints/4)
	lower, higher := numbers[first]-near, numbers[last]+near
	for first > 0 && numbers[first-1] >= lower {
		first--
	}
	for last+1 < len(numbers) && numbers[last+1] <= higher {
		last++
	}
	all := numbers[len(numbers)-1] - numbers[0] + 1
	if all <= timePoints || (numbers[last]-numbers[first]+1)*timesLonger > all {
		return whole
	}
	step := steps[s.step]
	return times.Span{First: max(s.from, monday+numbers[first]*step), Last: min(s.to, monday+(numbers[last]+1)*step-1)}
}

// shortestRange returns the first and the last of the consecutive intervals that contain the given number of rows in
// the least time. sums are the cumulative rows of the intervals.
func shortestRange(numbers, sums []int64, rows int64) (first, last int) {
	last = len(numbers) - 1
	to, before := 0, int64(0)
	for from := range numbers {
		for to < len(numbers) && sums[to]-before < rows {
			to++
		}
		if to == len(numbers) {
			break
		}
		if numbers[to]-numbers[from] < numbers[last]-numbers[first] {
			first, last = from, to
		}
		before = sums[from]
	}
	return first, last
}

// An aside holds the rows before or after a time range.
type aside struct {
	when  times.Span // time range of these rows; the end that is the first or the last of all rows is exact
	cells []Cell
	sum   Cell
}

// sumAside returns the rows of the intervals that lie completely within a time range, in microseconds.
func (s *Series) sumAside(from, to int64) aside {
	a := aside{cells: make([]Cell, s.crawlers), when: times.Span{First: s.to, Last: s.from}}
	step := steps[s.step]
	for n, cells := range s.all {
		at := monday + n*step
		if at < from || at+step-1 > to {
			continue
		}
		a.when = times.Span{First: min(a.when.First, max(at, s.from)), Last: max(a.when.Last, min(at+step-1, s.to))}
		for i, c := range cells {
			a.cells[i].addCell(c)
			a.sum.addCell(c)
		}
	}
	return a
}

// Outside returns the number of rows outside of a time range, which must begin and end with an interval. Rows without
// a time are not counted.
func (s *Series) Outside(in times.Span) int64 {
	return s.sumAside(math.MinInt64, in.First-1).sum[Requests] + s.sumAside(in.Last+1, math.MaxInt64).sum[Requests]
}

// An apartView is a table row for the requests before or after the chart.
type apartView struct {
	timeRow        // timeRow.At is "before" or "after"
	When    string // they are
}

// addApart adds rows for the requests before and after the table, if there are any, and sets Share. order are the
// crawlers of the table's columns.
func (v *View) addApart(p *Points, order []int) {
	within := p.countRequests()
	for _, a := range []struct {
		at, one string
		*aside
	}{{"before", Text(p.before.when.First), &p.before}, {"after", Text(p.after.when.Last), &p.after}} {
		n := a.sum[Requests]
		if n == 0 {
			continue
		}
		row := apartView{timeRow: timeRow{At: a.at, All: n, Denied: a.sum[Denied], Bad: a.sum[Violations], Errors: a.sum[Errors]}, When: "at " + a.one}
		if n > 1 {
			row.When = "between " + Text(a.when.First) + " and " + Text(a.when.Last)
		}
		for _, agent := range order {
			row.By = append(row.By, a.cells[agent][Requests])
		}
		v.Apart = append(v.Apart, row)
		within += n
	}
	v.Share = show.Share(p.countRequests(), within)
}

// countRequests returns the number of requests of all points.
func (p *Points) countRequests() (n int64) {
	for _, requests := range p.Sum(Requests) {
		n += requests
	}
	return n
}

// addCell adds the rows of another cell.
func (c *Cell) addCell(other Cell) {
	for kind, n := range other {
		c[kind] += n
	}
}
