package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report/internal/show"
)

// The size of a spark line.
const (
	SparkPoints = 60 // the most bars
	sparkWidth  = 120
	sparkHeight = 24
)

// Spark returns small bars as the path of an SVG, and the width of the path; "" and 0 if all points are 0. There must
// be at least one point.
func Spark(points []int64) (bars string, width int) {
	most := slices.Max(points)
	if most == 0 {
		return "", 0
	}
	step := min(12, float64(sparkWidth)/float64(len(points)))
	return drawColumns(points, most, column{step, max(1, step-1), sparkHeight}), int(math.Ceil(step * float64(len(points))))
}

// A column describes bars: the distance from one to the next, their width, and the height of the highest.
type column struct {
	step, width float64
	height      int
}

// drawColumns returns bars as the path of an SVG, without bars for zeros. most is the value of a bar of full height,
// above 0.
func drawColumns(points []int64, most int64, form column) string {
	var sb strings.Builder
	for i, n := range points {
		if n == 0 {
			continue
		}
		h := max(1, float64(form.height)*float64(n)/float64(most))
		fmt.Fprintf(&sb, "M%s %dv-%sh%sv%sz", show.Coordinate(float64(i)*form.step), form.height, show.Coordinate(h), show.Coordinate(form.width), show.Coordinate(h))
	}
	return sb.String()
}

// A View is the panel of time.
type View struct {
	Step   string
	Bars   string // all requests, as the path of an SVG
	Marked string // errors; without statuses violations, or disallowed requests
	Grid   string // lines at Ticks
	Ticks  []tick
	Labels []string // of the time, from the first to the last interval
	Peaks  []peak
	What   string // a name for the marked requests
	Denied string // the heading of requests that are disallowed
	Names  []string
	Rows   []timeRow
	Share  float64     // of the requests that Rows have
	Apart  []apartView // the rows that Rows leave out
	Chart  chart

	Changes string // lines at the times when a robots.txt changed, as an SVG path
	Shaded  string // the spans of Options.Spans
	Cut     string // the first and the last interval if the log covers only a part of them
	Errors  bool   // statuses are known
}

// A tick is a label with a number of requests, next to the bars.
type tick struct {
	Y    string
	Text string
}

// A peak is the interval with the largest value of a number.
type peak struct{ What, Number, When string }

// addScale adds lines and labels for the vertical axis, and labels for the time axis. most is the number of requests
// of the highest bar, above 0. The ticks are multiples of 1, 2 or 5 times a power of ten. Call it after the rows are
// complete.
func (t *View) addScale(most int64) {
	step := int64(1)
	for i := 0; most/step > 5; i++ {
		step = step * []int64{2, 5, 2}[i%3] / []int64{1, 2, 1}[i%3]
	}
	var grid strings.Builder
	for n := int64(0); n <= most; n += step {
		y := show.Coordinate(barsHeight - barsHeight*float64(n)/float64(most))
		t.Ticks = append(t.Ticks, tick{y, show.Number(n)})
		fmt.Fprintf(&grid, "M0 %sh%d", y, barsWidth)
	}
	t.Grid = grid.String()
	labels := min(shownLabels, len(t.Rows))
	for i := range labels {
		t.Labels = append(t.Labels, t.Rows[i*(len(t.Rows)-1)/max(1, labels-1)].At)
	}
}

// addPeak adds the first interval with the most requests of a kind, if there are any. If intervals are hours of
// several days, it also adds the busiest day.
func (t *View) addPeak(what string, numbers []int64) {
	most := slices.Max(numbers)
	if most == 0 {
		return
	}
	at := t.Rows[slices.Index(numbers, most)].At
	when := "in the " + t.Step + " from "
	if t.Step == "day" {
		when = "on the day "
	}
	if t.Peaks = append(t.Peaks, peak{what, show.Number(most), when + at}); t.Step != "hour" {
		return
	}
	var days []string
	var sums []int64
	for i := range numbers {
		if day := t.Rows[i].At[:len(time.DateOnly)]; len(days) == 0 || days[len(days)-1] != day {
			days, sums = append(days, day), append(sums, 0)
		}
		sums[len(sums)-1] += numbers[i]
	}
	if len(days) > 1 {
		most = slices.Max(sums)
		t.Peaks = append(t.Peaks, peak{what, show.Number(most), "on the day " + days[slices.Index(sums, most)]})
	}
}

// A timeRow is an interval: its requests, those that are disallowed for at least one crawler, violations, and the
// requests of each crawler.
type timeRow struct {
	At     string
	All    int64
	Denied int64
	Bad    int64
	Errors int64
	By     []int64
}

