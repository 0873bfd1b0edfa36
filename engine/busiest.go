package engine

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/robots"
)

// Top is the number of busiest origins and rules that Stats names.
const Top = 10

// A BusyRule is a rule and the number of verdicts that it decided. Origins with the same robots.txt share their
// rules.
type BusyRule struct {
	Origin robots.Origin // an origin whose robots.txt has the rule
	Others bool          // the rule also decided rows of other origins
	Rule   robots.Rule   // its Line, Value and Allow
	Rows   int64         // 0 means that there is no rule
}

// A decider names the rule or the origin of a row, as a Verdict does.
type decider struct {
	site   SiteID
	name   uint32 // for a stray, the offset of its name in names; for a rule, 1 + another site that has it; 0 means none
	rule   int32
	agent  uint32
	shared bool // by several sites
}

// A ruleStreak is a run of consecutive verdicts by one rule. It names the row and the agent of the first. Batches
// keep streaks until they are written, so they are small: when each row was a streak, streaks of 24 and 32 bytes
// took a tenth of the time of runs on 30,000 origins in random order (BenchmarkScattered).
type ruleStreak struct {
	row, line, verdicts uint32
	agent               uint32
}

// A siteStreak is a run of consecutive rows of one site.
type siteStreak struct {
	site SiteID
	rows uint32
}

// streaks are the streaks of a batch, from which the busiest sites and rules are found.
type streaks struct {
	sites  []siteStreak
	hashes []uint64 // of the names of strays, in the order of their streaks
	rules  []ruleStreak
}

// reset empties s and keeps its memory.
func (s streaks) reset() streaks { return streaks{s.sites[:0], s.hashes[:0], s.rules[:0]} }

// addRule adds verdicts by one rule: to the last streak, if it has the same ruling, line and site, or as a new streak.
func (b *Batch) addRule(s ruleStreak) {
	all := b.streaks.rules
	if n := len(all); n > 0 {
		last := &all[n-1]
		if last.line == s.line && b.Rulings[last.row] == b.Rulings[s.row] && b.Sites[last.row] == b.Sites[s.row] {
			last.verdicts += s.verdicts
			return
		}
	}
	b.streaks.rules = append(all, s)
}

// A busiest finds the busiest origins and rules. Batches are added in the order of the source, so the result does
// not depend on the number of workers.
type busiest struct {
	sites         siteRows
	strays, rules frequent
	violated      frequent // rules, by violations
	names         names    // of strays
	lookup, old   *Lookup  // old is nil without Options.Old
	agents        int      // verdicts per row

	list  *AgentList   // with LogAgents
	named []AgentCount // counts of the agents in list that only a robots.txt names

	disputes DisputeStats // without Worst
	disputed frequent     // sites, by disputes

	census ranges.Census // with StoreOptions.Ranges
}

// newBusiest returns the busiest for a run with a store and, unless it is nil, an old store.
func newBusiest(s, old *Store) *busiest {
	u := &busiest{sites: newSiteRows(s.NumSites()), lookup: s.NewLookup(), agents: s.agentsPerURL()}
	if old != nil {
		u.old = old.NewLookup()
	}
	u.list = NewAgentList(u.lookup, u.old, MaxNamed)
	return u
}

// addNamed counts the verdicts for crawlers that only a robots.txt names. The Lookups of u must use the batch.
func (u *busiest) addNamed(b *Batch) {
	if !u.lookup.store.opt.LogAgents.judges() {
		return
	}
	for i := range b.Agents {
		if agent, _ := b.crawlerOf(i); int(agent) < u.list.known {
			continue
		}
		n := u.list.Number(b, i) - u.list.known
		if n == len(u.named) {
			u.named = append(u.named, AgentCount{})
		}
		u.named[n].addRow(b, i)
	}
}

// siteRows counts the rows of each site or, if there are too many sites, only those of the busiest ones.
type siteRows struct {
	all []int64 // nil if there are too many
	few frequent
}

// mostSites is the maximum number of sites with an exact count each (2 MiB).
const mostSites = 1 << 18

func newSiteRows(sites int) (r siteRows) {
	if sites <= mostSites {
		r.all = make([]int64, sites)
	}
	return r
}

// addStreak adds rows of a site.
func (r *siteRows) addStreak(s siteStreak) {
	if r.all != nil {
		r.all[s.site] += int64(s.rows)
		return
	}
	r.few.countKey(uint64(s.site), int64(s.rows), decider{site: s.site})
}

// top returns the Top origins with the most rows, busiest first.
func (r *siteRows) top(lookup *Lookup) (best []BusyOrigin) {
	if r.all == nil {
		return topOrigins(lookup, &r.few, Top)
	}
	for site, rows := range r.all {
		if rows == 0 || len(best) == Top && rows < best[Top-1].Rows {
			continue
		}
		o := BusyOrigin{string(lookup.Origin(SiteID(site))), rows}
		at, _ := slices.BinarySearchFunc(best, o, busierOrigin)
		best = slices.Insert(best, at, o)
		best = best[:min(Top, len(best))]
	}
	return best
}

// topOrigins returns the n sites with the most rows, busiest first.
func topOrigins(lookup *Lookup, sites *frequent, n int) (top []BusyOrigin) {
	for _, it := range sites.topItems(n) {
		top = append(top, BusyOrigin{string(lookup.Origin(it.from.site)), it.rows})
	}
	slices.SortFunc(top, busierOrigin)
	return top[:min(n, len(top))]
}

