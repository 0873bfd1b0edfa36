//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/robobatch/robobatch/internal/panics"
)

// A victim is a command line that writes files into the directory out, and the files it leaves if nobody
// disturbs it.
type victim struct {
	name      string
	arguments []string
	outs      []string          // its outputs, below the directory where it runs
	want      map[string]string // their hashes by name
	took      time.Duration
}

// victims returns the command lines that are disturbed, tried once. Their inputs are in a.dir.
func (a *attack) victims() ([]*victim, error) {
	r := a.random("victims", 0)
	log := a.newBase(r, 60_000, false)
	var text []byte
	for _, row := range log.rows {
		text = append(append(text, row.URL...), '\n')
	}
	packed, err := packZstd(pieces(text, 8), true)
	if err != nil {
		return nil, err
	}
	captures, _, err := writeCaptures(a, a.oracle.bodies)
	if err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{"log.zst": packed, "log.txt": text, "r.jsonl": captures} {
		if err := os.WriteFile(filepath.Join(a.dir, name), data, 0o666); err != nil {
			return nil, err
		}
	}
	job := func(out string, more ...string) *victim {
		arguments := slices.Concat([]string{"-quiet", "-rules", a.dir + "/rules", "-in", a.dir + "/log.zst", "-out", "out/" + out}, more)
		return &victim{name: out, arguments: arguments, outs: []string{"out/" + out}}
	}
	all := []*victim{
		job("y.parquet", "-rejects", "out/rejects.jsonl"), job("x.parquet"), job("x.csv.gz"), job("x.arrow"), job("x.jsonl.zst", "-in", a.dir+"/log.txt"),
		job("sorted.parquet", "-sort", "origin", "-max-memory", "128MiB"),
		job("limited.arrows", "-max-memory", "96MiB"),
		job("tree", "-partition-by", "origin,allowed"),
		{name: "rules", arguments: []string{"rules", "-quiet", "-rules", a.dir + "/r.jsonl", "-out", "out/r.parquet"}, outs: []string{"out/r.parquet"}},
		{name: "compile", arguments: []string{"compile", "-quiet", "-rules", a.dir + "/rules", "-out", "out/r.rbp"}, outs: []string{"out/r.rbp"}},
	}
	rejects := all[0]
	rejects.outs = append(rejects.outs, "out/rejects.jsonl")
	for _, v := range all {
		dir, err := a.scene(nil)
		if err != nil {
			return nil, err
		}
		started := time.Now()
		cmd := exec.CommandContext(a.ctx, a.binary, v.arguments...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", v.name, err, out)
		}
		v.took = time.Since(started)
		if v.want, err = hashes(dir); err != nil || len(v.want) < len(v.outs) {
			return nil, fmt.Errorf("%s leaves %d files: %w", v.name, len(v.want), err)
		}
	}
	return all, nil
}

// scene returns a new directory with a directory out, where there may be an older output of a
// victim.
func (a *attack) scene(older *victim) (string, error) {
	dir, err := os.MkdirTemp(a.dir, "scene-")
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o777); err != nil {
		return "", err
	}
	if older != nil && older.name != "tree" {
		for _, name := range older.outs {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(oldText), 0o666); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}

// oldText is the text of an older output.
const oldText = "an older output"

// hashes returns the hashes of all files below a directory, by name.
func hashes(dir string) (map[string]string, error) {
	all := map[string]string{}
	return all, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[name] = hash(data)
		return err
	})
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A traceRule says which traces a disturbed run may leave besides its outputs.
type traceRule uint8

const (
	noTemps traceRule = iota // it could tidy up
	temps                    // it could not: files with hidden names
)

