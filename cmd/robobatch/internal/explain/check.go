package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// A checkRun implements the command check.
type checkRun struct {
	console.Console
	process.Printed
	*Asker
	file *expectations
	form string
	all  bool // print the expectations that passed, too
}

// checkFlags are the flags of the command check.
type checkFlags struct {
	Flags
	print, expect string
}

// CheckCommand returns the command check.
func CheckCommand() flags.Command {
	g := new(checkFlags)
	c := flags.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "check", "test robots.txt files against your expectations"
	c.Intro = `
robobatch check tests whether robots.txt files meet your expectations.

    robobatch check -rules robots.txt -base https://www.example.com -expect robots.expect

prints the lines of robots.expect that fail, and the rule that decides each. Lines look like these:

    allow Googlebot /blog/
    disallow @ai / rule=12
    usage GPTBot /news/ train-ai=n

It opens no network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 all expectations are met; 1 at least one is not; 2 an error of usage or input.`
	c.Flags = flags.Sections{
		Input: g.InputFlags(flags.NameRules), Question: g.QuestionFlags(), Run: append([]cli.Flag{{Name: "v", Set: cli.Bool(&g.Work.Verbose), Doc: "Also print the expectations that passed (text), and the stack of a panic."}}, g.RunFlags()...),
		Output: []cli.Flag{
			{Name: "expect", Arg: "file", Files: true, Needed: "name a file of lines such as: allow Googlebot /blog/", Set: cli.Text(&g.expect), Doc: `
			File of expectations (docs/CI.md). One per line, such as "disallow @ai /private/ rule=12". - is standard input.`},
			flags.Print(&g.print, checkForms, `
			Form of the output. text: failed expectations, the group that decided, and what to add. json: one object per
			line (docs/check.schema.json). github: annotations for ten failures, the rest in the step summary. junit.
			markdown: for a comment.`),
		},
	}.All()
	return c
}

// plan implements [flags.Command].Plan: it checks the flags, reads the expectations and finds the rules.
func (g *checkFlags) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	c := &checkRun{Console: console.Console{Streams: std, Quiet: g.Work.Quiet, Progress: console.Off}, form: g.print, all: g.Work.Verbose}
	c.Asker = NewAsker(&g.Flags, &faults)
	_, err := cli.Choose("form", g.print, checkForms)
	faults.Add("print", err)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if c.file, err = readExpectations(g.expect, std.In); err != nil {
		return nil, err
	}
	c.Opt.Agents = nil
	var only string
	for _, line := range c.file.Lines {
		for _, agent := range line.Agents {
			if !slices.Contains(c.Opt.Agents, agent) {
				c.Opt.Agents = append(c.Opt.Agents, agent)
			}
		}
		switch origin := string(NewTarget(line.URL).Origin); {
		case only == "":
			only = origin
		case origin != only:
			only = " " // several
		}
	}
	c.Opt.Tokens = flags.NeedsRuleTokens(c.Opt.Agents, c.Opt.Dialect)
	return c, c.Find(&g.Flags, strings.TrimSpace(only))
}

// readExpectations reads a file of expectations; "-" is standard input. The file may be untrusted, for example in a
// pull request, so lists of names must be in its directory. Expectations from standard input or object storage cannot
// name lists.
func readExpectations(name string, in io.Reader) (*expectations, error) {
	if name == msg.Std {
		return parseExpectations(in, Stdin, nil)
	}
	f, err := storage.Open(name)
	if err != nil {
		return nil, fmt.Errorf("-expect: %s: %w", msg.File(name), atomicfile.WithoutPath(err))
	}
	defer f.Close()
	if storage.IsRemote(name) {
		return parseExpectations(f, name, nil)
	}
	lists, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("-expect: %w", err)
	}
	defer lists.Close()
	return parseExpectations(f, name, lists)
}

