package explain

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/passage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/robots"
)

// An Asker asks rules about single URLs: the commands explain and check. Use NewAsker, then Find, then
// Answerer, then Close.
type Asker struct {
	Rules    load.Rules
	Opt      engine.StoreOptions
	Question Question
	base     robots.Origin // of URLs that are paths: -base, or else -origin; "" is none
	Copies   map[robots.Origin][]listings.Copy
	store    *engine.Store                  // of a pack; nil without one
	found    map[string]robots.ProductToken // names that groups of the answers bear
	disputes engine.DisputeStats            // of the answers
	origins  map[string]int64               // the same: by origin
}

// Flags are those of commands that ask rules about single URLs.
type Flags struct {
	flags.Rules
	Question flags.Question
	Work     flags.Work
	Base     string
}

// Input returns the flags of rules. needed is the advice for a call that names none; "" makes them optional.
func (f *Flags) Input(needed string) []cli.Flag {
	return append(f.Flags(needed), cli.Flag{Name: "base", Arg: "url", Set: cli.Text(&f.Base), Doc: `
		The site of URLs that are paths. Write it like https://www.example.com.`})
}

// Asked returns the flags of the question, but for the crawlers.
func (f *Flags) Asked() []cli.Flag {
	return slices.Concat([]cli.Flag{f.Question.CrawlersFlag()}, f.Question.MomentFlags(), f.Question.AnswerFlags())
}

// Run returns the flags that say how much is printed.
func (f *Flags) Run() []cli.Flag { return flags.Without(f.Work.Flags(), "workers", "progress") }

// NewAsker returns an Asker with the question that the flags ask.
func NewAsker(f *Flags, faults *cli.Faults) *Asker {
	q := &Asker{Opt: f.Question.Choose(faults), found: map[string]robots.ProductToken{}, origins: map[string]int64{}}
	faults.Add("as-of", f.Question.CheckMoment())
	q.Opt.Agents = flags.AgentsOf(&q.Opt)
	q.Question = Question{Dialect: q.Opt.Dialect, Missing: q.Opt.Missing, AsOf: q.Opt.AsOf}
	flag, site := "base", f.Base
	if site == "" {
		flag, site = "origin", f.Origin
	}
	if site != "" {
		var err error
		q.base, err = robots.ParseOrigin(site)
		faults.Add(flag, err)
	}
	return q
}

// Find finds the rules. A single robots.txt gets the origin of -origin or -base, or else the one that all
// URLs have.
func (q *Asker) Find(f *Flags, ofURLs string) error {
	q.Rules.AcceptDamage = f.AcceptDamage
	err := q.Rules.Find(f.Path, f.Origin)
	if origin := cmp.Or(string(q.base), ofURLs); errors.Is(err, rulefiles.ErrNoOrigin) && origin != "" {
		err = q.Rules.Find(f.Path, origin)
	}
	return err
}

// Target returns the target of a URL, or of a path of the base.
func (q *Asker) Target(url string) Target {
	if q.base != "" && strings.HasPrefix(url, "/") {
		url = string(q.base) + url
	}
	return NewTarget(url)
}

// An Answerer answers for a URL and an agent.
type Answerer func(t Target, agent string) (*Answer, error)

// Answerer reads the rules of the targets.
func (q *Asker) Answerer(ctx context.Context, targets []Target) (answer Answerer, err error) {
	if q.Rules.Pack() != "" {
		q.Opt.Directives = []robots.Directive{robots.UsageLines, robots.SignalLines, robots.LicenseLines}
		if q.store, err = engine.OpenPack(q.Rules.Pack(), q.Opt); err != nil {
			return nil, load.NamePack(q.Rules.Pack(), err)
		}
		return func(t Target, agent string) (*Answer, error) {
			v, err := q.store.Verdict(t.URL, agent)
			return q.Question.FromPack(t, agent, v), err
		}, nil
	}
	var origins []robots.Origin
	for _, t := range targets {
		if t.Origin != "" {
			origins = append(origins, t.Origin)
		}
	}
	slices.Sort(origins)
	q.Copies, err = listings.Copies(ctx, q.Rules.Responses(ctx), slices.Compact(origins), q.Question.Moment())
	return func(t Target, agent string) (*Answer, error) {
		return q.Question.Explain(t, agent, q.Copies[t.Origin]), nil
	}, err
}

// Note notes what warnings need of an answer: the names that its groups bear, and other readings that allow the URL.
func (q *Asker) Note(a *Answer) {
	if len(a.readings) > 0 {
		if q.disputes.Rows++; q.disputes.Rows == 1 {
			q.disputes.Example = engine.DisputeExample{URL: a.URL, Agent: a.Agent, Line: a.RuleLine}
			copy(q.disputes.Example.By[:], a.readings)
		}
		q.origins[a.Origin]++
	}
	if a.Group == nil {
		return
	}
	for _, n := range a.Group.Names {
		if n.Found && n.Name != "*" {
			q.found[n.Name] = robots.ProductToken(n.Name)
		}
	}
}

// Unclear returns a warning if crawlers that were asked for may be misspelt.
func (q *Asker) Unclear() []warning.Warning {
	if q.store != nil {
		return passage.WarnAgents(&q.Opt, q.store)
	}
	named := agents.Named{Tokens: slices.Sorted(maps.Values(q.found))}
	return agents.Unclear(q.Opt.Agents, q.Opt.Dialect, named)
}

// Disputes returns a warning if other readings allow URLs that the answers disallow.
func (q *Asker) Disputes() []warning.Warning {
	all := slices.SortedFunc(maps.Keys(q.origins), func(a, b string) int {
		return cmp.Or(cmp.Compare(q.origins[b], q.origins[a]), cmp.Compare(a, b))
	})
	for i, origin := range all[:min(len(all), len(q.disputes.Worst))] {
		q.disputes.Worst[i] = engine.BusyOrigin{Origin: origin, Rows: q.origins[origin]}
	}
	return warning.Disputes(&q.disputes)
}

// Close closes the rules.
func (q *Asker) Close() error {
	if q.store != nil {
		return q.store.Close()
	}
	return q.Rules.Close()
}
