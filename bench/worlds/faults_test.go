package worlds

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// A truth describes a fault. Lines is the number of log lines that show it; check counts them with the other fields.
type truth struct {
	Code         string   `json:"code"`
	Agents       []string `json:"agents"`
	Path         string   `json:"path"`
	Requests     int      `json:"requests"`
	Of           int      `json:"of"`
	Asked        int      `json:"asked,omitempty"` // another count that a report may give for requests
	Consequences []string `json:"consequences"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	Small        bool     `json:"small"`
	Lines        int      `json:"lines"`
	Lost         int      `json:"lost,omitempty"` // requests that were not made
	Status       int      `json:"status,omitempty"`
	Size         int      `json:"size,omitempty"`
	Delay        int      `json:"delay,omitempty"`
	Parameter    string   `json:"parameter,omitempty"`
	Paths        []string `json:"paths,omitempty"` // all hops of a redirect chain
	Networks     []string `json:"networks,omitempty"`
	URLs         int      `json:"urls,omitempty"`
	Bytes        int64    `json:"bytes,omitempty"`
	Everyone     bool     `json:"everyone,omitempty"`
}

// A fault is an effect that a report must name.
type fault struct {
	truth
	*effect
	shows func(r *request) bool // whether a log line shows it; nil means the lines that it caused
	seen  bool                  // its time is that of the first and the last line that show it
	valid func() bool           // whether it exceeds the other thresholds of its code; nil if there are none
}

// newEffect returns an effect on crawlers, or on all clients.
func newEffect(s span, of ...*client) *effect {
	e := &effect{span: s}
	if of != nil {
		e.of = map[string]bool{}
	}
	for _, c := range of {
		e.of[c.name] = true
	}
	return e
}

// addEffect adds an effect.
func (w *world) addEffect(s span, of ...*client) *effect {
	e := newEffect(s, of...)
	w.effects = append(w.effects, e)
	return e
}

func clientNames(of []*client) []string {
	all := make([]string, len(of))
	for i, c := range of {
		all[i] = c.name
	}
	return all
}

// shuffledCrawlers returns the crawlers of some kinds with at least daily requests per day, in random order.
func (w *world) shuffledCrawlers(kinds string, daily float64) []*client {
	all := slices.Clone(w.clients)
	w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return slices.DeleteFunc(all, func(c *client) bool { return c.daily < daily || strings.IndexByte(kinds, c.kind) < 0 })
}

// evenCrawlers returns those of the crawlers that have no rhythm of their own and no fault.
func (w *world) evenCrawlers(kinds string, daily float64) []*client {
	return slices.DeleteFunc(w.shuffledCrawlers(kinds, daily), func(c *client) bool { return c.odd })
}

// pickBusySection returns a section that crawlers often visit and that has no fault yet, if there is one.
func (w *world) pickBusySection() *section {
	all := make([]*section, 0, len(w.sections))
	for i := range w.sections {
		if s := &w.sections[i]; !slices.ContainsFunc(w.faults, func(f *fault) bool { return strings.HasPrefix(f.Path, s.path) }) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *section) int { return int(1000*b.crawls) - int(1000*a.crawls) })
	return pick(w.rng, all[:min(len(all), 4)])
}

// pickSpanToEnd returns the span of the whole log, or of a part up to its end.
func (w *world) pickSpanToEnd() span {
	s := w.span
	if w.chance(.35) {
		s.from += int64(w.between(.2, .6) * float64(w.to-w.from))
	}
	return s
}

// spellDrawer draws spans of low to high hours that begin after the first days of the log. Some last until its end.
func (w *world) spellDrawer(low, high float64) func() span {
	return func() span {
		n := int64(w.logBetween(low, high) * hour)
		lead := int64(min(3.5*day, .3*float64(w.to-w.from)))
		if n > 20*hour && w.chance(.3) {
			return span{w.to - n, w.to}
		}
		from := w.from + lead + w.rng.Int64N(max(1, w.to-w.from-lead-n-26*hour))
		return span{from, from + n}
	}
}

// placeSpan draws spans until, within a day of one, nothing else happens to the crawler (nil: to any crawler).
func (w *world) placeSpan(c *client, draw func() span, fits func(s span) bool) (span, bool) {
	of := []*client{c}
	if c == nil {
		of = nil
	}
	for range 100 {
		s := draw()
		if s.from < w.from+2*day || s.to > w.to || fits != nil && !fits(s) {
			continue
		}
		if w.reserve(s, of...) {
			return s, true
		}
	}
	return w.span, false
}

// reserve reserves a span for the crawlers, unless something else happens to them within a day of it, and reports
// whether it did.
func (w *world) reserve(s span, of ...*client) bool {
	for _, b := range w.busy {
		common := of == nil || b.of == nil || slices.ContainsFunc(of, func(c *client) bool { return b.of[c.name] })
		if common && s.from < b.to+day && b.from < s.to+day {
			return false
		}
	}
	w.busy = append(w.busy, newEffect(s, of...))
	return true
}

// strength returns -ln of the probability that a crawler makes so few, or so many, requests in a span by chance: the
// given multiple of their expected number.
func (c *client) strength(s span, multiple float64) float64 {
	n := math.Ceil(s.days())
	correlated := 1.0
	for j := 1.0; j < n; j++ {
		correlated += 2 * (1 - j/n) * math.Pow(c.rho, j)
	}
	m := c.expected(s) / max(c.burst, 1)
	k := 1 / (c.sigma*c.sigma*correlated/n + 1/(c.shape*n))
	if multiple == 0 {
		return k * math.Log1p(m/k)
	}
	k = 1 / (1/k + 1/m)
	return k * (multiple - 1 - math.Log(multiple))
}

// leastRequests is the minimum number of requests of a fault, except those for robots.txt: slightly above the threshold
// of the catalogue.
func (w *world) leastRequests() float64 { return max(26, .0006*float64(w.requests)) }

// isPage reports whether a line is a page that one of the fault's crawlers requested during the fault.
func (f *fault) isPage(r *request) bool {
	return !r.unattended && f.has(r.at) && slices.Contains(f.Agents, r.who.name)
}

// largestShare returns the largest share of a crawler's page requests that a fault caused.
func (w *world) largestShare(f *fault) (most float64) {
	caused, all := map[string]float64{}, map[string]float64{}
	for i := range w.log {
		if r := &w.log[i]; slices.Contains(f.Agents, r.who.name) && !r.unattended {
			all[r.who.name]++
			if r.cause == f.effect {
				caused[r.who.name]++
			}
		}
	}
	for name, n := range all {
		most = max(most, caused[name]/n)
	}
	return most
}

// countLines returns the number of lines for which such returns true.
func (w *world) countLines(such func(r *request) bool) (n int) {
	for i := range w.log {
		if such(&w.log[i]) {
			n++
		}
	}
	return n
}

// hasFallen reports whether a crawler's median number of daily requests in a span is less than half of the median
// before it.
func (w *world) hasFallen(c *client, s span) bool {
	var before, within []int
	for d := w.from/day + 1; d < w.to/day; d++ {
		n := w.countLines(func(r *request) bool { return r.who == c && r.at/day == d })
		switch {
		case (d+1)*day <= s.from:
			before = append(before, n)
		case d*day >= s.from && (d+1)*day <= s.to:
			within = append(within, n)
		}
	}
	if len(before) < 3 || len(within) < 3 {
		return false
	}
	slices.Sort(before)
	slices.Sort(within)
	middle := float64(before[len(before)/2])
	return float64(within[len(within)/2]) < .48*middle && float64(within[len(within)*3/4]) < .6*middle
}

// longestRest returns a crawler's longest time without a request before to.
func (w *world) longestRest(c *client, to int64) (longest int64) {
	last := w.from
	for i := range w.log {
		if r := &w.log[i]; r.who == c && r.at < to {
			longest = max(longest, r.at-last)
			last = r.at
		}
	}
	return max(longest, to-last)
}

// countFaults counts the numbers of each fault in the log, and reports whether all faults exceed the thresholds of
// their codes.
func (w *world) countFaults() bool {
	for _, f := range w.faults {
		if slices.Contains([]string{"site_closed", "section_closed", "resources_blocked"}, f.Code) {
			n := w.versionAt(f.from)
			for ; n+1 < len(w.versions) && w.versions[n].status != 200; n++ { // no crawler has read one before
				f.from = w.versions[n+1].from
			}
			v := &w.versions[n]
			f.Agents = clientNames(slices.DeleteFunc(w.shuffledCrawlers("s", 0), func(c *client) bool {
				r := v.ruleFor(c, f.Path+"x")
				return r == nil || r.by != f.effect
			}))
		}
		urls, agents := map[string]bool{}, map[string]bool{}
		first, last := int64(0), int64(0)
		for i := range w.log {
			r := &w.log[i]
			if f.shows == nil && r.cause == f.effect || f.shows != nil && f.shows(r) {
				f.Lines++
				urls[r.path], agents[r.who.name] = true, true
				if first == 0 {
					first = r.at
				}
				last = r.at
			}
			f.tallyLine(r)
		}
		f.URLs, f.Lost, f.Requests = len(urls), f.lost, f.Lines
		if f.Agents == nil {
			f.Agents = slices.Sorted(maps.Keys(agents))
		}
		if f.seen && f.from > w.from {
			f.from = first
		}
		if f.seen && f.to < w.to && f.Path != "/robots.txt" { // robots.txt is requested too rarely to date it
			f.to = last + 1
		}
		f.From, f.To = stamp(f.from), stamp(f.to)
		counted := f.Requests
		switch f.Code {
		case "site_closed", "section_closed", "crawler_stopped", "crawler_slowed":
			f.Requests = f.lost
			counted = f.lost
		case "resources_blocked":
			f.Requests = f.lost
			counted = f.Asked // requests of people show it, too
		case "robots_txt_failed":
			f.Requests, f.Asked = f.lost, f.Lines
			counted = max(f.Requests, f.Asked)
		case "robots_txt_missing", "robots_txt_other_text":
			f.Requests, f.Asked = f.Asked, f.Lines
			counted = max(f.Requests, f.Asked)
		}
		f.Small = counted < max(20, len(w.log)/5000)
		enough := strings.HasPrefix(f.Code, "robots_") && counted > 0 || float64(counted) >= w.leastRequests()
		if !enough || len(f.Agents) == 0 || f.valid != nil && !f.valid() {
			return false
		}
	}
	return true
}

// tallyLine counts a line in the denominator of a fault (of) or in its second number (asked): requests before the
// fault, or requests that follow from it.
func (f *fault) tallyLine(r *request) {
	of, asked := false, false
	switch f.Code {
	case "server_errors", "outage":
		of = f.isUnder(r) && f.has(r.at)
	case "section_closed":
		of = !r.unattended && r.at < f.from && slices.Contains(f.Agents, r.who.name)
		asked = of && f.isUnder(r)
	case "resources_blocked":
		asked = r.who.kind == 'p' && r.status == 200 && f.isUnder(r) && f.has(r.at)
	case "robots_txt_missing", "robots_txt_other_text":
		asked = r.cause == f.effect && r.path != f.Path
	default:
		of = f.isPage(r)
	}
	f.Of += map[bool]int{true: 1}[of]
	f.Asked += map[bool]int{true: 1}[asked]
}
