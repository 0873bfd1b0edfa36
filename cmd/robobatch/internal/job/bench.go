package job

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// benchFlags are the flags of the command bench.
type benchFlags struct {
	pipeline.Flags
	columns string
	rounds  int
}

// BenchCommand returns the command bench.
func BenchCommand() flags.Command {
	g := new(benchFlags)
	c := flags.Command{Rules: &g.Rules, Packs: true, Plan: g.plan}
	c.Name, c.About = "bench", "measure a run on your own rules and logs, for benchstat"
	c.Intro = `
robobatch bench measures a run on your own rules and logs, and prints what benchstat reads.

    robobatch bench -rules dir -in urls.zst

prints, in several rounds, a line each for parsing the rules, compiling them, unpacking the logs, reading them, deciding
their URLs and the whole run, with processor time, rates, allocations and peak memory. For a pack it measures opening it,
and the run loads its rules. At the end it compares the steps: unpacking, which every program must do, is 1. It writes to a temporary directory and opens no network connection unless a name begins with s3://.`
	rounds := cli.Flag{Name: "rounds", Arg: "n", Default: "6", Set: cli.Int(&g.rounds), Doc: `
			Measurements of each step. benchstat needs 6 or more for a confidence interval.`}
	run := flags.WithDocs(flags.Without(g.Work.Flags(), "progress", "quiet"), map[string]string{
		"workers": "Worker goroutines. 0 measures one, and then one per processor.",
	})
	c.Flags = flags.Sections{
		Input: g.InputFlags(),
		Question: append([]cli.Flag{g.Question.NamesFlag(flags.DecideFor, flags.EveryClient), g.Question.CrawlersFlag()},
			g.Question.RowTimeFlags()...),
		Output: []cli.Flag{flags.ColumnsFlag(&g.columns)},
		Run:    []cli.Flag{run[0], rounds, run[1]},
	}.All()
	return c
}

// A benchRun implements the command bench.
type benchRun struct {
	pipeline.Pipeline
	process.Printed
	outOpt   output.Options
	dir      string // for the output, removed at the end
	rounds   int
	job      measure.Job
	warnings []warning.Warning // warnings about the verdicts: if the rules do not match the URLs, the times say nothing about matching
}

// plan implements [flags.Command].Plan: it checks the flags, finds the inputs, and creates the directory of the
// output, which it removes after an error.
func (g *benchFlags) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	if g.rounds < 1 {
		faults.Add("rounds", fmt.Errorf("%d is out of range: use 1 or more", g.rounds))
	}
	b := &benchRun{rounds: g.rounds}
	g.Question.Missing, g.Work.Progress = "allow", "off"
	b.Choose(&g.Flags, std, &faults, &faults)
	var err error
	b.outOpt = output.Options{Columns: output.Long.DefaultColumns(), Version: process.Version()}
	if g.columns != "" {
		b.outOpt.Columns, err = output.ParseColumns(g.columns)
		faults.Add("columns", flags.WithColumnHints(err))
	}
	b.Now.Opt.Directives = output.NeedsOf(b.outOpt.Columns...).Directives
	b.ChooseWork(&g.Flags, &b.outOpt, &faults)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "robobatch-bench-"); err != nil {
		return nil, err
	}
	if err = b.Find(&g.Flags); err == nil {
		err = b.prepareJob(g)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.dir))
	}
	return b, nil
}

// prepareJob checks that all inputs can be read repeatedly, prepares the job, and closes the logs, because each round
// opens them again.
func (b *benchRun) prepareJob(g *benchFlags) error {
	for _, in := range b.Logs.Inputs() {
		switch {
		case in.Name == msg.Std:
			return cli.Usage("-in: standard input can be read only once: write it to a file first")
		case in.Size < 0:
			return cli.Usage("-in: %s can be read only once: write it to a file first", msg.File(in.Name))
		}
	}
	b.outOpt.Inputs, b.outOpt.Workers = b.InputNames(), b.Workers()
	b.job = measure.Job{
		Store: b.Now.Opt, Workers: []int{1, 0}, Pack: b.Now.Pack(),
		Rules: func() (iter.Seq2[robots.Response, error], error) { return b.Now.Files.Responses(), nil },
		Logs: func() (_ engine.Source, err error) {
			b.Logs, err = ingest.OpenLogs(b.Files.Names(), b.LogOpt) // of the last run, for its counts
			return b.Logs, err
		},
		Sink: func(store *engine.Store) (measure.Sink, error) {
			return output.Create(filepath.Join(b.dir, "verdicts.parquet"), nil, store, b.outOpt)
		},
		Ran: func(store *engine.Store, s engine.Stats) {
			b.warnings = append(pipeline.WarnAgents(&b.Now.Opt, store), warning.Verdicts(store, &s, "nothing to measure: no line is a URL with a scheme and a host: name the format with -format, or the site with -base", summary.Sum(b.Logs.Counts().Refused))...)
		},
	}
	isText := !slices.ContainsFunc(b.Logs.Inputs(), func(in ingest.Input) bool { return in.Format == ingest.Parquet || in.Format == ingest.WARC })
	if isText && b.LogOpt.Limit == 0 { // the cost of unpacking can be measured only for text that is read to its end
		b.job.Lines = func() (int64, error) { return ingest.CountLines(b.Files.Names(), b.LogOpt) }
	}
	if g.Work.Workers > 0 {
		b.job.Workers = []int{g.Work.Workers}
	}
	return b.Logs.Close()
}

// Drop removes the output.
func (b *benchRun) Drop() (committed bool, err error) { return false, os.RemoveAll(b.dir) }

// Run measures, and prints each line as soon as it is ready. It removes the directory of the output.
func (b *benchRun) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	w := console.NewWriter(b.Out)
	err = b.job.Measure(ctx, w, b.rounds)
	switch {
	case w.Err != nil:
		return console.OutError(w.Err)
	case errors.Is(err, measure.ErrNoURLs):
		names := b.Files.Names()
		name := msg.File(names[0])
		if len(names) > 1 {
			name = msg.Count(int64(len(names)), "log")
		}
		return fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return pipeline.NamePack(b.job.Pack, err)
	}
	if b.job.Pack != "" {
		store, err := engine.OpenPack(b.job.Pack, b.job.Store)
		if err == nil {
			err = errors.Join(b.Now.ReadNotes(store), store.Close())
		}
		if err != nil {
			return pipeline.NamePack(b.job.Pack, err)
		}
	}
	b.Now.Warn(&b.Console)
	b.WarnOnce(b.warnings)
	return nil
}
