package worlds

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	hour = 3600
	day  = 24 * hour
)

// A span is a half-open interval of times in seconds since 1970.
type span struct{ from, to int64 }

func (s span) has(t int64) bool { return s.from <= t && t < s.to }
func (s span) days() float64    { return float64(s.to-s.from) / day }

// A client is a crawler, or represents all clients of a kind.
type client struct {
	name, agent string
	kind        byte     // s search, a AI, o SEO and others, u not bound by robots.txt; i impostors, p people, x scanners, m monitors
	nets        []string // the first three bytes of its addresses
	list        string   // the name of its operator's list of addresses; "" if there is none

	daily       float64 // requests per day
	level       []float64
	sigma, rho  float64 // standard deviation of the daily level, and its correlation from day to day
	shape       float64 // of the gamma distribution of a day's mean
	week        [7]float64
	hours       [24]float64 // cumulative
	burst, gap  float64     // mean number of requests per visit, and mean time between them in seconds
	refetch     float64     // seconds between requests for robots.txt
	delay       int         // minimum time between pages in seconds
	conditional bool        // may get 304 for robots.txt
	assets      float64     // share of requests
	taste       []float64   // of sections, cumulative
	span                    // when it exists
	odd         bool        // it has a rhythm of its own, or a fault
}

// bound reports whether it requests robots.txt.
func (c *client) bound() bool { return c.kind == 's' || c.kind == 'a' || c.kind == 'o' }

// crawlerTable has one line per crawler: name, kind, relative number of daily requests, list, networks, User-Agent.
const crawlerTable = `Googlebot|s|40|googlebot|66.249.64 66.249.65 66.249.66 66.249.79|Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.204 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)
bingbot|s|20|bingbot|157.55.39 40.77.167 207.46.13|Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36
Applebot|s|7|applebot|17.58.98 17.58.101|Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)
YandexBot|s|9||213.180.203 5.255.231 87.250.224|Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)
SeznamBot|s|2||77.75.76|Mozilla/5.0 (compatible; SeznamBot/4.0; +https://o-seznam.cz/napoveda/vyhledavani/seznambot-crawler/)
DuckDuckBot|s|1|duckduckbot|20.191.45|DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)
PetalBot|s|6||114.119.138 114.119.150|Mozilla/5.0 (Linux; Android 7.0;) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; PetalBot;+https://webmaster.petalsearch.com/site/petalbot)
Baiduspider|s|3||220.181.108 116.179.32|Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)
Yeti|s|1||110.93.150|Mozilla/5.0 (compatible; Yeti/1.1; +https://naver.me/spd)
MojeekBot|s|1||5.102.173|Mozilla/5.0 (compatible; MojeekBot/0.11; +https://www.mojeek.com/bot.html)
Amazonbot|a|5||52.70.240 54.174.110|Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot) Chrome/119.0.6045.214 Safari/537.36
GPTBot|a|9|gptbot|20.171.206 52.230.152|Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)
OAI-SearchBot|a|2|searchbot|51.8.102|Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36; compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot
ClaudeBot|a|9|bots|216.73.216|Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)
PerplexityBot|a|2|perplexitybot|18.97.9|Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)
meta-externalagent|a|5||57.141.0|meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)
CCBot|a|1|ccbot|18.97.14|CCBot/2.0 (https://commoncrawl.org/faq/)
Bytespider|a|3||110.249.201 111.225.148|Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)
AhrefsBot|o|6|crawler-ip-ranges|54.36.148 51.222.253|Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)
SemrushBot|o|7||85.208.96 185.191.171|Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)
MJ12bot|o|2||95.217.40 144.76.68 5.9.140|Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)
dotbot|o|2||216.244.66|Mozilla/5.0 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot; help@moz.com)
DataForSeoBot|o|2||136.243.220|Mozilla/5.0 (compatible; DataForSeoBot/1.0; +https://dataforseo.com/dataforseo-bot)
Barkrowler|o|1||54.37.118|Mozilla/5.0 (compatible; Barkrowler/0.9; +https://babbar.tech/crawler)
ChatGPT-User|u|1|chatgpt-user|23.98.142|Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot
facebookexternalhit|u|1||173.252.127|facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)
AdsBot-Google|u|1|special-crawlers|66.249.92|AdsBot-Google (+http://www.google.com/adsbot.html)`

