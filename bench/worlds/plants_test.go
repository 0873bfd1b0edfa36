package worlds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A kind is a code, and a function that plants it. plant returns false if it is impossible in this world.
type kind struct {
	code, consequences string
	plant              func(w *world, code string) bool
}

// kinds are in the order of planting: first those that choose URLs, last those that refuse responses.
var kinds = []kind{
	{"crawl_delay_ignored", "", (*world).plantDelayIgnored},
	{"crawler_slowed", "", (*world).plantSlowed},
	{"crawler_stopped", "crawler_slowed", (*world).plantStopped},
	{"crawler_surge", "", (*world).plantSurge},
	{"crawler_impostors", "", (*world).plantImpostors},
	{"not_found_section", "", (*world).plantNotFoundSection},
	{"soft_not_found", "", (*world).plantSoftNotFound},
	{"redirect_chain", "", (*world).plantRedirectChain},
	{"parameter_crawl", "", (*world).plantParameterCrawl},
	{"endless_urls", "", (*world).plantEndlessURLs},
	{"bytes_hog", "", (*world).plantBytesHog},
	{"sitemap_bad_urls", "not_found_section", (*world).plantSitemapBadURLs},
	{"rules_ignored", "", (*world).plantRulesIgnored},
	{"section_closed", "crawler_slowed crawler_stopped sitemap_bad_urls", (*world).plantRulesAdded},
	{"resources_blocked", "section_closed", (*world).plantRulesAdded},
	{"site_closed", "crawler_stopped crawler_slowed section_closed resources_blocked sitemap_bad_urls", (*world).plantSiteClosed},
	{"robots_txt_failed", "crawler_stopped crawler_slowed site_closed", (*world).plantRobotsTxt},
	{"robots_txt_missing", "rules_ignored crawler_surge", (*world).plantRobotsTxt},
	{"robots_txt_other_text", "rules_ignored crawler_surge", (*world).plantRobotsTxt},
	{"server_errors", "sitemap_bad_urls", (*world).plantServerErrors},
	{"outage", "server_errors crawler_slowed crawler_stopped sitemap_bad_urls", (*world).plantOutage},
	{"crawler_refused", "crawler_slowed crawler_stopped server_errors robots_txt_failed robots_txt_missing sitemap_bad_urls", (*world).plantCrawlerRefused},
}

// plant adds a fault that affects some crawlers, or all clients.
func (w *world) plant(code, path string, s span, of ...*client) *fault {
	f := &fault{effect: w.addEffect(s, of...)}
	f.Code, f.Path, f.Agents, f.Consequences = code, path, clientNames(of), []string{}
	if of == nil {
		f.Agents = []string{"*"}
	}
	for _, c := range of {
		c.odd = c.odd || c.kind != 's'
	}
	w.faults = append(w.faults, f)
	return f
}

// leadTo makes crawlers request, instead of a share of their pages, the URLs that choose returns with the sizes of
// their responses.
func (f *fault) leadTo(share float64, choose func(r *request, rng *rand.Rand) (string, int)) {
	f.steer = func(r *request, rng *rand.Rand) {
		if rng.Float64() < share {
			r.path, r.size = choose(r, rng)
			r.status, r.cause = 200, f.effect
		}
	}
	f.seen = true
}

// fail gives a share of the requests for which on returns true the fault's status and size.
func (f *fault) fail(share float64, on func(r *request) bool) {
	f.answer = func(r *request, rng *rand.Rand) {
		if on(r) && rng.Float64() < share {
			r.status, r.size, r.cause, r.next = f.Status, f.Size, f.effect, ""
		}
	}
	f.seen = true
}

func (f *fault) isUnder(r *request) bool { return strings.HasPrefix(r.path, f.Path) }

// oldURL returns the URL of a page that no longer exists.
func oldURL(root string, i int) string {
	return fmt.Sprintf("%s%s-%s-%d", root, words[i%len(words)], words[i*7%len(words)], 70_000+i)
}

