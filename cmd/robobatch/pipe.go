package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/pipe"
)

// A pipeRun is a run of the command pipe: a job whose rows come from standard input, and go to
// standard output.
type pipeRun struct {
	*job
	opt       pipe.Options
	perStream bool // streams have their own doubts
	streams   int  // that have ended, if so
}

// planPipe checks the flags of the command pipe, and finds the rules.
func planPipe(a *args, std console.Streams) (guard.Task, error) {
	p := &plan{Console: console.Console{Streams: std, Quiet: a.quiet, Progress: progress.Off}, asked: a.Asked, outName: say.Std, rules: &load.Rules{}}
	r := &pipeRun{job: newJob(p), opt: pipe.Options{URLColumn: a.urlColumn, Prefix: a.prefix, NoEnd: a.pool}, perStream: a.perStream}
	faults := a.faults
	var err error
	p.storeOpt = chooseQuestion(a, &faults)
	if a.ByRow() {
		faults.Add("as-of", errors.New("rows of a stream have no times that are read: name a moment, as in 2026-01-31"))
	}
	r.opt.Columns, err = output.ParseVerdictColumns(a.columns)
	faults.Add("columns", withColumnHints(err))
	if agents := p.storeOpt.Agents; len(agents) > 1 && faults.None() {
		_, err := (output.Options{Layout: output.Wide, Columns: r.opt.Columns}).ColumnNames(agents)
		faults.Add("agent", err)
	}
	p.storeOpt.Directives = output.NeedsOf(r.opt.Columns...).Directives
	faults.Add("workers", memory.CheckWorkers(a.workers))
	faults.Add("max-memory", p.chooseMemory(a, nil))
	p.hints = agentHints(a, p.storeOpt.Dialect, p.storeOpt.Agents)
	if progress.IsTerminal(std.In) {
		faults.Add("", errors.New("standard input is a terminal: send an Arrow stream to it, as in: … | robobatch pipe -rules rules.rbp | …"))
	}
	if progress.IsTerminal(std.Out) {
		faults.Add("", errors.New("standard output is a terminal, and an Arrow stream is not text: redirect it"))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p.rules.AcceptDamage = a.acceptDamage
	err = p.rules.Find(a.rules, a.origin)
	if err == nil {
		err = p.divideMemory()
	}
	r.opt.Workers = p.runOpt.Workers
	return r, err
}

// Run takes standard input through the rules.
func (r *pipeRun) Run(ctx context.Context) (err error) {
	if err := r.load(ctx); err != nil {
		return errors.Join(err, r.unload())
	}
	if r.perStream {
		always := r.Doubts
		r.opt.Ended = func(stats engine.Stats) { r.endStream(always, &stats) }
	}
	out := console.NewWriter(r.Out)
	done := make(chan error, 1)
	go func() {
		stats, err := pipe.Run(ctx, r.store, r.In, out, r.opt)
		if err == nil {
			r.doubt(&stats)
		}
		done <- errors.Join(err, r.unload())
	}()
	select {
	case err = <-done:
	case <-out.Failed: // it may be that nothing more comes in, either
		select {
		case err = <-done:
		case <-time.After(guard.Grace):
		}
	}
	if out.Err != nil {
		return console.OutError(out.Err)
	}
	if _, ok := errors.AsType[*pipe.StreamError](err); ok {
		return fmt.Errorf("standard input: %w", err)
	}
	return err
}

// doubt prints the doubts about what came of rows.
func (r *pipeRun) doubt(stats *engine.Stats) {
	r.DoubtOnce(summary.Doubts(r.store, stats, "no row has a URL with a scheme and a host: name the column of the URLs with -url-column", 0))
}

// endStream prints the doubts about a stream, those that there are whatever comes included, and
// then that it has ended. So whoever sends several streams knows which doubts are whose.
func (r *pipeRun) endStream(always []doubt.Doubt, stats *engine.Stats) {
	if r.streams++; r.streams > 1 {
		r.Doubts = nil
		r.DoubtOnce(always)
	}
	r.doubt(stats)
	fmt.Fprintf(r.Err, "robobatch: end of stream %d\n", r.streams) //nolint:errcheck // there is nowhere left to say it
}