var (
	browsers = strings.Split(`Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36|Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1|Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36|Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0|Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1.15`, "|")
	words    = strings.Fields("amber blue cedar classic copper garden grand green home kids lake light linen mini north oak paper red river silver soft sport steel stone travel urban vintage warm winter wood")
	names    = strings.Fields("product category blog magazine recipes jobs events stores brand guide help forum news docs topics offers")
	monitor  = &client{kind: 'm', agent: "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"}
	attacks  = strings.Fields("/wp-login.php /.env /xmlrpc.php /.git/config /admin/login.php /phpmyadmin/ /vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php")
	shut     = []string{"/admin/", "/cart", "/checkout", "/search"} // disallowed for all crawlers at all times
)

// A request is a log line.
type request struct {
	at                  int64 // seconds since 1970
	who                 *client
	ip, path            string
	agent, referer      string // "" means the User-Agent of the client, and no referer
	status, size        int
	cause               *effect
	known               int    // the version of robots.txt that the crawler follows
	next                string // the URL that it requests next because of a redirect; "" if there is none
	unbound, unattended bool   // robots.txt does not bind it; the URL is not a page
}

// An effect changes the requests or responses of clients in a span. Faults and noise are effects.
type effect struct {
	span
	of     map[string]bool                  // names of crawlers; nil means all clients
	pace   func(t int64) float64            // factor for the number of requests
	steer  func(r *request, rng *rand.Rand) // may choose another URL
	answer func(r *request, rng *rand.Rand) // may change the response
	follow func(r *request) string          // the URL of a redirect
	lost   int                              // number of requests that were not made because of it
}

func (e *effect) touches(r *request) bool {
	return e.has(r.at) && (e.of == nil || e.of[r.who.name])
}

// A page is a URL that exists.
type page struct {
	path string
	size int
}

// A section is a directory of the site.
type section struct {
	path         string
	pages        []page
	crawls, read float64 // relative numbers of requests by crawlers and by people
}

// A rule is a Disallow line of robots.txt.
type rule struct {
	prefix string
	by     *effect
}

// A change changes robots.txt for some time: it adds a rule or a comment, or blocks crawlers from the whole site.
type change struct {
	span
	rule    rule
	all     bool     // block all crawlers without their own group
	spare   []string // crawlers with a group that allows everything meanwhile
	close   []string // crawlers with a group that disallows everything meanwhile
	comment string
	status  int // of the response for robots.txt; other than 200, there is no text
}

// A version is a version of robots.txt.
type version struct {
	from   int64
	status int
	text   string
	groups map[string][]rule
}

// A world is a site, with its visitors and events.
type world struct {
	span
	rng      *rand.Rand
	seed     uint64
	requests int
	host     string

	clients  []*client // crawlers
	people   *client
	sections []section
	assets   []page
	home     int
	notFound int // size of an error page
	delays   map[string]int
	closed   []string // crawlers that robots.txt blocks by name at all times
	changes  []change
	versions []version
	listed   []string // URLs in the sitemap
	effects  []*effect
	faults   []*fault
	busy     []*effect // a crawler has at most one of them at a time
	gap      span      // a span without log lines
	dropped  []string
	innocent map[string]any
	limits   []map[string]string
	log      []request
}

func (w *world) between(a, b float64) float64 { return a + (b-a)*w.rng.Float64() }
func (w *world) logBetween(a, b float64) float64 {
	return math.Exp(w.between(math.Log(a), math.Log(b)))
}
func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

func pick[T any](rng *rand.Rand, all []T) T { return all[rng.IntN(len(all))] }

func pickWeighted(rng *rand.Rand, cumulated []float64) int {
	i, _ := slices.BinarySearch(cumulated, rng.Float64()*cumulated[len(cumulated)-1])
	return i
}

