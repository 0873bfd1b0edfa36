// Package conducts shows which rules crawlers knew when they made disallowed requests. The numbers are those of
// package conduct, so the page and the command conduct agree. Package report imports it.
package conducts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report/internal/show"
)

// Limits of the panel.
const (
	shown     = 60      // crawlers
	stretches = 120     // intervals in a timeline
	lines     = 1 << 10 // number of crawlers with a timeline: the first ones to be evaluated
	barWidth  = 90
)

// Counts counts the conduct of crawlers, batch by batch. It is for one goroutine. Use Close.
type Counts struct {
	journal    *conduct.Journal
	line       times.Span // time range of the timeline, in intervals
	shown      func(int64) int64
	rows       []Row
	at         map[string]int // row by crawler
	marks      map[string]*marks
	mismatches []conduct.Mismatch
}

// marks are the marks in a crawler's timeline, by interval.
type marks struct{ answers, changes, violations [stretches]bool }

// New returns counts for a run whose store has engine.StoreOptions.Evidence.
func New(store *engine.Store, opt conduct.Options) *Counts {
	c := &Counts{at: map[string]int{}, marks: map[string]*marks{}}
	opt.ByAgent, opt.Moment = true, c.addMoment
	c.journal = conduct.NewJournal(store, opt)
	return c
}

// Write counts a batch.
func (c *Counts) Write(b *engine.Batch) error { return c.journal.Write(b) }

// Close removes the temporary files.
func (c *Counts) Close() { c.journal.CloseTemp() }

// Judge evaluates the counted requests, and draws them in a time range and time zone: clock converts a time to local
// time. Nothing may be written afterwards. There are no results if the log has no times, or if no request for
// /robots.txt has a status code, because then no request can be evaluated.
func (c *Counts) Judge(in times.Span, clock func(int64) int64) error {
	if !c.journal.HasTimes() {
		return nil
	}
	c.line, c.shown = in, clock
	err := c.journal.Judge(c)
	if asks := func(r Row) bool { return r.Robots > 0 }; !c.journal.HasAnswers() && slices.ContainsFunc(c.rows, asks) {
		c.rows, c.at = nil, nil
	}
	return err
}

// intervalOf returns the interval of a time; false if it is outside the timeline.
func (c *Counts) intervalOf(at int64) (int, bool) {
	return c.line.Part(c.shown(at), stretches)
}

// marksOf returns the timeline of a crawler; nil if the limit is reached.
func (c *Counts) marksOf(agent string) *marks {
	m := c.marks[agent]
	if m == nil && len(c.marks) < lines {
		m = new(marks)
		c.marks[agent] = m
	}
	return m
}

// addMoment marks a response to a request for robots.txt, or counts and marks a disallowed request.
func (c *Counts) addMoment(m conduct.Moment) {
	line := c.marksOf(m.Agent)
	i, ok := c.intervalOf(m.At)
	ok = ok && line != nil
	switch {
	case m.IsAnswer:
		if ok {
			line.answers[i] = true
		}
	case m.Violated:
		if ok {
			line.violations[i] = true
		}
		r := &c.rows[c.rowOf(m.Agent)]
		if r.Broke[m.Conduct]++; m.Conduct == conduct.Knew {
			if r.Broke[m.Conduct] == 1 {
				r.FirstKnew, r.LastKnew = m.At, m.At
			}
			r.FirstKnew, r.LastKnew = min(r.FirstKnew, m.At), max(r.LastKnew, m.At)
		}
	}
}

// rowOf returns the index of the row of a crawler, and adds the row if needed.
func (c *Counts) rowOf(agent string) int {
	i, ok := c.at[agent]
	if !ok {
		i = len(c.rows)
		c.at[agent] = i
		c.rows = append(c.rows, Row{})
	}
	return i
}

// Row receives the totals of a crawler over all origins.
func (c *Counts) Row(r *conduct.Row) error {
	c.rows[c.rowOf(r.Agent)].Row = *r
	return nil
}

// Request does nothing: requests arrive as moments.
func (c *Counts) Request(*conduct.Request) error { return nil }

// Change marks the time when a crawler received a changed text.
func (c *Counts) Change(change *conduct.Change) error {
	if i, ok := c.intervalOf(change.At); ok {
		if line := c.marksOf(change.Agent); line != nil {
			line.changes[i] = true
		}
	}
	return nil
}

// Mismatch receives an origin whose responses contradict its text.
func (c *Counts) Mismatch(m *conduct.Mismatch) error {
	c.mismatches = append(c.mismatches, *m)
	return nil
}

// Mismatches returns the origins whose responses contradict their text. Call it after Judge.
func (c *Counts) Mismatches() []conduct.Mismatch { return c.mismatches }

// RowOf returns the row of a crawler; the zero Row if it was not seen.
func (c *Counts) RowOf(agent string) (r Row) {
	if i, ok := c.at[agent]; ok {
		r = c.rows[i]
	}
	return r
}

