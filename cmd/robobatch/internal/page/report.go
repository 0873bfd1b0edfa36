package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/report"
	"github.com/robobatch/robobatch/robots"
)

// given are the flags of the command report.
type given struct {
	pipeline.Flags
	old    flags.Old
	page   Flags
	digest digest
}

// Command returns the command report.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, Packs: true, OneRule: true, Plan: g.plan}
	c.Name, c.About = "report", "write one HTML page about a log and its rules"
	c.Intro = `
robobatch report writes one HTML page about a log: its crawlers, and which requests robots.txt allows or disallows.

    robobatch report -rules robots.txt -base https://www.example.com -in access.log -agent-from-log

writes access.report.html: recommended actions, then crawlers, the requests that each line of robots.txt decided, paths,
times and responses, and with -old what the rules changed. The page needs no network and no other file (docs/LOG.md). The
command opens no network connection unless a name begins with s3://.`
	c.Flags = flags.Sections{
		Input:    slices.Concat([]cli.Flag{g.old.Flag()}, g.InputFlags(), []cli.Flag{g.Sitemaps.Flag("The report lists its URLs that are disallowed, never crawled or failing."), g.page.PreviousFlag()}),
		Question: g.Question.LogFlags(flags.CountFor),
		Output: append(g.digest.flags(), g.page.WhatIfFlag(), g.page.Zone.Flag(), cli.Flag{Name: "out", Like: "report", Arg: "file", Files: true, Set: flags.FileName(&g.page.Report), Doc: `
			The page to write, x.html; - is standard output. Default: the name of the first log without
			.zst, .gz, .txt, .log, .urls and the like, plus .report.html, in the working directory.`}),
		Run: g.Work.MemoryFlags(`
			Half is for counts: more requests go to a temporary file; the report gives the number of those that cannot
			be counted by rule.`),
	}.All()
	return c
}

// A run implements the command report.
type run struct {
	pipeline.Pipeline
	page   *Page
	digest *digest
}

// plan implements [flags.Command].Plan: it checks the flags, and finds the inputs.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	r := &run{digest: &g.digest}
	r.Choose(&g.Flags, std, &faults, &faults)
	r.Now.Opt.Directives = append(robots.PreferenceLines(), robots.CrawlDelayLines)
	r.Memory.Plan = memory.PlanOf("report")
	if g.old.IsGiven() {
		r.Memory.Plan = memory.PlanOf("report -old")
		r.Old = r.Now.PreviousSide(&g.old)
	}
	r.page = New(&g.page, &g.Flags, g.old.AsOf, &r.Pipeline, &faults)
	g.digest.checkFlags(outputs.StandardName(g.page.Report), g.Question.FromLog, &faults)
	r.ChooseWork(&g.Flags, &output.Options{}, &faults, g.page.Report)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := outputs.StandardName(g.page.Report)
	err := r.Find(&g.Flags)
	if r.Logs == nil {
		return nil, err
	}
	if r.page.earlier != "" {
		err = errors.Join(err, r.FindEarlier("-previous", r.page.earlier))
	}
	r.page.Name = cmp.Or(out, outputs.ForReport(r.Logs.Inputs()[0].Name))
	if err = errors.Join(r.KeepAnswers(), err); err == nil {
		err = outputs.CheckLocal("-out", r.page.Name)
		for _, side := range r.Sides() {
			if err == nil { // a wrong name is wrong on both sides
				err = outputs.CheckPage("-out", r.page.Name, outputs.Inputs{Path: side.Path, Logs: r.Logs.Inputs(), Rules: side.Files, Sitemaps: r.Sitemaps})
			}
		}
	}
	return r, err
}

// Drop drops an incomplete page, and the temporary packs. Any goroutine may call it.
func (r *run) Drop() (committed bool, err error) {
	if committed, err = r.page.Drop(); committed {
		return committed, err
	}
	return false, errors.Join(err, r.Pipeline.Drop())
}

// Targets returns the name of the page.
func (r *run) Targets() (out, last string) { return r.page.Targets() }