func cumulate(all []float64) {
	sum := 0.0
	for i := range all {
		sum += all[i]
		all[i] = sum
	}
}

// gamma returns a random number of the gamma distribution with this shape and mean 1 (Marsaglia and Tsang; shape at
// least 1).
func gamma(rng *rand.Rand, shape float64) float64 {
	d := max(shape, 1) - 1.0/3
	for {
		x := rng.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v / max(shape, 1)
		}
	}
}

// poisson returns a random number of the Poisson distribution.
func poisson(rng *rand.Rand, mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	n, p := -1, 1.0
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= rng.Float64()
	}
	return max(n, 0)
}

// newWorld generates a site and its crawlers, without events.
func newWorld(rng *rand.Rand, seed uint64, days, requests int) *world {
	w := &world{
		rng: rng, seed: seed, requests: requests, host: fmt.Sprintf("https://www.site%d.example", seed),
		innocent: map[string]any{}, delays: map[string]int{}, limits: []map[string]string{}, dropped: []string{},
	}
	w.from = time.Date(2026, 10, 1, pick(rng, []int{0, 0, 0, 5, 20}), 0, 0, 0, time.UTC).Unix() - int64(rng.IntN(200))*day
	w.to = w.from + int64(days)*day
	w.people = &client{kind: 'p', span: w.span, week: w.weekdays(.5, 1.3), hours: w.hourly(.8, w.between(12, 20)), sigma: .1, rho: .6, shape: 60}
	w.people.level = w.levels(w.people)
	w.home, w.notFound = 15_000+rng.IntN(60_000), 1500+rng.IntN(12_000)
	for i := range 20 + rng.IntN(40) {
		ending := pick(rng, []string{"css", "js", "js", "webp", "png", "woff2"})
		folder := map[string]string{"css": "/assets/css/", "js": "/assets/js/"}[ending]
		w.assets = append(w.assets, page{cmp.Or(folder, "/static/img/") + pick(rng, words) + strconv.Itoa(i) + "." + ending, int(w.logBetween(3000, 150_000))})
	}
	for _, i := range rng.Perm(len(names))[:7+rng.IntN(5)] {
		s := section{path: "/" + names[i] + "/", crawls: w.logBetween(.3, 3), read: w.logBetween(.3, 3)}
		folders := []string{""}
		if w.chance(.4) {
			for range 2 + rng.IntN(4) {
				folders = append(folders, pick(rng, words)+"/")
			}
		}
		middle, spread := w.logBetween(12_000, 80_000), w.between(.25, .6)
		for j := range int(w.logBetween(80, 900)) {
			path := s.path + pick(rng, folders) + pick(rng, words) + "-" + pick(rng, words) + "-" + strconv.Itoa(j)
			s.pages = append(s.pages, page{path, int(middle * math.Exp(spread*rng.NormFloat64()))})
			w.listed = append(w.listed, path)
		}
		w.sections = append(w.sections, s)
	}
	w.newCrawlers()
	return w
}

func (w *world) newCrawlers() {
	lines := strings.Split(crawlerTable, "\n")
	w.rng.Shuffle(len(lines)-2, func(i, j int) { lines[2+i], lines[2+j] = lines[2+j], lines[2+i] })
	sum := 0.0
	for _, line := range lines[:10+w.rng.IntN(16)] {
		f := strings.Split(line, "|")
		weight, _ := strconv.ParseFloat(f[2], 64)
		c := &client{name: f[0], kind: f[1][0], list: f[3], nets: strings.Fields(f[4]), agent: f[5], span: w.span}
		c.daily = weight * math.Exp(.5*w.rng.NormFloat64())
		sum += c.daily
		c.sigma, c.rho, c.shape = w.between(.05, .22), w.between(.2, .8), w.logBetween(20, 120)
		if c.kind != 's' {
			c.sigma *= 1.6
		}
		c.week, c.hours = w.weekdays(.8, 1.1), w.hourly(w.between(0, .6), w.between(0, 24))
		c.burst, c.gap = w.logBetween(1, 5), w.logBetween(2, 40)
		c.refetch = w.logBetween(3, 16) * hour
		c.conditional = w.chance(.2)
		if c.kind == 's' && w.chance(.6) {
			c.assets = w.between(.03, .12)
		}
		for _, s := range w.sections {
			c.taste = append(c.taste, s.crawls*math.Exp(.3*w.rng.NormFloat64()))
		}
		cumulate(c.taste)
		w.clients = append(w.clients, c)
	}
	share := w.between(.25, .45) * float64(w.requests) / w.days() / sum
	for _, c := range w.clients {
		c.daily *= share
		c.level = w.levels(c)
	}
}

