package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
)

// A seriesPlan is the part of the plan for one output per input.
type seriesPlan struct {
	dir          series.Dir
	resume, skip bool
	redo         bool // redo outputs that were made with other flags
	flags        series.Flags
	list         series.List
	items        []series.Item // items of the shard
	bytes        int64         // bytes of the items
	hint         string        // hint about the shard
}

// errOneOutput is the error for a flag that needs one output per input.
var errOneOutput = errors.New("this flag needs one output per input: name a directory that ends in /, as in -out out/")

// chooseSeries checks the flags about one output per input, and returns the plan; nil for a run with one output.
func chooseSeries(g *given, faults *cli.Faults) *seriesPlan {
	p := &seriesPlan{dir: series.Dir{Name: g.table.Out}, resume: g.series.resume, redo: g.series.redo}
	onError, err := cli.Choose("way", cmp.Or(g.series.onError, onErrors[0]), onErrors) // "" without the flag
	p.skip = onError == 1
	several := outputs.IsDir(g.table.Out) && (g.storage.partitionBy == "" || p.skip || p.resume || g.series.shard != "" || storage.IsRemote(g.table.Out))
	p.dir.Partitioned = g.storage.partitionBy != ""
	faults.Add("on-error", cli.Hint(err, g.series.onError, onErrors))
	p.dir.Shard, err = series.Parse(g.series.shard, os.Getenv)
	faults.Add("shard", err)
	for _, given := range []struct {
		flag string
		is   bool
	}{{"on-error", p.skip}, {"resume", p.resume}, {"shard", g.series.shard != ""}} {
		if given.is && !several {
			faults.Add(given.flag, errOneOutput)
		}
	}
	switch {
	case !several:
		if p.dir.Partitioned && p.dir.Name != "" && p.dir.HasRecords() {
			faults.Add("partition-by", fmt.Errorf("%s has files for each input, of a run with -resume or -shard: to add others or replace them, use -resume", msg.File(p.dir.Name)))
		}
		if outputs.IsDir(g.rejects) {
			faults.Add("rejects", fmt.Errorf("%s is a directory: name a file, or choose one output per input: -out out/ (with -partition-by also -resume)", msg.File(g.rejects)))
		}
		return nil
	case storage.HasEmptyPart(g.table.Out):
		faults.Add("out", fmt.Errorf("%s contains //, where outputs would not be found again: write one slash", msg.File(g.table.Out)))
	case g.rejects != "" && !outputs.IsDir(g.rejects):
		faults.Add("rejects", fmt.Errorf("with one output per input, each input has its own list: name a directory, such as %s/", msg.File(g.rejects)))
	}
	if slices.Contains(g.Logs.In, msg.Std) {
		faults.Add("in", errors.New("standard input can be read only once, so its output cannot go to a directory: write it to a file first, or give one output file"))
	}
	return p
}

// recordFlags records the flags that change bytes of outputs. It does nothing if p is nil. Call it again if the flags
// have changed since, such as the hash of sitemaps.
func (p *seriesPlan) recordFlags(g *given, plan *plan) (err error) {
	if p == nil {
		return nil
	}
	table := &g.storage
	p.flags, err = series.FlagsOf(plan.Asked, struct {
		Dialect       string   `json:"dialect"`
		Agent         []string `json:"agent"`
		OutFormat     string   `json:"out_format"`
		Columns       []string `json:"columns"`
		AcceptDamaged bool     `json:"accept_damaged_rules"`
		Rejects       bool     `json:"rejects"`
		Compression   string   `json:"compression"`
		Level         int      `json:"level"`
		RowGroup      int      `json:"row_group"`
		Sort          string   `json:"sort"`
		PartitionBy   string   `json:"partition_by,omitempty"`
		CSV           string   `json:"csv"`
	}{
		g.Question.Dialect, plan.Now.Opt.Agents, plan.outOpt.Format.String(), plan.outOpt.Columns, g.AcceptDamage, g.rejects != "",
		table.compression, table.level, table.rowGroup, table.sort, strings.Join(plan.outOpt.Partition, ","), g.table.CSV,
	})
	return err
}

