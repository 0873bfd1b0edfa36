// Command gate fails if the tree is slower than its base:
//
//	go run -C bench ./gate                 # against the merge base with main; on main, against the commit before
//	go run -C bench ./gate -base v1.2.3    # against that commit
//
// It builds the benchmarks of the tree twice, with the packages of the tree and with those of the base and its versions
// of other modules, and runs a few of them on data of the repository, by one worker, in short rounds. In a round each case runs in both programs,
// one right after the other, so that a busy machine slows down both. A case is as slow as the median of the ratios of
// CPU time in all rounds. If that is over the threshold, the case is measured again; the gate fails if it is slower twice.
//
// The threshold stands between two cores' noise beside two busy threads and a loss of 10 %. There 20 runs of one commit
// with itself gave no alarm, and 10 of 10 planted losses of 7 to 13 % were found, in matching, evaluating, compiling,
// reading lines and formats; one of 3 % was not. Reports and origins were added later: losses of 10 % were found there, too.
//
// Nothing is measured, and the gate says so, if there is no base, as in a clone of one commit; if no package of the
// benchmarks has changed; and if the Go code of the base does not compile.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/bench/internal/tool"
)

// A benchCase is a benchmark, and how often its loop runs in a round: some 20 ms of CPU time.
type benchCase struct {
	name  string
	times int
}

// cases are the benchmarks that count: matching, compiling, deciding, reading, writing, reporting.
var cases = []benchCase{
	{"Match/data=quickstart/log=mixed", 20},
	{"Match/data=madeup/rules=1034/wildcard=49", 20},
	{"BuildStore/data=quickstart", 2},
	{"Evaluate/data=quickstart/log=mixed", 12},
	{"RowTimes/data=quickstart/log=mixed/captures=1", 8},
	{"Run/data=quickstart/log=mixed/url=false/workers=1", 5},
	{"Run/data=quickstart/log=mixed/url=true/workers=1", 3},
	{"Format/format=combined/file=apache-semicomplete.log/fields=all", 1},
	{"Report/data=quickstart/log=mixed", 1},
	{"Origins/order=random", 1},
	{"Match/data=hostile", 120},
}

func main() { tool.Main("gate", run) }

// A request is the task by the flags.
type request struct {
	base      string // "" finds one
	rounds    int
	threshold float64
	limit     time.Duration
	same      bool
}

// parseFlags returns the task by the flags. The error is about an invalid flag, or an invalid value.
func parseFlags(arguments []string) (r request, err error) {
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	flags.StringVar(&r.base, "base", "", "the commit to compare with; default, also for zeros: the merge base with main, on main the commit before")
	flags.IntVar(&r.rounds, "rounds", 30, "rounds, and as many again of the cases that seem slower")
	flags.Float64Var(&r.threshold, "threshold", 1.05, "a case is slower if it takes more than so many times the CPU time")
	flags.DurationVar(&r.limit, "limit", 4*time.Minute, "time for all, builds included; rounds end early")
	flags.BoolVar(&r.same, "same", false, "measure though no package has changed, to see how far the figures vary")
	if err := flags.Parse(arguments); err != nil {
		return r, err
	}
	if r.rounds < leastRounds || r.threshold <= 1 {
		return r, fmt.Errorf("-rounds: at least %d; -threshold: over 1", leastRounds)
	}
	return r, nil
}