// levels returns one level per day, correlated from day to day.
func (w *world) levels(c *client) (level []float64) {
	x := w.rng.NormFloat64()
	for range int(w.days()) + 2 {
		x = c.rho*x + math.Sqrt(1-c.rho*c.rho)*w.rng.NormFloat64()
		level = append(level, math.Exp(c.sigma*x-c.sigma*c.sigma/2))
	}
	return level
}

func (w *world) weekdays(low, high float64) (week [7]float64) {
	weekend, sum := w.between(low, high), 0.0
	for i := range week {
		week[i] = w.between(.93, 1.07)
		if i == 0 || i == 6 {
			week[i] *= weekend
		}
		sum += week[i] / 7
	}
	for i := range week {
		week[i] /= sum
	}
	return week
}

func (w *world) hourly(depth, peak float64) (hours [24]float64) {
	sum := 0.0
	for i := range hours {
		sum += 1 + depth*math.Cos((float64(i)-peak)*math.Pi/12)
		hours[i] = sum
	}
	for i := range hours {
		hours[i] /= sum
	}
	return hours
}

// expected returns the expected number of a client's requests in a span, without effects.
func (c *client) expected(s span) (sum float64) {
	for t := s.from - s.from%hour; t < s.to; t += hour {
		h := t / hour % 24
		share := c.hours[h]
		if h > 0 {
			share -= c.hours[h-1]
		}
		sum += c.daily * c.week[(t/day+4)%7] * share * float64(min(s.to, t+hour)-max(s.from, t)) / hour
	}
	return sum
}

// requestTimes returns the times of a client's requests in order. Each day has visits of several requests.
func (w *world) requestTimes(c *client, rng *rand.Rand) (all []int64) {
	first := w.from - w.from%day
	for d := range int64(len(c.level)) {
		start := first + d*day
		mean := c.daily * c.week[(start/day+4)%7] * c.level[d] * gamma(rng, c.shape)
		for range poisson(rng, mean/max(c.burst, 1)) {
			t := float64(start) + (float64(pickWeighted(rng, c.hours[:]))+rng.Float64())*hour
			n := 1
			if c.burst > 1 {
				n += poisson(rng, c.burst-1)
			}
			for range n {
				if at := int64(t); w.has(at) && c.has(at) {
					all = w.appendPaced(all, c, at, rng)
				}
				t += rng.ExpFloat64() * c.gap
			}
		}
	}
	slices.Sort(all)
	return all
}

// appendPaced appends a time zero or more times, according to the effects on the client's pace.
func (w *world) appendPaced(all []int64, c *client, at int64, rng *rand.Rand) []int64 {
	times := 1.0
	r := request{at: at, who: c}
	for _, e := range w.effects {
		if e.pace == nil || !e.touches(&r) {
			continue
		}
		p := e.pace(at)
		if p < 1 && rng.Float64() >= p {
			e.lost++
			return all
		}
		times *= max(p, 1)
		for times > 1 && rng.Float64() < times-1 {
			if t := at + rng.Int64N(1800) - 900; e.has(t) {
				all = append(all, t)
			}
			times--
		}
	}
	return append(all, at)
}

