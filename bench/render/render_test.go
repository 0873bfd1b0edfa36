package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestShown checks that README.md and the charts show the medians of the latest results. If it fails, run make
// bench-render.
func TestShown(t *testing.T) {
	results, err := filepath.Glob(filepath.Join("..", "results", "*.txt"))
	if err != nil || len(results) == 0 {
		t.Fatalf("no results: %v", err)
	}
	text, err := os.ReadFile(filepath.Join("..", "results", "medians.csv"))
	if newest := filepath.Base(slices.Max(results)); err != nil || !strings.Contains(string(text), ","+newest+",") {
		t.Errorf("medians.csv is not of %s: %v", newest, err)
	}
	files, err := renderFiles(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 5 {
		t.Errorf("%d files show results, want 5", len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s shows other results: run make bench-render", name)
		}
	}
	for name, marks := range map[string][]string{"README.md": {"machine", "peers"}, "bench/README.md": {"machine"}, "docs/PERFORMANCE.md": {"engines"}} {
		for _, mark := range marks {
			if text := files[filepath.Join("..", "..", name)]; !strings.Contains(text, "<!-- bench:"+mark+" -->") {
				t.Errorf("%s has no table %s", name, mark)
			}
		}
	}
}

// sample is output of benchstat -format csv.
const sample = `goos: linux
pkg: github.com/robobatch/robobatch/bench
cpu: Some Processor
,2026-01-02-some.txt,
,cpu-sec/url,CI
Match/data=madeup/rules=20/wildcard=0-2,4e-08,∞
geomean,4e-08,

,2026-01-02-some.txt,
,peak-B,CI
Whole/data=real/order=grouped/frames=1/url=true/workers=1,2e+07,2%

pkg: github.com/robobatch/robobatch/bench/peers
"cpu: Some Processor, 2 CPUs"
,2026-01-02-some.txt,
,cpu-sec/url,CI
Peer/w=W1/lib=robobatch,1.004e-07,∞
Peer/w=W1/lib=temoto-robotstxt,1.23456e-05,1%
Peer/w=W4/lib=temoto-robotstxt,7e-09,∞
Whole/data=real/order=grouped/frames=1/url=true/workers=1,4e-07,∞

,2026-01-02-some.txt,
,agree-%,CI
Peer/w=W1/lib=robobatch,100,0%
Peer/w=W1/lib=temoto-robotstxt,99.996,∞
Peer/w=W4/lib=temoto-robotstxt,97,∞
`

func parsed(t *testing.T) *medians {
	t.Helper()
	m, err := parseMedians(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTables checks that tables have the medians, and a dash for what was not measured.
func TestTables(t *testing.T) {
	tables := parsed(t).tables()
	for name, rows := range map[string][]string{
		"machine": {"on Some Processor, 2 CPUs, on 2026-01-02."},
		"peers":   {"| robobatch | 100 | – | – | – | 100 % |", "| temoto/robotstxt | 12,346 | – | – | 7.00 | 97–99.99 % |", "| grobotstxt | – | – | – | – | – |"},
	} {
		for _, row := range rows {
			if !strings.Contains(tables[name], row) {
				t.Errorf("%s has no %q:\n%s", name, row, tables[name])
			}
		}
	}
	m := parsed(t)
	if v := m.values[series{"Whole/data=real/order=grouped/frames=1/url=true/workers=1", "peak-B"}]; v != 2e7 {
		t.Errorf("peak memory %g", v)
	}
	for _, text := range []string{",cpu-sec/url,CI\nX,many,∞\n", "\"X"} {
		if _, err := parseMedians(strings.NewReader(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestFill checks that only text between marks is changed, and that a mark without an end is an error.
func TestFill(t *testing.T) {
	tables := map[string]string{"a": "new\n"}
	got, err := fillTables("x\n<!-- bench:a -->\nold\n<!-- /bench:a -->\ny\n", tables)
	if want := "x\n<!-- bench:a -->\n\nnew\n\n<!-- /bench:a -->\ny\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := fillTables(got, tables); err != nil || again != got {
		t.Errorf("filled twice: %q, %v", again, err)
	}
	if _, err := fillTables("<!-- bench:a -->\nold\n", tables); err == nil {
		t.Error("no error without an end")
	}
}

// TestCharts checks that charts are XML, with a bar for each value whose length is proportional to it.
func TestCharts(t *testing.T) {
	r := parsed(t)
	for chart, bars := range map[*chart]int{r.peersChart(): 3, r.wholeChart(): 1} {
		svg := chart.svg()
		dec := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
		if n := strings.Count(svg, "<rect "); n != bars {
			t.Errorf("%d bars, want %d, in %s", n, bars, chart.title)
		}
	}
	a := (&chart{log: true, groups: []group{{bars: []bar{{value: 20}, {value: 5000}}}}}).axis()
	if a.at(10) != 0 || a.at(5000) <= a.at(1000) || len(a.ticks) != 3 {
		t.Errorf("axis %+v", a)
	}
}
