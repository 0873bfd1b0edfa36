// Command whole measures complete runs of the command robobatch, each in its own process, in the format of Go's
// benchmarks:
//
//	go run -C bench ./whole -rounds 6
//	go run -C bench ./whole -bench Files                      # loading a directory, against reading its files
//	go run -C bench ./whole -bench Pack -origins 1000000      # a pack of a million origins, and limits of memory
//	go run -C bench ./whole -bench WhatIf                     # diff, coverage and report, against runs of the main job
//	go run -C bench ./whole -bench 'Unpack|Repeated' -base ../other/robobatch   # long real logs, and another build in turn
//
// It builds the command, generates rules of many origins and logs of their URLs (package bench), adds the real log of
// the corpus, and runs all cases in turns, once per round. Times exclude loading the rules, as reported by the command,
// except in Files and Pack; Load has the times of runs on one URL.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/measure"
)

func main() { tool.Main("whole", run) }

// A request has the values of the flags.
type request struct {
	spec   madeup.Spec
	rounds int
	temp   string
	only   string // only write the inputs to this directory
	base   string // another build of the command
	copies int    // number of copies of the logs of Repeated
	bench  string // regular expression for the names of cases
}

// chosen returns the selected cases.
func (r request) chosen(l *lab) []trial {
	name := regexp.MustCompile(r.bench)
	return slices.DeleteFunc(l.trials(r.spec), func(t trial) bool { return !name.MatchString(t.Name) })
}

func run(ctx context.Context, arguments []string) error {
	r := request{}
	flags := flag.NewFlagSet("whole", flag.ContinueOnError)
	flags.IntVar(&r.rounds, "rounds", 6, "lines for each case")
	r.spec.AddFlags(flags, 2_000_000)
	flags.StringVar(&r.temp, "temp", "", "where to put a directory for the inputs and outputs, which is removed; default: that for temporary files")
	flags.StringVar(&r.base, "base", "", "another build of the command, to run in turn: Repeated reports the ratio to its CPU time")
	flags.IntVar(&r.copies, "copies", 10, "how often the logs of Repeated and WhatIf have a log of the corpus")
	flags.StringVar(&r.only, "prepare", "", "write the inputs into this directory and measure nothing")
	flags.StringVar(&r.bench, "bench", "^(Load|Whole|Files)", "measure what this regular expression matches the name of: Load, Whole, Files, Pack, Unpack, Repeated and WhatIf with what follows them")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if _, err := regexp.Compile(r.bench); err != nil {
		return fmt.Errorf("-bench: %w", err)
	}
	if r.only != "" {
		return r.prepare(r.only)
	}
	dir, err := os.MkdirTemp(r.temp, "robobatch-whole-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// Another process writes the inputs: a process inherits the peak memory of its parent, which must not affect the
	// measured runs.
	l := lab{ctx: ctx, dir: dir, binary: filepath.Join(dir, "robobatch"), base: r.base, copies: r.copies}
	if err := tool.Build(ctx, l.binary); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	prepare := exec.CommandContext(ctx, self, "-prepare", dir, "-origins", strconv.Itoa(r.spec.Origins), "-urls", strconv.FormatInt(r.spec.URLs, 10),
		"-seed", strconv.FormatUint(r.spec.Seed, 10), "-aimed", strconv.Itoa(r.spec.Aimed), "-copies", strconv.Itoa(r.copies), "-bench", r.bench)
	if _, err := measure.Exec(prepare); err != nil {
		return err
	}
	base, err := corpus.Find(".")
	if err != nil {
		return err
	}
	if err := errors.Join(measure.Header(os.Stdout, "github.com/robobatch/robobatch/bench/whole"), base.Header(os.Stdout)); err != nil {
		return err
	}
	var cases []measure.Case
	for _, t := range r.chosen(&l) {
		cases = append(cases, t.Case)
	}
	return measure.Rounds(ctx, os.Stdout, r.rounds, cases)
}
