package engine

import (
	"slices"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A Change says how the verdict of a row differs from the verdict by [Options].Old.
type Change uint8

// The values of Change.
const (
	Same      Change = iota // the same answer, by a rule of the same text, or of the same precedence in both, or by none
	OtherRule               // not closed or opened, but another rule decides, or one where there was none
	Closed                  // disallowed, and was not
	Opened                  // was disallowed, and is not
	NumChanges
)

// String returns the change as the output column "change" spells it.
func (c Change) String() string {
	return [...]string{"same", "other_rule", "closed", "opened"}[c]
}

// A comparer decides batches by the old store, and finds the changes. It is for one goroutine.
type comparer struct {
	old, now *Evaluator
	twins    *twins
	order    []rulingRow // rows that both stores decide, of the last batch
	known    []oldSite   // by site of the new store; nil if they are not remembered
	ties     map[rulePair]bool
}

// An oldSite is the old store's entry for a site of the new one; zero is not known yet.
type oldSite struct {
	site   SiteID
	ruling RulingID
}

// newComparer returns a comparer of two stores' verdicts.
func newComparer(old, now *Evaluator, t *twins) *comparer {
	c := &comparer{old: old, now: now, twins: t, ties: map[rulePair]bool{}}
	if namer := now.store.namer; namer != nil {
		now.clients = newClients(namer)
		now.clients.tokens = t.tokens
	}
	if old.budget == 0 && !old.store.opt.RowTimes {
		c.known = make([]oldSite, now.store.NumSites())
	}
	return c
}

// compare fills b.Old and b.Changes. b is evaluated by the store of now.
func (c *comparer) compare(b *Batch) {
	if b.Old == nil {
		b.Old = new(Batch)
	}
	old, n, agents := b.Old, b.Len(), c.now.store.agentsPerURL()
	old.borrow(b)
	old.Sites = grown(old.Sites, n)
	old.Rulings = grown(old.Rulings, n)
	old.Verdicts = grown(old.Verdicts, n*agents)
	old.Agents = grown(old.Agents, len(b.Agents))
	b.Changes = grown(b.Changes, n*agents)
	clear(b.Changes)
	c.old.paths = grown(c.old.paths, n)
	c.old.suspects.reset(n, c.now.store.opt.LogAgents.judges()) // also rows that the old store does not decide
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
			lastOld, lastNow, same = id, now, c.twins.alike(id, now)
		}
		if !same {
			c.order = append(c.order, rulingRow{id, uint32(i)})
		}
	}
	old.Preferences = append(old.Preferences, b.Preferences...)
	if len(c.order) == 0 {
		return
	}
	for i, p := range c.now.pending { // the old robots.txt may name another crawler, or none
		if !c.twins.alike(old.Rulings[p.row], b.Rulings[p.row]) {
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
			if ruling := c.old.preferring(old.Rulings[r.row]); ruling != nil {
				c.old.preferRow(old, int(r.row), ruling)
			}
		}
	}
}

// findSites fills Sites and Rulings of b.Old. The results for a site of the new store are remembered,
// unless the old one may drop it, or its rows have times.
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
			e.find(old, b.URL(i))
			old.Sites[i], old.Rulings[i] = e.route.site, e.route.ruling
			if e.route.ruling == rules.Dated {
				old.Rulings[i] = e.during(old, i)
			}
			if site < strayBit && e.route.site < strayBit {
				c.known[site] = oldSite{old.Sites[i], old.Rulings[i]}
			}
		}
		e.paths[i] = c.now.paths[i] // the same URL has the same path
	}
}

// compareRow fills the changes of a row.
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

// A rulePair names a rule of each store, as verdicts for an agent do.
type rulePair struct {
	now, old        RulingID
	agent, oldAgent uint32
	rule, otherRule int32
}

// mostTies is the number of pairs of rules that are remembered.
const mostTies = 1 << 14

// alike reports whether two rules that decide a row are the same, or whether both stores have both: then they have the
// same precedence, and only their order in the file determines which one is named.
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

// Differing returns the origins whose rules in force differ between two stores, sorted, and how many
// have the same in both. The stores are built for a moment, not for the times of rows. The error is
// [Store.Err].
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
		if t.alike(was, is) {
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

// inForce returns the ruling in force for an origin in a store for a moment, and whether it has the origin.
func inForce(r rules.Reader, origin robots.Origin) (id RulingID, known bool) {
	site, id, known := r.Find([]byte(origin))
	if id == rules.Dated {
		id = r.Periods(site)[0].ID
	}
	return id, known
}

// ShareOrigin reports whether two stores have an origin in common. It looks at the origins of the first
// until it finds one.
func ShareOrigin(a, b *Store) bool {
	x, y := a.rules.Reader(unknownUsers), b.rules.Reader(unknownUsers)
	for site := range uint32(a.NumSites()) {
		if _, _, ok := y.Find([]byte(x.Origin(site))); ok {
			return true
		}
	}
	return false
}

// grown returns a column of that many values, in the memory that it has if that is enough.
func grown[T any](column []T, n int) []T {
	if cap(column) < n {
		return make([]T, n)
	}
	return column[:n]
}

// borrow makes b the same rows as another batch, undecided. It shares the memory of its columns.
func (b *Batch) borrow(from *Batch) {
	b.release()
	b.Input, b.Data, b.URLs, b.Lines = from.Input, from.Data, from.URLs, from.Lines
	b.UserAgents, b.Times, b.Kept = from.UserAgents, from.Times, from.Kept
}

// release empties the batch, which has borrowed columns. It keeps its own memory.
func (b *Batch) release() {
	*b = Batch{
		Sites: b.Sites[:0], Strays: b.Strays[:0], Rulings: b.Rulings[:0], Verdicts: b.Verdicts[:0],
		Agents: b.Agents[:0], Preferences: b.Preferences[:0], Disputes: b.Disputes[:0], strayNames: b.strayNames[:0], winners: b.winners.reset(),
	}
}

// twins know which rulings of two stores are the same: the same text, or the same outcome instead of
// one. They are safe for concurrent use.
type twins struct {
	old, now rules.Store

	// of has, for each text of now, the text of old that it was compared with last: 1 + its number, and
	// one bit for whether they are equal. It is 0 before that.
	of []atomic.Uint64

	tokens tokenFilter // with LogAgents, of both
}

func newTwins(old, now *Store) *twins {
	t := &twins{old: old.rules, now: now.rules, of: make([]atomic.Uint64, now.rules.Texts())}
	if old.namer != nil && now.namer != nil {
		t.tokens = now.namer.tokens.or(old.namer.tokens)
	}
	return t
}

// alike reports whether two rulings are the same.
func (t *twins) alike(old, now RulingID) bool {
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
