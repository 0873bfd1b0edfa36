package main

import (
	"fmt"
	"math"
	"strings"
)

// libraries are the peers in the order shown, by the name in the results.
var libraries = []struct{ key, label string }{
	{"robobatch", "robobatch"},
	{"grobotstxt-cached", "grobotstxt, parsed once by hand"},
	{"temoto-robotstxt", "temoto/robotstxt"},
	{"benjaminestes-robots", "benjaminestes/robots"},
	{"robobatch-reference", "robobatch's reference matcher"},
	{"grobotstxt", "grobotstxt"},
}

// workloads are those of the peers, in the order shown.
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
func (r *results) tables() map[string]string {
	return map[string]string{
		"machine": r.where(),
		"peers":   r.peersTable(),
		"loading": r.loadingTable(),
		"whole":   r.wholeTable(),
		"micro":   r.microTable(),
		"madeup":  r.madeUpTable(),
		"rules":   r.rulesTable(),
	}
}

// where says where and when it was measured.
func (r *results) where() string {
	return fmt.Sprintf("Measured on %s, on %s, with others at work on the machine (load %s). Medians; all lines are in [bench/results](/bench/results).\n",
		r.machine, r.date, r.load)
}

// A table is written as Markdown.
type table struct{ rows [][]string }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String returns the table; the first row is the head.
func (t *table) String() string {
	var sb strings.Builder
	for i, row := range t.rows {
		sb.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			sb.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return sb.String()
}

// cell returns a median as text, scaled, or "–" if there is none.
func (r *results) cell(name, unit string, scale float64) string {
	v, ok := r.median(name, unit)
	if !ok {
		return "–"
	}
	return number(v * scale)
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

func (r *results) peersTable() string {
	t := &table{}
	t.add("CPU ns per URL", "W1", "W1x", "W3", "W4", "agree with the reference")
	for _, lib := range libraries {
		row := append(make([]string, 0, 2+len(workloads)), lib.label)
		low, high := math.Inf(1), 0.0
		for _, w := range workloads {
			name := "Peer/w=" + w.key + "/lib=" + lib.key
			row = append(row, r.cell(name, "cpu-ns/url", 1))
			if v, ok := r.median(name, "agree-%"); ok {
				low, high = min(low, v), max(high, v)
			}
		}
		t.add(append(row, share(low, high))...)
	}
	row := append(make([]string, 0, 2+len(workloads)), "reading the lines alone")
	for _, w := range workloads {
		row = append(row, r.cell("Peer/w="+w.key+"/lib=lines-alone", "cpu-ns/url", 1))
	}
	t.add(append(row, "")...)
	return t.String()
}

// share returns a range of percentages. What is not all is not rounded to all.
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

func (r *results) loadingTable() string {
	t := &table{}
	t.add("CPU µs to parse, and compile, one robots.txt", "W1", "W1x", "W3", "W4")
	for _, lib := range libraries {
		row := append(make([]string, 0, 2+len(workloads)), lib.label)
		for _, w := range workloads {
			row = append(row, r.cell("Peer/w="+w.key+"/lib="+lib.key, "load-cpu-ns/origin", 1e-3))
		}
		t.add(row...)
	}
	return t.String()
}

func (r *results) wholeTable() string {
	t := &table{}
	t.add("log", "all columns: CPU ns per URL", "without `url`: CPU ns per URL", "all columns, 2 workers: URLs/s", "peak memory, 1 and 2 workers, MB")
	for _, run := range runs {
		all := "Whole/" + run.key + "/url=true/workers="
		t.add(run.label, r.cell(all+"1", "cpu-ns/url", 1), r.cell("Whole/"+run.key+"/url=false/workers=1", "cpu-ns/url", 1),
			r.cell(all+"2", "urls/s", 1), r.cell(all+"1", "peak-B", 1e-6)+", "+r.cell(all+"2", "peak-B", 1e-6))
	}
	return t.String()
}
