package explain

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/lint"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/robots"
)

// An explainRun implements the command explain.
type explainRun struct {
	console.Console
	process.Printed
	*Asker
	urls          []string // if empty, URLs are lines of standard input
	json          bool
	all           bool
	withoutRobots int64  // answers without a robots.txt
	firstWithout  string // first origin without a robots.txt
	answers       int64  // all answers about URLs

	headless bool // whether a warning said that standard input may be a table without a header row
}

// given are the flags of the command explain.
type given struct {
	Flags
	print string
	all   bool
	rest  []string // arguments: URLs or a code
}

// forms are the values of -print.
var forms = []string{"text", "json"}

// Command returns the command explain.
func Command() flags.Command {
	g := new(given)
	c := flags.Command{Rules: &g.Rules, Packs: true, Plan: g.plan}
	c.Name, c.About, c.Arguments = "explain", "report why a crawler may or may not fetch a URL", "URL..."
	c.Take = func(argument string) { g.rest = append(g.rest, argument) }
	c.Intro = `
robobatch explain reports why a crawler may or may not fetch a URL.

    robobatch explain -rules robots.txt -agent Googlebot https://www.example.com/shop/

prints the verdict, the robots.txt in force, the crawler's group, and the matching rules, the deciding one
first. Without arguments it reads URLs from standard input, one per line. Paths belong to the site of -base. It opens no
network connection unless a name begins with s3://.`
	c.Flags = flags.Sections{
		Input:    g.InputFlags(""), // a code can be explained without rules
		Question: append([]cli.Flag{g.Question.NamesFlag("Crawlers to answer for: product tokens, separated by commas.", flags.EveryClient)}, g.QuestionFlags()...),
		Output: []cli.Flag{
			flags.Print(&g.print, forms, `
			Form of the output. text. json: one object per line for each URL and crawler (docs/explain.schema.json).`),
			{Name: "all", Set: cli.Bool(&g.all), Doc: `
			Print all rules that do not match, instead of the ten nearest. For more than three crawlers, print each
			full answer, instead of one line for equal ones.`},
		},
		Run: g.RunFlags(),
	}.All()
	return c
}

// plan implements [flags.Command].Plan: it checks the flags and finds the rules. If the only argument is a code and
// there is no -rules, the task prints the explanation of that code.
func (g *given) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	e := &explainRun{Console: console.Console{Streams: std, Quiet: g.Work.Quiet, Progress: console.Off}, urls: g.rest, all: g.all}
	if text, ok := aboutCode(g.rest); ok && g.Path == "" && faults.None() {
		if g.print != forms[0] {
			faults.Add("print", errors.New("the meaning of a code is printed only as text: leave out -print"))
			return nil, faults.Err()
		}
		return &printRun{Console: e.Console, text: text}, nil
	}
	if g.Path == "" {
		faults.Add("rules", missingRules(g.rest))
	}
	e.Asker = NewAsker(&g.Flags, &faults)
	if len(g.rest) > 0 && !slices.ContainsFunc(g.rest, func(text string) bool { return strings.HasPrefix(text, "/") || strings.Contains(text, "://") }) {
		faults.Add("", fmt.Errorf("%s is neither a URL nor a path: write https://www.example.com/page, or /page with -origin", msg.File(g.rest[0])))
	}
	form, err := cli.Choose("form", g.print, forms)
	faults.Add("print", err)
	e.json = form == 1
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return e, e.Find(&g.Flags, e.onlyOrigin())
}

// aboutCode returns the explanation of a finding or warning, if its code is the only argument.
func aboutCode(arguments []string) (text string, ok bool) {
	if len(arguments) != 1 {
		return "", false
	}
	if c, ok := lint.Lookup(robots.Code(arguments[0])); ok {
		return c.Text(cli.Fill), true
	}
	if m, ok := warning.Lookup(warning.Code(arguments[0])); ok {
		return m.Text(cli.Fill), true
	}
	return "", false
}

// likeCode reports whether an argument looks like a code, and not like a URL or path.
var likeCode = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// missingRules returns the error for missing -rules. If the only argument looks like a code, it suggests similar codes.
func missingRules(arguments []string) error {
	if len(arguments) != 1 || !likeCode.MatchString(arguments[0]) {
		return errors.New("missing flag: " + flags.NameRules + "; to explain a code, write only the code: robobatch explain shadowed_rule")
	}
	var known []string
	for _, c := range lint.Codes {
		known = append(known, string(c.Name))
	}
	for _, m := range warning.Meanings {
		known = append(known, string(m.Code))
	}
	err := fmt.Errorf("%q is not a code of a finding or a warning (see docs/RULES.md and docs/WARNINGS.md); to explain a URL, set -rules", arguments[0])
	return cli.Hint(err, strings.ReplaceAll(strings.ToLower(arguments[0]), "-", "_"), known)
}

// A printRun implements the text form.
type printRun struct {
	console.Console
	process.Printed
	text string
}

// Run prints.
func (p *printRun) Run(context.Context) error { return p.PrintOut(p.text) }

