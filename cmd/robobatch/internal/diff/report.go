// Package diff reports the changes that a new robots.txt makes. It gets the counts from package aggregate, applies
// the gates of -fail, and prints the counts as text, JSON, Markdown or GitHub annotations. Only cmd/robobatch imports
// it.
package diff

import (
	"reflect"
	"slices"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/robots"
)

// A Side describes the old or the new rules.
type Side struct {
	Rules string `json:"rules"`
	AsOf  string `json:"as_of,omitempty"`
	Hash  string `json:"rules_hash"`

	// File is the name of the only robots.txt; "" if there may be several, or it has no name.
	File string `json:"-"`

	files *rulefiles.Files // nil if the rules are not files
}

// A Report holds all changes, see docs/diff.schema.json.
type Report struct {
	Old Side `json:"old"`
	New Side `json:"new"`

	Unit    string       `json:"unit"`              // the noun of all counts: "request", or "path" without a log
	Clients string       `json:"clients,omitempty"` // which requests count for an agent: All or Own; "" if the log does not identify senders
	BadURLs int64        `json:"bad_urls"`
	Refused int64        `json:"refused_lines"` // lines of the logs without a row
	Tried   *Tried       `json:"tried,omitempty"`
	Agents  []Agent      `json:"agents"`
	Gates   []ci.Verdict `json:"gates"`

	approved *Approvals // nil with a log
}

// The values of Report.Clients.
const (
	All = "all" // each request is evaluated for crawlers that may not have sent it
	Own = "own" // each request is evaluated for the crawler that sent it
)

// caveats returns the sentences to print before the numbers, because without them the numbers would be misleading.
func (r *Report) caveats() (all []string) {
	if t := r.Tried; t != nil && t.Cut > 0 {
		has := " have"
		if t.Cut == 1 {
			has = " has"
		}
		all = append(all, "The comparison is incomplete: "+msg.Count(t.Cut, "origin")+has+" too many patterns, so changes may be missing. Name a log with -in.")
	}
	if t := r.Tried; t != nil && t.AgentsCut {
		all = append(all, "The comparison is incomplete: the files name too many crawlers, so changes for some may be missing. Name the important ones with -agent.")
	}
	switch r.Clients { // whose requests are counted
	case All:
		who := "each of these crawlers"
		if len(r.Agents) == 1 {
			who = r.Agents[0].Agent
		}
		all = append(all, "All requests of the log, as if "+msg.Line(who)+" had sent them; -agent-from-log counts each crawler's own requests.")
	case Own:
		text := "Each crawler's own requests in the log."
		if slices.ContainsFunc(r.Agents, func(a Agent) bool { return a.Agent == "*" }) {
			text += " The groups for * decide the requests of " + unidentified + " (browsers and unknown crawlers)."
		}
		all = append(all, text)
	}
	return all
}

// unidentified is the name that texts use for the clients counted under "*", if the log has User-Agents.
const unidentified = "unidentified clients"

// crawlers formats the names of crawlers. If each request counts for its sender, "*" becomes "unidentified clients".
// names is not changed.
func (r *Report) crawlers(names []string) string {
	if r.Clients == Own {
		names = slices.Clone(names)
		for i, name := range names {
			if name == "*" {
				names[i] = unidentified
			}
		}
	}
	return ci.Crawlers(names)
}

// Tried counts the generated paths that a run without a log compared.
type Tried struct {
	Origins int64 `json:"origins"` // origins whose robots.txt differ
	Equal   int64 `json:"equal_origins"`
	Paths   int64 `json:"paths"`
	Cut     int64 `json:"cut_origins"` // origins with more patterns than the limit

	AgentsCut bool `json:"agents_cut"` // the files name more crawlers than Agents has
}

// An Agent holds the changes for a crawler.
type Agent struct {
	Agent     string `json:"agent"`
	Requests  int64  `json:"requests"`
	Closed    Count  `json:"closed"`
	Opened    Count  `json:"opened"`
	OtherRule Count  `json:"other_rule"`
	Same      Same   `json:"same"`

	Changes []Change `json:"changes"` // only kinds that occur

	OtherPreference Count              `json:"other_preference"` // all Preferences, each request once
	Preferences     []PreferenceChange `json:"preferences"`      // only changes that occur
}

