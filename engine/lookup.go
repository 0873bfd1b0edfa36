package engine

import (
	"bytes"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// unknownUsers is the number of goroutines, or of batches, that a memory limit is divided by if the real number is
// unknown.
const unknownUsers = 16

// A Lookup translates the numbers of a batch to names and rules. It is for one goroutine. Use [Store.NewLookup].
type Lookup struct {
	store  *Store
	reader rules.Reader
	common []*rules.Set
	drops  bool     // the store may have dropped rules
	copies *winners // of the current batch

	agents []robots.Agent // by number, for NoteOf; empty until requested

	scratch *automaton.Scratch // for Answer; nil until it is needed

	last       RulingID // argument of the last call of firstAgents; if the store drops rules, only for this batch
	lastFirsts []uint16 // result of that call
}

// NewLookup returns a Lookup for one goroutine.
func (s *Store) NewLookup() *Lookup { return s.newLookup(unknownUsers) }

func (s *Store) newLookup(goroutines int) *Lookup {
	return &Lookup{
		store: s, reader: s.rules.Reader(goroutines), common: s.rules.Common(), drops: s.rules.Budget(1) > 0, copies: new(winners),
	}
}

// Use makes the Lookup use the batch's copies of names and rules before the store. It has to be called again when
// the batch is reset.
func (m *Lookup) Use(b *Batch) {
	m.copies = &b.winners
	if m.drops {
		m.last, m.lastFirsts = rules.NoRuling, nil
	}
}

// Origin returns the name of a site of the store.
func (m *Lookup) Origin(id SiteID) robots.Origin {
	if o, ok := m.copies.origins[id]; ok {
		return o
	}
	return m.reader.Origin(uint32(id))
}

// AgentName returns the name of an agent by its number in a Batch. The number of an agent of [Store.Options] is its
// index there. With LogAgents, other numbers stand for crawlers that only a robots.txt names; their name is the
// token in lower case, and their number is valid only for the ruling.
func (m *Lookup) AgentName(id RulingID, agent int) string {
	if m.store.isKnown(agent) {
		return m.store.opt.Agents[agent]
	}
	if name, ok := m.copies.names[agentOf{id, agent}]; ok {
		return name
	}
	return m.reader.Ruling(id).NameOf(agent)
}

// ProofName returns the name of a proof in a Batch, with StoreOptions.Ranges: a list with its prefix, or a host.
func (m *Lookup) ProofName(p ranges.Proof) string { return m.store.opt.Ranges.ProofName(p) }

// FirstAgent returns the first agent with the same rules: the agent itself or an earlier one. If the store may have
// dropped the rules and the batch has no copy, it returns the agent itself.
func (m *Lookup) FirstAgent(id RulingID, agent int) int {
	if !m.store.isKnown(agent) {
		return agent
	}
	if firsts := m.firstAgents(id); firsts != nil {
		return int(firsts[agent])
	}
	return agent
}

// firstAgents returns, for each agent, the first agent with the same rules. It returns nil if the store may have
// dropped the rules and the batch has no copy. The caller must not change the result.
func (m *Lookup) firstAgents(id RulingID) []uint16 {
	if id != m.last {
		m.last = id
		if m.drops {
			m.lastFirsts = m.copies.firsts[id]
		} else {
			m.lastFirsts = m.reader.Ruling(id).Firsts
		}
	}
	return m.lastFirsts
}

// Rule returns the rule that won: its line, its value, and whether it allows. The rule is empty if the store has
// failed.
func (m *Lookup) Rule(id RulingID, agent int, rule int32) robots.Rule {
	if m.drops {
		if w, ok := m.copies.rules[winner{id, int32(m.FirstAgent(id, agent)), rule}]; ok && w.hasValue {
			return w.Rule
		}
	}
	return m.set(id, agent).Rule(rule)
}

// Note returns the first line of a directive of StoreOptions.Directives that binds an agent. ok is false if there
// is none. If the store drops rules, it may load them again.
func (m *Lookup) Note(id RulingID, agent int, directive robots.Directive) (note robots.Note, ok bool) {
	if id <= rules.NoRobots {
		return note, false
	}
	r := m.reader.Ruling(id)
	if r == nil || len(r.Notes) == 0 {
		return note, false
	}
	if m.store.isKnown(agent) {
		return r.Note(directive, robots.NewAgent(m.store.opt.Agents[agent], m.store.opt.Dialect))
	}
	return r.Note(directive, robots.Agent{Token: robots.ProductToken(r.NameOf(agent))})
}

// Rules returns all rules that bind an agent, in the order of their numbers in verdicts, and the first agent with
// the same rules. If the store drops rules, it loads them again. A rule with two patterns, see
// [robots.Dialect.IndexPattern], occurs twice. The result is empty if a fetch decides instead of rules, or after an
// error of [Store.Err].
func (m *Lookup) Rules(id RulingID, agent int) (all []robots.Rule, first int) {
	if id <= rules.NoRobots {
		return nil, agent
	}
	r := m.reader.Ruling(id)
	if r == nil {
		return nil, agent
	}
	first = agent
	if m.store.isKnown(agent) {
		first = int(r.Firsts[agent])
	}
	set := m.reader.Set(id, agent)
	all = make([]robots.Rule, set.Len())
	for i := range all {
		all[i] = set.Rule(int32(i))
	}
	return all, first
}

// lineOf returns the line of the rule that won, or 0. It uses the copies of the batch before the store.
func (m *Lookup) lineOf(id RulingID, agent int, v Verdict) int64 {
	if m.drops {
		if w, ok := m.copies.rules[winner{id, int32(m.FirstAgent(id, agent)), v.Rule}]; ok {
			return int64(w.Line)
		}
	}
	return m.set(id, agent).Line(rules.Verdict(v))
}

// set returns the rules of an agent.
func (m *Lookup) set(id RulingID, agent int) *rules.Set {
	if int(id) < len(m.common) && m.common[id] != nil && m.store.isKnown(agent) {
		return m.common[id]
	}
	return m.reader.Set(id, agent)
}

// winners are the names of a batch's sites and the rules that won. They are copies, because a store under a memory
// limit may drop the originals before the batch is written. Rules that exceed the budget are loaded again.
type winners struct {
	origins map[SiteID]robots.Origin
	firsts  map[RulingID][]uint16 // Firsts of Rulings, if there are several agents
	rules   map[winner]winningRule
	names   map[agentOf]string // names of agents that only a robots.txt names
	size    int64              // bytes of rules, firsts and names
}

// An agentOf is an agent under a ruling.
type agentOf struct {
	id    RulingID
	agent int
}

// A winner identifies a rule as a verdict does, for the first agent with the same rules.
type winner struct {
	id    RulingID
	agent int32
	rule  int32
}

// A winningRule is a rule, with or without its Value. It does not share memory with the rules of its site.
type winningRule struct {
	robots.Rule
	hasValue bool
}

// winnerOverhead is the size of a winner without its Value, in bytes: about 100 of them in the map.
const winnerOverhead = 128

// reset empties w and keeps its memory.
func (w winners) reset() winners {
	clear(w.origins)
	clear(w.firsts)
	clear(w.rules)
	clear(w.names)
	w.size = 0
	return w
}

// addSite keeps the name of a site. It must be called before anything else is added, because it makes the maps.
func (w *winners) addSite(id SiteID, from rules.Reader) {
	if w.origins == nil {
		w.origins, w.firsts = map[SiteID]robots.Origin{}, map[RulingID][]uint16{}
		w.rules, w.names = map[winner]winningRule{}, map[agentOf]string{}
	}
	if _, known := w.origins[id]; !known {
		w.origins[id] = from.Origin(uint32(id))
	}
}

// addFirsts keeps the Firsts of a Ruling of several agents, unless that would exceed half of the budget. They are
// small, and not copied.
func (w *winners) addFirsts(id RulingID, from *rules.Ruling, budget int64) {
	if _, known := w.firsts[id]; known || len(from.Firsts) == 1 {
		return
	}
	if size := winnerOverhead + 2*int64(len(from.Firsts)); w.size+size <= budget/2 {
		w.size += size
		w.firsts[id] = from.Firsts
	}
}

// addName copies the name of an agent, unless that would exceed the budget.
func (w *winners) addName(key agentOf, from *rules.Ruling, budget int64) {
	if _, known := w.names[key]; known || w.size+winnerOverhead > budget {
		return
	}
	name := strings.Clone(from.NameOf(key.agent))
	w.size += winnerOverhead + int64(len(name))
	w.names[key] = name
}

// addRule copies a rule that decided, once.
func (w *winners) addRule(key winner, from *rules.Set, budget int64) {
	if _, known := w.rules[key]; !known {
		w.addWinner(key, from.Rule(key.rule), budget)
	}
}

// addWinner copies a rule, or ignores it if it does not fit in the budget. Rules with their Value may use half of the
// budget, and rules without it the rest.
func (w *winners) addWinner(key winner, r robots.Rule, budget int64) {
	size := winnerOverhead + int64(len(r.Value))
	hasValue := w.size+size <= budget/2
	if hasValue {
		r.Value = strings.Clone(r.Value)
	} else {
		r.Value, size = "", winnerOverhead
	}
	if w.size+size <= budget {
		w.size += size
		w.rules[key] = winningRule{r, hasValue}
	}
}

// canonicalize fills b.Canonicals. It appends the URLs that lose parameters to b.Data.
func (e *Evaluator) canonicalize(b *Batch) {
	b.Canonicals = append(b.Canonicals, b.URLs...)
	last, params := rules.NoRobots, robots.CleanParams(nil)
	for i, id := range b.Rulings {
		if id == rules.NoRuling {
			b.Canonicals[i] = NoURL
			continue
		}
		if id != last {
			if last, params = id, nil; id != rules.NoRobots {
				params = e.reader.Ruling(id).Clean
			}
		}
		if len(params) > 0 {
			url, at := b.URLs[i], len(b.Data)
			b.Data = params.AppendCanonical(b.Data, b.Data[url.Off:url.Off+url.Len], e.store.opt.Dialect)
			if size := len(b.Data) - at; size < int(url.Len) {
				b.Canonicals[i] = Span{uint32(at), uint32(size)}
			} else { // it lost no parameter
				b.Data = b.Data[:at]
			}
		}
	}
}

// A prefixMemo remembers recent prefixes of URLs, as written, with their site and the ruling in force. For these,
// the host is neither normalised nor looked up again. Even in logs in random order, most URLs have one of a few
// hosts. It takes 256 KiB, about as much as stays in the processor's cache. The zero prefixMemo is empty.
type prefixMemo struct{ entries []prefixEntry }

const (
	prefixEntries = 1 << 12
	prefixMost    = 55 // length of the longest prefix that is remembered, in bytes
)

// A prefixEntry is a prefix and its site, in one cache line.
type prefixEntry struct {
	site SiteID
	id   RulingID
	size uint8 // 0 if the entry is empty
	text [prefixMost]byte
}

// find returns the site of a prefix, and the ruling in force, if the memo has the prefix. Otherwise ok is false, and
// the other results mean nothing. The prefix must not be empty.
func (m *prefixMemo) find(prefix []byte) (site SiteID, id RulingID, ok bool) {
	if m.entries == nil {
		return 0, 0, false
	}
	e := m.entry(prefix)
	return e.site, e.id, string(e.text[:e.size]) == string(prefix)
}

// remember adds a prefix, which is a robots.URL.Prefix, with its site and ruling; the ruling is rules.Dated if it
// depends on the time. It replaces another prefix in the same entry, and ignores prefixes of more than prefixMost
// bytes.
func (m *prefixMemo) remember(prefix []byte, site SiteID, id RulingID) {
	if len(prefix) > prefixMost {
		return
	}
	if m.entries == nil {
		m.entries = make([]prefixEntry, prefixEntries)
	}
	e := m.entry(prefix)
	e.site, e.id, e.size = site, id, uint8(copy(e.text[:], prefix))
}

func (m *prefixMemo) entry(prefix []byte) *prefixEntry {
	return &m.entries[xxh3.Hash(prefix)%prefixEntries]
}

// prefixLen returns the length of the text before the third slash of a URL, which must begin as http:// or https:// do.
// If the memo has that text, or if it is a normalised origin, it is the prefix of the URL. The result is 0 if the text
// is missing, or longer than prefixMost.
func prefixLen(url []byte) int {
	const scheme = len("http://")
	if len(url) < scheme+2 {
		return 0
	}
	n := bytes.IndexByte(url[scheme+1:], '/') // for https://, the second slash is at index 7
	if n < 0 || scheme+1+n > prefixMost {
		return 0
	}
	return scheme + 1 + n
}
