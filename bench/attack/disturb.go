//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// kill runs a victim, and sends it a signal at a random time. In half of the cases the same command runs again, and
// must write its outputs.
func (a *attack) kill(r *rand.Rand, v *victim) judgement {
	signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[r.IntN(5)]
	after := time.Duration(r.Int64N(int64(v.took) * 5 / 4))
	return a.disturb(r, v, func(dir string) disturbance {
		cmd := a.newCommand(v, dir)
		return disturbance{cmd: cmd, tidy: signal != syscall.SIGKILL, again: r.IntN(2) == 0, started: func() {
			time.Sleep(after)
			cmd.Process.Signal(signal) //nolint:errcheck // it may have ended
		}}
	})
}

// calls are the system calls that are made to fail, and how. Some, such as read, are also made by the Go runtime. If a
// heeded call fails, a run with exit code 0 is wrong even if its files are complete.
var calls = []struct {
	name   string
	errors []string
	heeded bool
}{
	{"write", []string{"EIO", "ENOSPC", "EINTR", "EDQUOT"}, false}, // also to the standard streams
	{"pwrite64", []string{"EIO", "ENOSPC"}, true},
	{"fsync", []string{"EIO", "ENOSPC"}, true},
	{"renameat", []string{"EIO", "EACCES", "EXDEV"}, false},
	{"renameat2", []string{"EIO", "EACCES"}, false},
	{"openat", []string{"EMFILE", "EACCES", "EIO", "ENOENT"}, false},
	{"read", []string{"EIO", "EINTR"}, false},
	{"pread64", []string{"EIO"}, false},
	{"close", []string{"EIO", "EINTR"}, false},
	{"newfstatat", []string{"EIO", "EACCES"}, false},
	{"fstat", []string{"EIO"}, false},
	{"getdents64", []string{"EIO"}, false},
	{"lseek", []string{"EIO"}, false},
	{"ftruncate", []string{"EIO", "ENOSPC"}, false},
	{"mkdirat", []string{"EACCES", "ENOSPC"}, false},
	{"unlinkat", []string{"EIO", "EACCES"}, false},
	{"linkat", []string{"EIO", "EACCES"}, false},
	{"fchmodat", []string{"EPERM"}, false},
	{"fallocate", []string{"ENOSPC"}, false},
}

// newStrace returns the command that runs a victim under strace, with more flags of strace. It writes a trace of the
// given calls, separated by commas, to dir + ".trace".
func (a *attack) newStrace(v *victim, dir, trace string, more ...string) *exec.Cmd {
	arguments := slices.Concat([]string{"-f", "-qqq", "-o", dir + ".trace"}, more, []string{"-e", "trace=" + trace, a.binary}, v.arguments)
	cmd := exec.CommandContext(a.ctx, "strace", arguments...)
	cmd.Dir = dir
	return cmd
}

// trace sets the system calls of each victim, from a run without a disturbance. The error says that strace
// cannot be used.
func (a *attack) trace() error {
	names := make([]string, 0, len(calls))
	for _, c := range calls {
		names = append(names, c.name)
	}
	for _, v := range a.victims {
		dir, err := a.makeScene(v, false)
		if err != nil {
			return err
		}
		if out, err := a.newStrace(v, dir, strings.Join(names, ",")).CombinedOutput(); err != nil {
			return fmt.Errorf("strace: %w: %s", err, bytes.TrimSpace(out))
		}
		text, err := os.ReadFile(dir + ".trace")
		if err != nil {
			return err
		}
		v.calls = callsOf(string(text))
	}
	return nil
}

// callsOf returns the positions of the calls by name: 1 for the first call with this name in its thread, as strace
// counts.
func callsOf(trace string) map[string][]int {
	calls, counts := map[string][]int{}, map[string]int{} // counts by thread and name
	for line := range strings.Lines(trace) {
		name, _, ok := strings.Cut(line, "(")
		thread, call, _ := strings.Cut(name, " ")
		call = strings.TrimSpace(call)
		if !ok || strings.HasPrefix(call, "<...") { // the end of a call that was interrupted by another thread
			continue
		}
		counts[thread+call]++
		calls[call] = append(calls[call], counts[thread+call])
	}
	return calls
}

// failCall runs a victim, and makes one of its system calls fail, or all of the same name from one on. A run may leave
// hidden files if the failure prevented it from removing them.
func (a *attack) failCall(r *rand.Rand, v *victim) judgement {
	c := &calls[r.IntN(len(calls))]
	for len(v.calls[c.name]) == 0 {
		c = &calls[r.IntN(len(calls))]
	}
	seen := v.calls[c.name]
	inject := fmt.Sprintf("inject=%s:error=%s:when=%d", c.name, c.errors[r.IntN(len(c.errors))], seen[r.IntN(len(seen))])
	if !strings.Contains(inject, "EINTR") && r.IntN(2) == 0 {
		inject += "+"
	}
	return a.disturb(r, v, func(dir string) disturbance {
		d := disturbance{cmd: a.newStrace(v, dir, c.name, "-e", inject)}
		if c.heeded {
			d.ended = func() string {
				if text, err := os.ReadFile(dir + ".trace"); err != nil || bytes.Contains(text, []byte("(INJECTED)")) {
					return "exit code 0, though " + inject + " came to pass"
				}
				return ""
			}
		}
		return d
	})
}

// fillDisk runs a victim on a small file system that fills up, or with a limit for the size of files.
func (a *attack) fillDisk(r *rand.Rand, v *victim) judgement {
	size := int64(1) << (12 + r.IntN(10)) // 4 KiB to 4 MiB
	size += r.Int64N(size)
	cmd := exec.CommandContext(a.ctx, "bash", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, size/1024), a.binary)
	if r.IntN(3) > 0 { // the files are copied out of the file system, which ends with the process
		cmd = exec.CommandContext(a.ctx, "unshare", "-rm", "bash", "-c", fmt.Sprintf(`mkdir small && mount -t tmpfs -o size=%d tmpfs small && mkdir small/out && cp -a out/. small/out/ 2>/dev/null
			(cd small && "$0" "$@"); code=$?; rm -rf out && cp -a small/out out; umount small; rmdir small; exit $code`, size), a.binary)
	}
	cmd.Args = append(cmd.Args, v.arguments...)
	return a.disturb(r, v, func(string) disturbance { return disturbance{cmd: cmd, tidy: true} })
}
