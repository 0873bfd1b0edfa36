package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/explain"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/robots"
)

// An asker asks rules about single URLs: the commands explain and check. Use newAsker, then find, then
// answerer, then close.
type asker struct {
	rules    load.Rules
	storeOpt engine.StoreOptions
	question explain.Question
	base     robots.Origin // of URLs that are paths: -base, or else -origin; "" is none
	copies   map[robots.Origin][]listings.Copy
	store    *engine.Store                  // of a pack; nil without one
	found    map[string]robots.ProductToken // names that groups of the answers bear
}

// newAsker returns what the flags ask.
func newAsker(a *args, faults *cli.Faults) *asker {
	q := &asker{storeOpt: chooseQuestion(a, faults), found: map[string]robots.ProductToken{}}
	if a.ByRow() {
		faults.Add("as-of", errNoRows)
	}
	q.storeOpt.Agents = agentsOf(&q.storeOpt)
	q.question = explain.Question{Dialect: q.storeOpt.Dialect, Missing: q.storeOpt.Missing, AsOf: q.storeOpt.AsOf}
	flag, site := "base", a.Base
	if site == "" {
		flag, site = "origin", a.origin
	}
	if site != "" {
		var err error
		q.base, err = robots.ParseOrigin(site)
		faults.Add(flag, err)
	}
	return q
}

// find finds the rules. One robots.txt is that of -origin or -base, or else of the origin that all
// URLs have.
func (q *asker) find(a *args, ofURLs string) error {
	q.rules.AcceptDamage = a.acceptDamage
	err := q.rules.Find(a.rules, a.origin)
	if origin := cmp.Or(string(q.base), ofURLs); errors.Is(err, rulefiles.ErrNoOrigin) && origin != "" {
		err = q.rules.Find(a.rules, origin)
	}
	return err
}

// target returns the target of a URL, or of a path of the base.
func (q *asker) target(url string) explain.Target {
	if q.base != "" && strings.HasPrefix(url, "/") {
		url = string(q.base) + url
	}
	return explain.NewTarget(url)
}

// An answerer answers for a URL and an agent.
type answerer func(t explain.Target, agent string) (*explain.Answer, error)

// answerer reads the rules of the targets.
func (q *asker) answerer(ctx context.Context, targets []explain.Target) (answer answerer, err error) {
	if q.rules.Pack() != "" {
		if q.store, err = engine.OpenPack(q.rules.Pack(), q.storeOpt); err != nil {
			return nil, load.NamePack(q.rules.Pack(), err)
		}
		return func(t explain.Target, agent string) (*explain.Answer, error) {
			v, err := q.store.Verdict(t.URL, agent)
			return q.question.FromPack(t, agent, v), err
		}, nil
	}
	var origins []robots.Origin
	for _, t := range targets {
		if t.Origin != "" {
			origins = append(origins, t.Origin)
		}
	}
	slices.Sort(origins)
	q.copies, err = listings.Copies(ctx, q.rules.Responses(ctx), slices.Compact(origins), q.question.Moment())
	return func(t explain.Target, agent string) (*explain.Answer, error) {
		return q.question.Explain(t, agent, q.copies[t.Origin]), nil
	}, err
}

// noteNames notes the names that the groups of an answer bear, which unclear needs.
func (q *asker) noteNames(a *explain.Answer) {
	if a.Group == nil {
		return
	}
	for _, n := range a.Group.Names {
		if n.Found && n.Name != "*" {
			q.found[n.Name] = robots.ProductToken(n.Name)
		}
	}
}

// unclear returns a doubt if crawlers that were asked for may be misspelt.
func (q *asker) unclear() []doubt.Doubt {
	if q.store != nil {
		return doubtAgents(&q.storeOpt, q.store)
	}
	named := agents.Named{Tokens: slices.Sorted(maps.Values(q.found))}
	return agents.Unclear(q.storeOpt.Agents, q.storeOpt.Dialect, named)
}

// close gives back what answerer has opened.
func (q *asker) close() error {
	if q.store != nil {
		return q.store.Close()
	}
	return q.rules.Close()
}
