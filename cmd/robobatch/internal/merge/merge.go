// Package merge is the command merge: it adds up the shards of a run. Only cmd/robobatch imports it.
package merge

import (
	"context"
	"errors"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// given are the flags of the command merge.
type given struct {
	out   string
	names []string // arguments
	work  flags.Work
}

// Command returns the command merge.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Plan: g.plan}
	c.Name, c.About, c.Arguments = "merge", "add up the shards of a run, once all are done", "DIR STATS..."
	c.Take = func(name string) { g.names = append(g.names, name) }
	c.Intro = `
robobatch merge adds up the shards of a run with one output per input.

    robobatch merge out/

reads what the shards wrote at their ends, out/_stats.0-of-4.json and so on, or the files of -stats that are named. It
checks that they are of one run, that none is missing, and that all outputs are as they were left. It prints the summary of all, and
writes it to out/_SUCCESS. It opens no network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 all outputs are complete; 1 inputs failed: they are listed, and there is no _SUCCESS; 2 an error of usage
or input, or the files are not those of one run.`
	run := flags.Without(g.work.Flags(), "workers", "progress")
	c.Flags = flags.Sections{
		Output: []cli.Flag{{
			Name: "out", Arg: "dir", Files: true, Set: flags.OutputName(&g.out),
			Doc: "The directory of the outputs. Without the flag it is the first argument.",
		}},
		Run: []cli.Flag{run[0], g.work.VerboseFlag(), run[1]},
	}.All()
	return c
}

// A merging is a run of the command merge.
type merging struct {
	console.Console
	guard.Printed // a file appears when it is complete
	dir           series.Dir
	stats         []string // names of the shards' statistics; none is all in the directory
	verbose       bool
}

// plan checks the flags.
func (g *given) plan(std console.Streams, faults cli.Faults) (guard.Task, error) {
	m := &merging{
		Console: console.Console{Streams: std, Quiet: g.work.Quiet},
		dir:     series.Dir{Name: g.out}, stats: g.names, verbose: g.work.Verbose,
	}
	if m.dir.Name == "" && len(m.stats) > 0 {
		m.dir.Name, m.stats = m.stats[0], m.stats[1:]
	}
	if scheme := place.Foreign(m.dir.Name); scheme != "" {
		return nil, cli.Usage("%s is no place to read from or write to: name a directory, or s3://", scheme)
	}
	if m.dir.Name == "" {
		faults.Add("out", errors.New("the flag is missing: name the directory of the outputs, as -out of the shards does"))
	}
	return m, faults.Err()
}

// Targets returns the directory.
func (m *merging) Targets() (out, last string) { return m.dir.Name, m.dir.Name }

// Run adds the shards up. The error says that inputs failed, or that nothing can be added up.
func (m *merging) Run(ctx context.Context) error {
	sum, err := m.dir.Merge(ctx, m.stats)
	if err != nil {
		return err
	}
	m.Print(sum.Text(m.verbose))
	for _, d := range sum.Warnings {
		m.Warn(d)
	}
	if failed := sum.Series.Failed; len(failed) > 0 {
		return flow.NewPolicyError(series.FailedText(failed, say.File(m.dir.AllFailed(sum.Series.Shards))))
	}
	return m.dir.Succeed(sum)
}
