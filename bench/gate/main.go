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
// reading lines and formats; one of 3 % was not. A run took 64 to 151 seconds.
//
// Nothing is measured, and the gate says so, if there is no base, as in a clone of one commit; if no package of the
// benchmarks has changed; and if the Go code of the base does not compile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/robobatch/robobatch/bench/internal/tool"
)

// A benchCase is a benchmark, and how often its loop runs in a round: some 20 ms of CPU time.
type benchCase struct {
	name  string
	times int
}

// cases are the benchmarks that count: matching, compiling, deciding, reading, writing.
var cases = []benchCase{
	{"Match/data=quickstart/log=mixed", 20},
	{"Match/data=madeup/rules=1034/wildcard=49", 20},
	{"BuildStore/data=quickstart", 2},
	{"Evaluate/data=quickstart/log=mixed", 12},
	{"RowTimes/data=quickstart/log=mixed/captures=1", 8},
	{"Run/data=quickstart/log=mixed/url=false/workers=1", 5},
	{"Run/data=quickstart/log=mixed/url=true/workers=1", 3},
	{"Format/format=combined/file=apache-semicomplete.log/fields=all", 1},
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

// parse reads the flags.
func parse(arguments []string) (r request, err error) {
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

// run compares the tree with its base.
func run(ctx context.Context, arguments []string) (err error) {
	r, err := parse(arguments)
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

// compare builds both programs below dir, and judges them.
func (r request) compare(ctx context.Context, top, dir string) (err error) {
	here, err := build(ctx, top, dir)
	if err != nil {
		return err
	}
	base, remove, err := buildBase(ctx, top, r.base, dir)
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	if errors.Is(err, errBaseBroken) {
		fmt.Printf("gate: nothing was measured: %v\n", err)
		return nil // the older commit cannot be mended
	}
	if err != nil {
		return err
	}
	return r.judge(ctx, func(ctx context.Context, names []benchCase) (map[string][]pair, error) {
		return measure(ctx, base, here, names, r.rounds)
	})
}
