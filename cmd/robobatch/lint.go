package main

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

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/lint"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/robots"
)

// A linting is a run of the command lint.
type linting struct {
	console.Console
	guard.Sink[*atomicfile.File] // of -out
	rules                        load.Rules
	opt                          listings.Options
	form                         string
	asked                        []string // the crawlers that findings are about; none is all
	who                          []robots.Agent
	named                        map[robots.ProductToken]bool // by groups, if it is needed
	fail                         lint.Gate                    // findings that end the run with exit code 1
	failName                     string                       // of -fail
	baseline                     lint.Baseline                // nil is none
	accept                       lint.Baseline                // of all findings, for -write-baseline; nil without it
	acceptName                   string
	accepted                     int64 // findings of the baseline
}

// planLinting checks the flags of the command lint and finds the rules.
func planLinting(a *args, std console.Streams) (guard.Task, error) {
	l := &linting{Console: console.Console{Streams: std, Quiet: a.quiet, Progress: progress.Off}, form: a.print, acceptName: a.writeBaseline}
	l.Name = a.out
	if l.Name == "" {
		l.Name = say.Std
	}
	l.opt.Dialect, l.opt.AsOf = chooseReading(&a.Reading, &a.faults)
	l.opt.Bodies, l.opt.Workers = true, a.workers
	l.rules.Inspect = true
	if a.ByRow() {
		a.faults.Add("as-of", errNoRows)
	}
	l.askFor(a)
	_, err := cli.Choose("form", a.print, lint.Forms)
	a.faults.Add("print", err)
	severity, err := cli.Choose("severity", a.fail, lint.Severities)
	a.faults.Add("fail", err)
	l.fail, l.failName = lint.Gate(severity+1), a.fail
	a.faults.Add("workers", memory.CheckWorkers(a.workers))
	if a.baseline != "" {
		l.baseline, err = lint.ReadBaseline(a.baseline)
		a.faults.Add("baseline", err)
	}
	if l.acceptName != "" {
		l.accept, l.fail = lint.Baseline{}, 0 // all is accepted just now
	}
	if err := a.faults.Err(); err != nil {
		return nil, err
	}
	if l.opt.Origin, err = findListed(&l.rules, a); errors.Is(err, rulefiles.ErrNoOrigin) {
		err = l.rules.Find(a.rules, noOrigin) // what is wrong with a file does not depend on whose it is
	}
	if err == nil {
		err = l.checkTargets(a)
	}
	return l, err
}

// askFor takes the crawlers that findings are asked for.
func (l *linting) askFor(a *args) {
	var err error
	l.asked, err = agents.Expand(a.agents)
	a.faults.Add("agent", err)
	for _, name := range l.asked {
		l.who = append(l.who, robots.NewAgent(name, l.opt.Dialect))
	}
	if agents.NeedNamed(l.asked, l.opt.Dialect) {
		l.named = map[robots.ProductToken]bool{}
	}
}

// diagnostics returns the diagnostics of a robots.txt that are asked for. The origin is "" if it is not
// known.
func (l *linting) diagnostics(report *robots.Report, origin robots.Origin) []robots.Diagnostic {
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
	return lint.Binding(report, report.About(origin), l.who)
}

// checkTargets checks that what is written overwrites nothing that is read or written, too.
func (l *linting) checkTargets(a *args) error {
	inputs := targets.Inputs{Path: a.rules, Rules: l.rules.Files}
	if err := errors.Join(targets.CheckLocal("-out", l.Name), targets.CheckLocal("-write-baseline", l.acceptName)); err != nil {
		return err
	}
	var errs []error
	if l.Name != say.Std {
		errs = append(errs, targets.CheckFile("-out", l.Name, inputs, targets.Other{Flag: "-baseline", Name: a.baseline},
			targets.Other{Flag: "-write-baseline", Name: l.acceptName}))
	}
	if l.acceptName != "" {
		errs = append(errs, targets.CheckFile("-write-baseline", l.acceptName, inputs))
	}
	return errors.Join(errs...)
}

// noOrigin stands for the origin of one robots.txt if nobody says it.
const noOrigin = "https://origin.invalid"

// Drop drops the output, unless that is complete.
func (l *linting) Drop() (committed bool, err error) {
	if l.Name == say.Std {
		return false, nil
	}
	return l.Sink.Drop()
}

// Targets returns the name of the output.
func (l *linting) Targets() (out, last string) { return l.Name, l.Name }

