package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/coverage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// A coverageRun is a run of the command coverage.
type coverageRun struct {
	*plan
	guard.Sink[place.Output] // of -out
	store                    *engine.Store
	opt                      coverage.Options
	format                   coverage.Format // of -out
	form                     string
	page                     coverage.Page
}

// coverageBy are the values of -by of the command coverage.
var coverageBy = []string{"agent"}

// planCoverage checks the flags of the command coverage, and finds its inputs.
func planCoverage(a *args, std console.Streams) (guard.Task, error) {
	p := &plan{Console: console.Console{Streams: std, Quiet: a.quiet}, rules: &load.Rules{}, situation: situation{forCoverage, a.origin}}
	r := &coverageRun{plan: p, form: a.print, page: coverage.Page{All: a.allRules}}
	faults, input := a.faults, cli.Faults{}
	p.storeOpt = chooseQuestion(a, &faults)
	p.logOpt, _ = chooseInput(a, &input)
	p.logOpt.Stdin, p.logOpt.Fields.Times, p.logOpt.VerifiedOnly = p.In, true, a.verifiedOnly
	faults.Add("", input.Err())
	_, err := cli.Choose("form", a.print, coverage.Forms)
	faults.Add("print", err)
	if a.by != "" {
		_, err = cli.Choose("key", a.by, coverageBy)
		faults.Add("by", err)
		r.opt.ByAgent = true
	}
	if r.Name = a.out; a.out != "" {
		r.format, err = coverage.FormatOf(a.out)
		faults.Add("out", err)
	}
	checkWork(a, &faults)
	p.memory.Coverage = true
	faults.Add("max-memory", p.chooseMemory(a, nil))
	faults.Add("progress", p.SetProgress(a.progress))
	p.hints = agentHints(a, p.storeOpt.Dialect, p.storeOpt.Agents)
	p.asked = recordOf(a, &p.outOpt)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return r, r.find(a)
}

// find finds the inputs, and checks the name of the output.
func (r *coverageRun) find(a *args) error {
	var errLogs, errOut error
	r.logOpt.TempDir = load.TempDir(cmp.Or(a.out, "."))
	r.files, errLogs = findLogs(a.in, r.In)
	r.memory.Window = windowOf(r.files, r.memory.Limit)
	errRules := r.findRules(a)
	if errRules == nil {
		r.page.File = r.rules.Single()
		errRules = r.divide()
	}
	if errLogs != nil {
		return errors.Join(errLogs, errRules)
	}
	r.logs, errLogs = ingest.OpenLogs(r.files.Names(), r.logOpt)
	if errLogs == nil && errRules == nil && r.Name != "" {
		errOut = targets.CheckOut(r.Name, targets.Inputs{Path: a.rules, Logs: r.logs.Inputs(), Rules: r.rules.Files})
	}
	return errors.Join(errLogs, errRules, errOut)
}

// divide divides the limit of memory: half of it is for counts, and the run has the rest.
func (r *coverageRun) divide() error {
	if err := r.divideMemory(); err != nil {
		return err
	}
	if limit := r.memory.Limit; limit > 0 {
		r.opt.URLs, r.opt.Counts, r.opt.Matchers = limit*3/16, limit/4, limit/16
		r.storeOpt.MaxMemory = limit / 2
	}
	if r.runOpt.Workers == 0 {
		r.logOpt.Ahead = runtime.GOMAXPROCS(0)
	}
	return nil
}

// Drop drops the output, unless that is complete, and the temporary pack.
func (r *coverageRun) Drop() (committed bool, err error) {
	if r.Name != "" {
		if committed, err = r.Sink.Drop(); committed {
			return committed, err
		}
	}
	return committed, errors.Join(err, r.rules.Drop())
}

// Targets returns the name of the output.
func (r *coverageRun) Targets() (out, last string) {
	out = cmp.Or(r.Name, say.Std)
	return out, out
}

// Run takes the logs through the rules, and prints what these did.
func (r *coverageRun) Run(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(err, r.Close(), r.logs.Close())
		if r.store != nil {
			err = errors.Join(err, r.store.Close())
		}
		err = errors.Join(err, r.rules.Close())
	}()
	for _, hint := range r.hints {
		r.Hint(hint)
	}
	r.DoubtOnce(doubtInputs(r.files))
	r.Hint(targets.Leftovers(r.Name))
	if r.Name != "" {
		if err := r.Create(func() (place.Output, error) { return place.Create(r.Name, nil) }); err != nil {
			return err
		}
	}
	r.store, err = r.rules.Store(ctx, r.storeOpt, load.TempDir(cmp.Or(r.Name, ".")), &r.Console)
	if err != nil {
		return err
	}
	switch {
	case r.memory.Limit > 0: // the store has set half of it
		debug.SetMemoryLimit(r.memory.Limit - memory.Program)
	case r.memory.Limit == 0 && memory.IsLargePack(r.rules.Pack()): // counts have no limit
		debug.SetMemoryLimit(math.MaxInt64)
	}
	r.rules.Doubt(&r.Console)
	r.DoubtOnce(doubtAgents(&r.storeOpt, r.store))
	c := coverage.NewCounter(r.store, r.opt)
	if err := r.count(ctx, c); err != nil {
		return err
	}
	for _, in := range r.logs.Inputs() {
		r.page.Inputs = append(r.page.Inputs, in.Name)
	}
	if r.Name != "" {
		if err := r.Commit(func(f place.Output) error {
			return errors.Join(c.WriteTable(f, r.format, version()), f.Commit())
		}); err != nil {
			return err
		}
	}
	return console.OutError(c.Print(r.Out, r.form, r.page))
}

// count takes the logs through the rules.
func (r *coverageRun) count(ctx context.Context, c *coverage.Counter) error {
	src := aim(new(flow.Source), r.logs, &r.asked)
	stop := r.Watch("URLs", src.Sample)
	stats, err := engine.Run(ctx, r.store, src, c, r.runOpt)
	stop()
	if sink, ok := errors.AsType[*engine.SinkError](err); ok {
		return sink.Err
	} else if err != nil {
		return err
	}
	if stats.URLs > 0 || stats.Skipped > 0 {
		_, err = r.doubtRows(r.store, stats)
	}
	if err == nil && stats.URLs == 0 {
		err = errNoRequests
	}
	return err
}

// errNoRequests is the error of logs without rows: what no request did is no coverage.
var errNoRequests = errors.New("the logs have no row, so nothing is known of the rules: check -in and -format")
