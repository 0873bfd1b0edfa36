package aggregate

import (
	"cmp"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A RuleCount counts the effects of a rule. A request counts once for each agent that the rule binds.
type RuleCount struct {
	Origin  robots.Origin
	Origins int     // that have this robots.txt, and were requested
	Agent   *string // nil unless it is counted by agent
	Line    int32
	Allow   bool
	Rule    string // as written, in any bytes

	Decided Matches
	Matched Matches // without deciding

	WonBy []Winner // those decided then, at most three, the most requests first

	// Asked are the requests of Decided by crawler, those with the most first. For crawlers of the log
	// they are those that Rules.Ask was told.
	Asked []Asked
}

// Matches are the requests on which a rule matched.
type Matches struct {
	Requests    int64
	URLs        int64      // distinct ones
	Failed      int64      // of Requests, those answered by 4xx or 5xx, as far as Outcomes have them, as Bytes
	Bytes       int64      // of the answers
	First, Last *time.Time // nil if no request has a time
}

// A Winner is a rule that decided in place of another.
type Winner struct {
	Line     int32
	Rule     string // as written, in any bytes
	Requests int64
}

// winners is how many Winners a RuleCount names.
const winners = 3

// NumFiles returns how many robots.txt were in force for rows, and how many origins have them.
func (r *Rules) NumFiles() (files, origins int) {
	for _, word := range r.sites {
		origins += bits.OnesCount64(word)
	}
	return len(r.files), origins
}

// A BusyFile is a robots.txt that was in force for requests.
type BusyFile struct {
	Origin   robots.Origin   // the first in order of those that have it, and were requested
	Sites    []engine.SiteID // of all of these
	Versions int             // how many files this Origin has in the course of the log
	Requests int64
	Rules    []RuleCount // by agent and line

	Ruling      engine.RulingID
	First, Last *time.Time // of the requests; nil if RuleFile.Met was not told of any
}

// versions returns how many files the sites have that are the first of a file.
func (r *Rules) versions() map[engine.SiteID]int {
	n := map[engine.SiteID]int{}
	for _, f := range r.files {
		n[f.lead] = 0
	}
	for _, f := range r.files {
		for _, site := range f.sites {
			if _, leads := n[site]; leads {
				n[site]++
			}
		}
	}
	return n
}

// Busiest returns the files with the most requests, and how many others there are.
func (r *Rules) Busiest(most int) (busiest []BusyFile, more int) {
	files, versions := r.sorted(), r.versions()
	slices.SortStableFunc(files, func(a, b *RuleFile) int { return cmp.Compare(b.Requests, a.Requests) })
	if len(files) > most {
		files, more = files[:most], len(files)-most
	}
	for _, f := range files {
		busy := BusyFile{Origin: f.origin, Sites: f.sites, Versions: versions[f.lead], Requests: f.Requests, Rules: slices.Concat(r.parts(f)...), Ruling: f.id}
		if f.first != engine.NoTime {
			busy.First, busy.Last = moment(f.first), moment(f.last)
		}
		busiest = append(busiest, busy)
	}
	return busiest, more
}

// All yields the rules of all files that were met, file after file, in the order of their
// origins, agents and lines. A RuleCount is valid until the next.
func (r *Rules) All() iter.Seq[*RuleCount] {
	files := r.sorted()
	return func(yield func(*RuleCount) bool) {
		for _, f := range files {
			for _, p := range r.parts(f) {
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
func (r *Rules) sorted() []*RuleFile {
	files := slices.Collect(maps.Values(r.files))
	slices.SortFunc(files, func(a, b *RuleFile) int { return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.id, b.id)) })
	return files
}

// parts returns the rules of a file, by agent if that is asked for.
func (r *Rules) parts(f *RuleFile) (parts [][]RuleCount) {
	sets := slices.Clone(f.sets)
	slices.SortFunc(sets, func(a, b *RuleSet) int { return cmp.Compare(a.agent, b.agent) })
	names := r.store.Options().Agents
	if !r.opt.ByAgent {
		t := newTally()
		for _, s := range sets {
			t.addSet(r, f, s, int64(s.weight(r)))
		}
		return [][]RuleCount{t.finish(f, nil)}
	}
	for agent := range names {
		for _, s := range sets {
			if f.sharer[agent] == s {
				t := newTally()
				t.addSet(r, f, s, 1)
				parts = append(parts, t.finish(f, &names[agent]))
			}
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(f.named)) {
		t, name := newTally(), r.look.AgentName(f.id, agent)
		t.addSet(r, f, f.named[agent], 1)
		parts = append(parts, t.finish(f, &name))
	}
	return parts
}

// weight returns how many agents each request of a set counts for.
func (s *RuleSet) weight(r *Rules) int {
	if r.byRow {
		return 1
	}
	return s.sharers
}

// A tally adds up the effects of one file's rules.
type tally struct {
	lines map[int32]*RuleCount
	won   map[[2]int32]int64 // requests by line that matched and line that decided
	asked map[asker]int64
}

// An asker is a crawler whose requests a line decided.
type asker struct {
	line  int32
	agent int
}

func newTally() *tally {
	return &tally{map[int32]*RuleCount{}, map[[2]int32]int64{}, map[asker]int64{}}
}

// addSet adds the outcomes of a set, each request so many times.
func (t *tally) addSet(r *Rules, f *RuleFile, s *RuleSet, weight int64) {
	rules, _ := r.look.Rules(f.id, s.agent)
	for i := range rules {
		if t.lines[rules[i].Line] == nil {
			t.lines[rules[i].Line] = &RuleCount{Line: rules[i].Line, Allow: rules[i].Allow, Rule: rules[i].String()}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.outcomes)) { // sums of errors depend on the order
		o := s.outcomes[key]
		if o.decider != engine.NoRule {
			t.lines[rules[o.decider].Line].Decided.addOutcome(o, weight)
			for _, n := range r.askers(f, s, o) {
				t.asked[asker{rules[o.decider].Line, n.Agent}] += n.Requests
			}
		}
		for _, n := range o.others {
			line := rules[n].Line
			t.lines[line].Matched.addOutcome(o, weight)
			if o.decider != engine.NoRule {
				t.won[[2]int32{line, rules[o.decider].Line}] += weight * o.Requests
			}
		}
	}
}

// askers returns the requests of an outcome by crawler. Crawlers that are asked for have all of them.
func (r *Rules) askers(f *RuleFile, s *RuleSet, o *Outcome) (all []Asked) {
	if r.byRow {
		return o.asked
	}
	for agent, of := range f.sharer {
		if of == s {
			all = append(all, Asked{agent, o.Requests})
		}
	}
	return all
}

// addOutcome adds an outcome, each request so many times.
func (m *Matches) addOutcome(o *Outcome, weight int64) {
	m.Requests += weight * o.Requests
	m.URLs += o.urls.N
	m.Failed += weight * o.Failed
	m.Bytes += weight * o.Bytes
	if o.first == engine.NoTime {
		return
	}
	if first := moment(o.first); m.First == nil || first.Before(*m.First) {
		m.First = first
	}
	if last := moment(o.last); m.Last == nil || last.After(*m.Last) {
		m.Last = last
	}
}

// finish returns the rules in the order of their lines.
func (t *tally) finish(f *RuleFile, agent *string) []RuleCount {
	for key, requests := range t.won {
		r := t.lines[key[0]]
		r.WonBy = append(r.WonBy, Winner{key[1], t.lines[key[1]].Rule, requests})
	}
	for key, requests := range t.asked {
		r := t.lines[key.line]
		r.Asked = append(r.Asked, Asked{key.agent, requests})
	}
	all := make([]RuleCount, 0, len(t.lines))
	for _, r := range t.lines {
		slices.SortFunc(r.Asked, func(a, b Asked) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Agent, b.Agent))
		})
		slices.SortFunc(r.WonBy, func(a, b Winner) int { return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Line, b.Line)) })
		r.WonBy = r.WonBy[:min(winners, len(r.WonBy))]
		r.Origin, r.Origins, r.Agent = f.origin, len(f.sites), agent
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b RuleCount) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// moment returns a time.
func moment(micros int64) *time.Time {
	t := time.UnixMicro(micros).UTC()
	return &t
}
