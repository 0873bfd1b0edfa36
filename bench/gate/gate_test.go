package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fake returns a program that says that each benchmark takes one of some times, those of more rounds the last.
func fake(t *testing.T, times ...float64) program {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("#!/bin/sh\necho x >>runs\nn=$(wc -l <runs)\nname=$(echo \"$4\" | sed 's/[\\^$\\\\]//g')\nt=0\n")
	for i, ns := range times {
		fmt.Fprintf(&text, "[ $n -ge %d ] && t=%g\n", i+1, ns)
	}
	text.WriteString("echo \"$name \t 3 \t 99 ns/op \t $t cpu-ns/url \t 7 urls/s\"\n")
	name := filepath.Join(dir, "fake")
	if err := os.WriteFile(name, []byte(text.String()), 0o777); err != nil {
		t.Fatal(err)
	}
	return program{dir, name}
}

// TestJudge holds that what is slower twice is an error, and nothing else is.
func TestJudge(t *testing.T) {
	r := request{base: "base", rounds: 2, threshold: 1.05, time: "1x"}
	n := len(cases)
	first := func(ns, then float64) (times []float64) { // of all rounds of the first measurement, and after them
		for range 2 * n {
			times = append(times, ns)
		}
		return append(times, then)
	}
	for _, c := range []struct {
		name string
		here []float64
		bad  bool
	}{
		{"equal", []float64{100}, false},
		{"faster", []float64{50}, false},
		{"within the threshold", []float64{104}, false},
		{"slower", []float64{106}, true},
		{"slower in all but one round", append(first(120, 120)[:n], 100), false},
		{"slower once", first(120, 100), false},
		{"slower twice", first(120, 110), true},
	} {
		err := r.judge(t.Context(), fake(t, 100), fake(t, c.here...))
		if (err != nil) != c.bad {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "slower than base, by over 5 %, measured twice: "+cases[0]) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := r.judge(t.Context(), fake(t, 100), fake(t, 0)); err == nil || !strings.Contains(err.Error(), "gave no CPU time") {
		t.Errorf("without a time: %v", err)
	}
	if err := r.judge(t.Context(), fake(t, 0), fake(t, 100)); err != nil {
		t.Errorf("a new benchmark: %v", err)
	}
}

// TestFindBase holds what is compared with.
func TestFindBase(t *testing.T) {
	dir := t.TempDir()
	run := func(arguments ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@example.com"}, arguments...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	check := func(want string) {
		t.Helper()
		if base, err := findBase(t.Context(), dir); err != nil || base != want {
			t.Errorf("the base is %q, want %q; %v", base, want, err)
		}
	}
	run("init", "-q", "-b", "main")
	run("commit", "-q", "--allow-empty", "-m", "one")
	check("")
	one := run("rev-parse", "HEAD")
	run("commit", "-q", "--allow-empty", "-m", "two")
	check(one)
	two := run("rev-parse", "HEAD")
	run("checkout", "-q", "-b", "branch")
	run("commit", "-q", "--allow-empty", "-m", "three")
	run("commit", "-q", "--allow-empty", "-m", "four")
	check(two)
}

// TestCases holds that each case is a benchmark, and gives a time.
func TestCases(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the benchmarks; the gate does, too")
	}
	p, err := build(t.Context(), "../..", filepath.Join(t.TempDir(), "bench.test"))
	if err != nil {
		t.Fatal(err)
	}
	all := least{}
	if err := p.run(t.Context(), cases, "1x", all); err != nil {
		t.Fatal(err)
	}
	for _, name := range cases {
		if all[name] <= 0 {
			t.Errorf("%s gave no time", name)
		}
	}
}
