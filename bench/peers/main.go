// Command peers compares robobatch with other robots.txt libraries in Go, in turns in one run, in the format of Go's
// benchmarks:
//
//	cd bench/peers && go run . -rounds 6
//
// It also answers the cases of matrix.py (README.md).
//
// All decide the same plain text of URLs for a crawler without its own group. The rules are parsed before, and looked
// up by origin. README.md of package bench describes the workloads. This is a separate module, so that the libraries
// are not dependencies of the command.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/measure"
)

func main() { tool.Main("peers", run) }

// run measures all libraries on all workloads, or answers the cases of matrix.py with one library.
func run(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	rounds := flags.Int("rounds", 6, "lines for each case")
	answerer := flags.String("answer", "", "a library that answers the cases of matrix.py")
	lines := flags.Int("lines", 200_000, "most URLs of a workload")
	origins := flags.Int("origins", 30_000, "origins of W4")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	out := os.Stdout
	os.Stdout = os.Stderr // for the messages of a library
	if *answerer != "" {
		return writeAnswers(os.Stdin, out, *answerer)
	}
	dir, err := os.MkdirTemp("", "robobatch-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	corpus, err := corpus.Find(".")
	if err != nil {
		return err
	}
	works, err := workloads(corpus, *lines, *origins)
	if err != nil {
		return err
	}
	cases, err := allCases(works, dir)
	if err != nil {
		return err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("the program does not know the versions of its libraries")
	}
	compared := "# libraries:"
	for _, m := range info.Deps {
		if strings.Contains(m.Path, "robots") {
			compared += " " + m.Path + "@" + m.Version
		}
	}
	if err := errors.Join(measure.Header(out, "github.com/robobatch/robobatch/bench/peers"), corpus.Header(out)); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, compared); err != nil {
		return err
	}
	return measure.Rounds(ctx, out, *rounds, cases)
}
