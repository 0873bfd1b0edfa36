package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// A benchArgs is the flags of the command bench: those of the main job that change what it costs, and one of its own.
type benchArgs struct {
	args
	rounds int
}

// benchRounds is how often each part is measured by default: benchstat gives no confidence interval for fewer samples than six.
const benchRounds = 6

// benchFlags returns the flags, which set a. Their help is benchHelp.
func benchFlags(a *benchArgs) *flag.FlagSet {
	fs := flag.NewFlagSet("robobatch bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("rules", "", once(&a.rules, "put all robots.txt into one directory"))
	fs.Func("origin", "", once(&a.origin, "one file is the robots.txt of one origin"))
	fs.Func("in", "", func(s string) error {
		a.in = append(a.in, s)
		return nil
	})
	fs.Int64Var(&a.limit, "limit", 0, "")
	fs.Func("agent", "", splitAgents(&a.agents))
	a.reading.define(fs)
	a.form.defineFields(fs)
	fs.StringVar(&a.columns, "columns", "", "")
	fs.IntVar(&a.workers, "workers", 0, "")
	fs.IntVar(&a.rounds, "rounds", benchRounds, "")
	return fs
}

// benchmark is the command bench.
func benchmark(arguments []string, std streams) error {
	a := benchArgs{args: args{missing: "allow", progress: "off", quiet: true}}
	fs := benchFlags(&a)
	switch err := parse(fs, arguments); {
	case errors.Is(err, flag.ErrHelp):
		return printHelp(benchHelp, std)
	case err != nil:
		return err
	case fs.NArg() > 0:
		return usage("unexpected argument %q: bench takes flags only, see robobatch bench -h", fs.Arg(0))
	}
	if err := errors.Join(a.needed()...); err != nil {
		return err
	}
	if a.rounds < 1 {
		return usage("-rounds: %d is out of range: use 1 or more", a.rounds)
	}
	dir, err := os.MkdirTemp("", "robobatch-bench-")
	if err != nil {
		return err
	}
	b := &benchRun{dir: dir, rounds: a.rounds}
	a.out = filepath.Join(dir, "verdicts.parquet")
	if b.plan, err = newPlan(a.args, std); err == nil {
		err = b.check(&a)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return underSignals(b)
}

// A benchRun is a run of the command bench.
type benchRun struct {
	*plan
	dir    string // for the output, removed at the end
	rounds int
	in     []string
	job    measure.Job
	stats  engine.Stats // of the run that ended last
}

// check checks that all inputs can be read again and again, and sets the job.
func (b *benchRun) check(a *benchArgs) error {
	b.in = a.in
	for _, in := range b.logs.Inputs() {
		switch {
		case in.Name == stdName:
			return usage("-in: standard input can be read only once: write it to a file first")
		case in.Size < 0:
			return usage("-in: %s can be read only once: write it to a file first", display(in.Name))
		}
	}
	b.quiet = false // for the notes at the end
	b.job = measure.Job{
		Rules: b.responses, Logs: b.open, Sink: b.create, Store: b.storeOpt, Workers: []int{1, 0},
		Pack: b.rules.Pack(),
		Ran:  func(s engine.Stats) { b.stats = s },
	}
	if isLargePack(b.job.Pack) {
		b.job.Store.MaxMemory = largePackMemory
	}
	if a.workers > 0 {
		b.job.Workers = []int{a.workers}
	}
	return b.logs.Close()
}

func (b *benchRun) responses() (iter.Seq2[robots.Response, error], error) {
	return b.rules.Responses(), nil
}

func (b *benchRun) open() (engine.Source, error) { return ingest.OpenLogs(b.in, b.logOpt) }

func (b *benchRun) create(store *engine.Store) (measure.Sink, error) {
	return output.Create(b.outName, nil, store, b.outOpt)
}

func (b *benchRun) drop() (committed bool, err error) { return false, os.RemoveAll(b.dir) }
func (b *benchRun) targets() (out, last string)       { return stdName, stdName }

// run measures, and prints the lines as they come.
func (b *benchRun) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	w := &benchWriter{w: b.std.out}
	err = b.job.Measure(ctx, w, b.rounds)
	switch {
	case w.err != nil:
		return stdoutError(w.err)
	case errors.Is(err, measure.ErrNoURLs):
		return fmt.Errorf("%s: %w", b.logNames(), err)
	case err == nil:
		b.noteJunk()
	}
	return packError(b.job.Pack, err)
}

// logNames returns what to call the logs in a message.
func (b *benchRun) logNames() string {
	if len(b.in) == 1 {
		return display(b.in[0])
	}
	return plural(int64(len(b.in)), "log")
}

// noteJunk tells where the rules decided nothing, so that the figures say nothing of matching.
func (b *benchRun) noteJunk() {
	bad, without := b.stats.Reasons[engine.ReasonBadURL], b.stats.Reasons[engine.ReasonNoRobots]
	switch {
	case bad == b.stats.Rows:
		b.note("nothing was matched: no line is a URL with a scheme and a host: name what the lines are with -format, or their site with -base")
	case bad+without == b.stats.Rows:
		b.note("nothing was matched: %s", noRobotsText)
	}
}

// A benchWriter keeps the first error of writing.
type benchWriter struct {
	w   io.Writer
	err error
}

// Write writes.
func (b *benchWriter) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	if b.err == nil {
		b.err = err
	}
	return n, err
}
