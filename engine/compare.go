package engine

import (
	"slices"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A Change says how the verdict of a row differs from the verdict of [Options].Old.
type Change uint8

// The values of Change.
const (
	Same      Change = iota // the same answer, and the rules have the same text or precedence, or no rule decided
	OtherRule               // the same answer by a different rule, or by a rule in only one of the stores
	Closed                  // disallowed now, and not before
	Opened                  // disallowed before, and not now
	NumChanges
)

// String returns the change as the output column "change" spells it.
func (c Change) String() string {
	return [...]string{"same", "other_rule", "closed", "opened"}[c]
}

// A comparer decides batches by the old store and finds the changes. It is for one goroutine.
type comparer struct {
	old, now *Evaluator
	twins    *twins
	order    []rulingRow // rows of the last batch that both stores decide
	known    []oldSite   // by site of the new store; nil if results are not remembered
	ties     map[rulePair]bool
}

// An oldSite is the old store's result for a site of the new store; zero means not looked up yet.
type oldSite struct {
	site   SiteID
	ruling RulingID
}

// compare fills b.Old and b.Changes. The new store has already evaluated b. b.Old shares the columns that the Source
// filled.
func (c *comparer) compare(b *Batch) {
	if b.Old == nil {
		b.Old = new(Batch)
	}
	old, n, agents := b.Old, b.Len(), c.now.store.agentsPerURL()
	old.release()
	old.Input, old.Data, old.URLs, old.Lines = b.Input, b.Data, b.URLs, b.Lines
	old.UserAgents, old.Times, old.Kept = b.UserAgents, b.Times, b.Kept
	old.Sites = grown(old.Sites, n)
	old.Rulings = grown(old.Rulings, n)
	old.Verdicts = grown(old.Verdicts, n*agents)
	old.Agents = grown(old.Agents, len(b.Agents))
	b.Changes = grown(b.Changes, n*agents)
	clear(b.Changes)
	c.old.paths = grown(c.old.paths, n)
	c.old.suspects.reset(n, c.now.store.opt.LogAgents.judges()) // includes rows that the old store does not decide
	if c.old.store.opt.RowTimes {
		c.old.timeless = grown(c.old.timeless, n)
	}
	c.findSites(b)
	copy(old.Verdicts, b.Verdicts)
	copy(old.Agents, b.Agents)
	c.order = c.order[:0]
	lastOld, lastNow, same := rules.NoRuling, rules.NoRuling, true
	for i, id := range old.Rulings {
		if now := b.Rulings[i]; id != lastOld || now != lastNow {
			lastOld, lastNow, same = id, now, c.twins.areSame(id, now)
		}
		if !same {
			c.order = append(c.order, rulingRow{id, uint32(i)})
		}
	}
	old.Preferences = append(old.Preferences, b.Preferences...)
	if len(c.order) == 0 {
		return
	}
	for i, p := range c.now.pending { // the old robots.txt may name another crawler, or no crawler
		if !c.twins.areSame(old.Rulings[p.row], b.Rulings[p.row]) {
			old.Agents[p.row] = pendingAgent | uint32(i)
		}
	}
	c.old.pending = c.now.pending
	c.old.decide(old, c.order)
	prefer := len(b.Preferences) > 0 && c.old.store.hasPreferences()
	for _, r := range c.order {
		c.compareRow(b, int(r.row), agents)
		if prefer {
			clear(old.Preferences[int(r.row)*agents:][:agents])
			if ruling := c.old.findPreferring(old.Rulings[r.row]); ruling != nil {
				c.old.setPreferences(old, int(r.row), ruling)
			}
		}
	}
}

// findSites fills Sites and Rulings of b.Old. It remembers the results by site of the new store, unless the old
// store may drop them or the rows have times.
func (c *comparer) findSites(b *Batch) {
	old, e := b.Old, c.old
	if e.budget > 0 || e.store.opt.RowTimes {
		e.findSites(old)
		return
	}
	for i, site := range b.Sites {
		switch {
		case site == NoSite:
			old.Sites[i], old.Rulings[i] = NoSite, rules.NoRuling
			continue
		case i > 0 && site == b.Sites[i-1]:
			old.Sites[i], old.Rulings[i] = old.Sites[i-1], old.Rulings[i-1]
		case site < strayBit && c.known[site].ruling != rules.NoRuling:
			old.Sites[i], old.Rulings[i] = c.known[site].site, c.known[site].ruling
		default:
			e.findRoute(old, b.URL(i))
			old.Sites[i], old.Rulings[i] = e.route.site, e.route.ruling
			if e.route.ruling == rules.Dated {
				old.Rulings[i] = e.rulingAt(old, i)
			}
			if site < strayBit && e.route.site < strayBit {
				c.known[site] = oldSite{old.Sites[i], old.Rulings[i]}
			}
		}
		e.paths[i] = c.now.paths[i] // the same URL has the same path
	}
}

// compareRow fills the changes of a row, one for each of the agents. b.Old must have its verdicts.
func (c *comparer) compareRow(b *Batch, row, agents int) {
	for a := range agents {
		i := row*agents + a
		v, was := b.Verdicts[i], b.Old.Verdicts[i]
		switch {
		case v.Access == Denied && was.Access != Denied:
			b.Changes[i] = Closed
		case v.Access != Denied && was.Access == Denied:
			b.Changes[i] = Opened
		case v.Access != was.Access || (v.Rule == NoRule) != (was.Rule == NoRule):
			b.Changes[i] = OtherRule
		case v.Rule == NoRule:
		default:
			pair := rulePair{b.Rulings[row], b.Old.Rulings[row], uint32(b.agent(row, a)), uint32(b.Old.agent(row, a)), v.Rule, was.Rule}
			if !c.alike(pair) {
				b.Changes[i] = OtherRule
			}
		}
	}
}

// A rulePair is a rule of the old store and one of the new store, by their numbers in verdicts.
type rulePair struct {
	now, old        RulingID
	agent, oldAgent uint32
	rule, otherRule int32
}

// mostTies is the maximum number of remembered pairs of rules.
const mostTies = 1 << 14

// alike reports whether the two rules that decide a row are equal, or whether each store has both of them. In the
// second case they have the same precedence, and only their order in the file determines which one is named.
func (c *comparer) alike(p rulePair) bool {
	now, old := c.now.set(p.now, int(p.agent)), c.old.set(p.old, int(p.oldAgent))
	r, o := now.Rule(p.rule), old.Rule(p.otherRule)
	if r.Allow == o.Allow && r.Value == o.Value {
		return true
	}
	tied, known := c.ties[p]
	if !known {
		if len(c.ties) >= mostTies {
			clear(c.ties)
		}
		tied = now.Has(o) && old.Has(r)
		c.ties[p] = tied
	}
	return tied
}

// Differing returns the origins whose rules in force differ between two stores, sorted, and the number of origins
// whose rules are equal. Both stores must be built for a fixed moment, without RowTimes. The error is [Store.Err].
func Differing(old, now *Store) (origins []robots.Origin, same int, err error) {
	t := newTwins(old, now)
	o, n := old.rules.Reader(unknownUsers), now.rules.Reader(unknownUsers)
	for site := range uint32(now.NumSites()) {
		name := n.Origin(site)
		is, _ := inForce(n, name)
		was, known := inForce(o, name)
		if !known {
			was = rules.NoRobots
		}
		if t.areSame(was, is) {
			same++
		} else {
			origins = append(origins, name)
		}
	}
	for site := range uint32(old.NumSites()) {
		name := o.Origin(site)
		if _, _, ok := n.Find([]byte(name)); ok {
			continue
		}
		if was, _ := inForce(o, name); was != rules.NoRobots {
			origins = append(origins, name)
		}
	}
	slices.Sort(origins)
	if err = old.Err(); err == nil {
		err = now.Err()
	}
	return origins, same, err
}

// inForce returns the ruling in force for an origin, in a store for a fixed moment, and whether the store has the
// origin.
func inForce(r rules.Reader, origin robots.Origin) (id RulingID, known bool) {
	site, id, known := r.Find([]byte(origin))
	if id == rules.Dated {
		id = r.Periods(site)[0].ID
	}
	return id, known
}

// ShareOrigin reports whether two stores have an origin in common. It looks up the origins of the first store until
// it finds one in the second.
func ShareOrigin(a, b *Store) bool {
	x, y := a.rules.Reader(unknownUsers), b.rules.Reader(unknownUsers)
	for site := range uint32(a.NumSites()) {
		if _, _, ok := y.Find([]byte(x.Origin(site))); ok {
			return true
		}
	}
	return false
}

// grown returns a column of n values, in the memory of the given one if that is large enough.
func grown[T any](column []T, n int) []T {
	if cap(column) < n {
		return make([]T, n)
	}
	return column[:n]
}

// release empties a batch that borrowed its columns. It keeps its own memory.
func (b *Batch) release() {
	*b = Batch{
		Sites: b.Sites[:0], Strays: b.Strays[:0], Rulings: b.Rulings[:0], Verdicts: b.Verdicts[:0],
		Agents: b.Agents[:0], Preferences: b.Preferences[:0], Disputes: b.Disputes[:0], strayNames: b.strayNames[:0], winners: b.winners.reset(),
	}
}

// twins finds out which rulings of two stores are the same: the same text, or the same outcome if a fetch decides.
// It is safe for concurrent use.
type twins struct {
	old, now rules.Store

	// of has, for each text of the new store, 1 + the number of the last old text that it was compared with, and
	// one bit that says whether they are equal. 0 means not compared yet.
	of []atomic.Uint64

	tokens tokenFilter // with LogAgents; the tokens of both stores
}

func newTwins(old, now *Store) *twins {
	t := &twins{old: old.rules, now: now.rules, of: make([]atomic.Uint64, now.rules.Texts())}
	if old.namer != nil && now.namer != nil {
		t.tokens = now.namer.tokens.union(old.namer.tokens)
	}
	return t
}

// areSame reports whether two rulings are the same.
func (t *twins) areSame(old, now RulingID) bool {
	o, ok := old.Text()
	n, both := now.Text()
	if !ok || !both {
		return old == now
	}
	known := t.of[n].Load()
	if known>>1 == uint64(o)+1 {
		return known&1 == 1
	}
	known = (uint64(o) + 1) << 1
	if t.old.Key(o) == t.now.Key(n) {
		known |= 1
	}
	t.of[n].Store(known)
	return known&1 == 1
}
