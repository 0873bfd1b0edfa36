package engine

import (
	"math"
	"slices"
	"sort"

	"github.com/robobatch/robobatch/robots"
)

// A change says what is in force for an origin from a moment on, until the next change. The first one of an origin is from
// math.MinInt64.
type change struct {
	from int64  // microseconds since 1970 UTC
	id   SiteID // as in Batch.InForce
}

// noRecord is what is in force before the first response: nothing is known, as of an origin that is not in the store.
const noRecord = NoSite - 1

// unknownTime is the time of a row that has none, see Batch.Times.
const unknownTime = math.MinInt64

// appendChange appends a change, unless all stays as it was. It reports whether it did.
func appendChange(changes []change, c change) ([]change, bool) {
	if n := len(changes); n > 0 && changes[n-1].id == c.id {
		return changes, false
	}
	return append(changes, c), true
}

// during returns what is in force at a moment, since when, and until when.
func during(changes []change, moment int64) (from, until int64, id SiteID) {
	n := sort.Search(len(changes), func(i int) bool { return changes[i].from > moment })
	until = math.MaxInt64
	if n < len(changes) {
		until = changes[n].from
	}
	return changes[n-1].from, until, changes[n-1].id
}

// A timeStore is the part of a Store with StoreOptions.RowTimes that says what is in force when.
type timeStore struct {
	newest  int64      // the moment of rows without a time
	changes [][]change // by SiteID; nil for a pack, whose sites have them
	inForce int        // sites that ever have something in force
}

// RowTimes reports whether the store judges each row by what was in force at its time.
func (s *Store) RowTimes() bool { return s.times != nil }

// changes returns what is in force for an origin of the store, and when.
func (m *Lookup) changes(id SiteID) []change {
	if m.store.pack == nil {
		return m.store.times.changes[id]
	}
	if more := m.Site(id).more; more != nil {
		return more.changes
	}
	return brokenChanges // nobody reads what comes of them
}

// brokenChanges are those of a site that could not be loaded.
var brokenChanges = []change{{math.MinInt64, noRecord}}

// A datedRun is where rows of another origin begin.
type datedRun struct {
	row     int
	changes []change // none for an origin that is not in the store
}

// startRun notes that rows of an origin begin.
func (e *Evaluator) startRun(b *Batch, row int, id SiteID) {
	e.changes = nil
	if _, stray := id.Stray(); !stray {
		e.changes = e.sites.changes(id)
		e.sites.holdOrigin(b, id)
	}
	e.runs = append(e.runs, datedRun{row, e.changes})
}

// date fills b.InForce.
func (e *Evaluator) date(b *Batch) {
	n := b.Len()
	b.InForce = slices.Grow(b.InForce, n)[:n]
	var (
		runs     = e.runs
		changes  []change
		from, to int64 = math.MaxInt64, math.MinInt64 // when id holds
		id       SiteID
	)
	for i, site := range b.Sites {
		for len(runs) > 0 && runs[0].row <= i {
			changes, runs = runs[0].changes, runs[1:]
			from, to = math.MaxInt64, math.MinInt64
		}
		if site >= strayBit {
			b.InForce[i] = site
			continue
		}
		moment := int64(unknownTime)
		if len(b.Times) > 0 {
			moment = b.Times[i]
		}
		if moment == unknownTime {
			moment = e.store.times.newest
		}
		if moment < from || moment >= to {
			from, to, id = during(changes, moment)
		}
		b.InForce[i] = id
	}
}

// Rulings returns for each row what its verdicts come from, as a SiteID: InForce, or the row's site where each has one set of
// rules only. It is what [Lookup.Rule] and [Lookup.FirstAgent] want.
func (b *Batch) Rulings() []SiteID {
	if len(b.InForce) > 0 {
		return b.InForce
	}
	return b.Sites
}

// countTimes counts the rows whose time says nothing of the rules.
func (s *Stats) countTimes(b *Batch) {
	for i, id := range b.InForce {
		switch {
		case b.Sites[i] >= strayBit:
		case len(b.Times) == 0 || b.Times[i] == unknownTime:
			s.Undated++
		case id == noRecord:
			s.Early++
		}
	}
}

// settleTimes is settle for rows that have their times: it makes a site for each origin, and behind them one for each thing
// that is ever in force, which InForce names.
func (b *storeBuilder) settleTimes() {
	s := b.store
	origins := b.history.Origins()
	s.times = &timeStore{newest: robots.Microseconds(b.history.Newest()), changes: make([][]change, len(origins))}
	for i, o := range origins {
		s.ids[o] = SiteID(i)
		s.sites = append(s.sites, Site{Origin: o})
	}
	if b.cleans {
		s.cleans = make([]robots.CleanParams, len(origins))
	}
	var hashes []siteHash
	rulings := map[robots.Outcome]SiteID{}
	for i, o := range origins {
		ever := false
		for _, p := range b.history.Periods(o) {
			id, h := b.ruling(p.Outcome, rulings)
			var added bool
			if s.times.changes[i], added = appendChange(s.times.changes[i], change{p.From, id}); added {
				h.origin, h.dated, h.from = o, true, p.From
				hashes = append(hashes, h)
			}
			ever = ever || id != noRecord
		}
		s.times.inForce += index(ever)
	}
	s.hash = hashSites(hashes)
}

// ruling returns the SiteID of an outcome, which it makes a site of where it is new, and what is hashed of it.
func (b *storeBuilder) ruling(o robots.Outcome, known map[robots.Outcome]SiteID) (SiteID, siteHash) {
	s := b.store
	h := siteHash{effect: o.Effect, cause: o.Cause}
	var text *compiledText
	switch o.Effect {
	case robots.NoRecord:
		return noRecord, h
	case robots.UseRules:
		text = b.captures[o.Capture]
		h.text = text.key
		if text.used {
			return text.ruling, h
		}
	case robots.AllowAll, robots.DisallowAll:
		o.Capture = 0 // of no matter
		if id, ok := known[o]; ok {
			return id, h
		}
	}
	id := SiteID(len(s.sites))
	site := Site{}
	if text != nil {
		site.Rules, site.Firsts = text.rules, text.firsts
		text.ruling = id
		b.use(text)
	} else {
		known[o] = id
		site.Rules, site.Firsts = b.fixedRules(o), make([]uint16, len(b.agents))
	}
	s.sites = append(s.sites, site)
	if b.cleans {
		var clean robots.CleanParams
		if text != nil {
			clean = text.clean
		}
		s.cleans = append(s.cleans, clean)
	}
	return id, h
}
