package aggregate

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// RulesOptions configure Rules. The zero value counts all agents together, without a memory limit.
type RulesOptions struct {
	ByAgent  bool
	Matchers int64 // bytes for matchers: when exceeded, all matchers are dropped and rebuilt as needed; 0 means 64 MiB

	// Memory is the approximate limit of the counts in bytes; 0 means no limit. When a third of it is taken, no new
	// robots.txt is counted. When all of it is taken, no new combination of rules is counted: only the rule that
	// decides, which takes some 200 bytes each.
	Memory int64
}

// Rules count the effects of the rules of robots.txt on requests: for each rule, the requests that it decided, and
// those that it only matched.
type Rules struct {
	store   *engine.Store
	look    *engine.Lookup
	opt     RulesOptions
	dialect robots.Dialect
	byRow   bool // whether each row has an agent of its own

	files    map[engine.RulingID]*RuleFile
	sites    []uint64 // bit set of those met
	several  bool     // whether a site may have several files: those in force at the times of the rows
	size     int64    // bytes of counts, about
	sets     uint32   // sets that there are
	outcomes uint32   // outcomes that there are
	left     bool     // whether some matches were not counted because memory was full

	matchers    int64 // bytes
	maxMatchers int64
	path        []byte
	matched     []int32
	key         []byte
}

// A RuleFile is a robots.txt that was in force for a row.
type RuleFile struct {
	Requests int64 // for the caller to count

	id     engine.RulingID
	origin robots.Origin              // the first, in byte order, of the origins that have it
	lead   engine.SiteID              // the site of origin
	site   engine.SiteID              // the last one that was compared
	sites  []engine.SiteID            // those that have it
	met    map[engine.SiteID]struct{} // the sites, if a site may have several files
	sets   []*RuleSet                 // one for each different list of rules, in the order in which they were met
	sharer []*RuleSet                 // by agent: the set that counts its requests; nil if the agent was not met
	named  map[int]*RuleSet           // the same, for crawlers of the log that only the file names

	span
}

// Ruling returns the number of the text.
func (f *RuleFile) Ruling() engine.RulingID { return f.id }

// A span is the time from the first to the last request, in microseconds since 1970. It begins as noSpan.
type span struct{ first, last int64 }

// noSpan is the span without requests, or of requests without a time.
var noSpan = span{engine.NoTime, engine.NoTime}

