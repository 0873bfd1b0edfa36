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

// A request has the values of the flags.
type request struct {
	origins int
	rows    int64   // of each log, approximately
	limits  []int64 // MiB
	shapes  []shape
	inputs  string // the directory with the inputs; "" means a temporary directory
	prepare bool   // only write the inputs
}

// parse reads the flags.
func parse(arguments []string) (r request, err error) {
	flags := flag.NewFlagSet("memory", flag.ContinueOnError)
	flags.IntVar(&r.origins, "origins", 1_000_000, "how many origins are made up, each with a robots.txt")
	flags.Int64Var(&r.rows, "urls", 0, "rows of each log; 0 is one for each origin")
	limits := flags.String("limits", "64MiB,128MiB,256MiB,512MiB", "values of -max-memory, in MiB")
	names := flags.String("shapes", "", "only shapes whose name this regular expression matches")
	flags.StringVar(&r.inputs, "keep", "", "the directory for the inputs, which stay there; what is there is not made again")
	flags.BoolVar(&r.prepare, "prepare", false, "write the inputs and run nothing")
	if err := flags.Parse(arguments); err != nil {
		return r, err
	}
	for _, text := range strings.Split(*limits, ",") {
		n, err := strconv.ParseInt(strings.TrimSuffix(text, "MiB"), 10, 64)
		if err != nil || n <= 0 {
			return r, fmt.Errorf("-limits: %q is not a size in MiB", text)
		}
		r.limits = append(r.limits, n)
	}
	wanted, err := regexp.Compile(*names)
	if err != nil {
		return r, fmt.Errorf("-shapes: %w", err)
	}
	r.rows = cmp.Or(r.rows, int64(r.origins))
	r.shapes = slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool { return !wanted.MatchString(s.name) })
	return r, nil
}

func run(ctx context.Context, arguments []string) error {
	r, err := parse(arguments)
	if err != nil {
		return err
	}
	if r.prepare {
		// Write the inputs of the shapes to dir, except for existing ones.
		c, err := corpus.Find(".")
		if err != nil {
			return err
		}
		spec := madeup.Spec{Origins: r.origins, URLs: r.rows, Even: true, Seed: 1, Aimed: 25}
		g, err := madeup.New(c, spec)
		if err != nil {
			return err
		}
		for _, s := range r.shapes {
			for _, in := range s.inputs() {
				path := filepath.Join(r.inputs, in.name)
				if _, err := os.Stat(path); err == nil {
					continue
				}
				part := filepath.Join(r.inputs, "part-"+in.name) // renamed when it is complete
				if err := errors.Join(in.write(part, g, spec), os.Rename(part, path)); err != nil {
					return fmt.Errorf("write %s: %w", path, err)
				}
			}
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "robobatch-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if r.inputs == "" {
		r.inputs = dir
	}
	if err := os.MkdirAll(r.inputs, 0o777); err != nil {
		return err
	}
	l := lab{ctx: ctx, inputs: r.inputs, dir: dir, binary: filepath.Join(dir, "robobatch")}
	if err := tool.Build(ctx, l.binary); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// Another process writes the inputs: a process inherits the peak memory of its parent, which must not affect the
	// runs.
	prepare := exec.CommandContext(ctx, self, "-prepare", "-keep", r.inputs, "-origins", strconv.Itoa(r.origins), "-urls", strconv.FormatInt(r.rows, 10),
		"-shapes", namesOf(r.shapes))
	if _, err := measure.Exec(prepare); err != nil {
		return err
	}
	return l.table(os.Stdout, r)
}

// namesOf returns a regular expression for the names of some shapes.
func namesOf(some []shape) string {
	names := make([]string, 0, len(some))
	for _, s := range some {
		names = append(names, regexp.QuoteMeta(s.name))
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

const mib = 1 << 20

// The bounds of a run with a limit.
const (
	overhead = 16 * mib  // in addition to a tenth of the limit
	mustRun  = 256 * mib // with a lower limit, a run may refuse to start, unless its shape has another bound
)

// bound returns the maximum memory of a run.
func bound(limit int64) int64 { return limit + limit/10 + overhead }

// A lab runs the command.
type lab struct {
	ctx    context.Context
	inputs string
	dir    string // for outputs
	binary string
}

// A result is the result of a run.
type result struct {
	measure.Sample
	refused string // why the run did not start; "" if it did
	ended   bool   // the run stopped because it needs more memory, which only coverage may do, with very many rules
}

// coverage is the command whose runs may stop for lack of memory.
const coverage = "coverage"

// table runs all shapes with all limits, and prints one line for each run. The error names the runs that used too much
// memory or did not start although they had to.
func (l *lab) table(w io.Writer, r request) error {
	var faults []error
	if _, err := fmt.Fprintln(w, "shape           limit       peak    allowed      wall       cpu"); err != nil {
		return err
	}
	for _, s := range r.shapes {
		for _, n := range r.limits {
			got, err := l.run(s, n*mib)
			if err != nil {
				return err
			}
			fault, err := got.print(w, s, n*mib)
			if err != nil {
				return err
			}
			faults = append(faults, fault)
		}
	}
	return errors.Join(faults...)
}

// print prints the line of a run. The fault says that the run used too much memory, or did not start although it had
// to.
func (r result) print(w io.Writer, s shape, limit int64) (fault, err error) {
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

// run runs a shape with a limit.
func (l *lab) run(s shape, limit int64) (result, error) {
	out := filepath.Join(l.dir, "out")
	if err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o777)); err != nil {
		return result{}, err
	}
	inputs := l.inputs
	var all []string
	if s.command != "" {
		all = append(all, s.command)
	}
	if s.old != nil {
		all = append(all, "-old", filepath.Join(inputs, s.old.name))
	}
	if s.sitemap != nil {
		all = append(all, "-in-sitemap", filepath.Join(inputs, s.sitemap.name))
	}
	if s.log != nil {
		all = append(all, "-in", filepath.Join(inputs, s.log.name))
	}
	all = append(all, "-rules", filepath.Join(inputs, s.rules.name), "-max-memory", strconv.FormatInt(limit/mib, 10)+"MiB", "-quiet")
	if s.stdin == nil {
		all = append(all, "-progress", "off")
	}
	if s.out != "" {
		all = append(all, "-out", filepath.Join(out, s.out))
	}
	if s.page != "" {
		all = append(all, "-report", filepath.Join(out, s.page))
	}
	cmd := exec.CommandContext(l.ctx, l.binary, append(all, s.flags...)...)
	if s.stdin != nil {
		in, err := os.Open(filepath.Join(l.inputs, s.stdin.name))
		if err != nil {
			return result{}, err
		}
		defer in.Close()
		cmd.Stdin = in
	}
	sample, err := measure.Exec(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 2 {
		if _, text, ok := strings.Cut(err.Error(), "robobatch: -max-memory: "); ok { // the run did not start
			text, _, _ = strings.Cut(text, "\n")
			return result{Sample: sample, refused: text}, nil
		}
		if s.command == coverage && strings.Contains(err.Error(), "too many to be counted in this memory") {
			return result{Sample: sample, ended: true}, nil
		}
	}
	return result{Sample: sample}, err
}
