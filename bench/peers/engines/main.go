//go:build engines

// Command engines compares how robobatch matches with engines for many patterns at once that are
// written in C++, Hyperscan, Vectorscan and the sets of RE2, and with a dense DFA. It needs their headers and libraries (Debian's
// libhyperscan-dev and libre2-dev), and in VECTORSCAN the name of the library of libvectorscan5:
//
//	make bench-engines
//
// Rules are compiled before, each distinct robots.txt once, and paths are in normal form. Only the
// matching is measured, and the loop over the paths is in C++ for the engines, so that no call from
// Go is counted. The cost of compiling is compile-cpu-ns/origin. All answers are checked against
// robobatch's.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/internal/measure"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(2)
	}
}

func run(arguments []string) error {
	flags := flag.NewFlagSet("engines", flag.ContinueOnError)
	rounds := flags.Int("rounds", 6, "lines for each case")
	lines := flags.Int("lines", 100_000, "most paths of a workload")
	origins := flags.Int("origins", 500, "origins of W4")
	worst := flags.Bool("hostile", false, "rules that are to make matching slow, in place of the other workloads")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	c, err := corpus.Find(".")
	if err != nil {
		return err
	}
	make := func() ([]*workload, error) { return workloads(c, *lines, *origins) }
	if *worst {
		make = hostileSites
	}
	works, err := make()
	if err != nil {
		return err
	}
	if err := measure.Header(os.Stdout, "github.com/robobatch/robobatch/bench/peers/engines"); err != nil {
		return err
	}
	if err := c.Header(os.Stdout); err != nil {
		return err
	}
	for _, w := range works { // one after the other, as compiled sets are large
		if err := measureAll(w, *rounds); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}