// run compares the tree with its base, and prints the result. It returns no error if there is nothing to compare.
func run(ctx context.Context, arguments []string) (err error) {
	r, err := parseFlags(arguments)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	top, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if r.base, err = findBase(ctx, top, r.base); err != nil {
		return err
	}
	if r.base == "" {
		fmt.Println("gate: the clone has no commit to compare with; nothing was measured; git fetch --unshallow brings one")
		return nil
	}
	named, err := git(ctx, top, "log", "-1", "--format=%H %s", r.base)
	if err != nil {
		return err
	}
	fmt.Println("gate: the base is", named)
	if changed, err := packagesDiffer(ctx, top, r.base); err != nil {
		return err
	} else if !changed && !r.same {
		fmt.Println("gate: no package of the benchmarks differs from", r.base, "- nothing was measured")
		return nil
	}
	dir, err := os.MkdirTemp("", "robobatch-gate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return r.compare(ctx, top, dir)
}

// compare builds the programs of the tree and of the base below dir, and judges them. If the base does not compile, it
// prints that nothing was measured.
func (r request) compare(ctx context.Context, top, dir string) (err error) {
	here, err := build(ctx, top, dir)
	if err != nil {
		return err
	}
	base, remove, err := buildBase(ctx, top, r.base, dir)
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	if errors.Is(err, errBaseBroken) {
		fmt.Printf("gate: nothing was measured: %v\n", err)
		return nil // the older commit cannot be fixed
	}
	if err != nil {
		return err
	}
	return r.judge(ctx, func(ctx context.Context, names []benchCase) (map[string][]pair, error) {
		return measure(ctx, base, here, names, r.rounds)
	})
}

// leastRounds is how many rounds a verdict needs.
const leastRounds = 8

// timeDivisors divide the time that is left, for each measurement.
var timeDivisors = []time.Duration{2, 1}

// A pair is what a case takes in both programs, one run right after the other: nanoseconds of CPU time a unit. A base
// that lacks the case has 0.
type pair struct{ base, here float64 }

// judge measures all cases, and repeats those that seem slower. A case that is slower twice is an error. The first
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
		fmt.Printf("gate: slower than %s by over %.0f %%: %s\n", r.base, 100*(r.threshold-1), joinNames(suspects))
	}
	return fmt.Errorf("slower than %s by over %.0f %%, measured twice: %s; see bench/README.md, \"In CI\"",
		r.base, 100*(r.threshold-1), joinNames(suspects))
}

// joinNames returns the names of cases.
func joinNames(all []benchCase) string {
	names := make([]string, 0, len(all))
	for _, c := range all {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// slower prints the result of each case, and returns the cases whose median ratio is over the threshold. It prints
// a line instead for a case that the base lacks. A case with fewer than leastRounds rounds, or without CPU time, is an
// error.
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
			fmt.Printf("%-64s new: the base lacks it\n", c.name)
			continue
		}
		compared = true
		low, median, high := ratioQuartiles(all)
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

// ratioQuartiles returns the quartiles of the ratios of the tree's time to the base's, interpolated. There must be at
// least one pair.
func ratioQuartiles(all []pair) (low, median, high float64) {
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

// measure runs the rounds, and returns the pairs of each case by name. When the time of ctx is up, it returns the
// complete pairs so far. Every second round begins with the other program.
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

// run runs a benchmark once by one processor, and sets ns to its CPU time per unit in nanoseconds; 0 if the program
// lacks it.
func (p program) run(ctx context.Context, c benchCase, ns *float64) error {
	cmd := newCommand(ctx, p.folder, p.binary, "-test.run", "^$", "-test.bench", benchPattern(c.name), "-test.benchtime", strconv.Itoa(c.times)+"x")
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	out, err := runCommand(cmd)
	*ns = cpuTime(out)
	return err
}

// benchPattern returns the value of -test.bench that selects one benchmark.
func benchPattern(name string) string {
	parts := strings.Split("Benchmark"+name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// cpuMetric is the CPU time in the line of a benchmark's result.
var cpuMetric = regexp.MustCompile(`(?m)^Benchmark.*\s([0-9.e+]+) (?:load-)?cpu-ns/`)

// cpuTime returns the CPU time per unit in the output of a benchmark, in nanoseconds; 0 if it has none.
func cpuTime(out string) float64 {
	if found := cpuMetric.FindStringSubmatch(out); found != nil {
		ns, _ := strconv.ParseFloat(found[1], 64) // 0 if it is not a number
		return ns
	}
	return 0
}