// judgeScene judges the files that a run left in its directory: each output is the older one, or complete, or
// not there if it was not there. With exit code 0 all are complete. Rows before a fault of the log
// may be kept as .partial.
func judgeScene(v *victim, dir string, older bool, code int, rule traceRule) (judgement, string) {
	left, err := hashes(dir)
	if err != nil {
		return wrong, err.Error()
	}
	complete, olders := 0, 0
	for name, got := range left {
		want, expected := v.want[name]
		switch {
		case expected && got == want:
			complete++
		case expected && older && got == hash([]byte(oldText)):
			olders++
		case strings.Contains(name, ".partial"):
		case !expected && rule == temps && isHidden(name):
		default:
			return wrong, fmt.Sprintf("exit code %d leaves %s", code, name)
		}
	}
	switch {
	case code == 0 && complete != len(v.want):
		return wrong, fmt.Sprintf("exit code 0, and %d of %d files are complete", complete, len(v.want))
	case code == 0:
		return whole, ""
	case v.name == "tree" && complete != 0 && complete != len(v.want) && rule == noTemps:
		return wrong, fmt.Sprintf("%d of %d files of a directory", complete, len(v.want))
	case older && v.name != "tree" && complete+olders < len(v.outs):
		return wrong, "an older output is gone"
	}
	return refused, ""
}

// isHidden reports whether a part of a name begins with a dot.
func isHidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// disturbAll disturbs victims so many times, in several goroutines, and prints the results.
func (a *attack) disturbAll(kind string, n int, once func(r *rand.Rand, v *victim, i int) judgement) error {
	started := time.Now()
	all, err := a.victims()
	if err != nil {
		return err
	}
	counts := newTally(kind)
	work := make(chan int)
	var wait panics.Group
	for range a.jobs {
		wait.Go(func() (err error) {
			for i := range work { // to the end also after a panic, as the sender waits
				err = cmp.Or(err, panics.Catch(func() error {
					r := a.random(kind, i)
					counts.countJudgement(once(r, all[r.IntN(len(all))], i))
					return nil
				}))
			}
			return err
		})
	}
	for i := 1; i <= n && a.ctx.Err() == nil; i++ {
		work <- i
	}
	close(work)
	err = wait.Wait()
	counts.print(time.Since(started))
	return err
}

// disturb runs a victim by a command that disturbs it, and judges the files it leaves.
func (a *attack) disturb(r *rand.Rand, v *victim, what string, rule traceRule, run func(dir string) (*exec.Cmd, func())) judgement {
	older := r.IntN(2) == 0
	var old *victim
	if older {
		old = v
	}
	dir, err := a.scene(old)
	if err != nil {
		panic(err) // nothing works without a directory for temporary files
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is below a directory that is removed
	cmd, disturb := run(dir)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	res := &result{}
	if err = cmd.Start(); err == nil {
		disturb()
		err = cmd.Wait()
	}
	res.stderr = stderr.String()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		res.code = exit.ExitCode()
	} else if a.ctx.Err() != nil {
		return harmless // it was not started, or was ended
	} else if err != nil {
		panic(err)
	}
	j, reason := judgeScene(v, dir, older, res.code, rule)
	if strings.Contains(res.stderr, "panic:") {
		j, reason = wrong, "panic"
	}
	if j == wrong && a.ctx.Err() == nil {
		a.note(what, v.name+": "+strings.Join(cmd.Args, " "), reason, nil, res)
	}
	return j
}

// killAll kills runs at random moments.
func (a *attack) killAll() error {
	return a.disturbAll("kills", a.kills, func(r *rand.Rand, v *victim, _ int) judgement {
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[r.IntN(5)]
		after := time.Duration(r.Int64N(int64(v.took) * 5 / 4))
		rule := noTemps
		if signal == syscall.SIGKILL {
			rule = temps
		}
		return a.disturb(r, v, "kills", rule, func(string) (*exec.Cmd, func()) {
			cmd := exec.CommandContext(a.ctx, a.binary, v.arguments...)
			return cmd, func() {
				time.Sleep(after)
				cmd.Process.Signal(signal) //nolint:errcheck // it may have ended
			}
		})
	})
}

