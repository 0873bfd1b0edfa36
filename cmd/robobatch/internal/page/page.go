// Package page makes the HTML page of a run: it counts for the page and writes it at the end, with the texts of
// robots.txt and the editor. It contains the command report, whose output is the page, and the flag -report of other
// commands. Only cmd/robobatch and the packages of commands import it.
package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report"
)

// Flags are the flags for a page in addition to another output.
type Flags struct {
	Report, WhatIf string
	Zone           flags.Zone
	Previous       string // only for the command report
}

// All returns the flags -report, -what-if and -timezone, which set the fields of f.
func (f *Flags) All() []cli.Flag {
	return []cli.Flag{
		{Name: "report", Arg: "file", Files: true, Set: flags.OutputName(&f.Report), Doc: `
		Also write an HTML report: x.html (docs/LOG.md). Its counts use a quarter of -max-memory.`},
		f.WhatIfFlag(),
		f.Zone.Flag(),
	}
}

// WhatIfFlag returns the flag -what-if.
func (f *Flags) WhatIfFlag() cli.Flag {
	return cli.Flag{
		Name: "what-if", Arg: "how", Values: whatIfs, Default: "on", Rare: true, Set: cli.Text(&f.WhatIf), Doc: `
		Whether a report contains the robots.txt editor. on: if the text of robots.txt is known. off: no; the page is
		1 to 2 MB smaller.`,
	}
}

// PreviousFlag returns the flag -previous.
func (f *Flags) PreviousFlag() cli.Flag {
	return cli.Flag{Name: "previous", Arg: "log", Files: true, Set: cli.Text(&f.Previous), Doc: `
		The previous log, or when robots.txt changed: compare the two periods. Examples: last.log, 2026-11-08.
		Findings need 14 days before and 7 after; after a change, a crawler's period begins with its next fetch of
		robots.txt.`}
}

// whatIfs are the values of -what-if.
var whatIfs = []string{"on", "off"}

// A Page is the page of a run with its counts. A nil Page means that the run has no page: all methods except Write do
// nothing.
type Page struct {
	process.Sink[storage.Output]
	counts counts
	path   string // path of the rules
	flags  []report.Flag
	whatIf bool // include the editor for robots.txt
	zone   *time.Location

	change  time.Time // the moment that separates the compared periods; zero if there is none
	earlier string    // previous log for the comparison; "" means none

	Diagnosis report.Diagnosis // set by Write
	Periods   *report.Periods  // set by Write; nil without a comparison
	Warnings  []warning.Warning
}

// New returns the page of a run, and sets the log fields that the page needs. oldAsOf is the moment of the previous
// rules; "" if there is none.
func New(f *Flags, run *pipeline.Flags, oldAsOf string, p *pipeline.Pipeline, faults *cli.Faults) *Page {
	i, err := cli.Choose("answer", f.WhatIf, whatIfs)
	whatIf := i == 0
	faults.Add("what-if", err)
	p.LogOpt.Fields.Times = true
	if p.Old == nil || p.Now.Opt.RowTimes { // with a draft, requests cannot be violations
		p.Now.Opt.Evidence = p.Now.Opt.LogAgents == engine.LogAgentsStar
	}
	page := &Page{Sink: process.Sink[storage.Output]{Name: f.Report}, path: run.Path, flags: questionFlags(run, f, oldAsOf), whatIf: whatIf, zone: f.Zone.Location(faults)}
	if f.Previous != "" && !run.Question.FromLog {
		faults.Add("previous", errors.New("this flag needs -agent-from-log: add it"))
	}
	if page.change, err = flags.ParseMoment(f.Previous); err != nil {
		page.earlier = f.Previous
	} else if day, err := time.ParseInLocation(time.DateOnly, f.Previous, page.zone); err == nil {
		page.change = day
	}
	return page
}