// A Row is a crawler in the panel.
type Row struct {
	conduct.Row
	Broke [conduct.NumConducts]int64 // violations with a time, by what the crawler knew

	FirstKnew, LastKnew int64 // time range of Broke[conduct.Knew]

	Bars                         []bar  // bars of Disallowed
	Answered, Changed, Violating string // marks in the timeline, as SVG paths
}

// A bar is a segment of the bar that shows what a crawler knew.
type bar struct{ Class, From, Width string }

// A View is the panel.
type View struct {
	Rows     []*Row
	More     int64 // crawlers that are not shown
	Sum      *Row  // totals of all crawlers; nil if there is only one
	BarWidth int   // width of a bar
	Width    int   // width of a timeline
	Changing bool  // a timeline shows a change
}

// View returns the panel; nil if no crawler requested robots.txt or a disallowed URL. Call it after Judge.
func (c *Counts) View() *View {
	v, sum := &View{BarWidth: barWidth, Width: stretches}, &Row{Row: *conduct.NewRow("all crawlers", "", "")}
	for i := range c.rows {
		r := &c.rows[i]
		if r.Robots+r.Disallowed+r.Untimed == 0 {
			continue
		}
		row := *r
		row.Bars = row.newBars()
		if m := c.marks[r.Agent]; m != nil {
			row.Answered, row.Changed, row.Violating = drawMarks(&m.answers, 1, 8), drawMarks(&m.changes, 0, 24), drawMarks(&m.violations, 13, 10)
			v.Changing = v.Changing || row.Changed != ""
		}
		sum.Add(&r.Row)
		v.Rows = append(v.Rows, &row)
	}
	if len(v.Rows) == 0 {
		return nil
	}
	slices.SortStableFunc(v.Rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(b.Violations, a.Violations), cmp.Compare(b.Conducts[conduct.Knew], a.Conducts[conduct.Knew]),
			cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Robots, a.Robots), cmp.Compare(a.Agent, b.Agent))
	})
	if len(v.Rows) > 1 {
		sum.Bars = sum.newBars()
		v.Sum = sum
	}
	v.More = int64(max(0, len(v.Rows)-shown))
	v.Rows = v.Rows[:min(len(v.Rows), shown)]
	return v
}

// Knew returns the number of disallowed requests that the crawler's copy of robots.txt also disallowed.
func (r *Row) Knew() int64 { return r.Conducts[conduct.Knew] }

// Outdated returns the number of disallowed requests that an outdated copy allowed.
func (r *Row) Outdated() int64 { return r.Conducts[conduct.Outdated] }

// NeverAsked returns the number of disallowed requests of a crawler that had not requested robots.txt before.
func (r *Row) NeverAsked() int64 { return r.Conducts[conduct.NeverAsked] }

// Rest returns the number of the other disallowed requests.
func (r *Row) Rest() int64 { return r.Disallowed - r.Knew() - r.Outdated() - r.NeverAsked() }

// Unanswered returns the number of requests for /robots.txt without a response that counts.
func (r *Row) Unanswered() int64 { return r.Robots - r.Answers }

// RestText lists the kinds of conduct that Rest counts, with their numbers of requests.
func (r *Row) RestText() string {
	var parts []string
	for _, c := range []conduct.Conduct{conduct.Held, conduct.Shared, conduct.Unseen} {
		if n := r.Conducts[c]; n > 0 {
			parts = append(parts, show.Number(n)+" "+c.String())
		}
	}
	return strings.Join(parts, ", ")
}

// Apart formats the longest time between two responses, rounded up; "" if there are fewer than two.
func (r *Row) Apart() string {
	if r.AnswerGaps == 0 {
		return ""
	}
	most, unit, noun := times.Length(r.AnswerMost), times.Second, "second"
	switch {
	case most >= 2*times.Day:
		unit, noun = times.Day, "day"
	case most >= 2*times.Hour:
		unit, noun = times.Hour, "hour"
	case most >= 2*times.Minute:
		unit, noun = times.Minute, "minute"
	}
	return "at most " + show.Plural(most.Begun(unit), noun) + " apart"
}

// newBars returns the segments for the bar of a row, one for each kind of conduct that occurs.
func (r *Row) newBars() (all []bar) {
	at := 0.0
	for _, piece := range []struct {
		class string
		n     int64
	}{{"knew", r.Knew()}, {"outdated", r.Outdated()}, {"never", r.NeverAsked()}, {"rest", r.Rest()}} {
		if piece.n == 0 {
			continue
		}
		width := barWidth * show.Share(piece.n, r.Disallowed)
		all = append(all, bar{piece.class, show.Coordinate(at), show.Coordinate(max(1, width))})
		at += width
	}
	return all
}

// drawMarks returns the marks as the path of an SVG: rectangles of the given height, with adjacent marks joined.
func drawMarks(marks *[stretches]bool, top, height int) string {
	var sb strings.Builder
	for i := 0; i < stretches; i++ {
		first := i
		for i < stretches && marks[i] {
			i++
		}
		if i > first {
			fmt.Fprintf(&sb, "M%d %dh%dv%dh-%dz", first, top, i-first, height, i-first)
		}
	}
	return sb.String()
}
