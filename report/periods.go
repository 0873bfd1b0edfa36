package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report/internal/periods"
	"github.com/robobatch/robobatch/report/internal/timeline"
)

// Periods are the comparison of two periods, and how the page describes it.
type Periods = periods.Comparison

// PeriodNumbers are the numbers that tables compare.
var PeriodNumbers = periods.Names[:periods.Violations]

const microsOfDay = 24 * int64(time.Hour/time.Microsecond)

// Changed returns the changes of a row, for those numbers that the log has.
func (v *view) Changed(r periods.Row) (all []*periods.Change) {
	for m := range periods.Violations { // which are of what is disallowed
		if m == periods.Errors && !v.Status || m == periods.Bytes && !v.HasBytes {
			continue
		}
		all = append(all, &r.Changes[m])
	}
	return all
}

// Numbers returns the column names of the changes that Changed returns.
func (v *view) Numbers() (names []string) {
	for _, c := range v.Changed(v.Periods.Rows[0]) {
		names = append(names, strings.ToUpper(c.Number[:1])+c.Number[1:])
	}
	return names
}

// IsDated reports whether the periods are before and after a given date.
func (v *view) IsDated() bool { return v.Periods != nil && v.Periods.Change != "" }

// Was returns a number of a row for both periods; "" without a comparison.
func (v *view) Was(row, number string) string {
	if v.Periods != nil {
		for _, r := range v.Periods.Rows {
			for _, c := range r.Changes {
				if r.Name == row && c.Number == number {
					return c.String()
				}
			}
		}
	}
	return ""
}

// An Earlier is an [engine.Sink] that counts the log of the previous period by day and crawler, with the options of
// the Counter. It is for one goroutine.
type Earlier struct {
	look, old *engine.Lookup // old is nil without Options.Old
	callers   *engine.AgentList
	status    int              // index of Kept; -1 is none
	bytes     int              // the same
	series    *timeline.Series // until Close
	clock     times.Clock
	days      calendar // after Close
}

// NewEarlier returns the counts of a previous log, for a run with a store and crawlers of the log.
func NewEarlier(store *engine.Store, opt Options) *Earlier {
	e := &Earlier{look: store.NewLookup(), status: opt.Status - 1, bytes: opt.Bytes - 1, series: timeline.New(len(store.Options().Agents)), clock: times.NewClock(opt.Location)}
	if opt.Old != nil {
		e.old = opt.Old.NewLookup()
	}
	e.callers = engine.NewAgentList(e.look, e.old, maxNamed)
	return e
}

// Write counts a batch.
func (e *Earlier) Write(decided *engine.Batch) error {
	b := decided.ForCrawlers()
	e.look.Use(b)
	if e.old != nil {
		e.old.Use(b.Old)
	}
	for i := range b.Len() {
		if b.Sites[i] == engine.NoSite || len(b.Times) == 0 || b.Times[i] == engine.NoTime {
			continue
		}
		cell := e.series.CellAt(e.clock.Shown(b.Times[i]), e.callers.Number(b, i))
		addStatus(cell, statusClass(b, i, e.status))
		cell[timeline.Denied] += int64(bit(b.Verdicts[i].Access == engine.Denied))
		cell[timeline.Violations] += int64(bit(b.Violations[i] == engine.Violated))
		if sent := intOf(b, e.bytes, i); sent < maxBytes {
			cell[timeline.Bytes] += max(0, sent)
		}
	}
	return nil
}

// Close ends counting, and keeps only the counts by day.
func (e *Earlier) Close() error {
	e.days = calendarOf(e.series, func(a int) string { return clientName(e.callers, a) })
	e.series = nil
	return nil
}

// A turn is a time at which something changed, and the first time after it at which each crawler fetched a
// robots.txt.
type turn struct {
	at      int64 // in the time zone of the series; math.MaxInt64 means never
	name    string
	learned []int64 // by crawler; 0 is never
	isTold  bool    // whether any crawler fetched a robots.txt, before or after the change
}

