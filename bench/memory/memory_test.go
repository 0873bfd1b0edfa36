package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/measure"
)

// preparing names a variable. If it is set, the test binary only writes the inputs to that directory, so that the runs
// do not inherit its peak memory.
const preparing = "MEMORY_TEST_PREPARE"

// small is the request of the test: about ten thousand origins, whose rules exceed the limits.
const small = "^(plain|workers|sort|arrow|wide|longurls|kept|partition|asof|captures|diff|diffrows|coverage|coverby|conduct|conductby|report|reportlog|reportold|reportrun|window|windows|windowdiff|windowcover|windowpage|rulesalone|rulesrows|reportdiff|pipe)$"

func TestMain(m *testing.M) {
	if dir := os.Getenv(preparing); dir != "" {
		if err := run(context.Background(), []string{"-prepare", "-keep", dir, "-origins", "12000", "-urls", "120000", "-shapes", small}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestBound checks that each process uses at most -max-memory plus a tenth and 16 MiB, or reports at the start that the
// limit is too small.
func TestBound(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-all runs it")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	prepare := exec.CommandContext(t.Context(), self)
	prepare.Env = append(os.Environ(), preparing+"="+dir)
	if text, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	l, err := parseFlags([]string{"-limits", "64MiB,128MiB,256MiB", "-shapes", small})
	if err != nil {
		t.Fatal(err)
	}
	l.ctx, l.inputs, l.dir, l.binary = t.Context(), dir, dir, filepath.Join(dir, "robobatch")
	if err := tool.Build(t.Context(), l.binary); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = l.printTable(&out)
	t.Logf("\n%s", &out)
	if err != nil {
		t.Error(err)
	}
	if lines := strings.Count(out.String(), "\n"); len(l.shapes) != 29 || lines != 1+3*len(l.shapes) {
		t.Errorf("%d lines of %d shapes", lines, len(l.shapes))
	}
	if !regexp.MustCompile(`(?m)^plain +64 MiB .* ok$`).MatchString(out.String()) {
		t.Error("the simplest run does not fit in the least limit")
	}
	if ok := regexp.MustCompile(`(?m)^[a-z]+ +256 MiB +([0-9.]+) MiB .* ok$`).FindAllStringSubmatch(out.String(), -1); len(ok) != len(l.shapes) {
		t.Errorf("%d shapes ran under 256 MiB", len(ok))
	} else if ok[0][1] == "0.0" {
		t.Skip("this system does not tell the peak memory of a process")
	}
}

// plan returns the line in the table of plans in cmd/robobatch/internal/memory that the shape covers.
func (s *shape) plan() string {
	switch {
	case s.page != "":
		return cmp.Or(s.command, "robobatch") + " -report"
	case s.command == "report" && s.old != nil:
		return "report -old"
	}
	return cmp.Or(s.command, "robobatch")
}

// planNames finds the names in the source of the table of plans.
var planNames = regexp.MustCompile(`(?m)^\t\{Run: "([^"]+)"`)

// missing returns the plans that no shape covers, given the source of the table.
func missing(source []byte) (names []string) {
	for _, m := range planNames.FindAllSubmatch(source, -1) {
		if name := string(m[1]); !slices.ContainsFunc(shapes, func(s shape) bool { return s.plan() == name }) {
			names = append(names, name)
		}
	}
	return names
}

// TestPlans checks that every memory plan has a shape.
func TestPlans(t *testing.T) {
	source, err := os.ReadFile("../../cmd/robobatch/internal/memory/plans.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(planNames.FindAll(source, -1)); n < 8 {
		t.Errorf("%d plans are found", n)
	}
	if names := missing(source); len(names) > 0 {
		t.Errorf("no shape tries the plans %q", names)
	}
	if names := missing([]byte("\t{Run: \"guess\"},\n")); len(names) != 1 {
		t.Errorf("%q are missing", names)
	}
}

// TestPrint checks that a run is reported if it uses too much memory, or if it refuses to start with a sufficient
// limit.
func TestPrint(t *testing.T) {
	for _, c := range []struct {
		r     result
		least int64
		fault bool
	}{
		{result{Sample: measure.Sample{Peak: bound(mustRun)}}, 0, false},
		{result{Sample: measure.Sample{Peak: bound(mustRun) + 1}}, 0, true},
		{result{refused: "too little"}, 0, true},
		{result{refused: "too little"}, mustRun + 1, false},
	} {
		fault, err := c.r.printLine(io.Discard, shape{least: c.least}, mustRun)
		if err != nil || (fault != nil) != c.fault {
			t.Errorf("%+v: %v, %v", c, fault, err)
		}
	}
}

// TestShapes checks that the names of shapes are distinct, and that flags select among them.
func TestShapes(t *testing.T) {
	names := map[string]bool{}
	for _, s := range shapes {
		names[s.name] = true
	}
	l, err := parseFlags([]string{"-shapes", "^(plain|wide)$", "-limits", "64MiB,1024MiB"})
	if err != nil || len(names) != len(shapes) || len(l.shapes) != 2 || len(l.limits) != 2 || l.limits[1] != 1024 || l.spec.URLs != 1_000_000 {
		t.Errorf("%d names of %d shapes; %+v: %v", len(names), len(shapes), l, err)
	}
	for _, wrong := range [][]string{{"-limits", "1GiB"}, {"-limits", "0"}, {"-shapes", "("}} {
		if _, err := parseFlags(wrong); err == nil || !strings.Contains(err.Error(), wrong[0]) {
			t.Errorf("%q: error %v", wrong, err)
		}
	}
}
