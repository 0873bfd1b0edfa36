package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/coverage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/lint"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/report"
	"github.com/robobatch/robobatch/robots"
)

// A reporting is a run of the command report.
type reporting struct {
	*plan
	guard.Sink[*atomicfile.File] // the page
	path                         string
	flags                        []report.Flag
	old                          *compared // nil without rules before
	store                        *engine.Store
	counts                       pageCounts
}

// pageCounts are the sinks of a page: what of a run it counts.
type pageCounts struct {
	opt      report.Options
	coverOpt coverage.Options
	changed  int64 // bytes for what changed
	page     *report.Counter
	rules    *coverage.Counter
	changes  *aggregate.Changes // nil without rules before
}

// limit divides memory for counts; 0 is no limit.
func (c *pageCounts) limit(bytes int64) {
	c.opt.Memory, c.changed = bytes/4, bytes/4
	c.coverOpt.URLs, c.coverOpt.Counts = bytes/4, bytes/4
}

// open makes the sinks for a run by a store, and an old one if that is not nil.
func (c *pageCounts) open(now, old *engine.Store) {
	c.page = report.NewCounter(now, c.opt)
	c.rules = coverage.NewCounter(now, c.coverOpt)
	if old != nil {
		c.changes = aggregate.NewChanges(now, old, aggregate.ChangesOptions{Memory: c.changed})
	}
}

// Write counts a batch.
func (c *pageCounts) Write(b *engine.Batch) error {
	if c.changes != nil {
		if err := c.changes.Write(b); err != nil {
			return err
		}
	}
	if err := c.rules.Write(b); err != nil {
		return err
	}
	return c.page.Write(b)
}

// Close does nothing.
func (c *pageCounts) Close() error { return nil }

// planReport checks the flags of the command report, and finds its inputs.
func planReport(a *args, std console.Streams) (guard.Task, error) {
	a.out = targets.Standard(a.out)
	p := &plan{Console: console.Console{Streams: std, Quiet: a.quiet}, rules: &load.Rules{}, situation: situation{forReport, a.origin}}
	r := &reporting{plan: p, path: a.rules}
	faults, input := a.faults, cli.Faults{}
	p.storeOpt = chooseQuestion(a, &faults)
	p.logOpt, _ = chooseInput(a, &input)
	p.logOpt.Stdin, p.logOpt.Fields.Times, p.logOpt.VerifiedOnly = p.In, true, a.verifiedOnly
	faults.Add("", input.Err())
	if a.old != "" || a.oldAsOf != "" {
		r.chooseOld(a, &faults)
	}
	faults.Add("workers", memory.CheckWorkers(a.workers))
	if a.Limit < 0 {
		faults.Add("limit", fmt.Errorf("%d is negative: use 0 for all URLs, or more", a.Limit))
	}
	faults.Add("max-memory", p.chooseMemory(a, nil))
	faults.Add("progress", p.SetProgress(a.progress))
	p.hints = agentHints(p.storeOpt.Agents, p.storeOpt.Dialect)
	p.outOpt.Version = version()
	p.asked, r.flags = recordOf(a, &p.outOpt), given(a)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return r, r.find(a)
}

// chooseOld sets the rules before.
func (r *reporting) chooseOld(a *args, faults *cli.Faults) {
	r.old = &compared{path: cmp.Or(a.old, a.rules), asOf: cmp.Or(a.oldAsOf, a.AsOf), opt: r.storeOpt}
	r.old.opt.Tokens = false
	r.old.AcceptDamage = a.acceptDamage
	if a.oldAsOf != "" {
		var err error
		r.old.opt.AsOf, err = parseMoment(a.oldAsOf)
		r.old.opt.RowTimes = false
		faults.Add("old-as-of", err)
	}
}

// find finds the inputs, and checks the name of the page.
func (r *reporting) find(a *args) error {
	var errLogs, errOut error
	r.logOpt.TempDir = load.TempDir(cmp.Or(a.out, "."))
	errRules := r.findRules(a)
	if errRules == nil && r.old != nil {
		errRules = r.old.find(a)
	}
	if errRules == nil {
		errRules = r.divide()
	}
	if r.files, errLogs = findLogs(a.in, r.In); errLogs != nil {
		return errors.Join(errLogs, errRules)
	}
	r.logs, errLogs = ingest.OpenLogs(r.files.Names(), r.logOpt)
	if errLogs == nil {
		r.Name = cmp.Or(a.out, targets.ForReport(r.logs.Inputs()[0].Name))
		r.counts.opt.Status, errLogs = keepStatus(&r.logs, &r.logOpt)
	}
	if errLogs == nil && errRules == nil {
		read := []rulesRead{{a.rules, r.rules.Files}}
		if r.old != nil {
			read = append(read, rulesRead{r.old.path, r.old.Files})
		}
		for _, rules := range read {
			errOut = errors.Join(errOut, targets.CheckOut(r.Name, targets.Inputs{Path: rules.path, Logs: r.logs.Inputs(), Rules: rules.files}))
		}
	}
	return errors.Join(errLogs, errRules, errOut)
}

