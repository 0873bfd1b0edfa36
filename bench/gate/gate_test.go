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

// judged judges made-up times: in each measurement the tree takes so many times the CPU time of the base, and both vary.
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
	r, err := parse(nil)
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

// TestSlower holds what is no verdict.
func TestSlower(t *testing.T) {
	r := request{base: "base", threshold: 1.05, limit: time.Minute}
	one := cases[:1]
	times := func(rounds int, p pair) map[string][]pair {
		return map[string][]pair{one[0].name: slices.Repeat([]pair{p}, rounds)}
	}
	if slower, err := r.slower(one, times(leastRounds, pair{0, 100})); len(slower) != 0 || err != nil {
		t.Errorf("a new benchmark: %v, %v", slower, err)
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
		low, median, high := quartiles(all)
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
	check := func(dir, want string) {
		t.Helper()
		if base, err := findBase(t.Context(), dir); err != nil || base != want {
			t.Errorf("the base is %q, want %q; %v", base, want, err)
		}
	}
	if _, err := findBase(t.Context(), r.dir); err == nil || !strings.Contains(err.Error(), "HEAD") {
		t.Errorf("without a commit: %v", err)
	}
	one := r.commit()
	check(r.dir, "")
	two := r.commit()
	check(r.dir, one)
	r.git("checkout", "-q", "-b", "branch")
	r.commit()
	r.commit()
	check(r.dir, two)
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.git("clone", "-q", "--depth", "1", "file://"+r.dir, shallow)
	check(shallow, "")
}

// TestBuildBase holds that the base is measured by the tree's benchmarks, else by its own, and else not at all.
func TestBuildBase(t *testing.T) {
	r := newRepository(t)
	commit := func(code, call string) string {
		return r.commit("x.go", "package x\n"+code,
			"go.mod", "module "+module+"\n",
			"bench/go.mod", "module b\nrequire "+module+" v0.0.0\nreplace "+module+" => ../\n",
			"bench/b_test.go", "package b\nimport (\"fmt\"; \"os\"; \"testing\"; x \""+module+"\")\nfunc TestMain(*testing.M) { x."+call+"(); fmt.Print(\""+call+"\"); os.Exit(0) }\n")
	}
	broken := commit("func Old() {", "Old")
	lacks := commit("func Old() {}\n", "Old")
	fits := commit("func Old() {}\nfunc New() {}\n", "Old")
	head := commit("func Old() {}\nfunc New() { Old() }\n", "New")
	for _, c := range []struct {
		base, ran string
		tree      bool // it runs in the tree's own folder
	}{{fits, "New", true}, {lacks, "Old", false}, {broken, "", false}} {
		if changed, err := packagesDiffer(t.Context(), r.dir, c.base); err != nil || !changed {
			t.Errorf("changed: %t, %v", changed, err)
		}
		p, remove, err := buildBase(t.Context(), r.dir, c.base, t.TempDir())
		if c.ran == "" {
			if !errors.Is(err, errBaseBroken) || !strings.Contains(err.Error(), "syntax error") {
				t.Errorf("a broken base: %v", err)
			}
		} else if out, run := exec.Command(p.binary).Output(); err != nil || string(out) != c.ran || (p.folder == filepath.Join(r.dir, "bench")) != c.tree {
			t.Errorf("in %s ran %q, want %q: %v, %v", p.folder, out, c.ran, err, run)
		}
		if err := remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if changed, err := packagesDiffer(t.Context(), r.dir, head); err != nil || changed {
		t.Errorf("changed against itself: %t, %v", changed, err)
	}
	if trees := r.git("worktree", "list"); strings.Contains(trees, "\n") {
		t.Errorf("left behind: %s", trees)
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
	for _, c := range cases {
		var ns float64
		c.times = 1
		if err := p.run(t.Context(), c, &ns); err != nil || ns == 0 {
			t.Errorf("%s: %v ns, %v", c.name, ns, err)
		}
	}
}
