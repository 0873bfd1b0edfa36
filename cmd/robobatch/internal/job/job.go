// Package job implements the main job: it evaluates each URL of logs, and writes a row for it, to one output or to one
// output per input. The command bench measures such a run. Only cmd/robobatch imports it.
package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/page"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
)

// A job is a plan being executed.
type job struct {
	*plan
	src   *pipeline.Source
	out   outputs.Sink
	stats process.Sink[storage.Output]
	set   outputs.Set
	times summary.Times
	dates bool // -partition-by date found no time in any row
}

func newJob(p *plan) *job {
	j := &job{plan: p, src: p.Source(), times: summary.Times{Started: time.Now()}}
	j.out.Name, j.out.List.Name, j.out.Limit = p.outName, p.rejects, p.limit
	j.stats.Name = p.statsName
	return j
}

// Drop removes what an interrupted run would leave: the incomplete output, list of rejects, statistics and page, and
// the temporary pack. If the output is already complete, only an incomplete page is removed. Any goroutine may call
// it.
func (j *job) Drop() (committed bool, err error) {
	_, errPage := j.page.Drop() // may be incomplete even if the output is complete
	if committed, err = j.out.Drop(); committed {
		return committed, errors.Join(err, errPage, j.set.End())
	}
	_, errList := j.out.List.Drop()
	_, errStats := j.stats.Drop()
	return false, errors.Join(err, j.Pipeline.Drop(), errPage, errList, errStats)
}

// Targets returns the names of the output, and of the file that is written last: the page or the statistics.
func (j *job) Targets() (out, last string) {
	return j.outName, cmp.Or(j.page.FileName(), j.statsName, j.outName)
}

// load prints hints and warnings about earlier runs, and prepares the rules. It records when they were ready.
func (j *job) load(ctx context.Context) error {
	j.Hints = append(j.Hints, outputs.Leftovers(j.outName, j.statsName, j.rejects, j.page.FileName()))
	j.WarnOnce(outputs.WarnMixed(j.outName, j.statsName, j.rejects, j.page.FileName()))
	err := j.Load(ctx, pipeline.TempDir(j.outName))
	j.times.Loaded = time.Now()
	j.times.LoadCPU = measure.CPU()
	if err == nil {
		j.WarnMoment()
	}
	return err
}

// close closes the logs, and drops incomplete outputs.
func (j *job) close() error {
	return errors.Join(j.out.Close(), j.out.List.Close(), j.Logs.Close(), j.page.Close())
}

// Run compiles the rules, evaluates the logs, completes the output, and prints the summary. If it fails before the
// summary with an error other than [*outputs.FaultError], no output is left.
func (j *job) Run(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(err, j.close(), j.stats.Close(), j.Unload(), j.set.End())
	}()
	if j.statsName != "" && !isPipe(j.statsName) { // open a named pipe only at the end: its reader may first wait for the output
		if err := j.stats.Create(j.createStats); err != nil {
			return fmt.Errorf("-stats: %w", err)
		}
	}
	if err := j.page.Begin(); err != nil {
		return err
	}
	if err := j.load(ctx); err != nil {
		return err
	}
	j.page.Open(&j.Pipeline, false)
	r, err := j.decide(ctx)
	if r == nil {
		return err
	}
	if err == nil {
		err = j.page.End()
	}
	if err == nil && j.statsName != "" {
		err = r.RecordFiles(j.rejects, j.page.FileName())
	}
	return errors.Join(j.report(r), err)
}

// decide evaluates the logs, and completes the output. The report is nil if the run has no result to report; then the
// error says why. With a report, the error is nil or an [*outputs.FaultError].
func (j *job) decide(ctx context.Context) (*summary.Report, error) {
	j.outOpt.Cancel = ctx.Done()
	err := j.out.Open(j.outOpt.Inputs, func() (*output.File, error) {
		f, err := output.Create(j.outName, j.Out, j.Now.Store, j.outOpt)
		if err == nil {
			j.Describe(f)
		}
		return f, err
	})
	if err != nil {
		return nil, err
	}
	if !j.Asked.ByRow() && j.outOpt.Needs().Times {
		j.src.NoTimes = pipeline.ErrNoDates
	}
	err = j.Take(ctx, j.src, j.page.With(&j.out))
	j.dates = errors.Is(j.src.NoTimes, pipeline.ErrNoDates) && !j.src.Dated
	r := j.Summary()
	if err == nil {
		r.Warnings = append(r.Warnings, j.warnings(r)...)
	}
	if err = j.complete(ctx, r, err); err != nil {
		if _, ok := errors.AsType[*outputs.FaultError](err); !ok || r.Counts.Incomplete {
			return nil, err
		}
	}
	return r, err
}