// ruleFor returns the rule that disallows a path for a crawler, or nil.
func (v *version) ruleFor(c *client, path string) (found *rule) {
	group, ok := v.groups[c.name]
	if !ok && c.name == "Applebot" {
		group, ok = v.groups["Googlebot"] // the crawler obeys its group
	}
	if !ok {
		group = v.groups["*"]
	}
	for i, r := range group {
		if strings.HasPrefix(path, r.prefix) && (found == nil || len(found.prefix) < len(r.prefix)) {
			found = &group[i]
		}
	}
	return found
}

// publish generates the versions of robots.txt.
func (w *world) publish() {
	start := w.from - 9*day
	times := append(make([]int64, 0, 1+2*len(w.changes)), start)
	for _, c := range w.changes {
		times = append(times, max(c.from, start), c.to)
	}
	slices.Sort(times)
	for _, t := range slices.Compact(times) {
		if t >= w.to {
			break
		}
		v := version{from: t, status: 200, groups: map[string][]rule{}}
		base := []rule{}
		for _, path := range shut {
			base = append(base, rule{prefix: path})
		}
		star, comments := []rule(nil), ""
		own := map[string][]rule{} // groups of crawlers; nil if they have the rules for all
		for name := range w.delays {
			own[name] = nil
		}
		for _, name := range w.closed {
			own[name] = []rule{{prefix: "/"}}
		}
		for _, c := range w.changes {
			switch {
			case !c.has(t):
			case c.status != 0:
				v.status = c.status
			case c.all:
				star = []rule{{"/", c.rule.by}}
				for _, name := range c.spare {
					own[name] = nil
				}
			case c.close != nil:
				for _, name := range c.close {
					own[name] = []rule{{"/", c.rule.by}}
				}
			case c.rule.prefix != "":
				base = append(base, c.rule)
			default:
				comments += "# " + c.comment + "\n"
			}
		}
		own["*"] = slices.Concat(base, star)
		var text strings.Builder
		text.WriteString("# robots.txt of " + strings.TrimPrefix(w.host, "https://") + "\n" + comments)
		for _, name := range slices.Sorted(maps.Keys(own)) { // "*" first
			v.groups[name] = own[name]
			if own[name] == nil {
				v.groups[name] = base
			}
			text.WriteString("User-agent: " + name + "\n")
			if delay := w.delays[name]; delay > 0 {
				text.WriteString("Crawl-delay: " + strconv.Itoa(delay) + "\n")
			}
			for _, r := range v.groups[name] {
				text.WriteString("Disallow: " + r.prefix + "\n")
			}
			text.WriteByte('\n')
		}
		v.text = text.String() + "Sitemap: " + w.host + "/sitemap.xml\n"
		w.versions = append(w.versions, v)
	}
}

// versionAt returns the number of the version in force at a time.
func (w *world) versionAt(t int64) int {
	i, _ := slices.BinarySearchFunc(w.versions, t+1, func(v version, t int64) int { return cmp.Compare(v.from, t) })
	return max(i-1, 0)
}

// What a crawler follows if it is not a version.
const (
	unread  = -1 - iota // it has not requested robots.txt yet
	noRules             // the response was that there is no robots.txt
)

