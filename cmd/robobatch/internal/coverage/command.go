package coverage

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
)

// given are the flags of the command coverage.
type given struct {
	pipeline.Flags
	out, print, by string
	all            bool
}

// keys are the values of -by.
var keys = []string{"agent"}

// Command returns the command coverage.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "coverage", "report which rules decide requests of a log, and which never do"
	c.Intro = `
robobatch coverage reports which rules of robots.txt files decide requests of a log, and which never do.

    robobatch coverage -rules robots.txt -base https://www.example.com -in access.log

prints for each rule how many requests and distinct URLs it decided, how many it matched while another rule decided, and
when last. Requests for /robots.txt do not count, because crawlers may always fetch it. A rule without matches in one log
may be needed in another (docs/LOG.md). It opens no network connection unless a name begins with s3://.`
	c.Flags = flags.Sections{
		Input:    g.InputFlags(),
		Question: flags.Without(g.Question.LogFlags(flags.CountFor), "cache"),
		Output: []cli.Flag{
			flags.Print(&g.print, Forms, `
			Form of the output. text: tables. json: one object per line (docs/coverage.schema.json).
			markdown: for a comment. github: notices for rules that decided nothing, and the step summary.`),
			{
				Name: "by", Arg: "key", Values: keys, Set: cli.Text(&g.by),
				Doc: "Count each rule separately by agent.",
			},
			{Name: "all", Set: cli.Bool(&g.all), Doc: `
			Print all rules. Default: 20 each that decided, only matched, or did neither.`},
			{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.out), Doc: `
			A table of all rules to write: x.parquet or x.jsonl (JSON Lines). Its columns are in docs/LOG.md.`},
		},
		Run: g.Work.MemoryFlags(`
			Half is for counts: more URLs go to a temporary file; too many rules are an error.`),
	}.All()
	return c
}

// A run implements the command coverage.
type run struct {
	pipeline.Pipeline
	process.Sink[storage.Output] // of -out
	opt                          Options
	format                       Format // of -out
	form                         string
	page                         Page
}

// plan checks the flags, and finds the inputs.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	r := &run{form: g.print, page: Page{All: g.all}}
	r.Choose(&g.Flags, std, &faults, &faults)
	r.LogOpt.Fields.Times = true
	_, err := cli.Choose("form", g.print, Forms)
	faults.Add("print", err)
	if g.by != "" {
		_, err = cli.Choose("key", g.by, keys)
		faults.Add("by", err)
		r.opt.ByAgent = true
	}
	if r.Name = g.out; g.out != "" {
		r.format, err = FormatOf(g.out)
		faults.Add("out", err)
	}
	r.Memory.Plan = memory.PlanOf("coverage")
	r.ChooseWork(&g.Flags, &output.Options{}, &faults, g.out)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if err = r.Find(&g.Flags); err == nil && r.Name != "" {
		err = outputs.CheckFile("-out", r.Name, outputs.Inputs{Path: g.Path, Logs: r.Logs.Inputs(), Rules: r.Now.Files})
	}
	return r, err
}

// Drop removes an incomplete output and the temporary packs. If the output is already complete, nothing is removed.
// Any goroutine may call it.
func (r *run) Drop() (committed bool, err error) {
	if committed, err = r.Sink.Drop(); committed {
		return committed, err
	}
	return false, errors.Join(err, r.Pipeline.Drop())
}

// Targets returns the name of the output.
func (r *run) Targets() (out, last string) {
	out = cmp.Or(r.Name, msg.Std)
	return out, out
}

// tempDir returns the directory for temporary files.
func (r *run) tempDir() string { return pipeline.TempDir(cmp.Or(r.Name, ".")) }

// Run evaluates the logs, writes the table of -out, and prints the effect of the rules.
func (r *run) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.Sink.Close(), r.Pipeline.Close()) }()
	r.Hint(outputs.Leftovers(r.Name))
	if r.Name != "" {
		if err := r.Create(func() (storage.Output, error) { return storage.Create(r.Name, nil) }); err != nil {
			return err
		}
	}
	if err := r.Load(ctx, r.tempDir()); err != nil {
		return err
	}
	counts := r.Parts.Counts
	r.opt.URLs, r.opt.Counts, r.opt.Matchers = counts*3/8, counts/2, counts/8
	r.opt.TempDir = r.tempDir()
	c := NewCounter(r.Now.Store, r.opt)
	defer c.CloseTemp()
	if err := cmp.Or(r.count(ctx, c), c.Finish()); err != nil {
		return err
	}
	r.page.File, r.page.Inputs = r.Now.Single(), r.InputNames()
	if r.Name != "" {
		if err := r.Commit(func(f storage.Output) error {
			if err := c.WriteTable(f, r.format, process.Version()); err != nil {
				return err
			}
			return f.Commit()
		}); err != nil {
			return err
		}
	}
	return console.OutError(c.Print(r.Out, r.form, r.page))
}

// count evaluates the logs, counts by rule, and prints warnings about the rows. A log without rows is an error.
func (r *run) count(ctx context.Context, c *Counter) error {
	err := r.Take(ctx, r.Source(), c)
	if sink, ok := errors.AsType[*engine.SinkError](err); ok {
		err = sink.Err
	}
	if errors.Is(err, ErrMemory) {
		err = fmt.Errorf("%w: raise -max-memory, or use fewer logs; counts may use a quarter of it: about 600 bytes per robots.txt, and 170 per set of rules that match together", err)
	}
	if err == nil && (r.Stats.URLs > 0 || r.Stats.Skipped > 0) {
		var s *summary.Report
		if s, err = r.WarnRows(); err == nil {
			r.Hint(s.Impostors())
		}
	}
	if err == nil && r.Stats.URLs == 0 {
		err = pipeline.ErrNoRequests
	}
	return err
}
