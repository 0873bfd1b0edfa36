package job

import (
	"cmp"
	"errors"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/build"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/page"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/passage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/remedy"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
)

// A plan is the values of the flags, checked, with its inputs found: ready to run.
type plan struct {
	passage.Passage
	outName   string // "-" for standard output
	outOpt    output.Options
	statsName string      // of the summary as JSON; "" is none
	rejects   string      // name of the list of rejected lines; "" is none
	page      *page.Page  // of -report; nil is none
	series    *seriesPlan // nil for one output
	limit     flow.Limit
	require   flow.Requirements
	verbose   bool // of the summary
	remedies  remedy.For
}

// plan makes the plan, and the run of it. It opens nothing and writes nothing. It reports all faults of the flags
// at once, each as a [cli.UsageError]; if there are none, all faults of the files that they name.
func (g *given) plan(std console.Streams, faults cli.Faults) (guard.Task, error) {
	p, err := g.newPlan(std, faults)
	switch {
	case err != nil:
		return nil, err
	case p.series != nil:
		s := &seriesRun{job: newJob(p), diff: map[string][]string{}}
		s.outName = p.series.dir.Name
		for i := range p.series.items {
			s.total += max(0, p.series.items[i].Size)
		}
		return s, nil
	}
	return newJob(p), nil
}

// newPlan makes the plan.
func (g *given) newPlan(std console.Streams, faults cli.Faults) (*plan, error) {
	for _, name := range []*string{&g.table.Out, &g.stats, &g.rejects} {
		*name = targets.Standard(*name)
	}
	p := &plan{statsName: g.stats, rejects: g.rejects, verbose: g.Work.Verbose, remedies: remedy.For{Logs: true, Packs: true, Keeps: true, Origin: g.Origin}}
	if err := p.choose(g, std, faults); err != nil {
		return nil, err
	}
	return p, p.find(g)
}

// choose takes the values of the flags, without a look at any file.
func (p *plan) choose(g *given, std console.Streams, faults cli.Faults) error {
	var input cli.Faults
	p.outOpt.Kept = p.Choose(&g.Flags, std, &faults, &input)
	if g.rejects == say.Std {
		input.Add("rejects", errors.New("standard output is not for rejects: name a file"))
	}
	p.limit, p.require = g.limits.Choose(&input, &faults)
	p.LogOpt.Raws, p.LogOpt.Fields.Need = g.rejects != "", g.Question.FromLog && !g.limits.AllowsBad()
	g.rows.choose(g.Question.FromLog, len(g.Sitemaps.Paths) > 0, &p.Now.Opt, &p.outOpt, &faults)
	faults.Add("", input.Err())
	if by, err := output.ParsePartition(g.storage.partitionBy); err == nil && slices.Contains(by, output.PartitionDate) {
		g.page.Zone.Used, p.outOpt.Location = true, g.page.Zone.Location(&faults)
	}
	p.page = page.Beside(&g.page, &g.Flags, "", &p.Passage, &faults)
	file := g.table.Out
	if p.series = chooseSeries(g, &faults); p.series != nil {
		file = ""
	} else if g.storage.partitionBy != "" {
		file = ""
		chooseParts(g.storage.partitionBy, g.table.Out, &p.outOpt, &faults)
	}
	needs := p.outOpt.Needs()
	p.Now.Opt.Directives, p.LogOpt.Fields.Times = needs.Directives, p.LogOpt.Fields.Times || needs.Times
	g.table.ChooseFormat(file, p.Out, &p.outOpt, &faults)
	// Set how the output is stored, once its format and columns are set.
	agents := flags.AgentsOf(&p.Now.Opt)
	var err error
	p.outOpt.Mode, err = output.ParsePartitionMode(g.storage.partitionMode)
	faults.Add("partition-mode", cli.Hint(err, g.storage.partitionMode, output.PartitionModes()))
	if g.storage.partitionMode != "" && g.storage.partitionBy == "" {
		faults.Add("partition-mode", errors.New("a file has no partitions, and is replaced: add -partition-by, or leave it out"))
	}
	p.outOpt.Compression, err = output.ParseCompression(g.storage.compression)
	faults.Add("compression", cli.Hint(err, g.storage.compression, output.Compressions()))
	p.outOpt.Sort, err = output.ParseSort(g.storage.sort)
	faults.Add("sort", cli.Hint(err, g.storage.sort, words.Sorts))
	p.outOpt.Level, p.outOpt.RowGroup = g.storage.level, g.storage.rowGroup
	p.outOpt.CSV = g.table.ChooseCSV(&faults)
	flags.CheckContainer(&p.outOpt, agents, &faults)
	p.Memory.Plan, p.Memory.Out = memory.PlanOf("robobatch"), &p.outOpt
	if p.page != nil {
		p.Memory.Plan = memory.PlanOf("robobatch -report")
	}
	p.ChooseWork(&g.Flags, &p.outOpt, &faults, g.table.Out, g.rejects)
	if p.series != nil && p.page != nil {
		faults.Add("report", errors.New("there is none for one output per input: name one output, or use robobatch report"))
	}
	if slices.Contains(g.Logs.In, say.Std) && console.IsTerminal(p.In) {
		p.Hints = append(p.Hints, "the log is read from standard input, which is a terminal: type or paste it, and end it with Ctrl-D; or name a file with -in")
	}
	p.Asked.Timezone = g.page.Zone.Name
	p.outOpt.Version = build.Version()
	faults.Add("", p.series.note(g, p))
	return faults.Err()
}

// find finds the inputs and checks the names of the outputs.
func (p *plan) find(g *given) error {
	out := g.table.Out
	errLogs := p.FindLogs(&g.Flags)
	errRules := p.FindRules(&g.Flags)
	if p.Sitemaps != nil {
		errRules = errors.Join(errRules, p.series.note(g, p))
	}
	p.outOpt.Workers, p.outOpt.SortMemory, p.outOpt.DictMemory = p.Workers(), p.Parts.Sort, p.Parts.Dicts
	if p.series != nil {
		if errLogs == nil {
			errLogs = p.series.find(p.Files, p.outOpt.Format)
			p.findKinds()
		}
		return errors.Join(errLogs, errRules, targets.CheckSeries(targets.Outputs{Out: out, Stats: g.stats, Rejects: g.rejects}, g.Path, p.Files))
	}
	if errLogs = p.OpenLogs(errLogs); errLogs != nil {
		return errors.Join(errLogs, errRules)
	}
	passage.SetKinds(p.outOpt.Kept, p.Logs)
	var errOut error
	if p.page != nil {
		errOut = p.KeepAnswers()
	}
	p.outOpt.Inputs = p.InputNames()
	p.outName = cmp.Or(out, targets.ForLog(p.outOpt.Inputs[0], p.outOpt.Format))
	if len(p.outOpt.Partition) > 0 {
		p.outName = targets.ForTree(out, p.outName, p.outOpt.Format)
	}
	read := targets.Inputs{Path: g.Path, Logs: p.Logs.Inputs(), Rules: p.Now.Files, Sitemaps: p.Sitemaps}
	errOut = errors.Join(errOut, targets.Check(targets.Outputs{Out: p.outName, Stats: g.stats, Rejects: g.rejects, Options: &p.outOpt}, read))
	if p.page != nil {
		errOut = errors.Join(errOut, targets.CheckPage("-report", p.page.Name, read, targets.Other{Flag: "-out", Name: p.outName},
			targets.Other{Flag: "-stats", Name: g.stats}, targets.Other{Flag: "-rejects", Name: g.rejects}))
	}
	return errors.Join(errRules, errOut)
}
