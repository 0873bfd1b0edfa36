package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/diff"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/rejects"
	"github.com/robobatch/robobatch/output"
)

// A diffing is a run of the command diff.
type diffing struct {
	console.Console
	now, old compared
	noLog    bool // paths are made from the patterns of both sides
	tried    *diff.Tried
	logs     *ingest.Logs // nil without a log
	logOpt   ingest.LogOptions
	status   int // 1 + index of the kept column that has the status; 0 is none
	runOpt   engine.Options
	memory   memory.Run
	counts   int64 // bytes for what changed
	out      changesOut
	outOpt   output.Options
	limit    flow.Limit
	require  flow.Requirements
	gates    []diff.Gate
	sent     bool // the log says who sent its requests, and crawlers are asked for that may not have
	form     string
	asked    summary.Asked
	hints    []string
	page     *pageOut      // of -report; nil is none
	unread   []doubt.Doubt // files of the directories of -in
}

// A compared is one of the two sides.
type compared struct {
	load.Rules
	path  string
	asOf  string
	opt   engine.StoreOptions
	file  string        // the name of the one robots.txt; "" if it is something else
	store *engine.Store // nil until the rules are loaded
}

// sides returns both, the old one first.
func (d *diffing) sides() []*compared { return []*compared{&d.old, &d.now} }

// planDiffing checks the flags of the command diff and finds rules and logs.
func planDiffing(a *args, std console.Streams) (guard.Task, error) {
	a.out = targets.Standard(a.out)
	d := &diffing{Console: console.Console{Streams: std, Quiet: a.quiet}, form: a.print}
	if err := d.choose(a); err != nil {
		return nil, err
	}
	return d, d.find(a)
}

// choose sets what the flags say, without a look at any file.
func (d *diffing) choose(a *args) error {
	faults, input := a.faults, cli.Faults{}
	d.chooseSides(a, &faults)
	d.noLog = len(a.in) == 0
	if d.noLog {
		d.checkNoLog(a, &faults)
	}
	var err error
	d.logOpt, d.outOpt.Kept = chooseInput(a, &input)
	d.logOpt.Stdin, d.logOpt.Fields.Times = d.In, true // requests are counted by day, where there are times
	if len(a.agents) > 0 && slices.Contains(a.in, say.Std) {
		d.logOpt.Fields.Agents = true // which nobody can look at before, see findClients
	}
	if d.page = newPage(a, &d.logOpt, &faults); d.page != nil && d.noLog {
		faults.Add("report", errors.New("there is none without a log: name one with -in"))
	}
	for i := range d.outOpt.Kept {
		if k := &d.outOpt.Kept[i]; slices.Contains(output.ChangeColumns(), k.Name) {
			k.Name = "in_" + k.Name
		}
	}
	d.limit, err = flow.ParseLimit(a.maxRejects)
	input.Add("max-rejects", err)
	faults.Add("", input.Err())
	d.require.Rows, d.require.AllowBad = a.requireRows, a.allowBad
	d.require.Rules, err = flow.ParseShare(a.requireRules)
	faults.Add("require-rules", err)
	if d.gates, err = diff.ParseGates(a.gates); err == nil && d.now.opt.LogAgents == engine.LogAgentsOff && (!d.noLog || len(a.agents) > 0) {
		err = diff.Check(d.gates, agentsOf(&d.now.opt))
	}
	for _, err := range cli.Parts(err) {
		faults.Add("fail", err)
	}
	_, err = cli.Choose("form", a.print, diff.Forms)
	faults.Add("print", err)
	d.chooseOut(a, &faults)
	checkWork(a, &faults)
	faults.Add("max-memory", d.chooseMemory(a))
	faults.Add("progress", d.SetProgress(a.progress))
	d.hints = agentHints(a, d.now.opt.Dialect, d.now.opt.Agents)
	d.outOpt.Version = version()
	d.asked = recordOf(a, &d.outOpt)
	return faults.Err()
}