// NewBeside returns the page that -report adds to another output; nil without -report. Flags that need a report are
// then faults. oldAsOf is that of [New].
func NewBeside(f *Flags, run *pipeline.Flags, oldAsOf string, p *pipeline.Pipeline, faults *cli.Faults) *Page {
	if f.Report == "" {
		if f.WhatIf == whatIfs[1] {
			faults.Add("what-if", errors.New("this flag needs a report: name it with -report"))
		}
		if f.Zone.Name != "" && !f.Zone.Used {
			faults.Add("timezone", errors.New("this flag needs counts per day: name a report with -report, or add date to -partition-by"))
		}
		return nil
	}
	page := New(f, run, oldAsOf, p, faults)
	if atomicfile.InPlace(f.Report) {
		faults.Add("report", errors.New("the page cannot be written to standard output, pipes or devices: name a file"))
	}
	return page
}

// Begin creates the file of the page, so that errors show early. Call Close in any case.
func (p *Page) Begin() error {
	if p == nil {
		return nil
	}
	if err := p.Create(func() (storage.Output, error) { return storage.Create(p.Name, nil) }); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
}

// Make makes the page after the rows of the output are written. At that time neither the page nor the output has its
// name: if the page cannot be made, both are dropped. If the log contradicts the rules, it adds a warning to the
// summary.
func (p *Page) Make(ctx context.Context, r Result) error {
	if p == nil {
		return nil
	}
	if err := p.writeContent(ctx, r); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
}

// End gives the page its name, after the other output has its name.
func (p *Page) End() error {
	if p == nil {
		return nil
	}
	if err := p.Commit(storage.Output.Commit); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
}

// FileName returns the name of the page; "" if there is none.
func (p *Page) FileName() string {
	if p == nil {
		return ""
	}
	return p.Name
}

// Drop drops the page unless it is complete. It may be called from any goroutine.
func (p *Page) Drop() (committed bool, err error) {
	if p == nil {
		return false, nil
	}
	return p.Sink.Drop()
}

// Close drops the page unless it is complete, and removes the temporary files of its counts.
func (p *Page) Close() error {
	if p == nil {
		return nil
	}
	if p.counts.counter != nil {
		p.counts.counter.CloseTemp()
	}
	if p.counts.changes != nil {
		p.counts.changes.CloseTemp()
	}
	return p.Sink.Close()
}

// A Result holds the results of a run that the page shows.
type Result struct {
	*pipeline.Pipeline
	Summary *summary.Report          // about the rows, with all warnings so far
	Changes *aggregate.ChangesReport // from the previous rules; nil without them
}

// Write writes and completes the page. If the log contradicts the rules, it adds a warning to the summary.
func (p *Page) Write(ctx context.Context, r Result) error {
	if err := p.writeContent(ctx, r); err != nil {
		return err
	}
	return p.Commit(storage.Output.Commit)
}

