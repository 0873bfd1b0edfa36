package diff

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
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
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// given are the flags of the command diff.
type given struct {
	pipeline.Flags
	old    flags.Old
	page   page.Flags
	table  flags.Table
	limits flags.Limits
	print  string
	gates  []string

	baseline, approve string
}

// Command returns the command diff.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "diff", "report what a new robots.txt changes, with or without a log"
	c.Intro = `
robobatch diff reports what new rules change: which requests of a log they disallow and allow, for which crawlers, and
which rules are responsible.

    robobatch diff -old robots.txt -rules new.txt -base https://www.example.com -in access.log -agent-from-log

decides each request by the old and the new rules, for the crawler that made it, and prints the changes. -out writes the changed rows.
Without -in, it compares paths generated from the patterns of both sides (docs/LOG.md). It opens no network connection
unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 done; 1 a gate of -fail or a limit of -require-rules, -no-rows fail or -max-rejects is exceeded; 2 an error
of usage, input or output.`
	logs := g.Logs.Flags()
	logs[0].Needed = "" // paths may replace a log
	logs[0].Doc += ` Default: no log; test paths are generated from the patterns of both sides.`
	c.Flags = flags.Sections{
		Input:    slices.Concat([]cli.Flag{g.old.Flag()}, g.Rules.Flags(flags.NameRules), logs),
		Question: flags.Without(g.Question.LogFlags(flags.DecideFor), "cache"),
		Output: slices.Concat([]cli.Flag{
			flags.Print(&g.print, Forms, `
			Form of the output. text: tables. json: one object (docs/diff.schema.json). markdown: for a comment.
			github: annotations for failed gates and the responsible rules, and the step summary.`),
			{Name: "fail", Arg: "gates", Set: cli.Words(&g.gates), Doc: `
			Exit with code 1 if a gate is exceeded. A gate is closed, opened, other_rule, changed (the sum of these
			three) or other_preference, optionally a crawler or set, and a number or share of the crawler's requests:
			closed=0.1%,closed:Googlebot=0,opened:@ai=0. May be repeated.`},
			{Name: "baseline", Arg: "file", Files: true, Set: cli.Text(&g.baseline), Doc: `
			Intended changes, which -fail ignores.`},
			{Name: "approve", Arg: "file", Files: true, Set: flags.FileName(&g.approve), Doc: `
			Approve all changes: write them to this file, for -baseline. The exit code is 0 (docs/CI.md).`},
		}, g.page.All(), []cli.Flag{{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.table.Out), Doc: `
		The file to write rows to, in any format of a run (docs/OUTPUT.md). Default: none.`}, g.table.FormatFlag()}, g.limits.Flags(), []cli.Flag{g.table.CSVFlag()}),
		Run: g.Work.MemoryFlags(`
			A quarter, at most 256MiB, is for changed URLs; the rest go to a temporary file.`),
	}.All()
	return c
}

// A run implements the command diff.
type run struct {
	pipeline.Pipeline
	noLog    bool // paths are generated from the patterns of both sides
	tried    *Tried
	approved *Approvals
	approve  string // file of -approve; "" means none
	out      changesOut
	outOpt   output.Options
	limit    outputs.RejectLimit
	require  outputs.Requirements
	gates    []ci.Gate
	sent     bool // the log identifies the crawlers, and those in -agent may not be among them
	form     string
	page     *page.Page // page of -report; nil without one
	set      outputs.Set
}