// find assigns outputs to the inputs, and selects those of the shard. textSize returns the text size of inputs that
// can be split; nil means that no input is split. An input that cannot be read is an error, or with -on-error skip
// gets its error as File.Err.
func (p *seriesPlan) find(files *logfiles.List, format output.Format, textSize series.Sizer) error {
	if err := files.Err(); err != nil && !p.skip {
		return err
	}
	for i := range files.Files {
		f := &files.Files[i]
		if f.Err != nil || f.Size >= 0 {
			continue
		}
		if _, err := storage.Of(f.Name).Stat(f.Name); err != nil {
			f.Err = &ingest.NameError{Name: f.Name, Err: atomicfile.WithoutPath(err), Remedy: "check the name, and its target if it is a link"}
		} else {
			f.Err = &ingest.NameError{Name: f.Name, Err: errors.New("can be read only once, so its output cannot go to a directory"), Remedy: "write it to a file first"}
		}
		if !p.skip {
			return f.Err
		}
	}
	inputs := files.Files
	if p.dir.Partitioned {
		inputs = slices.Clone(inputs)
		for i := range inputs {
			inputs[i].Path = series.Flat(inputs[i].Path)
		}
	}
	items, err := series.Pair(inputs, func(log string) string { return outputs.ForLog(log, format) })
	if err != nil {
		return err
	}
	if items, p.hint, err = series.Divide(items, p.dir.Count, textSize); err != nil {
		return err
	}
	p.list, p.items = series.ListOf(items), series.ItemsOf(items, p.dir.Shard)
	p.bytes = series.ListOf(p.items).Bytes
	return nil
}

// textSize returns a function for the size of an input's text in bytes. It returns nil if inputs must not be split,
// because a limit applies to all rows of an input.
func (p *plan) textSize() series.Sizer {
	if p.LogOpt.Limit > 0 || !p.limit.IsNone() || p.require.Rules != (outputs.Share{}) {
		return nil
	}
	return func(name string) (int64, error) { return ingest.TextSize(name, p.LogOpt) }
}

// findKinds sets the types of the kept columns for all outputs to those in the first input that can be opened, so
// that all shards write the same types. It leaves them unchanged if there is no such input.
func (p *plan) findKinds() {
	for i := range p.Files.Files {
		f := &p.Files.Files[i]
		if f.Err != nil || f.Size < 0 {
			continue
		}
		if logs, err := ingest.OpenLogs([]string{f.Name}, p.LogOpt); err == nil {
			p.LogOpt.Keep = logs.Kept()
			pipeline.SetKinds(p.outOpt.Kept, logs)
			logs.Close() //nolint:errcheck // nothing was read
			return
		}
	}
}

// A seriesRun is a run with one output per input. It processes the inputs one after the other, with rules that are
// loaded once.
type seriesRun struct {
	*job  // loads the rules, and has no output
	made  series.Made
	sum   *series.Sum
	parts string              // directory for partitions
	diff  map[string][]string // names of outputs that are redone, by reason

	notes []seriesHint

	mu      sync.Mutex
	current *job         // nil between inputs
	item    *series.Item // item of current
	dropped bool         // no further job may begin
	total   int64        // bytes of the inputs
	bytes   int64        // bytes of the previous inputs
	urls    int64        // URLs of the previous inputs
	passing error        // temporary storage error of an input; a later run may succeed
}

// A seriesHint is the first hint of its kind.
type seriesHint struct {
	logHint
	more int // further inputs with the hint
}

// Drop removes the output that is being written, and the temporary packs. Complete outputs stay, and no further
// output is begun. Any goroutine may call it.
func (s *seriesRun) Drop() (committed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = true
	if s.current != nil {
		_, err = s.current.Drop()
	}
	return false, errors.Join(err, s.Pipeline.Drop())
}

// Targets returns the output that is being written, or the directory between two outputs. Any goroutine may call it.
func (s *seriesRun) Targets() (out, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		return s.current.outName, s.current.outName
	}
	return s.series.dir.Name, s.series.dir.Name
}

