package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestShown holds that what README.md and the charts show is what the newest results say. If it fails, run
// make bench-render.
func TestShown(t *testing.T) {
	files, err := rendered(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 {
		t.Errorf("%d files show results, want 4", len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s shows other results: run make bench-render", name)
		}
	}
	for name, marks := range map[string][]string{
		"README.md":       {"machine", "peers"},
		"bench/README.md": {"machine", "peers", "whole"},
	} {
		for _, mark := range marks {
			if text := files[filepath.Join("..", "..", name)]; !strings.Contains(text, "<!-- bench:"+mark+" -->") {
				t.Errorf("%s has no table %s", name, mark)
			}
		}
	}
}

const sample = `goos: linux
cpu: Some Processor, 2 CPUs
# go: go1.26.5
# date: 2026-01-02
# load: 1 2 3
BenchmarkMatch/data=madeup/rules=20/wildcard=0-2 	 10	 100 ns/op	 30 cpu-ns/url
BenchmarkMatch/data=madeup/rules=20/wildcard=0-2 	 10	 100 ns/op	 50 cpu-ns/url
BenchmarkPeer/w=W1/lib=robobatch	1	5 ns/op	100.4 cpu-ns/url	100 agree-%
BenchmarkPeer/w=W1/lib=robobatch	1	5 ns/op	90 cpu-ns/url	100 agree-%
BenchmarkPeer/w=W1/lib=robobatch	1	5 ns/op	2000 cpu-ns/url	100 agree-%
BenchmarkPeer/w=W1/lib=temoto-robotstxt	1	5 ns/op	12345.6 cpu-ns/url	99.996 agree-%
BenchmarkPeer/w=W4/lib=temoto-robotstxt	1	5 ns/op	7 cpu-ns/url	97 agree-%
BenchmarkWhole/data=real/order=grouped/frames=1/url=true/workers=1	1	5 ns/op	400 cpu-ns/url	2e+07 peak-B
BenchmarkSkipped
`

func parsed(t *testing.T) *results {
	t.Helper()
	r, err := parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTables holds that tables have the medians, and a dash for what was not measured.
func TestTables(t *testing.T) {
	tables := parsed(t).tables()
	for name, rows := range map[string][]string{
		"machine": {"on Some Processor, 2 CPUs, on 2026-01-02", "(load 1 2 3)"},
		"peers":   {"| robobatch | 100 | – | – | – | 100 % |", "| temoto/robotstxt | 12,346 | – | – | 7.00 | 97–99.99 % |", "| grobotstxt | – | – | – | – | – |"},
		"madeup":  {"| `rules=20/wildcard=0` | 40 |"},
		"whole":   {"| real, grouped by host | 400 | – | – | 20, – |"},
	} {
		for _, row := range rows {
			if !strings.Contains(tables[name], row) {
				t.Errorf("%s has no %q:\n%s", name, row, tables[name])
			}
		}
	}
	old, err := parse([]byte(strings.ReplaceAll(sample, "# ", "")))
	if err != nil || old.where() != parsed(t).where() {
		t.Errorf("a header without #: %v, shown as %q", err, old.where())
	}
	if _, err := parse([]byte("BenchmarkX 1 many ns/op\n")); err == nil {
		t.Error("a value that is no number is taken")
	}
}

// TestFill holds that only what is between the marks is changed, and that a mark without an end is told.
func TestFill(t *testing.T) {
	tables := map[string]string{"a": "new\n"}
	got, err := fill("x\n<!-- bench:a -->\nold\n<!-- /bench:a -->\ny\n", tables)
	if want := "x\n<!-- bench:a -->\n\nnew\n\n<!-- /bench:a -->\ny\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := fill(got, tables); err != nil || again != got {
		t.Errorf("filled twice: %q, %v", again, err)
	}
	if _, err := fill("<!-- bench:a -->\nold\n", tables); err == nil {
		t.Error("no error without an end")
	}
}

// TestCharts holds that charts are XML with a bar for each value, as long as it is large.
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

// TestFileName holds that names sort by date and are safe in any file system.
func TestFileName(t *testing.T) {
	got := fileName(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "Intel(R) Xeon(R) @ 2.50GHz, 2 CPUs")
	if want := "2026-01-02-intel-xeon-2-50ghz-2-cpus.txt"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