// plan implements [flags.Command].Plan: it checks the flags, and finds the rules and logs.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	g.table.Out = outputs.StandardName(g.table.Out)
	d := &run{form: g.print, noLog: len(g.Logs.In) == 0}
	// Set the options, without opening any file.
	var input cli.Faults
	d.outOpt.Kept = d.Choose(&g.Flags, std, &faults, &input)
	if !g.old.IsGiven() {
		faults.Add("old", errors.New("missing flag: name the previous rules, or an earlier time for -rules"))
	}
	d.Now.Opt.Directives = robots.PreferenceLines()
	d.Old = d.Now.PreviousSide(&g.old)
	if d.noLog {
		// Check that no flag needs a log.
		for _, f := range []struct {
			flag  string
			given bool
		}{
			{"agent-from-log", g.Question.FromLog},
			{"as-of", g.Question.ByRow()},
			{"keep", len(g.Logs.Keep) > 0},
			{"max-rejects", g.limits.MaxRejects != ""},
			{"require-rules", g.limits.RequireRules != ""},
			{"no-rows", g.limits.NoRows != "warn"},
		} {
			if f.given {
				faults.Add(f.flag, errors.New("this flag needs a log: "+flags.NameLog+", with -in"))
			}
		}
	}
	d.chooseApprovals(g, &faults)
	d.LogOpt.Fields.Times = true // requests are counted by day, if they have times
	d.LogOpt.Fields.Need = g.Question.FromLog && !g.limits.AllowsBad()
	if len(g.Question.Names) > 0 && slices.Contains(g.Logs.In, msg.Std) {
		d.LogOpt.Fields.Agents = true // cannot be checked earlier, see LogsNameClients
	}
	if d.page = page.NewBeside(&g.page, &g.Flags, g.old.AsOf, &d.Pipeline, &faults); d.page != nil && d.noLog {
		faults.Add("report", errors.New("this needs a log: name one with -in"))
	}
	for i := range d.outOpt.Kept {
		if k := &d.outOpt.Kept[i]; slices.Contains(output.ChangeColumns(), k.Name) {
			k.Name = "in_" + k.Name
		}
	}
	var require cli.Faults
	d.limit, d.require = g.limits.Choose(&input, &require)
	faults.Add("", input.Err())
	faults.Add("", require.Err())
	var err error
	if d.gates, err = gates.Parse(g.gates); err == nil && d.Now.Opt.LogAgents == engine.LogAgentsOff && (!d.noLog || len(g.Question.Names) > 0) {
		err = ci.CheckGates(d.gates, flags.AgentsOf(&d.Now.Opt))
	}
	faults.Add("fail", err)
	_, err = cli.Choose("form", g.print, Forms)
	faults.Add("print", err)
	// Set the file of changed rows.
	d.outOpt.CSV = g.table.ChooseCSV(&faults)
	d.out.Name = g.table.Out
	switch {
	case g.table.Out == msg.Std:
		faults.Add("out", errors.New("standard output is used for the report: name a file"))
	case g.table.Out != "":
		g.table.ChooseFormat(g.table.Out, d.Out, &d.outOpt, &faults)
		flags.CheckContainer(&d.outOpt, flags.AgentsOf(&d.Now.Opt), &faults)
	case g.table.Format != "":
		faults.Add("out-format", errors.New("nothing is written: name a file with -out"))
	}
	d.Memory.Plan = memory.PlanOf("diff")
	if d.page != nil {
		d.Memory.Plan = memory.PlanOf("diff -report")
	}
	if g.table.Out != "" {
		d.Memory.Out = &d.outOpt
	}
	d.ChooseWork(&g.Flags, &d.outOpt, &faults, g.table.Out)
	d.outOpt.Version = process.Version()
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return d, d.find(g)
}

// find finds the rules and logs, divides the memory, and checks the names of the outputs.
func (d *run) find(g *given) (err error) {
	if !d.noLog {
		err = d.FindLogs(&g.Flags)
	}
	// Find the rules of both sides, and divide the memory.
	var errRules error
	origin := cmp.Or(g.Origin, g.Logs.Base)
	if d.noLog {
		origin = cmp.Or(origin, pipeline.NoOrigin) // verdicts on paths are the same at every origin
	}
	for _, side := range d.Sides() {
		errRules = errors.Join(errRules, side.FindEither(origin))
	}
	if errRules == nil && g.Origin != "" && d.Old.File == "" && d.Now.File == "" {
		errRules = d.Now.FindOne(g.Origin, "") // says that neither side is a single robots.txt
	}
	if errRules == nil {
		errRules = d.Divide()
	}
	d.outOpt.DictMemory, d.outOpt.Workers = d.Parts.Dicts, d.Workers()
	if d.noLog {
		if d.Old.Files == nil || d.Now.Files == nil {
			return errRules
		}
		if d.Old.Pack() != "" || d.Now.Pack() != "" {
			return errors.Join(errRules, errors.New("a pack does not contain the robots.txt files, so paths cannot be generated: name a log with -in, or the files"))
		}
		d.outOpt.Inputs = []string{""}
		return errors.Join(errRules, d.checkOut(g, nil))
	}
	if err = errors.Join(errRules, d.OpenLogs(err)); d.Logs == nil {
		return err
	}
	pipeline.SetKinds(d.outOpt.Kept, d.Logs)
	d.outOpt.Inputs = d.InputNames()
	if err == nil {
		err = d.checkOut(g, d.Logs.Inputs())
	}
	if err == nil {
		err = d.KeepAnswers()
		d.sent = d.Now.Opt.LogAgents == engine.LogAgentsOff && len(d.Now.Opt.Agents) > 0 && d.LogsNameClients()
	}
	return err
}

