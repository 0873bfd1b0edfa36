// Package conduct is the command conduct: it tells, by crawler and origin, which rules crawlers knew when they made
// requests that these rules forbid. Only cmd/robobatch imports it.
package conduct

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/command"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/passage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/shard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// given are the flags of the command conduct.
type given struct {
	passage.Flags
	table        flags.Table // -out
	rows         string
	changes      string
	by, print    string
	gates        []string
	shard, parts string
	merge        string

	ofLogs    []string // flags that are given, about logs and rules
	ofOutcome []string // the same, about the files and the text that come out
}

// keys are the values of -by.
var keys = []string{"origin", "agent"}

// Command returns the command conduct.
func Command() command.Command {
	g := new(given)
	c := command.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "conduct", "tell whether crawlers knew the rules that they broke"
	c.Intro = `
robobatch conduct tells, for each crawler of a log and each origin, when it asked for robots.txt, and what it knew when
it fetched what is disallowed.

    robobatch conduct -rules robots.txt -base https://www.example.com -in access.log

prints the ten worst. It needs the times of requests, and the status of answers. docs/CONDUCT.md tells more. It opens no
network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 done; 1 more than -fail allows; 2 an error of usage, input or output.`
	input := g.Input()
	for i := range input {
		input[i].Needed = "" // -merge takes the place of rules and logs
	}
	question := flags.Without(g.Question.LogFlags(flags.CountFor), "agent", "agent-from-log", "unknown-agents")
	merged := func(f cli.Flag) bool { return f.Name == "crawlers" }
	c.Flags = flags.Sections{
		Input:    noted(input, &g.ofLogs, nil),
		Question: noted(question, &g.ofLogs, merged),
		Output:   noted(g.outFlags(), &g.ofOutcome, nil),
		Run: append(g.shardFlags(), g.Work.MemoryFlags(`
			Three eighths of it are for crawlers and their requests: more go to a temporary file.`)...),
	}.All()
	return c
}

// noted returns flags that note their names when they are given, but for some.
func noted(all []cli.Flag, names *[]string, but func(cli.Flag) bool) []cli.Flag {
	for i, f := range all {
		if but != nil && but(f) {
			continue
		}
		all[i].Set = func(value string) error {
			if value != f.Default && !slices.Contains(*names, f.Name) {
				*names = append(*names, f.Name)
			}
			return f.Set(value)
		}
	}
	return all
}

// shardFlags returns the flags of runs that share the logs.
func (g *given) shardFlags() []cli.Flag {
	return []cli.Flag{
		flags.Shard(&g.shard),
		{Name: "parts", Arg: "dir", Rare: true, Files: true, Set: flags.OutputName(&g.parts), Doc: `
			The directory for what the shard finds, in place of a report.`},
		{Name: "merge", Arg: "dir", Rare: true, Files: true, Set: cli.Once(&g.merge, "all shards write to one directory"), Doc: `
			Judge what all shards wrote to the directory of -parts. It has no rules and logs.`},
	}
}

// outFlags returns the flags of the printed text and the written files.
func (g *given) outFlags() []cli.Flag {
	return []cli.Flag{
		flags.Print(&g.print, Forms, `
			What is printed. text: the ten worst, for people. json: an object a line for each crawler and
			origin, each change of a text, and the log, as docs/conduct.schema.json describes them. markdown: for a comment.`),
		{Name: "by", Arg: "key", Values: keys, Default: keys[0], Set: cli.Text(&g.by), Doc: `
			What a row is about. origin: a crawler at an origin. agent: a crawler at all of them.`},
		{Name: "fail", Arg: "gates", Set: cli.Words(&g.gates), Doc: `
			Exit with code 1 if a gate is exceeded. A gate is violations, disallowed, gaps_short or a conduct, then
			perhaps a crawler or set, and a number or a share, as in violations=0,never_asked:@ai=1%. docs/CONDUCT.md
			tells more. May be repeated.`},
		{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.table.Out), Doc: `
			The file to write rows to. x.parquet, x.arrow, x.arrows, x.csv, x.tsv or x.jsonl, the last
			three also with .zst or .gz behind. Default: none.`},
		g.table.FormatFlag(),
		{Name: "rows", Arg: "file", Files: true, Set: flags.OutputName(&g.rows), Doc: `
			A file for each disallowed request. Its name says its format, as that of -out does.`},
		{Name: "changes", Arg: "file", Files: true, Set: flags.OutputName(&g.changes), Doc: `
			A file for each change of a robots.txt, and when crawlers had it.`},
		g.table.SafeFlag(),
	}
}

// A run is one of the command conduct over logs.
type run struct {
	passage.Passage
	outcome
	opt   conduct.Options
	part  *part        // of a shard; nil if the findings are written and printed
	flags series.Flags // of a shard
}

