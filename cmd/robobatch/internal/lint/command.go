package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/robots"
)

// A run implements the command lint.
type run struct {
	console.Console
	process.Sink[*atomicfile.File]                   // of -out
	rules                          []*pipeline.Rules // in the order of the command line
	opt                            listings.Options
	form                           string
	asked                          []string // requested crawlers; empty means all
	who                            []robots.Agent
	named                          map[robots.ProductToken]bool // tokens named by groups, if needed
	fail                           Gate                         // severities that cause exit code 1
	failName                       string                       // of -fail
	baseline                       Baseline                     // nil without a baseline
	accept                         Baseline                     // all findings, for -approve; nil without it
	acceptName                     string
	accepted                       int64 // number of findings in the baseline
}

// given are the flags of the command lint.
type given struct {
	flags.Rules
	reading                              flags.Reading
	agents                               flags.Agents
	work                                 flags.Work
	print, out, fail, baseline, accepted string
	names                                []string // arguments
}

// Command returns the command lint.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, OneRule: true, Plan: g.plan}
	c.Name, c.About, c.Arguments = "lint", "find mistakes in robots.txt files, for people and for CI", "RULES..."
	c.Take = func(name string) { g.names = append(g.names, name) }
	c.Intro = `
robobatch lint finds mistakes in robots.txt files, for people and for CI.

    robobatch lint robots.txt other.txt
    robobatch lint -rules robots.txt -origin https://www.example.com

prints each finding with its line, severity and remedy; robobatch explain CODE describes a code. It opens no network
connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 no finding of the severity of -fail; 1 at least one; 2 an error of usage, input or output.`
	all := g.FileFlags()
	all[0].Needed = ""
	c.Flags = flags.Sections{
		Input: all,
		Question: append([]cli.Flag{
			g.agents.NamesFlag("Report only findings that concern these crawlers, separated by commas. They are in groups that bind "+
				"them, or in the whole file, such as misspelt names.", "every group."), g.agents.CrawlersFlag(),
		}, g.reading.MomentFlags()...),
		Output: []cli.Flag{
			flags.Print(&g.print, Forms, `
			Form of the output. text: findings, or a table by code for many origins. json: one object per line
			(docs/lint.schema.json). sarif: SARIF 2.1.0 with the worst 5,000. github: annotations for the worst ten,
			the rest in the step summary. junit. markdown: for a pull request comment.`),
			{Name: "out", Arg: "file", Files: true, Set: flags.FileName(&g.out), Doc: `
			The file for the output. As text it contains every finding. Default: standard output.`},
			{
				Name: "fail", Arg: "severity", Values: Severities, Default: "error",
				Set: cli.Text(&g.fail), Doc: "Exit with code 1 for findings of at least this severity. error, warning or info.",
			},
			{Name: "baseline", Arg: "file", Files: true, Set: cli.Text(&g.baseline), Doc: `
			Omit the findings that this file accepts. They are identified by code and text of the line, even if it moves.`},
			{Name: "approve", Arg: "file", Files: true, Set: flags.FileName(&g.accepted), Doc: `
			Approve all findings: write them to this file, for -baseline. The exit code is 0.`},
		},
		Run: flags.Without(g.work.Flags(), "progress"),
	}.All()
	return c
}