// chooseSides sets which rules are compared, and at which moments.
func (d *diffing) chooseSides(a *args, faults *cli.Faults) {
	d.now.path, d.now.asOf, d.now.opt = a.rules, a.AsOf, chooseQuestion(a, faults)
	d.now.AcceptDamage = a.acceptDamage
	if a.old == "" && a.oldAsOf == "" {
		faults.Add("old", errors.New("the flag is missing: name the rules before, or a moment of those of -rules with -old-as-of"))
	}
	d.old.chooseOld(a, &d.now.opt, faults)
}

// chooseOld sets the rules before, for what is asked of those after.
func (c *compared) chooseOld(a *args, now *engine.StoreOptions, faults *cli.Faults) {
	c.path, c.asOf, c.opt = cmp.Or(a.old, a.rules), cmp.Or(a.oldAsOf, a.AsOf), *now
	c.opt.Tokens, c.AcceptDamage = false, a.acceptDamage
	if a.old != "" {
		c.Flag = "-old"
	}
	if a.oldAsOf != "" {
		var err error
		c.opt.AsOf, err = parseMoment(a.oldAsOf)
		c.opt.RowTimes = false
		faults.Add("old-as-of", err)
	}
}

// chooseOut sets the file of the changed rows.
func (d *diffing) chooseOut(a *args, faults *cli.Faults) {
	d.outOpt.CSV.Safe = a.storage.csvSafe
	d.out.Name = a.out
	switch {
	case a.out == say.Std:
		faults.Add("out", errors.New("standard output has the report: name a file"))
	case a.out != "":
		chooseFormat(a.out, a.outFormat, d.Out, &d.outOpt, faults)
		for _, err := range cli.Parts(d.outOpt.CheckContainer(agentsOf(&d.now.opt))) {
			faults.Add(containerFlag(err), err)
		}
	case a.outFormat != "":
		faults.Add("out-format", errors.New("nothing is written: name a file with -out"))
	}
}

// chooseMemory sets the limit of memory.
func (d *diffing) chooseMemory(a *args) error {
	limit, err := memory.Parse(a.maxMemory)
	if err != nil {
		return err
	}
	limit, share := d.page.takeMemory(limit, memory.Share{Typed: a.maxMemory})
	for _, side := range d.sides() {
		side.Share = share.Less(1, 2)
	}
	d.memory = memory.Run{Limit: limit, Share: share, Workers: a.workers, Agents: len(agentsOf(&d.now.opt)), Diff: true}
	if a.out != "" {
		d.memory.Out = &d.outOpt
	}
	_, err = d.memory.Divide()
	return err
}

// divideMemory divides the limit, once it is known where the rules are.
func (d *diffing) divideMemory() error {
	for _, side := range d.sides() {
		if name := side.Pack(); d.memory.Limit > 0 && name != "" {
			index, _ := engine.IndexMemory(name) // what is wrong with the pack is said when it is opened
			d.memory.Index += index
		}
	}
	parts, err := d.memory.Divide()
	if err != nil {
		return fmt.Errorf("-max-memory: %w", err)
	}
	d.hints = append(d.hints, parts.Note)
	for _, side := range d.sides() {
		side.opt.Workers, side.opt.Reserved = parts.Workers, parts.Reserved
		if d.memory.Limit > 0 { // each has half of what is left
			side.opt.MaxMemory = parts.Reserved + (d.memory.Limit-parts.Reserved)/2
		}
	}
	d.runOpt.Workers, d.counts = parts.Workers, parts.Counts
	d.logOpt.BatchRows, d.logOpt.Window, d.outOpt.DictMemory = parts.BatchRows, parts.Window, parts.Dicts
	if d.outOpt.Workers = cmp.Or(parts.Workers, runtime.GOMAXPROCS(0)); d.outOpt.Workers > 1 {
		d.logOpt.Ahead = cmp.Or(parts.Unpackers, d.outOpt.Workers)
	}
	return nil
}

