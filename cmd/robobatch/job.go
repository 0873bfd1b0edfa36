package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output"
)

// A job is a plan that is being run.
type job struct {
	*plan
	out     verdictSink
	dst     rejectSink // of out
	started time.Time
	loaded  time.Time     // when the rules were compiled
	loadCPU time.Duration // processor time until then
	store   *engine.Store
	temp    atomic.Pointer[atomicfile.Temp] // the pack that files were compiled into; nil if there is none

	files atomic.Int64 // rules files read so far
	urls  atomic.Int64 // URLs read so far
}

func newJob(p *plan) *job {
	j := &job{plan: p, out: verdictSink{sink[*output.File]{name: p.outName}}, started: time.Now()}
	j.dst.verdictSink, j.dst.file.name, j.dst.limit = &j.out, p.rejects, p.limit
	return j
}

// drop drops the output. The list of rejects is dropped with it, if it is not complete, and the rules, where they have a name.
func (j *job) drop() (committed bool, err error) {
	committed, err = j.out.drop()
	if temp := j.temp.Load(); !committed && temp != nil && temp.Named() {
		err = errors.Join(err, temp.Remove())
	}
	if !committed && j.rejects != "" {
		_, errList := j.dst.file.drop()
		err = errors.Join(err, errList)
	}
	return committed, err
}

func (j *job) targets() (out, last string) { return j.outName, j.statsName }

// A faultError is a fault in the middle of the logs.
type faultError struct {
	Err   error  // what is wrong, and where
	Rows  int64  // of the output, before the fault
	Where string // which rows are written; "" is all
	Out   string // name of the output that was asked for
	Kept  string // name of the one that has the rows; "" if there are none
	Lost  error  // why the rows could not be kept; nil if they were
}

// Error says what is wrong and what became of the rows before it.
func (e *faultError) Error() string {
	switch {
	case e.Lost != nil:
		return fmt.Sprintf("%v\nthe rows before that could not be kept: %v", e.Err, e.Lost)
	case e.Kept == "" && e.Where != "":
		return fmt.Sprintf("%v\nno row that -where %s asks for comes before that, so nothing was written", e.Err, e.Where)
	case e.Kept == "":
		return fmt.Sprintf("%v\nno row comes before that, so nothing was written", e.Err)
	case e.Kept == e.Out:
		return fmt.Sprintf("%v\nthe %s before that are complete in %s", e.Err, plural(e.Rows, "row"), display(e.Kept))
	}
	return fmt.Sprintf("%v\nthe %s before that are complete in %s; %s was not written",
		e.Err, plural(e.Rows, "row"), display(e.Kept), display(e.Out))
}

// Unwrap returns what is wrong.
func (e *faultError) Unwrap() error { return e.Err }

// run compiles the rules, takes the logs through them, completes the output and reports. If it fails before it comes to
// report, with no [*faultError], no output is left.
func (j *job) run(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(err, j.out.Close(), j.dst.file.Close(), j.logs.Close(), j.unload())
	}()
	for _, note := range j.notes {
		j.note("%s", note)
	}
	if err := j.load(ctx); err != nil {
		return err
	}
	j.outOpt.Cancel = ctx.Done()
	if err := j.out.create(func() (*output.File, error) {
		f, err := output.Create(j.outName, j.std.out, j.store, j.outOpt)
		if err == nil {
			j.asked.describe(f)
		}
		return f, err
	}); err != nil {
		return err
	}
	if err := j.dst.open(j.outOpt.Inputs); err != nil {
		return err
	}
	counts, err := j.evaluate(ctx)
	r := newReport(j, counts)
	if err == nil {
		j.noteNothing(r)
		j.noteTimes(r)
	}
	if err = j.complete(r, err); err != nil {
		if _, ok := errors.AsType[*faultError](err); !ok || r.Counts.incomplete {
			return err
		}
	}
	return errors.Join(j.report(r), err)
}

// complete completes the output: all of it, or what comes before the error that ended the run. That is a fault of the
// logs, of which complete makes a [*faultError], as it does of a limit that was passed, or one that leaves nothing.
func (j *job) complete(r *report, err error) error {
	if err == nil {
		err = j.limit.check(j.dst.count.Load(), r.Counts.lines(), true)
	}
	if source, ok := errors.AsType[*engine.SourceError](err); ok {
		err = j.keep(source.Err, r)
	} else if sink, ok := errors.AsType[*engine.SinkError](err); ok && isPolicy(sink.Err) {
		r.Counts.incomplete = true
		err = j.keep(sink.Err, r)
	} else if isPolicy(err) {
		err = j.keep(err, r)
	} else if err == nil {
		err = j.commit(r)
	}
	if _, ok := errors.AsType[*faultError](err); err == nil || ok {
		err = errors.Join(err, j.dst.commit())
	}
	return err
}