// checkOut returns an error if an output would overwrite a file that is read, or another output.
func (d *run) checkOut(g *given, logs []ingest.Input) error {
	for _, side := range d.Sides() {
		read := outputs.Inputs{Path: side.Path, Logs: logs, Rules: side.Files}
		var err error
		if g.table.Out != "" {
			err = outputs.Check(outputs.Outputs{Out: g.table.Out, Options: &d.outOpt}, read)
		}
		if d.page != nil {
			err = errors.Join(err, outputs.CheckPage("-report", d.page.Name, read, outputs.Other{Flag: "-out", Name: g.table.Out}))
		}
		if g.approve != "" {
			err = errors.Join(err, outputs.CheckLocal("-approve", g.approve), outputs.CheckFile("-approve", g.approve, read, outputs.Other{Flag: "-out", Name: g.table.Out}))
		}
		if err != nil {
			return err // a wrong name is wrong on both sides
		}
	}
	return nil
}

// Drop removes the incomplete page and, unless the output is already complete, the output and the temporary packs.
// committed means that the output is complete. Any goroutine may call it.
func (d *run) Drop() (committed bool, err error) {
	_, errPage := d.page.Drop() // may be incomplete even if the output is complete
	if committed, err = d.out.Drop(); committed {
		return committed, errors.Join(err, errPage, d.set.End())
	}
	return false, errors.Join(err, d.Pipeline.Drop(), errPage)
}

// Targets returns the names of the output and of the page.
func (d *run) Targets() (out, last string) {
	name := cmp.Or(d.out.Name, msg.Std)
	return name, cmp.Or(d.page.FileName(), name)
}

// A changesOut is the file of changed rows (-out). Without a name, nothing is written.
type changesOut struct{ process.Sink[*output.File] }

// Write adds the changed rows of a batch.
func (o *changesOut) Write(b *engine.Batch) error {
	if o.Name == "" {
		return nil
	}
	return o.Use(func(f *output.File) error { return f.Write(b) })
}

// A changesSink counts and writes changes, and counts rejected lines.
type changesSink struct {
	*aggregate.Changes
	preferences *aggregate.PreferenceChanges
	out         *changesOut
	limit       outputs.RejectLimit
	rejected    int64
	sent        *bool // see the field sent of run
	approved    *Approvals
}

// Finish completes the counts. The error comes from reading the temporary file.
func (s *changesSink) Finish() error { return errors.Join(s.Changes.Finish(), s.preferences.Finish()) }

// Write counts the changes of a batch, and writes the changed rows. It returns an error if too many lines were
// rejected so far.
func (s *changesSink) Write(b *engine.Batch) error {
	if err := errors.Join(s.Changes.Write(b), s.preferences.Write(b), s.approved.Write(b)); err != nil {
		return err
	}
	if len(b.Agents) == 0 && !*s.sent {
		*s.sent = pipeline.NamesClients(b)
	}
	if err := s.out.Write(b); err != nil {
		return err
	}
	s.rejected += int64(outputs.CountRejects(b))
	return s.limit.Check(s.rejected, 0, false)
}

// Run compares both sides by the rows of the logs or by generated paths, writes the files, and prints the report. An
// exceeded gate or limit is an error.
func (d *run) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, d.out.Close(), d.page.Close(), d.Close(), d.set.End()) }()
	d.Hint(outputs.Leftovers(d.out.Name, d.page.FileName()))
	d.WarnOnce(outputs.WarnMixed(d.out.Name, d.page.FileName()))
	if err := d.page.Begin(); err != nil {
		return err
	}
	if err := d.Load(ctx, d.tempDir()); err != nil {
		return err
	}
	d.WarnMoment()
	d.page.Open(&d.Pipeline, false)
	var paths *pathSource
	if d.noLog {
		if paths, err = d.makePaths(ctx); err != nil {
			return err
		}
	}
	d.outOpt.Old, d.outOpt.Cancel = d.Old.Store, ctx.Done()
	if d.out.Name != "" {
		err = d.out.Create(func() (*output.File, error) {
			f, err := output.Create(d.out.Name, d.Out, d.Now.Store, d.outOpt)
			if err == nil {
				d.Describe(f)
			}
			return f, err
		})
		if err != nil {
			return err
		}
	}
	const preferencePart = 8 // fraction of the memory for changed URLs that URLs with changed preferences get
	preferences := d.Parts.Changes / preferencePart
	changes := aggregate.NewChanges(d.Now.Store, d.Old.Store, aggregate.ChangesOptions{Memory: d.Parts.Changes - preferences, TempDir: d.tempDir(), Status: d.Status})
	defer changes.CloseTemp()
	sink := &changesSink{Changes: changes, out: &d.out, limit: d.limit, sent: &d.sent, approved: d.approved}
	sink.preferences = aggregate.NewPreferenceChanges(d.Now.Store, d.Old.Store, cmp.Or(preferences, aggregate.DefaultMemory/preferencePart), d.tempDir())
	defer sink.preferences.CloseTemp()
	if d.noLog {
		return d.comparePaths(ctx, paths, sink)
	}
	return d.compareRows(ctx, sink)
}

