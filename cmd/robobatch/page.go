package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/report"
)

// A pageOut is the page of a run, and what is counted for it.
type pageOut struct {
	guard.Sink[place.Output]
	pageCounts
	path   string // of the rules
	flags  []report.Flag
	whatIf bool // the page has the panel in which one edits a robots.txt
}

// newPage returns the page that -report names beside another output, nil if it names none. It has the
// log read as the page needs it.
func newPage(a *args, opt *ingest.LogOptions, faults *cli.Faults) *pageOut {
	if a.page == "" {
		if a.whatIf == whatIfs[1] {
			faults.Add("what-if", errors.New("there is no page: name one with -report"))
		}
		return nil
	}
	whatIf, err := parseWhatIf(a.whatIf)
	faults.Add("what-if", err)
	if atomicfile.InPlace(a.page) {
		faults.Add("report", errors.New("standard output, pipes and devices are not for the page: name a file"))
	}
	opt.Fields.Times = true
	return &pageOut{Sink: guard.Sink[place.Output]{Name: a.page}, path: a.rules, flags: given(a), whatIf: whatIf}
}

// takeMemory takes a quarter of a limit of memory for what the page counts, and returns the rest.
func (p *pageOut) takeMemory(limit int64, all memory.Share) (rest int64, share memory.Share) {
	if p == nil || limit <= 0 {
		return limit, all
	}
	p.limitCounts(limit / 4)
	return limit - limit/4, all.Less(1, 4)
}

// open makes the counter for a run by a store, and an old one if that is not nil. Its temporary file lies beside the page.
func (p *pageOut) open(now, old *engine.Store) {
	p.opt.TempDir = load.TempDir(p.Name)
	p.pageCounts.open(now, old)
}

// begin creates the file of the page, so that a fault shows in time.
func (p *pageOut) begin() error {
	if p == nil {
		return nil
	}
	if err := p.Create(func() (place.Output, error) { return place.Create(p.Name, nil) }); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
}

// end writes the page, if there is one, beside an output that is complete.
func (p *pageOut) end(ctx context.Context, src pageSource) error {
	if p == nil {
		return nil
	}
	if err := p.write(ctx, src); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
}

// name returns the name of the page, "" if there is none.
func (p *pageOut) name() string {
	if p == nil {
		return ""
	}
	return p.Name
}

// drop drops the page, if there is one, unless it is complete. It may be called from any goroutine.
func (p *pageOut) drop() error {
	if p == nil {
		return nil
	}
	_, err := p.Drop()
	return err
}

// with returns a sink that counts for the page, too, if there is one.
func (p *pageOut) with(sink engine.Sink) engine.Sink {
	if p == nil {
		return sink
	}
	return &bothSinks{sink, &p.pageCounts}
}

// bothSinks are an output and what a page counts.
type bothSinks struct {
	engine.Sink
	counts *pageCounts
}

// Write gives a batch to both.
func (b *bothSinks) Write(batch *engine.Batch) error {
	if err := b.counts.Write(batch); err != nil {
		return err
	}
	return b.Sink.Write(batch)
}

// Close drops the page, unless it is complete, and what is counted for it.
func (p *pageOut) Close() error {
	if p.page != nil {
		p.page.CloseTemp()
	}
	return p.Sink.Close()
}

// A pageSource is what a page is made of at the end of a run.
type pageSource struct {
	rules   *load.Rules
	store   *engine.Store
	logs    *ingest.Logs
	stats   engine.Stats
	refused int64 // lines
	doubts  []doubt.Doubt
	old     string                   // the rules before, as they were named
	changes *aggregate.ChangesReport // nil without them
}