func (w *world) plantNotFoundSection(code string) bool {
	search := w.shuffledCrawlers("s", 5)
	f := w.plant(code, pick(w.rng, []string{"/2019/", "/archive/", "/old-shop/", "/classifieds/", "/catalogue/"}), w.pickSpanToEnd(), search...)
	f.Status, f.Size = pick(w.rng, []int{404, 404, 410}), w.notFound
	p, urls := w.logBetween(.03, .25), 60+w.rng.IntN(500)
	// Crawlers request these pages in the whole log. They no longer exist from the start of the fault.
	w.addEffect(w.span, search...).steer = func(r *request, rng *rand.Rand) {
		if rng.Float64() < p {
			i := rng.IntN(urls)
			r.path, r.status, r.size = oldURL(f.Path, i), 200, 9000+i*97
		}
	}
	everybody := w.addEffect(f.span)
	f.fail(1, f.isUnder)
	f.answer, everybody.answer = nil, f.answer
	if w.chance(.25) {
		f.Consequences = append(f.Consequences, "sitemap_bad_urls")
		for i := range urls {
			w.listed = append(w.listed, oldURL(f.Path, i))
		}
	}
	f.valid = func() bool { return f.URLs >= 52 && f.Lines >= 105 && w.largestShare(f) >= .022 }
	return len(search) > 0
}

func (w *world) plantSoftNotFound(code string) bool {
	search := w.shuffledCrawlers("s", 5)
	f := w.plant(code, w.pickBusySection().path, w.pickSpanToEnd(), search...)
	f.Status, f.Size = 200, 4000+w.rng.IntN(6000)
	urls := 60 + w.rng.IntN(500)
	f.leadTo(w.logBetween(.03, .25), func(_ *request, rng *rand.Rand) (string, int) {
		return oldURL(f.Path, rng.IntN(urls)), f.Size
	})
	f.valid = func() bool { return f.URLs >= 52 && f.Lines >= 105 && w.largestShare(f) >= .022 }
	return len(search) > 0
}

func (w *world) plantRedirectChain(code string) bool {
	search, pages := w.shuffledCrawlers("s", 5), w.pickBusySection().pages
	hops := []string{"/catalog/", "/redirect/", "/shop/", "/item/"}[:2+w.rng.IntN(3)]
	f := w.plant(code, hops[0], w.pickSpanToEnd(), search...)
	f.Paths, f.Status, f.Size = hops, pick(w.rng, []int{301, 302}), 178
	finally := map[string]string{} // page by slug
	f.leadTo(w.logBetween(.015, .15), func(_ *request, rng *rand.Rand) (string, int) {
		page := pick(rng, pages).path
		slug := page[strings.LastIndexByte(page, '/')+1:]
		finally[slug] = page
		return hops[0] + slug, 0
	})
	hop := func(r *request) int {
		return slices.IndexFunc(hops, func(h string) bool { return strings.HasPrefix(r.path, h) })
	}
	f.fail(1, func(r *request) bool { return hop(r) >= 0 })
	f.follow = func(r *request) string {
		i := hop(r)
		if i < 0 {
			return ""
		}
		slug := r.path[len(hops[i]):]
		if i+1 == len(hops) {
			return finally[slug]
		}
		return hops[i+1] + slug
	}
	f.valid = func() bool { return f.Lines >= 60*len(hops) && w.largestShare(f) >= .011*float64(len(hops)) }
	return len(search) > 0
}

func (w *world) plantParameterCrawl(code string) bool {
	s, section := w.pickSpanToEnd(), w.pickBusySection()
	of := w.shuffledCrawlers("s", 900/s.days())
	if len(of) == 0 {
		return false
	}
	of = of[:1+w.rng.IntN(min(3, len(of)))]
	f := w.plant(code, section.path, s, of...)
	f.Parameter = pick(w.rng, []string{"color", "sort", "size", "view", "filter"})
	second := pick(w.rng, []string{"", "", "&order="})
	least := math.Inf(1)
	for _, c := range of {
		least = min(least, c.expected(s))
	}
	// Few values and pages, so that URLs are requested more than once and are not an infinite URL space.
	p, values := w.between(.2, .5), 8+w.rng.IntN(12)
	pages := section.pages[:max(1, min(len(section.pages), int(p*least/1.6/float64(values))))]
	f.leadTo(p, func(_ *request, rng *rand.Rand) (string, int) {
		page, value := pick(rng, pages), rng.IntN(values)
		url := page.path + "?" + f.Parameter + "=" + words[value]
		if second != "" {
			url += second + words[value/4]
		}
		return url, page.size
	})
	f.valid = func() bool { return f.URLs >= 220 && w.largestShare(f) >= .16 }
	return true
}