// calls are the system calls that are made to fail, and how. read, mmap and their kin are the
// runtime's own, too.
var calls = []struct {
	call   string
	errors []string
	most   int // calls of it in a run, about
}{
	{"write", []string{"EIO", "ENOSPC", "EINTR", "EDQUOT"}, 12},
	{"pwrite64", []string{"EIO", "ENOSPC"}, 6},
	{"fsync", []string{"EIO", "ENOSPC"}, 3},
	{"renameat", []string{"EIO", "EACCES", "EXDEV"}, 2},
	{"renameat2", []string{"EIO", "EACCES"}, 2},
	{"openat", []string{"EMFILE", "EACCES", "EIO", "ENOENT"}, 22},
	{"read", []string{"EIO", "EINTR"}, 40},
	{"pread64", []string{"EIO"}, 8},
	{"close", []string{"EIO", "EINTR"}, 16},
	{"newfstatat", []string{"EIO", "EACCES"}, 60},
	{"fstat", []string{"EIO"}, 6},
	{"getdents64", []string{"EIO"}, 4},
	{"lseek", []string{"EIO"}, 4},
	{"ftruncate", []string{"EIO", "ENOSPC"}, 2},
	{"mkdirat", []string{"EACCES", "ENOSPC"}, 4},
	{"unlinkat", []string{"EIO", "EACCES"}, 2},
	{"linkat", []string{"EIO", "EACCES"}, 2},
	{"fchmodat", []string{"EPERM"}, 2},
	{"fallocate", []string{"ENOSPC"}, 2},
}

// faultAll makes system calls fail, one or all from one on. A run that could not tidy up because
// that failed may leave hidden files.
func (a *attack) faultAll() error {
	if _, err := exec.LookPath("strace"); err != nil {
		fmt.Printf("%-34s skipped: %v\n", "faults", err)
		return nil
	}
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		fmt.Printf("%-34s skipped: strace: %v: %s\n", "faults", err, bytes.TrimSpace(out))
		return nil
	}
	return a.disturbAll("faults", a.faults, func(r *rand.Rand, v *victim, _ int) judgement {
		c := calls[r.IntN(len(calls))]
		inject := fmt.Sprintf("%s:error=%s:when=%d", c.call, c.errors[r.IntN(len(c.errors))], 1+r.IntN(c.most))
		if !strings.Contains(inject, "EINTR") && r.IntN(2) == 0 {
			inject += "+"
		}
		return a.disturb(r, v, "faults", temps, func(string) (*exec.Cmd, func()) {
			ctx, cancel := context.WithTimeout(a.ctx, patience)
			arguments := slices.Concat([]string{"-f", "-qqq", "-o", os.DevNull, "-e", "trace=" + c.call, "-e", "inject=" + inject, a.binary}, v.arguments)
			return exec.CommandContext(ctx, "strace", arguments...), func() { context.AfterFunc(a.ctx, cancel) }
		})
	})
}

// fillAll runs on small file systems, which fill up, and under a limit of the size of files.
func (a *attack) fillAll() error {
	mounts := exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=4k tmpfs /mnt").Run() == nil
	if !mounts {
		fmt.Println("disks: no right to mount, so only the size of files is limited")
	}
	return a.disturbAll("disks", a.disks, func(r *rand.Rand, v *victim, _ int) judgement {
		size := int64(1) << (12 + r.IntN(11)) // 4 KiB to 4 MiB
		size += r.Int64N(size)
		script := "ulimit -f " + strconv.FormatInt(size/1024, 10) + "; exec \"$0\" \"$@\""
		program := "bash"
		var prefix []string
		if mounts && r.IntN(3) > 0 {
			// The rest is copied out of the file system, which ends with the process.
			script = fmt.Sprintf(`mkdir -p small/out && mount -t tmpfs -o size=%d tmpfs small && mkdir small/out && cp -a out/. small/out/ 2>/dev/null
				(cd small && "$0" "$@"); code=$?; rm -rf out && cp -a small/out out; umount small; rm -rf small; exit $code`, size)
			program, prefix = "unshare", []string{"-rm", "bash"}
		}
		return a.disturb(r, v, "disks", noTemps, func(string) (*exec.Cmd, func()) {
			arguments := slices.Concat(prefix, []string{"-c", script, a.binary}, v.arguments)
			return exec.CommandContext(a.ctx, program, arguments...), func() {}
		})
	})
}
