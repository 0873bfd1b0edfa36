// Package pace counts how fast crawlers fetch, and shows it beside the Crawl-delay that robots.txt states.
// Package report imports it.
package pace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// The limits of the counts.
const (
	maxPaces = 1024
	maxTexts = 2 * maxPaces // gaps that are told apart by the text that the later request met
)

// A pace is the successive requests of a crawler at an origin.
type pace struct {
	origin   robots.Origin
	requests int64
	last     int64
	back     int64      // requests that are earlier than the one before
	by       []textGaps // in the order in which the texts were first met; the request before met the last
	rest     *gaps      // of texts that are not told apart; nil is none
}

// A textGaps is a text that a crawler met, and the gaps before its requests.
type textGaps struct {
	ruling engine.RulingID
	gaps
}

// A paceKey is a crawler at an origin: a site of the store or, as those that it does not know have
// another number in each batch, the hash of a name.
type paceKey struct {
	agent uint16
	stray bool
	site  uint64
}

// Counts are the paces of the crawlers and origins that came first.
type Counts struct {
	all    map[paceKey]*pace
	key    paceKey
	last   *pace
	others int64 // requests that are not counted for a pace
	texts  int   // besides the first of each pace
}

// New returns counts of no request.
func New() *Counts { return &Counts{all: map[paceKey]*pace{}} }

// AddRow counts a request of a row by a crawler.
func (p *Counts) AddRow(b *engine.Batch, row int, agent uint16, look *engine.Lookup) {
	site := b.Sites[row]
	key := paceKey{agent: agent, site: uint64(site)}
	if n, stray := site.Stray(); stray {
		key.stray, key.site = true, aggregate.Hash(b.Strays[n])
	}
	if p.last == nil || key != p.key {
		p.key, p.last = key, p.all[key]
	}
	switch {
	case p.last != nil:
	case len(p.all) == maxPaces:
		p.others++
		return
	default:
		p.last = &pace{last: engine.NoTime, origin: originOf(b, site, look)}
		p.all[key] = p.last
	}
	of := p.last.gapsOf(b.Rulings[row], func() bool {
		p.texts++
		return p.texts <= maxTexts
	})
	p.last.addRequest(b.Times[row], of)
}

// originOf returns the name of an origin.
func originOf(b *engine.Batch, site engine.SiteID, look *engine.Lookup) robots.Origin {
	if n, stray := site.Stray(); stray {
		return robots.Origin(b.Strays[n])
	}
	return robots.Origin(strings.Clone(string(look.Origin(site))))
}

// gapsOf returns the gaps of a text. If it is new, isNew tells whether there is room for it.
func (p *pace) gapsOf(ruling engine.RulingID, isNew func() bool) *gaps {
	for i := range p.by {
		if p.by[i].ruling == ruling {
			return &p.by[i].gaps
		}
	}
	if len(p.by) > 0 && !isNew() {
		if p.rest == nil {
			p.rest = new(gaps)
		}
		return p.rest
	}
	p.by = append(p.by, textGaps{ruling: ruling})
	return &p.by[len(p.by)-1].gaps
}

// addRequest adds a request at a time to the gaps of the text that it met.
func (p *pace) addRequest(t int64, of *gaps) {
	p.requests++
	switch gap := t - p.last; {
	case p.last == engine.NoTime:
	case gap < 0:
		p.back++
	default:
		of.addGap(gap)
	}
	p.last = t
}

// all returns the gaps of all texts.
func (p *pace) all() (sum gaps) {
	for i := range p.by {
		sum.addGaps(&p.by[i].gaps)
	}
	if p.rest != nil {
		sum.addGaps(p.rest)
	}
	return sum
}

// A Pace is how fast a crawler fetched from an origin.
type Pace struct {
	Agent    string
	Origin   robots.Origin
	Requests int64
	Median   string
	Seconds  float64 // of Median
	Long     bool    // the median is that or more
	Ignored  bool    // the operator says that the crawler ignores a delay
	Delays   []Delay // that the texts in force stated, in their order; empty if nobody knows the texts
	Fast     int64   // gaps that are shorter than the delay of the text which the later request met
	Gaps     int64   // for which a delay was stated
	Share    float64
	Unknown  int64 // gaps before requests that met a text with an unknown delay
	Back     int64 // requests that are earlier than the one before them in the log
}

// shownPaces is how many of the busiest the page shows.
const shownPaces = 100

// busiest returns the busiest keys.
func (p *Counts) busiest() []paceKey {
	keys := slices.Collect(maps.Keys(p.all))
	slices.SortFunc(keys, func(a, b paceKey) int {
		return cmp.Or(cmp.Compare(p.all[b].requests, p.all[a].requests), cmp.Compare(a.agent, b.agent), cmp.Compare(p.all[a].origin, p.all[b].origin))
	})
	return slices.DeleteFunc(keys, func(k paceKey) bool { return p.all[k].requests < 2 })
}

// A Table is how fast the busiest crawlers fetched.
type Table struct {
	Rows []Pace
	More int64 // requests that the rows do not count
}

