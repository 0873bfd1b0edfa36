// Package conduct is the command conduct: what crawlers knew of the rules when they made requests that these forbid, by
// crawler and origin. Only cmd/robobatch imports it.
package conduct

import (
	"cmp"
	"context"
	"errors"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/command"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/gate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/passage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// given are the flags of the command conduct.
type given struct {
	passage.Flags
	table     flags.Table // -out
	rows      string
	changes   string
	by, print string
	gates     []string
}

// keys are the values of -by.
var keys = []string{"origin", "agent"}

// Command returns the command conduct.
func Command() command.Command {
	g := new(given)
	c := command.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "conduct", "tell what crawlers knew when they fetched what is disallowed"
	c.Intro = `
robobatch conduct tells, for each crawler of a log and each origin, when it asked for robots.txt, and what it knew when
it fetched what is disallowed.

    robobatch conduct -rules robots.txt -base https://www.example.com -in access.log

prints the ten worst. It needs the times of requests, and the status of answers. docs/CONDUCT.md tells more. It opens no
network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 done; 1 more than -fail allows; 2 an error of usage, input or output.`
	c.Flags = flags.Sections{
		Input:    g.Input(),
		Question: flags.Without(g.Question.LogFlags(flags.CountFor), "agent", "agent-from-log", "unknown-agents"),
		Output:   g.outFlags(),
		Run: g.Work.MemoryFlags(`beside the output.
			Three eighths of it are for crawlers and their requests: more go to a temporary file there.`),
	}.All()
	return c
}

// outFlags returns the flags of what is printed and written.
func (g *given) outFlags() []cli.Flag {
	return []cli.Flag{
		flags.Print(&g.print, Forms, `
			What is printed. text: the ten worst, for people. json: an object a line for each crawler and
			origin and each change of a text, and one about the log last, as docs/conduct.schema.json
			describes them. markdown: for a comment.`),
		{Name: "by", Arg: "key", Values: keys, Default: keys[0], Set: cli.Text(&g.by), Doc: `
			What a row is about. origin: a crawler at an origin. agent: a crawler at all of them.`},
		{Name: "fail", Arg: "gates", Set: cli.Words(&g.gates), Doc: `
			Exit with code 1 if there are more. A gate is violations, disallowed, gaps_short or a conduct, then
			perhaps a crawler or set, and a number or a share, as in violations=0,never_asked:@ai=1%. docs/CONDUCT.md
			tells more. May be repeated.`},
		{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.table.Out), Doc: `
			The file to write the rows to. x.parquet, x.arrow, x.arrows, x.csv, x.tsv or x.jsonl, the last
			three also with .zst or .gz behind. Default: none.`},
		g.table.FormatFlag(),
		{Name: "rows", Arg: "file", Files: true, Set: flags.OutputName(&g.rows), Doc: `
			A file to write each disallowed request to, with what its crawler knew. Its name says its format, as
			that of -out does.`},
		{Name: "changes", Arg: "file", Files: true, Set: flags.OutputName(&g.changes), Doc: `
			A file to write each change of a robots.txt to. It says when each crawler had it.`},
		g.table.SafeFlag(),
	}
}

// A run is one of the command conduct.
type run struct {
	passage.Passage
	opt   conduct.Options
	files files
	gates []gate.Gate
	form  string
}