// rulesRead are rules that are read, and how they were named.
type rulesRead struct {
	path  string
	files *rulefiles.Files
}

// divide divides the limit of memory: half of it is for counts, and the run has the rest.
func (r *reporting) divide() error {
	limit := r.memory.Limit
	if limit > 0 {
		r.counts.limit(limit / 2)
		r.memory.Limit, r.storeOpt.MaxMemory = limit/2, limit/2
	}
	if err := r.divideMemory(); err != nil {
		return fmt.Errorf("%w; the command report has half of it for its counts", err)
	}
	if r.old != nil {
		r.old.opt.Workers, r.old.opt.Reserved = r.storeOpt.Workers, r.storeOpt.Reserved
		if limit > 0 { // each has half of what is left
			r.storeOpt.MaxMemory = r.storeOpt.Reserved + (limit/2-r.storeOpt.Reserved)/2
			r.old.opt.MaxMemory = r.storeOpt.MaxMemory
		}
	}
	if r.runOpt.Workers == 0 {
		r.logOpt.Ahead = runtime.GOMAXPROCS(0)
	}
	return nil
}

// Drop drops the page, unless that is complete, and the temporary packs.
func (r *reporting) Drop() (committed bool, err error) {
	if committed, err = r.Sink.Drop(); committed {
		return committed, err
	}
	err = errors.Join(err, r.rules.Drop())
	if r.old != nil {
		err = errors.Join(err, r.old.Drop())
	}
	return false, err
}

// Targets returns the name of the page.
func (r *reporting) Targets() (out, last string) { return r.Name, r.Name }

// Run takes the logs through the rules, and writes the page.
func (r *reporting) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.Close(), r.logs.Close(), r.unload()) }()
	for _, hint := range r.hints {
		r.Hint(hint)
	}
	r.Hint(targets.Leftovers(r.Name))
	r.DoubtOnce(doubtUnread(r.files))
	if err := r.Create(func() (*atomicfile.File, error) { return atomicfile.Create(r.Name, r.Out) }); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	stats, err := r.count(ctx)
	if err != nil {
		return err
	}
	s := summary.New(summary.Source{
		Asked: r.asked, Version: version(), Store: r.store, Rules: r.rules.Files, Logs: r.logs, Stats: stats,
	})
	s.Doubts = append(s.Doubts, r.Doubts...)
	doubts := s.Doubt()
	refused := summary.Sum(s.Counts.Refused)
	bad := s.Counts.Reasons[engine.ReasonBadURL.String()] / int64(max(1, len(agentsOf(&r.storeOpt))))
	doubts = append(doubts, s.Rejected(refused+bad, "-rejects of robobatch lists them")...)
	for _, d := range doubts {
		r.Doubt(d)
	}
	return r.write(ctx, stats, refused)
}

// load makes the rules ready.
func (r *reporting) load(ctx context.Context) (err error) {
	dir := load.TempDir(r.Name)
	if r.store, err = r.rules.Store(ctx, r.storeOpt, dir, &r.Console); err != nil {
		return err
	}
	r.rules.Doubt(&r.Console)
	r.DoubtOnce(doubtAgents(&r.storeOpt, r.store))
	if r.old == nil {
		r.counts.open(r.store, nil)
		return nil
	}
	if r.old.store, err = r.old.Store(ctx, r.old.opt, dir, &r.Console); err != nil {
		return err
	}
	r.old.Doubt(&r.Console)
	r.runOpt.Old = r.old.store
	r.counts.open(r.store, r.old.store)
	return nil
}

// unload gives back what load has opened.
func (r *reporting) unload() (err error) {
	if r.store != nil {
		err = r.store.Close()
	}
	err = errors.Join(err, r.rules.Close())
	if r.old == nil {
		return err
	}
	if r.old.store != nil {
		err = errors.Join(err, r.old.store.Close())
	}
	return errors.Join(err, r.old.Close())
}

// count takes the logs through the rules.
func (r *reporting) count(ctx context.Context) (engine.Stats, error) {
	src := &flow.Source{Logs: r.logs, NeedsAgents: r.asked.AgentFromLog}
	if r.asked.ByRow() {
		src.NoTimes = flow.ErrNoTimes
	}
	stop := r.Watch("URLs", src.Sample)
	stats, err := engine.Run(ctx, r.store, src, &r.counts, r.runOpt)
	stop()
	if err == nil && stats.URLs == 0 && stats.Skipped == 0 {
		err = errNoRequests
	}
	return stats, cause(err)
}

