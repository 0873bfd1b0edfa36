package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/pipe"
)

// A pipeArgs is the flags of the command pipe: those of the main job that say what is asked, and some of its own.
type pipeArgs struct {
	args
	urlColumn string
	prefix    string
	pool      bool
}

// pipeFlags returns the flags, which set a. Their help is pipeHelp.
func pipeFlags(a *pipeArgs) *flag.FlagSet {
	fs := flag.NewFlagSet("robobatch pipe", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("rules", "", once(&a.rules, "put all robots.txt into one directory"))
	fs.Func("origin", "", once(&a.origin, "one file is the robots.txt of one origin"))
	fs.StringVar(&a.urlColumn, "url-column", "url", "")
	fs.Func("agent", "", splitAgents(&a.agents))
	a.reading.define(fs)
	fs.StringVar(&a.missing, "missing", "allow", "")
	fs.BoolVar(&a.urlAsIs, "url-as-is", false, "")
	fs.StringVar(&a.columns, "columns", "", "")
	fs.StringVar(&a.prefix, "prefix", "", "")
	fs.BoolVar(&a.pool, "pool", false, "")
	fs.IntVar(&a.workers, "workers", 0, "")
	fs.Func("max-memory", "", given(&a.maxMemory, "write 256MiB, 1GiB or none"))
	fs.BoolVar(&a.quiet, "quiet", false, "")
	return fs
}

// pipeVerdicts is the command pipe.
func pipeVerdicts(arguments []string, std streams) error {
	var a pipeArgs
	fs := pipeFlags(&a)
	switch err := parse(fs, arguments); {
	case errors.Is(err, flag.ErrHelp):
		return printHelp(pipeHelp, std)
	case err != nil:
		return err
	case fs.NArg() > 0:
		return usage("unexpected argument %q: pipe takes flags only, and rows on standard input: see robobatch pipe -h", fs.Arg(0))
	case a.rules == "":
		return usage("-rules is missing: name a pack of rules (robobatch compile makes one), or a directory of robots.txt files")
	}
	r, err := newPipeRun(&a, std)
	if err != nil {
		return err
	}
	return underSignals(r)
}

// A pipeRun is a run of the command pipe: a job whose rows come from standard input, and go to standard output.
type pipeRun struct {
	*job
	opt pipe.Options
}

// newPipeRun checks the flags, and finds the rules.
func newPipeRun(a *pipeArgs, std streams) (*pipeRun, error) {
	p := &plan{voice: voice{std: std, quiet: a.quiet, progress: progressOff}, asked: a.record(), outName: stdName}
	r := &pipeRun{newJob(p), pipe.Options{URLColumn: a.urlColumn, Prefix: a.prefix, NoEnd: a.pool, Workers: a.workers}}
	errs := parts(p.chooseQuestion(&a.args))
	if a.reading.byRow() {
		errs = append(errs, usage("-as-of: rows of a stream have no times that are read: name a moment, as in 2026-01-31"))
	}
	var err error
	if r.opt.Columns, err = output.ParseVerdictColumns(a.columns); err != nil {
		for _, err := range parts(withColumnHints(err)) {
			errs = append(errs, usage("-columns: %w", err))
		}
	}
	if agents := p.storeOpt.Agents; len(agents) > 1 {
		if _, err := (output.Options{Layout: output.Wide, Columns: r.opt.Columns}).ColumnNames(agents); err != nil && len(errs) == 0 {
			errs = append(errs, usage("-agent: %w", err))
		}
	}
	p.storeOpt.Canonical = slices.Contains(r.opt.Columns, output.CanonicalURL)
	if err := checkWorkers(a.workers); err != nil {
		errs = append(errs, usage("-workers: %w", err))
	}
	if p.storeOpt.MaxMemory, err = parseMemory(a.maxMemory); err != nil {
		errs = append(errs, usage("-max-memory: %w", err))
	}
	r.opt.Workers = p.fitWorkers(a.workers, a.maxMemory)
	p.storeOpt.Workers = r.opt.Workers
	if isTerminal(std.in) {
		errs = append(errs, usage("standard input is a terminal: send an Arrow stream to it, as in: … | robobatch pipe -rules rules.rbp | …"))
	}
	if isTerminal(std.out) {
		errs = append(errs, usage("standard output is a terminal, and an Arrow stream is not text: redirect it"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p.rules, err = ingest.Rules(a.rules, a.origin)
	return r, err
}

// drop removes what is not standard output.
func (r *pipeRun) drop() (committed bool, err error) { return r.job.drop() }

// run takes standard input through the rules.
func (r *pipeRun) run(ctx context.Context) (err error) {
	for _, note := range r.notes {
		r.note("%s", note)
	}
	if err := r.load(ctx); err != nil {
		return errors.Join(err, r.unload())
	}
	out := &stdoutWriter{w: r.std.out, failed: make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, err := pipe.Run(ctx, r.store, r.std.in, out, r.opt)
		done <- errors.Join(err, r.unload())
	}()
	select {
	case err = <-done:
	case <-out.failed: // it may be that nothing more comes in, either
		select {
		case err = <-done:
		case <-time.After(grace):
		}
	}
	if out.err != nil {
		return stdoutError(out.err)
	}
	if _, ok := errors.AsType[*pipe.StreamError](err); ok {
		return fmt.Errorf("standard input: %w", err)
	}
	return err
}

// A stdoutWriter says when it fails.
type stdoutWriter struct {
	w      io.Writer
	failed chan struct{} // is closed then
	err    error         // the first one
}

// Write writes.
func (f *stdoutWriter) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil && f.err == nil {
		f.err = err
		close(f.failed)
	}
	return n, err
}
