package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
)

// A plan is what the flags ask for, checked, with its inputs found: ready to run.
type plan struct {
	console.Console
	files     *logfiles.List
	logs      *ingest.Logs // nil with one output per input
	logOpt    ingest.LogOptions
	rules     *load.Rules
	storeOpt  engine.StoreOptions
	runOpt    engine.Options
	outName   string // "-" for standard output
	outOpt    output.Options
	statsName string      // of the summary as JSON; "" is none
	rejects   string      // name of the list of rejected lines; "" is none
	page      *pageOut    // of -report; nil is none
	series    *seriesPlan // nil for one output
	limit     flow.Limit
	memory    memory.Run
	require   flow.Requirements
	hints     []string // what the user may not expect
	verbose   bool     // of the summary
	asked     summary.Asked
	situation situation
}

// newPlan makes the plan. It opens nothing and writes nothing. It reports all faults of the flags
// at once, each as a [cli.UsageError]; if there are none, all faults of the files that they name.
func newPlan(a *args, std console.Streams) (*plan, error) {
	for _, name := range []*string{&a.out, &a.stats, &a.rejects} {
		*name = targets.Standard(*name)
	}
	p := &plan{Console: console.Console{Streams: std, Quiet: a.quiet}, statsName: a.stats, rejects: a.rejects, verbose: a.verbose, rules: &load.Rules{}, situation: situation{forJob, a.origin}}
	if err := p.choose(a); err != nil {
		return nil, err
	}
	if err := p.find(a); err != nil {
		return nil, err
	}
	return p, nil
}

// choose sets what the flags say, without a look at any file.
func (p *plan) choose(a *args) error {
	faults, input := a.faults, cli.Faults{}
	var err error
	p.storeOpt = chooseQuestion(a, &faults)
	p.logOpt, p.outOpt.Kept = chooseInput(a, &input)
	p.logOpt.Stdin = p.In
	p.limit, err = flow.ParseLimit(a.maxRejects)
	input.Add("max-rejects", err)
	p.require.Rows, p.require.AllowBad = a.requireRows, a.allowBad
	p.require.Rules, err = flow.ParseShare(a.requireRules)
	faults.Add("require-rules", err)
	chooseRows(a, &p.storeOpt, &p.outOpt, &faults)
	faults.Add("", input.Err())
	p.page = newPage(a, &p.logOpt, &faults)
	file := a.out
	if p.series = chooseSeries(a, &faults); p.series != nil {
		file = ""
	} else if a.storage.partitionBy != "" {
		file = ""
		chooseParts(a.storage.partitionBy, a.out, &p.outOpt, &faults)
	}
	needs := p.outOpt.Needs()
	p.storeOpt.Directives, p.logOpt.Fields.Times = needs.Directives, p.logOpt.Fields.Times || needs.Times
	chooseFormat(file, a.outFormat, p.Out, &p.outOpt, &faults)
	chooseStorage(&a.storage, agentsOf(&p.storeOpt), &p.outOpt, &faults)
	checkWork(a, &faults)
	faults.Add("max-memory", p.chooseMemory(a, &p.outOpt))
	if p.series != nil && p.page != nil {
		faults.Add("report", errors.New("there is none for one output per input: name one output, or use robobatch report"))
	}
	faults.Add("progress", p.SetProgress(a.progress))
	p.hints = agentHints(a, p.storeOpt.Dialect, p.storeOpt.Agents)
	if slices.Contains(a.in, say.Std) && progress.IsTerminal(p.In) {
		p.hints = append(p.hints, "the log is read from standard input, which is a terminal: type or paste it, and end it with Ctrl-D; or name a file with -in")
	}
	p.outOpt.Version = version()
	p.asked = recordOf(a, &p.outOpt)
	faults.Add("", p.series.note(a, p))
	return faults.Err()
}

// chooseMemory sets the limit of memory. The error says that it is none, or that it has no room for
// the output, which is nil for a stream.
func (p *plan) chooseMemory(a *args, out *output.Options) error {
	limit, err := memory.Parse(a.maxMemory)
	if err != nil {
		return err
	}
	limit, share := p.page.takeMemory(limit, memory.Share{Typed: a.maxMemory})
	return p.limitMemory(a, limit, share, out)
}

// limitMemory sets the limit of memory of the run, which is a share of -max-memory. The error says
// that it has no room for the output, which is nil for a stream.
func (p *plan) limitMemory(a *args, limit int64, share memory.Share, out *output.Options) error {
	p.storeOpt.MaxMemory, p.rules.Share = limit, share
	if p.memory.Coverage {
		p.rules.Share = share.Less(1, 2)
	}
	p.memory = memory.Run{Limit: limit, Share: share, Workers: a.workers, Agents: len(agentsOf(&p.storeOpt)), Out: out, Coverage: p.memory.Coverage}
	for _, name := range []string{a.out, a.rejects} {
		if place.IsRemote(name) {
			p.memory.Remote += place.OutputMemory
		}
	}
	if place.IsRemote(a.rules) {
		p.memory.Remote += place.RandomMemory
	}
	_, err := p.memory.Divide()
	return err
}

