// Command render shows the medians of the latest benchmark results, as written by benchstat:
//
//	make bench-render
//
// It reads bench/results/medians.csv, writes the charts beside it, and writes tables into README.md,
// bench/README.md and docs/PERFORMANCE.md, between the lines <!-- bench:NAME --> and <!-- /bench:NAME -->.
package main

import (
	"bytes"
	"encoding/csv"
	"errors"
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

// main writes the files whose content has changed, and prints their names.
func main() {
	top := flag.String("C", ".", "the top of the source tree")
	flag.Parse()
	files, err := renderFiles(*top)
	for name, text := range files { // write those that have changed
		if old, errRead := os.ReadFile(name); errRead == nil && string(old) == text {
			continue
		}
		err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644))
		fmt.Println(name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(2)
	}
}

// renderFiles returns the expected content of all files that show results, by name. It writes nothing.
func renderFiles(top string) (map[string]string, error) {
	results := filepath.Join(top, "bench", "results")
	text, err := os.ReadFile(filepath.Join(results, "medians.csv"))
	if err != nil {
		return nil, err
	}
	m, err := parseMedians(bytes.NewReader(text))
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
		if files[name], err = fillTables(string(text), m.tables()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// fillTables replaces the text between the marks of each table. Tables without marks in the text are ignored; a mark
// without its end is an error.
func fillTables(text string, tables map[string]string) (string, error) {
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

// medians are the medians that benchstat computed from a file of results.
type medians struct {
	machine string
	file    string
	values  map[series]float64
}

// A series has the samples of a benchmark in one unit. benchstat converts nanoseconds to seconds, also in the names of
// units: cpu-ns/url becomes cpu-sec/url.
type series struct{ name, unit string }

// parseMedians reads the output of benchstat -format csv -row .fullname for one file: tables after lines "key: value",
// with two header rows, the file and the unit. It keeps the first column of values.
func parseMedians(text io.Reader) (*medians, error) {
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

// libraries are the libraries in the order of the tables, by their names in the results.
var libraries = []label{
	{"robobatch", "robobatch"},
	{"grobotstxt-cached", "grobotstxt, parsed once by hand"},
	{"temoto-robotstxt", "temoto/robotstxt"},
	{"benjaminestes-robots", "benjaminestes/robots"},
	{"robobatch-reference", "robobatch's reference matcher"},
	{"grobotstxt", "grobotstxt"},
	{"lines-alone", "only reading the lines"},
}

// workloads are the workloads of peers in the order of the tables.
var workloads = []label{
	{"W1", "one origin, 326 rules"},
	{"W1x", "one origin, 1,034 rules"},
	{"W3", "real URLs, real rules"},
	{"W4", "made-up URLs, 30,000 origins"},
}

// runs are the logs of complete runs in the order of the tables.
var runs = []label{
	{"data=real/order=grouped/frames=1", "real, grouped by host"},
	{"data=madeup/order=grouped/frames=1", "30,000 origins, grouped"},
	{"data=madeup/order=grouped/frames=8", "30,000 origins, grouped, 8 frames"},
	{"data=madeup/order=shuffled/frames=1", "30,000 origins, shuffled"},
	{"data=madeup/order=shuffled/frames=8", "30,000 origins, shuffled, 8 frames"},
}

// tables returns all tables by the names of their marks; engines only if it was measured. The name of a file of
// results starts with its date.
func (m *medians) tables() map[string]string {
	all := map[string]string{
		"machine": fmt.Sprintf("Measured on %s, on %s. Medians; all samples are in [bench/results](/bench/results).\n",
			m.machine, m.file[:min(len(time.DateOnly), len(m.file))]),
		"peers": m.markdownTable("Peer", "url", "CPU ns per URL", libraries, workloads),
	}
	if _, ok := m.values[series{"Engine/w=few/lib=robobatch", "cpu-sec/path"}]; ok {
		all["engines"] = m.markdownTable("Engine", "path", "CPU ns per path (ms to compile)", engines, patterns)
	}
	return all
}

// A label is the name in a table for a part of benchmark names.
type label struct{ key, label string }

// engines are the matchers in the order of the tables, and patterns are their workloads.
var (
	engines  = []label{{"robobatch", "robobatch"}, {"hyperscan", "Hyperscan"}, {"vectorscan", "Vectorscan"}, {"re2-set", "RE2::Set"}, {"dense-dfa", "dense DFA"}}
	patterns = []label{{"W1x", ""}, {"W3", ""}, {"W4", ""}, {"few", ""}, {"words", ""}}
)

// markdownTable returns the CPU time of each library for each workload in Markdown: a dash if it was not measured, and
// in brackets the time for compiling, if that was.
func (m *medians) markdownTable(benchmark, unit, head string, libraries, workloads []label) string {
	var sb strings.Builder
	sb.WriteString("| " + head)
	for _, w := range workloads {
		sb.WriteString(" | " + w.key)
	}
	sb.WriteString(" | agree with the reference |\n" + strings.Repeat("|---", len(workloads)+2) + "|\n")
	percent := func(v float64) string { // a share below 100% is not rounded up to it
		text := fmt.Sprintf("%.2f", math.Floor(v*100)/100)
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") // "100.00" is 100, "99.50" is 99.5
	}
	for _, lib := range libraries {
		sb.WriteString("| " + lib.label)
		low, high := math.Inf(1), 0.0
		for _, w := range workloads {
			name, cell := benchmark+"/w="+w.key+"/lib="+lib.key, "–"
			if v, ok := m.values[series{name, "cpu-sec/" + unit}]; ok {
				cell = formatNumber(v * 1e9)
			}
			if v, ok := m.values[series{name, "compile-cpu-sec/origin"}]; ok {
				cell += " (" + formatNumber(v*1e3) + ")"
			}
			sb.WriteString(" | " + cell)
			if v, ok := m.values[series{name, "agree-%"}]; ok {
				low, high = min(low, v), max(high, v)
			}
		}
		share := "–"
		if low <= high {
			share = percent(low)
			if most := percent(high); most != share {
				share += "–" + most
			}
			share += " %"
		}
		sb.WriteString(" | " + share + " |\n")
	}
	return sb.String()
}

// formatNumber formats a number with at least three significant digits, and commas between thousands. It must not be
// negative.
func formatNumber(v float64) string {
	if v != 0 && math.Abs(v) < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
