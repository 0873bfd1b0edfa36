package coverage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Options say how to count. The zero value counts all agents together, in the usual memory.
type Options struct {
	ByAgent  bool
	Deciders bool  // count who asked for what a rule decided, see Rule.Asked; not with ByAgent
	URLs     int64 // bytes for distinct URLs; 0 is aggregate.DefaultMemory
	Counts   int64 // bytes for counts of rules; 0 is no limit
	Matchers int64 // bytes for matchers, beyond which all are dropped, and made again; 0 is 64 MiB
}

// ErrMemory is the error of a log that meets more rules than Options.Counts has room for.
var ErrMemory = errors.New("the rules that the log meets are too many to be counted in this memory")

// A Counter is a Sink that counts what rules do. Give it all batches of a run, and then ask it for the
// Report. It is for one goroutine.
type Counter struct {
	store   *engine.Store
	look    *engine.Lookup
	opt     Options
	dialect robots.Dialect
	agents  int  // verdicts of a row
	byRow   bool // each row has an agent of its own

	urls  *aggregate.URLs
	files map[engine.RulingID]*file
	sites []uint64 // bit set of those met
	size  int64    // bytes of counts, about
	sets  uint32   // sets that there are

	matchers    int64 // bytes
	maxMatchers int64
	memo        []memoEntry
	path        []byte
	matched     []int32
	key         []byte

	requests, verdicts, withRules int64
	from, to                      int64
}

// A file is a robots.txt that a row met: what is in force for it.
type file struct {
	id     engine.RulingID
	origin robots.Origin   // the first in order of those that have it
	site   engine.SiteID   // the last one that was compared
	sites  []engine.SiteID // those that have it, each in the file that it met first
	rows   int64
	sets   []*set // one for each agent that is counted for, as they were met
	sharer []*set // by agent, that which counts for it; nil if it was not met
}

// A set is the rules that bind an agent by a file.
type set struct {
	number   uint32
	agent    int // the first that has the rules; with Options.ByAgent and crawlers of the log, the one that they bind
	sharers  int // agents that have the rules, of those that are asked for
	rules    int
	outcomes map[string]*outcome
	matcher  *matcher // nil if it is not there, or not any more
	lines    []int32  // by number of a rule in verdicts, the index of the first rule of its line; with the matcher
}

// An outcome is the requests on which the same rules match, and the same one decides. Requests and
// URLs are those of its group.
type outcome struct {
	group       aggregate.Group
	decider     int32 // the number of a rule, engine.NoRule if none decides
	others      []int32
	first, last int64 // microseconds; noTime if there is none

	// asked are the requests by crawler of the log, about those with the most first; only with
	// Options.Deciders.
	asked []Asked
}

// An Asked is the requests of a crawler: that of the log, or one that is asked for.
type Asked struct {
	Agent    int // index of the agents of the store
	Requests int64
}

// ask counts a request of a crawler, and reports whether it is a new one.
func (o *outcome) ask(agent int) (isNew bool) {
	for i := range o.asked {
		if o.asked[i].Agent != agent {
			continue
		}
		o.asked[i].Requests++
		if i > 0 && o.asked[i].Requests > o.asked[i-1].Requests { // so that few are looked at
			o.asked[i-1], o.asked[i] = o.asked[i], o.asked[i-1]
		}
		return false
	}
	o.asked = append(o.asked, Asked{agent, 1})
	return true
}

// A memoEntry is the outcome of a URL that was met lately.
type memoEntry struct {
	hash uint64
	set  uint32
	what *outcome
}

const (
	memoSize     = 1 << 14
	noTime       = math.MinInt64
	sizeFile     = 270
	sizeSite     = 8 // a list that grows has room for twice as many
	sizeSet      = 180
	sizeOutcome  = 184 // with its group and its place in a map
	sizeOutcomeN = 4 * 3
	sizeAsked    = 2 * 16 // a list that grows has room for twice as many
)

// NewCounter returns a Counter of a run.
func NewCounter(store *engine.Store, opt Options) *Counter {
	o := store.Options()
	c := &Counter{
		store: store, look: store.NewLookup(), opt: opt, maxMatchers: cmp.Or(opt.Matchers, 64<<20), dialect: o.Dialect, agents: len(o.Agents),
		byRow: o.LogAgents != engine.LogAgentsOff, urls: aggregate.NewURLs(opt.URLs),
		files: map[engine.RulingID]*file{}, sites: make([]uint64, (store.NumSites()+63)/64),
		memo: make([]memoEntry, memoSize), from: math.MaxInt64, to: math.MinInt64,
	}
	if c.byRow {
		c.agents = 1
	}
	return c
}

// Close does nothing.
func (c *Counter) Close() error { return nil }

// Write counts a batch.
func (c *Counter) Write(b *engine.Batch) error {
	c.look.Use(b)
	c.requests += int64(b.Len())
	c.verdicts += int64(len(b.Verdicts))
	var f *file
	for i, id := range b.Rulings {
		if _, stray := b.Sites[i].Stray(); stray || b.Sites[i] == engine.NoSite {
			c.note(b, i)
			continue
		}
		if f == nil || f.id != id || f.site != b.Sites[i] {
			f = c.meet(id, b.Sites[i])
		}
		f.rows++
		at := c.note(b, i)
		c.row(b, i, f, at)
	}
	if c.opt.Counts > 0 && c.size > c.opt.Counts {
		return ErrMemory
	}
	return c.store.Err()
}