// Table returns how fast crawlers fetched, whose names and texts are given.
func (p *Counts) Table(names []string, texts map[engine.RulingID]*robots.Report, d robots.Dialect) (t Table) {
	t.More = p.others
	for i, key := range p.busiest() {
		of := p.all[key]
		if i >= shownPaces {
			t.More += of.requests
			continue
		}
		row := Pace{Agent: names[key.agent], Requests: of.requests, Back: of.back, Origin: of.origin}
		token, _, _ := strings.Cut(row.Agent, "/")
		if known, ok := crawlers.Lookup(token); ok {
			row.Ignored = known.IgnoresDelay()
		}
		sum := of.all()
		gap, long := sum.median()
		row.Seconds, row.Median, row.Long = gap.Seconds(), strconv.FormatFloat(gap.Seconds(), 'f', 1, 64)+" s", long
		row.addDelays(of, texts, robots.NewAgent(row.Agent, d))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// addDelays compares the gaps with the delays that texts state.
func (p *Pace) addDelays(of *pace, texts map[engine.RulingID]*robots.Report, agent robots.Agent) {
	if of.rest != nil {
		p.Unknown = of.rest.number()
	}
	for i := range of.by {
		m := &of.by[i]
		delay, known := delayOf(m.ruling, texts, agent)
		if !known {
			p.Unknown += m.number()
			continue
		}
		if n := len(p.Delays); n == 0 || p.Delays[n-1] != delay {
			p.Delays = append(p.Delays, delay)
		}
		if delay.Stated {
			fast, all := m.faster(delay.Seconds)
			p.Fast += fast
			p.Gaps += all
		}
	}
	p.Share = show.Share(p.Fast, p.Gaps)
}

// A Delay is the Crawl-delay that a robots.txt states for a crawler, if it states one.
type Delay struct {
	Seconds float64
	Stated  bool
}

// String returns the delay as the page shows it.
func (d Delay) String() string {
	if !d.Stated {
		return "none"
	}
	return strconv.FormatFloat(d.Seconds, 'f', -1, 64) + " s"
}

// delayOf returns the delay that a ruling states, and whether that is known.
func delayOf(ruling engine.RulingID, texts map[engine.RulingID]*robots.Report, agent robots.Agent) (d Delay, known bool) {
	if _, isText := ruling.Text(); !isText {
		return d, true
	}
	text := texts[ruling]
	if text == nil {
		return d, false
	}
	if d.Seconds, d.Stated = text.CrawlDelay(agent); d.Stated {
		return d, true
	}
	if c, ok := crawlers.Lookup(string(agent.Token)); ok && c.InheritsDelay() {
		d.Seconds, d.Stated = text.CrawlDelay(robots.Agent{}) // that of "*"
	}
	return d, true
}

// A MetText is a text that was in force for requests at an origin.
type MetText struct {
	Ruling engine.RulingID
	Origin robots.Origin
}

// MetTexts returns the texts that the crawlers met whose pace the page shows.
func (p *Counts) MetTexts() (all []MetText) {
	keys := p.busiest()
	for _, key := range keys[:min(len(keys), shownPaces)] {
		of := p.all[key]
		for i := range of.by {
			if _, isText := of.by[i].ruling.Text(); isText {
				all = append(all, MetText{of.by[i].ruling, of.origin})
			}
		}
	}
	return all
}

// Stated reports whether robots.txt states a delay, or did.
func (p *Pace) Stated() bool {
	return slices.ContainsFunc(p.Delays, func(d Delay) bool { return d.Stated })
}

// HasShare reports whether the page says how many gaps are shorter than the delay: robots.txt states one, and
// the gaps are known.
func (p *Pace) HasShare() bool { return p.Stated() && !p.Jumbled() }

// AnyJumbled reports whether some crawler's requests are out of order.
func (t Table) AnyJumbled() bool {
	return slices.ContainsFunc(t.Rows, func(p Pace) bool { return p.Jumbled() })
}

// AnyDelay reports whether robots.txt states a delay for some crawler.
func (t Table) AnyDelay() bool {
	return slices.ContainsFunc(t.Rows, func(p Pace) bool { return p.Stated() })
}

// AnyUnknown reports whether the delay of some text is not known.
func (t Table) AnyUnknown() bool {
	return slices.ContainsFunc(t.Rows, func(p Pace) bool { return p.Unknown > 0 || len(p.Delays) == 0 })
}

// mostDelays is how many delays of a crawler the page shows.
const mostDelays = 4

// DelayText returns the delays as the page shows them.
func (p *Pace) DelayText() string {
	var texts []string
	for _, d := range p.Delays[:min(len(p.Delays), mostDelays)] {
		texts = append(texts, d.String())
	}
	switch n := len(p.Delays) - mostDelays; {
	case n > 0:
		texts = append(texts, fmt.Sprintf("%d more", n))
	case len(texts) == 0:
		return "not known"
	}
	return strings.Join(texts, ", then ")
}

// mostBack is the share of requests that go back in time from which on the gaps tell nothing: those that
// go back are left out, and those beside them are too long.
const mostBack = 0.02

// Jumbled reports whether too many requests go back in time for the gaps to tell anything.
func (p *Pace) Jumbled() bool { return show.Share(p.Back, p.Requests) > mostBack }

// MedianText returns the median as the page shows it.
func (p *Pace) MedianText() string {
	if p.Jumbled() {
		return "–"
	}
	return p.Median
}

// OriginText returns the origin as a text.
func (p *Pace) OriginText() string { return string(p.Origin) }
