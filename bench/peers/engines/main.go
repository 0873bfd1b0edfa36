//go:build engines

// Command engines compares the matching of robobatch with C++ engines for many patterns (Hyperscan, Vectorscan and the
// sets of RE2), and with a dense DFA. It needs their headers and libraries (libhyperscan-dev and libre2-dev in Debian),
// and the file name of libvectorscan5 in VECTORSCAN:
//
//	make bench-engines
//
// It measures only matching: rules are compiled before, each distinct robots.txt once, and paths are in normal form.
// For the C++ engines, the loop over the paths is in C++, so that no calls from Go are counted. The cost of compiling
// is compile-cpu-ns/origin. All results are compared with robobatch's.
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

// run measures all engines on all workloads, one workload at a time.
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
	for _, w := range works { // one at a time, because compiled sets are large
		if err := measureAll(w, *rounds); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}
