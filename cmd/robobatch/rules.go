package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listfile"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/robots"
)

// A listing is a run of the command rules.
type listing struct {
	console.Console
	guard.Sink[*listfile.File] // the output

	rules   load.Rules
	opt     listings.Options
	outOpt  listfile.Options
	origins atomic.Int64 // listed so far
	bodies  int          // origins of which a response was in force
	odd     engine.OddCount

	needNamed bool                           // for a doubt about the agents
	named     map[string]robots.ProductToken // of groups, by their lower case
}

// planListing checks the flags of the command rules and finds the rules.
func planListing(a *args, std console.Streams) (guard.Task, error) {
	l := &listing{Console: console.Console{Streams: std, Quiet: a.quiet}}
	faults := a.faults
	var err error
	l.opt.Dialect, l.opt.AsOf = chooseReading(&a.Reading, &faults)
	if a.ByRow() {
		faults.Add("as-of", errNoRows)
	}
	faults.Add("workers", memory.CheckWorkers(a.workers))
	l.opt.Workers = a.workers
	faults.Add("progress", l.SetProgress(a.progress))
	if a.sitemaps {
		return planSitemaps(a, l, &faults)
	}
	l.outOpt = listfile.Options{Dialect: l.opt.Dialect, Version: version(), Metadata: a.Metadata()}
	l.outOpt.Agents, err = agents.Expand(a.agents)
	faults.Add("agent", err)
	l.needNamed, l.named = agents.NeedNamed(l.outOpt.Agents, l.opt.Dialect), map[string]robots.ProductToken{}
	l.Name = cmp.Or(targets.Standard(a.out), targets.ForRules(a.rules))
	l.outOpt.Format, err = listfile.FormatOf(l.Name)
	if err != nil && atomicfile.InPlace(l.Name) {
		l.outOpt.Format, err = listfile.FormatOf(say.Std)
	}
	faults.Add("out", err)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return l, l.find(a)
}

// errNoRows is the error of -as-of log where there is no log.
var errNoRows = errors.New("\"log\" is for robobatch itself, which has rows with their times: write a moment, such as 2026-01-31T18:00:00Z")

// find finds the rules, and checks the name of the output.
func (l *listing) find(a *args) (err error) {
	if l.opt.Origin, err = findListed(&l.rules, a); err != nil {
		return err
	}
	return targets.CheckOut(l.Name, targets.Inputs{Path: a.rules, Rules: l.rules.Files})
}

// findListed finds the rules. An origin is that of a single robots.txt, or the only one to list, which
// is returned then.
func findListed(rules *load.Rules, a *args) (only robots.Origin, err error) {
	rules.AcceptDamage = a.acceptDamage
	err = rules.Find(a.rules, a.origin)
	if errors.Is(err, rulefiles.ErrOriginDir) || errors.Is(err, rulefiles.ErrOriginFile) {
		if only, err = robots.ParseOrigin(a.origin); err != nil {
			return "", cli.Usage("-origin: %w: write it like https://www.example.com", err)
		}
		err = rules.Find(a.rules, "")
	}
	return only, err
}

// errNotListed is the error of an origin that has no robots.txt in the rules.
var errNotListed = errors.New("there is no robots.txt of it in the rules: check scheme, host and port")

// Run lists.
func (l *listing) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.Create(func() (*listfile.File, error) {
		return listfile.Create(l.Name, l.Out, l.outOpt)
	}); err != nil {
		return err
	}
	l.Hint(targets.Leftovers(l.Name))
	stop := l.Watch("origins", func() progress.Sample { return progress.Sample{Done: l.origins.Load(), Total: -1} })
	err = listings.List(ctx, l.rules.Files.Responses(), l.opt, func(listed *listings.Listing) error {
		l.origins.Add(1)
		if listed.Outcome.Capture >= 0 {
			l.bodies++
		}
		if report := listed.Report; report != nil && report.Odd.Doubtful() {
			l.odd.Add(engine.OddOrigin{Origin: listed.Origin, Odd: report.Odd})
		}
		if l.needNamed {
			l.note(listed.Report)
		}
		return l.Use(func(f *listfile.File) error { return f.Write(listed) })
	})
	stop()
	if err != nil {
		return err
	}
	l.rules.Doubt(&l.Console)
	l.DoubtOnce(summary.OddRules(&l.odd, "origin"))
	if l.needNamed {
		tokens := slices.Sorted(maps.Values(l.named))
		l.DoubtOnce(agents.Unclear(l.outOpt.Agents, l.opt.Dialect, agents.Named{Tokens: tokens, Complete: l.opt.Origin == "" && len(tokens) < maxNamed}))
	}
	switch {
	case l.opt.Origin != "" && l.origins.Load() == 0:
		return fmt.Errorf("list %s: %w", l.opt.Origin, errNotListed)
	case l.bodies == 0:
		l.Doubt(doubt.Doubt{Code: doubt.NoRulesThen, Text: "no robots.txt is as old as -as-of; that of a file is the time of its last change", Count: 1})
	}
	return l.Commit(func(f *listfile.File) error {
		err := f.Commit()
		if err == nil && l.Name != say.Std {
			l.Print(fmt.Sprintf("%s: %s of %s\n%s", say.File(l.Name), say.Count(f.Rows(), "row"), say.Count(l.origins.Load(), "origin"),
				summary.Skipped(l.rules.Skipped(), "")))
		}
		return err
	})
}

// maxNamed is how many product tokens are noted.
const maxNamed = 1 << 17

// note notes the product tokens of a robots.txt that is listed.
func (l *listing) note(r *robots.Report) {
	if r == nil {
		return
	}
	for _, g := range r.File.Groups {
		for _, token := range g.Agents {
			key := strings.ToLower(string(token))
			if _, known := l.named[key]; !known && len(l.named) < maxNamed {
				l.named[key] = robots.ProductToken(strings.Clone(string(token)))
			}
		}
	}
}