// note notes the time of a row, and returns it.
func (c *Counter) note(b *engine.Batch, row int) int64 {
	if len(b.Times) == 0 || b.Times[row] == noTime {
		return noTime
	}
	at := b.Times[row]
	c.from, c.to = min(c.from, at), max(c.to, at)
	return at
}

// meet returns the file in force for a row.
func (c *Counter) meet(id engine.RulingID, site engine.SiteID) *file {
	f := c.files[id]
	if f == nil {
		f = &file{id: id, origin: c.look.Origin(site), site: site, sharer: make([]*set, len(c.store.Options().Agents))}
		c.files[id] = f
		c.size += sizeFile + 8*int64(len(f.sharer))
	}
	if bit := uint64(1) << (site % 64); c.sites[site/64]&bit == 0 {
		c.sites[site/64] |= bit
		f.sites = append(f.sites, site)
		c.size += sizeSite
	}
	if f.site != site {
		f.site = site
		f.origin = min(f.origin, c.look.Origin(site))
	}
	return f
}

// row counts a row.
func (c *Counter) row(b *engine.Batch, row int, f *file, at int64) {
	ruled, hash := false, uint64(0)
	for a, v := range b.Verdicts[row*c.agents:][:c.agents] {
		switch v.Reason {
		case engine.ReasonRule, engine.ReasonDefault, engine.ReasonUndefined:
		default:
			continue
		}
		agent := a
		if c.byRow {
			agent = int(b.Agents[row])
		}
		s := f.sharer[agent]
		if s == nil {
			s = c.newSet(f, agent)
		}
		ruled = true
		if s.rules == 0 || !c.byRow && s.agent != agent {
			continue
		}
		if hash == 0 {
			hash = aggregate.Hash(b.URL(row))
		}
		m := &c.memo[(hash^uint64(s.number)*0x9e3779b97f4a7c15)>>20%memoSize]
		if m.hash != hash || m.set != s.number {
			*m = memoEntry{hash, s.number, c.outcome(b.URL(row), f, s, v.Rule)}
		}
		o := m.what
		c.urls.Add(o.group, hash)
		if c.byRow && c.opt.Deciders && o.ask(agent) {
			c.size += sizeAsked
		}
		if at != noTime {
			if o.first == noTime {
				o.first, o.last = at, at
			}
			o.first, o.last = min(o.first, at), max(o.last, at)
		}
	}
	if ruled {
		c.withRules++
	}
}

// newSet returns the set of an agent that is met first.
func (c *Counter) newSet(f *file, agent int) *set {
	rules, first := c.look.Rules(f.id, agent)
	counted := first
	if c.byRow && c.opt.ByAgent {
		counted = agent
	}
	for _, s := range f.sets {
		if s.agent == counted {
			s.sharers++
			f.sharer[agent] = s
			return s
		}
	}
	c.sets++
	s := &set{number: c.sets, agent: counted, sharers: 1, rules: len(rules), outcomes: map[string]*outcome{}}
	f.sets, f.sharer[agent] = append(f.sets, s), s
	c.size += sizeSet
	return s
}

// outcome returns the outcome of a URL, by the number of the rule that decides.
func (c *Counter) outcome(url []byte, f *file, s *set, rule int32) *outcome {
	if s.matcher == nil {
		c.addMatcher(f, s)
	}
	if rule != engine.NoRule {
		rule = s.lines[rule]
	}
	var raw []byte
	if u, err := robots.SplitURL(url); err == nil {
		raw = url[len(u.Prefix):]
	}
	path, buf := c.dialect.Path(raw, c.path)
	c.path = buf
	c.matched = s.matcher.match(path, c.matched[:0])
	c.key = binary.LittleEndian.AppendUint32(c.key[:0], uint32(rule))
	for _, n := range c.matched {
		c.key = binary.LittleEndian.AppendUint32(c.key, uint32(n))
	}
	o := s.outcomes[string(c.key)]
	if o == nil {
		others := slices.DeleteFunc(slices.Clone(c.matched), func(n int32) bool { return n == rule })
		o = &outcome{group: c.urls.NewGroup(), decider: rule, others: others, first: noTime, last: noTime}
		s.outcomes[string(c.key)] = o
		c.size += sizeOutcome + sizeOutcomeN*int64(len(c.matched))
	}
	return o
}

// addMatcher makes the matcher of a set. Matchers that take too much together are dropped first.
func (c *Counter) addMatcher(f *file, s *set) {
	if c.matchers > c.maxMatchers {
		c.dropMatchers()
	}
	rules, _ := c.look.Rules(f.id, s.agent)
	s.lines = linesOf(rules)
	s.matcher = newMatcher(rules, s.lines, c.dialect)
	c.matchers += s.matcher.size
}

// dropMatchers drops all matchers.
func (c *Counter) dropMatchers() {
	for _, f := range c.files {
		for _, s := range f.sets {
			s.matcher, s.lines = nil, nil
		}
	}
	c.matchers = 0
}

// linesOf returns, for each rule, the first rule of the same line: a rule may have two patterns.
func linesOf(rules []robots.Rule) []int32 {
	lines := make([]int32, len(rules))
	byLine := make(map[int32]int32, len(rules))
	for i, r := range rules {
		first, known := byLine[r.Line]
		if !known {
			first = int32(i)
			byLine[r.Line] = first
		}
		lines[i] = first
	}
	return lines
}
