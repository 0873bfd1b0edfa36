// Package explain has the two commands about single URLs. The command explain reports why a crawler may or may not fetch a
// URL: which robots.txt is in force and why, which group binds the crawler, which rules match and which of them decides.
// The command check compares such answers with a file of expectations. All decisions come from package robots. Only
// cmd/robobatch imports it.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/internal/why"
	"github.com/robobatch/robobatch/robots"
)

// A Verdict is an answer and its reason.
type Verdict struct {
	Allowed  *bool  `json:"allowed"` // nil is unknown
	Reason   string `json:"reason"`  // spelt as in the column reason
	RuleLine int32  `json:"rule_line,omitempty"`
	Rule     string `json:"rule,omitempty"`
}

// An Answer explains why a crawler may or may not fetch a URL.
type Answer struct {
	URL     string `json:"url"`
	Agent   string `json:"agent"`
	Dialect string `json:"dialect"`
	Verdict
	Origin   string     `json:"origin,omitempty"` // "" if the URL has no origin
	Path     string     `json:"path,omitempty"`   // normalised for matching
	Source   *Source    `json:"source,omitempty"` // nil if no robots.txt is known
	Group    *why.Group `json:"group,omitempty"`  // nil if no rules are read
	Rules    []why.Rule `json:"rules,omitempty"`  // rules of the binding groups: first those that match, by precedence, then the others
	Dialects []Opinion  `json:"dialects,omitempty"`

	Preferences *why.Preferences `json:"preferences,omitempty"` // nil if no line of preferences binds the crawler

	Pack bool `json:"pack,omitempty"` // the rules come from a pack, which does not contain groups, other rules or other dialects

	documented string // see the function documented

	readings []engine.ReadBy // readings of the operator, if the URL is disallowed and one of them allows it
}

// A Source is the response that is in force.
type Source struct {
	Name       string     `json:"name"`
	Status     int        `json:"status"`          // 0 without a response; 200 for a file
	Error      string     `json:"error,omitempty"` // why there was no response
	Location   string     `json:"location,omitempty"`
	URL        string     `json:"url,omitempty"`       // final URL after redirects
	Redirects  []Redirect `json:"redirects,omitempty"` // redirects to URL, in order
	FetchedAt  *time.Time `json:"fetched_at"`          // nil if unknown
	File       bool       `json:"file"`                // FetchedAt is the modification time of a file
	AgeSeconds *int64     `json:"age_seconds"`         // at -as-of; nil without -as-of
	Truncated  bool       `json:"truncated"`           // the file is longer than the limit, so its end was not read
}

// A Redirect is one redirect of a fetch.
type Redirect struct {
	Name      string     `json:"name"`
	URL       string     `json:"url"`
	Status    int        `json:"status"`
	Location  string     `json:"location"` // as in the response: absolute or relative
	FetchedAt *time.Time `json:"fetched_at"`
}

// An Opinion is the answer by a dialect.
type Opinion struct {
	Dialect string `json:"dialect"`
	Verdict
}

// A Question is a request to the rules.
type Question struct {
	Dialect robots.Dialect
	Missing engine.Missing // how to decide without a robots.txt
	AsOf    time.Time      // the zero time means the newest
}

// Dialects returns the requested dialect, followed by all others, which get its options if these apply to all
// dialects.
func (q *Question) Dialects() []robots.Dialect {
	all := []robots.Dialect{q.Dialect}
	for _, name := range robots.Dialects() {
		d, err := robots.ParseDialect(name)
		if err == nil && name != q.Dialect.String() {
			all = append(all, d|q.Dialect&(robots.WideTokens|robots.URLAsIs))
		}
	}
	return all
}

// Moment returns the moment and the dialects for which the caller must get the copies for [Question.Explain].
func (q *Question) Moment() listings.Moment {
	return listings.Moment{AsOf: q.AsOf, Dialects: q.Dialects()}
}

// A Target is a URL, parsed and normalised by package robots.
type Target struct {
	URL    string
	Origin robots.Origin // "" if the URL is not valid
	raw    []byte        // path and query, as written
}