// Run checks the expectations, and prints the results. A failed expectation or a problem of a file is an error.
func (c *checkRun) Run(ctx context.Context) error {
	targets := make([]Target, len(c.file.Lines))
	for i, line := range c.file.Lines {
		if targets[i] = c.Target(line.URL); targets[i].Origin == "" {
			return fmt.Errorf("%s:%d: %q is not a URL: write https://www.example.com/path, or a path and -base https://www.example.com",
				c.file.Name, line.Num, line.URL)
		}
	}
	answer, err := c.NewAnswerer(ctx, targets)
	c.Rules.Warn(&c.Console)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	if c.Rules.Pack() != "" {
		c.Hint("a pack does not contain the text of robots.txt, so " + AllClosed + " and " + OddRobots + " are not checked: check the files as well")
	}
	var results []result
	for i := range c.file.Lines {
		for _, agent := range c.file.Lines[i].Agents {
			a, err := answer(targets[i], agent)
			if err != nil {
				return errors.Join(err, c.Close())
			}
			c.Note(a)
			results = append(results, c.file.Judge(&c.file.Lines[i], a))
		}
	}
	if warnings := c.UnclearAgents(); len(warnings) > 0 && c.file.Waivers[UnclearAgent] == 0 {
		return errors.Join(fmt.Errorf("%s: %s: %s; correct it, or waive %s", c.file.Name, warnings[0].Text,
			strings.Join(warnings[0].Examples, ", "), UnclearAgent), c.Close())
	}
	c.WarnOnce(c.Disputes())
	results = append(results, c.problems(results)...)
	err = errors.Join(console.OutError(printResults(c.Out, c.form, c.all, results)), c.Close())
	if failed := Failed(results); err == nil && failed > 0 {
		err = outputs.NewPolicyError(fmt.Sprintf("%s of %s failed", msg.Number(failed), msg.Count(int64(len(results)), "check")))
	}
	return err
}

// problems returns the problems of the robots.txt files that are not waived: a missing robots.txt, a file that is not
// a robots.txt, and a search engine that is blocked from the whole site, if no expectation says so. results are those
// of the expectations.
func (c *checkRun) problems(results []result) (problems []result) {
	add := func(code, text string) {
		if c.file.Waivers[code] == 0 {
			problems = append(problems, c.file.NewProblem(code, text))
		}
	}
	var origins []string
	for i := range results {
		if r := &results[i]; !slices.Contains(origins, r.Origin) {
			origins = append(origins, r.Origin)
			if r.Reason == NoRobots {
				add(NoRobots, r.Origin+" has no robots.txt in -rules, so its expectations cannot be checked: add its file, correct the URL, or waive no_robots")
			}
		}
	}
	for _, origin := range origins {
		copies := c.Copies[robots.Origin(origin)]
		if len(copies) == 0 || copies[0].Outcome.Effect != robots.UseRules {
			continue
		}
		response := &copies[0].Response
		if odd := robots.OddityOf(response.Body, nil); odd.IsOdd() {
			add(OddRobots, fmt.Sprintf("%s is not a robots.txt: %v; replace it with the right file, or waive odd_robots", msg.File(response.Name), odd))
		}
		for _, d := range robots.Inspect(response.Body, c.Question.Dialect).Diagnostics {
			if d.Code == AllClosed && !slices.ContainsFunc(results, func(r result) bool {
				return r.Origin == origin && r.Expect == "disallow" && r.Path == "/" && r.RuleLine == d.Line && isForSearch(r.Agent)
			}) {
				add(AllClosed, fmt.Sprintf("%s:%d: %s, but no line expects that: use the right file, or add the expectation: disallow Googlebot /", msg.File(response.Name), d.Line, d.Text))
			}
		}
	}
	return problems
}

// isForSearch reports whether a crawler is one of a search engine, or "*".
func isForSearch(agent string) bool {
	return agent == "*" || slices.ContainsFunc(crawlers.Set("search"), func(c crawlers.Crawler) bool {
		return strings.EqualFold(c.Token, agent)
	})
}
