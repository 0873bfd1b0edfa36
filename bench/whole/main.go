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
	"path/filepath"
	"regexp"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/measure"
)

func main() { tool.Main("whole", run) }

// run writes the inputs in a process of its own, and measures the cases; with -prepare, it only writes the inputs.
func run(ctx context.Context, arguments []string) error {
	l := lab{ctx: ctx}
	flags := flag.NewFlagSet("whole", flag.ContinueOnError)
	rounds := flags.Int("rounds", 6, "lines for each case")
	l.spec.AddFlags(flags, 2_000_000)
	temp := flags.String("temp", "", "where to put a directory for the inputs and outputs, which is removed; default: that for temporary files")
	flags.StringVar(&l.base, "base", "", "another build of the command, to run in turn: Repeated reports the ratio to its CPU time")
	flags.IntVar(&l.copies, "copies", 10, "how often the logs of Repeated and WhatIf have a log of the corpus")
	flags.StringVar(&l.dir, "prepare", "", "write the inputs into this directory and measure nothing")
	bench := flags.String("bench", "^(Load|Whole|Files)", "measure what this regular expression matches the name of: Load, Whole, Files, Pack, Unpack, Repeated and WhatIf with what follows them")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	var err error
	if l.wanted, err = regexp.Compile(*bench); err != nil {
		return fmt.Errorf("-bench: %w", err)
	}
	if l.dir != "" {
		l.addTrials()
		return l.prepare()
	}
	if l.dir, err = os.MkdirTemp(*temp, "robobatch-whole-"); err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	l.binary = filepath.Join(l.dir, "robobatch")
	if err := errors.Join(tool.Build(ctx, l.binary), tool.Again(ctx, append(arguments, "-prepare", l.dir))); err != nil {
		return err
	}
	src, err := corpus.Find(".")
	if err != nil {
		return err
	}
	if err := errors.Join(measure.Header(os.Stdout, "github.com/robobatch/robobatch/bench/whole"), src.Header(os.Stdout)); err != nil {
		return err
	}
	l.addTrials()
	return measure.Rounds(ctx, os.Stdout, *rounds, l.cases)
}
