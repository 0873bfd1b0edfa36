package coverage

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/robots"
)

// A Rule is what a rule did. A request counts once for each agent that the rule binds.
type Rule struct {
	Kind    string  `json:"kind"` // "rule"
	Origin  string  `json:"origin"`
	Origins int     `json:"origins"` // that have this robots.txt, and were requested
	Agent   *string `json:"agent"`   // null unless it is counted by agent
	Line    int32   `json:"line"`
	Allow   bool    `json:"allow"`
	Rule    string  `json:"rule"`

	Decided Count `json:"decided"`
	Matched Count `json:"matched"` // without deciding

	WonBy []Winner `json:"won_by"` // what decided then, at most three, the most requests first

	Asked []Asked `json:"-"` // the requests of Decided by crawler; only with Options.Deciders
}

// A Count counts requests.
type Count struct {
	Requests int64      `json:"requests"`
	URLs     int64      `json:"urls"`       // distinct ones
	Error    float64    `json:"urls_error"` // the relative standard error of URLs; 0 if they are exact
	First    *time.Time `json:"first"`      // null if no request has a time
	Last     *time.Time `json:"last"`

	variance float64 // of URLs
}

// A Winner is a rule that decided in place of another.
type Winner struct {
	Line     int32  `json:"line"`
	Rule     string `json:"rule"`
	Requests int64  `json:"requests"`
}

// winners is how many Winners a Rule names.
const winners = 3

// A Head is what was counted in all.
type Head struct {
	Kind     string     `json:"kind"` // "log"
	Inputs   []string   `json:"inputs"`
	Agents   []string   `json:"agents"` // empty with crawlers of the log
	Requests int64      `json:"requests"`
	Verdicts int64      `json:"verdicts"` // a request has one for each agent
	Ruled    int64      `json:"ruled"`    // requests whose robots.txt has rules for an agent
	From     *time.Time `json:"from"`     // null if no request has a time
	To       *time.Time `json:"to"`
	Files    int        `json:"files"`   // robots.txt that were met, those of equal bytes once
	Origins  int        `json:"origins"` // that have them
	Unmet    int        `json:"unmet"`   // origins with a robots.txt, and without a request
	Rules    int64      `json:"rules"`   // of these files, for the agents
	Decided  int64      `json:"decided"` // rules that decided a request
	Matched  int64      `json:"matched"` // rules that matched, and decided none
	Never    int64      `json:"never"`   // rules that matched none
	Exact    bool       `json:"exact"`   // distinct URLs are no estimates
}

// Head returns what was counted in all.
func (c *Counter) Head() Head {
	h := c.head()
	for r := range c.Rules() {
		h.add(r)
	}
	return h
}

// add counts a rule.
func (h *Head) add(r *Rule) {
	h.Rules++
	switch r.kind() {
	case decided:
		h.Decided++
	case onlyMatched:
		h.Matched++
	case never:
		h.Never++
	}
}

// A kind says what a rule did at the most.
type kind int

const (
	decided kind = iota
	onlyMatched
	never
)

// kinds is how many there are.
const kinds = 3

// kind returns what the rule did.
func (r *Rule) kind() kind {
	switch {
	case r.Decided.Requests > 0:
		return decided
	case r.Matched.Requests > 0:
		return onlyMatched
	}
	return never
}

// head returns the Head without the counts of rules.
func (c *Counter) head() Head {
	h := Head{
		Kind: "log", Inputs: []string{}, Agents: []string{}, Requests: c.requests, Verdicts: c.verdicts, Ruled: c.withRules,
		From: moment(c.from), To: moment(c.to), Exact: c.urls.Exact(),
	}
	if c.from > c.to {
		h.From, h.To = nil, nil
	}
	if !c.byRow {
		h.Agents = c.store.Options().Agents
	}
	for _, f := range c.files {
		h.Files++
		h.Origins += len(f.sites)
	}
	h.Unmet = max(0, c.store.InForce()-h.Origins)
	return h
}

// A File is a robots.txt that was in force for requests.
type File struct {
	Origin   robots.Origin   // the first in order of those that have it, and were requested
	Sites    []engine.SiteID // of all of these
	Versions int             // how many files have this Origin in the course of the log
	Requests int64
	Rules    []Rule // by agent and line
}

// Busiest returns the files with the most requests, and how many others there are.
func (c *Counter) Busiest(most int) (busiest []File, more int) {
	files, versions := c.sorted(), map[robots.Origin]int{}
	for _, f := range files {
		versions[f.origin]++
	}
	slices.SortStableFunc(files, func(a, b *file) int { return cmp.Compare(b.rows, a.rows) })
	if len(files) > most {
		files, more = files[:most], len(files)-most
	}
	for _, f := range files {
		busiest = append(busiest, File{f.origin, f.sites, versions[f.origin], f.rows, slices.Concat(c.parts(f)...)})
	}
	return busiest, more
}

// Rules yields the rules of all files that were met, those of one after the other, in the order of
// their origins, agents and lines. A Rule is valid until the next.
func (c *Counter) Rules() iter.Seq[*Rule] {
	files := c.sorted()
	return func(yield func(*Rule) bool) {
		for _, f := range files {
			for _, p := range c.parts(f) {
				for i := range p {
					if !yield(&p[i]) {
						return
					}
				}
			}
		}
	}
}