// A chart is the data that the script draws: all requests, and those of each crawler.
type chart struct {
	Starts []int64     `json:"starts"`
	End    int64       `json:"end"` // of the last interval
	Lines  []chartLine `json:"lines"`
	Drawn  []int       `json:"drawn"` // number of lines that are drawn until the reader selects others
	Step   string      `json:"step"`
	What   string      `json:"what"`   // marks are
	Errors bool        `json:"errors"` // statuses are known

	Changes []int64 `json:"changes"` // when a robots.txt changed, in seconds
	Spans   []Span  `json:"spans"`
	Cut     []int   `json:"cut"` // indices in Starts of intervals that the log covers only partly
}

// A Span is the time range of a finding, in seconds, in the time zone of the chart.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	No   int   `json:"no"` // of the finding, from 1
}

// A chartLine is a crawler, with its numbers in each interval.
type chartLine struct {
	Name   string `json:"name"`
	Values series `json:"values"`
	Errors series `json:"errors"`
	Marks  series `json:"marks"`
	Moved  series `json:"moved"`
	Server series `json:"server"`
}

// newLine returns the line for the sum of some crawlers; of all if none is given.
func (p *Points) newLine(name string, crawlers ...int) chartLine {
	sum := func(kind int) []int64 { return p.Sum(kind, crawlers...) }
	return chartLine{show.Text(name), sum(Requests), sum(Errors), sum(Violations), sum(Moved), sum(Server)}
}

// A series is a number for each interval. JSON encodes n consecutive zeros as -n, because most crawlers are active in
// few intervals.
type series []int64

// MarshalJSON encodes n consecutive zeros as -n.
func (s series) MarshalJSON() ([]byte, error) {
	packed := make([]int64, 0, len(s))
	for _, n := range s {
		switch last := len(packed) - 1; {
		case n != 0:
			packed = append(packed, n)
		case last >= 0 && packed[last] < 0:
			packed[last]--
		default:
			packed = append(packed, -1)
		}
	}
	return json.Marshal(packed)
}

// The limits and sizes of the panel.
const (
	timePoints   = 200
	timeCrawlers = 6   // in the table
	lineCrawlers = 150 // in the chart one by one
	drawnLines   = 3   // all requests, and two crawlers
	barsWidth    = 1000
	barsHeight   = 160
	shownLabels  = 5
)

// Options configure a View.
type Options struct {
	FromLog bool             // rows are counted by crawler of the log
	Several bool             // rows have several verdicts
	Name    func(int) string // of a crawler of the log
	Changes []time.Time      // when a robots.txt changed, in their order
	Errors  bool             // statuses are known
	Spans   []Span           // in the order of the findings
	First   []string         // crawlers whose lines come first
}

