package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/robots"
)

// chooseQuestion returns what the flags ask of each URL: for which crawlers, by which rules.
func chooseQuestion(a *args, faults *cli.Faults) (opt engine.StoreOptions) {
	var err error
	opt.Dialect, opt.AsOf = chooseReading(&a.Reading, faults)
	opt.RowTimes = a.ByRow()
	if a.URLAsIs {
		opt.Dialect |= robots.URLAsIs
	}
	opt.Agents, err = agents.Expand(a.agents)
	faults.Add("agent", err)
	opt.LogAgents = chooseLogAgents(a, faults)
	opt.Tokens = agents.NeedNamed(opt.Agents, opt.Dialect)
	opt.Cache = chooseCache(a, faults)
	missing, err := cli.Choose("answer", a.Missing, words.Missing)
	faults.Add("missing", err)
	opt.Missing = engine.Missing(missing)
	return opt
}

// chooseReading returns the dialect with its options, and the moment whose captures are in force.
// The moment is zero for the newest captures, and if rows have moments of their own.
func chooseReading(r *summary.Reading, faults *cli.Faults) (d robots.Dialect, asOf time.Time) {
	d, err := robots.ParseDialect(strings.ToLower(r.Dialect))
	faults.Add("dialect", cli.Hint(err, r.Dialect, robots.Dialects()))
	yandex := d == robots.Yandex || err != nil
	if r.StrictBlank {
		d |= robots.BlankEndsSection
	}
	for _, choice := range []struct {
		flag, kind, value string
		known             []string // the second sets the option
		option            robots.Dialect
	}{
		{"agent-chars", "set", r.AgentChars, words.AgentChars, robots.WideTokens},
		{"yandex-empty-allow", "meaning", r.EmptyAllow, words.EmptyAllow, robots.EmptyAllowIgnored},
	} {
		i, err := cli.Choose(choice.kind, choice.value, choice.known)
		faults.Add(choice.flag, err)
		if i == 1 {
			d |= choice.option
		}
	}
	if d.Has(robots.EmptyAllowIgnored) && !yandex {
		faults.Add("yandex-empty-allow", errOnlyYandex)
	}
	if d.Has(robots.BlankEndsSection) && !yandex {
		faults.Add("yandex-strict-blank", errOnlyYandex)
	}
	if !r.ByRow() {
		asOf, err = parseMoment(r.AsOf)
		faults.Add("as-of", err)
	}
	return d, asOf
}

// errOnlyYandex is the error of an option that only the dialect yandex has.
var errOnlyYandex = errors.New("this is an option of the dialect yandex: add -dialect yandex, or leave it out")

// momentLayouts are the ways to write a moment. One without a time of day is the start of that day,
// one without a zone is in UTC.
var momentLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateTime, time.DateOnly}

// parseMoment returns the moment, in UTC; zero for "".
func parseMoment(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range momentLayouts {
		if t, err := time.Parse(layout, s); err == nil && !t.IsZero() {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no moment: write 2026-01-31T18:00:00Z, or 2026-01-31 for the start of that day in UTC", s)
}

// chooseLogAgents returns what -agent-from-log and -unknown-agents ask for.
func chooseLogAgents(a *args, faults *cli.Faults) engine.LogAgents {
	if a.AgentFromLog && len(a.agents) > 0 {
		faults.Add("agent-from-log", errors.New("the crawlers are those of the log: leave out -agent"))
	}
	if a.UnknownAgents != "" {
		if !a.AgentFromLog {
			faults.Add("unknown-agents", errors.New("this is about the crawlers of the log: add -agent-from-log"))
		}
		_, err := cli.Choose("answer", a.UnknownAgents, words.UnknownAgents)
		faults.Add("unknown-agents", err)
	}
	switch {
	case !a.AgentFromLog:
		return engine.LogAgentsOff
	case a.UnknownAgents == words.Skip:
		return engine.LogAgentsSkip
	}
	return engine.LogAgentsStar
}

// chooseCache returns how long crawlers may use copies, as [engine.StoreOptions] has it.
func chooseCache(a *args, faults *cli.Faults) time.Duration {
	if a.Cache == "" {
		return 0
	}
	d, err := time.ParseDuration(a.Cache)
	switch {
	case err != nil || d < 0:
		faults.Add("cache", fmt.Errorf("%q is no duration: write 24h, 90m or 0", a.Cache))
	case !a.AgentFromLog || !a.ByRow():
		faults.Add("cache", errors.New("this is about when crawlers of the log fetched: add -agent-from-log and -as-of log"))
	case d == 0:
		return -1
	}
	return d
}

// agentHints returns a hint for each agent that is named by hand and looked up under another name than its
// own; and, of a run that says much, one for all those of sets and files.
func agentHints(a *args, d robots.Dialect, names []string) (hints []string) {
	var listed []string
	for _, name := range names {
		var text string
		switch token := robots.NewAgent(name, d).Token; {
		case name == "*" || string(token) == name:
			continue
		case token == "":
			text = fmt.Sprintf("agent %q: no product token (letters, - and _) begins it, so that only groups for * are its", name)
		default:
			text = fmt.Sprintf("agent %q: its product token, which groups are searched for, is %q", name, token)
		}
		if slices.Contains(a.agents, name) {
			hints = append(hints, text)
		} else {
			listed = append(listed, text)
		}
	}
	if a.verbose && len(listed) > 0 {
		hints = append(hints, strings.Join(listed, "; "))
	}
	return hints
}

// doubtAgents returns a doubt if names of crawlers that are asked for may be misspelt.
func doubtAgents(opt *engine.StoreOptions, store *engine.Store) []doubt.Doubt {
	if !opt.Tokens {
		return nil
	}
	var named agents.Named
	named.Tokens, named.Complete = store.Tokens()
	return agents.Unclear(opt.Agents, opt.Dialect, named)
}

// agentsOf returns the crawlers that are asked for: * if nobody names any.
func agentsOf(opt *engine.StoreOptions) []string {
	if len(opt.Agents) == 0 {
		return []string{"*"}
	}
	return opt.Agents
}