// countSites counts the rows of a batch by site, and its verdicts by rule. It also counts violations, disputes, client
// addresses, and crawlers that only a robots.txt names. counter.countBatch must have counted the batch already.
func (u *busiest) countSites(b *Batch) {
	u.lookup.Use(b)
	if u.old != nil {
		u.old.Use(b.Old)
	}
	u.addNamed(b)
	u.addDisputes(b)
	for _, s := range b.senders {
		u.census.Add(s)
	}
	hashes := b.streaks.hashes
	for _, s := range b.streaks.sites {
		n, stray := s.site.Stray()
		if !stray {
			u.sites.addStreak(s)
			continue
		}
		off := u.strays.off
		it := u.strays.countKey(hashes[0], int64(s.rows), decider{})
		hashes = hashes[1:]
		if u.strays.off > off {
			u.names.compact(&u.strays)
		}
		if it.from.name == 0 {
			it.from.name = u.names.addName(b.Strays[n])
		}
	}
	for _, s := range b.streaks.rules {
		verdict := int(s.row)
		if u.agents > 1 {
			verdict = verdict*u.agents + int(s.agent)
		}
		site, rule := b.Sites[s.row], b.Verdicts[verdict].Rule
		key := uint64(b.Rulings[s.row])<<32 | uint64(s.line)
		if it := u.rules.countKey(key, int64(s.verdicts), decider{site: site, rule: rule, agent: s.agent}); it.from.site != site {
			u.noteShared(it, site)
		}
	}
	if u.lookup.store.opt.LogAgents.judges() {
		u.countViolations(b)
	}
}

// countViolations counts the violations of a batch by the rule that was broken. It ignores those without a rule.
func (u *busiest) countViolations(b *Batch) {
	for i, v := range b.Verdicts {
		if b.Violations[i] != Violated || v.Rule == NoRule {
			continue
		}
		id, site, agent := b.Rulings[i], b.Sites[i], b.agent(i, 0)
		key := uint64(id)<<32 | uint64(u.lookup.lineOf(id, agent, v))
		if it := u.violated.countKey(key, 1, decider{site: site, rule: v.Rule, agent: uint32(agent)}); it.from.site != site {
			u.noteShared(it, site)
		}
	}
}

// noteShared notes that another site has the rule of an item, too. It keeps the site whose name sorts first, because a
// pack numbers sites differently.
func (u *busiest) noteShared(shared *item, site SiteID) {
	shared.from.shared = true
	if shared.from.name == uint32(site)+1 { // the site compared last
		return
	}
	shared.from.name = uint32(site) + 1
	if u.lookup.Origin(site) < u.lookup.Origin(shared.from.site) {
		shared.from.site, shared.from.name = site, uint32(shared.from.site)+1
	}
}

// total sets the busiest origins and rules of s, with their errors. rows has exact counts of strays, for all or some of
// them.
func (u *busiest) total(s *Stats, rows *tally) {
	top := u.strays.topItems(Top)
	strays := make([]BusyOrigin, 0, len(top)+Top)
	for _, it := range top {
		n, ok := rows.rows(it.key)
		if !ok {
			n = it.rows // too high by at most TopOriginsOff
		}
		strays = append(strays, BusyOrigin{string(u.names.of(it.from.name)), n})
	}
	slices.SortFunc(strays, busierOrigin)
	copy(s.Busiest[:], strays)
	lookup := u.lookup
	origins := append(strays, u.sites.top(lookup)...)
	slices.SortFunc(origins, busierOrigin)
	copy(s.TopOrigins[:], origins)
	s.TopOriginsOff, s.TopRulesOff = max(u.sites.few.off, u.strays.off), u.rules.off
	s.TopRules, s.TopViolated = topRules(lookup, &u.rules), topRules(lookup, &u.violated)
}

// topRules returns the rules with the most rows, busiest first. Elements beyond the number of rules are zero.
func topRules(lookup *Lookup, from *frequent) (top [Top]BusyRule) {
	rules := from.topItems(Top)
	slices.SortFunc(rules, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(lookup.Origin(a.from.site), lookup.Origin(b.from.site)), cmp.Compare(a.key, b.key))
	})
	for i, it := range rules[:min(Top, len(rules))] {
		top[i] = BusyRule{
			Origin: lookup.Origin(it.from.site), Others: it.from.shared, Rows: it.rows,
			Rule: lookup.Rule(RulingID(it.key>>32), int(it.from.agent), it.from.rule),
		}
	}
	return top
}

// busierOrigin orders origins by their number of rows, largest first, and then by name.
func busierOrigin(a, b BusyOrigin) int {
	return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Origin, b.Origin))
}

// names is a list of names of strays. Each name follows its length, so that adding one allocates nothing.
type names []byte

// addName adds a name, and returns its offset, which is never 0.
func (n *names) addName(name []byte) uint32 {
	if len(*n) == 0 {
		*n = append(*n, 0)
	}
	at := len(*n)
	*n = append(binary.LittleEndian.AppendUint32(*n, uint32(len(name))), name...)
	return uint32(at)
}

// of returns the name at a place.
func (n names) of(at uint32) []byte {
	size := binary.LittleEndian.Uint32(n[at:])
	return n[at+4:][:size]
}

// compact drops the names that no item of f uses, and sets the offsets of the others in these items.
func (n *names) compact(f *frequent) {
	rest := make(names, 0, len(*n))
	for i := range f.slots {
		if s := &f.slots[i]; s.rows > 0 && s.from.name > 0 {
			s.from.name = rest.addName(n.of(s.from.name))
		}
	}
	*n = rest
}
