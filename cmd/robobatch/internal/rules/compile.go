package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
)

// A compileRun implements the command compile.
type compileRun struct {
	console.Console
	process.Sink[*atomicfile.File] // the pack

	path  string // value of -rules
	rules pipeline.Rules
	opt   engine.PackOptions
}

// compileFlags are the flags of the command compile.
type compileFlags struct {
	flags.Rules
	reading flags.Reading
	work    flags.Work
	out     string
}

// CompileCommand returns the command compile.
func CompileCommand() flags.Command {
	g := new(compileFlags)
	c := flags.Command{Rules: &g.Rules, OneRule: true, Plan: g.plan}
	c.Name, c.About = "compile", "compile rules into a pack, a file for -rules that loads instantly"
	c.Intro = `
robobatch compile compiles robots.txt files into a pack: one file for -rules that loads at once.

    robobatch compile -rules dir

writes dir.rbp. A pack is for one dialect, but for all crawlers and times (docs/LAKE.md). It opens no network connection
unless a name begins with s3://.`
	c.Flags = flags.Sections{
		Input: g.CompileFlags(), Question: g.reading.Flags(), Run: g.work.Flags(),
		Output: []cli.Flag{{Name: "out", Arg: "file", Files: true, Set: flags.FileName(&g.out), Doc: `
			The pack to write, x.rbp. Default: the name of the rules plus .rbp, in the working
			directory.`}},
	}.All()
	return c
}

// plan implements [flags.Command].Plan: it checks the flags and finds the rules.
func (g *compileFlags) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	c := &compileRun{Console: console.Console{Streams: std, Quiet: g.work.Quiet}, path: g.Path}
	c.opt.Dialect, _ = g.reading.Choose(&faults)
	c.Name = cmp.Or(g.out, outputs.ForPack(g.Path))
	if !strings.HasSuffix(c.Name, outputs.PackSuffix) {
		faults.Add("out", fmt.Errorf("%s: the name of a rule pack ends in %s", msg.File(c.Name), outputs.PackSuffix))
	}
	faults.Add("workers", memory.CheckWorkers(g.work.Workers))
	c.opt.Workers = g.work.Workers
	faults.Add("progress", c.SetProgress(g.work.Progress))
	faults.Add("", outputs.CheckLocal("-out", c.Name))
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c.rules.AcceptDamage, c.opt.Notes = g.AcceptDamage, c.rules.Notes
	if err := c.rules.Find(g.Path, g.Origin); err != nil {
		return nil, err
	}
	return c, outputs.CheckFile("-out", c.Name, outputs.Inputs{Path: g.Path, Rules: c.rules.Files})
}

// Run compiles the pack, and prints its size. After an error, no pack is left.
func (c *compileRun) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Create(func() (*atomicfile.File, error) { return atomicfile.CreateRegular(c.Name) }); err != nil {
		return err
	}
	c.opt.TempDir = filepath.Dir(c.Name)
	c.Hint(outputs.Leftovers(c.Name))
	stop := c.rules.Watch(&c.Console)
	stats, err := engine.WritePack(ctx, process.File{Sink: &c.Sink}, c.rules.Responses(ctx), c.opt)
	stop()
	if err != nil {
		return err
	}
	c.rules.Warn(&c.Console)
	c.WarnOnce(warning.Rules(&stats.Odd, "text"))
	return c.Commit(func(f *atomicfile.File) error {
		err := f.Commit()
		if err == nil {
			c.report(stats)
		}
		return err
	})
}

// report prints the size of the pack and the unused files. The pack does not record unused files.
func (c *compileRun) report(s engine.PackStats) {
	c.Print(fmt.Sprintf("%s: %s, %s, %s, %s\n%s", msg.File(c.Name), msg.Count(int64(s.Origins), "origin"),
		msg.Count(int64(s.Texts), "distinct text"), msg.Count(int64(s.Rulesets), "distinct rule set"), msg.Bytes(s.Bytes),
		summary.SkippedText(c.rules.Skipped(), "; -stats of a run with -rules "+msg.File(c.path)+" lists all")))
}