// NewTarget splits a URL. If the URL is not valid, only the field URL is set.
func NewTarget(url string) Target {
	t := Target{URL: url}
	u, err := robots.SplitURL([]byte(url))
	if err != nil {
		return t
	}
	origin, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return t
	}
	t.Origin, t.raw = robots.Origin(origin), []byte(url)[len(u.Prefix):]
	return t
}

// Explain answers for one crawler. copies are the copies of robots.txt in force for the origin: one for each of
// [Question.Dialects], in that order; nil if the URL has no origin.
func (q *Question) Explain(t Target, agent string, copies []listings.Copy) *Answer {
	a := &Answer{URL: t.URL, Agent: agent, Dialect: q.Dialect.String(), Origin: string(t.Origin)}
	defer a.escape()
	if t.Origin == "" {
		a.Reason = engine.ReasonBadURL.String()
		return a
	}
	path, _ := q.Dialect.Path(t.raw, nil)
	a.Path, a.Source = q.Dialect.ReadablePath(path), q.source(&copies[0])
	var file *robots.File // the file in the requested dialect; nil if no rules are used
	for i, d := range q.Dialects() {
		var f *robots.File
		if copies[i].Outcome.Effect == robots.UseRules {
			f = robots.Parse(copies[i].Response.Body, d)
		}
		v := q.verdict(t, agent, d, &copies[i], f)
		if i == 0 {
			a.Verdict, file = v, f
		}
		a.Dialects = append(a.Dialects, Opinion{d.String(), v})
	}
	if file != nil {
		who := robots.NewAgent(agent, q.Dialect)
		a.Group, a.documented = why.GroupOf(file, who), documented(file, agent, q.Dialect)
		rules, _ := file.Select(who)
		a.Rules = why.RulesOf(rules, path, q.Dialect)
		a.readings = q.readings(t, who, agent, a, copies[0].Response.Body)
		said := robots.PreferencesOf(copies[0].Response.Body, q.Dialect)
		a.Preferences = why.PreferencesOf(said, who, path, *a.Allowed)
	}
	return a
}

// readings returns the answers in all ways in which the crawler's operator may read robots.txt; nil unless
// the URL is disallowed and one of these readings allows it. body is the text of the robots.txt.
func (q *Question) readings(t Target, who robots.Agent, agent string, a *Answer, body []byte) []engine.ReadBy {
	if *a.Allowed || who.Token == "" || robots.IsTxt(t.raw) {
		return nil
	}
	by, allows := engine.ReadText(body, agent, t.raw, q.Dialect)
	if !allows {
		return nil
	}
	return by
}

// documented returns a note if the operator of the crawler documents that a different group binds the crawler than in
// the dialect; "" otherwise.
func documented(file *robots.File, agent string, d robots.Dialect) string {
	who, own, ok := robots.DocumentedAgent(agent, d)
	if !ok || slices.Equal(file.Binding(robots.NewAgent(agent, d)), file.Binding(who)) {
		return ""
	}
	names := why.GroupOf(file, who).Names
	if last := names[len(names)-1]; last.Found {
		return fmt.Sprintf("documents that the group for %s binds it: -dialect %s", last.Name, own)
	}
	return fmt.Sprintf("documents that no group of this robots.txt binds it: -dialect %s", own)
}

// escape replaces bytes that are not valid UTF-8 by %XX in all texts of the answer, as in the outputs of a run, so
// that both can be joined.
func (a *Answer) escape() {
	escape := func(texts ...*string) {
		for _, s := range texts {
			*s = fieldtext.Valid(*s)
		}
	}
	escape(&a.URL, &a.Agent, &a.Path, &a.Rule)
	for i := range a.Dialects {
		escape(&a.Dialects[i].Rule)
	}
	for i := range a.Rules {
		escape(&a.Rules[i].Text, &a.Rules[i].Pattern)
	}
	if p := a.Preferences; p != nil {
		for i := range p.Lines {
			escape(&p.Lines[i].Text, &p.Lines[i].Pattern)
		}
		if p.License != nil {
			escape(p.License)
		}
	}
	if s := a.Source; s != nil {
		escape(&s.Name, &s.Error, &s.Location, &s.URL)
		for i := range s.Redirects {
			escape(&s.Redirects[i].Name, &s.Redirects[i].URL, &s.Redirects[i].Location)
		}
	}
}

