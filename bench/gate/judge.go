package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A program is the benchmarks of a tree.
type program struct {
	folder string // where they run
	binary string
}

// least is the least CPU time of each case, in nanoseconds a unit.
type least map[string]float64

// judge measures both programs in turn, and the cases that seem slower once more. A case slower twice is an error.
func (r request) judge(ctx context.Context, base, here program) error {
	all, err := r.measure(ctx, base, here, cases)
	if err != nil {
		return err
	}
	suspects := all.slower(r.threshold)
	all.print()
	if len(suspects) == 0 {
		return nil
	}
	fmt.Println("gate: once more:", strings.Join(suspects, ", "))
	again, err := r.measure(ctx, base, here, suspects)
	if err != nil {
		return err
	}
	again.print()
	if slower := again.slower(r.threshold); len(slower) > 0 {
		return fmt.Errorf("slower than %s, by over %.0f %%, measured twice: %s", r.base, 100*(r.threshold-1), strings.Join(slower, ", "))
	}
	return nil
}

// A comparison is the same cases of two programs.
type comparison struct {
	names      []string
	base, here least
}

// measure runs the rounds. A round runs both programs; every second one begins with the other program.
func (r request) measure(ctx context.Context, base, here program, names []string) (c comparison, err error) {
	c = comparison{names, least{}, least{}}
	for round := range r.rounds {
		sides := []struct {
			program
			into least
		}{{base, c.base}, {here, c.here}}
		if round%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			if err := side.run(ctx, names, r.time, side.into); err != nil {
				return c, err
			}
		}
	}
	for _, name := range names {
		if c.here[name] == 0 {
			return c, fmt.Errorf("the benchmark %s gave no CPU time", name)
		}
	}
	return c, nil
}

// slower returns the cases that take more than so many times their time before. Those that are new are not slower.
func (c comparison) slower(threshold float64) (names []string) {
	for _, name := range c.names {
		if before := c.base[name]; before > 0 && c.here[name] > threshold*before {
			names = append(names, name)
		}
	}
	return names
}

// print prints the cases.
func (c comparison) print() {
	for _, name := range c.names {
		if before := c.base[name]; before > 0 {
			fmt.Printf("%-64s %9.1f %9.1f ns  %.3f\n", name, before, c.here[name], c.here[name]/before)
		} else {
			fmt.Printf("%-64s       new %9.1f ns\n", name, c.here[name])
		}
	}
}

// run runs the benchmarks of those names once, and lowers times greater than theirs.
func (p program) run(ctx context.Context, names []string, time string, into least) error {
	for _, name := range names {
		cmd := exec.CommandContext(ctx, p.binary, "-test.run", "^$", "-test.bench", pattern(name), "-test.benchtime", time)
		cmd.Dir = p.folder
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("run the benchmark %s in %s: %w: %s", name, p.folder, err, out)
		}
		into.add(out)
	}
	return nil
}

// pattern returns the value of -test.bench for one benchmark.
func pattern(name string) string {
	parts := strings.Split("Benchmark"+name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// cpuTime is the CPU time in a line of a benchmark's result.
var cpuTime = regexp.MustCompile(`^Benchmark(\S+)\s.*\s([0-9.e+]+) (?:load-)?cpu-ns/`)

// add takes the times in the lines of benchmarks. By one processor, names have no number behind them.
func (l least) add(out []byte) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		found := cpuTime.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		if ns, err := strconv.ParseFloat(found[2], 64); err == nil && ns > 0 && (l[found[1]] == 0 || ns < l[found[1]]) {
			l[found[1]] = ns
		}
	}
}
