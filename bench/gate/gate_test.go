package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// judged judges made-up times: in each measurement the tree takes so many times the CPU time of the base, and both
// vary.
func judged(t *testing.T, threshold, noise float64, rounds int, seed uint64, losses ...float64) error {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	vary := func() float64 { return 1 + noise*random.NormFloat64() }
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	r := request{base: "base", threshold: threshold, rounds: rounds}
	turn := 0
	return r.judge(ctx, func(_ context.Context, names []benchCase) (map[string][]pair, error) {
		if turn == len(losses) {
			t.Fatalf("measured %d times", turn+1)
		}
		pairs := map[string][]pair{}
		for _, c := range names {
			for range rounds {
				p := pair{100 * vary(), 100 * vary()}
				if c.name == cases[1].name {
					p.here *= losses[turn]
				}
				pairs[c.name] = append(pairs[c.name], p)
			}
		}
		turn++
		return pairs, nil
	})
}

// TestJudge holds that a case slower twice is an error that names it, and nothing else is.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		losses []float64
		bad    bool
	}{
		{"equal", []float64{1}, false},
		{"faster", []float64{0.5}, false},
		{"within the threshold", []float64{1.049}, false},
		{"slower once", []float64{1.2, 1}, false},
		{"slower twice", []float64{1.06, 1.06}, true},
	} {
		err := judged(t, 1.05, 0, leastRounds, 0, c.losses...)
		if (err != nil) != c.bad {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "slower than base by over 5 %, measured twice: "+cases[1].name+";") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestJudgeNoise holds how often the verdict is wrong by the threshold and rounds of the defaults, on a machine where
// single times vary by 6 %, or two in turn by 8.
func TestJudgeNoise(t *testing.T) {
	r, err := parseFlags(nil)
	if err != nil {
		t.Fatal(err)
	}
	const tries = 200
	alarms, found := 0, 0
	for seed := range uint64(tries) {
		if judged(t, r.threshold, 0.06, r.rounds, seed, 1, 1) != nil {
			alarms++
		}
		if judged(t, r.threshold, 0.06, r.rounds, seed, 1.10, 1.10) != nil {
			found++
		}
	}
	if alarms > tries/100 || found < tries*95/100 {
		t.Errorf("%d false alarms, and %d losses of 10 %% found, of %d", alarms, found, tries)
	}
}

// printed returns what a function prints.
func printed(t *testing.T, run func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	run()
	os.Stdout = stdout
	text, err := os.ReadFile(file.Name())
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSlower holds what is no verdict.
func TestSlower(t *testing.T) {
	r := request{base: "base", threshold: 1.05, limit: time.Minute}
	one := cases[:1]
	times := func(rounds int, p pair) map[string][]pair {
		return map[string][]pair{one[0].name: slices.Repeat([]pair{p}, rounds)}
	}
	for want, names := range map[string][]benchCase{"no case can be compared": one, " 1.000 ": cases[:2]} {
		pairs := times(leastRounds, pair{0, 100})
		pairs[cases[1].name] = slices.Repeat([]pair{{100, 100}}, leastRounds)
		said := printed(t, func() {
			if slower, err := r.slower(names, pairs); len(slower) != 0 || err != nil {
				t.Errorf("a new benchmark: %v, %v", slower, err)
			}
		})
		if lines := linesOf(said); len(lines) != 2 || !strings.HasSuffix(lines[0], " new: the base lacks it") || !strings.Contains(lines[1], want) {
			t.Errorf("a new benchmark: %s, want %q", said, want)
		}
	}
	for want, pairs := range map[string]map[string][]pair{
		"gave no CPU time":                times(leastRounds, pair{100, 0}),
		"only 7 rounds of " + one[0].name: times(leastRounds-1, pair{100, 100}),
	} {
		if _, err := r.slower(one, pairs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestQuartiles holds the parts of few and of many pairs.
func TestQuartiles(t *testing.T) {
	for _, c := range []struct{ here, want []float64 }{
		{[]float64{3}, []float64{3, 3, 3}},
		{[]float64{4, 2}, []float64{2.5, 3, 3.5}},
		{[]float64{5, 1, 4, 2, 3}, []float64{2, 3, 4}},
	} {
		var all []pair
		for _, ns := range c.here {
			all = append(all, pair{10, 10 * ns})
		}
		low, median, high := ratioQuartiles(all)
		if got := []float64{low, median, high}; !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.here, got, c.want)
		}
	}
}

// script writes a program of the shell, which stands for benchmarks.
func script(t *testing.T, text string) program {
	t.Helper()
	p := program{t.TempDir(), ""}
	p.binary = filepath.Join(p.folder, "fake")
	if err := os.WriteFile(p.binary, []byte("#!/bin/sh\n"+text), 0o777); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMeasure holds that pairs are times of both programs, in changing order, and that rounds end with the time.
func TestMeasure(t *testing.T) {
	turns := filepath.Join(t.TempDir(), "turns")
	fake := func(name string, ns int) program {
		return script(t, fmt.Sprintf("echo %s >>%s\necho 'BenchmarkX/y \t 3 \t 99 ns/op \t %d cpu-ns/url \t 7 urls/s'\n", name, turns, ns))
	}
	base, here := fake("base", 100), fake("here", 120)
	pairs, err := measure(t.Context(), base, here, cases[:1], 3)
	if err != nil || !slices.Equal(pairs[cases[0].name], []pair{{100, 120}, {100, 120}, {100, 120}}) {
		t.Errorf("%v, %v", pairs, err)
	}
	if order, err := os.ReadFile(turns); err != nil || string(order) != "base\nhere\nhere\nbase\nbase\nhere\n" {
		t.Errorf("%q, %v", order, err)
	}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if pairs, err := measure(over, base, here, cases[:1], 3); err != nil || len(pairs) != 0 {
		t.Errorf("after the time: %v, %v", pairs, err)
	}
	if _, err := measure(t.Context(), base, script(t, "echo bad rules >&2\nexit 1\n"), cases[:1], 3); err == nil || !strings.Contains(err.Error(), "bad rules") {
		t.Errorf("a benchmark that fails: %v", err)
	}
}

// TestCPUTime holds how results are read.
func TestCPUTime(t *testing.T) {
	for out, want := range map[string]float64{
		"goos: linux\nBenchmarkA/b=c-2 \t 1 \t 5 ns/op \t 1.5 cpu-ns/row \t 9 rows/s\nPASS": 1.5,
		"BenchmarkA \t 1 \t 1.2e+06 load-cpu-ns/origin":                                     1.2e6,
		"PASS": 0,
	} {
		if got := cpuTime(out); got != want {
			t.Errorf("%q: %v", out, got)
		}
	}
}

// A repository is one for tests.
type repository struct {
	t   *testing.T
	dir string
}

// newRepository makes a repository without a commit. Its path has a space.
func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, filepath.Join(t.TempDir(), "a tree")}
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	return r
}

// git runs git and returns what it said.
func (r repository) git(arguments ...string) string {
	r.t.Helper()
	out, err := git(r.t.Context(), r.dir, append([]string{"-c", "user.name=n", "-c", "user.email=n@example.com"}, arguments...)...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// commit commits files, in the order name, text, and returns the commit.
func (r repository) commit(files ...string) string {
	r.t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(r.dir, files[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(files[i+1]), 0o666)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "test")
	return r.git("rev-parse", "HEAD")
}

// TestFindBase holds what is compared with, and that variables of a hook do not lead elsewhere.
func TestFindBase(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	r := newRepository(t)
	check := func(dir, name, want string) {
		t.Helper()
		if base, err := findBase(t.Context(), dir, name); err != nil || base != want {
			t.Errorf("the base is %q, want %q; %v", base, want, err)
		}
	}
	if _, err := findBase(t.Context(), r.dir, ""); err == nil || !strings.Contains(err.Error(), "HEAD") {
		t.Errorf("without a commit: %v", err)
	}
	one := r.commit()
	check(r.dir, "", "")
	two := r.commit()
	check(r.dir, "", one)
	check(r.dir, strings.Repeat("0", 40), one)
	r.git("checkout", "-q", "-b", "branch")
	r.commit()
	r.commit()
	check(r.dir, "", two)
	check(r.dir, one, one)
	check(r.dir, "HEAD~3", one)
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.git("clone", "-q", "--depth", "1", "file://"+r.dir, shallow)
	check(shallow, "", "")
	if _, err := findBase(t.Context(), shallow, one); err == nil || !strings.Contains(err.Error(), "find the base "+one) {
		t.Errorf("a commit that the clone lacks: %v", err)
	}
}

// commitModules commits a module and its benchmarks, which print the function that they call and the version of a
// library. The lines of code are those of the module.
func (r repository) commitModules(version, call string, code ...string) string {
	r.t.Helper()
	const library = "example.com/library"
	files := []string{
		"x.go", "package x\nimport \"" + library + "\"\nconst Version = library.Version\n" + strings.Join(code, "\n") + "\n",
		"go.mod", "module " + module + "\nrequire " + library + " " + version + "\n",
		"bench/go.mod", "module " + module + "/bench\nrequire (\n" + module + " v0.0.0\n" + library + " " + version + "\n)\nreplace (\n" +
			module + " => ../\n" + library + " v1.0.0 => ../v1.0.0\n" + library + " v1.1.0 => ../v1.1.0\n)\n",
		"bench/b_test.go", "package b\nimport (\"fmt\"; \"os\"; \"testing\"; x \"" + module + "\")\n" +
			"func TestMain(*testing.M) { x." + call + "(); fmt.Print(\"Benchmark 1 1 cpu-ns/" + call + " \", x.Version); os.Exit(0) }\n",
	}
	for _, version := range []string{"v1.0.0", "v1.1.0"} {
		files = append(files, version+"/go.mod", "module "+library+"\n", version+"/l.go", "package library\nconst Version = \""+version+"\"\n")
	}
	return r.commit(files...)
}

// TestBuildBase holds that the base is measured with its own libraries and by the tree's benchmarks, else by its own,
// and not at all if its code does not compile. A base that cannot be built for another reason is an error.
func TestBuildBase(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	r := newRepository(t)
	const before, old = "v1.0.0", "func Old() {}"
	bases := []struct {
		base, ran string
		tree      bool   // it runs in the tree's own folder
		bad       string // the error
	}{
		{r.commitModules(before, "Old", old, "func New() {}"), "New v1.0.0", true, ""},
		{r.commitModules(before, "Old", old), "Old v1.0.0", false, ""},
		{r.commitModules(before, "Old", old, `func New() { panic("fails") }`), "Old v1.0.0", false, ""},
		{r.commitModules(before, "Old", "func Old() {"), "", false, "does not compile"},
		{r.commitModules(before, "Old", old, `var x int = ""`), "", false, "does not compile"},
		{r.commit("x.go", "package x\nimport _ \"example.com/gone\"\n"), "", false, setupFailed},
		{r.commitModules("v1.0.1", "Old", old), "", false, "missing go.sum"},
	}
	head := r.commitModules("v1.1.0", "New", old, "func New() { Old() }")
	for _, c := range bases {
		if changed, err := packagesDiffer(t.Context(), r.dir, c.base); err != nil || !changed {
			t.Errorf("changed: %t, %v", changed, err)
		}
		p, remove, err := buildBase(t.Context(), r.dir, c.base, t.TempDir())
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) || errors.Is(err, errBaseBroken) != (c.bad == "does not compile") {
				t.Errorf("%v, want %s", err, c.bad)
			}
		} else if out, run := exec.Command(p.binary).Output(); err != nil || !strings.HasSuffix(string(out), "/"+c.ran) || (p.folder == filepath.Join(r.dir, "bench")) != c.tree {
			t.Errorf("in %s ran %q, want %q: %v, %v", p.folder, out, c.ran, err, run)
		}
		if err := remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if changed, err := packagesDiffer(t.Context(), r.dir, head); err != nil || changed {
		t.Errorf("changed against itself: %t, %v", changed, err)
	}
	t.Chdir(r.dir)
	if said := printed(t, func() {
		if err := run(t.Context(), []string{"-base", head}); err != nil {
			t.Error(err)
		}
	}); !strings.HasPrefix(said, "gate: the base is "+head+" test\n") {
		t.Errorf("said first: %s", said)
	}
	if trees := r.git("worktree", "list"); strings.Contains(trees, "\n") {
		t.Errorf("left behind: %s", trees)
	}
}

// TestCompileError holds that a full disk is no code that does not compile, though go prints the package.
func TestCompileError(t *testing.T) {
	for text, want := range map[string]bool{
		"exit status 1: # " + module + "\n../x.go:3:1: syntax error":                                                          true,
		"exit status 1: # " + module + "/bench [" + module + "/bench.test]\n./b_test.go:3:31: undefined: x.New":               true,
		"exit status 1: # " + module + "/bench [" + module + "/bench.test]\ncompile: writing output: no space left on device": false,
		"exit status 1: # " + module + "/bench.test\n/usr/local/go/pkg/tool/linux_amd64/link: mapping output file failed":     false,
		"exit status 1: # " + module + "/bench\n../x.go:2:8: missing go.sum entry\nFAIL\tx " + setupFailed:                    false,
		"exit status 1: # example.com/library\n../l.go:2:8: undefined: x":                                                     false,
	} {
		if got := doesNotCompile(errors.New(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestCases holds that each case is a benchmark, and gives a time.
func TestCases(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the benchmarks; the gate does, too")
	}
	p, err := build(t.Context(), "../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.tryCases(t.Context()); err != nil {
		t.Error(err)
	}
}
