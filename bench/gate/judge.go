package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// leastRounds is how many rounds a verdict needs.
const leastRounds = 8

// timeDivisors divide the time that is left, for each measurement.
var timeDivisors = []time.Duration{2, 1}

// A pair is what a case takes in both programs, one run right after the other: nanoseconds of CPU time a unit. A base
// that lacks the case has 0.
type pair struct{ base, here float64 }

// judge measures all cases, and those that seem slower once more. A case slower twice is an error. The first
// measurement takes at most half of the time that ctx leaves.
func (r request) judge(ctx context.Context, measure func(context.Context, []benchCase) (map[string][]pair, error)) error {
	suspects := cases
	for _, divisor := range timeDivisors {
		deadline, _ := ctx.Deadline()
		until, cancel := context.WithTimeout(ctx, time.Until(deadline)/divisor)
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

// slower prints the cases, and returns those whose median ratio is over the threshold. It says so if the base has none.
func (r request) slower(names []benchCase, pairs map[string][]pair) (slower []benchCase, err error) {
	compared := false
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
		compared = true
		low, median, high := quartiles(all)
		fmt.Printf("%-64s %.3f (%.3f to %.3f), %d rounds\n", c.name, median, low, high, len(all))
		if median > r.threshold {
			slower = append(slower, c)
		}
	}
	if !compared {
		fmt.Printf("gate: no case can be compared: the benchmarks of %s have none of them\n", r.base)
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