// find finds rules and logs, and checks the name of the output.
func (d *diffing) find(a *args) error {
	if d.logOpt.VerifiedOnly = a.verifiedOnly; a.out != "" {
		d.logOpt.TempDir = load.TempDir(a.out)
	}
	var files *logfiles.List
	var errLogs error
	if !d.noLog {
		files, errLogs = findLogs(a.in, d.In)
		d.memory.Window = windowOf(files, d.memory.Limit)
	}
	err := errors.Join(d.old.find(a), d.now.find(a))
	if err == nil && a.origin != "" && d.old.file == "" && d.now.file == "" {
		err = d.now.Find(a.rules, a.origin) // which says that neither is one robots.txt
	}
	if err == nil {
		err = d.divideMemory()
	}
	if d.noLog {
		return errors.Join(err, d.findNoLog(a))
	}
	if errLogs == nil {
		d.logs, errLogs = ingest.OpenLogs(files.Names(), d.logOpt)
	}
	if errLogs != nil {
		return errors.Join(err, errLogs)
	}
	setKinds(d.outOpt.Kept, d.logs)
	d.unread = doubtInputs(files)
	inputs := d.logs.Inputs()
	for _, in := range inputs {
		d.outOpt.Inputs = append(d.outOpt.Inputs, in.Name)
	}
	if err == nil {
		err = d.checkOut(a, inputs)
	}
	if err == nil {
		err = d.findStatus()
		d.findClients()
	}
	if d.page != nil {
		d.page.opt.Status = d.status
	}
	return err
}

// checkOut checks that the output overwrites nothing that is read.
func (d *diffing) checkOut(a *args, logs []ingest.Input) error {
	for _, side := range d.sides() {
		read := targets.Inputs{Path: side.path, Logs: logs, Rules: side.Files}
		var err error
		if a.out != "" {
			err = targets.Check(targets.Outputs{Out: a.out, Options: &d.outOpt}, read)
		}
		if a.page != "" {
			err = errors.Join(err, targets.CheckFile("-report", a.page, read, targets.Other{Flag: "-out", Name: a.out}))
		}
		if err != nil {
			return err // what is wrong with a name is so on both sides
		}
	}
	return nil
}

// find finds the rules of a side. One robots.txt is that of -origin, or else of -base.
func (c *compared) find(a *args) error {
	err := c.Find(c.path, "")
	origin := cmp.Or(a.origin, a.Base)
	if len(a.in) == 0 {
		origin = cmp.Or(origin, noOrigin) // what paths say does not depend on whose they are
	}
	if errors.Is(err, rulefiles.ErrNoOrigin) && origin != "" {
		c.file = c.path
		err = c.Find(c.path, origin)
	}
	return err
}

// statusField is the field of a log that has the status of the answer.
const statusField = "status"

// findStatus has the status of requests read, where all logs have it. It looks at the first row of
// each; a pipe is not looked at, so its status counts only if -keep names it.
func (d *diffing) findStatus() (err error) {
	d.status, err = keepStatus(&d.logs, &d.logOpt)
	return err
}

// keepStatus has the status of requests read, where all logs have it, and opens them again for that.
// It returns 1 + the index of its column, 0 if there is none.
func keepStatus(logs **ingest.Logs, opt *ingest.LogOptions) (status int, err error) {
	for i, k := range opt.Keep {
		if strings.EqualFold(k.Field, statusField) && k.Kind == engine.KeptInt {
			return i + 1, nil
		}
	}
	column := ingest.KeptColumn{Field: statusField, Kind: engine.KeptInt}
	inputs := (*logs).Inputs()
	for _, in := range inputs {
		if !hasField(in, *opt, column) {
			return 0, nil
		}
	}
	opt.Keep = append(opt.Keep, column)
	names := make([]string, len(inputs))
	for i := range inputs {
		names[i] = inputs[i].Name
	}
	if err = (*logs).Close(); err == nil {
		*logs, err = ingest.OpenLogs(names, *opt)
	}
	return len(opt.Keep), err
}

// fieldRows is in how many of the first rows a field has to have a value.
const fieldRows = 32

