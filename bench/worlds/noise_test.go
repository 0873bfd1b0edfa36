package worlds

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// disturb adds events that are not faults. often is the probability of each of the rarer kinds.
func (w *world) disturb(often float64, planted []string) {
	w.addRestarts()
	w.changeTexts()
	w.giveHabits(often, planted)
	w.addAnswers(often)
	w.addScanners()
	if !slices.Contains(planted, "crawler_impostors") { // a few requests with a crawler's name, by a person with a tool
		w.innocent["few impostors"] = w.addImpostor(w.shuffledCrawlers("s", 0)[0], w.span, 8, "91.64.7").nets[0]
	}
	if w.chance(often * .4) {
		if s, ok := w.placeSpan(nil, w.spellDrawer(7, 20), nil); ok {
			w.gap = s
			w.limits = append(w.limits, map[string]string{"code": "log_gap", "from": stamp(s.from), "to": stamp(s.to)})
		}
	}
	if len(planted) > 0 {
		return
	}
	if w.chance(often) {
		w.innocent["app shell"] = true
		w.home = 7412
		for i := range w.sections {
			for j := range w.sections[i].pages {
				w.sections[i].pages[j].size = w.home
			}
		}
	}
	if w.chance(often) {
		s, low := span{w.within(.3, .7), w.to}, w.between(.4, .7)
		w.innocent["season"] = stamp(s.from)
		w.addEffect(s).pace = func(t int64) float64 { return max(low, 1-float64(t-s.from)/(2*day)) }
	}
	if w.chance(often * .1) {
		w.clients = slices.DeleteFunc(w.clients, func(c *client) bool { return c.kind != 'x' })
		w.limits = append(w.limits, map[string]string{"code": "no_crawlers", "from": stamp(w.from), "to": stamp(w.to)})
	}
}

// within draws a time between two parts of the log.
func (w *world) within(a, b float64) int64 {
	return w.from + int64(w.between(a, b)*float64(w.to-w.from))
}

// addRestarts makes the whole site fail for some minutes, and single requests at random times.
func (w *world) addRestarts() {
	restarts := make([]string, 1+w.rng.IntN(4))
	for i := range restarts {
		at := w.within(.02, .98)
		e := w.addEffect(span{at, at + int64(w.logBetween(40, 900))})
		restarts[i] = stamp(e.from) + "/" + stamp(e.to)
		e.answer = func(r *request, _ *rand.Rand) {
			if r.status < 500 {
				r.status, r.size, r.cause, r.next = 502, 157, e, ""
			}
		}
	}
	w.innocent["restarts"] = restarts
	rate := w.logBetween(.0003, .002)
	w.addEffect(w.span).answer = func(r *request, rng *rand.Rand) {
		if r.status == 200 && !r.unattended && rng.Float64() < rate {
			r.status, r.size, r.cause, r.next = 500, 740, nil, ""
		}
	}
}

// addScanners adds scanners and sometimes a monitor.
func (w *world) addScanners() {
	scanner := &client{
		name: "scanner", agent: "python-requests/2.31", kind: 'x', span: w.span, daily: float64(w.requests) * w.between(.01, .03) / w.days(),
		week: w.weekdays(.9, 1.1), hours: w.hourly(.1, 3), shape: 5, burst: 20, gap: 2, nets: strings.Fields("141.98.11 152.32.7 159.65.80 146.70.9"), taste: w.clients[0].taste,
	}
	scanner.level = w.levels(scanner)
	w.clients = append(w.clients, scanner)
	w.addEffect(w.span, scanner).steer = func(r *request, rng *rand.Rand) {
		r.path, r.status, r.size = pick(rng, attacks), 404, w.notFound
	}
	if w.chance(.6) {
		w.innocent["monitor"] = true
		every := pick(w.rng, []int64{300, 600, 900})
		for t := w.from + 17; t < w.to; t += every {
			w.addResponse(&request{at: t, who: monitor, ip: "63.143.42.250", path: "/", status: 200, unattended: true}, w.rng)
		}
	}
}

// changeTexts changes robots.txt without affecting requests, at least a day from any other change.
func (w *world) changeTexts() {
	for range 1 + w.rng.IntN(4) {
		at := w.within(.03, .97)
		c := change{span: span{at, w.to}, comment: "version " + strconv.Itoa(w.rng.IntN(90))}
		if w.chance(.4) {
			c.rule = rule{prefix: pick(w.rng, []string{"/beta/", "/tmp/", "/cgi-bin/", "/account/orders/"})}
		}
		if !slices.ContainsFunc(w.busy, func(b *effect) bool { return b.of == nil && b.from < at+day && at < b.to+day }) {
			w.changes = append(w.changes, c)
		}
	}
}