// A Count is a number of requests and of their distinct URLs.
type Count struct {
	Requests int64 `json:"requests"`
	URLs     int64 `json:"urls"`
}

// A Same counts the unchanged requests.
type Same struct {
	Requests int64 `json:"requests"`
}

// A Change is one kind of change for an agent: the responsible rules and where it occurs.
type Change struct {
	Change       string `json:"change"`
	Rules        []Rule `json:"rules"`
	MoreRules    int    `json:"more_rules"`
	Families     []Part `json:"families"` // by their first two directories
	MoreFamilies int    `json:"more_families"`

	Directories     []Part `json:"directories"` // by the first of them
	MoreDirectories int    `json:"more_directories"`

	Origins     []Part   `json:"origins"`
	MoreOrigins int      `json:"more_origins"`
	Statuses    []Status `json:"statuses"`
	Days        []Day    `json:"days"` // the latest, if the log has times
	MoreDays    int      `json:"more_days"`
}

// A Rule is a rule that is responsible for changes, or a reason such as a missing robots.txt if no rule decides.
type Rule struct {
	Of      string `json:"of"` // "new", or "old" for a rule that no longer decides
	Line    int    `json:"line,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason"`
	Origin  string `json:"origin"`
	Several bool   `json:"several_origins"`
	Count
	Examples []Example `json:"examples"`
}

// An Example is a frequently requested URL, with the rule that decides it on the other side (old or new).
type Example struct {
	URL      string `json:"url"`
	Requests int64  `json:"requests"`
	Line     int    `json:"other_line,omitempty"`
	Rule     string `json:"other_rule,omitempty"`
	Reason   string `json:"other_reason"`
}

// A Part is a family of paths or an origin.
type Part struct {
	Name string `json:"name"`
	Count
}

// A Status counts the requests with a status code in the log; nil is unknown.
type Status struct {
	Status *int64 `json:"status"`
	Count
}

// A Day is the requests of a day, in UTC.
type Day struct {
	Day      string `json:"day"` // as in 2026-01-31
	Requests int64  `json:"requests"`
}

// changeOrder is the display order of changes.
var changeOrder = []engine.Change{engine.Closed, engine.Opened, engine.OtherRule}

// Fill sets BadURLs, and replaces Agents by agents with all counts except those of preferences.
func (r *Report) Fill(from *aggregate.ChangesReport) {
	r.BadURLs, r.Agents = from.Bad, []Agent{}
	for i := range from.Agents {
		f := &from.Agents[i]
		a := Agent{
			Agent: fieldtext.Valid(f.Agent), Requests: f.Requests, Closed: countOf(f.Counts[engine.Closed]), Opened: countOf(f.Counts[engine.Opened]),
			OtherRule: countOf(f.Counts[engine.OtherRule]), Same: Same{f.Counts[engine.Same].Requests}, Changes: []Change{}, Preferences: []PreferenceChange{},
		}
		for _, change := range changeOrder {
			if f.Counts[change].Requests > 0 {
				a.Changes = append(a.Changes, changeOf(change, &f.Of[change]))
			}
		}
		r.Agents = append(r.Agents, a)
	}
}