// most is the maximum number of rules, families and origins per kind of change on the page.
const most = 100

// Run evaluates the logs, writes the page, and prints the findings. A finding with a code of -fail is an error.
func (r *run) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.page.Close(), r.Close()) }()
	r.Hint(outputs.Leftovers(r.page.Name))
	if err := r.page.Create(func() (storage.Output, error) { return storage.Create(r.page.Name, r.Out) }); err != nil {
		return err
	}
	if err := r.Load(ctx, pipeline.TempDir(r.page.Name)); err != nil {
		return err
	}
	r.page.Open(&r.Pipeline, true)
	if r.Earlier != nil {
		if err := r.TakeEarlier(ctx, r.page.counts.earlier); err != nil {
			return fmt.Errorf("-previous: %w", pipeline.Cause(err))
		}
	}
	err = r.Take(ctx, r.Source(), r.page.Counts())
	if err == nil && r.Stats.URLs == 0 && r.Stats.Skipped == 0 {
		err = pipeline.ErrNoRequests
	}
	if err != nil {
		return pipeline.Cause(err)
	}
	s, err := r.WarnRows()
	if err != nil {
		return err
	}
	changes, err := r.page.Changes(most)
	if err != nil {
		return err
	}
	if err := r.page.Write(ctx, Result{Pipeline: &r.Pipeline, Summary: s, Changes: changes}); err != nil {
		return err
	}
	r.WarnRest(s.Warnings)
	r.Print(r.writtenText())
	if err := r.digest.print(r.Out, r.page); err != nil {
		return console.OutError(err)
	}
	var failed []string
	for i := range r.page.Diagnosis.Findings {
		if f := &r.page.Diagnosis.Findings[i]; slices.Contains(r.digest.fail, f.Code) {
			failed = append(failed, msg.Line(f.Sentence)+" (-fail "+f.Code+")")
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return outputs.NewPolicyError(strings.Join(failed, "\n"))
}

// writtenText returns the lines about the page: its counts, limits, verdict, the first findings and the comparison of
// periods; "" if the page goes to standard output.
func (r *run) writtenText() string {
	if r.page.Name == msg.Std {
		return ""
	}
	denied := msg.Number(r.page.Denied())
	text := fmt.Sprintf("%s: %s, %s disallowed", msg.File(r.page.Name), msg.Count(r.Stats.URLs, "request"), denied)
	if r.Stats.Rows > r.Stats.URLs { // several requested crawlers
		text = fmt.Sprintf("%s: %s, %s of %s disallowed", msg.File(r.page.Name), msg.Count(r.Stats.URLs, "request"), denied, msg.Count(r.Stats.Rows, "verdict"))
	}
	if r.Asked.AgentFromLog {
		text += ", " + msg.Count(r.Stats.Violations, "violation")
		if r.Old != nil && !r.Now.Opt.RowTimes {
			text += " of the previous rules"
		}
	}
	lines, found := []string{text}, &r.page.Diagnosis
	for i := range found.Limits {
		lines = append(lines, "  "+msg.Line(found.Limits[i].Sentence))
	}
	if verdict := found.Verdict(); verdict != "" {
		lines = append(lines, "  "+verdict)
	}
	if len(found.Findings) > 0 {
		lines[0] += "; times in " + cmp.Or(r.page.zone, time.UTC).String()
	}
	causes := report.Causes(found)
	for _, c := range causes[:min(len(causes), report.ShownFindings)] {
		lines = append(lines, fmt.Sprintf("  %d. %s", c.No, msg.Line(c.Headline())))
	}
	if more := len(causes) - report.ShownFindings; more > 0 {
		lines = append(lines, "  "+msg.Count(int64(more), "more finding")+" on the page")
	}
	if p := r.page.Periods; p != nil {
		lines = append(lines, "  "+msg.Line(p.Title()))
		for _, claim := range append(p.Claims, p.Limit) {
			if claim != "" {
				lines = append(lines, "    "+msg.Line(claim))
			}
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
