// Package pipe implements the command pipe, which adds verdicts to an Arrow stream. Only cmd/robobatch imports it.
package pipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/pipe"
)

// given are the flags of the command pipe.
type given struct {
	flags.Rules
	question               flags.Question
	work                   flags.Work
	urlColumn, agentColumn string
	columns, prefix        string
	layout, badAgents      string
	format                 string
	fields                 []string
	clientAt               int
	verdictsOnly           bool
	pool, perStream        bool
}

// Command returns the command pipe.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, Packs: true, Plan: g.plan}
	c.Name, c.About = "pipe", "add verdicts to an Arrow stream, for engines that call a program"
	c.Unexpected = func(string) string {
		return "pipe accepts only flags, and reads rows from standard input: see robobatch pipe -h"
	}
	c.Intro = `
robobatch pipe adds verdicts to the rows of an Arrow IPC stream, for engines that send rows to a program and read them back.

    … | robobatch pipe -rules rules.rbp | …

reads a stream with a column url from standard input. It writes the same rows and columns to standard output, batch by
batch, followed by the verdict columns. It opens no network connection unless a name begins with s3://. docs/LAKE.md has examples.`
	c.Rest = `
Exit codes: 0 done, or standard output was closed; 2 an error of usage or input. After an
error, the stream contains the batches before it, and has no end mark.`
	c.Flags = flags.Sections{
		Input: append(g.PipeFlags(), cli.Flag{
			Name: "url-column", Arg: "name", Default: "url",
			Set: cli.Text(&g.urlColumn), Doc: `
			The URL column. It is utf8 or binary, their large or view forms, or a dictionary of these.`,
		}, cli.Flag{Name: "format", Arg: "name", Values: formats, Default: formats[0], Rare: true, Set: cli.Text(&g.format), Doc: `
			Format of standard input and output. arrow. lines: a URL, a tab and a crawler, answered by
			true, false or null.`},
			cli.Flag{Name: "field", Arg: "name", Set: func(s string) error {
				g.fields = append(g.fields, s)
				return nil
			}, Doc: `
			The column for a role: agent=user_agent, client=address or time=time. A time is a timestamp or text. May be repeated.`},
			cli.Flag{Name: "client-at", Arg: "n", Default: "0", Rare: true, Set: cli.Int(&g.clientAt), Doc: `
			Position of the client's address in a field with several. 1 is the first, -1 the last.`}),
		Question: slices.Concat([]cli.Flag{
			{Name: "agent-column", Arg: "name", Set: cli.Text(&g.agentColumn), Doc: `
		The crawler column, instead of -agent. It contains a product token or *, in a type of -url-column. The added
		columns are those of one agent.`},
			{Name: "bad-agents", Arg: "what", Values: badAgents, Default: badAgents[0], Rare: true, Set: cli.Text(&g.badAgents), Doc: `
		What happens to rows whose -agent-column is null, empty or not one word. null: null verdict with the reason
		bad_agent. fail: exit with code 2.`},
			g.question.NamesFlag("Crawlers to decide for: product tokens, separated by commas. Several give a column each, such as "+
				"allowed_googlebot, in one row.", flags.EveryClient), g.question.CrawlersFlag(),
		}, flags.Without(g.question.Agents.LogFlags(), "unknown-agents"), g.question.RowTimeFlags(), g.question.AnswerFlags()),
		Output: []cli.Flag{
			{Name: "layout", Arg: "how", Values: flags.Layouts, Default: output.Wide.String(), Rare: true, Set: cli.Text(&g.layout), Doc: `
			Layout for several agents. wide: one row per URL. long: one row per URL and agent; only with
			-verdicts-only.`},
			{
				Name: "columns", Arg: "list", Values: output.VerdictColumns(), List: true,
				Set: cli.Text(&g.columns), Doc: `
			The columns to add, in this order. Default: origin,allowed,reason,rule_line,rule;
			canonical_url only if named, and with several agents also reason and rule. +usage adds the columns of
			usage preferences (drafts).`,
			},
			{Name: "prefix", Arg: "text", Set: cli.Text(&g.prefix), Doc: `
			Prefix for the names of the added columns.`},
			{Name: "verdicts-only", Set: cli.Bool(&g.verdictsOnly), Doc: `
			Omit the input columns, for a caller that keeps them.`},
			{Name: "pool", Set: cli.Bool(&g.pool), Doc: `
			Do not write an end mark after a stream. ClickHouse's executable_pool requires this.`},
			{Name: "per-stream", Set: cli.Bool(&g.perStream), Doc: `
			Print warnings after each stream, for several streams to one process. Then print "robobatch: end of stream 1"
			and so on.`},
		},
		Run: flags.Without(g.work.MemoryFlags(""), "progress"),
	}.All()
	return c
}