// AddTime adds the time of a request.
func (s *span) AddTime(at int64) {
	if s.first == engine.NoTime {
		s.first = at
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
}

// Is reports whether this file is in force for a row with the given text and site, and the site was already added to
// it.
func (f *RuleFile) Is(id engine.RulingID, site engine.SiteID) bool {
	return f.id == id && f.site == site
}

// A RuleSet is the rules that a file has for an agent. Agents with the same rules share one set.
type RuleSet struct {
	Number   uint32 // from 1
	agent    int    // the first agent with these rules; with RulesOptions.ByAgent and crawlers of the log, the only one
	sharers  int    // number of agents with these rules that are counted by this set
	rules    int
	outcomes map[string]*Outcome
	last     *Outcome // that was asked for
	lastKey  []byte
	matcher  *matcher // nil before it is made, and after it was dropped
	lines    []int32  // by number of a rule in verdicts, the index of the first rule on the same line; set together with the matcher
}

// An Outcome counts the requests on which the same rules match and the same rule decides.
type Outcome struct {
	Requests int64 // set by the caller, or by AddURL
	Failed   int64 // those of Requests with a 4xx or 5xx response; set by the caller, like Bytes
	Bytes    int64 // of the answers
	Group    Group // of its URLs, for callers that count distinct URLs with URLs, see CountURLs; 0 means none
	span
	Number  uint32  // from 1
	decider int32   // the number of the rule that decides, engine.NoRule if none does
	others  []int32 // that match
	asked   []Asked // by crawler of the log, approximately those with the most requests first, see Rules.Ask
	urls    URLCount
}

// AddURL adds the requests for one URL, by its Number in the order of [Requests.EachURL].
func (o *Outcome) AddURL(requests, number int64) {
	o.Requests += requests
	o.urls.AddURL(number)
}

// CountURLs sets the number of distinct URLs of each outcome from u, by the outcome's Group. Call it after u.Finish.
func (r *Rules) CountURLs(u *URLs) {
	for _, f := range r.files {
		for _, s := range f.sets {
			for _, o := range s.outcomes {
				o.urls.N = u.Distinct(o.Group)
			}
		}
	}
}

// An Asked counts the requests of a crawler, named in the log or by -agent.
type Asked struct {
	Agent    int // index in the agents of the store, or the number that was passed to Rules.Ask
	Requests int64
}

// ByRow reports whether each row has its own agent, which is a crawler of the log.
func (r *Rules) ByRow() bool { return r.byRow }

// Ask adds requests of an outcome to a crawler of the log.
func (r *Rules) Ask(o *Outcome, agent int, requests int64) {
	for i := range o.asked {
		if o.asked[i].Agent != agent {
			continue
		}
		o.asked[i].Requests += requests
		if i > 0 && o.asked[i].Requests > o.asked[i-1].Requests { // so that few are looked at
			o.asked[i-1], o.asked[i] = o.asked[i], o.asked[i-1]
		}
		return
	}
	o.asked = append(o.asked, Asked{agent, requests})
	r.size += sizeAsked
}

const (
	sizeFile     = 300
	sizeSite     = 8  // a growing list has room for twice as many
	sizeMet      = 40 // a growing map has room for twice as many, too
	sizeSet      = 240
	sizeOutcome  = 218 // with its place in a map
	sizeOutcomeN = 4 * 3
	sizeAsked    = 2 * 16 // a growing list has room for twice as many
)

// NewRules returns empty counts for a run with a store, which must outlive them.
func NewRules(store *engine.Store, opt RulesOptions) *Rules {
	o := store.Options()
	return &Rules{
		store: store, look: store.NewLookup(), opt: opt, maxMatchers: cmp.Or(opt.Matchers, 64<<20), dialect: o.Dialect,
		byRow: o.LogAgents != engine.LogAgentsOff, files: map[engine.RulingID]*RuleFile{}, sites: make([]uint64, (store.NumSites()+63)/64),
		several: o.RowTimes,
	}
}

// Use makes the following calls refer to the rows of a batch.
func (r *Rules) Use(b *engine.Batch) { r.look.Use(b) }

// Size returns the approximate size of the counts in bytes.
func (r *Rules) Size() int64 { return r.size }

// Left reports whether some matches of rules that did not decide were not counted, because memory was full.
func (r *Rules) Left() bool { return r.left }

// File returns the file in force for a row at a site that the store knows; nil if it cannot be counted because memory
// is full.
func (r *Rules) File(id engine.RulingID, site engine.SiteID) *RuleFile {
	f := r.files[id]
	if f == nil {
		if r.opt.Memory > 0 && r.size > r.opt.Memory/3 {
			return nil // the rest is for combinations of rules
		}
		f = &RuleFile{id: id, origin: r.look.Origin(site), lead: site, site: site, span: noSpan, sharer: make([]*RuleSet, len(r.store.Options().Agents))}
		r.files[id] = f
		r.size += sizeFile + 8*int64(len(f.sharer))
	}
	// Add the site to those that have the file, unless it was already added.
	bit := uint64(1) << (site % 64)
	isNew := r.sites[site/64]&bit == 0
	r.sites[site/64] |= bit
	if r.several {
		_, met := f.met[site]
		if isNew = !met; isNew {
			if f.met == nil {
				f.met = map[engine.SiteID]struct{}{}
			}
			f.met[site] = struct{}{}
			r.size += sizeMet
		}
	}
	if isNew {
		f.sites = append(f.sites, site)
		r.size += sizeSite
	}
	if f.site != site {
		f.site = site
		if origin := r.look.Origin(site); origin < f.origin {
			f.origin, f.lead = origin, site
		}
	}
	return f
}

// Set returns the rules that a file has for an agent. ruled is false if the verdict does not come from rules. The set
// is nil if the file has no rules for the agent, or if the verdict of another agent with the same rules is counted
// instead.
func (r *Rules) Set(f *RuleFile, agent int, v engine.Verdict) (s *RuleSet, ruled bool) {
	switch v.Reason {
	case engine.ReasonRule, engine.ReasonDefault, engine.ReasonUndefined:
	default:
		return nil, false
	}
	if agent < len(f.sharer) {
		s = f.sharer[agent]
	} else {
		s = f.named[agent]
	}
	if s == nil {
		// The agent was not met before. It may have the same rules as others.
		rules, counted := r.look.Rules(f.id, agent)
		if r.byRow && r.opt.ByAgent {
			counted = agent
		}
		if i := slices.IndexFunc(f.sets, func(s *RuleSet) bool { return s.agent == counted }); i >= 0 {
			s = f.sets[i]
		} else {
			r.sets++
			s = &RuleSet{Number: r.sets, agent: counted, rules: len(rules), outcomes: map[string]*Outcome{}}
			f.sets = append(f.sets, s)
			r.size += sizeSet
		}
		s.sharers++
		f.share(agent, s)
	}
	if s.rules == 0 || !r.byRow && s.agent != agent {
		return nil, true
	}
	return s, true
}

// share stores the set that counts the requests of an agent.
func (f *RuleFile) share(agent int, s *RuleSet) {
	if agent < len(f.sharer) {
		f.sharer[agent] = s
		return
	}
	if f.named == nil {
		f.named = map[int]*RuleSet{}
	}
	f.named[agent] = s
}

// Outcome returns the outcome of a URL, given the number of the rule that decides. The first prefix bytes of the URL
// are not part of the path, see [robots.SplitURL].
func (r *Rules) Outcome(url []byte, prefix int, f *RuleFile, s *RuleSet, rule int32) *Outcome {
	if r.matched = r.matched[:0]; rule != engine.NoRule { // otherwise none matches
		if s.matcher == nil {
			r.makeMatcher(f, s)
		}
		rule = s.lines[rule]
		var path []byte
		path, r.path = r.dialect.Path(url[prefix:], r.path)
		r.matched = s.matcher.match(path, r.matched)
	}
	if o := r.known(s, rule); o != nil {
		return o
	}
	if r.opt.Memory > 0 && r.size > r.opt.Memory {
		r.left, r.matched = true, r.matched[:0]
		if o := r.known(s, rule); o != nil {
			return o
		}
	}
	r.outcomes++
	o := &Outcome{Number: r.outcomes, decider: rule, span: noSpan}
	o.others = slices.DeleteFunc(slices.Clone(r.matched), func(n int32) bool { return n == rule })
	s.outcomes[string(r.key)] = o
	r.size += sizeOutcome + sizeOutcomeN*int64(len(r.matched))
	return o
}

// makeMatcher creates the matcher of a set. If all matchers together take too much memory, it drops the others first.
func (r *Rules) makeMatcher(f *RuleFile, s *RuleSet) {
	if r.matchers > r.maxMatchers {
		r.dropMatchers()
	}
	rules, _ := r.look.Rules(f.id, s.agent)
	// Map each rule to the first rule on the same line: a line may have two patterns.
	s.lines = make([]int32, len(rules))
	byLine := make(map[int32]int32, len(rules))
	for i, r := range rules {
		if _, known := byLine[r.Line]; !known {
			byLine[r.Line] = int32(i)
		}
		s.lines[i] = byLine[r.Line]
	}
	s.matcher = newMatcher(rules, s.lines, r.dialect)
	r.matchers += s.matcher.size
}

// known returns the outcome of a deciding rule and the rules that match; nil if it is new.
func (r *Rules) known(s *RuleSet, rule int32) *Outcome {
	r.key = binary.LittleEndian.AppendUint32(r.key[:0], uint32(rule))
	for _, n := range r.matched {
		r.key = binary.LittleEndian.AppendUint32(r.key, uint32(n))
	}
	if s.last == nil || string(s.lastKey) != string(r.key) {
		o := s.outcomes[string(r.key)]
		if o == nil {
			return nil
		}
		s.last, s.lastKey = o, append(s.lastKey[:0], r.key...)
	}
	return s.last
}

// dropMatchers drops all matchers.
func (r *Rules) dropMatchers() {
	for _, f := range r.files {
		for _, s := range f.sets {
			s.matcher, s.lines = nil, nil
		}
	}
	r.matchers = 0
}

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

	WonBy []Winner // the rules that decided the requests of Matched: at most three, most requests first

	// Asked are the requests of Decided by crawler, most first. Crawlers of the log are counted by Rules.Ask.
	Asked []Asked
}

