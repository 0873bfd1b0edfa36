package main

import (
	"strings"
	"testing"
)

// TestKeep holds that a file of results has results only, in ASCII, which read as all lines do, and that nothing else is lost.
func TestKeep(t *testing.T) {
	const name = "BenchmarkHostile/match-2"
	for _, line := range []struct {
		text string
		rest string // what is shown of it, where it is no result
	}{
		{text: "goos: linux"},
		{text: "cpu: Intel(R) Xeon(R) CPU @ 2.50GHz, 2 CPUs"},
		{text: "load: 1 2 3"},
		{text: "# load: 1 2 3"},
		{text: "corpus: quickstart"},
		{text: "# go: go1.26.5"},
		{text: "# a remark: of a library", rest: "# a remark: of a library"},
		{text: name + "         \t     400\t   1234 ns/op\t  1.5e+07 cpu-ns/url"},
		{text: "BenchmarkLoad/data=real\t1\t5 ns/op\t100 cpu-ns/rule"},
		{text: name, rest: name},
		{text: name + "\t1", rest: name + "\t1"},
		{text: name + "\t1\t\x00 ns/op", rest: name + "\t1\t\\x00 ns/op"},
		{text: "--- BENCH: " + name, rest: "--- BENCH: " + name},
		{text: "    hostile_test.go:9: Disallow: /\x00\xffé\t\x1b", rest: `    hostile_test.go:9: Disallow: /\x00\xff\u00e9` + "\t" + `\x1b`},
		{text: `  "quoted" \x`, rest: `  "quoted" \x`},
		{text: "PASS", rest: "PASS"},
		{text: "--- FAIL: TestX", rest: "--- FAIL: TestX"},
	} {
		for _, end := range []string{"", "\n", "\r\n"} {
			var kept, rest strings.Builder
			if err := keep(&kept, &rest, strings.NewReader(line.text+end)); err != nil {
				t.Fatal(err)
			}
			wantKept, wantRest := line.text+"\n", ""
			if line.rest != "" {
				wantKept, wantRest = "", line.rest+"\n"
			}
			if kept.String() != wantKept || rest.String() != wantRest {
				t.Errorf("%q: kept %q, the rest %q", line.text+end, &kept, &rest)
			}
		}
	}
	var kept, rest strings.Builder
	if err := keep(&kept, &rest, strings.NewReader(sample)); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(sample, "BenchmarkSkipped\n", "", 1); kept.String() != want || rest.String() != "BenchmarkSkipped\n" {
		t.Errorf("kept\n%s\nthe rest\n%s", &kept, &rest)
	}
}
