package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the medians of a file, by name and unit.
type results struct {
	machine string
	date    string
	load    string // of the machine, as the last part of the file has it
	names   []string
	values  map[string]map[string][]float64
}

// newest reads the last file of results.
func newest(dir string) (*results, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no results: run make bench-results", dir)
	}
	slices.Sort(names)
	text, err := os.ReadFile(names[len(names)-1])
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// processors is what package testing appends to a name for GOMAXPROCS.
var processors = regexp.MustCompile(`-\d+$`)

// parse reads lines of Go's benchmark format, and the lines "key: value" of the header, where date and load stand behind a # but in
// older files.
func parse(text []byte) (*results, error) {
	r := &results{values: map[string]map[string][]float64{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
		switch key {
		case "cpu":
			r.machine = value
		case "date":
			r.date = value
		case "load":
			r.load = value
		}
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		if err := r.add(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	return r, lines.Err()
}

// add adds a line: name, count, and pairs of a value and a unit.
func (r *results) add(fields []string) error {
	if len(fields) < 4 {
		return nil // of a benchmark that was skipped
	}
	name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
	units := r.values[name]
	if units == nil {
		units = map[string][]float64{}
		r.values[name] = units
		r.names = append(r.names, name)
	}
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return err
		}
		units[fields[i+1]] = append(units[fields[i+1]], value)
	}
	return nil
}

// median returns the median of what was measured, and whether anything was.
func (r *results) median(name, unit string) (float64, bool) {
	all := slices.Sorted(slices.Values(r.values[name][unit]))
	n := len(all)
	if n == 0 {
		return 0, false
	}
	return (all[(n-1)/2] + all[n/2]) / 2, true
}
