package series

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// given are the flags of the command check-output.
type given struct {
	names []string // arguments
	work  flags.Work
}

// CheckCommand returns the command check-output.
func CheckCommand() flags.Command {
	g := new(given)
	c := flags.Command{Plan: g.plan}
	c.Name, c.About, c.Arguments = "check-output", "tell whether outputs are as runs left them", "DIR|STATS..."
	c.Take = func(name string) { g.names = append(g.names, name) }
	c.Intro = `
robobatch check-output tells whether outputs are as runs left them.

    robobatch check-output out/ verdicts.stats.json

reads the manifests of a run: of one output per input those in its directory (_stats.json and _done/), of one output the
file of -stats. It reads all outputs that they name, compares sizes and hashes, and prints what was altered, what is
missing, and what comes from other runs. It finds damage and mistakes, not forgery: the hash, XXH3, has no key. It opens
no network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 all is as it was left; 1 it is not; 2 an error of usage or input.`
	c.Flags = flags.Sections{Run: flags.Without(g.work.Flags(), "workers", "progress")}.All()
	return c
}

// A checking is a run of the command check-output.
type checking struct {
	console.Console
	guard.Printed
	names []string
}

// plan checks the arguments.
func (g *given) plan(std console.Streams, faults cli.Faults) (guard.Task, error) {
	if len(g.names) == 0 {
		faults.Add("", errors.New("nothing to check: name a directory of outputs, as -out of the run did, or a file of -stats"))
	}
	for _, name := range g.names {
		if scheme := place.Foreign(name); scheme != "" {
			return nil, cli.Usage("%s is no place to read from: name a directory or a file, or s3://", scheme)
		}
	}
	return &checking{Console: console.Console{Streams: std, Quiet: g.work.Quiet}, names: g.names}, faults.Err()
}

// Run checks one name after the other.
func (c *checking) Run(ctx context.Context) error {
	var sum Verification
	for _, name := range c.names {
		v, err := verify(ctx, name)
		if err != nil {
			return err
		}
		for _, f := range v.Findings {
			if err := c.PrintOut(fmt.Sprintf("%-9s  %s: %s\n", f.Kind, say.File(f.Name), say.Line(f.Text))); err != nil {
				return err
			}
		}
		sum.Findings = append(sum.Findings, v.Findings...)
		sum.Outputs, sum.Bytes, sum.Manifests = sum.Outputs+v.Outputs, sum.Bytes+v.Bytes, sum.Manifests+v.Manifests
	}
	checked := fmt.Sprintf("%s of %s, by %s", say.Count(int64(sum.Outputs), "output"), say.Bytes(sum.Bytes), say.Count(int64(sum.Manifests), "manifest"))
	if n := len(sum.Findings); n > 0 {
		return flow.NewPolicyError(fmt.Sprintf("%s: not as they were left: %s", checked, say.Count(int64(n), "file")))
	}
	c.Print(checked + ": all as they were left\n")
	return nil
}

// verify verifies a directory of outputs, or the output of a file of -stats.
func verify(ctx context.Context, name string) (*Verification, error) {
	info, err := place.Of(name).Stat(name)
	if targets.IsDir(name) || err == nil && info.Dir || place.IsRemote(name) && !strings.HasSuffix(name, ".json") {
		v, err := Dir{Name: name}.Verify(ctx)
		return withMixed(v, err, name)
	}
	v, err := VerifyFile(ctx, name)
	return withMixed(v, err, filepath.Dir(name))
}

// withMixed adds what a killed run has left in a directory, which is no error even if the directory has no manifest.
func withMixed(v *Verification, err error, dir string) (*Verification, error) {
	if place.IsRemote(dir) {
		return v, err
	}
	for _, m := range atomicfile.MixedSets(dir) {
		if err != nil {
			v, err = new(Verification), nil
		}
		v.Findings = append(v.Findings, Finding{Kind: OtherRun, Name: targets.Near(m.Old[0]), Text: "a run was killed while its outputs got their names: " + targets.Mixture(m)})
	}
	return v, err
}