func (w *world) plantEndlessURLs(code string) bool {
	s, pages, n := w.pickSpanToEnd(), w.pickBusySection().pages, int64(0)
	of := slices.Concat(w.shuffledCrawlers("s", 400/s.days()), w.shuffledCrawlers("ao", 400/s.days()))
	if len(of) == 0 {
		return false
	}
	roots := []string{"/calendar/", "/s/", "/wiki/", "/list/"}
	f := w.plant(code, pick(w.rng, roots), s, of[:1+w.rng.IntN(min(3, len(of)))]...)
	f.leadTo(w.logBetween(.07, .4), func(_ *request, rng *rand.Rand) (path string, _ int) {
		switch n++; f.Path {
		case "/calendar/":
			path = strings.ReplaceAll(stamp(w.to + n*day)[:10], "-", "/")
		case "/s/":
			path = fmt.Sprintf("%016x%s", rng.Uint64(), pick(rng, pages).path)
		case "/wiki/":
			path = strings.Repeat(pick(rng, words)+"/"+pick(rng, words)+"/", 2+rng.IntN(3)) + pick(rng, words) + "/"
		default:
			path = fmt.Sprintf("%d/%d", rng.IntN(9000), rng.IntN(9000))
		}
		return f.Path + path, 9000 + rng.IntN(4000)
	})
	f.valid = func() bool { return f.URLs >= 220 && w.largestShare(f) >= .055 }
	return true
}

func (w *world) plantBytesHog(code string) bool {
	s := w.pickSpanToEnd()
	for _, c := range w.shuffledCrawlers("sao", 2*w.leastRequests()/w.days()) {
		share := max(w.leastRequests(), 2.5*w.days()) * w.logBetween(1.1, 4) / c.expected(s)
		if share > .6 {
			continue
		}
		files := []string{"/files/" + pick(w.rng, words) + pick(w.rng, []string{".pdf", ".zip", ".mp4"})}
		f := w.plant(code, files[0], s, c)
		part := .28 // share of the bytes of all others
		if w.chance(.3) {
			f.Path, part = "/files/", 1.1
			for i := range 5 + w.rng.IntN(30) {
				files = append(files, fmt.Sprintf("/files/%s-%d.zip", pick(w.rng, words), i))
			}
		}
		f.leadTo(share, func(_ *request, rng *rand.Rand) (string, int) { return pick(rng, files), 0 })
		f.valid = func() bool {
			others := 0.0
			for i := range w.log {
				others += float64(w.log[i].size)
			}
			f.Size = int(max(1.2e9, part*others) * w.logBetween(1, 3) / float64(f.Lines))
			f.Bytes = int64(f.Size) * int64(f.Lines)
			for i := range w.log {
				if w.log[i].cause == f.effect {
					w.log[i].size = f.Size
				}
			}
			return true
		}
		return true
	}
	return false
}

func (w *world) plantSitemapBadURLs(code string) bool {
	section := w.pickBusySection()
	f := w.plant(code, section.path, w.span)
	f.Agents, f.Status, f.Size = clientNames(w.shuffledCrawlers("s", 5)), pick(w.rng, []int{404, 404, 410, 301}), w.notFound
	gone := map[string]bool{}
	n := min(int(w.logBetween(.02, .12)*float64(len(w.listed))), len(section.pages)*6/10)
	for _, i := range w.rng.Perm(len(section.pages))[:n] {
		gone[section.pages[i].path] = true
	}
	f.fail(1, func(r *request) bool { return gone[r.path] })
	f.shows = func(r *request) bool { return r.cause == f.effect && r.who.kind == 's' }
	f.valid = func() bool { return float64(f.URLs) >= max(12, .012*float64(len(w.listed))) }
	return true
}