// tempDir returns the directory for temporary files.
func (d *run) tempDir() string { return pipeline.TempDir(cmp.Or(d.out.Name, msg.Std)) }

// compareRows evaluates the logs with both sides, writes the changed rows and the page, and prints the report.
func (d *run) compareRows(ctx context.Context, sink *changesSink) error {
	if err := d.Take(ctx, d.Source(), d.page.With(sink)); err != nil {
		return pipeline.Cause(err)
	}
	if err := sink.Finish(); err != nil {
		return err
	}
	s := d.Summary()
	if err := d.limit.Check(sink.rejected, s.Counts.Lines(), true); err != nil {
		return err
	}
	if err := d.require.Check(s.Rows()); err != nil {
		return err
	}
	all := s.Warn()
	if d.limit.IsNone() && !d.require.AllowBad {
		all = append(all, d.WarnRejected(s)...)
	}
	s.Warnings = append(s.Warnings, slices.DeleteFunc(all, func(d warning.Warning) bool { return d.Code == warning.NoURLs })...)
	if d.out.Name != "" {
		err := d.out.Use(func(f *output.File) error {
			s.Describe(f, d.outOpt.Format)
			err := f.Complete()
			s.WarnFormulas(f)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := d.page.Make(ctx, page.Result{Pipeline: &d.Pipeline, Summary: s, Changes: sink.Report(reported)}); err != nil {
		return err
	}
	if d.out.Name != "" {
		if err := d.set.Begin(d.out.Name, d.page.FileName()); err != nil {
			return err
		}
		if err := d.out.Commit((*output.File).Commit); err != nil {
			return err
		}
	}
	d.WarnRest(s.Warnings)
	if len(d.gates) > 0 {
		if err := d.CheckGates(s); err != nil {
			return err
		}
	}
	if err := d.page.End(); err != nil {
		return err
	}
	d.HintLogs(s)
	d.Hint(s.Impostors())
	return d.print(sink, summary.Sum(s.Counts.Refused))
}

// print prints the report and checks the gates. refused is the number of rejected lines. If there are gates, it is
// also an error that paths or crawlers were left out because there were too many.
func (d *run) print(sink *changesSink, refused int64) error {
	report := &Report{Old: reportedSide(d.Old), New: reportedSide(d.Now), Unit: "request", Tried: d.tried}
	if d.noLog {
		report.Unit, report.approved = "path", d.approved
	}
	switch {
	case d.Now.Opt.LogAgents != engine.LogAgentsOff:
		report.Clients = Own
	case d.sent:
		report.Clients = All
	}
	report.Fill(sink.Report(reported))
	report.FillPreferences(sink.preferences.Report(reported))
	report.Gates = judge(d.gates, report)
	report.Refused = refused
	all := make([]string, 0, len(report.Agents))
	for i := range report.Agents {
		all = append(all, report.Agents[i].Agent)
	}
	idle, err := ci.WarnIdle(d.gates, all, d.Now.Opt.Dialect)
	if err != nil {
		return err
	}
	for _, seen := range idle {
		d.Warn(seen)
	}
	if err := report.Print(d.Out, d.form); err != nil {
		return console.OutError(err)
	}
	if err := ci.Err(report.Gates); err != nil {
		return err
	}
	if t := d.tried; len(d.gates) > 0 && t != nil && (t.Cut > 0 || t.AgentsCut) {
		return outputs.NewPolicyError("-fail: " + report.caveats()[0]) // a gate that tested nothing must not pass
	}
	return nil
}

// reported is the maximum number of rules, families and origins per kind of change in a report.
const reported = 100

// reportedSide describes one side, old or new, for the report.
func reportedSide(s *pipeline.Side) Side {
	return Side{Rules: s.Path, AsOf: s.AsOf, Hash: s.Store.RulesHash(), File: s.File, files: s.Files}
}