// Run lints.
func (l *linting) Run(ctx context.Context) (err error) {
	if l.Name == say.Std {
		return l.lint(ctx, stdout{l.Out})
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.Create(func() (*atomicfile.File, error) { return atomicfile.Create(l.Name, nil) }); err != nil {
		return err
	}
	err = l.lint(ctx, lockedFile{&l.Sink})
	if err != nil && !flow.IsPolicy(err) {
		return err
	}
	return errors.Join(l.Commit(func(f *atomicfile.File) error { return f.Commit() }), err)
}

// A stdout writes to standard output.
type stdout struct{ f *os.File }

// Write writes. Its error is that of [console.OutError].
func (s stdout) Write(p []byte) (n int, err error) {
	n, err = s.f.Write(p)
	return n, console.OutError(err)
}

// lint prints the findings, and judges them.
func (l *linting) lint(ctx context.Context, w io.Writer) error {
	p := lint.NewPrinter(w, lint.Options{Form: l.form, Version: version(), All: l.Name != say.Std, Fail: l.fail})
	var first, last *listings.Listing // of one file; they are not printed yet, as the next may be of it, too
	listed := 0
	err := listings.List(ctx, l.rules.Responses(ctx), l.opt, func(listing *listings.Listing) (err error) {
		listed++
		if last != nil && !isSameFile(last, listing) {
			err = l.print(p, last, first.Origin)
			first = nil
		}
		first, last = cmp.Or(first, listing), listing
		return err
	})
	if err == nil && last != nil {
		err = l.print(p, last, first.Origin)
	}
	if err == nil && l.opt.Origin != "" && listed == 0 {
		err = fmt.Errorf("lint %s: %w", l.opt.Origin, errNotListed)
	}
	if err == nil {
		err = p.Close()
	}
	l.rules.Doubt(&l.Console)
	if err == nil && l.named != nil {
		l.DoubtOnce(agents.Unclear(l.asked, l.opt.Dialect, agents.Named{Tokens: slices.Sorted(maps.Keys(l.named)), Complete: true}))
	}
	if err == nil && l.accept != nil {
		err = l.writeBaseline()
	}
	if err != nil {
		return err
	}
	l.hintBaseline()
	return l.judge(p.Counts())
}

// isSameFile reports whether two listings are of one robots.txt: that of a file whose name has no scheme
// is that of http and of https.
func isSameFile(a, b *listings.Listing) bool {
	return a.Response.File && b.Response.File && a.Response.Name == b.Response.Name
}

// print prints the findings of a robots.txt. first is the first origin of its file: that of http, if the
// file says no scheme.
func (l *linting) print(p *lint.Printer, listing *listings.Listing, first robots.Origin) error {
	if listing.Report == nil {
		return nil
	}
	if first == noOrigin {
		first = ""
	}
	place := &lint.Place{
		File: listing.Response.Name, Origin: strings.TrimPrefix(string(listing.Origin), noOrigin), Capture: !listing.Response.File,
	}
	return p.Add(place, l.fresh(lint.Findings(place, listing.Body, l.diagnostics(listing.Report, first))))
}

// hintBaseline says how many findings the baseline left out. If it knows others, but none of these, it
// was made of something else.
func (l *linting) hintBaseline() {
	switch left := l.baseline.Left(); {
	case l.accepted > 0:
		l.Hint(say.Count(l.accepted, "finding") + " of the baseline left out")
	case left > 0:
		l.Hint(fmt.Sprintf("none of the %s of the baseline was found: make it anew with -write-baseline; it accepts what the same -rules, -origin and -dialect have", say.Count(left, "finding")))
	}
}

// fresh returns the findings that the baseline does not have, and adds all to the one that is written.
func (l *linting) fresh(findings []lint.Finding) []lint.Finding {
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
	return fresh
}

// writeBaseline writes all findings as a baseline.
func (l *linting) writeBaseline() error {
	f, err := atomicfile.Create(l.acceptName, l.Out)
	if err != nil {
		return err
	}
	if err := l.accept.Write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Commit()
}

// judge returns the error of findings that fail.
func (l *linting) judge(counts []int64) error {
	var parts []string
	for severity, n := range counts {
		if n > 0 && l.fail.Fails(lint.Severity(severity)) {
			parts = append(parts, say.Count(n, []string{"error", "warning", "remark"}[severity]))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return flow.NewPolicyError(fmt.Sprintf("found %s; -fail is %s", strings.Join(parts, ", "), l.failName))
}