func (w *world) plantDelayIgnored(code string) bool {
	for _, c := range w.evenCrawlers("so", 200/w.days()) {
		if !slices.Contains([]string{"bingbot", "AhrefsBot", "SemrushBot", "SeznamBot"}, c.name) {
			continue
		}
		f := w.plant(code, "", w.span, c)
		f.Delay = pick(w.rng, []int{5, 10, 10})
		c.odd, c.burst, c.gap = true, w.between(45, 120), max(1, float64(f.Delay)/w.between(5, 10))
		w.delays[c.name] = f.Delay
		last := int64(0)
		f.shows = func(r *request) bool {
			if r.who != c || r.unattended {
				return false
			}
			pause := r.at - last
			last = r.at
			return pause < int64(f.Delay)-1
		}
		f.valid = func() bool { return f.Lines >= 110 && float64(f.Lines) > .22*c.expected(w.span) }
		return true
	}
	return false
}

// certain is the strength (see client.strength) that a change needs: a probability of 1e-6 over about 1e7 windows and
// crawlers.
const certain = 30

func (w *world) plantSlowed(code string) bool {
	for _, c := range w.evenCrawlers("s", 30) {
		multiple := w.logBetween(.1, .42)
		lead := 3.2 * day
		room := float64(w.to-w.from) - 2*lead
		s, ok := w.placeSpan(c, func() span {
			from := w.from + int64(lead+w.rng.Float64()*max(room, 0))
			if w.to-from > 8*day && w.chance(.3) {
				return span{from, from + int64(w.between(4, 5)*day)}
			}
			return span{from, w.to}
		}, func(s span) bool { return room > 0 && c.strength(s, multiple) > certain })
		if !ok {
			continue
		}
		f := w.plant(code, "", s, c)
		c.odd = true
		f.pace = func(int64) float64 { return multiple }
		f.shows = f.isPage
		f.valid = func() bool { return w.hasFallen(c, s) }
		return true
	}
	return false
}

func (w *world) plantStopped(code string) bool {
	of, everyone := w.evenCrawlers("s", 48), w.chance(.35)
	if everyone {
		of = w.clients[:1]
	}
	for _, c := range of {
		alone, who := c, []*client{c}
		if everyone {
			alone, who = nil, w.clients
		}
		s, ok := w.placeSpan(alone, w.spellDrawer(13, 96), func(s span) bool { return c.strength(s, 0) > certain })
		if !ok {
			continue
		}
		f := w.plant(code, "", s, who...)
		f.Everyone, c.odd = everyone, true
		f.pace = func(int64) float64 { return 0 }
		f.shows = f.isPage
		f.valid = func() bool { return f.lost >= 40 && w.longestRest(c, s.from) < (s.to-s.from)/3 }
		return true
	}
	return false
}

func (w *world) plantSurge(code string) bool {
	for _, c := range w.evenCrawlers("sao", 24) {
		multiple := w.logBetween(4.8, 15)
		s, ok := w.placeSpan(c, w.spellDrawer(4, 40), func(s span) bool {
			multiple = max(multiple, .075*float64(w.requests)*s.days()/w.days()/c.expected(s))
			return multiple < 60 && c.strength(s, multiple) > certain
		})
		if !ok {
			continue
		}
		f := w.plant(code, "", s, c)
		c.odd = true
		f.pace = func(int64) float64 { return multiple }
		f.shows = f.isPage
		f.valid = func() bool {
			all := w.countLines(func(r *request) bool { return s.has(r.at) })
			part := max(2*hour, (s.to-s.from)*15/100) // the report dates it by visible requests, which are not continuous
			for _, end := range []span{{s.from, s.from + part}, {s.to - part, s.to}} {
				seen := w.countLines(func(r *request) bool { return r.who == c && end.has(r.at) })
				if float64(seen) < max(8, 2.5*c.expected(end)) {
					return false
				}
			}
			return float64(f.Lines) > max(4.3*c.expected(s), .055*float64(all))
		}
		return true
	}
	return false
}