// A run implements the command pipe: a pipeline from standard input to standard output.
type run struct {
	pipeline.Pipeline
	process.Printed
	opt       pipe.Options
	lines     bool // the questions are lines of text
	perStream bool // each stream has its own warnings
	streams   int  // number of streams that have ended, with perStream

	agents []string // crawlers that rows of the stream name, at most mostNamed
}

// mostNamed is the maximum number of crawler names per stream that are checked for misspellings.
const mostNamed = 1024

// plan checks the flags, and finds the rules.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	r := &run{opt: pipe.Options{URLColumn: g.urlColumn, Prefix: g.prefix, VerdictsOnly: g.verdictsOnly, NoEnd: g.pool}, perStream: g.perStream}
	g.work.Progress = "off"
	f := &pipeline.Flags{Rules: g.Rules, Question: g.question, Work: g.work}
	r.Console = console.Console{Streams: std, Quiet: g.work.Quiet, Progress: console.Off}
	g.question.MaxMemory = g.work.MaxMemory
	r.Now = pipeline.NewSide(&g.Rules, &g.question, &faults)
	g.chooseAgents(r, &faults)
	layout, err := output.ParseLayout(g.layout)
	faults.Add("layout", cli.Hint(err, g.layout, flags.Layouts))
	several := len(r.Now.Opt.Agents) > 1
	if r.opt.Long = several && layout == output.Long && err == nil; r.opt.Long && !g.verdictsOnly {
		faults.Add("layout", errors.New("each input row gives one output row: add -verdicts-only, or use wide"))
	}
	if !several {
		layout = output.Long
	}
	defaults := layout.VerdictDefaults()
	if g.question.FromLog || r.opt.Long {
		defaults = slices.Insert(defaults, slices.Index(defaults, "allowed"), "agent")
	}
	if g.question.FromLog {
		defaults = append(defaults, output.LogColumns()...)
	}
	if r.Now.Opt.Ranges != nil {
		defaults = append(defaults, output.RangesColumns()...)
	}
	r.opt.Columns, err = output.ParseVerdictColumns(output.AddColumns(g.columns, defaults))
	if r.opt.Columns == nil {
		r.opt.Columns = defaults
	}
	faults.Add("columns", flags.WithColumnHints(err))
	for _, name := range r.opt.Columns {
		switch needs := output.NeedsOf(name); {
		case needs.LogAgents && !g.question.FromLog:
			faults.Add("columns", fmt.Errorf("the column %s needs -agent-from-log: add it", name))
		case needs.Ranges && r.Now.Opt.Ranges == nil:
			faults.Add("columns", fmt.Errorf("the column %s needs lists of crawler addresses: name them with -ranges", name))
		}
	}
	if asked := r.Now.Opt.Agents; several && !r.opt.Long && faults.None() {
		_, err := (output.Options{Layout: output.Wide, Columns: r.opt.Columns}).ColumnNames(asked)
		faults.Add("agent", err)
	}
	r.Now.Opt.Directives = output.NeedsOf(r.opt.Columns...).Directives
	r.Memory.Plan = memory.PlanOf("pipe")
	r.ChooseWork(f, &output.Options{}, &faults)
	if console.IsTerminal(std.In) {
		faults.Add("", errors.New("standard input is a terminal: send an Arrow stream to it, for example: … | robobatch pipe -rules rules.rbp | …"))
	}
	if console.IsTerminal(std.Out) {
		faults.Add("", errors.New("standard output is a terminal, and an Arrow stream is not text: redirect it"))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	err = r.FindRules(f)
	r.opt.Workers = r.RunOpt.Workers
	return r, err
}

// formats are the values of -format.
var formats = []string{"arrow", "lines"}

// badAgents are the values of -bad-agents.
var badAgents = []string{"null", "fail"}

