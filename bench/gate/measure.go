package main

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// measure runs the rounds, and stops when the time of ctx is up. Every second round begins with the other program.
func measure(ctx context.Context, base, here program, names []benchCase, rounds int) (map[string][]pair, error) {
	pairs := map[string][]pair{}
	for round := range rounds {
		for _, c := range names {
			var p pair
			first, second := func() error { return base.run(ctx, c, &p.base) }, func() error { return here.run(ctx, c, &p.here) }
			if round%2 == 1 {
				first, second = second, first
			}
			err := first()
			if err == nil {
				err = second()
			}
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return pairs, nil
			}
			if err != nil {
				return nil, err
			}
			pairs[c.name] = append(pairs[c.name], p)
		}
	}
	return pairs, nil
}

// run runs a benchmark once by one processor, and takes its time; none if the program lacks it.
func (p program) run(ctx context.Context, c benchCase, ns *float64) error {
	cmd := command(ctx, p.folder, p.binary, "-test.run", "^$", "-test.bench", pattern(c.name), "-test.benchtime", strconv.Itoa(c.times)+"x")
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	out, err := output(cmd)
	*ns = cpuTime(out)
	return err
}

// pattern returns the value of -test.bench for one benchmark.
func pattern(name string) string {
	parts := strings.Split("Benchmark"+name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// cpuMetric is the CPU time in the line of a benchmark's result.
var cpuMetric = regexp.MustCompile(`(?m)^Benchmark.*\s([0-9.e+]+) (?:load-)?cpu-ns/`)

// cpuTime returns the CPU time in the output of a benchmark, or 0.
func cpuTime(out string) float64 {
	if found := cpuMetric.FindStringSubmatch(out); found != nil {
		ns, _ := strconv.ParseFloat(found[1], 64) // 0 if it is no number
		return ns
	}
	return 0
}