// source describes where a copy was read; nil if nothing was fetched.
func (q *Question) source(c *listings.Copy) *Source {
	if c.Outcome.Capture < 0 {
		return nil
	}
	r := &c.Response
	s := &Source{Name: r.Name, Status: r.Status, Error: r.Error, Location: r.Location, URL: r.URL, File: r.File}
	s.Truncated = len(r.Body) > robots.MaxBytes
	s.FetchedAt = timeOf(r)
	if s.FetchedAt != nil && !q.AsOf.IsZero() {
		age := int64(times.Between(*s.FetchedAt, q.AsOf) / times.Second)
		s.AgeSeconds = &age
	}
	for i := range c.Hops {
		hop := &c.Hops[i]
		s.Redirects = append(s.Redirects, Redirect{hop.Name, urlOf(hop), hop.Status, hop.Location, timeOf(hop)})
		s.URL = urlOf(r)
	}
	return s
}

// urlOf returns the URL of a response.
func urlOf(r *robots.Response) string { return cmp.Or(r.URL, string(r.Origin)+robots.TxtPath) }

// timeOf converts the time of a response; nil if it is unknown.
func timeOf(r *robots.Response) *time.Time {
	if r.FetchedAt.IsZero() {
		return nil
	}
	at := r.FetchedAt.UTC()
	return &at
}

// verdict returns the answer of the reference implementation in one dialect. file is the parsed robots.txt of the
// copy c; nil if its rules are not used.
func (q *Question) verdict(t Target, agent string, d robots.Dialect, c *listings.Copy, file *robots.File) Verdict {
	path, _ := d.Path(t.raw, nil)
	by := func(access bool, reason engine.Reason) Verdict {
		return Verdict{Allowed: &access, Reason: reason.String()}
	}
	switch effect := c.Outcome.Effect; {
	case effect == robots.NoRecord && q.Missing == engine.MissingUnknown:
		return Verdict{Reason: engine.ReasonNoRobots.String()}
	case effect == robots.NoRecord:
		return by(q.Missing == engine.MissingAllow, engine.ReasonNoRobots)
	case d.AlwaysAllowed(path):
		return by(true, engine.ReasonRobotsTxt)
	case effect != robots.UseRules:
		allowed := effect == robots.AllowAll
		return Verdict{Allowed: &allowed, Reason: c.Outcome.Cause.String()}
	}
	rule, because := why.Decide(file, robots.NewAgent(agent, d), path, d)
	v := Verdict{Allowed: &rule.Allow, Reason: because.String()}
	if rule.Line > 0 {
		v.RuleLine, v.Rule = rule.Line, rule.String()
	}
	return v
}

// FromPack returns the answer for rules from a pack. It has no source, group, other rules or other dialects, because
// a pack does not contain them.
func (q *Question) FromPack(t Target, agent string, v engine.Answer) *Answer {
	a := &Answer{URL: t.URL, Agent: agent, Dialect: q.Dialect.String(), Origin: string(t.Origin), Pack: true}
	defer a.escape()
	a.Reason = v.Reason.String()
	if v.Access != engine.Unknown {
		allowed := v.Access == engine.Allowed
		a.Allowed = &allowed
	}
	if t.Origin != "" {
		path, _ := q.Dialect.Path(t.raw, nil)
		a.Path = q.Dialect.ReadablePath(path)
	}
	if v.Rule.Line > 0 {
		a.RuleLine, a.Rule = v.Rule.Line, v.Rule.String()
	}
	if v.Readings[0].Dialect != 0 {
		a.readings = v.Readings[:]
	}
	a.Preferences = why.NewPreferences(v.Preferences, v.License.Value)
	return a
}

// An Asker evaluates single URLs for the commands explain and check. Call NewAsker, then Find, Answerer and Close.
type Asker struct {
	Rules    pipeline.Rules
	Opt      engine.StoreOptions
	Question Question
	base     robots.Origin // URL to which paths are relative: -base, or else -origin; "" if neither is set
	Copies   map[robots.Origin][]listings.Copy
	store    *engine.Store                  // the pack; nil without one
	found    map[string]robots.ProductToken // names of the groups in the answers
	disputes engine.DisputeStats            // disputes in the answers
	origins  map[string]int64               // disputes by origin
}

