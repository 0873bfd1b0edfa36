package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/robots"
)

// load makes the rules ready: it opens the pack, or compiles the files, into memory or, under a limit of memory, into a
// pack that is removed at the end.
func (j *job) load(ctx context.Context) (err error) {
	if j.storeOpt.MaxMemory == 0 && isLargePack(j.rules.Pack()) {
		j.storeOpt.MaxMemory = largePackMemory
	}
	if limit := j.storeOpt.MaxMemory; limit > 0 {
		debug.SetMemoryLimit(limit - programMemory) // what is dropped is collected before the process grows beyond it
	}
	switch {
	case j.rules.Pack() != "":
		j.store, err = engine.OpenPack(j.rules.Pack(), j.storeOpt)
		err = packError(j.rules.Pack(), err)
	case j.storeOpt.MaxMemory > 0:
		err = j.loadLimited(ctx)
	default:
		stop := j.watchFiles(j.rules, &j.files)
		j.store, err = engine.BuildStore(countFiles(ctx, j.rules.Responses(), &j.files), j.storeOpt)
		stop()
	}
	j.times.Loaded = time.Now()
	j.times.LoadCPU, _ = summary.UsedResources()
	if err == nil {
		j.noteProblems(j.rules.Problems())
	}
	if err == nil && j.asked.AsOf != "" && !j.asked.ByRow() && j.store.InForce() == 0 {
		j.note("no robots.txt is as old as -as-of %s; that of a file is the time of its last change", j.asked.AsOf)
	}
	return err
}

// A pack of more than largePack bytes is opened as if -max-memory were largePackMemory, as all of its rules might take
// several times that.
const (
	largePack       = 512 << 20
	largePackMemory = 1280 << 20
)

// isLargePack reports whether the file of that name, if there is a name, is larger than largePack.
func isLargePack(name string) bool {
	info, err := os.Stat(name)
	return name != "" && err == nil && info.Size() > largePack
}

// loadLimited compiles the rules into a file without a name, beside the output.
func (j *job) loadLimited(ctx context.Context) error {
	dir := filepath.Dir(j.outName)
	if j.outName == stdName {
		dir = os.TempDir()
	}
	f, err := atomicfile.CreateTemp(dir, ".robobatch-*"+packSuffix)
	if err != nil {
		return fmt.Errorf("compile the rules for -max-memory: %w", err)
	}
	j.temp.Store(f)
	defer j.watchFiles(j.rules, &j.files)()
	opt := engine.PackOptions{Dialect: j.storeOpt.Dialect, Workers: j.storeOpt.Workers, TempDir: dir}
	if _, err := engine.WritePack(ctx, f, countFiles(ctx, j.rules.Responses(), &j.files), opt); err != nil {
		return err
	}
	j.store, err = engine.OpenPackFile(f.File, j.storeOpt)
	return err
}

// unload gives back what load has opened.
func (j *job) unload() error {
	var err error
	if j.store != nil {
		err = j.store.Close()
	}
	return errors.Join(err, j.temp.Load().Remove())
}

// watchFiles shows how much of the rules is read, until stop: bytes of captures, or else how many files, as counted.
func (v *voice) watchFiles(rules *rulefiles.Files, files *atomic.Int64) (stop func()) {
	number := int64(rules.Len())
	return v.watch("rules", func() progress.Sample {
		if done, total := rules.Progress(); total >= 0 {
			return progress.Sample{Done: done, Total: total, Bytes: true}
		}
		return progress.Sample{Done: files.Load(), Total: number}
	})
}

// countFiles yields responses, until ctx ends, and counts the files that were read to their end.
func countFiles(ctx context.Context, responses iter.Seq2[robots.Response, error], files *atomic.Int64) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		name, begun := "", false
		for r, err := range responses {
			if ctx.Err() != nil {
				yield(robots.Response{}, ctx.Err())
				return
			}
			if begun && r.Name != name {
				files.Add(1)
			}
			name, begun = r.Name, true
			if !yield(r, err) {
				return
			}
		}
		files.Add(1)
	}
}