// plan implements [flags.Command].Plan: it checks the flags, reads the baseline, and finds the rules.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	l := &run{Console: console.Console{Streams: std, Quiet: g.work.Quiet, Progress: console.Off}, form: g.print, acceptName: g.accepted}
	l.Name = g.out
	if l.Name == "" {
		l.Name = msg.Std
	}
	l.opt.Dialect, l.opt.AsOf = g.reading.Choose(&faults)
	l.opt.Bodies, l.opt.Workers = true, g.work.Workers
	if g.Path != "" {
		g.names = append([]string{g.Path}, g.names...)
	}
	if len(g.names) == 0 {
		faults.Add("", errors.New("missing -rules: "+flags.NameRules))
	}
	faults.Add("as-of", g.reading.CheckMoment())
	var err error
	l.asked, err = flags.ExpandAgents(g.agents.Names)
	faults.Add("agent", err)
	for _, name := range l.asked {
		l.who = append(l.who, robots.NewAgent(name, l.opt.Dialect))
	}
	if flags.NeedsRuleTokens(l.asked, l.opt.Dialect) {
		l.named = map[robots.ProductToken]bool{}
	}
	_, err = cli.Choose("form", g.print, Forms)
	faults.Add("print", err)
	severity, err := cli.Choose("severity", g.fail, Severities)
	faults.Add("fail", err)
	l.fail, l.failName = Gate(severity+1), g.fail
	faults.Add("workers", memory.CheckWorkers(g.work.Workers))
	if g.baseline != "" {
		l.baseline, err = ReadBaseline(g.baseline)
		faults.Add("baseline", err)
	}
	if l.acceptName != "" {
		l.accept, l.fail = Baseline{}, 0 // all findings have just been approved
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range g.names {
		// Find the rules for a name.
		var err error
		rules := &pipeline.Rules{Inspect: true}
		l.rules = append(l.rules, rules)
		if l.opt.Origin, err = rules.FindListed(name, g.Origin, g.AcceptDamage); errors.Is(err, rulefiles.ErrNoOrigin) {
			err = rules.Find(name, pipeline.NoOrigin) // the findings of a file are the same at every origin
		}
		errs = append(errs, err)
	}
	if err = errors.Join(errs...); err == nil {
		// Check that -out and -approve overwrite neither inputs nor each other.
		errs := []error{outputs.CheckLocal("-out", l.Name), outputs.CheckLocal("-approve", l.acceptName)}
		for i, rules := range l.rules {
			if errors.Join(errs...) != nil {
				break
			}
			inputs := outputs.Inputs{Path: g.names[i], Rules: rules.Files}
			if l.Name != msg.Std {
				errs = append(errs, outputs.CheckFile("-out", l.Name, inputs, outputs.Other{Flag: "-baseline", Name: g.baseline},
					outputs.Other{Flag: "-approve", Name: l.acceptName}))
			}
			if l.acceptName != "" {
				errs = append(errs, outputs.CheckFile("-approve", l.acceptName, inputs))
			}
		}
		err = errors.Join(errs...)
	}
	return l, err
}

// diagnostics returns the diagnostics of a robots.txt that concern the requested crawlers. It also records the names
// of its groups, if they are needed. The origin is "" if unknown.
func (l *run) diagnostics(report *robots.Report, origin robots.Origin) []robots.Diagnostic {
	if l.named != nil {
		for i := range report.File.Groups {
			for _, name := range report.File.Groups[i].Agents {
				l.named[name] = true
			}
		}
	}
	if len(l.who) == 0 {
		return report.About(origin)
	}
	return DiagnosticsFor(report, report.About(origin), l.who)
}

// Drop drops an incomplete output.
func (l *run) Drop() (committed bool, err error) {
	if l.Name == msg.Std {
		return false, nil
	}
	return l.Sink.Drop()
}

// Targets returns the name of the output.
func (l *run) Targets() (out, last string) { return l.Name, l.Name }