// hasField reports whether a log that can be read twice has a field: a value in one of the first rows.
func hasField(in ingest.Input, opt ingest.LogOptions, column ingest.KeptColumn) bool {
	opt.Keep = []ingest.KeptColumn{column}
	b := firstRows(in, opt)
	return len(b.Kept) > 0 && slices.Contains(b.Kept[0].Present, true)
}

// firstRows returns the first rows of a log that can be read twice; none of another.
func firstRows(in ingest.Input, opt ingest.LogOptions) (b engine.Batch) {
	if in.Name == say.Std || in.Size < 0 {
		return b
	}
	opt.Limit, opt.Ahead, opt.VerifiedOnly = fieldRows, 0, false
	logs, err := ingest.OpenLogs([]string{in.Name}, opt)
	if err != nil {
		return b
	}
	defer logs.Close() //nolint:errcheck // only read
	if !logs.Next(&b) || logs.Err() != nil {
		b.Reset()
	}
	return b
}

// namesClients reports whether some row says who sent the request.
func namesClients(b *engine.Batch) bool {
	return slices.ContainsFunc(b.UserAgents, func(s engine.Span) bool { return s != engine.NoURL })
}

// findClients finds out whether the log says who sent its requests, where crawlers are asked for. What can be
// read only once is looked at while it is counted.
func (d *diffing) findClients() {
	if d.now.opt.LogAgents != engine.LogAgentsOff || len(d.now.opt.Agents) == 0 {
		return
	}
	for _, in := range d.logs.Inputs() {
		opt := d.logOpt
		opt.Fields.Agents = true
		if b := firstRows(in, opt); namesClients(&b) {
			d.sent = true
			return
		}
	}
}

// Drop drops the output and the temporary packs.
func (d *diffing) Drop() (committed bool, err error) {
	if d.out.Name != "" {
		if committed, err = d.out.Drop(); committed {
			return committed, err
		}
	}
	return committed, errors.Join(err, d.now.Drop(), d.old.Drop(), d.page.drop())
}

// Targets returns the name of the output.
func (d *diffing) Targets() (out, last string) {
	name := cmp.Or(d.out.Name, say.Std)
	return name, name
}

// load makes the rules of both sides ready.
func (d *diffing) load(ctx context.Context) (err error) {
	d.DoubtOnce(d.unread)
	for _, hint := range d.hints {
		d.Hint(hint)
	}
	large := int64(0)
	for _, side := range d.sides() {
		if side.store, err = side.Store(ctx, side.opt, load.TempDir(cmp.Or(d.out.Name, say.Std)), &d.Console); err != nil {
			return err
		}
		if memory.IsLargePack(side.Pack()) {
			large += memory.LargePackLimit
		}
		side.Doubt(&d.Console)
	}
	switch {
	case d.memory.Limit > 0:
		debug.SetMemoryLimit(d.memory.Limit - memory.Program)
	case large > 0 && d.memory.Limit == 0: // each side has set its own
		debug.SetMemoryLimit(2*memory.LargePackLimit + aggregate.DefaultMemory)
	}
	d.DoubtOnce(doubtAgents(&d.now.opt, d.now.store))
	if err := shareOrigin(&d.old, d.now.store, d.now.path); err != nil {
		return err
	}
	for _, side := range d.sides() {
		if side.asOf != "" && !side.opt.RowTimes && side.store.InForce() == 0 {
			text := fmt.Sprintf("no robots.txt of %s is as old as %s; that of a file is the time of its last change", say.File(side.path), side.asOf)
			d.DoubtOnce([]doubt.Doubt{{Code: doubt.NoRulesThen, Text: text, Count: 1}})
		}
	}
	return nil
}

// shareOrigin returns an error if rules before know none of the origins of the rules that they are compared with:
// then all would be closed or opened.
func shareOrigin(old *compared, now *engine.Store, path string) error {
	if engine.ShareOrigin(old.store, now) {
		return nil
	}
	return fmt.Errorf("%s and %s have no origin in common, so that nothing can be compared: name the rules before of the same sites; http and https differ, as example.com and www.example.com do",
		say.File(old.path), say.File(path))
}