// isPolicy reports whether an error is a policyError.
func isPolicy(err error) bool {
	_, ok := errors.AsType[*policyError](err)
	return ok
}

// describe puts the flags into the output's metadata.
func (a asked) describe(f *output.File) {
	f.SetMetadata("robobatch.missing", a.Missing)
	f.SetMetadata("robobatch.url_as_is", strconv.FormatBool(a.URLAsIs))
	f.SetMetadata("robobatch.limit", strconv.FormatInt(a.Limit, 10))
	f.SetMetadata("robobatch.layout", a.Layout)
	if a.Where != "" {
		f.SetMetadata("robobatch.where", a.Where)
	}
	if a.AgentFromLog {
		f.SetMetadata("robobatch.agent_from_log", "true")
		f.SetMetadata("robobatch.unknown_agents", a.UnknownAgents)
		f.SetMetadata("robobatch.ua_field", a.UAField)
	}
	if a.byRow() {
		f.SetMetadata("robobatch.time_field", a.TimeField)
	}
	for _, pair := range slices.Concat(a.reading.metadata(), a.inputForm.metadata()) {
		f.SetMetadata(pair[0], pair[1])
	}
}

// evaluate takes the logs through the rules.
func (j *job) evaluate(ctx context.Context) (engine.Stats, error) {
	defer j.watch("URLs", func() sample {
		done, total := j.logs.Progress()
		return sample{done, total, j.urls.Load(), true}
	})()
	src := &source{Logs: j.logs, urls: &j.urls, needsAgents: j.asked.AgentFromLog}
	if j.asked.byRow() {
		src.noTimes = errNoTimes
	} else if j.logOpt.Fields.Times {
		src.noTimes = errNoDates
	}
	return engine.Run(ctx, j.store, src, &j.dst, j.runOpt)
}

// errNoDates is the error of a log that -partition-by date finds no days in.
var errNoDates = errors.New("-partition-by date: this log has no field with the time: name it with -time-field, or leave date out")

// A source is logs whose rows are counted.
type source struct {
	*ingest.Logs
	urls        *atomic.Int64
	needsAgents bool  // rows without User-Agents are a fault
	noTimes     error // of rows of a log without times; nil if these are not needed
	fault       error // of rows that lack them
}

// Next fills b with the next rows.
func (s *source) Next(b *engine.Batch) bool {
	if s.fault != nil || !s.Logs.Next(b) {
		return false
	}
	if s.needsAgents && b.Len() > 0 && len(b.UserAgents) == 0 {
		s.fault = errNoUserAgents
		return false
	}
	if s.noTimes != nil && b.Len() > 0 && len(b.Times) == 0 {
		s.fault = fmt.Errorf("%s: %w", s.Inputs()[b.Input].Name, s.noTimes)
		return false
	}
	s.urls.Add(int64(b.Len()))
	return true
}

// Err returns what broke the rows off.
func (s *source) Err() error {
	if s.fault != nil {
		return s.fault
	}
	return s.Logs.Err()
}

// commit completes the output.
func (j *job) commit(r *report) error {
	return j.out.use(func() error {
		r.describe(j.out.file, j.outOpt.Format)
		err := j.out.file.Commit()
		j.out.committed = err == nil
		r.written(j.out.file, j.outName)
		return err
	})
}

// keep completes what was written before a fault of the logs, and returns the fault.
func (j *job) keep(fault error, r *report) error {
	fault = remedied(fault)
	return j.out.use(func() (err error) {
		f := j.out.file
		e := &faultError{Err: fault, Rows: f.Rows(), Where: j.asked.Where, Out: j.outName}
		r.Fault = fault.Error()
		r.describe(f, j.outOpt.Format)
		if e.Rows == 0 && j.outName != stdName {
			err = f.Abort()
		} else {
			e.Kept, err = f.Fault()
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			e.Kept, e.Lost = "", err
			return e
		}
		j.out.committed = true
		r.written(f, e.Kept)
		return e
	})
}

// report prints the summary and writes the statistics.
func (j *job) report(r *report) error {
	r.measure(j)
	if !j.quiet {
		r.print(j.std.err)
	}
	if j.statsName == "" {
		return nil
	}
	return r.save(j.statsName, j.std.out)
}