// sorted returns the files in the order of their origins.
func (c *Counter) sorted() []*file {
	files := make([]*file, 0, len(c.files))
	for _, f := range c.files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *file) int { return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.id, b.id)) })
	return files
}

// parts returns the rules of a file, by agent if that is asked for.
func (c *Counter) parts(f *file) (parts [][]Rule) {
	sets := slices.Clone(f.sets)
	slices.SortFunc(sets, func(a, b *set) int { return cmp.Compare(a.agent, b.agent) })
	names := c.store.Options().Agents
	if !c.opt.ByAgent {
		t := newTally()
		for _, s := range sets {
			t.add(c, f, s, int64(s.weight(c)))
		}
		return [][]Rule{t.finish(f, nil)}
	}
	for agent := range names {
		for _, s := range sets {
			if f.sharer[agent] == s {
				t := newTally()
				t.add(c, f, s, 1)
				parts = append(parts, t.finish(f, &names[agent]))
			}
		}
	}
	return parts
}

// weight returns how many agents each request of a set counts for.
func (s *set) weight(c *Counter) int {
	if c.byRow {
		return 1
	}
	return s.sharers
}

// A tally adds up what the rules of one file did.
type tally struct {
	lines map[int32]*Rule
	won   map[[2]int32]int64 // requests by line that matched and line that decided
	asked map[asker]int64
}

// An asker is a crawler whose requests a line decided.
type asker struct {
	line  int32
	agent int
}

func newTally() *tally {
	return &tally{map[int32]*Rule{}, map[[2]int32]int64{}, map[asker]int64{}}
}

// add adds the outcomes of a set, each request so many times.
func (t *tally) add(c *Counter, f *file, s *set, weight int64) {
	rules, _ := c.look.Rules(f.id, s.agent)
	for i := range rules {
		if t.lines[rules[i].Line] == nil {
			t.lines[rules[i].Line] = &Rule{Kind: "rule", Line: rules[i].Line, Allow: rules[i].Allow, Rule: fieldtext.Valid(rules[i].String()), WonBy: []Winner{}}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.outcomes)) { // sums of errors depend on the order
		o := s.outcomes[key]
		requests, urls := weight*c.urls.Requests(o.group), c.urls.Distinct(o.group)
		if o.decider != engine.NoRule {
			t.lines[rules[o.decider].Line].Decided.add(o, requests, urls)
			for _, n := range c.askers(f, s, o) {
				t.asked[asker{rules[o.decider].Line, n.Agent}] += n.Requests
			}
		}
		for _, n := range o.others {
			line := rules[n].Line
			t.lines[line].Matched.add(o, requests, urls)
			if o.decider != engine.NoRule {
				t.won[[2]int32{line, rules[o.decider].Line}] += requests
			}
		}
	}
}

// askers returns the requests of an outcome by crawler, without Options.Deciders none. Crawlers that are
// asked for have all of them.
func (c *Counter) askers(f *file, s *set, o *outcome) (all []Asked) {
	if !c.opt.Deciders || c.byRow {
		return o.asked
	}
	for agent, of := range f.sharer {
		if of == s {
			all = append(all, Asked{agent, c.urls.Requests(o.group)})
		}
	}
	return all
}

// add adds an outcome.
func (n *Count) add(o *outcome, requests int64, urls aggregate.Estimate) {
	n.Requests += requests
	n.URLs += urls.N
	off := float64(urls.N) * urls.Error
	n.variance += off * off
	if o.first == noTime {
		return
	}
	if first := moment(o.first); n.First == nil || first.Before(*n.First) {
		n.First = first
	}
	if last := moment(o.last); n.Last == nil || last.After(*n.Last) {
		n.Last = last
	}
}

// finish returns the rules in the order of their lines.
func (t *tally) finish(f *file, agent *string) []Rule {
	for key, requests := range t.won {
		r := t.lines[key[0]]
		r.WonBy = append(r.WonBy, Winner{key[1], t.lines[key[1]].Rule, requests})
	}
	for key, requests := range t.asked {
		r := t.lines[key.line]
		r.Asked = append(r.Asked, Asked{key.agent, requests})
	}
	all := make([]Rule, 0, len(t.lines))
	for _, r := range t.lines {
		slices.SortFunc(r.Asked, func(a, b Asked) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Agent, b.Agent))
		})
		slices.SortFunc(r.WonBy, func(a, b Winner) int { return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Line, b.Line)) })
		r.WonBy = r.WonBy[:min(winners, len(r.WonBy))]
		r.Origin, r.Origins, r.Agent = string(f.origin), len(f.sites), agent
		for _, n := range []*Count{&r.Decided, &r.Matched} {
			if n.URLs > 0 {
				n.Error = math.Sqrt(n.variance) / float64(n.URLs)
			}
		}
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// moment returns a time.
func moment(micros int64) *time.Time {
	t := time.UnixMicro(micros).UTC()
	return &t
}