// giveHabits gives some crawlers a rhythm or habit of their own, each a different one.
func (w *world) giveHabits(often float64, planted []string) {
	free := w.evenCrawlers("ao", 0)
	for _, habit := range []struct {
		name string
		give func(c *client)
	}{
		{"nightly", func(c *client) {
			start := w.rng.IntN(20)
			for i := range c.hours {
				c.hours[i] = min(1, max(0, float64(i-start+1)/3))
			}
		}},
		{"weekends only", func(c *client) { c.week = [7]float64{3.5, 0, 0, 0, 0, 0, 3.5} }},
		{"meant to be refused", func(c *client) {
			w.addEffect(span{w.within(0, .5), w.to}, c).answer = func(r *request, _ *rand.Rand) {
				if r.path != "/robots.txt" {
					r.status, r.size, r.cause = 403, 199, nil
				}
			}
		}},
		{"closed by name", func(c *client) { w.closed = append(w.closed, c.name) }},
		{"delay kept", func(c *client) {
			w.delays[c.name] = pick(w.rng, []int{2, 5, 10})
			c.delay = w.delays[c.name] + 1
		}},
		{"first crawl", func(c *client) {
			c.from = w.within(.3, .8)
			at := w.rng.IntN(len(w.listed))
			w.addEffect(c.span, c).steer = func(r *request, _ *rand.Rand) {
				at = (at + 1) % len(w.listed)
				r.path, r.status, r.size, r.cause = w.listed[at], 200, w.sizeOf(w.listed[at]), nil
			}
		}},
		{"once", func(c *client) {
			c.from = w.within(.1, .9)
			c.to = c.from + day
		}},
		{"one large file per day", func(c *client) {
			last, size := int64(0), 60_000_000+w.rng.IntN(2)*w.requests*1000
			w.addEffect(w.span, c).steer = func(r *request, _ *rand.Rand) {
				if r.at/day > last && !slices.Contains(planted, "bytes_hog") {
					last = r.at / day
					r.path, r.status, r.size, r.cause = "/files/catalogue.pdf", 200, size, nil
				}
			}
		}},
	} {
		if len(free) > 0 && w.chance(often) {
			w.innocent[habit.name] = free[0].name
			habit.give(free[0])
			free = free[1:]
		}
	}
	if w.chance(often) {
		w.innocent["delay unknown to"] = "YandexBot"
		w.delays["YandexBot"] = 10
	}
	for _, b := range w.busy { // search engines catch up afterwards
		if w.chance(often) && b.to < w.to-2*day {
			p := w.between(1.2, 1.7)
			w.addEffect(span{b.to, b.to + 30*hour}, w.shuffledCrawlers("s", 0)...).pace = func(int64) float64 { return p }
		}
	}
	for _, c := range w.evenCrawlers("s", 0) {
		if s, ok := w.placeSpan(c, w.spellDrawer(12, 30), nil); ok && w.chance(often) {
			w.innocent["recrawl"] = c.name
			p := w.between(1.4, 2.2)
			w.addEffect(s, c).pace = func(int64) float64 { return p }
			break
		}
	}
}

// addAnswers adds intended redirects and errors.
func (w *world) addAnswers(often float64) {
	// visitors replaces the URL in a share of the page requests by these kinds of clients.
	visitors := func(kinds string, share float64, choose func(r *request, rng *rand.Rand)) *effect {
		e := w.addEffect(w.span)
		e.steer = func(r *request, rng *rand.Rand) {
			if strings.IndexByte(kinds, r.who.kind) >= 0 && !r.unbound && rng.Float64() < share {
				r.cause = nil
				choose(r, rng)
			}
		}
		return e
	}
	missing := pick(w.rng, []string{"/ads.txt", "/apple-touch-icon.png", "/promo-2024"})
	w.innocent["missing page"] = missing
	visitors("saop", .006, func(r *request, _ *rand.Rand) { r.path, r.status, r.size = missing, 404, w.notFound })
	if w.chance(often) {
		w.innocent["members only"] = "/members/"
		visitors("saop", w.between(.01, .05), func(r *request, rng *rand.Rand) {
			r.path, r.status, r.size = "/members/"+pick(rng, words)+strconv.Itoa(rng.IntN(200)), 403, 199
			if r.who.kind == 'p' {
				r.status, r.size = 200, 9000+rng.IntN(3000)
			}
		})
	}
	if w.chance(often) {
		w.innocent["languages"] = "/en/"
		visitors("saop", .02, func(r *request, _ *rand.Rand) { r.path, r.status, r.size = "/", 302, 0 }).follow = func(r *request) string {
			return map[bool]string{true: "/en/"}[r.path == "/"]
		}
	}
	if w.chance(often) {
		w.innocent["slashes"] = true
		visitors("s", .02, func(r *request, rng *rand.Rand) {
			r.path, r.status, r.size = strings.TrimSuffix(pick(rng, w.sections).path, "/"), 301, 178
		}).follow = func(r *request) string {
			if r.path == "/" || strings.LastIndexByte(r.path, '/') > 0 {
				return ""
			}
			return r.path + "/"
		}
	}
	if w.chance(often) {
		w.innocent["ranges"] = "/media/tour.mp4"
		visitors("p", .01, func(r *request, rng *rand.Rand) {
			r.path, r.status, r.size = "/media/tour.mp4", 206, 400_000+rng.IntN(900_000)
		})
	}
}
