package main

import (
	"context"
	"errors"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// A merging is a run of the command merge.
type merging struct {
	console.Console
	dir     series.Dir
	stats   []string // names of the shards' statistics; none is all in the directory
	verbose bool
}

// planMerging checks the flags of the command merge.
func planMerging(a *args, std console.Streams) (guard.Task, error) {
	m := &merging{
		Console: console.Console{Streams: std, Quiet: a.quiet},
		dir:     series.Dir{Name: a.out}, stats: a.rest, verbose: a.verbose,
	}
	if m.dir.Name == "" && len(m.stats) > 0 {
		m.dir.Name, m.stats = m.stats[0], m.stats[1:]
	}
	if scheme := place.Foreign(m.dir.Name); scheme != "" {
		return nil, cli.Usage("%s is no place to read from or write to: name a directory, or s3://", scheme)
	}
	if m.dir.Name == "" {
		a.faults.Add("out", errors.New("the flag is missing: name the directory of the outputs, as -out of the shards does"))
	}
	return m, a.faults.Err()
}

// Drop drops nothing: a file appears when it is complete.
func (m *merging) Drop() (committed bool, err error) { return false, nil }

// Targets returns the directory.
func (m *merging) Targets() (out, last string) { return m.dir.Name, m.dir.Name }

// Run adds the shards up. The error says that inputs failed, or that nothing can be added up.
func (m *merging) Run(context.Context) error {
	sum, err := m.dir.Merge(m.stats)
	if err != nil {
		return err
	}
	m.Print(sum.Text(m.verbose))
	for _, d := range sum.Doubts {
		m.Doubt(d)
	}
	if failed := sum.Series.Failed; len(failed) > 0 {
		return flow.NewPolicyError(series.FailedText(failed, say.File(m.dir.AllFailed(sum.Series.Shards))))
	}
	return m.dir.Succeed(sum)
}