// write writes the page, and completes it.
func (p *pageOut) write(ctx context.Context, src pageSource) error {
	run := &report.Run{
		Version: version(), RulesHash: src.store.RulesHash(), Rules: p.path, Flags: p.flags, Stats: src.stats, Refused: src.refused,
		Doubts: doubtsOf(src.doubts), Old: src.old, Changes: src.changes,
	}
	for _, in := range src.logs.Inputs() {
		run.Inputs = append(run.Inputs, in.Name)
	}
	if err := p.page.Settle(); err != nil {
		return err
	}
	opt := src.store.Options()
	busiest, more := p.page.Busiest(shownFiles)
	met := p.page.MetTexts()
	texts, err := findTexts(ctx, src, busiest, met, opt.Dialect)
	if err != nil {
		return err
	}
	run.Files, run.More = listingsOf(src, texts, busiest, &opt), more
	run.Texts = texts.inspect(src.store, met, opt.Dialect)
	if p.whatIf {
		panel, err := p.whatIfPanel(run, busiest, &opt)
		if err != nil {
			return err
		}
		run.Panels = append(run.Panels, panel)
	}
	return p.Commit(func(f place.Output) error {
		if err := report.Write(f, p.page, run); err != nil {
			return f.Wrap("write", err)
		}
		return f.Commit()
	})
}

// pageCounts are the sinks of a page: what of a run it counts.
type pageCounts struct {
	opt     report.Options
	changed int64 // bytes for what changed
	page    *report.Counter
	changes *aggregate.Changes // nil without rules before, or if somebody else counts them
}

// limitCounts divides memory for counts; 0 is no limit.
func (c *pageCounts) limitCounts(bytes int64) {
	c.opt.Memory, c.changed = bytes*3/4, bytes/4
}

// open makes the counter for a run by a store, and an old one if that is not nil.
func (c *pageCounts) open(now, old *engine.Store) {
	c.opt.Old = old
	c.page = report.NewCounter(now, c.opt)
}

// openChanges makes the counter of changes.
func (c *pageCounts) openChanges(now, old *engine.Store) {
	c.changes = aggregate.NewChanges(now, old, aggregate.ChangesOptions{Memory: c.changed})
}

// Write counts a batch.
func (c *pageCounts) Write(b *engine.Batch) error {
	if c.changes != nil {
		if err := c.changes.Write(b.ForCrawlers()); err != nil {
			return err
		}
	}
	return c.page.Write(b)
}

// Close does nothing.
func (c *pageCounts) Close() error { return nil }

// doubtsOf returns doubts as the page shows them.
func doubtsOf(all []doubt.Doubt) (shown []report.Doubt) {
	for _, d := range all {
		shown = append(shown, report.Doubt{Code: string(d.Code), Text: d.Text, Count: d.Count, Examples: d.Examples})
	}
	return shown
}

// given returns the flags that say what was asked, where they differ from the usual.
func given(a *args) (flags []report.Flag) {
	for _, f := range []struct {
		name, value, usual string
	}{
		{"-agent", strings.Join(a.agents, ","), ""},
		{"-agent-from-log", strconv.FormatBool(a.AgentFromLog), "false"},
		{"-unknown-agents", a.UnknownAgents, ""},
		{"-crawlers", a.crawlers, ""},
		{"-cache", a.Cache, ""},
		{"-as-of", a.AsOf, ""},
		{"-old-as-of", a.oldAsOf, ""},
		{"-agent-chars", a.AgentChars, "standard"},
		{"-yandex-empty-allow", a.EmptyAllow, "disallow"},
		{"-yandex-strict-blank", strconv.FormatBool(a.StrictBlank), "false"},
		{"-missing", a.Missing, "allow"},
		{"-url-as-is", strconv.FormatBool(a.URLAsIs), "false"},
		{"-origin", a.origin, ""},
		{"-base", a.Base, ""},
		{"-format", a.Format, "auto"},
		{"-limit", strconv.FormatInt(a.Limit, 10), "0"},
		{"-verified-only", strconv.FormatBool(a.verifiedOnly), "false"},
		{"-accept-damaged-rules", strconv.FormatBool(a.acceptDamage), "false"},
	} {
		if f.value != f.usual && f.value != "" {
			flags = append(flags, report.Flag{Name: f.name, Value: f.value})
		}
	}
	return flags
}
