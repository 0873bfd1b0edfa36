package engine

import (
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// Evidence is a crawler's request that shows what the crawler knew, or that it broke a rule: a request for /robots.txt,
// or one that the text in force disallows. A missing robots.txt, or one that could not be fetched, disallows nothing
// here, whatever the verdict says.
//
// It has the period of the origin instead of a time. Period 0 is before the first capture, or the only period.
type Evidence struct {
	Row      uint32
	IsTxt    bool   // whether the request is for /robots.txt; otherwise the text disallows it
	Period   uint32 // of the request's time; for a row without a time, of the newest capture
	CacheFor int64  // for a request for /robots.txt: for how many microseconds a crawler may use its copy

	// DisallowedIn is a piece of Batch.PeriodBits, for a disallowed request: bit n is set if the rules in force in
	// period n also disallow the request. It has Period bits, so it is empty for period 0; the bit of Period itself
	// would always be set. The lowest bit of a byte is the first.
	DisallowedIn Span
}

// WasDisallowed reports whether the text of a period disallows a request with these bits of [Evidence] in its own
// period. period must not be later.
func WasDisallowed(bits []byte, own, period uint32) bool {
	return period == own || period < own && bits[period/8]>>(period%8)&1 == 1
}

// findEvidence fills b.Evidence, with StoreOptions.Evidence. It needs the verdicts and the agents of b. Rows of unknown
// agents have no evidence.
func (e *Evaluator) findEvidence(b *Batch) {
	if !e.store.opt.Evidence || !e.store.opt.LogAgents.judges() {
		return
	}
	for row, v := range b.Verdicts {
		if b.Agents[row] == unknownAgent || b.Sites[row] == NoSite {
			continue
		}
		_, text := b.Rulings[row].Text()
		isTxt := robots.IsTxt(e.rawPath(b, row))
		if !isTxt && (v.Access != Denied || !text) {
			continue
		}
		d := Evidence{Row: uint32(row), IsTxt: isTxt}
		var p rules.Period
		p.Cache = rules.CacheDefault
		periods := e.periodsOf(b, row)
		if len(periods) > 0 {
			n := e.periodIn(b, row, periods)
			d.Period, p = uint32(n), periods[n]
		}
		if isTxt {
			d.CacheFor = e.store.cacheOf(p)
		} else {
			d.DisallowedIn = e.addDisallowedIn(b, row, periods[:d.Period])
		}
		b.Evidence = append(b.Evidence, d)
	}
}

// periodsOf returns the periods of the site of a row, or none if the same ruling is always in force.
func (e *Evaluator) periodsOf(b *Batch, row int) []rules.Period {
	if _, stray := b.Sites[row].Stray(); stray {
		return nil
	}
	return e.reader.Periods(uint32(b.Sites[row]))
}

// periodIn returns the index of the row's period. periods has at least one element.
func (e *Evaluator) periodIn(b *Batch, row int, periods []rules.Period) int {
	moment := b.time(row)
	if moment == NoTime {
		moment = e.reader.Newest(uint32(b.Sites[row]))
	}
	return rules.Index(periods, moment)
}

// addDisallowedIn appends one bit for each of the periods to b.PeriodBits: whether its text disallows the request of a
// row. It returns the place of these bits. It matches each text once, even if it was in force several times.
func (e *Evaluator) addDisallowedIn(b *Batch, row int, periods []rules.Period) Span {
	start := len(b.PeriodBits)
	b.PeriodBits = append(b.PeriodBits, make([]byte, (len(periods)+7)/8)...)
	if len(periods) == 0 {
		return Span{}
	}
	path, buf := e.store.opt.Dialect.Path(e.rawPath(b, row), e.path)
	e.path = buf
	e.asked = e.asked[:0]
	for n, p := range periods {
		if _, text := p.ID.Text(); !text {
			continue
		}
		at := slices.IndexFunc(e.asked, func(a askedText) bool { return a.id == p.ID })
		if at < 0 {
			at = len(e.asked)
			e.asked = append(e.asked, askedText{p.ID, e.set(p.ID, e.agentIn(b, row, p.ID)).Decide(path, &e.scratch).Access == Denied})
		}
		if e.asked[at].forbids {
			b.PeriodBits[start+n/8] |= 1 << (n % 8)
		}
	}
	return Span{uint32(start), uint32(len(b.PeriodBits) - start)}
}

// An askedText says whether a text disallows the current request.
type askedText struct {
	id      RulingID
	forbids bool
}

// DisallowedIn returns the bits of e.DisallowedIn.
func (b *Batch) DisallowedIn(e *Evidence) []byte {
	return b.PeriodBits[e.DisallowedIn.Off : e.DisallowedIn.Off+e.DisallowedIn.Len]
}

// A Period is an interval in which the same ruling is in force for an origin. It lasts until the next Period begins.
type Period struct {
	From int64 // microseconds since 1970 UTC; math.MinInt64 for the first
	ID   RulingID

	// IsKnown reports whether the rules of the period are known: a text was in force, or there was no robots.txt.
	// They are unknown before the first capture and while fetches fail. HasTime reports whether From is the time of
	// a fetch, rather than a file modification time or unknown.
	IsKnown, HasTime bool

	CacheFor int64 // as in Evidence
}

// Periods appends the periods of a site. If the same ruling is always in force, that is one period. id is the
// ruling in force for a row of the site, or 0 if there is no row.
func (m *Lookup) Periods(dst []Period, site SiteID, id RulingID) []Period {
	if _, stray := site.Stray(); !stray {
		for _, p := range m.reader.Periods(uint32(site)) {
			dst = append(dst, Period{p.From, p.ID, p.ID.IsKnown(), !p.IsUndated(), m.store.cacheOf(p)})
		}
	}
	if len(dst) == 0 {
		if id == rules.NoRuling {
			_, id, _ = m.reader.Find([]byte(m.reader.Origin(uint32(site))))
		}
		dst = append(dst, Period{NoTime, id, id.IsKnown(), false, m.store.cacheOf(rules.Period{Cache: rules.CacheDefault})})
	}
	return dst
}

// Redirects returns the redirects to robots.txt of other origins, by site, for each site whose capture in force is
// such a redirect at some time. For this a pack is read once in full.
func (s *Store) Redirects() map[SiteID][]robots.Redirect {
	found := s.rules.Redirects()
	all := make(map[SiteID][]robots.Redirect, len(found))
	for site, leads := range found {
		all[SiteID(site)] = leads
	}
	return all
}

// HasNote reports whether a robots.txt has a line of this directive for any crawler. StoreOptions.Directives must
// contain it.
func (m *Lookup) HasNote(id RulingID, directive robots.Directive) bool {
	if _, text := id.Text(); !text {
		return false
	}
	r := m.reader.Ruling(id)
	return r != nil && slices.ContainsFunc(r.Notes, func(n robots.Notes) bool { return n.Directive == directive })
}

// NoteOf is like [Lookup.Note], for an agent with a number and a name in an [AgentList], and for any robots.txt. A
// number must always come with the same name.
func (m *Lookup) NoteOf(id RulingID, number int, name string, directive robots.Directive) (note robots.Note, ok bool) {
	if _, text := id.Text(); !text {
		return note, false
	}
	r := m.reader.Ruling(id)
	if r == nil || len(r.Notes) == 0 {
		return note, false
	}
	if !m.store.isKnown(number) {
		return r.Note(directive, robots.Agent{Token: robots.ProductToken(name)})
	}
	if m.agents == nil {
		m.agents = make([]robots.Agent, len(m.store.opt.Agents))
	}
	agent := &m.agents[number]
	if agent.Token == "" {
		*agent = robots.NewAgent(name, m.store.opt.Dialect)
	}
	return r.Note(directive, *agent)
}