// plan checks the flags, and finds the inputs.
func (g *given) plan(std console.Streams, faults cli.Faults) (guard.Task, error) {
	if g.merge != "" {
		return g.planMerge(std, faults)
	}
	r := &run{outcome: g.chooseOutcome(std, &faults)}
	g.Question.FromLog, g.Question.Recalls = true, true
	r.Choose(&g.Flags, std, &faults, &faults)
	g.checkNeeded(&faults)
	r.LogOpt.Fields.Times = true
	r.Now.Opt.Deeds, r.Now.Opt.Directives = true, []robots.Directive{robots.CrawlDelayLines}
	r.opt.Cache = r.Now.Opt.Cache
	r.part = g.choosePart(&faults)
	r.Memory.Plan = memory.PlanOf("conduct")
	r.ChooseWork(&g.Flags, &output.Options{}, &faults, r.names()...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	err := r.Find(&g.Flags, r.tempDir())
	if r.Logs == nil {
		return nil, err
	}
	if err = errors.Join(r.KeepRequests(r.part != nil || g.rows != ""), err); err == nil {
		err = r.files.check(targets.Inputs{Path: g.Path, Logs: r.Logs.Inputs(), Rules: r.Now.Files})
	}
	if err == nil && r.part != nil {
		err = r.takePart(g)
	}
	return r, err
}

// checkNeeded checks that rules and logs are named.
func (g *given) checkNeeded(faults *cli.Faults) {
	if !faults.None() {
		return // an argument that is no flag may be meant as the missing value
	}
	if g.Path == "" {
		faults.Add("", fmt.Errorf("-rules is missing: %s", flags.NameRules))
	}
	if len(g.Logs.In) == 0 {
		faults.Add("", fmt.Errorf("-in is missing: %s", flags.NameLog))
	}
}

// choosePart returns the part that a shard writes; nil if the run is none.
func (g *given) choosePart(faults *cli.Faults) *part {
	s, err := shard.Parse(g.shard, os.Getenv)
	faults.Add("shard", err)
	switch {
	case g.parts == "" && g.shard != "":
		faults.Add("shard", errors.New("name a directory for what the shard finds, with -parts"))
	case g.parts == "":
		return nil
	}
	for _, name := range g.ofOutcome {
		faults.Add(name, errors.New("a shard writes to the directory of -parts only: give this flag to conduct -merge"))
	}
	if slices.Contains(g.Logs.In, say.Std) {
		faults.Add("in", errors.New("standard input cannot be read again, so it is of no shard: write it to a file first"))
	}
	if g.Logs.Limit > 0 {
		faults.Add("limit", errors.New("it counts rows of all logs, and a shard reads some of them: leave it out"))
	}
	return newPart(g.parts, s)
}

// names returns the names of the files that the run writes.
func (r *run) names() []string {
	if r.part != nil {
		return []string{r.part.Name}
	}
	return r.files.names()
}

// Drop drops the files, unless they are complete, and the temporary pack.
func (r *run) Drop() (committed bool, err error) {
	committed, err = r.files.drop()
	if r.part != nil {
		committed, err = r.part.Drop()
	}
	if committed {
		return committed, err
	}
	return false, errors.Join(err, r.Passage.Drop())
}

// Targets returns the names of the first and the last file.
func (r *run) Targets() (out, last string) {
	if r.part != nil {
		return r.part.Name, r.part.manifest()
	}
	return r.outcome.Targets()
}

// tempDir returns the directory for temporary files.
func (r *run) tempDir() string {
	if r.part != nil {
		return place.TempDir(r.part.Name)
	}
	return r.outcome.tempDir()
}

// Run decides the requests of the logs, and reports the rules that crawlers knew.
func (r *run) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.files.close(), r.part.close(), r.Close()) }()
	if err := r.part.begin(); err != nil {
		return err
	}
	r.Hint(targets.Leftovers(r.names()...))
	r.WarnOnce(targets.Mixed(r.names()...))
	if err := r.Load(ctx, r.tempDir()); err != nil {
		return err
	}
	r.WarnMoment()
	r.opt.Memory, r.opt.TempDir = r.Parts.Counts, r.tempDir()
	r.opt.Status, r.opt.Method, r.opt.Bytes, r.opt.Client = r.Status, r.Method, r.Bytes, r.Client
	r.opt.Texts = r.Now.Texts
	r.opt.Requests, r.opt.ByAgent = r.part != nil || r.hasRows(), r.byAgent
	journal := conduct.NewJournal(r.Now.Store, r.opt)
	defer journal.CloseTemp()
	if r.part != nil {
		return r.finishPart(ctx, journal)
	}
	if err := r.takeLogs(ctx, journal); err != nil {
		return err
	}
	if r.Stats.URLs == 0 {
		return passage.ErrNoRequests
	}
	s, err := r.WarnRows()
	if err == nil && len(r.gates) > 0 {
		err = r.JudgesNothing(s)
	}
	if err != nil {
		return err
	}
	a := r.about(journal)
	return r.report(ctx, &r.Console, &a, journal.Judge)
}

// takeLogs decides the rows of the logs, and gives them to the journal.
func (r *run) takeLogs(ctx context.Context, journal *conduct.Journal) error {
	src := r.Source()
	src.NoTimes, src.NoAgents = errNoTimes, errNoAgents
	return passage.Cause(r.Take(ctx, src, journal))
}

// The errors of logs that lack a field.
var (
	errNoTimes  = errors.New("this log has no times, and what a crawler knew is a question of time: name the field with -time-field, or the format of the log with -format")
	errNoAgents = errors.New("this log has no field user_agent, which names crawlers: name it with -ua-field, or the format of the log with -format")
)

// about returns the facts about the logs that the report needs, once their rows were read.
func (r *run) about(journal *conduct.Journal) about {
	a := about{
		Dialect: r.Now.Opt.Dialect, Requests: r.Stats.URLs, Verified: r.Now.Opt.Ranges != nil, Bytes: journal.HasBytes(),
		Times: journal.HasTimes(), Answers: journal.HasAnswers(),
	}
	a.Bodies, a.Headers = journal.Sizes()
	if r.Logs != nil {
		a.inputs = r.InputNames()
		a.Rejected = summary.Sum(r.Logs.Counts().Refused) + r.Stats.Reasons[engine.ReasonBadURL]
	}
	return a
}