// addTxt adds a fetch of a robots.txt by a crawler.
func (c *turn) addTxt(agent int, at int64) {
	if c.isTold = true; at < c.at {
		return
	}
	for len(c.learned) <= agent {
		c.learned = append(c.learned, 0)
	}
	if c.learned[agent] == 0 || at < c.learned[agent] {
		c.learned[agent] = at
	}
}

// A calendar holds the complete days of a period by client name, starting with the first complete day.
type calendar struct {
	first  int64 // days since 1970
	number int
	of     map[string][]periods.Day
}

// calendarOf returns the days of a series.
func calendarOf(s *timeline.Series, name func(int) string) calendar {
	first, days := s.Days()
	all := calendar{first, len(days), map[string][]periods.Day{}}
	for d, cells := range days {
		for a, cell := range cells {
			if cell[timeline.Requests] == 0 {
				continue
			}
			one := all.of[name(a)]
			if one == nil {
				one = make([]periods.Day, len(days))
				all.of[name(a)] = one
			}
			one[d] = periods.Day(cell[:len(periods.Day{})])
		}
	}
	return all
}

// sum returns the sum over clients for each day from one day until before another; days without requests have zeros.
func (c *calendar) sum(from, to int64, names []string) (days []periods.Day) {
	for d := max(from, c.first); d < min(to, c.first+int64(c.number)); d++ {
		var sum periods.Day
		for _, name := range names {
			if all := c.of[name]; all != nil {
				for m, n := range all[d-c.first] {
					sum[m] += n
				}
			}
		}
		days = append(days, sum)
	}
	return days
}

// span formats the complete days of a period from one day until before another; "" if there are none.
func (c *calendar) span(from, to int64) string {
	from, to = max(from, c.first), min(to, c.first+int64(c.number))
	if from >= to {
		return ""
	}
	return dayText(from) + " to " + dayText(to-1)
}

func dayText(day int64) string { return timeline.Text(day * microsOfDay)[:len(time.DateOnly)] }

// Compare compares the log with a previous one, or the time before Options.Change with the time after it. Call it
// after Settle. It returns nil if there is nothing to compare. A change of robots.txt affects a crawler from its next
// fetch of robots.txt on, so its days after the change begin then, unless the log has no such fetches.
func (c *Counter) Compare(e *Earlier) *Periods {
	if !c.fromLog || e == nil && c.turn.at == math.MaxInt64 {
		return nil
	}
	now := calendarOf(c.series, c.agentName)
	was, end, start := now, c.turn.at/microsOfDay, (c.turn.at+microsOfDay-1)/microsOfDay
	if e != nil {
		was, end, start = e.days, now.first, now.first
	}
	p := &Periods{Change: c.turn.name, At: time.UnixMicro(c.turn.at), Before: was.span(math.MinInt64, end), After: now.span(start, math.MaxInt64)}
	add := func(name string, isCrawler bool, from int64, names ...string) {
		since, _, _ := strings.Cut(now.span(from, math.MaxInt64), " ")
		p.Rows = append(p.Rows, periods.NewRow(name, isCrawler, since, was.sum(math.MinInt64, end, names), now.sum(from, math.MaxInt64, names)))
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(was.of)), maps.Keys(now.of))
	slices.Sort(names)
	names = slices.Compact(names)
	add("all requests", false, start, names...)
	if other := slices.Index(names, otherClients); other >= 0 {
		names = slices.Delete(names, other, other+1)
		add(otherClients, false, start, otherClients)
	}
	add("all crawlers", false, start, names...)
	knows := map[string]int64{} // the first day of a crawler
	for a, name := range c.callers.Names() {
		if a < len(c.turn.learned) && c.turn.learned[a] > 0 {
			knows[name] = (c.turn.learned[a] + microsOfDay - 1) / microsOfDay
		}
	}
	for _, name := range names {
		from := start
		if e == nil && c.turn.isTold {
			from = cmp.Or(knows[name], math.MaxInt64)
		}
		add(name, true, from, name)
	}
	p.Compare()
	return p
}
