package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// censusFlags are the flags of the command census.
type censusFlags struct {
	flags.Rules
	reading flags.Reading
	agents  flags.Agents
	work    flags.Work
	table   flags.Table // -out
	moments []string    // values of -as-of
	weights string
	print   string
}

// monthly is the word for -as-of that means the first day of each month.
const monthly = "monthly"

// Forms are the output forms of the counts.
var Forms = []string{"text", "json", "markdown"}

// CensusCommand returns the command census.
func CensusCommand() flags.Command {
	g := new(censusFlags)
	c := flags.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "census", "count the sites that block crawlers, in whole or in part"
	c.Intro = `
robobatch census reports for each origin and crawler whether robots.txt allows no path, some or all.

    robobatch census -rules dir -agent @ai,@search -out census.parquet

prints the counts, and writes a row for each origin and crawler (docs/CENSUS.md). The answers are about all paths, and
exact. It opens no network connection unless a name begins with s3://.`
	input := g.FileFlags()
	input[0] = g.Flags(flags.NameRules)[0]
	c.Flags = flags.Sections{
		Input: append(input, cli.Flag{Name: "weights", Arg: "file", Files: true, Set: cli.NotEmpty(&g.weights, "name a file"), Doc: `
			Weights of origins, such as their traffic. Each line has an origin or host, and a number, separated by a tab or
			comma.`}),
		Question: append([]cli.Flag{g.agents.NamesFlag("Crawlers to count for: product tokens, separated by commas.", flags.EveryClient), g.agents.CrawlersFlag()},
			g.reading.SeriesFlags(&g.moments, monthly)...),
		Output: []cli.Flag{
			flags.Print(&g.print, Forms, `
			Form of the output. text: a table. json: one object per crawler and moment
			(docs/census.schema.json). markdown: a table.`),
			{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.table.Out), Doc: `
			The file to write rows to. x.parquet, x.arrow, x.arrows, x.csv, x.tsv or x.jsonl, the last three optionally
			with .zst or .gz. Default: none.`},
			g.table.FormatFlag(), g.table.CSVFlag(),
		},
		Run: g.work.Flags(),
	}.All()
	return c
}

// A run implements the command census.
type run struct {
	console.Console
	process.Sink[storage.Output] // of -out

	rules    pipeline.Rules
	opt      engine.StoreOptions
	only     robots.Origin // the only requested origin; "" means all
	moments  []int64       // engine.NoTime means the newest capture
	monthly  bool
	weights  map[string]float64 // by origin or host; nil without -weights
	tableOpt output.CellOptions
	table    *output.CellTable // nil without -out
	cells    []parquet.Cell    // the cells of a row
	form     string
}

// packMemory is the memory in bytes for the rules of a pack, without its index. A small limit is enough, because a
// text is either evaluated once or shared by many sites.
const packMemory = 160 << 20

// plan implements [flags.Command].Plan: it checks the flags, reads the weights, and finds the rules.
func (g *censusFlags) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	r := &run{Console: console.Console{Streams: std, Quiet: g.work.Quiet}, form: g.print}
	var err error
	r.opt.Dialect, _ = g.reading.Choose(&faults)
	r.opt.Agents, err = flags.ExpandAgents(g.agents.Names)
	faults.Add("agent", err)
	r.opt.Agents = flags.AgentsOf(&r.opt)
	r.opt.Tokens = flags.NeedsRuleTokens(r.opt.Agents, r.opt.Dialect)
	r.opt.Missing, r.opt.Choices, r.opt.Workers = engine.MissingUnknown, true, g.work.Workers
	r.opt.Directives = append(robots.PreferenceLines(), robots.LicenseLines, robots.CrawlDelayLines)
	faults.Add("as-of", r.chooseMoments(g.moments))
	faults.Add("workers", memory.CheckWorkers(g.work.Workers))
	faults.Add("progress", r.SetProgress(g.work.Progress))
	_, err = cli.Choose("form", g.print, Forms)
	faults.Add("print", err)
	if r.Name = g.table.Out; r.Name != "" {
		var opt output.Options
		g.table.ChooseFormat(r.Name, std.Out, &opt, &faults)
		r.tableOpt = output.CellOptions{Format: opt.Format, Terminal: opt.Terminal, CSV: g.table.ChooseCSV(&faults), Version: process.Version()}
		r.tableOpt.Metadata = [][2]string{{output.KeyDialect, r.opt.Dialect.String()}, {"robobatch.as_of", strings.Join(g.moments, ",")}}
	}
	if g.weights != "" {
		r.weights, err = readWeights(g.weights)
		faults.Add("weights", err)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if r.only, err = r.rules.FindListed(g.Path, g.Origin, g.AcceptDamage); err != nil {
		return nil, err
	}
	if r.Name != "" {
		err = outputs.CheckFile("-out", r.Name, outputs.Inputs{Path: g.Path, Rules: r.rules.Files})
	}
	return r, err
}

// chooseMoments sets the moments, sorted and without duplicates; the only moment is engine.NoTime if none is given.
// For the word monthly, it sets r.monthly instead, and sites sets the moments.
func (r *run) chooseMoments(given []string) error {
	for _, text := range given {
		if text == monthly {
			if r.monthly = true; len(given) > 1 {
				return fmt.Errorf("%s covers all times: leave out the others", monthly)
			}
			r.opt.RowTimes = true
			return nil
		}
		if text == "" || text == "log" {
			return fmt.Errorf("invalid time %q: write 2026-01-31, or monthly", text)
		}
		at, err := flags.ParseMoment(text)
		if err != nil {
			return err
		}
		r.opt.AsOf = at
		r.moments = append(r.moments, robots.Microseconds(at))
	}
	slices.Sort(r.moments)
	r.moments = slices.Compact(r.moments)
	switch {
	case len(r.moments) == 0:
		r.moments = []int64{engine.NoTime}
	case len(r.moments) > 1:
		r.opt.RowTimes = true
	}
	return nil
}

// Targets returns the name of the output.
func (r *run) Targets() (out, last string) {
	out = cmp.Or(r.Name, msg.Std)
	return out, out
}

// Run counts the origins, and prints the counts, unless standard output gets the rows.
func (r *run) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	r.Hint(outputs.Leftovers(r.Name))
	if r.rules.Pack() != "" {
		index, err := engine.IndexMemory(r.rules.Pack())
		if err != nil {
			return err
		}
		r.opt.MaxMemory = packMemory + index
	}
	store, err := r.rules.Store(ctx, r.opt, pipeline.TempDir(cmp.Or(r.Name, ".")), &r.Console)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(), r.rules.Close()) }()
	if r.Name != "" {
		if err := r.Create(func() (storage.Output, error) { return storage.Create(r.Name, r.Out) }); err != nil {
			return err
		}
	}
	c, err := r.count(ctx, store)
	if err != nil {
		return err
	}
	r.rules.Warn(&r.Console)
	if !r.rules.Odd().IsOdd() { // of a single file, which Warn names
		r.WarnOnce(warning.Rules(&c.odd, "origin"))
	}
	r.WarnOnce(pipeline.WarnAgents(&r.opt, store))
	if all := c.all[0].Origins; c.weights && c.weighed < all {
		r.Hint(fmt.Sprintf("%s of %s origins have a weight of -weights", msg.Number(c.weighed), msg.Number(all)))
	}
	if r.Name == msg.Std {
		return nil
	}
	return c.print(r.Out, r.form)
}