// Run checks the files, and prints the findings. With -out, the file is also completed if -fail causes an error.
func (l *run) Run(ctx context.Context) (err error) {
	if l.Name == msg.Std {
		return l.lint(ctx, stdout{l.Out})
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.Create(func() (*atomicfile.File, error) { return atomicfile.Create(l.Name, nil) }); err != nil {
		return err
	}
	err = l.lint(ctx, process.File{Sink: &l.Sink})
	if err != nil && !outputs.IsPolicy(err) {
		return err
	}
	return errors.Join(l.Commit(func(f *atomicfile.File) error { return f.Commit() }), err)
}

// A stdout writes to standard output.
type stdout struct{ f *os.File }

// Write writes p. It returns errors as [console.OutError] does.
func (s stdout) Write(p []byte) (n int, err error) {
	n, err = s.f.Write(p)
	return n, console.OutError(err)
}

// lint prints the findings, prints hints about the baseline, writes the file of -approve, and applies -fail. A
// finding of a severity of -fail is an [*outputs.PolicyError].
func (l *run) lint(ctx context.Context, w io.Writer) error {
	p := NewPrinter(w, Options{Form: l.form, Version: process.Version(), All: l.Name != msg.Std, Fail: l.fail})
	var err error
	for i := 0; i < len(l.rules) && err == nil; i++ {
		var first, last *listings.Listing // origins with the same file, not printed yet because more may follow
		listed := 0
		err = listings.List(ctx, l.rules[i].Responses(ctx), l.opt, func(listing *listings.Listing) (err error) {
			listed++
			isSame := last != nil && last.Response.File && listing.Response.File && last.Response.Name == listing.Response.Name // for http and https
			if last != nil && !isSame {
				err = l.printFindings(p, last, first.Origin)
				first = nil
			}
			first, last = cmp.Or(first, listing), listing
			return err
		})
		if err == nil && last != nil {
			err = l.printFindings(p, last, first.Origin)
		}
		if err == nil && l.opt.Origin != "" && listed == 0 {
			err = fmt.Errorf("lint %s: %w", l.opt.Origin, pipeline.ErrNotListed)
		}
	}
	if err == nil {
		err = p.Close()
	}
	for _, rules := range l.rules {
		rules.Warn(&l.Console)
	}
	if err == nil && l.named != nil {
		l.WarnOnce(flags.UnclearAgents(l.asked, l.opt.Dialect, flags.RuleTokens{Tokens: slices.Sorted(maps.Keys(l.named)), Complete: true}))
	}
	if err == nil && l.accept != nil {
		err = l.writeBaseline()
	}
	if err != nil {
		return err
	}
	// Report how many findings the baseline accepted, and name its entries that no longer occur. If no entry occurs,
	// the baseline was probably made from other files.
	left := l.baseline.Left()
	switch {
	case l.accepted > 0:
		l.Hint(msg.Count(l.accepted, "finding") + " of the baseline omitted")
	case left > 0:
		l.Hint(fmt.Sprintf("none of the %s of the baseline was found: use the same -rules, -origin and -dialect, or rebuild it with -approve", msg.Count(left, "finding")))
	}
	if l.accepted > 0 && left > 0 {
		l.Hint(fmt.Sprintf("fixed: %s of the baseline: %s; remove them from it, or rebuild it", msg.Count(left, "finding"), l.baseline.names(baselineShown)))
	}
	counts := p.Counts()
	var parts []string
	for severity, n := range counts {
		if n > 0 && l.fail.Fails(Severity(severity)) {
			parts = append(parts, msg.Count(n, []string{"error", "warning", "remark"}[severity]))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return outputs.NewPolicyError(fmt.Sprintf("found %s; -fail is %s", strings.Join(parts, ", "), l.failName))
}

// printFindings prints the findings of a robots.txt that the baseline does not accept. first is the first origin of
// its file; its scheme is http if the file name has none.
func (l *run) printFindings(p *Printer, listing *listings.Listing, first robots.Origin) error {
	if listing.Report == nil {
		return nil
	}
	if first == pipeline.NoOrigin {
		first = ""
	}
	place := &Place{
		File: listing.Response.Name, Origin: strings.TrimPrefix(string(listing.Origin), pipeline.NoOrigin), Capture: !listing.Response.File,
	}
	findings := Findings(place, listing.Body, l.diagnostics(listing.Report, first))
	fresh := findings[:0]
	for i := range findings {
		if l.accept != nil {
			l.accept.Add(&findings[i])
		}
		if l.baseline.Accepts(&findings[i]) {
			l.accepted++
			continue
		}
		fresh = append(fresh, findings[i])
	}
	return p.Add(place, fresh)
}

// baselineShown is the maximum number of baseline entries that a hint names.
const baselineShown = 10

// writeBaseline writes all findings as a baseline to the file of -approve.
func (l *run) writeBaseline() error {
	f, err := atomicfile.Create(l.acceptName, l.Out)
	if err != nil {
		return err
	}
	if err := l.accept.Write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Commit()
}