func (w *world) plantImpostors(code string) bool {
	victims := slices.DeleteFunc(w.shuffledCrawlers("sa", 0), func(c *client) bool { return c.list == "" })
	s := w.span
	if w.chance(.6) {
		s.from += int64(w.between(.1, .5) * float64(w.to-w.from))
		s.to = min(w.to, s.from+int64(w.logBetween(4, 120)*hour))
	}
	networks := make([]string, 1+w.rng.IntN(3))
	for i := range networks {
		networks[i] = pick(w.rng, []string{"45.134.", "185.220.", "193.32.", "103.152.", "5.188."}) + strconv.Itoa(w.rng.IntN(256))
	}
	c := w.addImpostor(victims[0], s, w.logBetween(125, .05*float64(w.requests))+w.leastRequests(), networks...)
	f := w.plant(code, "", s, c)
	f.Agents, f.Networks, f.seen = []string{victims[0].name}, c.nets, true
	f.shows = func(r *request) bool { return r.who == c }
	f.valid = func() bool { return f.Lines >= 105 }
	return true
}

// addImpostor adds a client that uses a crawler's name.
func (w *world) addImpostor(victim *client, s span, requests float64, networks ...string) *client {
	c := &client{name: "no " + victim.name, agent: victim.agent, kind: 'i', span: s, nets: networks, taste: victim.taste, daily: 1, shape: 20, gap: 3}
	c.week, c.hours, c.burst = w.weekdays(.9, 1.1), w.hourly(.2, 4), min(requests/8, w.between(5, 30))
	c.daily = requests / c.expected(s)
	c.level = w.levels(c)
	w.clients = append(w.clients, c)
	return c
}

func (w *world) plantRulesIgnored(code string) bool {
	for _, c := range w.evenCrawlers("ao", 2*w.leastRequests()/w.days()) {
		s := w.pickSpanToEnd()
		share := max(w.leastRequests()/c.expected(s), .012) * w.logBetween(1.2, 8)
		if share > .6 {
			continue
		}
		f := w.plant(code, pick(w.rng, []string{"/search", "/admin/", "/print/", "/", "/internal/"}), s, c)
		switch f.Path {
		case "/":
			w.closed = append(w.closed, c.name)
			f.steer = func(r *request, _ *rand.Rand) { r.unbound, r.cause = true, f.effect }
		case "/print/", "/internal/":
			w.changes = append(w.changes, change{span: span{w.from - 9*day, w.to}, rule: rule{prefix: f.Path}})
			fallthrough
		default:
			f.leadTo(share, func(r *request, rng *rand.Rand) (string, int) {
				r.unbound = true
				return f.Path + map[bool]string{true: "?q="}[f.Path == "/search"] + pick(rng, words) + strconv.Itoa(rng.IntN(300)), 7000 + rng.IntN(9000)
			})
		}
		c.odd, f.seen = true, true
		f.shows = func(r *request) bool { return r.who == c && r.unbound }
		f.valid = func() bool { return w.largestShare(f) >= .012 }
		return true
	}
	return false
}

// addChange adds the fault's change of robots.txt. Its effect is that requests are not made.
func (w *world) addChange(f *fault, c change) {
	c.span, c.rule.by = f.span, f.effect
	if f.from == w.from {
		c.from -= 9 * day // it was in force before the log
	}
	w.changes = append(w.changes, c)
}

func (w *world) plantRulesAdded(code string) bool {
	s := span{w.from + int64(w.between(.4, .7)*float64(w.to-w.from)), w.to}
	path, resources := w.pickBusySection().path, code == "resources_blocked"
	if resources {
		path = pick(w.rng, []string{"/assets/", "/assets/", "/assets/css/", "/assets/js/"})
		if w.chance(.4) {
			s = w.span
		}
	}
	f := w.plant(code, path, s)
	w.addChange(f, change{rule: rule{prefix: path}})
	f.shows = func(r *request) bool { return f.has(r.at) && f.isUnder(r) && slices.Contains(f.Agents, r.who.name) }
	f.valid = func() bool {
		return resources && f.Asked >= 520 || !resources && float64(f.Asked) >= .025*float64(f.Of)
	}
	return true
}

