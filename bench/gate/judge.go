package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// leastRounds is how many rounds a verdict needs.
const leastRounds = 8

// A pair is what a case takes in both programs, one run right after the other: nanoseconds of CPU time a unit. A base
// that lacks the case has 0.
type pair struct{ base, here float64 }

// judge measures all cases, and those that seem slower once more. A case slower twice is an error. The first
// measurement takes at most half of the time that ctx leaves.
func (r request) judge(ctx context.Context, measure func(context.Context, []benchCase) (map[string][]pair, error)) error {
	suspects := cases
	for _, part := range []time.Duration{2, 1} {
		deadline, _ := ctx.Deadline()
		until, cancel := context.WithTimeout(ctx, time.Until(deadline)/part)
		pairs, err := measure(until, suspects)
		cancel()
		if err != nil {
			return err
		}
		if suspects, err = r.slower(suspects, pairs); err != nil || len(suspects) == 0 {
			return err
		}
		fmt.Printf("gate: slower than %s by over %.0f %%: %s\n", r.base, 100*(r.threshold-1), list(suspects))
	}
	return fmt.Errorf("slower than %s by over %.0f %%, measured twice: %s; see bench/README.md, \"In CI\"",
		r.base, 100*(r.threshold-1), list(suspects))
}

// list returns the names of cases.
func list(all []benchCase) string {
	names := make([]string, 0, len(all))
	for _, c := range all {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// slower prints the cases, and returns those whose median ratio is over the threshold.
func (r request) slower(names []benchCase, pairs map[string][]pair) (slower []benchCase, err error) {
	for _, c := range names {
		all := pairs[c.name]
		if len(all) < leastRounds {
			return nil, fmt.Errorf("only %d rounds of %s within -limit %v, and a verdict needs %d: the machine is too busy; run it again, or with a greater limit",
				len(all), c.name, r.limit, leastRounds)
		}
		if slices.ContainsFunc(all, func(p pair) bool { return p.here == 0 }) {
			return nil, fmt.Errorf("the benchmark %s gave no CPU time", c.name)
		}
		if slices.ContainsFunc(all, func(p pair) bool { return p.base == 0 }) {
			fmt.Printf("%-64s new\n", c.name)
			continue
		}
		low, median, high := quartiles(all)
		fmt.Printf("%-64s %.3f (%.3f to %.3f), %d rounds\n", c.name, median, low, high, len(all))
		if median > r.threshold {
			slower = append(slower, c)
		}
	}
	return slower, nil
}

// quartiles returns the ratios of the tree's time to the base's that a quarter, half and three quarters of the pairs
// do not exceed.
func quartiles(all []pair) (low, median, high float64) {
	ratios := make([]float64, 0, len(all))
	for _, p := range all {
		ratios = append(ratios, p.here/p.base)
	}
	slices.SortFunc(ratios, cmp.Compare[float64])
	at := func(quarter int) float64 {
		i := (len(ratios) - 1) * quarter
		return (ratios[i/4]*float64(4-i%4) + ratios[(i+3)/4]*float64(i%4)) / 4
	}
	return at(1), at(2), at(3)
}

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
