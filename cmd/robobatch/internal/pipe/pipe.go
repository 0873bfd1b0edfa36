// Package pipe is the command pipe: it adds verdicts to an Arrow stream. Only cmd/robobatch imports it.
package pipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/passage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
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
	verdictsOnly           bool
	pool, perStream        bool
}

// Command returns the command pipe.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, Packs: true, Plan: g.plan}
	c.Name, c.About = "pipe", "add verdicts to an Arrow stream, for engines that call a program"
	c.Stray = func(string) string { return "pipe takes flags only, and rows on standard input: see robobatch pipe -h" }
	c.Intro = `
robobatch pipe adds verdicts to the rows of an Arrow IPC stream, for engines that send rows to a program and read them back.

    … | robobatch pipe -rules rules.rbp | …

reads a stream with a column url on standard input, and writes it to standard output with the same rows and columns, batch
by batch, and the columns of the verdicts behind them. It opens no network connection unless a name begins with s3://. docs/LAKE.md has examples.`
	c.Rest = `
Exit codes: 0 done, or standard output was closed; 2 an error of usage or input. After an
error, the batches before it are written, and the stream has no end mark.`
	c.Flags = flags.Sections{
		Input: append(g.PipeFlags(), cli.Flag{
			Name: "url-column", Arg: "name", Default: "url",
			Set: cli.Text(&g.urlColumn), Doc: `
			The URL column. It is utf8 or binary, their large or view forms, or a dictionary of these.`,
		}),
		Question: slices.Concat([]cli.Flag{
			{Name: "agent-column", Arg: "name", Set: cli.Text(&g.agentColumn), Doc: `
		The crawler column, instead of -agent. It contains a product token or *, in a type of -url-column. A value
		that is null, empty or not one word is an error. The added columns are those of one agent.`},
			g.question.NamesFlag("Crawlers to decide for: product tokens, separated by commas. Several give a column each, such as "+
				"allowed_googlebot, in one row.", flags.EveryClient), g.question.CrawlersFlag(),
		}, g.question.MomentFlags(), g.question.AnswerFlags()),
		Output: []cli.Flag{
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
			Write no end mark after a stream. ClickHouse's executable_pool needs this.`},
			{Name: "per-stream", Set: cli.Bool(&g.perStream), Doc: `
			Print warnings after each stream, for several streams to one process. Then print "robobatch: end of stream 1"
			and so on.`},
		},
		Run: flags.Without(g.work.MemoryFlags(""), "progress"),
	}.All()
	return c
}

// A run is one of the command pipe: a passage whose rows come from standard input, and go to
// standard output.
type run struct {
	passage.Passage
	guard.Printed
	opt       pipe.Options
	perStream bool // streams have their own warnings
	streams   int  // that have ended, if so

	agents []string // that rows of the stream name, at most mostNamed of them
}

// mostNamed is how many names of agents of a stream may get a warning.
const mostNamed = 1024

// plan checks the flags, and finds the rules.
func (g *given) plan(std console.Streams, faults cli.Faults) (guard.Task, error) {
	r := &run{opt: pipe.Options{URLColumn: g.urlColumn, Prefix: g.prefix, VerdictsOnly: g.verdictsOnly, NoEnd: g.pool}, perStream: g.perStream}
	g.work.Progress = "off"
	f := &passage.Flags{Rules: g.Rules, Question: g.question, Work: g.work}
	r.Console = console.Console{Streams: std, Quiet: g.work.Quiet, Progress: console.Off}
	var err error
	r.Now = passage.NewSide(&g.Rules, &g.question, &faults)
	if g.question.ByRow() {
		faults.Add("as-of", errors.New("rows of a stream have no times that are read: name a moment, as in 2026-01-31"))
	}
	// Say whether rows name their crawlers.
	if g.agentColumn != "" {
		if len(g.question.Names) > 0 {
			faults.Add("agent-column", errors.New("the crawlers are those of the column: leave out -agent"))
		}
		if g.agentColumn == g.urlColumn {
			faults.Add("agent-column", errors.New("this is the column of the URLs: name that of the crawlers"))
		}
		r.opt.AgentColumn, r.opt.CheckAgent, r.Now.Opt.LogAgents = g.agentColumn, r.checkAgent, engine.LogAgentsByName
	}
	layout := output.Long
	if len(r.Now.Opt.Agents) > 1 {
		layout = output.Wide
	}
	r.opt.Columns, err = output.ParseVerdictColumns(output.AddColumns(g.columns, layout.VerdictDefaults()))
	faults.Add("columns", flags.WithColumnHints(err))
	if asked := r.Now.Opt.Agents; len(asked) > 1 && faults.None() {
		_, err := (output.Options{Layout: output.Wide, Columns: r.opt.Columns}).ColumnNames(asked)
		faults.Add("agent", err)
	}
	r.Now.Opt.Directives = output.NeedsOf(r.opt.Columns...).Directives
	r.Memory.Plan = memory.PlanOf("pipe")
	r.ChooseWork(f, &output.Options{}, &faults)
	if console.IsTerminal(std.In) {
		faults.Add("", errors.New("standard input is a terminal: send an Arrow stream to it, as in: … | robobatch pipe -rules rules.rbp | …"))
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

// checkAgent checks the name of a crawler that a row has, and keeps it.
func (r *run) checkAgent(name string) error {
	if err := agents.CheckRow(name); err != nil {
		return err
	}
	if len(r.agents) < mostNamed && !slices.Contains(r.agents, name) {
		r.agents = append(r.agents, name)
	}
	return nil
}

// Drop removes the temporary pack: the rows are on standard output.
func (r *run) Drop() (committed bool, err error) { return false, r.Passage.Drop() }

// Run takes standard input through the rules.
func (r *run) Run(ctx context.Context) (err error) {
	if err := r.Load(ctx, load.TempDir(say.Std)); err != nil {
		return errors.Join(err, r.Unload())
	}
	r.WarnMoment()
	if r.perStream {
		always := r.Warnings
		r.opt.Ended = func(stats engine.Stats) { r.endStream(always, &stats) }
	}
	out := console.NewWriter(r.Out)
	done := panics.Run(func() error {
		stats, err := pipe.Run(ctx, r.Now.Store, r.In, out, r.opt)
		if err == nil {
			r.warn(&stats)
		}
		return errors.Join(err, r.Unload())
	})
	select {
	case err = <-done:
	case <-out.Failed: // it may be that nothing more comes in, either
		select {
		case err = <-done:
		case <-time.After(guard.Grace):
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

// warn prints the warnings about rows.
func (r *run) warn(stats *engine.Stats) {
	if opt := r.Now.Opt; len(r.agents) > 0 && r.Now.Store.Err() == nil {
		opt.Agents, opt.Tokens = r.agents, agents.NeedNamed(r.agents, opt.Dialect)
		r.WarnOnce(passage.WarnAgents(&opt, r.Now.Store))
		r.agents = nil
	}
	r.WarnOnce(warning.Decided(r.Now.Store, stats, "no row has a URL with a scheme and a host: name the column of the URLs with -url-column", 0))
}

// endStream prints the warnings about a stream, those that there are whatever comes included, and
// then that it has ended. So whoever sends several streams knows which warnings are whose.
func (r *run) endStream(always []warning.Warning, stats *engine.Stats) {
	if r.streams++; r.streams > 1 {
		r.Warnings = nil
		r.WarnOnce(always)
	}
	r.warn(stats)
	fmt.Fprintf(r.Err, "robobatch: end of stream %d\n", r.streams) //nolint:errcheck // there is nowhere left to say it
}
