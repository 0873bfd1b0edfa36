// Package conduct implements the command conduct, which reports, per crawler and origin, the rules that crawlers knew
// when they made disallowed requests. Only cmd/robobatch imports it.
package conduct

import (
	"context"
	"errors"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// given are the flags of the command conduct.
type given struct {
	pipeline.Flags
	table     flags.Table // -out
	rows      string
	changes   string
	by, print string
	gates     []string
}

// keys are the values of -by.
var keys = []string{"origin", "agent"}

// Command returns the command conduct.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "conduct", "report whether crawlers knew the rules that they broke"
	c.Intro = `
robobatch conduct reports for each crawler and origin of a log when the crawler requested robots.txt, and what it knew
when it made disallowed requests.

    robobatch conduct -rules robots.txt -base https://www.example.com -in access.log

prints the ten worst. It needs request times and status codes (docs/CONDUCT.md). It opens no network connection unless a
name begins with s3://.`
	c.Rest = `
Exit codes: 0 done; 1 a gate of -fail is exceeded; 2 an error of usage, input or output.`
	c.Flags = flags.Sections{
		Input:    g.InputFlags(),
		Question: flags.Without(g.Question.LogFlags(flags.CountFor), "agent", "agent-from-log", "unknown-agents"),
		Output: []cli.Flag{
			flags.Print(&g.print, Forms, `
			Form of the output. text: the ten worst. json: one object per line (docs/conduct.schema.json). markdown: for
			a comment.`),
			{Name: "by", Arg: "key", Values: keys, Default: keys[0], Set: cli.Text(&g.by), Doc: `
			One row per crawler and origin (origin), or per crawler (agent).`},
			{Name: "fail", Arg: "gates", Set: cli.Words(&g.gates), Doc: `
			Exit with code 1 if a gate is exceeded. A gate is violations, disallowed, gaps_short or a conduct,
			optionally a crawler or set, and a number or share: violations=0,never_asked:@ai=1% (docs/CONDUCT.md). May
			be repeated.`},
			{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.table.Out), Doc: `
			The file to write rows to, in any format of a run (docs/OUTPUT.md). Default: none.`},
			g.table.FormatFlag(),
			{Name: "rows", Arg: "file", Files: true, Set: flags.OutputName(&g.rows), Doc: `
			The file to write disallowed requests to, one per row.`},
			{Name: "changes", Arg: "file", Files: true, Set: flags.OutputName(&g.changes), Doc: `
			File for the changes of robots.txt, and when crawlers received them.`},
			g.table.CSVFlag(),
		},
		Run: g.Work.MemoryFlags(`
			Three eighths are for crawlers and their requests; if these need more, they go to a temporary file.`),
	}.All()
	return c
}

// A run implements the command conduct.
type run struct {
	pipeline.Pipeline
	outcome
	opt conduct.Options
}

// plan checks the flags, and finds the inputs.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	r := &run{outcome: g.chooseOutcome(std, &faults)}
	g.Question.FromLog, g.Question.Recalls = true, true
	r.Choose(&g.Flags, std, &faults, &faults)
	r.LogOpt.Fields.Times = true
	r.Now.Opt.Evidence, r.Now.Opt.Directives = true, []robots.Directive{robots.CrawlDelayLines}
	r.opt.Cache = r.Now.Opt.Cache
	r.Memory.Plan = memory.PlanOf("conduct")
	r.ChooseWork(&g.Flags, &output.Options{}, &faults, r.files.names()...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	err := r.Find(&g.Flags)
	if r.Logs == nil {
		return nil, err
	}
	if err = errors.Join(r.KeepRequests(g.rows != ""), err); err == nil {
		// Check that the outputs overwrite neither inputs nor each other.
		read := outputs.Inputs{Path: g.Path, Logs: r.Logs.Inputs(), Rules: r.Now.Files}
		var errs []error
		var others []outputs.Other
		for _, t := range r.files.all {
			if t.Name == "" {
				continue
			}
			errs = append(errs, outputs.CheckFile(t.flag, t.Name, read, others...))
			others = append(others, outputs.Other{Flag: t.flag, Name: t.Name})
		}
		err = errors.Join(errs...)
	}
	return r, err
}

// Drop removes the incomplete files and the temporary packs. committed means that a file is complete; then the packs
// stay. Any goroutine may call it.
func (r *run) Drop() (committed bool, err error) {
	for _, t := range r.files.all {
		if t.Name == "" {
			continue
		}
		done, errFile := t.Drop()
		committed, err = committed || done, errors.Join(err, errFile)
	}
	if committed {
		return committed, err
	}
	return false, errors.Join(err, r.Pipeline.Drop())
}

// Run evaluates the requests of the logs, writes the files, and prints the rules that crawlers knew. An exceeded gate
// is an error.
func (r *run) Run(ctx context.Context) (err error) {
	defer func() { // Drop incomplete files.
		errs := make([]error, 0, len(r.files.all))
		for _, t := range r.files.all {
			errs = append(errs, t.Close())
		}
		err = errors.Join(err, errors.Join(errs...), r.Close())
	}()
	r.Hint(outputs.Leftovers(r.files.names()...))
	r.WarnOnce(outputs.WarnMixed(r.files.names()...))
	if err := r.Load(ctx, r.tempDir()); err != nil {
		return err
	}
	r.WarnMoment()
	r.opt.Memory, r.opt.TempDir = r.Parts.Counts, r.tempDir()
	r.opt.Status, r.opt.Method, r.opt.Bytes, r.opt.Client = r.Status, r.Method, r.Bytes, r.Client
	r.opt.Texts = r.Now.Texts
	r.opt.Requests, r.opt.ByAgent = r.files.all[ofRows].Name != "", r.byAgent
	journal := conduct.NewJournal(r.Now.Store, r.opt)
	defer journal.CloseTemp()
	src := r.Source()
	src.NoTimes, src.NoAgents = errNoTimes, errNoAgents
	if err := pipeline.Cause(r.Take(ctx, src, journal)); err != nil {
		return err
	}
	if r.Stats.URLs == 0 {
		return pipeline.ErrNoRequests
	}
	s, err := r.WarnRows()
	if err == nil && len(r.gates) > 0 {
		err = r.CheckGates(s)
	}
	if err != nil {
		return err
	}
	return r.report(ctx, &r.Console, &about{
		inputs: r.InputNames(), dialect: r.Now.Opt.Dialect, requests: r.Stats.URLs, verified: r.Now.Opt.Ranges != nil,
		rejected: summary.Sum(r.Logs.Counts().Refused) + r.Stats.Reasons[engine.ReasonBadURL],
		bytes:    journal.HasBytes(), times: journal.HasTimes(), answers: journal.HasAnswers(),
	}, journal)
}

// Errors for logs without a required field.
var (
	errNoTimes  = errors.New("this log has no times, which conduct needs to determine what a crawler knew: name the field with -field time=name, or the format of the log with -format")
	errNoAgents = errors.New("this log has no field user_agent, which identifies crawlers: name it with -field agent=name, or the format of the log with -format")
)