// divideMemory divides the limit, once it is known where the rules are, and sets how many
// goroutines there are. The error says that the limit has no room for the index of the pack.
func (p *plan) divideMemory() error {
	if name := p.rules.Pack(); p.memory.Limit > 0 && name != "" {
		p.memory.Index, _ = engine.IndexMemory(name) // what is wrong with the pack is said when it is opened
	}
	parts, err := p.memory.Divide()
	if err != nil {
		return fmt.Errorf("-max-memory: %w", err)
	}
	p.hints = append(p.hints, parts.Note)
	p.storeOpt.Workers, p.runOpt.Workers, p.storeOpt.Reserved = parts.Workers, parts.Workers, parts.Reserved
	p.outOpt.SortMemory, p.outOpt.DictMemory = parts.Sort, parts.Dicts
	p.logOpt.BatchRows, p.logOpt.Window = parts.BatchRows, parts.Window
	if p.outOpt.Workers = cmp.Or(parts.Workers, runtime.GOMAXPROCS(0)); p.outOpt.Workers > 1 {
		p.logOpt.Ahead = cmp.Or(parts.Unpackers, p.outOpt.Workers)
	}
	return nil
}

// recordOf returns the record of a run, with the layout and the kinds of rows that are chosen.
func recordOf(a *args, out *output.Options) summary.Asked {
	r := a.Asked
	r.UnknownAgents = ""
	if r.AgentFromLog {
		r.UnknownAgents = cmp.Or(a.UnknownAgents, words.Star)
	}
	r.Layout, r.Where = out.Layout.String(), out.Where.String()
	return r
}

// findRules finds the rules. One robots.txt is that of -origin, or else of -base.
func (p *plan) findRules(a *args) error {
	p.rules.AcceptDamage = a.acceptDamage
	err := p.rules.Find(a.rules, a.origin)
	if errors.Is(err, rulefiles.ErrNoOrigin) && a.Base != "" {
		err = p.rules.Find(a.rules, a.Base)
	}
	return err
}

// find finds the inputs and checks the names of the outputs.
func (p *plan) find(a *args) error {
	var errLogs, errRules, errOut error
	if p.logOpt.VerifiedOnly = a.verifiedOnly; !atomicfile.InPlace(a.out) {
		p.logOpt.TempDir = load.TempDir(cmp.Or(a.out, "."))
	}
	p.files, errLogs = logfiles.Find(a.in, p.In)
	p.memory.Window = windowOf(p.files, p.memory.Limit)
	if errRules = p.findRules(a); errRules == nil {
		errRules = p.divideMemory()
	}
	if p.series != nil {
		if errLogs == nil {
			errLogs = p.series.find(p.files, p.outOpt.Format)
			p.findKinds()
		}
		return errors.Join(errLogs, errRules, targets.CheckSeries(targets.Outputs{Out: a.out, Stats: a.stats, Rejects: a.rejects}, a.rules, p.files))
	}
	if errLogs = errors.Join(p.files.Err(), errLogs); errLogs == nil {
		p.logs, errLogs = ingest.OpenLogs(p.files.Names(), p.logOpt)
	}
	if errLogs == nil {
		setKinds(p.outOpt.Kept, p.logs)
		if p.page != nil {
			p.page.opt.Status, errOut = keepStatus(&p.logs, &p.logOpt)
		}
		inputs := p.logs.Inputs()
		for _, in := range inputs {
			p.outOpt.Inputs = append(p.outOpt.Inputs, in.Name)
		}
		p.outName = cmp.Or(a.out, targets.ForLog(inputs[0].Name, p.outOpt.Format))
		if len(p.outOpt.Partition) > 0 {
			p.outName = targets.ForTree(a.out, p.outName, p.outOpt.Format)
		}
		read := targets.Inputs{Path: a.rules, Logs: inputs, Rules: p.rules.Files}
		errOut = errors.Join(errOut, targets.Check(targets.Outputs{Out: p.outName, Stats: a.stats, Rejects: a.rejects, Options: &p.outOpt}, read))
		if p.page != nil {
			errOut = errors.Join(errOut, targets.CheckFile("-report", a.page, read, targets.Other{Flag: "-out", Name: p.outName},
				targets.Other{Flag: "-stats", Name: a.stats}, targets.Other{Flag: "-rejects", Name: a.rejects}))
		}
	}
	return errors.Join(errLogs, errRules, errOut)
}
