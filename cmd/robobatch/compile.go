package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// A compilation is a run of the command compile.
type compilation struct {
	console.Console
	guard.Sink[*atomicfile.File] // the pack

	path  string // that -rules names
	rules load.Rules
	opt   engine.PackOptions
}

// planCompilation checks the flags of the command compile and finds the rules.
func planCompilation(a *args, std console.Streams) (guard.Task, error) {
	c := &compilation{Console: console.Console{Streams: std, Quiet: a.quiet}, path: a.rules}
	faults := a.faults
	c.opt.Dialect, _ = chooseReading(&a.Reading, &faults)
	c.Name = cmp.Or(a.out, targets.ForPack(a.rules))
	if !strings.HasSuffix(c.Name, targets.PackSuffix) {
		faults.Add("out", fmt.Errorf("%s: the name of a rule pack ends in %s", say.File(c.Name), targets.PackSuffix))
	}
	faults.Add("workers", memory.CheckWorkers(a.workers))
	c.opt.Workers = a.workers
	faults.Add("progress", c.SetProgress(a.progress))
	faults.Add("", targets.CheckLocal("-out", c.Name))
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c.rules.AcceptDamage, c.opt.Notes = a.acceptDamage, c.rules.Notes
	if err := c.rules.Find(a.rules, a.origin); err != nil {
		return nil, err
	}
	return c, targets.CheckOut(c.Name, targets.Inputs{Path: a.rules, Rules: c.rules.Files})
}

// Run compiles.
func (c *compilation) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Create(func() (*atomicfile.File, error) { return atomicfile.CreateRegular(c.Name) }); err != nil {
		return err
	}
	c.opt.TempDir = filepath.Dir(c.Name)
	c.Hint(targets.Leftovers(c.Name))
	stop := c.rules.Watch(&c.Console)
	stats, err := engine.WritePack(ctx, lockedFile{&c.Sink}, c.rules.Responses(ctx), c.opt)
	stop()
	if err != nil {
		return err
	}
	c.rules.Doubt(&c.Console)
	c.DoubtOnce(summary.OddRules(&stats.Odd, "text"))
	return c.Commit(func(f *atomicfile.File) error {
		err := f.Commit()
		if err == nil {
			c.report(stats)
		}
		return err
	})
}

// report prints what was written, and what was not used. The pack itself no longer knows that.
func (c *compilation) report(s engine.PackStats) {
	c.Print(fmt.Sprintf("%s: %s, %s, %s, %s\n%s", say.File(c.Name), say.Count(int64(s.Origins), "origin"),
		say.Count(int64(s.Texts), "distinct text"), say.Count(int64(s.Rulesets), "distinct rule set"), say.Bytes(s.Bytes),
		summary.Skipped(c.rules.Skipped(), "; -stats of a run with -rules "+say.File(c.path)+" lists all")))
}

// A lockedFile is the file of a sink, which may be dropped meanwhile.
type lockedFile struct {
	*guard.Sink[*atomicfile.File]
}

// use calls do with the file, unless that was dropped.
func (l lockedFile) use(do func(f *atomicfile.File) (int, error)) (n int, err error) {
	err = l.Use(func(f *atomicfile.File) (err error) {
		n, err = do(f)
		return err
	})
	return n, err
}

// Write appends bytes.
func (l lockedFile) Write(b []byte) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.Write(b) })
}

// WriteAt overwrites bytes.
func (l lockedFile) WriteAt(b []byte, off int64) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.WriteAt(b, off) })
}

// ReadAt reads back.
func (l lockedFile) ReadAt(b []byte, off int64) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.ReadAt(b, off) })
}
