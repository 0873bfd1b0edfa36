package engine

import (
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A Deed is a request of a crawler that shows its knowledge of the rules, or that they forbid: one for
// /robots.txt, or one that the text in force forbids. A robots.txt that is not there, or whose fetch
// failed, forbids nothing here, whatever the verdict says.
//
// Deeds distinguish times by the periods of an origin: 0 is before its first capture, or all time.
type Deed struct {
	Row      uint32
	IsTxt    bool   // it is for /robots.txt; otherwise the text forbids it
	Period   uint32 // of its time; of the newest capture for a row without a time
	CacheFor int64  // of one for /robots.txt: for how many microseconds a crawler may use its copy

	// Past is, if the text forbids the request, a piece of Batch.Pasts: bit n is set if the rules in force
	// in period n forbids the request, too. It has Period bits, so none in period 0, as the bit of
	// Period itself would be set. The lowest bit of a byte is the first.
	Past Span
}

// WasForbidden reports whether the text of a period, which must not be later than the Deed's own, disallows the request
// of the Deed.
func WasForbidden(past []byte, own, period uint32) bool {
	return period == own || period < own && past[period/8]>>(period%8)&1 == 1
}

// findDeeds fills b.Deeds, with StoreOptions.Deeds.
func (e *Evaluator) findDeeds(b *Batch) {
	if !e.store.opt.Deeds || !e.store.opt.LogAgents.judges() {
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
		d := Deed{Row: uint32(row), IsTxt: isTxt}
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
			d.Past = e.addPast(b, row, periods[:d.Period])
		}
		b.Deeds = append(b.Deeds, d)
	}
}

// periodsOf returns the periods of the site of a row; none if the same is always in force there.
func (e *Evaluator) periodsOf(b *Batch, row int) []rules.Period {
	if _, stray := b.Sites[row].Stray(); stray {
		return nil
	}
	return e.reader.Periods(uint32(b.Sites[row]))
}

// periodIn returns the index of the row's period among the periods of its site, which has at least one.
func (e *Evaluator) periodIn(b *Batch, row int, periods []rules.Period) int {
	moment := b.time(row)
	if moment == NoTime {
		moment = e.reader.Newest(uint32(b.Sites[row]))
	}
	return rules.Index(periods, moment)
}

// addPast adds to b.Pasts which of some periods forbid a row. A text is asked once, however often it
// was in force.
func (e *Evaluator) addPast(b *Batch, row int, periods []rules.Period) Span {
	start := len(b.Pasts)
	b.Pasts = append(b.Pasts, make([]byte, (len(periods)+7)/8)...)
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
			e.asked = append(e.asked, askedText{p.ID, e.setIn(b, row, p.ID).Decide(path, &e.scratch).Access == Denied})
		}
		if e.asked[at].forbids {
			b.Pasts[start+n/8] |= 1 << (n % 8)
		}
	}
	return Span{uint32(start), uint32(len(b.Pasts) - start)}
}

// An askedText says whether a text forbids the request in hand.
type askedText struct {
	id      RulingID
	forbids bool
}

// Past returns the Past of a Deed.
func (b *Batch) Past(d *Deed) []byte { return b.Pasts[d.Past.Off : d.Past.Off+d.Past.Len] }

// A Stretch is a period of an origin, until the next begins: see [Deed].
type Stretch struct {
	From int64 // microseconds since 1970 UTC; math.MinInt64 for the first
	ID   RulingID

	// IsKnown reports whether the state of the rules is known: a text, or that there was none. Before the first
	// capture, and while fetches fail, it is not. HasTime reports whether From is the time of a fetch, not the time of
	// a file, or none.
	IsKnown, HasTime bool

	CacheFor int64 // as in Deed
}

// Stretches appends the periods of a site; one with the ruling in force if it is always the same. id is the
// ruling in force for a row of it, 0 if no row is at hand.
func (m *Lookup) Stretches(dst []Stretch, site SiteID, id RulingID) []Stretch {
	if _, stray := site.Stray(); !stray {
		for _, p := range m.reader.Periods(uint32(site)) {
			dst = append(dst, Stretch{p.From, p.ID, p.ID.IsKnown(), !p.IsUndated(), m.store.cacheOf(p)})
		}
	}
	if len(dst) == 0 {
		if id == rules.NoRuling {
			_, id, _ = m.reader.Find([]byte(m.reader.Origin(uint32(site))))
		}
		dst = append(dst, Stretch{NoTime, id, id.IsKnown(), false, m.store.cacheOf(rules.Period{Cache: rules.CacheDefault})})
	}
	return dst
}

// Redirects returns, for each site whose capture in force leads to the robots.txt of other origins at some time, these
// origins and times. A pack is read for it once.
func (s *Store) Redirects() map[SiteID][]robots.Redirect {
	found := s.rules.Redirects()
	all := make(map[SiteID][]robots.Redirect, len(found))
	for site, leads := range found {
		all[SiteID(site)] = leads
	}
	return all
}

// HasNote reports whether a robots.txt has a line of a directive of StoreOptions.Directives, for any crawler.
func (m *Lookup) HasNote(id RulingID, directive robots.Directive) bool {
	if _, text := id.Text(); !text {
		return false
	}
	r := m.reader.Ruling(id)
	return r != nil && slices.ContainsFunc(r.Notes, func(n robots.Notes) bool { return n.Directive == directive })
}

// NoteOf is [Lookup.Note] for an agent by its number in an [AgentList] and its name there, by any robots.txt.
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
