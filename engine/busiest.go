package engine

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// Top is how many of the busiest origins and rules Stats names.
const Top = 10

// A BusyRule is a rule and the number of verdicts that it decided. Origins with the same robots.txt
// share their rules.
type BusyRule struct {
	Origin robots.Origin // whose robots.txt has the rule; one of them, if there are several
	Others bool          // rows of other origins count, too
	Rule   robots.Rule   // its Line, Value and Allow
	Rows   int64         // 0 is no rule
}

// A decider is what decided a row: as a Verdict does it names a rule.
type decider struct {
	site   SiteID
	name   uint32 // of a stray, its place in names; of a rule, 1 + the last other site; 0 is none
	rule   int32
	agent  uint16
	shared bool // by several sites
}

// A ruleStreak is neighbouring verdicts that one rule decided.
type ruleStreak struct {
	key  uint64 // the ruling and the line
	rows int64
	decider
}

// A siteStreak is neighbouring rows of one site. Its key is the number of the site, or the hash of the
// name of a stray.
type siteStreak struct {
	key  uint64
	rows int64
	site SiteID
}

// streaks are what the busiest sites and rules of a batch are found by.
type streaks struct {
	sites []siteStreak
	rules []ruleStreak
}

// reset empties s and keeps its memory.
func (s streaks) reset() streaks { return streaks{s.sites[:0], s.rules[:0]} }

// addRule adds verdicts on a row, which one line decided.
func (s *streaks) addRule(id RulingID, line, rows int64, from decider) {
	key := uint64(id)<<32 | uint64(line)
	if n := len(s.rules); n > 0 && s.rules[n-1].key == key && s.rules[n-1].site == from.site {
		s.rules[n-1].rows += rows
		return
	}
	s.rules = append(s.rules, ruleStreak{key, rows, from})
}

// A busiest finds the busiest origins and rules. Batches are added in the order of the source, so what
// it finds does not depend on the number of workers.
type busiest struct {
	sites, strays, rules frequent
	names                names // of strays
	lookup               *Lookup
}

func newBusiest(s *Store) *busiest { return &busiest{lookup: s.NewLookup()} }

// add adds a counted batch.
func (u *busiest) add(b *Batch) {
	u.lookup.Use(b)
	for _, s := range b.streaks.sites {
		n, stray := s.site.Stray()
		if !stray {
			u.sites.add(s.key, s.rows, decider{site: s.site})
			continue
		}
		off := u.strays.off
		it := u.strays.add(s.key, s.rows, decider{})
		if u.strays.off > off {
			u.names.compact(&u.strays)
		}
		if it.from.name == 0 {
			it.from.name = u.names.add(b.Strays[n])
		}
	}
	for i := range b.streaks.rules {
		s := &b.streaks.rules[i]
		if it := u.rules.add(s.key, s.rows, s.decider); it.from.site != s.site {
			u.share(it, s.site)
		}
	}
}

// share notes that a rule is of another site, too. It keeps the one whose name comes first: numbers
// of sites are others in a pack.
func (u *busiest) share(it *item, site SiteID) {
	it.from.shared = true
	if it.from.name == uint32(site)+1 { // the last that was compared
		return
	}
	it.from.name = uint32(site) + 1
	if u.lookup.Origin(site) < u.lookup.Origin(it.from.site) {
		it.from.site, it.from.name = site, uint32(it.from.site)+1
	}
}

// total adds what was found to the sum of all counts. rows has the exact ones of strays.
func (u *busiest) total(s *Stats, rows *tally) {
	top := u.strays.top(Top)
	strays := make([]BusyOrigin, 0, len(top)+Top)
	for _, it := range top {
		strays = append(strays, BusyOrigin{string(u.names.of(it.from.name)), rows.rows(it.key)})
	}
	slices.SortFunc(strays, busierOrigin)
	copy(s.Busiest[:], strays)
	lookup := u.lookup
	origins := strays
	for _, it := range u.sites.top(Top) {
		origins = append(origins, BusyOrigin{string(lookup.Origin(it.from.site)), it.rows})
	}
	slices.SortFunc(origins, busierOrigin)
	copy(s.TopOrigins[:], origins)
	s.TopOriginsOff, s.TopRulesOff = max(u.sites.off, u.strays.off), u.rules.off
	rules := u.rules.top(Top)
	slices.SortFunc(rules, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(lookup.Origin(a.from.site), lookup.Origin(b.from.site)), cmp.Compare(a.key, b.key))
	})
	for i, it := range rules[:min(Top, len(rules))] {
		s.TopRules[i] = BusyRule{
			Origin: lookup.Origin(it.from.site), Others: it.from.shared, Rows: it.rows,
			Rule: lookup.Rule(RulingID(it.key>>32), int(it.from.agent), it.from.rule),
		}
	}
}

// busierOrigin orders origins: those with more rows come first, and then those with the lesser name.
func busierOrigin(a, b BusyOrigin) int {
	return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Origin, b.Origin))
}

// names are names of strays, one behind the other, each with its length before it. So a new one
// allocates nothing.
type names []byte

// add adds a name, and returns its place, which is never 0.
func (n *names) add(name []byte) uint32 {
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

// compact drops the names that no item has.
func (n *names) compact(f *frequent) {
	rest := make(names, 0, len(*n))
	for i := range f.slots {
		if s := &f.slots[i]; s.rows > 0 && s.from.name > 0 {
			s.from.name = rest.add(n.of(s.from.name))
		}
	}
	*n = rest
}
