package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/explain"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/lint"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/robots"
)

// An explanation is a run of the command explain.
type explanation struct {
	console.Console
	rules    load.Rules
	storeOpt engine.StoreOptions
	question explain.Question
	base     robots.Origin // of URLs that are paths; "" is none
	urls     []string      // none: they are lines of standard input
	json     bool
	all      bool
}

// planExplanation checks the flags of the command explain and finds the rules.
func planExplanation(a *args, std console.Streams) (guard.Task, error) {
	e := &explanation{Console: console.Console{Streams: std, Quiet: a.quiet, Progress: progress.Off}, urls: a.rest, all: a.allRules}
	if text, ok := aboutCode(a.rest); ok && a.rules == "" {
		return &printing{e.Console, text}, nil
	}
	var faults cli.Faults
	if a.rules == "" {
		faults.Add("rules", errors.New("the flag is missing: "+nameRules+"; or name a code alone, as in robobatch explain shadowed_rule"))
	}
	e.storeOpt = chooseQuestion(a, &faults)
	if a.ByRow() {
		faults.Add("as-of", errNoRows)
	}
	e.storeOpt.Agents = agentsOf(&e.storeOpt)
	e.question = explain.Question{Dialect: e.storeOpt.Dialect, Missing: e.storeOpt.Missing, AsOf: e.storeOpt.AsOf}
	form, err := cli.Choose("form", a.print, explainForms)
	faults.Add("print", err)
	e.json = form == 1
	if a.Base != "" {
		e.base, err = robots.ParseOrigin(a.Base)
		faults.Add("base", err)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	e.rules.AcceptDamage = a.acceptDamage
	e.rules.AcceptDamage = a.acceptDamage
	err = e.rules.Find(a.rules, a.origin)
	if errors.Is(err, rulefiles.ErrNoOrigin) {
		if origin := cmp.Or(string(e.base), e.onlyOrigin()); origin != "" {
			err = e.rules.Find(a.rules, origin)
		}
	}
	return e, err
}

// aboutCode returns what there is to know of the code of a finding or a doubt, if that is the only
// argument.
func aboutCode(arguments []string) (text string, ok bool) {
	if len(arguments) != 1 {
		return "", false
	}
	if c, ok := lint.Lookup(robots.Code(arguments[0])); ok {
		return c.Text(cli.Fill), true
	}
	i := slices.IndexFunc(doubt.Meanings, func(m doubt.Meaning) bool { return string(m.Code) == arguments[0] })
	if i < 0 {
		return "", false
	}
	m := doubt.Meanings[i]
	return string(m.Code) + ": doubt\n\n" + cli.Fill(m.What, 80) + "\n\n" + cli.Fill(m.Do, 80) + "\n", true
}

// A printing is a run that prints a text.
type printing struct {
	console.Console
	text string
}

// Drop drops nothing.
func (p *printing) Drop() (committed bool, err error) { return false, nil }

// Targets returns that of the text.
func (p *printing) Targets() (out, last string) { return say.Std, say.Std }

// Run prints.
func (p *printing) Run(context.Context) error { return p.PrintOut(p.text) }

// explainForms are the values of -print of the command explain.
var explainForms = []string{"text", "json"}

// onlyOrigin returns the origin of all URLs that are arguments, which a single robots.txt is for; ""
// if they have several, or none.
func (e *explanation) onlyOrigin() (only string) {
	for _, url := range e.urls {
		origin := string(explain.NewTarget(url).Origin)
		if origin == "" || only != "" && origin != only {
			return ""
		}
		only = origin
	}
	return only
}

// Drop drops nothing: the answers are on standard output.
func (e *explanation) Drop() (committed bool, err error) { return false, nil }

// Targets returns those of the answers.
func (e *explanation) Targets() (out, last string) { return say.Std, say.Std }

// Run explains.
func (e *explanation) Run(ctx context.Context) error {
	if err := e.readURLs(ctx); err != nil {
		return err
	}
	targets := make([]explain.Target, len(e.urls))
	for i, url := range e.urls {
		if e.base != "" && strings.HasPrefix(url, "/") {
			url = string(e.base) + url
		}
		targets[i] = explain.NewTarget(url)
	}
	answer, closeRules, err := e.answerer(ctx, targets)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(e.Out)
	err = e.print(out, targets, answer)
	return errors.Join(err, console.OutError(out.Flush()), closeRules())
}

// readURLs reads the URLs from standard input if there are none among the arguments.
func (e *explanation) readURLs(ctx context.Context) error {
	if len(e.urls) > 0 {
		return nil
	}
	if progress.IsTerminal(e.In) {
		e.Hint("URLs are read from standard input, one a line; or name them as arguments")
	}
	lines := bufio.NewScanner(e.In)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && ctx.Err() == nil {
		if url := strings.TrimSpace(lines.Text()); url != "" {
			e.urls = append(e.urls, url)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("standard input: line %d: %w", len(e.urls)+1, err)
	}
	return ctx.Err()
}

// An answerer answers for a URL and an agent.
type answerer func(t explain.Target, agent string) (*explain.Answer, error)

// answerer reads the rules of the targets.
func (e *explanation) answerer(ctx context.Context, targets []explain.Target) (answer answerer, closeRules func() error, err error) {
	if e.rules.Pack() != "" {
		return e.packAnswerer()
	}
	var origins []robots.Origin
	for _, t := range targets {
		if t.Origin != "" {
			origins = append(origins, t.Origin)
		}
	}
	slices.Sort(origins)
	copies, err := listings.Copies(ctx, e.rules.Responses(ctx), slices.Compact(origins), e.question.Moment())
	e.rules.Doubt(&e.Console)
	answer = func(t explain.Target, agent string) (*explain.Answer, error) {
		return e.question.Explain(t, agent, copies[t.Origin]), nil
	}
	return answer, e.rules.Close, err
}

// packAnswerer answers from a pack.
func (e *explanation) packAnswerer() (answer answerer, closeRules func() error, err error) {
	store, err := engine.OpenPack(e.rules.Pack(), e.storeOpt)
	if err != nil {
		return nil, nil, load.NamePack(e.rules.Pack(), err)
	}
	if err := e.rules.ReadNotes(store); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	e.rules.Doubt(&e.Console)
	answer = func(t explain.Target, agent string) (*explain.Answer, error) {
		v, err := store.Verdict(t.URL, agent)
		return e.question.FromPack(t, agent, v), err
	}
	return answer, store.Close, nil
}

// print prints the answers for all URLs and agents.
func (e *explanation) print(out *bufio.Writer, targets []explain.Target, answer answerer) error {
	style := explain.Style{All: e.all, Title: len(targets)*len(e.storeOpt.Agents) > 1}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for i, t := range targets {
		for k, agent := range e.storeOpt.Agents {
			a, err := answer(t, agent)
			if err != nil {
				return err
			}
			if e.json {
				err = encoder.Encode(a)
			} else {
				if i+k > 0 {
					out.WriteByte('\n')
				}
				_, err = out.WriteString(a.Text(style))
			}
			if err != nil {
				return console.OutError(err)
			}
		}
	}
	return nil
}
