//go:build unix

// Command attack disturbs runs of the command robobatch, and compares the files that they leave:
//
//	go run -C bench ./attack                      # all of it: make attack
//	go run -C bench ./attack -kills 50 -faults 50 # a part
//	go run -C bench ./attack -only disks -seed 7  # one kind, with other draws
//
// It kills runs at random times, makes one of their system calls fail, or fills their disks. Afterwards each output
// must be complete, be the older version, or not exist, and a run with exit code 0 must have written all outputs. After
// a kill, the same command must write the same outputs. Fuzz targets cover damaged inputs.
//
// Everything depends only on -seed and the counts, except for the times of kills and the threads of system calls. For
// each run that went wrong, the command line and its messages are kept.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/panics"
)

func main() { tool.Main("attack", run) }

// An attack has the flags and the results so far.
type attack struct {
	ctx     context.Context
	binary  string // the command
	dir     string // its working directory
	keep    string // the directory for runs that went wrong
	seed    uint64
	jobs    int
	victims []*victim

	mu   sync.Mutex
	kept int // number of runs that went wrong
}

// A kind is a way to disturb runs.
type kind struct {
	name  string
	count int
	once  func(a *attack, r *rand.Rand, v *victim) judgement
}

// run reads the flags, and disturbs runs of each kind. It skips kinds that this system does not permit. The error is
// about the preparation, or says that runs were wrong.
func run(ctx context.Context, arguments []string) error {
	a := &attack{ctx: ctx}
	kinds := []kind{
		{name: "kills", once: (*attack).kill},
		{name: "faults", once: (*attack).failCall},
		{name: "disks", once: (*attack).fillDisk},
	}
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	flags.IntVar(&kinds[0].count, "kills", 600, "runs that are killed at a random moment")
	flags.IntVar(&kinds[1].count, "faults", 600, "runs in which system calls fail; needs strace")
	flags.IntVar(&kinds[2].count, "disks", 100, "runs on disks that fill up; needs the right to mount")
	flags.Uint64Var(&a.seed, "seed", 1, "of all that is random")
	flags.IntVar(&a.jobs, "jobs", runtime.GOMAXPROCS(0), "runs at once")
	flags.StringVar(&a.binary, "bin", "", "the command to attack; default: built from this module")
	flags.StringVar(&a.keep, "keep", "", "where to keep what it did wrong; default: a directory for temporary files")
	only := flags.String("only", "", "do what this regular expression matches the name of: kills, faults or disks")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if a.jobs < 1 {
		return errors.New("-jobs: at least 1")
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if a.dir, err = os.MkdirTemp("", "robobatch-attack-"); err != nil {
		return err
	}
	defer os.RemoveAll(a.dir)
	if err := a.prepare(); err != nil {
		return err
	}
	fmt.Printf("seed %d\n%-10s %8s %8s %8s %8s\n", a.seed, "", "runs", "whole", "refused", "WRONG")
	for _, k := range kinds {
		if !wanted.MatchString(k.name) || k.count == 0 {
			continue
		}
		var err error
		switch k.name {
		case "faults":
			err = a.trace()
		case "disks":
			if out, failed := exec.CommandContext(ctx, "unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=4k tmpfs /mnt").CombinedOutput(); failed != nil {
				err = fmt.Errorf("no right to mount: %w: %s", failed, bytes.TrimSpace(out))
			}
		}
		if err != nil {
			fmt.Printf("%-10s skipped: %v\n", k.name, err)
		} else if err := a.disturbAll(k); err != nil {
			return err
		}
	}
	if a.kept > 0 {
		return fmt.Errorf("%d runs were wrong; %s has them", a.kept, a.keep)
	}
	return ctx.Err()
}

// prepare builds the command unless -bin gives one, writes the inputs, and runs each victim once without a
// disturbance.
func (a *attack) prepare() (err error) {
	if a.keep == "" {
		if a.keep, err = os.MkdirTemp("", "robobatch-wrong-"); err != nil {
			return err
		}
	}
	if a.binary == "" {
		a.binary = filepath.Join(a.dir, "robobatch")
		err = tool.Build(a.ctx, a.binary)
	}
	binary, errPath := filepath.Abs(a.binary)
	encoder, errZstd := zstd.NewWriter(nil)
	if err := errors.Join(err, errPath, errZstd, os.MkdirAll(a.keep, 0o777), os.Mkdir(a.dir+"/logs", 0o777), os.Mkdir(a.dir+"/rules", 0o777)); err != nil {
		return err
	}
	a.binary = binary
	// Write the rules of a few origins, and logs with many URLs.
	var packed []byte
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 8 {
		rules := fmt.Sprintf("User-agent: *\nDisallow: /%d/\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\n", i)
		var text []byte
		for n := range 8000 {
			dir := []string{"private", "private/open", "docs", "0", "1"}[r.IntN(5)]
			text = fmt.Appendf(text, "https://s%d.example/%s/%d-%x.%s\n", r.IntN(9), dir, n, r.Uint32(), []string{"html", "pdf"}[r.IntN(2)])
		}
		if err := errors.Join(os.WriteFile(fmt.Sprintf("%s/rules/https_s%d.example.txt", a.dir, i), []byte(rules), 0o666),
			os.WriteFile(fmt.Sprintf("%s/logs/%d.txt", a.dir, i), text, 0o666)); err != nil {
			return err
		}
		packed = encoder.EncodeAll(text, packed) // one frame per log
	}
	if err := os.WriteFile(a.dir+"/log.zst", packed, 0o666); err != nil {
		return err
	}
	for _, line := range []string{
		"-in LOG -out out/x.parquet", "-in LOG -out out/x.csv.gz", "-in LOG -out out/x.arrow", "-in LOGS/0.txt -out out/x.jsonl.zst",
		"-in LOG -out out/y.parquet -rejects out/rejects.jsonl",
		"-in LOG -out out/sorted.parquet -sort origin -max-memory 128MiB",
		"-in LOG -out out/limited.arrows -max-memory 96MiB",
		"-in LOG -out out/tree -partition-by origin,allowed -partition-mode replace",
		"-in LOGS -out out/parts/ -resume",
		"rules -out out/r.parquet", "compile -out out/r.rbp", "coverage -in LOG -out out/c.parquet",
	} {
		line = strings.NewReplacer("LOGS", a.dir+"/logs", "LOG", a.dir+"/log.zst").Replace(line) + " -quiet -rules " + a.dir + "/rules"
		v := &victim{arguments: strings.Fields(line), single: strings.Contains(line, "/tree")}
		for _, argument := range v.arguments {
			if name, ok := strings.CutPrefix(argument, "out/"); ok && strings.Contains(name, ".") {
				v.outs = append(v.outs, argument)
			}
		}
		dir, err := a.makeScene(v, false)
		if err != nil {
			return err
		}
		started := time.Now()
		if out, err := a.newCommand(v, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, out)
		}
		v.took = time.Since(started)
		if v.want, err = hashFiles(dir); err != nil || len(v.want) < max(1, len(v.outs)) {
			return fmt.Errorf("%s leaves %d files: %w", line, len(v.want), err)
		}
		a.victims = append(a.victims, v)
	}
	return nil
}

// disturbAll disturbs runs of a kind in several goroutines, and prints the number of each judgement. It stops early if
// the context is cancelled.
func (a *attack) disturbAll(k kind) error {
	started := time.Now()
	var (
		counts [3]int
		wait   panics.Group
		work   = make(chan int)
	)
	for range a.jobs {
		wait.Go(func() (err error) {
			for i := range work { // continue after a panic, because the sender waits
				err = cmp.Or(err, panics.Catch(func() error {
					r := rand.New(rand.NewPCG(a.seed, uint64(i)<<8|uint64(k.name[0]))) //nolint:gosec // it must be the same again
					j := k.once(a, r, a.victims[r.IntN(len(a.victims))])
					a.mu.Lock()
					defer a.mu.Unlock()
					counts[j]++
					return nil
				}))
			}
			return err
		})
	}
	for i := 1; i <= k.count && a.ctx.Err() == nil; i++ {
		work <- i
	}
	close(work)
	err := wait.Wait()
	fmt.Printf("%-10s %8d %8d %8d %8d  %.0f s\n", k.name, counts[whole]+counts[refused]+counts[wrong], counts[whole], counts[refused],
		counts[wrong], time.Since(started).Seconds())
	return err
}