// View returns the panel for a time range, in microseconds; nil if no row has a time. It does not change the series.
func (s *Series) View(within times.Span, opt Options) *View {
	p := s.Points(within, 0, timePoints)
	if p == nil {
		return nil
	}
	t := &View{Step: p.Step, What: "disallowed", Denied: "Disallowed", Errors: opt.Errors}
	switch {
	case opt.FromLog:
		t.What = "violations"
	case opt.Several:
		t.What, t.Denied = "disallowed for at least one crawler", "Disallowed for at least one"
	}
	const yearOne = -62135596800
	layout := "2006-01-02"
	if p.Step == "hour" {
		layout = "2006-01-02 15:04"
	}
	var order []int // crawlers, the busiest first
	sums := make([]int64, len(p.Of[Requests]))
	for a, requests := range p.Of[Requests] {
		for _, n := range requests {
			sums[a] += n
		}
		if sums[a] > 0 {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	if !opt.FromLog {
		order = nil
	}
	isOther := func(a int) bool { return !slices.Contains(opt.First, strings.Split(opt.Name(a), "/")[0]) }
	ranked := slices.Concat(slices.DeleteFunc(slices.Clone(order), isOther), slices.DeleteFunc(slices.Clone(order), func(a int) bool { return !isOther(a) }))
	order = order[:min(len(order), timeCrawlers)]
	whole, denied := p.newLine("all requests"), p.Sum(Denied)
	for i, at := range p.Starts {
		at := time.Unix(max(at, yearOne), 0).UTC().Format(layout) // the interval of 100 years that contains year 1 begins before it
		row := timeRow{At: at, All: whole.Values[i], Denied: denied[i], Bad: whole.Marks[i], Errors: whole.Errors[i]}
		for _, a := range order {
			row.By = append(row.By, p.Of[Requests][a][i])
		}
		t.Rows = append(t.Rows, row)
	}
	if !opt.FromLog {
		whole.Marks = denied
	}
	t.addApart(p, order)
	most := max(1, slices.Max(whole.Values))
	t.Bars, t.Marked = drawBars(whole.Values, most), drawBars(whole.Marks, most)
	t.addScale(most)
	t.addPeak("requests", whole.Values)
	if opt.Errors {
		t.Marked = drawBars(whole.Errors, most)
		t.addPeak("errors", whole.Errors)
	}
	t.addPeak(t.What, whole.Marks)
	t.Chart = chart{
		Starts: p.Starts, End: p.Starts[0] + p.stepSeconds()*int64(len(p.Starts)), Step: p.Step, What: t.What, Errors: opt.Errors, Drawn: []int{0}, Changes: []int64{}, Spans: []Span{}, Cut: []int{},
		Lines: []chartLine{whole},
	}
	t.addChanges(opt.Changes)
	for _, s := range opt.Spans { // that lie within the chart
		if s.To >= t.Chart.Starts[0] && s.From <= t.Chart.End {
			t.Chart.Spans = append(t.Chart.Spans, s)
			t.Shaded += t.Chart.shadedPath(s.From, s.To)
		}
	}
	t.addCut(within, p)
	for _, a := range order {
		t.Names = append(t.Names, opt.Name(a))
	}
	t.addLines(p, ranked, opt.Name)
	return t
}

// addLines adds the lines of crawlers to the chart, and draws the first of them. ranked are the crawlers in the order
// of the lines; those beyond lineCrawlers are summed in one line.
func (t *View) addLines(p *Points, ranked []int, name func(int) string) {
	if len(ranked) == 1 && ranked[0] == 0 {
		return // without crawlers of the log, there is only the line of all requests
	}
	most := min(len(ranked), lineCrawlers)
	for _, a := range ranked[:most] {
		if a > 0 && len(t.Chart.Drawn) < drawnLines { // 0 is not a crawler
			t.Chart.Drawn = append(t.Chart.Drawn, len(t.Chart.Lines))
		}
		t.Chart.Lines = append(t.Chart.Lines, p.newLine(name(a), a))
	}
	if rest := ranked[most:]; len(rest) > 0 {
		t.Chart.Lines = append(t.Chart.Lines, p.newLine(show.Plural(int64(len(rest)), "other crawler"), rest...))
	}
}

// stepSeconds returns how long an interval is.
func (p *Points) stepSeconds() int64 {
	return steps[slices.Index(stepNames, p.Step)] / second
}

// xOf returns the horizontal position of a time, in seconds, in the bars. Times outside the chart are moved to its
// edge.
func (c *chart) xOf(at int64) string {
	begin := c.Starts[0]
	return show.Coordinate(barsWidth * float64(min(max(at, begin), c.End)-begin) / float64(c.End-begin))
}

// addChanges adds a line for each change of a robots.txt within the chart. changes are in their order.
func (t *View) addChanges(changes []time.Time) {
	last := ""
	for _, change := range changes {
		at := change.Unix()
		if at < t.Chart.Starts[0] || at > t.Chart.End {
			continue
		}
		t.Chart.Changes = append(t.Chart.Changes, at)
		if line := fmt.Sprintf("M%s 0v%d", t.Chart.xOf(at), barsHeight); line != last {
			t.Changes += line
			last = line
		}
	}
}

// shadedPath returns a time range, in seconds, as the path of an SVG.
func (c *chart) shadedPath(from, to int64) string {
	return fmt.Sprintf("M%s 0v%dH%sv-%dz", c.xOf(from), barsHeight, c.xOf(to), barsHeight)
}

// addCut marks the first and the last interval if the log begins after the interval's begin, or ends before its end:
// by at least a twentieth of its length and ten times the average time between two requests.
func (t *View) addCut(within times.Span, p *Points) {
	c, length := &t.Chart, p.stepSeconds()
	least := leastGap(length*second, within, p.countRequests())
	last := len(c.Starts) - 1
	for _, one := range []struct {
		i   int
		gap int64
	}{{0, within.First - c.Starts[0]*second}, {last, c.End*second - within.Last}} {
		if one.gap > least && (one.i > 0 || last > 0) {
			c.Cut = append(c.Cut, one.i)
			t.Cut += c.shadedPath(c.Starts[one.i], c.Starts[one.i]+length)
		}
	}
}

// leastGap returns the gap at the edge of a log above which addCut marks an interval, in microseconds: the greater of
// a twentieth of its length and ten times the average time between rows.
func leastGap(length int64, within times.Span, rows int64) int64 {
	return max(length/20, 10*(within.Last-within.First)/max(1, rows))
}

// drawBars returns bars over the width of the panel as the path of an SVG. most is the value of a bar of full height,
// above 0.
func drawBars(points []int64, most int64) string {
	step := float64(barsWidth) / float64(len(points))
	return drawColumns(points, most, column{step, max(1, step*0.85), barsHeight})
}
