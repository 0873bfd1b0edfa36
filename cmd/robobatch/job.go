package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output"
)

// planJob plans the main job.
func planJob(a *args, std streams) (guard.Task, error) {
	p, err := newPlan(a, std)
	if err != nil {
		return nil, err
	}
	return newJob(p), nil
}

// A job is a plan that runs.
type job struct {
	*plan
	out   verdictSink
	times summary.Times
	store *engine.Store
	temp  atomic.Pointer[atomicfile.Temp] // the pack that files were compiled into; nil if there is none

	files atomic.Int64 // rules files read so far
	urls  atomic.Int64 // URLs read so far
}

func newJob(p *plan) *job {
	j := &job{plan: p, times: summary.Times{Started: time.Now()}}
	j.out.Name, j.out.list.Name, j.out.limit = p.outName, p.rejects, p.limit
	return j
}

// Drop drops the output. The list of rejects is dropped with it, if it is not complete, and the rules, where they have a name.
func (j *job) Drop() (committed bool, err error) {
	committed, err = j.out.Drop()
	if temp := j.temp.Load(); !committed && temp != nil && temp.Named() {
		err = errors.Join(err, temp.Remove())
	}
	if !committed && j.rejects != "" {
		_, errList := j.out.list.Drop()
		err = errors.Join(err, errList)
	}
	return committed, err
}

// Targets returns the names of the output and of the statistics.
func (j *job) Targets() (out, last string) { return j.outName, j.statsName }

// Run compiles the rules, takes the logs through them, completes the output and reports. If it fails before it comes to
// report, with no [*faultError], no output is left.
func (j *job) Run(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(err, j.out.Close(), j.out.list.Close(), j.logs.Close(), j.unload())
	}()
	for _, note := range j.notes {
		j.note("%s", note)
	}
	if err := j.load(ctx); err != nil {
		return err
	}
	j.outOpt.Cancel = ctx.Done()
	err = j.out.open(j.outOpt.Inputs, func() (*output.File, error) {
		f, err := output.Create(j.outName, j.std.out, j.store, j.outOpt)
		if err == nil {
			j.asked.Describe(f)
		}
		return f, err
	})
	if err != nil {
		return err
	}
	counts, err := j.evaluate(ctx)
	r := summary.New(summary.Source{
		Asked: j.asked, Version: j.outOpt.Version, Store: j.store, Rules: j.rules, Logs: j.logs, Stats: counts,
	})
	if err == nil {
		noteNothing(&j.voice, r)
		noteTimes(&j.voice, r)
	}
	if err = j.complete(r, err); err != nil {
		if _, ok := errors.AsType[*faultError](err); !ok || r.Counts.Incomplete {
			return err
		}
	}
	return errors.Join(j.report(r), err)
}

// complete completes the output: all of it, or what comes before the error that ended the run. That is a fault of the
// logs, of which complete makes a [*faultError], as it does of a limit that was passed, or one that leaves nothing.
func (j *job) complete(r *summary.Report, err error) error {
	if err == nil {
		err = j.limit.check(j.out.rejected.Load(), r.Counts.Lines(), true)
	}
	if source, ok := errors.AsType[*engine.SourceError](err); ok {
		err = j.keep(source.Err, r)
	} else if sink, ok := errors.AsType[*engine.SinkError](err); ok && isPolicy(sink.Err) {
		r.Counts.Incomplete = true
		err = j.keep(sink.Err, r)
	} else if isPolicy(err) {
		err = j.keep(err, r)
	} else if err == nil {
		err = j.commit(r)
	}
	if _, ok := errors.AsType[*faultError](err); err == nil || ok {
		err = errors.Join(err, j.out.commitList())
	}
	return err
}

// evaluate takes the logs through the rules.
func (j *job) evaluate(ctx context.Context) (engine.Stats, error) {
	defer j.watch("URLs", func() progress.Sample {
		done, total := j.logs.Progress()
		return progress.Sample{Done: done, Total: total, URLs: j.urls.Load(), Bytes: true}
	})()
	src := &source{Logs: j.logs, urls: &j.urls, needsAgents: j.asked.AgentFromLog}
	if j.asked.ByRow() {
		src.noTimes = errNoTimes
	} else if j.logOpt.Fields.Times {
		src.noTimes = errNoDates
	}
	return engine.Run(ctx, j.store, src, &j.out, j.runOpt)
}

// commit completes the output.
func (j *job) commit(r *summary.Report) error {
	return j.out.Commit(func(f *output.File) error {
		r.Describe(f, j.outOpt.Format)
		err := f.Commit()
		r.Written(f, j.outName)
		return err
	})
}

// keep completes what was written before a fault of the logs, and returns the fault.
func (j *job) keep(fault error, r *summary.Report) error {
	fault = remedied(fault)
	r.Fault = fault.Error()
	e := &faultError{Err: fault, Where: j.asked.Where, Out: j.outName}
	err := j.out.Commit(func(f *output.File) (err error) {
		e.Rows = f.Rows()
		r.Describe(f, j.outOpt.Format)
		if e.Rows == 0 && j.outName != stdName {
			err = f.Abort()
		} else {
			e.Kept, err = f.Fault()
		}
		if err == nil {
			r.Written(f, e.Kept)
		}
		return err
	})
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		e.Kept, e.Lost = "", err
	}
	return e
}

// report prints the summary and writes the statistics.
func (j *job) report(r *summary.Report) error {
	r.Measure(j.times)
	j.print(r.String())
	if j.statsName == "" {
		return nil
	}
	if err := r.Save(j.statsName, j.std.out); err != nil {
		return fmt.Errorf("-stats: %w", err)
	}
	return nil
}