func (w *world) plantSiteClosed(code string) bool {
	s, ok := w.placeSpan(nil, w.spellDrawer(20, 120), nil)
	f := w.plant(code, "/", s)
	c := change{all: true}
	switch x := w.rng.Float64(); {
	case x < .3:
		c.spare = []string{"Googlebot", "bingbot"}[:1+w.rng.IntN(2)]
	case x < .5:
		c.all, c.close = false, []string{pick(w.rng, []string{"Googlebot", "bingbot"})}
	}
	w.addChange(f, c)
	f.shows = f.isPage
	return ok
}

func (w *world) plantRobotsTxt(code string) bool {
	longest := 150.0
	if code == "robots_txt_failed" {
		longest = 60
	}
	s, ok := w.placeSpan(nil, w.spellDrawer(5, longest), nil)
	f := w.plant(code, "/robots.txt", s)
	f.Agents, f.Size = nil, pick(w.rng, []int{0, 162, 512, w.notFound})
	switch code {
	case "robots_txt_failed":
		f.Status = pick(w.rng, []int{500, 502, 503, 503, 504, 429})
	case "robots_txt_missing":
		f.Status = pick(w.rng, []int{404, 404, 410, 403})
	default: // an empty file, a page, an error page, or another text
		f.Status, f.Size = 200, pick(w.rng, []int{0, w.home, w.home, w.notFound, 1200 + w.rng.IntN(300)})
	}
	if f.Status != 200 {
		w.addChange(f, change{status: f.Status})
	}
	f.fail(1, func(r *request) bool { return r.path == f.Path })
	f.shows = func(r *request) bool { return r.cause == f.effect && r.path == f.Path && r.who.bound() }
	f.valid = func() bool { return f.Lines >= 5 && len(f.Agents) >= 2 }
	return ok
}

func (w *world) plantServerErrors(code string) bool {
	s := w.pickSpanToEnd()
	if w.chance(.5) {
		s.from = max(w.from, s.from-s.from%day)
	}
	f := w.plant(code, w.pickBusySection().path, s)
	f.Status, f.Size = pick(w.rng, []int{500, 502, 503, 504}), 500
	f.fail(w.logBetween(.027, .3), f.isUnder)
	f.valid = func() bool {
		return f.Lines >= 110 && f.URLs >= 22 && float64(f.Lines) >= .022*float64(f.Of) && f.days() > 3
	}
	return true
}

func (w *world) plantOutage(code string) bool {
	section := w.pickBusySection().path
	s, ok := w.placeSpan(nil, w.spellDrawer(.7, 20), nil)
	f := w.plant(code, pick(w.rng, []string{"/", section, section}), s)
	if f.Path == "/" {
		f.Consequences = append(f.Consequences, "robots_txt_failed", "crawler_refused")
	}
	f.Status, f.Size = pick(w.rng, []int{500, 502, 503, 503, 504}), 520
	f.fail(min(1, w.between(.65, 1.5)), f.isUnder)
	f.valid = func() bool { return f.Lines >= 35 && (f.to-f.from > 2*hour || f.Lines > 200) }
	return ok
}

func (w *world) plantCrawlerRefused(code string) bool {
	for _, c := range w.evenCrawlers("s", 20) {
		s, ok := w.placeSpan(c, w.spellDrawer(5, 200), func(s span) bool { return c.expected(s) > 1.6*max(50, w.leastRequests()) })
		if !ok {
			continue
		}
		f := w.plant(code, "/", s, c)
		f.Status, f.Size = pick(w.rng, []int{403, 403, 403, 401, 406, 429, 503}), 199
		slower, robots := w.between(.3, 1), w.chance(.5) && f.Status < 429
		c.odd = true
		f.pace = func(t int64) float64 { // it visits less often from half a day on
			if t > s.from+12*hour {
				return slower
			}
			return 1
		}
		f.fail(w.between(.65, 1), func(r *request) bool { return r.path != "/robots.txt" || robots })
		f.shows = func(r *request) bool { return r.cause == f.effect && r.status == f.Status && !r.unattended }
		f.valid = func() bool { return float64(f.Lines) >= max(52, .55*float64(f.Of)) }
		return true
	}
	return false
}