// crawl generates a crawler's requests in order of time.
func (w *world) crawl(c *client, rng *rand.Rand) {
	known, next := unread, int64(0)
	var failing *effect // the reason why robots.txt failed or has no rules
	failed, failedAt := false, int64(0)
	previous := int64(0)
	for _, t := range w.requestTimes(c, rng) {
		if c.delay > 0 && t < previous+int64(c.delay) {
			t = previous + int64(c.delay)
		}
		if t >= next && c.bound() {
			r := w.requestTxt(c, t-1-rng.Int64N(3), rng)
			next = t + int64(c.refetch*(.5+rng.Float64()))
			switch {
			case r.status >= 500 || r.status == 429 || r.status == 408:
				if !failed {
					failed, failedAt = true, t
				}
				failing, next = r.cause, t+1800+rng.Int64N(1800)
			case r.cause != nil || r.status >= 400:
				failed, known, failing = false, noRules, r.cause
			default:
				failed, known, failing = false, w.versionAt(r.at), nil
			}
		}
		// For 12 hours there are hardly any requests while robots.txt fails; later, there are some that follow the last
		// known rules.
		if failed && rng.Float64() < map[bool]float64{true: .98, false: .7}[t < failedAt+12*hour] {
			if failing != nil {
				failing.lost++
			}
			continue
		}
		r := request{at: t, who: c, ip: address(c, rng), known: known}
		w.chooseURL(&r, rng)
		if found := w.obstacle(&r); found != nil {
			if known == noRules && failing != nil {
				r.cause = failing
			} else if known >= 0 {
				if found.by != nil {
					found.by.lost++
				}
				continue
			}
		}
		w.addResponse(&r, rng)
		for hops := 0; r.next != "" && hops < 6 && rng.Float64() < .93; hops++ {
			r.path, r.status, r.at = r.next, 200, r.at+1+rng.Int64N(7)
			r.size, r.next, r.cause = w.sizeOf(r.path), "", nil
			if known >= 0 && w.obstacle(&r) != nil {
				break
			}
			w.addResponse(&r, rng)
		}
		previous = r.at
	}
}

// obstacle returns the rule that disallows a request in the version that the crawler follows, or in the one in force.
func (w *world) obstacle(r *request) *rule {
	v := r.known
	if v < 0 {
		v = w.versionAt(r.at)
	}
	if r.unbound || !r.who.bound() {
		return nil
	}
	return w.versions[v].ruleFor(r.who, r.path)
}

// requestTxt generates a crawler's request for robots.txt.
func (w *world) requestTxt(c *client, at int64, rng *rand.Rand) request {
	at = max(at, w.from)
	v := w.versionAt(at)
	r := request{at: at, who: c, path: "/robots.txt", ip: address(c, rng), status: 200, size: len(w.versions[v].text), unattended: true}
	if c.conditional && w.versions[v].from < at-2*day && rng.Float64() < .3 {
		r.status, r.size = 304, 0
	}
	w.addResponse(&r, rng)
	return r
}

func address(c *client, rng *rand.Rand) string {
	return pick(rng, c.nets) + "." + strconv.Itoa(1+rng.IntN(250))
}

// chooseURL chooses what a crawler requests, and the normal response.
func (w *world) chooseURL(r *request, rng *rand.Rand) {
	r.status = 200
	switch x := rng.Float64(); {
	case x < r.who.assets:
		p := pick(rng, w.assets)
		r.path, r.size, r.unattended = p.path, p.size, true
		if rng.Float64() < .3 {
			r.status, r.size = 304, 0
		}
		return
	case x > .985:
		r.path, r.size = "/", w.home
	case x > .955:
		r.path = pick(rng, []string{"/search?q=" + pick(rng, words), "/cart?add=" + strconv.Itoa(rng.IntN(900)), "/admin/" + pick(rng, words), "/checkout"})
		r.size = 9000 + rng.IntN(9000)
	case x > .945:
		r.path, r.status, r.size = pick(rng, w.sections).path+"gone-"+strconv.Itoa(rng.IntN(5000)), 404, w.notFound
	case x > .93:
		r.path, r.size = pick(rng, w.sections).path+"?page="+strconv.Itoa(2+rng.IntN(20)), 10_000+rng.IntN(60_000)
	default:
		p := pick(rng, w.sections[pickWeighted(rng, r.who.taste)].pages)
		r.path, r.size = p.path, p.size
	}
	for _, e := range w.effects {
		if e.steer != nil && e.touches(r) {
			e.steer(r, rng)
		}
	}
}

// sizeOf returns the size of a page.
func (w *world) sizeOf(path string) int {
	for i := range w.sections {
		if strings.HasPrefix(path, w.sections[i].path) {
			for _, p := range w.sections[i].pages {
				if p.path == path {
					return p.size
				}
			}
		}
	}
	return w.home
}

