// Command render shows the medians of the newest results of the benchmarks, as benchstat writes
// them:
//
//	make bench-render
//
// It reads bench/results/medians.csv, writes the charts beside it, and writes tables into README.md,
// bench/README.md and docs/PERFORMANCE.md, between the lines <!-- bench:NAME --> and <!-- /bench:NAME -->.
package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	top := flag.String("C", ".", "the top of the source tree")
	flag.Parse()
	if err := run(*top); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(2)
	}
}

// run writes all files that differ.
func run(top string) error {
	files, err := rendered(top)
	for name, text := range files {
		if old, err := os.ReadFile(name); err == nil && string(old) == text {
			continue
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Println(name)
	}
	return err
}

// rendered returns all files that show results, by name, as they must be.
func rendered(top string) (map[string]string, error) {
	results := filepath.Join(top, "bench", "results")
	text, err := os.ReadFile(filepath.Join(results, "medians.csv"))
	if err != nil {
		return nil, err
	}
	m, err := parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		filepath.Join(results, "peers.svg"): m.peersChart().svg(),
		filepath.Join(results, "whole.svg"): m.wholeChart().svg(),
	}
	for _, name := range []string{filepath.Join(top, "README.md"), filepath.Join(top, "bench", "README.md"), filepath.Join(top, "docs", "PERFORMANCE.md")} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if files[name], err = fill(string(text), m.tables()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// fill puts each table between its marks, if the text has them.
func fill(text string, tables map[string]string) (string, error) {
	for name, table := range tables {
		begin, end := "<!-- bench:"+name+" -->\n", "<!-- /bench:"+name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		if !ok {
			continue
		}
		_, tail, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("%s has no end %s", strings.TrimSpace(begin), end)
		}
		text = head + begin + "\n" + table + "\n" + end + tail
	}
	return text, nil
}

// medians are the medians of benchstat for a file of results.
type medians struct {
	machine string
	file    string
	values  map[series]float64
}

// A series is the samples of a benchmark in one unit. Seconds are seconds: benchstat writes
// cpu-ns/url as cpu-sec/url.
type series struct{ name, unit string }

// parse reads the output of benchstat with -format csv -row .fullname for one file: tables under
// lines "key: value", with two heads, the file and the unit.
func parse(text io.Reader) (*medians, error) {
	r := csv.NewReader(text)
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	m := &medians{values: map[series]float64{}}
	unit := ""
	for i, row := range records {
		machine, ok := strings.CutPrefix(row[0], "cpu: ")
		switch {
		case ok:
			m.machine = machine
		case len(row) < 3:
		case row[0] == "" && slices.Contains(row, "CI"):
			unit = row[1]
		case row[0] == "":
			m.file = row[1]
		default:
			v, err := strconv.ParseFloat(row[1], 64)
			if err != nil {
				return nil, fmt.Errorf("record %d: %w", i+1, err)
			}
			m.values[series{row[0], unit}] = v
		}
	}
	return m, err
}

// libraries are the peers in the order shown, by the name in the results.
var libraries = []label{
	{"robobatch", "robobatch"},
	{"grobotstxt-cached", "grobotstxt, parsed once by hand"},
	{"temoto-robotstxt", "temoto/robotstxt"},
	{"benjaminestes-robots", "benjaminestes/robots"},
	{"robobatch-reference", "robobatch's reference matcher"},
	{"grobotstxt", "grobotstxt"},
	{"lines-alone", "only reading the lines"},
}

// workloads are the peers' workloads, in the order shown.
var workloads = []label{
	{"W1", "one origin, 326 rules"},
	{"W1x", "one origin, 1,034 rules"},
	{"W3", "real URLs, real rules"},
	{"W4", "made-up URLs, 30,000 origins"},
}

// runs are the logs of whole runs, in the order shown.
var runs = []label{
	{"data=real/order=grouped/frames=1", "real, grouped by host"},
	{"data=madeup/order=grouped/frames=1", "30,000 origins, grouped"},
	{"data=madeup/order=grouped/frames=8", "30,000 origins, grouped, 8 frames"},
	{"data=madeup/order=shuffled/frames=1", "30,000 origins, shuffled"},
	{"data=madeup/order=shuffled/frames=8", "30,000 origins, shuffled, 8 frames"},
}

// tables returns all tables, by the name of their marks.
func (m *medians) tables() map[string]string {
	all := map[string]string{"machine": m.where(), "peers": m.table("Peer", "url", "CPU ns per URL", libraries, workloads)}
	if _, ok := m.values[series{"Engine/w=few/lib=robobatch", "cpu-sec/path"}]; ok {
		all["engines"] = m.table("Engine", "path", "CPU ns per path (ms to compile)", engines, patterns)
	}
	return all
}

// A label is how a table calls a part of the name of benchmarks.
type label struct{ key, label string }

// engines are the matchers in the order shown, and patterns their workloads.
var (
	engines  = []label{{"robobatch", "robobatch"}, {"hyperscan", "Hyperscan"}, {"vectorscan", "Vectorscan"}, {"re2-set", "RE2::Set"}, {"dense-dfa", "dense DFA"}}
	patterns = []label{{"W1x", ""}, {"W3", ""}, {"W4", ""}, {"few", ""}, {"words", ""}}
)

// where says where and when it was measured: a file of results begins with its date.
func (m *medians) where() string {
	return fmt.Sprintf("Measured on %s, on %s. Medians; all samples are in [bench/results](/bench/results).\n",
		m.machine, m.file[:min(len(time.DateOnly), len(m.file))])
}

// table returns the CPU time of each library for each workload in Markdown, with a dash for cases that were not measured,
// and in brackets what compiling takes, if that was.
func (m *medians) table(benchmark, unit, head string, libraries, workloads []label) string {
	var sb strings.Builder
	sb.WriteString("| " + head)
	for _, w := range workloads {
		sb.WriteString(" | " + w.key)
	}
	sb.WriteString(" | agree with the reference |\n" + strings.Repeat("|---", len(workloads)+2) + "|\n")
	for _, lib := range libraries {
		sb.WriteString("| " + lib.label)
		low, high := math.Inf(1), 0.0
		for _, w := range workloads {
			name, cell := benchmark+"/w="+w.key+"/lib="+lib.key, "–"
			if v, ok := m.values[series{name, "cpu-sec/" + unit}]; ok {
				cell = number(v * 1e9)
			}
			if v, ok := m.values[series{name, "compile-cpu-sec/origin"}]; ok {
				cell += " (" + number(v*1e3) + ")"
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