// Run compiles the rules once, and makes the outputs that are missing. It writes the statistics of the shard. Failed
// inputs are an error, but only at the end if -on-error is skip.
func (s *seriesRun) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.Unload()) }()
	if s.series.resume && !s.series.redo {
		made := series.Made{Version: s.outOpt.Version, Flags: s.series.flags}
		if err := s.series.dir.CheckFlags(ctx, s.items(), &made); err != nil {
			if unlike, ok := errors.AsType[*series.UnlikeError](err); ok {
				err = fmt.Errorf("-resume: %w", unlike)
			}
			return err
		}
	}
	if err := s.series.dir.Begin(s.items(), s.rejects); err != nil {
		return err
	}
	s.Hints = append(s.Hints, s.series.hint)
	if list := s.series.list; !s.series.dir.Whole() {
		s.Print(fmt.Sprintf("robobatch: %s: %s of %s, of %s of %s (%s)\n", s.series.dir.Shard, msg.Number(int64(len(s.items()))), msg.Count(int64(list.Inputs), "output"),
			msg.Bytes(s.series.bytes), msg.Bytes(list.Bytes), strings.TrimSpace(msg.Percent(s.series.bytes, list.Bytes))))
	}
	if s.series.dir.Partitioned {
		dir, remove, errParts := s.series.dir.BeginParts(s.series.list)
		if errParts != nil {
			return errParts
		}
		s.parts = dir
		defer func() { err = errors.Join(err, remove()) }()
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	s.made = series.Made{Version: s.outOpt.Version, RulesHash: s.Now.Store.RulesHash(), Flags: s.series.flags, RulesName: s.Now.Path}
	s.Logs = new(ingest.Logs)
	s.sum = series.NewSum(s.Summary(), series.Series{Shard: s.series.dir.Shard, List: s.series.list, Flags: s.series.flags})
	if err := s.all(ctx); err != nil {
		s.printRebuilt()
		s.Print(fmt.Sprintf("robobatch: complete in %s: %s of %s; to continue, run the same command with -resume\n",
			msg.File(s.series.dir.Name), msg.Number(int64(s.sum.Series.Done)), msg.Count(int64(len(s.items())), "output")))
		return err
	}
	// Write failures and statistics, and report. The error lists failed inputs.
	dir := s.series.dir
	s.printRebuilt()
	if dir.Whole() {
		if err := dir.DropOthers(s.sum); err != nil {
			return err
		}
	}
	s.sum.End(dir.Name)
	s.sum.Measure(s.times)
	s.sum.Run.URLsPerSecond = float64(s.urls) / max(time.Since(s.times.Loaded).Seconds(), 1e-9)
	failed := s.sum.Series.Failed
	if len(failed) > 0 {
		if err := dir.WriteFailures(failed); err != nil {
			return err
		}
	}
	s.Print(s.sum.Text(s.verbose))
	s.PrintFields(s.sum.Report)
	for _, hint := range s.notes {
		text := hint.text
		if hint.more > 0 {
			text += fmt.Sprintf(" (so are %s)", msg.Count(int64(hint.more), "more input"))
		}
		s.Hint(text)
	}
	s.WarnRest(s.sum.Warnings)
	if name := s.statsName; name != "" {
		if err := s.sum.Write(name); err != nil {
			return fmt.Errorf("-stats: %w", err)
		}
	}
	if err := s.sum.Write(dir.Stats()); err != nil {
		return err
	}
	if len(failed) == 0 {
		return nil
	}
	return outputs.NewPolicyError(series.FailedText(failed, msg.File(dir.Failed())), s.passing)
}

// items returns the items of the shard.
func (s *seriesRun) items() []series.Item { return s.series.items }

// all makes the outputs of all items in order. With -on-error skip, it records a failed input, and continues.
func (s *seriesRun) all(ctx context.Context) error {
	defer s.Watch("URLs", s.sample)()
	for i := range s.items() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		item := &s.items()[i]
		if err := s.makeOutput(ctx, item); err != nil {
			failure, ok := failureOf(err)
			if !ok || !s.series.skip {
				if fault, ok := errors.AsType[*outputs.FaultError](err); ok {
					return fmt.Errorf("%w\n%s was not written; -on-error skip continues with the next input", fault.Err, msg.File(s.series.dir.Output(item)))
				}
				return err
			}
			if storage.IsTemporary(err) {
				s.passing = err
			}
			s.sum.Series.Failed = append(s.sum.Series.Failed, series.Failure{Input: item.Name, Output: item.Output, Error: failure})
		}
		s.mu.Lock()
		s.bytes += max(0, item.Size)
		s.mu.Unlock()
	}
	return nil
}

// An inputError is an error that occurs before an input's rows are read.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// failureOf converts an error to the failure of an input; ok is false if the error is not about the input.
func failureOf(err error) (text string, ok bool) {
	if errors.Is(err, context.Canceled) {
		return "", false
	}
	if fault, ok := errors.AsType[*outputs.FaultError](err); ok {
		return fault.Err.Error(), true
	}
	if _, ok := errors.AsType[*inputError](err); ok || errors.Is(err, syscall.ENAMETOOLONG) {
		return err.Error(), true
	}
	return "", false
}