// Flags are the flags of commands that evaluate single URLs.
type Flags struct {
	flags.Rules
	Question flags.Question
	Work     flags.Work
	Base     string
}

// InputFlags returns the flags that name the rules. needed is the remedy for a missing -rules; "" makes it optional.
func (f *Flags) InputFlags(needed string) []cli.Flag {
	return append(f.Flags(needed), cli.Flag{Name: "base", Arg: "url", Set: cli.Text(&f.Base), Doc: `
		The site of URLs that are paths. Write it like https://www.example.com.`})
}

// QuestionFlags returns the flags of the question, except those that choose crawlers.
func (f *Flags) QuestionFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{f.Question.CrawlersFlag()}, f.Question.MomentFlags(), f.Question.AnswerFlags())
}

// RunFlags returns the flags about verbosity.
func (f *Flags) RunFlags() []cli.Flag { return flags.Without(f.Work.Flags(), "workers", "progress") }

// NewAsker returns an Asker for the question in the flags. It adds the faults of the flags to faults.
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

// Find finds the rules. A single robots.txt gets the origin of -origin or -base, or else ofURLs, the origin that all
// URLs share; "" means that there is no such origin.
func (q *Asker) Find(f *Flags, ofURLs string) error {
	q.Rules.AcceptDamage = f.AcceptDamage
	err := q.Rules.Find(f.Path, f.Origin)
	if origin := cmp.Or(string(q.base), ofURLs); errors.Is(err, rulefiles.ErrNoOrigin) && origin != "" {
		err = q.Rules.Find(f.Path, origin)
	}
	return err
}

// Target returns the target of a URL, or of a path relative to the base.
func (q *Asker) Target(url string) Target {
	if q.base != "" && strings.HasPrefix(url, "/") {
		url = string(q.base) + url
	}
	return NewTarget(url)
}

// An Answerer answers for a URL and an agent.
type Answerer func(t Target, agent string) (*Answer, error)

// NewAnswerer reads the rules of the targets into q.Copies, or opens the pack, and returns a function that answers
// for these targets. Call Find before, and Close in any case.
func (q *Asker) NewAnswerer(ctx context.Context, targets []Target) (answer Answerer, err error) {
	if q.Rules.Pack() != "" {
		q.Opt.Directives = append(robots.PreferenceLines(), robots.LicenseLines)
		if q.store, err = engine.OpenPack(q.Rules.Pack(), q.Opt); err != nil {
			return nil, pipeline.NamePack(q.Rules.Pack(), err)
		}
		if err = q.Rules.ReadNotes(q.store); err != nil {
			return nil, err
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

// Note records what the warnings need of an answer: the names of the groups that were found for the crawler, and
// other readings that allow the URL. It keeps no reference to the answer.
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

// UnclearAgents returns a warning if names in -agent may be misspelt; nil otherwise. Call it after Note was called
// for all answers.
func (q *Asker) UnclearAgents() []warning.Warning {
	if q.store != nil {
		return pipeline.WarnAgents(&q.Opt, q.store)
	}
	named := flags.RuleTokens{Tokens: slices.Sorted(maps.Values(q.found))}
	return flags.UnclearAgents(q.Opt.Agents, q.Opt.Dialect, named)
}

// Disputes returns a warning if some of the noted answers disallow URLs that another reading of the same robots.txt
// allows; nil otherwise.
func (q *Asker) Disputes() []warning.Warning {
	all := slices.SortedFunc(maps.Keys(q.origins), func(a, b string) int {
		return cmp.Or(cmp.Compare(q.origins[b], q.origins[a]), cmp.Compare(a, b))
	})
	for i, origin := range all[:min(len(all), len(q.disputes.Worst))] {
		q.disputes.Worst[i] = engine.BusyOrigin{Origin: origin, Rows: q.origins[origin]}
	}
	return warning.Disputes(&q.disputes, "row")
}

// Close closes the pack or the rules. Answers stay valid.
func (q *Asker) Close() error {
	if q.store != nil {
		return q.store.Close()
	}
	return q.Rules.Close()
}