// write writes the page, and says so.
func (r *reporting) write(ctx context.Context, stats engine.Stats, refused int64) error {
	run := &report.Run{
		Version: version(), RulesHash: r.store.RulesHash(), Rules: r.path, Flags: r.flags, Stats: stats, Refused: refused,
		Doubts: doubtsOf(r.Doubts),
	}
	for _, in := range r.logs.Inputs() {
		run.Inputs = append(run.Inputs, in.Name)
	}
	var err error
	if run.Files, run.More, err = r.counts.listings(ctx, r.rules, &r.storeOpt); err != nil {
		return err
	}
	if r.counts.changes != nil {
		run.Changes, run.Old = r.counts.changes.Report(reported), r.old.side().Rules
	}
	err = r.Commit(func(f *atomicfile.File) error {
		if err := report.Write(f, r.counts.page, run); err != nil {
			return f.Wrap("write", err)
		}
		return f.Commit()
	})
	if err == nil && r.Name != say.Std {
		text := fmt.Sprintf("%s: %s, %s disallowed", say.File(r.Name), say.Count(stats.URLs, "request"), say.Number(stats.Denied))
		if r.asked.AgentFromLog {
			text += ", " + say.Count(stats.Violations, "violation")
		}
		r.Print(text + "\n")
	}
	return err
}

// doubtsOf returns doubts as the page shows them.
func doubtsOf(all []doubt.Doubt) (shown []report.Doubt) {
	for _, d := range all {
		shown = append(shown, report.Doubt{Code: string(d.Code), Text: d.Text, Count: d.Count, Examples: d.Examples})
	}
	return shown
}

// shownFiles is how many robots.txt a page has.
const shownFiles = 100

// listings returns the robots.txt with the most requests, with what their lines did, and how many others
// there are.
func (c *pageCounts) listings(ctx context.Context, rules *load.Rules, opt *engine.StoreOptions) (files []report.File, more int, err error) {
	busiest, more := c.rules.Busiest(shownFiles)
	var copies map[robots.Origin][]listings.Copy
	if rules.Pack() == "" && len(busiest) > 0 {
		origins := make([]robots.Origin, len(busiest))
		for i := range busiest {
			origins[i] = busiest[i].Origin
		}
		moment := listings.Moment{AsOf: opt.AsOf, Dialects: []robots.Dialect{opt.Dialect}}
		if copies, err = listings.Copies(ctx, rules.Responses(ctx), origins, moment); err != nil {
			return nil, 0, err
		}
	}
	for i := range busiest {
		f := &busiest[i]
		file := report.File{Origin: string(f.Origin), Origins: f.Origins, Requests: f.Requests, Uses: usesOf(f.Rules)}
		switch found := copies[f.Origin]; {
		case rules.Pack() != "":
			file.Note = "The rules came from a pack, which has no texts: these are the rules in force for these crawlers."
		case f.Versions > 1:
			file.Note = fmt.Sprintf("%d texts were in force in the time of the log: these are the rules of one of them.", f.Versions)
		case len(found) > 0 && agrees(found[0].Response.Body, file.Uses, opt.Dialect):
			file.Text = found[0].Response.Body
			file.Report = robots.Inspect(file.Text, opt.Dialect)
			file.Findings = findingsOf(f.Origin, file.Text, file.Report)
		default:
			file.Note = "The newest text is another than that in force: these are the rules in force for these crawlers."
		}
		files = append(files, file)
	}
	return files, more, nil
}

// agrees reports whether a text has all the rules.
func agrees(body []byte, uses []report.Use, d robots.Dialect) bool {
	rules := map[int32]string{}
	parsed := robots.Parse(body, d)
	for i := range parsed.Groups {
		for _, rule := range parsed.Groups[i].Rules {
			rules[rule.Line] = rule.String()
		}
	}
	for i := range uses {
		if rules[uses[i].Line] == "" {
			return false
		}
	}
	return true
}

// usesOf returns what rules did as the page shows it.
func usesOf(rules []coverage.Rule) []report.Use {
	uses := make([]report.Use, len(rules))
	for i := range rules {
		r := &rules[i]
		uses[i] = report.Use{Line: r.Line, Allow: r.Allow, Rule: r.Rule, Decided: countOf(&r.Decided), Matched: countOf(&r.Matched)}
		if len(r.WonBy) > 0 {
			uses[i].WonBy = r.WonBy[0].Line
		}
	}
	return uses
}

// countOf returns a count as the page shows it.
func countOf(c *coverage.Count) report.Count {
	return report.Count{Requests: c.Requests, URLs: aggregate.Estimate{N: c.URLs, Error: c.Error}}
}

// findingsOf returns what is wrong with a text.
func findingsOf(origin robots.Origin, body []byte, r *robots.Report) (all []report.Finding) {
	for _, f := range lint.Findings(&lint.Place{Origin: string(origin)}, body, r.Diagnostics) {
		code, _ := lint.Lookup(robots.Code(f.Code))
		all = append(all, report.Finding{Line: f.Line, Severity: f.Severity, Code: f.Code, Text: f.Text, What: code.What, Do: f.Do})
	}
	return all
}

// given returns the flags that say what was asked, where they differ from the usual.
func given(a *args) (flags []report.Flag) {
	for _, f := range []struct {
		name, value, usual string
	}{
		{"-agent", strings.Join(a.agents, ","), ""},
		{"-agent-from-log", strconv.FormatBool(a.AgentFromLog), "false"},
		{"-unknown-agents", a.UnknownAgents, ""},
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
