// Command memory checks that runs stay below -max-memory. It runs the command robobatch on inputs of many shapes with
// several limits, each run in its own process, and prints the peak memory of each process with its limit:
//
//	go run -C bench ./memory                                          # a pack of a million origins
//	go run -C bench ./memory -shapes 'wide|sort' -limits 256MiB       # some of it
//	go run -C bench ./memory -keep /tmp/inputs                        # writes the inputs there, or uses the ones there
//
// A run may use the limit plus a tenth and 16 MiB. With a limit below 256 MiB, it may refuse to start. The command
// fails if any run does neither.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/measure"
)

func main() { tool.Main("memory", run) }

// A lab has the values of the flags, and runs the command.
type lab struct {
	ctx     context.Context
	spec    madeup.Spec
	limits  []int64 // MiB
	shapes  []shape
	inputs  string // the directory with the inputs; "" means a temporary directory
	prepare bool   // only write the inputs
	dir     string // for outputs
	binary  string
}

// parseFlags returns a lab by the flags, without dir, binary and context.
func parseFlags(arguments []string) (*lab, error) {
	l := &lab{spec: madeup.Spec{Even: true, Seed: 1, Aimed: 25}}
	flags := flag.NewFlagSet("memory", flag.ContinueOnError)
	flags.IntVar(&l.spec.Origins, "origins", 1_000_000, "how many origins are made up, each with a robots.txt")
	flags.Int64Var(&l.spec.URLs, "urls", 0, "rows of each log; 0 is one for each origin")
	limits := flags.String("limits", "64MiB,128MiB,256MiB,512MiB", "values of -max-memory, in MiB")
	names := flags.String("shapes", "", "only shapes whose name this regular expression matches")
	flags.StringVar(&l.inputs, "keep", "", "the directory for the inputs, which stay there; what is there is not made again")
	flags.BoolVar(&l.prepare, "prepare", false, "write the inputs and run nothing")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	for _, text := range strings.Split(*limits, ",") {
		n, err := strconv.ParseInt(strings.TrimSuffix(text, "MiB"), 10, 64)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("-limits: %q is not a size in MiB", text)
		}
		l.limits = append(l.limits, n)
	}
	wanted, err := regexp.Compile(*names)
	if err != nil {
		return nil, fmt.Errorf("-shapes: %w", err)
	}
	l.spec.URLs = cmp.Or(l.spec.URLs, int64(l.spec.Origins))
	l.shapes = slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool { return !wanted.MatchString(s.name) })
	return l, nil
}

// run runs the shapes with the limits of the flags. It writes the inputs in a process of its own, because a process
// inherits the peak memory of its parent.
func run(ctx context.Context, arguments []string) error {
	l, err := parseFlags(arguments)
	if err != nil {
		return err
	}
	if l.prepare {
		return l.writeInputs()
	}
	if l.dir, err = os.MkdirTemp("", "robobatch-memory-"); err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	l.ctx, l.inputs, l.binary = ctx, cmp.Or(l.inputs, l.dir), filepath.Join(l.dir, "robobatch")
	if err := errors.Join(os.MkdirAll(l.inputs, 0o777), tool.Build(ctx, l.binary)); err != nil {
		return err
	}
	if err := tool.Again(ctx, append(arguments, "-prepare", "-keep", l.inputs)); err != nil {
		return err
	}
	return l.printTable(os.Stdout)
}

// writeInputs writes the inputs of the shapes to l.inputs. It keeps existing ones.
func (l *lab) writeInputs() error {
	c, err := corpus.Find(".")
	if err != nil {
		return err
	}
	g, err := madeup.New(c, l.spec)
	if err != nil {
		return err
	}
	for _, s := range l.shapes {
		for _, in := range []*input{s.rules, s.log, s.old, s.stdin, s.sitemap} {
			if in == nil {
				continue
			}
			path := filepath.Join(l.inputs, in.name)
			if _, err := os.Stat(path); err == nil {
				continue
			}
			part := filepath.Join(l.inputs, "part-"+in.name) // renamed when it is complete
			if err := errors.Join(in.write(part, g), os.Rename(part, path)); err != nil {
				return fmt.Errorf("write %s: %w", path, err)
			}
		}
	}
	return nil
}

