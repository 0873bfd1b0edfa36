package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// A reporting is a run of the command report.
type reporting struct {
	*plan
	pageOut
	old   *compared // nil without rules before
	store *engine.Store
	most  int64 // the limit of memory; 0 or less is none
}

// whatIfs are the values of -what-if.
var whatIfs = []string{"on", "off"}

// parseWhatIf returns whether the page has the panel in which one edits a robots.txt.
func parseWhatIf(name string) (bool, error) {
	i, err := cli.Choose("answer", name, whatIfs)
	return i == 0, err
}

// planReport checks the flags of the command report, and finds its inputs.
func planReport(a *args, std console.Streams) (guard.Task, error) {
	a.out = targets.Standard(a.out)
	p := &plan{Console: console.Console{Streams: std, Quiet: a.quiet}, rules: &load.Rules{}, situation: situation{forReport, a.origin}}
	r := &reporting{plan: p, pageOut: pageOut{path: a.rules, flags: given(a)}}
	faults, input := a.faults, cli.Faults{}
	p.storeOpt = chooseQuestion(a, &faults)
	p.logOpt, _ = chooseInput(a, &input)
	p.logOpt.Stdin, p.logOpt.Fields.Times, p.logOpt.VerifiedOnly = p.In, true, a.verifiedOnly
	faults.Add("", input.Err())
	if a.old != "" || a.oldAsOf != "" {
		r.old = new(compared)
		r.old.chooseOld(a, &r.storeOpt, &faults)
	}
	var err error
	r.whatIf, err = parseWhatIf(a.whatIf)
	faults.Add("what-if", err)
	checkWork(a, &faults)
	faults.Add("max-memory", r.chooseMemory(a))
	faults.Add("progress", p.SetProgress(a.progress))
	p.hints = agentHints(a, p.storeOpt.Dialect, p.storeOpt.Agents)
	p.outOpt.Version = version()
	p.asked = recordOf(a, &p.outOpt)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return r, r.find(a)
}

// find finds the inputs, and checks the name of the page.
func (r *reporting) find(a *args) error {
	var errLogs, errOut error
	r.logOpt.TempDir = load.TempDir(cmp.Or(a.out, "."))
	r.files, errLogs = findLogs(a.in, r.In)
	r.memory.Window = windowOf(r.files, r.memory.Limit)
	errRules := r.findRules(a)
	if errRules == nil && r.old != nil {
		errRules = r.old.find(a)
	}
	if errRules == nil {
		errRules = r.divide()
	}
	if errLogs != nil {
		return errors.Join(errLogs, errRules)
	}
	r.logs, errLogs = ingest.OpenLogs(r.files.Names(), r.logOpt)
	if errLogs == nil {
		r.Name = cmp.Or(a.out, targets.ForReport(r.logs.Inputs()[0].Name))
		r.opt.Status, errLogs = keepStatus(&r.logs, &r.logOpt)
	}
	if errLogs == nil && errRules == nil {
		errOut = targets.CheckLocal("-out", r.Name)
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

// chooseMemory sets the limit of memory: half of it is for counts, and the run has the rest.
func (r *reporting) chooseMemory(a *args) error {
	limit, err := memory.Parse(a.maxMemory)
	if err != nil {
		return err
	}
	share := memory.Share{Typed: a.maxMemory}
	if r.most = limit; limit > 0 {
		r.limitCounts(limit / 2)
		limit, share = limit/2, share.Less(1, 2)
	}
	err = withCounts(r.limitMemory(a, limit, share, nil))
	if r.old != nil {
		r.old.Share = share.Less(1, 2)
		r.rules.Share = r.old.Share
	}
	return err
}

// withCounts says of an error that the limit is for counts, too.
func withCounts(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; the command report has half of it for its counts", err)
}

// divide divides what counts leave of the limit of memory.
func (r *reporting) divide() error {
	if err := r.divideMemory(); err != nil {
		return withCounts(err)
	}
	if r.old != nil {
		r.old.opt.Workers, r.old.opt.Reserved = r.storeOpt.Workers, r.storeOpt.Reserved
		if limit := r.memory.Limit; limit > 0 { // each has half of what is left
			r.storeOpt.MaxMemory = r.storeOpt.Reserved + (limit-r.storeOpt.Reserved)/2
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
	r.DoubtOnce(doubtInputs(r.files))
	if err := r.Create(func() (place.Output, error) { return place.Create(r.Name, r.Out) }); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	stats, err := r.count(ctx)
	if err != nil {
		return err
	}
	s, err := r.doubtRows(r.store, stats)
	if err != nil {
		return err
	}
	src := pageSource{rules: r.rules, store: r.store, logs: r.logs, stats: stats, refused: summary.Sum(s.Counts.Refused), doubts: r.Doubts}
	if r.old != nil {
		src.old, src.changes = r.old.path, r.changes.Report(reported)
	}
	if err := r.write(ctx, src); err != nil {
		return err
	}
	r.Print(r.said(stats))
	return nil
}

// doubtRows prints the doubts about what came of the logs, and returns their summary. The error is that
// they do not say what the run asked for.
func (p *plan) doubtRows(store *engine.Store, stats engine.Stats) (*summary.Report, error) {
	s := summary.New(summary.Source{
		Asked: p.asked, Version: version(), Store: store, Rules: p.rules.Files, Logs: p.logs, Stats: stats,
	})
	s.Doubts = append(s.Doubts, p.Doubts...)
	if text := s.Rows().Bad; text != "" {
		return nil, errors.New(text)
	}
	for _, d := range append(s.Doubt(), doubtRejected(s, &p.storeOpt)...) {
		p.Doubt(d)
	}
	p.rules.HintMemory(store, &p.Console)
	return s, nil
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
		r.open(r.store, nil)
		r.limitAll()
		return nil
	}
	if r.old.store, err = r.old.Store(ctx, r.old.opt, dir, &r.Console); err != nil {
		return err
	}
	r.old.Doubt(&r.Console)
	if err = shareOrigin(r.old, r.store, r.path); err != nil {
		return err
	}
	r.runOpt.Old = r.old.store
	r.open(r.store, r.old.store)
	r.openChanges(r.store, r.old.store)
	r.limitAll()
	return nil
}

// limitAll has Go's runtime keep to the limit of memory for rules and counts, once the rules are there.
func (r *reporting) limitAll() {
	if r.most > 0 {
		debug.SetMemoryLimit(r.most - memory.Program)
	}
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
	src := aim(new(flow.Source), r.logs, &r.asked)
	stop := r.Watch("URLs", src.Sample)
	stats, err := engine.Run(ctx, r.store, src, &r.pageCounts, r.runOpt)
	stop()
	if err == nil && stats.URLs == 0 && stats.Skipped == 0 {
		err = errNoRequests
	}
	return stats, cause(err)
}

// said says what was written.
func (r *reporting) said(stats engine.Stats) string {
	if r.Name == say.Std {
		return ""
	}
	text := fmt.Sprintf("%s: %s, %s disallowed", say.File(r.Name), say.Count(stats.URLs, "request"), say.Number(r.pageCounts.page.Denied()))
	if stats.Rows > stats.URLs { // several crawlers that are asked for
		text = fmt.Sprintf("%s: %s, %s of %s disallowed", say.File(r.Name), say.Count(stats.URLs, "request"), say.Number(r.pageCounts.page.Denied()), say.Count(stats.Rows, "verdict"))
	}
	if r.asked.AgentFromLog {
		text += ", " + say.Count(stats.Violations, "violation")
		if r.old != nil && !r.storeOpt.RowTimes {
			text += " of the rules before"
		}
	}
	return text + "\n"
}
