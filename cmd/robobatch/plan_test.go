package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output"
)

// TestFlagsDoc holds that docs/FLAGS.md is what the table of flags makes. With -update it writes the file.
func TestFlagsDoc(t *testing.T) {
	const name = "../../docs/FLAGS.md"
	page := program(new(args)).Markdown()
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if doc, err := os.ReadFile(name); err != nil || string(doc) != page {
		t.Errorf("%s is not up to date: run go generate ./cmd/robobatch; %v", name, err)
	}
}

// TestRulesDoc holds that docs/RULES.md has every code of a diagnostic, and no other.
func TestRulesDoc(t *testing.T) {
	doc, err := os.ReadFile("../../docs/RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../robots/diagnostic.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "## Diagnostics")
	table, _, _ = strings.Cut(table, "## Examples")
	var known, shown []string
	for _, m := range regexp.MustCompile(`Code = "([a-z0-9_]+)"`).FindAllStringSubmatch(string(source), -1) {
		known = append(known, m[1])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)`").FindAllStringSubmatch(table, -1) {
		shown = append(shown, m[1])
	}
	if len(known) < 20 || !slices.Equal(shown, known) {
		t.Errorf("the page has\n%v, the code\n%v", shown, known)
	}
}

func TestDefaultOut(t *testing.T) {
	for log, want := range map[string]string{
		"urls.zst":           "urls.verdicts.parquet",
		"logs/a.urls.zst":    "a.verdicts.parquet",
		"crawl.warc.gz":      "crawl.verdicts.parquet",
		"a.urls.txt.gz":      "a.verdicts.parquet",
		"A.URLS.GZ":          "A.verdicts.parquet",
		"urls":               "urls.verdicts.parquet",
		"access.log.1.gz":    "access.log.1.verdicts.parquet",
		"www.example.com":    "www.example.com.verdicts.parquet",
		".zst":               ".zst.verdicts.parquet",
		".txt.zst":           ".txt.verdicts.parquet",
		"-":                  "stdin.verdicts.parquet",
		"/dev/stdin":         "stdin.verdicts.parquet",
		"a.verdicts.parquet": "a.verdicts.parquet.verdicts.parquet",
	} {
		if got := defaultOut(log, output.Parquet); got != want {
			t.Errorf("defaultOut(%q) = %q, want %q", log, got, want)
		}
	}
	if got := defaultOut("a.urls.zst", output.CSVZstd); got != "a.verdicts.csv.zst" {
		t.Errorf("default name %q", got)
	}
}

func TestCheckTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.parquet", "b.partial.parquet"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir("dir", 0o777), os.Link("a.parquet", "hard.parquet")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, out, stats, want string }{
		{"a.parquet", "c.parquet", "c.json", ""},
		{"a.parquet", "-", "", ""},
		{"-", "-", "", ""},
		{"/dev/null", "/dev/null", "/dev/null", ""},
		{"a.parquet", "./a.parquet", "", "-out: a.parquet is read"},
		{"a.parquet", "hard.parquet", "", "-out: a.parquet is read"},
		{"b.partial.parquet", "b.parquet", "", "-out: b.partial.parquet is read"},
		{"a.parquet", "c.parquet", "dir/../c.parquet", "-stats: c.parquet is the output, too"},
		{"a.parquet", "-", "-", "-stats: standard output is the output, too"},
		{"a.parquet", "c.parquet", "dir", "-stats: dir is a directory"},
		{"a.parquet", "dir", "", "-out: dir is a directory"},
		{"a.parquet", "c.parquet", "no/c.json", "create no/c.json: directory does not exist"},
	} {
		err := checkTargets(outputs{out: tt.out, stats: tt.stats, opt: &output.Options{}}, readings{path: "dir", inputs: []ingest.Input{{Name: tt.in}}})
		if got := errorText(err); !strings.HasPrefix(got, tt.want) || (tt.want == "") != (err == nil) {
			t.Errorf("in %s, out %s, stats %s: %q, want %q", tt.in, tt.out, tt.stats, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestStopWhileLoading stops a run when the rules are being read.
func TestStopWhileLoading(t *testing.T) {
	dir := t.TempDir()
	a := args{
		Asked: summary.Asked{Missing: "allow", Reading: summary.Reading{Dialect: "google", AgentChars: "standard", EmptyAllow: "disallow"}},
		rules: "../../testdata/quickstart/rules", in: []string{"../../testdata/quickstart/urls.zst"},
		out: filepath.Join(dir, "x.parquet"), progress: "off", quiet: true,
	}
	p, err := newPlan(&a, streams{os.Stdin, os.Stdout, os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newJob(p).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("run returns %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v left, %v", left, err)
	}
}

// TestDamagedLogClosedPipe: a damaged log is an error even if nobody reads the rows before the damage any more.
func TestDamagedLogClosedPipe(t *testing.T) {
	pipe := &atomicfile.Error{Doing: "write", Name: stdName, Err: syscall.EPIPE}
	if !isClosedPipe(pipe) {
		t.Error("a closed pipe alone is an error")
	}
	fault := &faultError{Err: errors.New("a.zst: damaged"), Rows: 3, Out: stdName, Lost: pipe}
	if isClosedPipe(errors.Join(fault)) {
		t.Error("a damaged log passes for a closed pipe")
	}
	if want := "a.zst: damaged\nthe rows before that could not be kept: write standard output: "; !strings.HasPrefix(fault.Error(), want) {
		t.Errorf("%q does not start with %q", fault, want)
	}
}