// addResponse applies the effects to the response to a request, and appends it to the log.
func (w *world) addResponse(r *request, rng *rand.Rand) {
	if r.size > 2000 && !r.unattended {
		r.size += rng.IntN(1+r.size/500) - r.size/1000
	}
	for _, e := range w.effects {
		if e.answer != nil && e.touches(r) {
			e.answer(r, rng)
		}
		if e.follow != nil && e.touches(r) && r.status/100 == 3 {
			r.next = cmp.Or(e.follow(r), r.next)
		}
	}
	w.log = append(w.log, *r)
}

// addVisit generates the requests of a person: pages with their assets, each referring to the next.
func (w *world) addVisit(t int64, rng *rand.Rand, taste []float64) {
	r := request{at: t, who: w.people, agent: pick(rng, browsers), referer: pick(rng, []string{"", "https://www.google.com/", "https://www.bing.com/", "https://duckduckgo.com/"})}
	r.ip = fmt.Sprintf("%d.%d.%d.%d", 78+rng.IntN(16), rng.IntN(256), rng.IntN(256), 1+rng.IntN(254))
	for i := range 1 + poisson(rng, 1.5) {
		r.status, r.cause, r.unattended, r.next = 200, nil, false, ""
		s := w.sections[pickWeighted(rng, taste)]
		p := s.pages[int(math.Pow(rng.Float64(), 3)*float64(len(s.pages)))]
		r.path, r.size = p.path, p.size
		switch x := rng.Float64(); {
		case x < .08:
			r.path, r.size = "/", w.home
		case x < .10:
			r.path, r.size = "/search?q="+pick(rng, words), 9000+rng.IntN(9000)
		case x < .11:
			r.path, r.status, r.size = "/account", 302, 0
		case x < .12:
			r.path, r.status, r.size = "/apple-touch-icon.png", 404, w.notFound
		case x < .14:
			r.path += "?utm_source=newsletter&utm_campaign=w" + strconv.Itoa(1+rng.IntN(9))
		case x < .15:
			r.path, r.size = pick(rng, []string{"/cart", "/checkout"}), 9000+rng.IntN(9000)
		}
		for _, e := range w.effects {
			if e.steer != nil && e.of == nil && e.touches(&r) {
				e.steer(&r, rng)
			}
		}
		w.addResponse(&r, rng)
		seen := w.host + r.path
		for range map[bool]int{true: 2 + rng.IntN(3), false: rng.IntN(2)}[i == 0] {
			p := pick(rng, w.assets)
			a := r
			a.at, a.path, a.size, a.status, a.referer, a.unattended, a.cause = r.at+rng.Int64N(3), p.path, p.size, 200, seen, true, nil
			w.addResponse(&a, rng)
		}
		r.referer, r.at = seen, r.at+5+int64(rng.ExpFloat64()*40)
	}
}

// addPeople generates the requests of people, as many as remain after those of crawlers.
func (w *world) addPeople(rng *rand.Rand) {
	taste := make([]float64, len(w.sections))
	for i, s := range w.sections {
		taste[i] = s.read
	}
	cumulate(taste)
	w.people.daily = max(float64(w.requests-len(w.log)), float64(w.requests)*.1) / w.days() / 6.25 // per visit: 2.5 pages and 3.75 assets
	for _, t := range w.requestTimes(w.people, rng) {
		w.addVisit(t, rng, taste)
	}
}

// generateLog generates the log.
func (w *world) generateLog() {
	w.publish()
	for i, c := range w.clients {
		w.crawl(c, rand.New(rand.NewPCG(w.rng.Uint64(), uint64(i))))
	}
	w.addPeople(rand.New(rand.NewPCG(w.rng.Uint64(), 99)))
	w.log = slices.DeleteFunc(w.log, func(r request) bool { return !w.has(r.at) || w.gap.has(r.at) })
	slices.SortStableFunc(w.log, func(a, b request) int { return cmp.Compare(a.at, b.at) })
}

func stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }
