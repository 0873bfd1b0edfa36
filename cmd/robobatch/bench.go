package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// planBench checks the flags of the command bench, and finds its inputs.
func planBench(a *args, std console.Streams) (guard.Task, error) {
	if a.rounds < 1 {
		a.faults.Add("rounds", fmt.Errorf("%d is out of range: use 1 or more", a.rounds))
	}
	dir, err := os.MkdirTemp("", "robobatch-bench-")
	if err != nil {
		return nil, err
	}
	b := &benchRun{dir: dir, rounds: a.rounds}
	a.out, a.Missing, a.progress, a.quiet = filepath.Join(dir, "verdicts.parquet"), "allow", "off", true
	if b.plan, err = newPlan(a, std); err == nil {
		err = b.check(a)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return b, nil
}

// A benchRun is a run of the command bench.
type benchRun struct {
	*plan
	dir    string // for the output, removed at the end
	rounds int
	in     []string
	job    measure.Job
	doubts []doubt.Doubt // about what was decided, so that the figures may say nothing of matching
}

// check checks that all inputs can be read again and again, and sets the job.
func (b *benchRun) check(a *args) error {
	b.in = b.files.Names()
	for _, in := range b.logs.Inputs() {
		switch {
		case in.Name == say.Std:
			return cli.Usage("-in: standard input can be read only once: write it to a file first")
		case in.Size < 0:
			return cli.Usage("-in: %s can be read only once: write it to a file first", say.File(in.Name))
		}
	}
	b.Quiet = false
	b.job = measure.Job{
		Rules: b.responses, Logs: b.open, Sink: b.create, Store: b.storeOpt, Workers: []int{1, 0},
		Pack: b.rules.Pack(),
		Ran: func(store *engine.Store, s engine.Stats) {
			b.doubts = append(doubtAgents(&b.storeOpt, store), summary.Doubts(store, &s, "nothing was matched: no line is a URL with a scheme and a host: name what the lines are with -format, or their site with -base", summary.Sum(b.logs.Counts().Refused))...)
		},
	}
	if memory.IsLargePack(b.job.Pack) {
		b.job.Store.MaxMemory = memory.LargePackLimit
	}
	if a.workers > 0 {
		b.job.Workers = []int{a.workers}
	}
	return b.logs.Close()
}

func (b *benchRun) responses() (iter.Seq2[robots.Response, error], error) {
	return b.rules.Files.Responses(), nil
}

func (b *benchRun) open() (_ engine.Source, err error) {
	b.logs, err = ingest.OpenLogs(b.in, b.logOpt) // of the last run, for its counts
	return b.logs, err
}

func (b *benchRun) create(store *engine.Store) (measure.Sink, error) {
	return output.Create(b.outName, nil, store, b.outOpt)
}

// Drop removes the output.
func (b *benchRun) Drop() (committed bool, err error) { return false, os.RemoveAll(b.dir) }

// Targets returns that of the lines.
func (b *benchRun) Targets() (out, last string) { return say.Std, say.Std }

// Run measures, and prints the lines as they come.
func (b *benchRun) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	w := console.NewWriter(b.Out)
	err = b.job.Measure(ctx, w, b.rounds)
	switch {
	case w.Err != nil:
		return console.OutError(w.Err)
	case errors.Is(err, measure.ErrNoURLs):
		return fmt.Errorf("%s: %w", b.logNames(), err)
	case err == nil:
		err = b.doubtRules()
		b.DoubtOnce(b.doubts)
	}
	return load.NamePack(b.job.Pack, err)
}

// logNames returns what to call the logs in a message.
func (b *benchRun) logNames() string {
	if len(b.in) == 1 {
		return say.File(b.in[0])
	}
	return say.Count(int64(len(b.in)), "log")
}

// doubtRules tells of what is wrong with the rules.
func (b *benchRun) doubtRules() error {
	if b.job.Pack != "" {
		store, err := engine.OpenPack(b.job.Pack, b.job.Store)
		if err != nil {
			return err
		}
		if err := errors.Join(b.rules.ReadNotes(store), store.Close()); err != nil {
			return err
		}
	}
	b.rules.Doubt(&b.Console)
	return nil
}