// plan checks the flags, and finds the inputs.
func (g *given) plan(std console.Streams, faults cli.Faults) (guard.Task, error) {
	r := &run{form: g.print}
	g.Question.FromLog, g.Question.Recalls = true, true
	r.Choose(&g.Flags, std, &faults, &faults)
	r.LogOpt.Fields.Times = true
	r.Now.Opt.Deeds, r.Now.Opt.Directives = true, []robots.Directive{robots.CrawlDelayLines}
	r.opt.Cache = r.Now.Opt.Cache
	by, err := cli.Choose("key", g.by, keys)
	faults.Add("by", err)
	r.opt.ByAgent = err == nil && keys[by] == "agent"
	_, err = cli.Choose("form", g.print, Forms)
	faults.Add("print", err)
	r.gates, err = gates.Parse(g.gates)
	faults.Add("fail", err)
	g.chooseFiles(r, &faults)
	r.Memory.Plan = memory.PlanOf("conduct")
	r.ChooseWork(&g.Flags, &output.Options{}, &faults, r.files.names()...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	err = r.Find(&g.Flags, r.tempDir())
	if r.Logs == nil {
		return nil, err
	}
	if err = errors.Join(r.KeepRequests(g.rows != ""), err); err == nil {
		err = r.files.check(targets.Inputs{Path: g.Path, Logs: r.Logs.Inputs(), Rules: r.Now.Files})
	}
	return r, err
}

// chooseFiles sets the files that are written.
func (g *given) chooseFiles(r *run, faults *cli.Faults) {
	g.table.Out = targets.Standard(g.table.Out)
	var opt output.Options
	switch {
	case g.table.Out == say.Std:
		faults.Add("out", errors.New("standard output has the report: name a file"))
	case g.table.Out != "":
		g.table.ChooseFormat(g.table.Out, r.Out, &opt, faults)
	case g.table.Format != "":
		faults.Add("out-format", errors.New("nothing is written: name a file with -out"))
	}
	r.files.add("-out", g.table.Out, opt.Format, g.table.CSVSafe)
	for _, f := range []struct{ flag, name string }{{"rows", g.rows}, {"changes", g.changes}} {
		var format output.Format
		switch {
		case targets.Standard(f.name) == say.Std:
			faults.Add(f.flag, errors.New("standard output has the report: name a file"))
		case f.name != "":
			var err error
			format, err = output.FormatOf(f.name)
			faults.Add(f.flag, err)
		}
		r.files.add("-"+f.flag, f.name, format, g.table.CSVSafe)
	}
}

// Drop drops the files, unless they are complete, and the temporary pack.
func (r *run) Drop() (committed bool, err error) {
	if committed, err = r.files.drop(); committed {
		return committed, err
	}
	return false, errors.Join(err, r.Passage.Drop())
}

// Targets returns the names of the first and the last file.
func (r *run) Targets() (out, last string) {
	if names := r.files.names(); len(names) > 0 {
		return names[0], names[len(names)-1]
	}
	return say.Std, say.Std
}

// tempDir returns the directory for temporary files.
func (r *run) tempDir() string {
	out, _ := r.Targets()
	if out == say.Std {
		out = "."
	}
	return load.TempDir(out)
}

// Run takes the logs through the rules, and writes what crawlers knew.
func (r *run) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.files.close(), r.Close()) }()
	r.Hint(targets.Leftovers(r.files.names()...))
	if err := r.Load(ctx, r.tempDir()); err != nil {
		return err
	}
	r.DoubtMoment()
	r.opt.Memory, r.opt.TempDir = r.Parts.Counts, r.tempDir()
	r.opt.Status, r.opt.Method, r.opt.Bytes, r.opt.Client = r.Status, r.Method, r.Bytes, r.Client
	r.opt.Requests = r.files.all[ofRows].Name != ""
	journal := conduct.NewJournal(r.Now.Store, r.opt)
	defer journal.CloseTemp()
	src := r.Source()
	src.NoTimes, src.NoAgents = errNoTimes, errNoAgents
	if err := r.Take(ctx, src, journal); err != nil {
		return passage.Cause(err)
	}
	if r.Stats.URLs == 0 {
		return passage.ErrNoRequests
	}
	s, err := r.DoubtRows()
	if err == nil && len(r.gates) > 0 {
		err = r.JudgesNothing(s)
	}
	if err != nil {
		return err
	}
	return r.report(ctx, journal)
}

// The errors of logs that lack a field.
var (
	errNoTimes  = errors.New("this log has no times, and what a crawler knew is a question of time: name the field with -time-field, or the format of the log with -format")
	errNoAgents = errors.New("this log has no field user_agent, which names crawlers: name it with -ua-field, or the format of the log with -format")
)

// report judges the requests, and writes and prints what came of them.
func (r *run) report(ctx context.Context, journal *conduct.Journal) error {
	if err := r.files.create(r.opt); err != nil {
		return err
	}
	f := newFindings(r)
	f.cancel = ctx
	if err := cmp.Or(journal.Judge(f), f.err()); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.files.commit(&r.Console); err != nil {
		return err
	}
	if err := r.doubt(journal, f); err != nil {
		return err
	}
	f.judge()
	if err := f.print(); err != nil {
		return console.OutError(err)
	}
	return gate.Err(f.verdicts)
}

// doubt prints doubts about what the log says of crawlers. The error is that a gate names none of them.
func (r *run) doubt(journal *conduct.Journal, f *findings) error {
	if f.total.Requests > f.total.Impostors && !journal.HasTimes() {
		r.Doubt(doubt.Doubt{Code: doubt.NoTimes, Count: 1, Text: "no request of a crawler has a time, so that nothing is known of what it knew: name the field of the time with -time-field"})
	}
	if f.total.Robots > 0 && !journal.HasAnswers() {
		r.Doubt(doubt.Doubt{Code: doubt.NoAnswers, Count: f.total.Robots, Text: say.Count(f.total.Robots, "request") + " of robots.txt by crawlers, and no status of an answer: none counts, and crawlers may seem never to have asked; give a log that has the status"})
	}
	if err := f.judgesNothing(journal.HasTimes(), journal.HasAnswers()); err != nil {
		return err
	}
	idle, err := gate.Idle(r.gates, f.crawlers(), r.Now.Opt.Dialect)
	for _, seen := range idle {
		r.Doubt(seen)
	}
	return err
}
