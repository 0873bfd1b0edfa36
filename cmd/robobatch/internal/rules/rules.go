// Package rules has the commands over the robots.txt files of many sites. The command rules writes a table with a row
// for each group, rule, directive and diagnostic, in Parquet or JSON Lines (docs/RULES.md), or lists sitemaps. The
// command compile writes rules into a pack. The command census reports for each origin and crawler whether the rules
// disallow all paths, some or none; it evaluates sites with the same robots.txt, and crawlers with the same rules,
// only once. Only cmd/robobatch imports it.
package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/robots"
)

// A listing implements the command rules.
type listing struct {
	console.Console
	process.Sink[*File] // the output

	rules   pipeline.Rules
	opt     listings.Options
	outOpt  Options
	origins atomic.Int64 // number of origins listed so far
	bodies  int          // number of origins with a response in force
	odd     engine.OddCount

	needNamed bool                           // for a warning about the agents
	named     map[string]robots.ProductToken // names of groups by lower-case name
}

// given are the flags of the command rules.
type given struct {
	flags.Rules
	reading  flags.Reading
	agents   flags.Agents
	work     flags.Work
	out      string
	sitemaps bool
}

// Command returns the command rules.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, OneRule: true, Plan: g.plan}
	c.Name, c.About = "rules", "list rules and the mistakes in them"
	c.Intro = `
robobatch rules lists the contents of robots.txt files and the mistakes in them.

    robobatch rules -rules dir

writes a table to dir.rules.parquet, with a row for each group, rule, crawl delay, sitemap, host, clean-param and
diagnostic of each origin, its line, and status, time and size of the fetch. It opens no network connection unless a name begins with s3://.`
	c.Flags = flags.Sections{
		Input: g.FileFlags(),
		Question: append([]cli.Flag{
			g.agents.NamesFlag("List only the rules that bind these crawlers, separated by commas.", "every group."), g.agents.CrawlersFlag(),
		}, g.reading.MomentFlags()...),
		Output: []cli.Flag{
			{Name: "sitemaps", Set: cli.Bool(&g.sitemaps), Doc: `
			Print only the sitemaps, and whether crawlers may fetch them. A line has allowed, disallowed or unknown, the
			crawler and the URL, separated by tabs. unknown: the URL is invalid, or -rules has no robots.txt for its
			origin.`},
			{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.out), Doc: `
			The file to write: x.parquet or x.jsonl (JSON Lines). - is JSON Lines on standard output. Default: the
			name of the rules plus .rules.parquet, in the working directory.`},
		},
		Run: g.work.Flags(),
	}.All()
	return c
}

// plan implements [flags.Command].Plan: it checks the flags and finds the rules. With -sitemaps, it returns a
// [sitemapList].
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	l := &listing{Console: console.Console{Streams: std, Quiet: g.work.Quiet}}
	var err error
	l.opt.Dialect, l.opt.AsOf = g.reading.Choose(&faults)
	faults.Add("as-of", g.reading.CheckMoment())
	faults.Add("workers", memory.CheckWorkers(g.work.Workers))
	l.opt.Workers = g.work.Workers
	faults.Add("progress", l.SetProgress(g.work.Progress))
	if g.sitemaps {
		// Check the flags of the command rules with -sitemaps.
		s := &sitemapList{listing: l}
		var err error
		if g.out != "" && g.out != msg.Std {
			faults.Add("out", errors.New("-sitemaps prints to standard output: redirect it"))
		}
		s.store = engine.StoreOptions{Dialect: l.opt.Dialect, AsOf: l.opt.AsOf, Workers: l.opt.Workers, Missing: engine.MissingUnknown}
		s.store.Agents, err = flags.ExpandAgents(g.agents.Names)
		s.store.Agents = flags.AgentsOf(&s.store)
		s.store.Tokens = flags.NeedsRuleTokens(s.store.Agents, s.store.Dialect)
		faults.Add("agent", err)
		if err := faults.Err(); err != nil {
			return nil, err
		}
		l.Name = msg.Std
		return s, l.find(&g.Rules)
	}
	l.outOpt = Options{Dialect: l.opt.Dialect, Version: process.Version(), Metadata: g.reading.Metadata()}
	l.outOpt.Agents, err = flags.ExpandAgents(g.agents.Names)
	faults.Add("agent", err)
	l.needNamed, l.named = flags.NeedsRuleTokens(l.outOpt.Agents, l.opt.Dialect), map[string]robots.ProductToken{}
	l.Name = cmp.Or(outputs.StandardName(g.out), outputs.ForRules(g.Path))
	l.outOpt.Format, err = FormatOf(l.Name)
	if err != nil && atomicfile.InPlace(l.Name) {
		l.outOpt.Format, err = FormatOf(msg.Std)
	}
	faults.Add("out", err)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return l, l.find(&g.Rules)
}

// find finds the rules, and checks the name of the output.
func (l *listing) find(r *flags.Rules) (err error) {
	if l.opt.Origin, err = l.rules.FindListed(r.Path, r.Origin, r.AcceptDamage); err != nil {
		return err
	}
	return outputs.CheckFile("-out", l.Name, outputs.Inputs{Path: r.Path, Rules: l.rules.Files})
}

// Run writes the listing, and prints the numbers of rows and origins, unless it goes to standard output. It returns
// an error if the rules do not have the requested origin.
func (l *listing) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.Create(func() (*File, error) {
		return Create(l.Name, l.Out, l.outOpt)
	}); err != nil {
		return err
	}
	l.Hint(outputs.Leftovers(l.Name))
	stop := l.Watch("origins", func() console.Sample { return console.Sample{Done: l.origins.Load(), Total: -1} })
	err = listings.List(ctx, l.rules.Files.Responses(), l.opt, func(listed *listings.Listing) error {
		l.origins.Add(1)
		if listed.Outcome.Capture >= 0 {
			l.bodies++
		}
		if report := listed.Report; report != nil && report.Odd.IsOdd() {
			l.odd.Add(engine.OddOrigin{Origin: listed.Origin, Odd: report.Odd})
		}
		if l.needNamed {
			l.note(listed.Report)
		}
		return l.Use(func(f *File) error { return f.Write(listed) })
	})
	stop()
	if err != nil {
		return err
	}
	l.rules.Warn(&l.Console)
	l.WarnOnce(warning.Rules(&l.odd, "origin"))
	if l.needNamed {
		tokens := slices.Sorted(maps.Values(l.named))
		l.WarnOnce(flags.UnclearAgents(l.outOpt.Agents, l.opt.Dialect, flags.RuleTokens{Tokens: tokens, Complete: l.opt.Origin == "" && len(tokens) < maxNamed}))
	}
	switch {
	case l.opt.Origin != "" && l.origins.Load() == 0:
		return fmt.Errorf("list %s: %w", l.opt.Origin, pipeline.ErrNotListed)
	case l.bodies == 0:
		l.Warn(warning.Warning{Code: warning.NoRulesThen, Text: "every robots.txt is newer than -as-of; the time of a plain file is its modification time", Count: 1})
	}
	return l.Commit(func(f *File) error {
		err := f.Commit()
		if err == nil && l.Name != msg.Std {
			l.Print(fmt.Sprintf("%s: %s of %s\n%s", msg.File(l.Name), msg.Count(f.Rows(), "row"), msg.Count(l.origins.Load(), "origin"),
				summary.SkippedText(l.rules.Skipped(), "")))
		}
		return err
	})
}

// maxNamed is the maximum number of product tokens recorded.
const maxNamed = 1 << 17

// note records the product tokens of a listed robots.txt, up to maxNamed in all. It does nothing if r is nil.
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
