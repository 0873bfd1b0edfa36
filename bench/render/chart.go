package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A chart has groups of horizontal bars with a common axis.
type chart struct {
	title  string
	note   string // below the title: the unit and the machine
	log    bool   // the axis is logarithmic
	groups []group
}

// A group has bars below a heading.
type group struct {
	label string
	bars  []bar
}

// A bar is one value.
type bar struct {
	label string
	value float64
	tint  string // class of its colour: "own", "own2" or "peer"
}

// The measures of a chart, in pixels.
const (
	width    = 760
	left     = 230 // of the bars
	right    = 90  // for the value after the longest bar
	rowStep  = 22
	barHigh  = 15
	headHigh = 34 // of a group's heading
	topHigh  = 58 // of the title and the note
	footHigh = 30 // of the axis labels
)

// style works on light and dark pages: the chart has no background, and its colours follow the preference of the
// reader.
const style = `
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.title{font-size:16px;font-weight:600}
.note,.tick{fill:#59636e;font-size:12px}
.group{font-weight:600}
.value{font-variant-numeric:tabular-nums}
.grid{stroke:#d1d9e0;stroke-width:1}
.own{fill:#0969da}.own2{fill:#54aeff}.peer{fill:#8c959f}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.note,.tick{fill:#9198a1}.grid{stroke:#3d444d}
.own{fill:#4493f8}.own2{fill:#1f6feb}.peer{fill:#656c76}
}
`

// svg returns the chart as an SVG file.
func (c *chart) svg() string {
	high := topHigh + footHigh
	for _, g := range c.groups {
		high += headHigh + rowStep*len(g.bars)
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		width, high, width, high, html.EscapeString(c.title))
	fmt.Fprintf(&sb, "\n<style>%s</style>\n", style)
	writeText(&sb, "title", 0, 20, "start", c.title)
	writeText(&sb, "note", 0, 40, "start", c.note)
	a := c.axis()
	for _, tick := range a.ticks {
		x := left + a.at(tick)
		fmt.Fprintf(&sb, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", x, topHigh, x, high-footHigh)
		label := formatNumber(tick)
		if tick == math.Trunc(tick) && tick < 10 {
			label = fmt.Sprint(tick)
		}
		writeText(&sb, "tick", x, float64(high-footHigh+18), "middle", label)
	}
	y := topHigh
	for _, g := range c.groups {
		y += headHigh
		writeText(&sb, "group", 0, float64(y-10), "start", g.label)
		for _, b := range g.bars {
			long, base := max(2, a.at(b.value)), float64(y)+12
			writeText(&sb, "", left-8, base, "end", b.label)
			fmt.Fprintf(&sb, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+"\n", b.tint, left, y, long, barHigh)
			writeText(&sb, "value", left+long+6, base, "start", formatNumber(b.value))
			y += rowStep
		}
	}
	sb.WriteString("</svg>\n")
	return sb.String()
}

func writeText(sb *strings.Builder, class string, x, y float64, anchor, s string) {
	fmt.Fprintf(sb, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", class, x, y, anchor, html.EscapeString(s))
}

// An axis maps values to positions.
type axis struct {
	low, high float64 // low is 0 if the axis is linear
	ticks     []float64
}

// axis returns an axis with room for all bars, and its ticks. A logarithmic axis begins at a power of ten.
func (c *chart) axis() axis {
	low, high := math.Inf(1), 0.0
	for _, g := range c.groups {
		for _, b := range g.bars {
			low, high = min(low, b.value), max(high, b.value)
		}
	}
	if c.log && high > 0 {
		a := axis{low: math.Pow(10, math.Floor(math.Log10(low))), high: high}
		for t := a.low; t <= high; t *= 10 {
			a.ticks = append(a.ticks, t)
		}
		return a
	}
	a := axis{high: max(high, 1)}
	step := math.Pow(10, math.Floor(math.Log10(a.high)))
	for _, finer := range []float64{2, 2.5} {
		if a.high/step < 3 {
			step /= finer
		}
	}
	for t := 0.0; t <= a.high; t += step {
		a.ticks = append(a.ticks, t)
	}
	return a
}

// at returns the distance of v from the start of the axis in pixels.
func (a axis) at(v float64) float64 {
	const room = width - left - right
	if a.low > 0 {
		return room * math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return room * v / a.high
}

// peersChart returns a chart of the CPU time of each library for each workload.
func (m *medians) peersChart() *chart {
	c := &chart{title: "CPU time per URL, Go libraries for robots.txt", note: "Nanoseconds, logarithmic; less is better. " + m.machine, log: true}
	for _, w := range workloads {
		g := group{label: w.key + ": " + w.label}
		for i, lib := range libraries[:len(libraries)-1] { // the last entry is the time for reading
			tint := "peer"
			if i == 0 {
				tint = "own"
			}
			m.addBar(&g, bar{label: lib.label, tint: tint}, "Peer/w="+w.key+"/lib="+lib.key)
		}
		c.groups = append(c.groups, g)
	}
	return c
}

// wholeChart returns a chart of the CPU time of complete runs, with and without the column url.
func (m *medians) wholeChart() *chart {
	c := &chart{title: "CPU time per URL of whole runs, from the zstd log to Parquet", note: "Nanoseconds, one worker, rules loaded before; less is better. " + m.machine}
	for _, url := range []struct{ key, label, tint string }{{"true", "All columns", "own"}, {"false", "Without the column url", "own2"}} {
		g := group{label: url.label}
		for _, run := range runs {
			m.addBar(&g, bar{label: run.label, tint: url.tint}, "Whole/"+run.key+"/url="+url.key+"/workers=1")
		}
		c.groups = append(c.groups, g)
	}
	return c
}

// addBar adds the CPU time of a benchmark in nanoseconds, if it was measured.
func (m *medians) addBar(g *group, b bar, name string) {
	if v, ok := m.values[series{name, "cpu-sec/url"}]; ok {
		b.value = v * 1e9
		g.bars = append(g.bars, b)
	}
}
