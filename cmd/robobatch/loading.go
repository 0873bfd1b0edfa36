package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
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
	j.loaded = time.Now()
	j.loadCPU, _ = usedResources()
	if err == nil {
		j.noteProblems(j.rules.Problems())
	}
	if err == nil && j.asked.AsOf != "" && !j.asked.byRow() && j.store.InForce() == 0 {
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
func (v *voice) watchFiles(rules *ingest.RuleFiles, files *atomic.Int64) (stop func()) {
	number := int64(rules.NumFiles())
	return v.watch("rules", func() sample {
		if done, total := rules.Progress(); total >= 0 {
			return sample{done: done, total: total, bytes: true}
		}
		return sample{done: files.Load(), total: number}
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

// What a run under -max-memory takes besides rules.
const (
	programMemory = 16 << 20 // of the process, and unknown to Go's runtime: the program itself
	firstWorker   = 64 << 20 // with one worker
	nextWorker    = 24 << 20 // for each other one: batches, what is unpacked ahead, a chunk that is encoded
)

// fitWorkers returns how many workers -max-memory has room for, at most those that are asked for, and notes if they are fewer.
func (p *plan) fitWorkers(asked int, maxMemory string) int {
	limit, err := parseMemory(maxMemory)
	if err != nil || limit <= 0 {
		return asked
	}
	most := 1 + int(min(max(0, limit-firstWorker)/nextWorker, maxWorkers))
	if most >= cmp.Or(asked, runtime.GOMAXPROCS(0)) {
		return asked
	}
	p.notes = append(p.notes, fmt.Sprintf("-max-memory %s has room for %s", maxMemory, plural(int64(most), "worker")))
	return most
}

// memoryUnits are what a size can be given in.
var memoryUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KIB", 1 << 10},
	{"MIB", 1 << 20},
	{"GIB", 1 << 30},
	{"TIB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
	{"B", 1},
	{"", 1},
}

// minMemory is the least that -max-memory may be: what the program takes itself.
const minMemory = 64 << 20

// parseMemory returns the bytes of a size such as 256MiB; 0 for "", and -1 for "none".
func parseMemory(s string) (int64, error) {
	switch s {
	case "":
		return 0, nil
	case "none":
		return -1, nil
	}
	for _, unit := range memoryUnits {
		number, ok := strings.CutSuffix(strings.ToUpper(s), unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		switch n *= unit.bytes; {
		case n >= math.MaxInt64: // strconv.ErrRange, too
			return 0, fmt.Errorf("%s is more than any machine has: write none for no limit", s)
		case err != nil || !(n >= 0):
			return 0, errNoSize(s)
		case n < minMemory:
			return 0, fmt.Errorf("%s is less than the program needs itself: use 64MiB or more", s)
		}
		return int64(n), nil
	}
	return 0, errNoSize(s)
}

// errNoSize is the error of a text that is no size.
func errNoSize(s string) error { return fmt.Errorf("%q is no size: write 256MiB, 1GiB or none", s) }

// given returns a flag's function that sets a text. An empty one, which means that the flag was not given, is refused with the remedy.
func given(to *string, remedy string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New(remedy)
		}
		*to = s
		return nil
	}
}