// chooseAgents sets where crawlers come from: the flags, a column of the rows, lines of text, or the User-Agents of
// requests. It also sets the columns of other roles.
func (g *given) chooseAgents(r *run, faults *cli.Faults) {
	bad, err := cli.Choose("answer", g.badAgents, badAgents)
	faults.Add("bad-agents", err)
	r.opt.RefuseAgents = bad == 1
	columns := map[string]string{}
	for _, item := range g.fields {
		role, name, _ := strings.Cut(item, "=")
		_, err := cli.Choose("role", role, []string{"agent", "client", "time"})
		if _, twice := columns[role]; err == nil && (name == "" || twice) {
			err = fmt.Errorf("%q: name one column for a role, as in agent=user_agent", item)
		}
		faults.Add("field", err)
		columns[role] = name
	}
	format, err := cli.Choose("format", g.format, formats)
	faults.Add("format", err)
	if r.lines = format == 1; r.lines {
		if len(g.question.Names) > 0 || g.agentColumn != "" || g.question.FromLog || g.question.ByRow() {
			faults.Add("format", errors.New("each line names its crawler: leave out -agent, -agent-column, -agent-from-log and -as-of log"))
		}
		r.opt.CheckAgent, r.Now.Opt.LogAgents = r.checkAgent, engine.LogAgentsByName
	}
	if g.agentColumn != "" {
		if len(g.question.Names) > 0 {
			faults.Add("agent-column", errors.New("the column names the crawlers: leave out -agent"))
		}
		if g.question.FromLog {
			faults.Add("agent-column", errors.New("-agent-from-log already identifies the crawlers: use only one of these flags"))
		}
		if g.agentColumn == g.urlColumn {
			faults.Add("agent-column", errors.New("this is the URL column: name the crawler column"))
		}
		r.opt.AgentColumn, r.opt.CheckAgent, r.Now.Opt.LogAgents = g.agentColumn, r.checkAgent, engine.LogAgentsByName
	}
	for _, need := range []struct {
		flag, role string
		is         bool
		column     *string
	}{
		{"agent-from-log", "agent", g.question.FromLog, &r.opt.AgentColumn},
		{"ranges", "client", g.question.Verifies(), &r.opt.ClientColumn},
		{"as-of", "time", g.question.ByRow(), &r.opt.TimeColumn},
	} {
		name, named := columns[need.role]
		isUsed := need.is || need.role == "time" && g.question.Verifies()
		switch {
		case need.is && !named:
			faults.Add(need.flag, fmt.Errorf("missing column: add -field %s=name", need.role))
		case named && !isUsed:
			faults.Add("field", fmt.Errorf("%s: this role needs -%s: add it, or leave the role out", need.role, need.flag))
		case isUsed:
			*need.column = name
		}
	}
	if g.question.FromLog || g.question.ByRow() {
		if g.agentColumn != "" {
			faults.Add("agent-column", errors.New("cannot be used with -as-of log, where rows are requests of a log: use -agent, or -agent-from-log"))
		}
		r.opt.Log = &ingest.RequestFields{ClientAt: g.clientAt}
	}
}

// checkAgent returns an error if the crawler name of a row is not one name, and records valid names for the warnings,
// up to mostNamed.
func (r *run) checkAgent(name string) error {
	if err := flags.CheckAgentOfRow(name); err != nil {
		return err
	}
	if len(r.agents) < mostNamed && !slices.Contains(r.agents, name) {
		r.agents = append(r.agents, name)
	}
	return nil
}

// Drop removes the temporary pack. The rows are on standard output, so there is no file to drop.
func (r *run) Drop() (committed bool, err error) { return false, r.Pipeline.Drop() }

// Run evaluates the rows of standard input, and writes their verdicts to standard output. If standard output is
// closed, it waits at most process.Grace for input.
func (r *run) Run(ctx context.Context) (err error) {
	if err := r.Load(ctx, pipeline.TempDir(msg.Std)); err != nil {
		return errors.Join(err, r.Unload())
	}
	r.WarnMoment()
	if r.perStream {
		always := r.Warnings
		r.opt.Ended = func(stats engine.Stats) { // print all warnings of each stream, also repeated ones
			if r.streams++; r.streams > 1 {
				r.Warnings = nil
				r.WarnOnce(always)
			}
			r.warnRows(&stats)
			fmt.Fprintf(r.Err, "robobatch: end of stream %d\n", r.streams) //nolint:errcheck // there is nowhere left to say it
		}
	}
	out := console.NewWriter(r.Out)
	run := pipe.Run
	if r.lines {
		run = pipe.RunLines
	}
	done := panics.Run(func() error {
		stats, err := run(ctx, r.Now.Store, r.In, out, r.opt)
		if err == nil {
			r.warnRows(&stats)
		}
		return errors.Join(err, r.Unload())
	})
	select {
	case err = <-done:
	case <-out.Failed: // the input may be idle, too
		select {
		case err = <-done:
		case <-time.After(process.Grace):
		}
	}
	if out.Err != nil {
		return console.OutError(out.Err)
	}
	if _, ok := errors.AsType[*pipe.StreamError](err); ok {
		return fmt.Errorf("standard input: %w", err)
	}
	return err
}

// warnRows prints the warnings about the rows of a stream, and forgets the crawler names that were recorded for them.
func (r *run) warnRows(stats *engine.Stats) {
	if opt := r.Now.Opt; len(r.agents) > 0 && r.Now.Store.Err() == nil {
		opt.Agents, opt.Tokens = r.agents, flags.NeedsRuleTokens(r.agents, opt.Dialect)
		r.WarnOnce(pipeline.WarnAgents(&opt, r.Now.Store))
		r.agents = nil
	}
	r.WarnOnce(warning.Senders(stats))
	r.WarnOnce(warning.Verdicts(r.Now.Store, stats, "no row has a URL with a scheme and a host: name the URL column with -url-column", 0))
}