// complete completes the output: all of it if err is nil, or the rows before err, the error that ended the run. It
// returns an [*outputs.FaultError] for a fault in the logs if rows are kept, and if a complete run exceeds a limit or
// fails a requirement.
func (j *job) complete(ctx context.Context, r *summary.Report, err error) error {
	atEnd := err == nil
	if atEnd {
		if err = j.limit.Check(j.out.Rejected.Load(), r.Counts.Lines(), true); err == nil {
			err = j.require.Check(r.Rows())
		}
	}
	if j.series == nil { // a series records each output
		if err := j.set.Begin(j.outName, j.rejects, j.page.FileName(), j.statsName); err != nil {
			return err
		}
	}
	if source, ok := errors.AsType[*engine.SourceError](err); ok {
		err = j.keepRows(&outputs.FaultError{Err: source.Err}, r)
	} else if sink, ok := errors.AsType[*engine.SinkError](err); ok && outputs.IsPolicy(sink.Err) {
		r.Counts.Incomplete = true
		err = j.keepRows(&outputs.FaultError{Err: sink.Err}, r)
	} else if atEnd && outputs.IsJudgement(err) {
		err = j.keepRows(&outputs.FaultError{Err: err, AtEnd: true}, r)
	} else if err == nil {
		err = j.commit(ctx, r)
	}
	if _, ok := errors.AsType[*outputs.FaultError](err); err == nil || ok {
		err = errors.Join(err, j.out.CommitList())
	}
	return err
}

// warnings returns the warnings about the rows of the logs. Faults that complete reports as errors are not repeated.
func (j *job) warnings(r *summary.Report) []warning.Warning {
	all := r.Warn()
	if j.series != nil {
		all = append(all, j.WarnIndexes()...)
	}
	if j.dates && r.Counts.URLs > 0 {
		text := "-partition-by date: no row has a valid time, so all rows are in the partition without a date: name the time field with -field time=name"
		all = append(all, warning.Warning{Code: warning.NoTimes, Text: text, Count: r.Counts.URLs})
	}
	if j.limit.IsNone() && !j.require.AllowBad {
		lines := j.out.Rejected.Load()
		if j.outOpt.Where&output.WhereBad != 0 { // -where includes rows with invalid URLs
			lines = summary.Sum(r.Counts.Refused)
		}
		all = append(all, r.WarnRejected(lines, "list them with -rejects")...)
	}
	return slices.DeleteFunc(all, func(d warning.Warning) bool {
		if d.Code == warning.NoRows && j.LogOpt.Part != (ingest.Part{}) { // a part may have no rows
			return true
		}
		return d.Code == warning.NoURLs && !j.require.AllowBad || d.Code == warning.NoRows && j.require.Rows && r.Counts.Skipped == 0
	})
}

// commit completes the output, and then makes the page. Only if both succeed does the output get its name.
func (j *job) commit(ctx context.Context, r *summary.Report) error {
	err := j.out.Use(func(f *output.File) error {
		r.Describe(f, j.outOpt.Format)
		err := f.Complete()
		r.WarnFormulas(f)
		return err
	})
	if err == nil {
		err = j.page.Make(ctx, page.Result{Pipeline: &j.Pipeline, Summary: r})
	}
	if err != nil {
		return err
	}
	return j.out.Commit(func(f *output.File) error {
		err := f.Commit()
		r.RecordOutput(f, j.outName)
		if runs := f.Finished(); len(runs) > 0 {
			text := "an earlier run was stopped while it moved files into " + msg.File(j.outName) + "; its output is now complete, and its logs are listed below"
			r.Warnings = append(r.Warnings, warning.Warning{Code: warning.StoppedRun, Text: text, Count: int64(len(runs)), Examples: runs[:min(len(runs), warning.Examples)]})
		}
		return err
	})
}