const mib = 1 << 20

// The bounds of a run with a limit.
const (
	overhead = 16 * mib  // in addition to a tenth of the limit
	mustRun  = 256 * mib // with a lower limit, a run may refuse to start, unless its shape has another bound
)

// bound returns the maximum memory of a run.
func bound(limit int64) int64 { return limit + limit/10 + overhead }

// A result is the result of a run.
type result struct {
	measure.Sample
	refused string // why the run did not start; "" if it did
	ended   bool   // the run stopped because it needs more memory, which only coverage may do, with very many rules
}

// printTable runs all shapes with all limits, and prints one line for each run. The error names the runs that used too
// much memory or did not start although they had to. It stops at a run that failed otherwise.
func (l *lab) printTable(w io.Writer) error {
	var faults []error
	if _, err := fmt.Fprintln(w, "shape           limit       peak    allowed      wall       cpu"); err != nil {
		return err
	}
	for _, s := range l.shapes {
		for _, n := range l.limits {
			got, err := l.run(s, n*mib)
			if err != nil {
				return err
			}
			fault, err := got.printLine(w, s, n*mib)
			if err != nil {
				return err
			}
			faults = append(faults, fault)
		}
	}
	return errors.Join(faults...)
}

// printLine prints the line of a run. fault says that the run used too much memory, or did not start although it had
// to; err is that of w.
func (r result) printLine(w io.Writer, s shape, limit int64) (fault, err error) {
	word := "ok"
	switch {
	case r.refused != "":
		word = "refused: " + r.refused
	case r.ended:
		word = "ended: too many rules"
	case r.Peak > bound(limit):
		word = "TOO MUCH"
	}
	if r.Peak > bound(limit) || r.refused != "" && limit >= cmp.Or(s.least, mustRun) {
		fault = fmt.Errorf("%s under %d MiB: %s", s.name, limit/mib, word)
	}
	_, err = fmt.Fprintf(w, "%-12s %4d MiB %6.1f MiB %6.1f MiB %7.1f s %7.1f s  %s\n", s.name, limit/mib,
		float64(r.Peak)/mib, float64(bound(limit))/mib, r.Wall.Seconds(), r.CPU.Seconds(), word)
	return fault, err
}

// run runs a shape with a limit in bytes. A run that refuses to start, or that coverage ends because of too many
// rules, is a result without an error.
func (l *lab) run(s shape, limit int64) (result, error) {
	out := filepath.Join(l.dir, "out")
	if err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o777)); err != nil {
		return result{}, err
	}
	var all []string
	if s.command != "" {
		all = append(all, s.command)
	}
	for _, in := range []struct {
		flag string
		*input
	}{{"-rules", s.rules}, {"-old", s.old}, {"-in", s.log}, {"-in-sitemap", s.sitemap}} {
		if in.input != nil {
			all = append(all, in.flag, filepath.Join(l.inputs, in.name))
		}
	}
	all = append(all, "-max-memory", fmt.Sprintf("%dMiB", limit/mib), "-quiet")
	if s.out != "" {
		all = append(all, "-out", filepath.Join(out, s.out))
	}
	if s.page != "" {
		all = append(all, "-report", filepath.Join(out, s.page))
	}
	cmd := exec.CommandContext(l.ctx, l.binary)
	if s.stdin == nil {
		all = append(all, "-progress", "off")
	} else {
		in, err := os.Open(filepath.Join(l.inputs, s.stdin.name))
		if err != nil {
			return result{}, err
		}
		defer in.Close()
		cmd.Stdin = in
	}
	cmd.Args = slices.Concat(cmd.Args, all, s.flags)
	sample, err := measure.Exec(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 2 {
		if _, text, ok := strings.Cut(err.Error(), "robobatch: -max-memory: "); ok { // the run did not start
			text, _, _ = strings.Cut(text, "\n")
			return result{Sample: sample, refused: text}, nil
		}
		if s.command == "coverage" && strings.Contains(err.Error(), "to count them in this memory") {
			return result{Sample: sample, ended: true}, nil
		}
	}
	return result{Sample: sample}, err
}