// onlyOrigin returns the origin that all URL arguments share, which becomes the origin of a single robots.txt; "" if
// there are several origins, or none.
func (e *explainRun) onlyOrigin() (only string) {
	for _, url := range e.urls {
		origin := string(NewTarget(url).Origin)
		if origin == "" || only != "" && origin != only {
			return ""
		}
		only = origin
	}
	return only
}

// Run explains the URLs, and prints warnings about the answers.
func (e *explainRun) Run(ctx context.Context) error {
	if err := e.readURLs(ctx); err != nil {
		return err
	}
	targets := make([]Target, len(e.urls))
	for i, url := range e.urls {
		targets[i] = e.Target(url)
	}
	answer, err := e.NewAnswerer(ctx, targets)
	e.Rules.Warn(&e.Console)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	out := bufio.NewWriter(e.Out)
	if err = e.print(out, targets, answer); err == nil {
		// Print warnings about the answers: crawler names may be misspelt, or over half of the URLs have no
		// robots.txt, perhaps because the rules are for http instead of https.
		if 2*e.withoutRobots > e.answers {
			e.Warn(warning.Warning{
				Code: warning.NoRobots, Count: e.withoutRobots, Examples: []string{e.firstWithout},
				Text: fmt.Sprintf("no robots.txt in -rules for %s of %s; http and https differ, and so do example.com and www.example.com",
					msg.Number(e.withoutRobots), msg.Count(e.answers, "answer")),
			})
		}
		e.WarnOnce(e.Disputes())
		e.WarnOnce(e.UnclearAgents())
	}
	return errors.Join(err, console.OutError(out.Flush()), e.Close())
}

// readURLs reads a list of URLs from standard input, if no arguments are given. In both cases, it trims white space
// around the URLs. It returns an error if the lines are not a list of URLs.
func (e *explainRun) readURLs(ctx context.Context) (err error) {
	if len(e.urls) > 0 {
		for i, url := range e.urls {
			e.urls[i] = string(ingest.TrimURL([]byte(url)))
		}
		return nil
	}
	if console.IsTerminal(e.In) {
		e.Hint("reading URLs from standard input, one per line; or give them as arguments")
	}
	logs, err := ingest.OpenLogs([]string{msg.Std}, ingest.LogOptions{Stdin: e.In})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, logs.Close()) }()
	for b := new(engine.Batch); ctx.Err() == nil && logs.Next(b); {
		in := logs.Inputs()[0]
		if in.Format != ingest.URLs {
			break
		}
		for i, url := range b.URLs {
			if url == engine.NoURL {
				return fmt.Errorf("standard input: line %d: longer than %s bytes: check that lines end in LF or CR LF", b.Lines[i], msg.Number(ingest.MaxLine))
			}
			e.urls = append(e.urls, string(b.Piece(url)))
		}
		if in.Headless && !e.headless {
			e.headless = true
			e.Warn(warning.Warning{Code: warning.HeadlessTable, Count: 1, Text: "lines are read as URLs, but the first lines have the same number of values after the URL: if these are columns, send only the URLs"})
		}
	}
	if f := logs.Inputs()[0].Format; f != ingest.URLs && f != ingest.Auto {
		return fmt.Errorf("standard input: its lines look like the format %s, but explain reads one URL per line: send only the URL column; to decide all lines: robobatch -in - -rules …", f)
	}
	return errors.Join(logs.Err(), ctx.Err())
}

// print prints the answers for all URLs and agents, and counts them for the warnings. For more than mostWhole agents,
// agents with the same answer share its lines, unless -all or JSON is requested.
func (e *explainRun) print(out *bufio.Writer, targets []Target, answer Answerer) error {
	style := Style{All: e.all, Title: len(targets)*len(e.Opt.Agents) > 1}
	folded := len(e.Opt.Agents) > mostWhole && !e.all && !e.json
	for i, t := range targets {
		var results []outcome
		for k, agent := range e.Opt.Agents {
			a, err := answer(t, agent)
			if err != nil {
				return err
			}
			// Record what the warning needs of an answer.
			if a.Origin != "" {
				e.answers++
				if a.Reason == engine.ReasonNoRobots.String() {
					e.withoutRobots++
					e.firstWithout = cmp.Or(e.firstWithout, a.Origin)
				}
				e.Note(a)
			}
			switch {
			case e.json:
				err = msg.WriteJSON(out, a)
			case folded:
				results = addResult(results, a)
			default:
				if i+k > 0 {
					out.WriteByte('\n')
				}
				_, err = out.WriteString(a.Text(style))
			}
			if err != nil {
				return console.OutError(err)
			}
		}
		if folded && i > 0 {
			out.WriteByte('\n')
		}
		if folded {
			var sb strings.Builder
			sb.WriteString("# " + cli.Fit(msg.Line(t.URL), width-len("# ")) + "\n")
			for _, r := range results {
				sb.WriteString(r.text)
				names := make([]string, len(r.agents))
				for i, agent := range r.agents {
					names[i] = name(agent)
				}
				sb.WriteString(indented(strings.Join(names, ", ")))
			}
			out.WriteString(msg.NoCommands(sb.String()))
		}
	}
	if folded {
		e.Hint("to see a crawler's group and other rules, name only that crawler with -agent, or add -all")
	}
	return nil
}