// Matches are the requests on which a rule matched.
type Matches struct {
	Requests    int64
	URLs        int64      // distinct ones
	Failed      int64      // those of Requests with a 4xx or 5xx response, if the outcomes count them; Bytes are also counted only then
	Bytes       int64      // of the answers
	First, Last *time.Time // nil if no request has a time
}

// A Winner is a rule that decided requests on which another rule matched.
type Winner struct {
	Line     int32
	Rule     string // as written, in any bytes
	Requests int64
}

// winners is the maximum number of Winners of a RuleCount.
const winners = 3

// NumFiles returns the number of robots.txt files that were in force for rows, and the number of origins that have
// them.
func (r *Rules) NumFiles() (files, origins int) {
	for _, word := range r.sites {
		origins += bits.OnesCount64(word)
	}
	return len(r.files), origins
}

// A BusyFile is a robots.txt that was in force for requests.
type BusyFile struct {
	Origin   robots.Origin   // the first, in byte order, of the origins that have it and were requested
	Sites    []engine.SiteID // of all of these
	Versions int             // number of files that this Origin had in the course of the log
	Requests int64
	Rules    []RuleCount // by agent and line

	Ruling      engine.RulingID
	First, Last *time.Time // times of the requests; nil if AddTime was not called
}

// versions returns, for each site that is the first one of a file, the number of files of that site.
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

// Busiest returns the files with the most requests, and the number of other files.
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

// All yields the rules of all files that were met, in the order of their origins, agents and lines. A RuleCount is
// valid until the next one is yielded.
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

// sorted returns the files by origin.
func (r *Rules) sorted() []*RuleFile {
	files := slices.Collect(maps.Values(r.files))
	slices.SortFunc(files, func(a, b *RuleFile) int { return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.id, b.id)) })
	return files
}

// parts returns the rule counts of a file, one part per agent if RulesOptions.ByAgent is set.
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

// A tally sums the effects of one file's rules.
type tally struct {
	lines map[int32]*RuleCount
	won   map[[2]int32]int64 // requests by pair of lines: one that matched, one that decided
	asked map[asker]int64
}

// An asker is a crawler, with the requests that a line decided for it.
type asker struct {
	line  int32
	agent int
}

func newTally() *tally {
	return &tally{map[int32]*RuleCount{}, map[[2]int32]int64{}, map[asker]int64{}}
}

// addSet adds the outcomes of a set; each request counts the given number of times.
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

// askers returns the requests of an outcome by crawler. With crawlers from -agent, each of them has all requests of
// the outcome.
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

// addOutcome adds an outcome; each request counts the given number of times.
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