// writeContent writes the page, which does not get its name yet. It sets Diagnosis, Periods and Warnings, and adds
// warnings to the summary.
func (p *Page) writeContent(ctx context.Context, r Result) error {
	store, opt, counter := r.Now.Store, r.Now.Store.Options(), p.counts.counter
	if err := counter.Settle(); err != nil {
		return err
	}
	r.Summary.Warnings = append(r.Summary.Warnings, warning.Mismatches(counter.Mismatches())...)
	if n := counter.Huge(); n > 0 {
		text := msg.Count(n, "answer") + " with a size of 1 PiB or more, or beyond a total of 4 PiB, not counted in bytes: check that the size field is the right one"
		r.Summary.Warnings = append(r.Summary.Warnings, warning.Warning{Code: warning.HugeCounts, Text: text, Count: n})
	}
	run := &report.Run{
		Version: process.Version(), RulesHash: store.RulesHash(), Rules: p.path, Flags: slices.Clone(p.flags), Inputs: r.InputNames(), Stats: r.Stats, Refused: summary.Sum(r.Summary.Counts.Refused),
		Changes: r.Changes,
	}
	for _, d := range r.Summary.Warnings {
		run.Warnings = append(run.Warnings, report.Warning{Code: string(d.Code), Text: d.Text, Examples: d.Examples, Minor: slices.Contains(minor, d.Code)})
	}
	for _, line := range r.Summary.FieldLines() {
		run.Flags = append(run.Flags, report.Flag{Name: "fields", Value: line})
	}
	if hint := r.Now.BlankHint(); hint != "" {
		run.Hints = append(run.Hints, strings.ToUpper(hint[:1])+hint[1:]+".")
	}
	if r.Changes != nil {
		run.Old = r.Old.Path
	}
	if r.Sitemaps != nil {
		if err := counter.CheckSitemaps(len(r.Sitemaps.Names), r.Sitemaps.EachURL); err != nil {
			return err
		}
	}
	busiest, more := counter.Busiest(shownFiles)
	texts, err := findTexts(ctx, r, busiest, opt.Dialect)
	if err != nil {
		return err
	}
	run.Files, run.More = listingsOf(r, texts, busiest, &opt, times.NewClock(p.zone)), int64(more)
	run.Revisions = texts.revisions(times.NewClock(p.zone))
	if run.Diagnosis, err = counter.Diagnose(run); err != nil {
		return err
	}
	if run.Diagnosis.Warned = len(run.Warnings) > 0; run.Diagnosis.Warned {
		run.Diagnosis.AllClear = false
	}
	p.Diagnosis, p.Warnings = run.Diagnosis, r.Summary.Warnings
	run.Periods = counter.Compare(p.counts.earlier)
	p.Periods = run.Periods
	if p.whatIf {
		run.Panels = append(run.Panels, p.whatIfPanel(run, busiest, &opt))
	}
	return p.Use(func(f storage.Output) error {
		if err := report.Write(f, counter, run); err != nil {
			return f.Wrap("write", err)
		}
		return nil
	})
}

// minor are the codes of warnings that cannot change a finding: they are about unknown violations, or about outputs.
var minor = []warning.Code{warning.FailedFetches, warning.NoRobotsRequests, warning.FormulaCells, warning.MixedOutputs, warning.SpareOutputs}

// questionFlags returns the flags of the question and of the page's counts that differ from their defaults, with
// their values as given.
func questionFlags(f *pipeline.Flags, page *Flags, oldAsOf string) (all []report.Flag) {
	q, l := &f.Question, &f.Logs
	for _, flag := range []struct {
		name, value, usual string
	}{
		{"-agent", strings.Join(q.Names, ","), ""},
		{"-agent-from-log", strconv.FormatBool(q.FromLog), "false"},
		{"-unknown-agents", q.Unknown, ""},
		{"-crawlers", q.Crawlers, ""},
		{"-cache", q.Cache, ""},
		{"-ranges", strings.Join(q.Ranges, ","), ""},
		{"-ranges-age", q.RangesAge, ""},
		{"-hosts", q.Hosts, ""},
		{"-field", strings.Join(l.Field, ","), ""},
		{"-in-sitemap", strings.Join(f.Sitemaps.Paths, ","), ""},
		{"-as-of", q.AsOf, ""},
		{"-old", oldAsOf, ""},
		{"-agent-chars", q.AgentChars, "standard"},
		{"-yandex-empty-allow", q.EmptyAllow, "disallow"},
		{"-missing", q.Missing, "allow"},
		{"-url-as-is", strconv.FormatBool(q.URLAsIs), "false"},
		{"-origin", f.Origin, ""},
		{"-base", l.Base, ""},
		{"-format", l.Format, "auto"},
		{"-limit", strconv.FormatInt(l.Limit, 10), "0"},
		{"-accept-damaged-rules", strconv.FormatBool(f.AcceptDamage), "false"},
		{"-previous", page.Previous, ""},
		{"-timezone", page.Zone.Name, ""},
	} {
		if flag.value != flag.usual && flag.value != "" {
			all = append(all, report.Flag{Name: flag.name, Value: flag.value})
		}
	}
	return all
}
