// Command gate fails if the tree is slower than its base:
//
//	go run -C bench ./gate                 # against the merge base with main; on main, against the commit before
//	go run -C bench ./gate -base v1.2.3    # against that commit
//
// It builds the benchmarks of both, and runs a few of them on data of the repository, by one worker, in short
// rounds in turn. A round gives the CPU time of each; the least of all rounds counts, since whatever else
// runs on the machine only adds to it. A case that seems slower is measured again, with as many rounds; the gate
// fails if it is slower twice. bench/README.md says how often that is wrong.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/tool"
)

// cases are the benchmarks that count: matching, compiling, reading, deciding, writing.
var cases = []string{
	"Match/data=quickstart/log=mixed",
	"Match/data=madeup/rules=1034/wildcard=49",
	"BuildStore/data=quickstart",
	"Evaluate/data=quickstart/log=mixed",
	"RowTimes/data=quickstart/log=mixed/captures=8",
	"Run/data=quickstart/log=mixed/url=false/workers=1",
	"Run/data=quickstart/log=mixed/url=true/workers=1",
	"Format/format=combined/file=apache-semicomplete.log/fields=all",
}

func main() { tool.Main("gate", run) }

// A request is the task by the flags.
type request struct {
	base      string // "" finds one
	rounds    int
	threshold float64
	time      string // of a benchmark in a round
	same      bool
}

// parse reads the flags.
func parse(arguments []string) (r request, err error) {
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	flags.StringVar(&r.base, "base", "", "the commit to compare with; default: the merge base with main, on main the commit before")
	flags.IntVar(&r.rounds, "rounds", 12, "rounds, and as many again of what seems slower")
	flags.Float64Var(&r.threshold, "threshold", 1.07, "what is slower: the least CPU time as a part of the base's")
	flags.StringVar(&r.time, "time", "40ms", "how long a benchmark runs in a round")
	flags.BoolVar(&r.same, "same", false, "measure though both programs are the same bytes, to see how far the figures vary")
	if err := flags.Parse(arguments); err != nil {
		return r, err
	}
	if r.rounds < 1 || r.threshold <= 1 {
		return r, errors.New("-rounds: at least 1; -threshold: over 1")
	}
	return r, nil
}

// run compares the tree with its base.
func run(ctx context.Context, arguments []string) (err error) {
	r, err := parse(arguments)
	if err != nil {
		return err
	}
	top, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if r.base == "" {
		if r.base, err = findBase(ctx, top); err != nil || r.base == "" {
			fmt.Println("gate: there is no commit to compare with: nothing was measured")
			return err
		}
	}
	dir, err := os.MkdirTemp("", "robobatch-gate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory for temporary files
	tree := filepath.Join(dir, "base")
	if _, err := git(ctx, top, "worktree", "add", "-q", "--detach", tree, r.base); err != nil {
		return err
	}
	defer func() {
		_, removed := git(context.WithoutCancel(ctx), top, "worktree", "remove", "--force", tree)
		err = errors.Join(err, removed)
	}()
	base, err := build(ctx, tree, filepath.Join(dir, "base.test"))
	if err != nil {
		fmt.Println("gate: the benchmarks of", r.base, "do not build: nothing was measured")
		return nil // the older state cannot be mended
	}
	here, err := build(ctx, top, filepath.Join(dir, "here.test"))
	if err != nil {
		return err
	}
	if same, err := equalFiles(base.binary, here.binary); err != nil {
		return err
	} else if same && !r.same {
		fmt.Println("gate: the benchmarks are the same bytes as those of", r.base, ": nothing was measured")
		return nil
	}
	return r.judge(ctx, base, here)
}

// git returns the output of git, without the last line end.
func git(ctx context.Context, dir string, arguments ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, arguments...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// findBase returns the merge base with main, or the commit before if that is the tree's own; "" if there is none, as in
// a clone of one commit.
func findBase(ctx context.Context, top string) (string, error) {
	head, err := git(ctx, top, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	for _, main := range []string{"origin/main", "main"} {
		if base, err := git(ctx, top, "merge-base", main, "HEAD"); err == nil && base != head {
			return base, nil
		}
	}
	before, err := git(ctx, top, "rev-parse", "-q", "--verify", "HEAD^")
	if err != nil {
		return "", nil //nolint:nilerr // there is none
	}
	return before, nil
}

// build builds the benchmarks of a tree.
func build(ctx context.Context, tree, binary string) (program, error) {
	folder := filepath.Join(tree, "bench")
	cmd := exec.CommandContext(ctx, "go", "test", "-C", folder, "-c", "-trimpath", "-o", binary, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("build the benchmarks in %s: %w: %s", folder, err, out)
	}
	return program{folder, binary}, nil
}

// equalFiles reports whether two files have the same bytes.
func equalFiles(a, b string) (bool, error) {
	one, err := os.ReadFile(a)
	if err != nil {
		return false, err
	}
	other, err := os.ReadFile(b)
	return bytes.Equal(one, other), err
}
