package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is the one that the benchmarks measure.
const module = "github.com/robobatch/robobatch"

// newCommand returns a command that runs in a folder, without the variables by which a hook points git at another
// repository.
func newCommand(ctx context.Context, dir, name string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	return cmd
}

// runCommand runs a command, and returns its output without the last line end. An error contains all that the command
// wrote.
func runCommand(cmd *exec.Cmd) (string, error) {
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s in %s: %w: %s%s", strings.Join(cmd.Args, " "), cmd.Dir, err, said.String(), out)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// git returns the output of git.
func git(ctx context.Context, dir string, arguments ...string) (string, error) {
	return runCommand(newCommand(ctx, dir, "git", arguments...))
}

// findBase returns the commit with that name. Without a name, or for zeros, which git and GitHub use for no commit, it
// returns the merge base with main, or the previous commit if the merge base is the current one; "" if there is none,
// as in a clone of one commit.
func findBase(ctx context.Context, top, name string) (string, error) {
	if strings.Trim(name, "0") != "" {
		base, err := git(ctx, top, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
		if err != nil {
			return "", fmt.Errorf("find the base %s: %w; fetch that commit, or name another by -base", name, err)
		}
		return base, nil
	}
	head, err := git(ctx, top, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	for _, main := range []string{"origin/main", "main"} {
		if base, err := git(ctx, top, "merge-base", main, "HEAD"); err == nil && base != head {
			return base, nil
		}
	}
	parents, err := git(ctx, top, "rev-list", "--parents", "-n", "1", "HEAD")
	if err != nil {
		return "", err
	}
	if all := strings.Fields(parents); len(all) > 1 {
		return all[1], nil
	}
	return "", nil
}

// packagesDiffer reports whether a directory of a package that the benchmarks use, or a go.mod, differs from a commit.
// Files that git does not track count as different.
func packagesDiffer(ctx context.Context, top, base string) (bool, error) {
	folders, err := runCommand(newCommand(ctx, filepath.Join(top, "bench"), "go", "list", "-deps", "-test",
		"-f", `{{with .Module}}{{if eq .Path "`+module+`"}}{{$.Dir}}{{end}}{{end}}`, "."))
	if err != nil {
		return false, err
	}
	paths := append(linesOf(folders), "go.mod", "bench/go.mod")
	changed, err := git(ctx, top, append([]string{"diff", "--name-only", base, "--"}, paths...)...)
	if err != nil {
		return false, err
	}
	more, err := git(ctx, top, append([]string{"ls-files", "--others", "--exclude-standard", "--"}, paths...)...)
	return changed+more != "", err
}

// linesOf returns the lines of an output, none of an empty one. A line may have spaces.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return line == "" })
}

// A program is the benchmarks of a tree, built.
type program struct {
	folder string // where they run: their data lies beside it
	binary string
}

// build builds the benchmarks of a tree as a new file in dir. It leaves paths as they are, so that packages which
// tests have built are not built again.
func build(ctx context.Context, tree, dir string) (program, error) {
	p := program{filepath.Join(tree, "bench"), ""}
	file, err := os.CreateTemp(dir, "bench-*.test")
	if err != nil {
		return p, err
	}
	p.binary = file.Name()
	if err := file.Close(); err != nil {
		return p, err
	}
	_, err = runCommand(newCommand(ctx, p.folder, "go", "test", "-c", "-ldflags", "-s -w", "-o", p.binary, "."))
	return p, err
}

// tryCases runs each case with one iteration. A case without a CPU time is an error, too.
func (p program) tryCases(ctx context.Context) error {
	for _, c := range cases {
		var ns float64
		c.times = 1
		if err := p.run(ctx, c, &ns); err != nil {
			return err
		}
		if ns == 0 {
			return fmt.Errorf("the benchmark %s gave no CPU time", c.name)
		}
	}
	return nil
}

// errBaseBroken is the error of a base whose Go code does not compile.
var errBaseBroken = errors.New("the base does not compile")

// compileError is the message of go about a file of the module that does not compile.
var compileError = regexp.MustCompile(`# ` + regexp.QuoteMeta(module) + `.*\n.*\.go:[0-9]+:[0-9]+: `)

// setupFailed ends the same message where a package was not found, as of a module that could not be fetched.
const setupFailed = "[setup failed]"

// doesNotCompile reports whether go names a line of code as the cause, not the machine or the network.
func doesNotCompile(err error) bool {
	return err != nil && compileError.MatchString(err.Error()) && !strings.Contains(err.Error(), setupFailed)
}

// buildBase builds the tree's benchmarks with the packages of the base and its versions of other modules, and gives
// them the tree's data, so that a changed benchmark is the same on both sides. If they do not fit those packages, or
// fail, it builds the base's own. It returns a function that removes the base from disk, always.
func buildBase(ctx context.Context, top, base, dir string) (p program, remove func(context.Context) error, err error) {
	tree := filepath.Join(dir, "base")
	if _, err := git(ctx, top, "worktree", "add", "-q", "--detach", tree, base); err != nil {
		return p, func(context.Context) error { return nil }, err
	}
	remove = func(ctx context.Context) error {
		_, err := git(ctx, top, "worktree", "remove", "--force", tree)
		return err
	}
	bench := filepath.Join(tree, "bench")
	if err := errors.Join(os.RemoveAll(bench), os.CopyFS(bench, os.DirFS(filepath.Join(top, "bench")))); err != nil {
		return p, remove, err
	}
	if _, err := git(ctx, tree, "checkout", "-q", "HEAD", "--", "bench/go.*"); err != nil { // go.mod, and go.sum if it has one
		return p, remove, err
	}
	p, misfit := build(ctx, tree, dir)
	p.folder = filepath.Join(top, "bench")
	if misfit == nil {
		misfit = p.tryCases(ctx)
	}
	if misfit == nil || ctx.Err() != nil {
		return p, remove, errors.Join(misfit, ctx.Err())
	}
	if err := os.RemoveAll(bench); err != nil {
		return p, remove, err
	}
	if _, err := git(ctx, tree, "checkout", "-q", "HEAD", "--", "bench"); err != nil {
		return p, remove, err
	}
	p, err = build(ctx, tree, dir)
	if doesNotCompile(err) {
		err = fmt.Errorf("%w: %w", errBaseBroken, err)
	}
	if err != nil {
		return p, remove, err
	}
	fmt.Println("gate: the benchmarks do not work with the packages of", base, "- those of that commit are measured there:", misfit)
	return p, remove, nil
}
