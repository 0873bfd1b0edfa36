package coverage

import (
	"iter"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/internal/fieldtext"
)

// A Rule is the counts of a rule. A request counts once for each agent that the rule binds.
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

	WonBy []Winner `json:"won_by"` // the rules that decided then, at most three, the most requests first
}

// A Count counts requests.
type Count struct {
	Requests int64      `json:"requests"`
	URLs     int64      `json:"urls"`  // distinct ones
	First    *time.Time `json:"first"` // null if no request has a time
	Last     *time.Time `json:"last"`
}

// A Winner is a rule that decided in place of another.
type Winner struct {
	Line     int32  `json:"line"`
	Rule     string `json:"rule"`
	Requests int64  `json:"requests"`
}

// A Head is the counts in all.
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
}

// Head returns the counts in all.
func (c *Counter) Head() Head {
	h := c.head()
	for r := range c.Rules() {
		h.addRule(r)
	}
	return h
}

// addRule counts a rule.
func (h *Head) addRule(r *Rule) {
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

// A kind is the most that a rule did.
type kind int

const (
	decided kind = iota
	onlyMatched
	never
)

// kinds is how many there are.
const kinds = 3

// kind returns the most that the rule did.
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
		From: moment(c.from), To: moment(c.to),
	}
	if c.from > c.to {
		h.From, h.To = nil, nil
	}
	if !c.byRow {
		h.Agents = c.store.Options().Agents
	}
	h.Files, h.Origins = c.rules.NumFiles()
	h.Unmet = max(0, c.store.InForce()-h.Origins)
	return h
}

// Rules yields the rules of all files that were met, those of one after the other, in the order of
// their origins, agents and lines. A Rule is valid until the next.
func (c *Counter) Rules() iter.Seq[*Rule] {
	all := c.rules.All()
	return func(yield func(*Rule) bool) {
		for r := range all {
			won := make([]Winner, 0, len(r.WonBy))
			for _, w := range r.WonBy {
				won = append(won, Winner{w.Line, fieldtext.Valid(w.Rule), w.Requests})
			}
			if !yield(&Rule{
				Kind: "rule", Origin: string(r.Origin), Origins: r.Origins, Agent: r.Agent, Line: r.Line, Allow: r.Allow, Rule: fieldtext.Valid(r.Rule),
				Decided: newCount(&r.Decided), Matched: newCount(&r.Matched), WonBy: won,
			}) {
				return
			}
		}
	}
}

// newCount returns a count as the report has it.
func newCount(m *aggregate.Matches) Count {
	return Count{Requests: m.Requests, URLs: m.URLs, First: m.First, Last: m.Last}
}

// moment returns a time.
func moment(micros int64) *time.Time {
	t := time.UnixMicro(micros).UTC()
	return &t
}