// unload gives back what load has opened.
func (d *diffing) unload() (err error) {
	for _, side := range d.sides() {
		if side.store != nil {
			err = errors.Join(err, side.store.Close())
		}
		err = errors.Join(err, side.Close())
	}
	return err
}

// A changesOut is the file of the changed rows, if it has a name.
type changesOut struct{ guard.Sink[*output.File] }

// Write adds the rows of a batch that changed.
func (o *changesOut) Write(b *engine.Batch) error {
	if o.Name == "" {
		return nil
	}
	return o.Use(func(f *output.File) error { return f.Write(b) })
}

// A changesSink counts what changed, writes it, and counts what is rejected.
type changesSink struct {
	*aggregate.Changes
	out      *changesOut
	limit    flow.Limit
	rejected int64
	sent     *bool // see diffing
}

// Write takes a batch.
func (s *changesSink) Write(b *engine.Batch) error {
	if err := s.Changes.Write(b); err != nil {
		return err
	}
	if len(b.Agents) == 0 && !*s.sent {
		*s.sent = namesClients(b)
	}
	if err := s.out.Write(b); err != nil {
		return err
	}
	s.rejected += int64(rejects.Count(b))
	return s.limit.Check(s.rejected, 0, false)
}

// Run compares.
func (d *diffing) Run(ctx context.Context) (err error) {
	defer func() {
		if d.out.Name != "" {
			err = errors.Join(err, d.out.Close())
		}
		if d.page != nil {
			err = errors.Join(err, d.page.Close())
		}
		if d.logs != nil {
			err = errors.Join(err, d.logs.Close())
		}
		err = errors.Join(err, d.unload())
	}()
	d.Hint(targets.Leftovers(d.out.Name, d.page.name()))
	if err := d.page.begin(); err != nil {
		return err
	}
	if err := d.load(ctx); err != nil {
		return err
	}
	if d.page != nil {
		d.page.open(d.now.store, d.old.store)
	}
	var paths *pathSource
	if d.noLog {
		if paths, err = d.makePaths(ctx); err != nil {
			return err
		}
	}
	d.runOpt.Old, d.outOpt.Old, d.outOpt.Cancel = d.old.store, d.old.store, ctx.Done()
	if d.out.Name != "" {
		err = d.out.Create(func() (*output.File, error) {
			f, err := output.Create(d.out.Name, d.Out, d.now.store, d.outOpt)
			if err == nil {
				d.asked.Describe(f)
			}
			return f, err
		})
		if err != nil {
			return err
		}
	}
	changes := aggregate.NewChanges(d.now.store, d.old.store, aggregate.ChangesOptions{Memory: d.counts, Status: d.status})
	sink := &changesSink{Changes: changes, out: &d.out, limit: d.limit, sent: &d.sent}
	if d.noLog {
		return d.comparePaths(ctx, paths, sink)
	}
	stats, err := d.evaluate(ctx, sink)
	if err != nil {
		return cause(err)
	}
	s := summary.New(summary.Source{
		Asked: d.asked, Version: d.outOpt.Version, Store: d.now.store, Rules: d.now.Files, Logs: d.logs, Stats: stats,
	})
	s.Doubts = append(s.Doubts, d.Doubts...)
	if err := d.limit.Check(sink.rejected, s.Counts.Lines(), true); err != nil {
		return err
	}
	if err := d.require.Check(s.Rows()); err != nil {
		return err
	}
	s.Doubts = append(s.Doubts, d.doubts(s)...)
	if err := d.commit(s); err != nil {
		return err
	}
	for _, seen := range s.Doubts[len(d.Doubts):] {
		d.Doubt(seen)
	}
	refused := summary.Sum(s.Counts.Refused)
	if err := d.page.end(ctx, pageSource{
		rules: &d.now.Rules, store: d.now.store, logs: d.logs, stats: stats, refused: refused, doubts: s.Doubts, old: d.old.path,
		changes: changes.Report(reported),
	}); err != nil {
		return err
	}
	for _, side := range d.sides() {
		side.HintMemory(side.store, &d.Console)
	}
	return d.print(changes, refused)
}

