package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

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