// keepRows completes the rows before a fault, and returns e with the fields about them set, or the error of a
// cancelled run. It keeps no rows if there are none, in object storage, and with one output per input.
func (j *job) keepRows(e *outputs.FaultError, r *summary.Report) error {
	e.Err, e.Where, e.Out = j.remedies.Add(e.Err), j.Asked.Where, j.outName
	r.Fault = e.Err.Error()
	if at, ok := errors.AsType[*ingest.LineError](e.Err); ok && at.Unverified > 0 {
		r.Unverified = &summary.Unverified{Input: at.Name, FromLine: at.Unverified}
		e.Unverified = r.Unverified.String()
	}
	err := j.out.Commit(func(f *output.File) (err error) {
		e.Rows = f.Rows()
		r.Describe(f, j.outOpt.Format)
		if e.Aborted = storage.IsRemote(j.outName); e.Rows == 0 && j.outName != msg.Std || j.series != nil || e.Aborted {
			err = f.Abort()
		} else {
			e.Kept, err = f.Fault()
		}
		if err == nil {
			r.RecordOutput(f, e.Kept)
			r.WarnFormulas(f)
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

// report prints the summary with hints and warnings, and writes the statistics.
func (j *job) report(r *summary.Report) error {
	r.Measure(j.times)
	j.Print(r.Text(j.verbose))
	for _, hint := range hintsAbout(r) {
		j.Hint(hint.text)
	}
	j.HintLogs(r)
	j.WarnRest(r.Warnings)
	if j.statsName == "" {
		return nil
	}
	err := error(nil)
	if isPipe(j.statsName) {
		err = j.stats.Create(j.createStats)
	}
	if err == nil {
		err = j.stats.Commit(r.Save)
	}
	if err != nil && r.Output != "" {
		return fmt.Errorf("-stats: %w\n%s is complete", err, msg.File(r.Output))
	} else if err != nil {
		return fmt.Errorf("-stats: %w", err)
	}
	return nil
}

// A logHint is advice about a log, with its kind.
type logHint struct{ kind, text string }

// hintsAbout returns hints about unexpected properties of logs: URLs in a column without a known name, a second
// column of URLs, and rows that no checksum verified.
func hintsAbout(r *summary.Report) (hints []logHint) {
	for _, in := range r.Inputs {
		if in.Field != "" {
			hints = append(hints, logHint{"field", fmt.Sprintf("%s: no column has a known name for URLs, so they are read from the column %q, which contains some; to choose another, use -field url=name", msg.File(in.Name), in.Field)})
		}
	}
	for _, in := range r.Inputs {
		if in.Other != "" {
			hints = append(hints, logHint{"other", fmt.Sprintf("%s: the columns %q and %q both contain URLs, and the first is read; to choose another, use -field url=name", msg.File(in.Name), in.Taken, in.Other)})
		}
	}
	if r.Unverified != nil && r.Fault == "" {
		hints = append(hints, logHint{"limit", "-limit ended the run before the checksum of the rows from " + r.Unverified.String() +
			" on, so they are not verified; without -limit, the run reads to the checksum"})
	}
	return hints
}

// createStats creates the file of the statistics.
func (j *job) createStats() (storage.Output, error) { return storage.Create(j.statsName, j.Out) }

// isPipe reports whether a name is that of a named pipe; false for descriptors such as /dev/fd/3.
func isPipe(name string) bool {
	info, err := os.Stat(name)
	return err == nil && atomicfile.Descriptor(name) < 0 && info.Mode()&os.ModeNamedPipe != 0
}

// A plan holds the checked flags and the inputs that were found, ready to run.
type plan struct {
	pipeline.Pipeline
	outName   string // "-" for standard output
	outOpt    output.Options
	statsName string      // file of the summary as JSON; "" means none
	rejects   string      // file of rejected lines; "" means none
	page      *page.Page  // page of -report; nil without it
	series    *seriesPlan // nil for a single output
	limit     outputs.RejectLimit
	require   outputs.Requirements
	verbose   bool // verbose summary
	remedies  warning.Remedies
}

// plan checks the flags and finds the inputs, without opening or writing a file. The error joins all faults of the
// flags, each a [cli.UsageError], or, if the flags are valid, all faults of the named files.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	p, err := g.newPlan(std, faults)
	switch {
	case err != nil:
		return nil, err
	case p.series != nil:
		s := &seriesRun{job: newJob(p), diff: map[string][]string{}}
		s.outName = p.series.dir.Name
		s.total = p.series.bytes
		return s, nil
	}
	return newJob(p), nil
}

// newPlan checks the flags, and finds the inputs. It is [given.plan] without the task.
func (g *given) newPlan(std console.Streams, faults cli.Faults) (*plan, error) {
	for _, name := range []*string{&g.table.Out, &g.stats, &g.rejects} {
		*name = outputs.StandardName(*name)
	}
	p := &plan{statsName: g.stats, rejects: g.rejects, verbose: g.Work.Verbose, remedies: warning.Remedies{Logs: true, Packs: true, Keeps: true, Origin: g.Origin}}
	if err := p.choose(g, std, faults); err != nil {
		return nil, err
	}
	return p, p.find(g)
}

// choose sets the options from the flags, without opening any file.
func (p *plan) choose(g *given, std console.Streams, faults cli.Faults) error {
	var input cli.Faults
	p.outOpt.Kept = p.Choose(&g.Flags, std, &faults, &input)
	if g.rejects == msg.Std {
		input.Add("rejects", errors.New("rejects cannot be written to standard output: name a file"))
	}
	p.limit, p.require = g.limits.Choose(&input, &faults)
	p.LogOpt.Raws, p.LogOpt.Fields.Need = g.rejects != "", g.Question.FromLog && !g.limits.AllowsBad()
	g.rows.choose(g.Question.FromLog, len(g.Sitemaps.Paths) > 0, &p.Now.Opt, &p.outOpt, &faults)
	faults.Add("", input.Err())
	if by, err := output.ParsePartition(g.storage.partitionBy); err == nil && slices.Contains(by, output.PartitionDate) {
		g.page.Zone.Used, p.outOpt.Location = true, g.page.Zone.Location(&faults)
	}
	p.page = page.NewBeside(&g.page, &g.Flags, "", &p.Pipeline, &faults)
	file := g.table.Out
	if p.series = chooseSeries(g, &faults); p.series != nil {
		file = ""
	}
	if g.storage.partitionBy != "" {
		file = ""
		var err error
		if p.outOpt.Partition, err = output.ParsePartition(g.storage.partitionBy); err != nil {
			faults.Add("partition-by", err)
			p.outOpt.Partition = nil
		}
		if storage.IsRemote(g.table.Out) && !outputs.IsDir(g.table.Out) {
			faults.Add("partition-by", fmt.Errorf("-out %[1]s names an object: end it with /, as in %[1]s/", g.table.Out))
		} else if g.table.Out == msg.Std {
			faults.Add("partition-by", errors.New("standard output cannot hold partitions: name a directory with -out"))
		} else if _, err := output.FormatOf(g.table.Out); err == nil {
			faults.Add("partition-by", fmt.Errorf("-out %s names a file: name a directory, such as %s/", g.table.Out, strings.TrimSuffix(g.table.Out, filepath.Ext(g.table.Out))))
		}
	}
	needs := p.outOpt.Needs()
	p.Now.Opt.Directives, p.LogOpt.Fields.Times = needs.Directives, p.LogOpt.Fields.Times || needs.Times
	g.table.ChooseFormat(file, p.Out, &p.outOpt, &faults)
	// Set the storage options, once format and columns are set.
	agents := flags.AgentsOf(&p.Now.Opt)
	var err error
	p.outOpt.Mode, err = output.ParsePartitionMode(g.storage.partitionMode)
	faults.Add("partition-mode", cli.Hint(err, g.storage.partitionMode, output.PartitionModes()))
	if g.storage.partitionMode != "" && p.series != nil && g.storage.partitionBy != "" {
		faults.Add("partition-mode", errors.New("with -shard, -resume, -on-error skip or object storage, each input replaces its own files: leave this flag out"))
	} else if g.storage.partitionMode != "" && g.storage.partitionBy == "" {
		faults.Add("partition-mode", errors.New("this flag needs -partition-by: add it, or leave this flag out"))
	}
	p.outOpt.Compression, err = output.ParseCompression(g.storage.compression)
	faults.Add("compression", cli.Hint(err, g.storage.compression, output.Compressions()))
	p.outOpt.Sort, err = output.ParseSort(g.storage.sort)
	faults.Add("sort", cli.Hint(err, g.storage.sort, flags.Sorts))
	p.outOpt.Level, p.outOpt.RowGroup = g.storage.level, g.storage.rowGroup
	p.outOpt.CSV = g.table.ChooseCSV(&faults)
	flags.CheckContainer(&p.outOpt, agents, &faults)
	p.Memory.Plan, p.Memory.Out = memory.PlanOf("robobatch"), &p.outOpt
	if p.page != nil {
		p.Memory.Plan = memory.PlanOf("robobatch -report")
	}
	p.ChooseWork(&g.Flags, &p.outOpt, &faults, g.table.Out, g.rejects)
	if p.series != nil && p.page != nil {
		faults.Add("report", errors.New("not available with one output per input: name one output, or use robobatch report"))
	}
	if slices.Contains(g.Logs.In, msg.Std) && console.IsTerminal(p.In) {
		p.Hints = append(p.Hints, "reading the log from the terminal: type or paste it, and end it with Ctrl-D; or name a file with -in")
	}
	p.Asked.Timezone = g.page.Zone.Name
	p.outOpt.Version = process.Version()
	faults.Add("", p.series.recordFlags(g, p))
	return faults.Err()
}

// find finds the inputs, divides the memory, and checks the names of the outputs.
func (p *plan) find(g *given) error {
	out := g.table.Out
	errLogs := p.FindLogs(&g.Flags)
	errRules := p.FindRules(&g.Flags)
	if p.Sitemaps != nil {
		errRules = errors.Join(errRules, p.series.recordFlags(g, p))
	}
	p.outOpt.Workers, p.outOpt.SortMemory, p.outOpt.DictMemory = p.Workers(), p.Parts.Sort, p.Parts.Dicts
	if p.series != nil {
		if errLogs == nil {
			errLogs = p.series.find(p.Files, p.outOpt.Format, p.textSize())
			p.findKinds()
		}
		return errors.Join(errLogs, errRules, outputs.CheckSeries(outputs.Outputs{Out: out, Stats: g.stats, Rejects: g.rejects}, g.Path, p.Files))
	}
	if errLogs = p.OpenLogs(errLogs); errLogs != nil {
		return errors.Join(errLogs, errRules)
	}
	pipeline.SetKinds(p.outOpt.Kept, p.Logs)
	var errOut error
	if p.page != nil {
		errOut = p.KeepAnswers()
	}
	p.outOpt.Inputs = p.InputNames()
	p.outName = cmp.Or(out, outputs.ForLog(p.outOpt.Inputs[0], p.outOpt.Format))
	if len(p.outOpt.Partition) > 0 {
		p.outName = outputs.ForTree(out, p.outName, p.outOpt.Format)
	}
	read := outputs.Inputs{Path: g.Path, Logs: p.Logs.Inputs(), Rules: p.Now.Files, Sitemaps: p.Sitemaps}
	errOut = errors.Join(errOut, outputs.Check(outputs.Outputs{Out: p.outName, Stats: g.stats, Rejects: g.rejects, Options: &p.outOpt}, read))
	if p.page != nil {
		errOut = errors.Join(errOut, outputs.CheckPage("-report", p.page.Name, read, outputs.Other{Flag: "-out", Name: p.outName},
			outputs.Other{Flag: "-stats", Name: g.stats}, outputs.Other{Flag: "-rejects", Name: g.rejects}))
	}
	return errors.Join(errRules, errOut)
}