// print prints the report, of logs of which lines were refused, and judges it.
func (d *diffing) print(changes *aggregate.Changes, refused int64) error {
	report := d.report(changes)
	report.Refused = refused
	if idle := diff.Idle(d.gates, report); len(idle) > 0 {
		text := "-fail " + strings.Join(idle, ",") + " stops nothing, because no request is of such a crawler: look whether its name is right"
		d.Doubt(doubt.Doubt{Code: doubt.UnclearAgent, Text: text, Count: int64(len(idle))})
	}
	if err := report.Print(d.Out, d.form); err != nil {
		return console.OutError(err)
	}
	return judged(report)
}

// cause returns what ended a run, without the place that package engine adds.
func cause(err error) error {
	if source, ok := errors.AsType[*engine.SourceError](err); ok {
		return source.Err
	}
	if sink, ok := errors.AsType[*engine.SinkError](err); ok {
		return sink.Err
	}
	return err
}

// evaluate takes the logs through the rules.
func (d *diffing) evaluate(ctx context.Context, sink engine.Sink) (engine.Stats, error) {
	src := aim(new(flow.Source), d.logs, &d.asked)
	defer d.Watch("URLs", src.Sample)()
	return engine.Run(ctx, d.now.store, src, d.page.with(sink), d.runOpt)
}

// doubts returns the doubts about what came of the logs.
func (d *diffing) doubts(s *summary.Report) []doubt.Doubt {
	all := s.Doubt()
	if d.limit.IsNone() && !d.require.AllowBad {
		all = append(all, doubtRejected(s, &d.now.opt)...)
	}
	return slices.DeleteFunc(all, func(d doubt.Doubt) bool { return d.Code == doubt.NoURLs })
}

// doubtRejected returns the doubt about the rows without a verdict, of a command that does not list them.
func doubtRejected(s *summary.Report, opt *engine.StoreOptions) []doubt.Doubt {
	bad := s.Counts.Reasons[engine.ReasonBadURL.String()] / int64(max(1, len(agentsOf(opt))))
	return s.Rejected(summary.Sum(s.Counts.Refused)+bad, "-rejects of robobatch lists them")
}

// commit completes the file of the changed rows.
func (d *diffing) commit(s *summary.Report) error {
	if d.out.Name == "" {
		return nil
	}
	return d.out.Commit(func(f *output.File) error {
		s.Describe(f, d.outOpt.Format)
		err := f.Commit()
		s.DoubtFormulas(f)
		return err
	})
}

// report returns what is printed.
func (d *diffing) report(changes *aggregate.Changes) *diff.Report {
	r := &diff.Report{Old: d.old.side(), New: d.now.side(), Unit: "request", Tried: d.tried}
	if d.noLog {
		r.Unit = "path"
	}
	switch {
	case d.now.opt.LogAgents != engine.LogAgentsOff:
		r.Clients = diff.Own
	case d.sent:
		r.Clients = diff.All
	}
	r.Fill(changes.Report(reported))
	r.Gates = diff.Judge(d.gates, r)
	return r
}

// reported is how many rules, families and origins of each kind of change a report has.
const reported = 100

// side returns what the report says of a side.
func (c *compared) side() diff.Side {
	return diff.Side{Rules: c.path, AsOf: c.asOf, Hash: c.store.RulesHash(), File: c.file}
}

// judged returns the error of gates that failed.
func judged(r *diff.Report) error {
	failed := diff.Failed(r.Gates)
	if len(failed) == 0 {
		return nil
	}
	var texts []string
	for _, v := range failed {
		texts = append(texts, v.String())
	}
	return flow.NewPolicyError(strings.Join(texts, "\n"))
}
