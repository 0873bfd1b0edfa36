package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output"
)

// TestHelpNamesFlags holds that the help of each command has every flag, and no other.
func TestHelpNamesFlags(t *testing.T) {
	for text, fs := range map[string]*flag.FlagSet{help: flagSet(new(args)), rulesHelp: listFlags(new(listArgs)), compileHelp: compileFlags(new(compileArgs)), benchHelp: benchFlags(new(benchArgs))} {
		known := map[string]bool{"-h": true}
		fs.VisitAll(func(f *flag.Flag) { known["-"+f.Name] = true })
		shown := map[string]bool{}
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, "  -"); ok {
				word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
				shown["-"+word] = true
			}
		}
		for name := range known {
			if !shown[name] {
				t.Errorf("help of %s lacks %s", fs.Name(), name)
			}
		}
		for name := range shown {
			if !known[name] {
				t.Errorf("help of %s has %s, which is no flag", fs.Name(), name)
			}
		}
	}
}

// TestFlagsDoc holds that docs/FLAGS.md shows the flags as the help does.
func TestFlagsDoc(t *testing.T) {
	doc, err := os.ReadFile("../../docs/FLAGS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, flags, _ := strings.Cut(help, "\n\nInput\n")
	flags, _, _ = strings.Cut(flags, "\n\nExit codes")
	if flags == "" || !strings.Contains(string(doc), flags) {
		t.Error("docs/FLAGS.md does not show the flags as the help does")
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
		err := (&plan{outName: tt.out}).checkTargets(args{rules: "dir", stats: tt.stats}, []ingest.Input{{Name: tt.in}})
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
		rules: "../../testdata/quickstart/rules", in: []string{"../../testdata/quickstart/urls.zst"},
		out: filepath.Join(dir, "x.parquet"), reading: reading{Dialect: "google", AgentChars: "standard", EmptyAllow: "disallow"}, missing: "allow", progress: "off", quiet: true,
	}
	p, err := newPlan(a, streams{os.Stdin, os.Stdout, os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newJob(p).run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("run returns %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v left, %v", left, err)
	}
}

// TestDropBeforeCreate holds that no output comes to be after it was dropped.
func TestDropBeforeCreate(t *testing.T) {
	s := sink[*output.File]{name: "x.parquet"}
	if committed, err := s.drop(); committed || err != nil {
		t.Fatal(err)
	}
	if err := s.create(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("create returns %v", err)
	}
}

func TestPlainLine(t *testing.T) {
	for _, tt := range []struct {
		s    sample
		want string
	}{
		{sample{done: 1200, total: 36000}, "rules: 1,200 of 36,000 (3 %), 4m50s left"},
		{sample{0, 5e9, 0, true}, "rules: 0 B of 5,000 MB (0 %)"},
		{sample{25e6, 1e8, 12345678, true}, "rules: 25 MB of 100 MB (25 %), 12,345,678 URLs, 1,234,567/s, 30s left"},
		{sample{25e6, -1, 1, true}, "rules: 25 MB, 1 URL, 0/s"},
		{sample{25e6, 25e6, 0, true}, "rules: 25 MB of 25 MB (100 %)"},
	} {
		if got := plainLine("rules", tt.s, 10*time.Second); got != tt.want {
			t.Errorf("%+v gives %q, want %q", tt.s, got, tt.want)
		}
	}
}

// TestBar draws a bar, of a known length and of an unknown one.
func TestBar(t *testing.T) {
	for _, total := range []int64{1000, -1} {
		var w bytes.Buffer
		b := newBar(&w, "URLs", sample{0, total, 0, true})
		b.show(sample{500, total, 2_000_000, true})
		b.show(sample{1000, total, 4_000_000, true})
		if got := w.String(); !strings.Contains(got, "4.0 M URLs") || total > 0 && !strings.Contains(got, "50%") {
			t.Errorf("total %d: %q", total, got)
		}
		b.end()
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", -1: "-1", 999: "999", 1000: "1,000", -123456: "-123,456", 1234567: "1,234,567"} {
		if got := group(n); got != want {
			t.Errorf("group(%d) = %q", n, got)
		}
	}
	for n, want := range map[int64]string{9_999: "9,999 B", 10_000: "10 kB", 9_999_999: "9,999 kB", 12_345_678: "12 MB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q", n, got)
		}
	}
}

// TestSave writes statistics over an old file, and fails without a trace.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.json")
	for range 2 {
		if err := new(report).save(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := new(report).save(os.DevNull, nil); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	if err := new(report).save(filepath.Join(dir, "no", "x.json"), nil); err == nil {
		t.Error("no error for a missing directory")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
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

func TestPrintable(t *testing.T) {
	if got, want := printable("a é \x1b[2J\xff\nb'\t"), `a é \x1b[2J`+"\ufffd\nb'"+`\t`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