// makeOutput makes the output of an input and its record, unless it is complete and meets the limits, and adds it to
// the sum. Before it reads the input, it removes an older output.
func (s *seriesRun) makeOutput(ctx context.Context, item *series.Item) error {
	dir := s.series.dir
	defer dir.Forget(item) // there may be a million
	state, err := s.stateOf(item)
	switch {
	case errors.Is(err, context.Canceled), storage.IsDown(err): // the next input would fail as well
		return err
	case state.Kept:
		return &inputError{err}
	}
	if done := state.Done; done != nil {
		report := &summary.Report{Counts: done.Counts}
		if s.limit.Check(done.Reject, done.Counts.Lines(), true) == nil && s.require.Check(report.Rows()) == nil {
			s.sum.Add(done, item)
			s.sum.Series.Resumed++
			return nil
		}
		const why = "it does not meet the current limits"
		s.diff[why] = append(s.diff[why], item.Name)
	}
	if errClear := dir.Clear(item); errClear != nil {
		return errClear
	}
	if state.Why != "" {
		s.diff[state.Why] = append(s.diff[state.Why], item.Name)
	}
	if err != nil {
		return &inputError{err}
	}
	err = storage.MakeParent(dir.Output(item))
	if s.rejects != "" {
		err = errors.Join(err, storage.MakeParent(dir.Rejects(s.rejects, item)))
	}
	if err != nil {
		return err
	}
	j, err := s.jobFor(item)
	if err != nil {
		return &inputError{s.remedies.Add(err)}
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.urls += s.current.src.URLs.Load()
		s.current = nil
	}()
	r, err := j.decide(ctx)
	if err := errors.Join(err, j.close()); err != nil {
		return err
	}
	for _, hint := range hintsAbout(r) {
		i := slices.IndexFunc(s.notes, func(h seriesHint) bool { return h.kind == hint.kind })
		if i < 0 {
			s.notes = append(s.notes, seriesHint{logHint: hint})
			continue
		}
		s.notes[i].more++
	}
	record := series.NewRecord(r)
	record.Made, record.Input, record.Reject = s.made, state.Source, j.out.Rejected.Load()
	if dir.Partitioned {
		err = errors.Join(dir.FinishParts(item, record, j.outName), os.RemoveAll(j.outName))
	} else {
		err = dir.Finish(item, record)
	}
	if err != nil {
		return err
	}
	s.sum.Add(record, item)
	return nil
}

// stateOf identifies the bytes of an input for its record and, with -resume, checks whether its output is complete.
func (s *seriesRun) stateOf(item *series.Item) (state series.State, err error) {
	file := item.OnDisk()
	switch {
	case s.series.resume:
		state, err = s.series.dir.Look(item, file, &s.made)
	case item.Err == nil:
		state.Source, err = series.SourceOf(item, file)
	}
	if item.Err != nil {
		return state, item.Err
	}
	if err != nil {
		err = &ingest.NameError{Name: item.Name, Err: atomicfile.WithoutPath(err)}
	}
	return state, err
}

// jobFor opens an input, and returns the job for it, which Drop then drops. After Drop, it returns context.Canceled.
func (s *seriesRun) jobFor(item *series.Item) (*job, error) {
	p := *s.plan
	p.Progress, p.Warnings, p.statsName, p.outName = console.Off, nil, "", s.series.dir.Output(item)
	if s.parts != "" {
		p.outName, p.outOpt.Mode, p.outOpt.Partitions = filepath.Join(s.parts, "input"), output.PartitionReplace, output.MaxParts
	}
	if p.rejects != "" {
		p.rejects = s.series.dir.Rejects(s.rejects, item)
	}
	if item.IsPiece() { // rows were found when the input was split
		p.LogOpt.Part, p.require = item.Part, outputs.Requirements{AllowBad: true}
	}
	var err error
	if p.Logs, err = ingest.OpenLogs([]string{item.Name}, p.LogOpt); err != nil {
		return nil, err
	}
	p.outOpt.Inputs = p.InputNames()
	j := newJob(&p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped {
		return nil, errors.Join(context.Canceled, p.Logs.Close())
	}
	s.current, s.item = j, item
	return j, nil
}

// sample returns the progress of the run. Any goroutine may call it.
func (s *seriesRun) sample() console.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	sample := console.Sample{Done: s.bytes, Total: s.total, Bytes: true, URLs: s.urls}
	if s.current != nil {
		done, _ := s.current.Logs.Progress()
		sample.Done += s.item.Done(done)
		sample.URLs += s.current.src.URLs.Load()
	}
	return sample
}

// printRebuilt prints which outputs are redone and why, even with -quiet.
func (s *seriesRun) printRebuilt() {
	for _, why := range slices.Sorted(maps.Keys(s.diff)) {
		names := s.diff[why]
		first := make([]string, 0, warning.Examples)
		for _, name := range names[:min(len(names), warning.Examples)] {
			first = append(first, msg.File(name))
		}
		more := ""
		if n := len(names) - len(first); n > 0 {
			more = fmt.Sprintf(" and %s more", msg.Number(int64(n)))
		}
		s.Tell(fmt.Sprintf("robobatch: %s rebuilt (%s): %s%s\n", msg.Were(int64(len(names)), "output"), why, strings.Join(first, ", "), more))
	}
}