// changeOf converts the counts for one kind of change to a Change of the report.
func changeOf(change engine.Change, d *aggregate.ChangeDetails) Change {
	c := Change{
		Change: change.String(), MoreRules: d.MoreRules, MoreFamilies: d.MoreFamilies, MoreOrigins: d.MoreOrigins,
		Directories: partsOf(d.Directories), MoreDirectories: d.MoreDirectories,
		Families: partsOf(d.Families), Origins: partsOf(d.Origins), Rules: []Rule{}, Statuses: []Status{},
		Days: []Day{}, MoreDays: d.MoreDays,
	}
	for i := range d.Rules {
		b := &d.Rules[i]
		rule := Rule{
			Of: "new", Line: b.Line, Rule: fieldtext.Valid(b.Rule), Reason: b.Reason.String(), Origin: fieldtext.Valid(b.Origin), Several: b.Others,
			Count: countOf(b.ChangeCount), Examples: []Example{},
		}
		if b.Old {
			rule.Of = "old"
		}
		for _, e := range b.Examples {
			url := fieldtext.Valid(e.URL)
			if e.Cut {
				url += "…"
			}
			rule.Examples = append(rule.Examples, Example{url, e.Requests, e.With.Line, fieldtext.Valid(e.With.Rule), e.With.Reason.String()})
		}
		c.Rules = append(c.Rules, rule)
	}
	for _, s := range d.Statuses {
		status := Status{Count: countOf(s.ChangeCount)}
		if s.Status >= 0 {
			status.Status = &s.Status
		}
		c.Statuses = append(c.Statuses, status)
	}
	for _, day := range d.Days {
		c.Days = append(c.Days, Day{day.Day.Format(time.DateOnly), day.Requests})
	}
	return c
}

func partsOf(from []aggregate.Part) []Part {
	parts := make([]Part, 0, len(from))
	for _, p := range from {
		parts = append(parts, Part{fieldtext.Valid(p.Text), countOf(p.ChangeCount)})
	}
	return parts
}

func countOf(c aggregate.ChangeCount) Count {
	return Count{c.Requests, c.URLs}
}

// Changed reports whether verdicts, deciding rules or preferences changed for an agent.
func (r *Report) Changed() bool {
	for i := range r.Agents {
		if len(r.Agents[i].Changes)+len(r.Agents[i].Preferences) > 0 {
			return true
		}
	}
	return false
}

// gates are the kinds of changes for -fail: the values of the column change, changed for all of them, and
// otherPreference.
var gates = ci.Kinds{
	Names:    []string{"closed", "opened", "other_rule", "changed", otherPreference},
	Noun:     "kind of change",
	Examples: "closed=0, closed=0.1% or closed:Googlebot=10",
}

// otherPreference is the kind of change in which a usage preference for the page changed.
const otherPreference = "other_preference"

// A PreferenceChange counts the requests for which one usage preference of the page changed. It combines
// Content-Usage and Content-Signal.
type PreferenceChange struct {
	Use  string `json:"use"`  // "train-ai", "search" or "ai-input"
	From string `json:"from"` // "y", "n" or "unknown"
	To   string `json:"to"`
	Count
	Families     []Part `json:"families"` // as in [Change]
	MoreFamilies int    `json:"more_families"`
}

// FillPreferences adds changes of preferences to the agents that [Report.Fill] has set, so call it after Fill. It
// ignores changes for other agents.
func (r *Report) FillPreferences(changes []aggregate.PreferenceChange) {
	for i := range changes {
		c := &changes[i]
		name := fieldtext.Valid(c.Agent)
		k := slices.IndexFunc(r.Agents, func(a Agent) bool { return a.Agent == name })
		if k < 0 {
			continue
		}
		a, count := &r.Agents[k], countOf(c.ChangeCount)
		if c.Use == aggregate.AnyUse {
			a.OtherPreference = count
			continue
		}
		a.Preferences = append(a.Preferences, PreferenceChange{
			Use: c.Use.String(), From: answerText(c.From), To: answerText(c.To), Count: count,
			Families: partsOf(c.Families), MoreFamilies: c.MoreFamilies,
		})
	}
}

// answerText returns a preference in the words of check.
func answerText(p robots.Preference) string {
	return [...]string{robots.Unstated: "unknown", robots.Refused: "n", robots.Permitted: "y"}[p]
}

// eachPreferences calls show once for each group of agents with the same preference changes. It skips agents without
// such changes.
func (r *Report) eachPreferences(show func(names []string, changes []PreferenceChange)) {
	for i := range r.Agents {
		changes := r.Agents[i].Preferences
		if len(changes) == 0 {
			continue
		}
		if names, first := r.agentsLike(i, func(a *Agent) bool { return reflect.DeepEqual(a.Preferences, changes) }); first {
			show(names, changes)
		}
	}
}

// label names the change.
func (c *PreferenceChange) label() string { return c.Use + ": " + c.From + " to " + c.To }
