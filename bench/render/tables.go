package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// libraries are the peers in the order shown, by the name in the results.
var libraries = []struct{ key, label string }{
	{"robobatch", "robobatch"},
	{"grobotstxt-cached", "grobotstxt, parsed once by hand"},
	{"temoto-robotstxt", "temoto/robotstxt"},
	{"benjaminestes-robots", "benjaminestes/robots"},
	{"robobatch-reference", "robobatch's reference matcher"},
	{"grobotstxt", "grobotstxt"},
	{"lines-alone", "reading the lines alone"},
}

// workloads are the peers' workloads, in the order shown.
var workloads = []struct{ key, label string }{
	{"W1", "one origin, 326 rules"},
	{"W1x", "one origin, 1,034 rules"},
	{"W3", "real URLs, real rules"},
	{"W4", "made-up URLs, 30,000 origins"},
}

// runs are the logs of whole runs, in the order shown.
var runs = []struct{ key, label string }{
	{"data=real/order=grouped/frames=1", "real, grouped by host"},
	{"data=madeup/order=grouped/frames=1", "30,000 origins, grouped"},
	{"data=madeup/order=grouped/frames=8", "30,000 origins, grouped, 8 frames"},
	{"data=madeup/order=shuffled/frames=1", "30,000 origins, shuffled"},
	{"data=madeup/order=shuffled/frames=8", "30,000 origins, shuffled, 8 frames"},
}

// tables returns all tables, by the name of their marks.
func (m *medians) tables() map[string]string {
	return map[string]string{"machine": m.where(), "peers": m.peersTable()}
}

// where says where and when it was measured: a file of results begins with its date.
func (m *medians) where() string {
	return fmt.Sprintf("Measured on %s, on %s, with others at work on the machine. Medians; all samples are in [bench/results](/bench/results).\n",
		m.machine, m.file[:min(len(time.DateOnly), len(m.file))])
}

// peersTable returns the CPU time of each library for each workload in Markdown, with a dash for
// cases that were not measured.
func (m *medians) peersTable() string {
	var sb strings.Builder
	sb.WriteString("| CPU ns per URL | W1 | W1x | W3 | W4 | agree with the reference |\n|---|---|---|---|---|---|\n")
	for _, lib := range libraries {
		sb.WriteString("| " + lib.label)
		low, high := math.Inf(1), 0.0
		for _, w := range workloads {
			name, cell := "Peer/w="+w.key+"/lib="+lib.key, "–"
			if v, ok := m.values[series{name, "cpu-sec/url"}]; ok {
				cell = number(v * 1e9)
			}
			sb.WriteString(" | " + cell)
			if v, ok := m.values[series{name, "agree-%"}]; ok {
				low, high = min(low, v), max(high, v)
			}
		}
		sb.WriteString(" | " + share(low, high) + " |\n")
	}
	return sb.String()
}

// number returns v with three significant digits at least, and commas between thousands.
func number(v float64) string {
	if v != 0 && math.Abs(v) < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// share returns a range of percentages. A part is not rounded to all.
func share(low, high float64) string {
	one := func(v float64) string {
		text := fmt.Sprintf("%.2f", math.Floor(v*100)/100)
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") // "100.00" is 100, "99.50" is 99.5
	}
	switch {
	case low > high:
		return "–"
	case one(low) == one(high):
		return one(low) + " %"
	}
	return one(low) + "–" + one(high) + " %"
}
