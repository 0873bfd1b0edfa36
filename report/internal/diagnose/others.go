package diagnose

import (
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// Facts that other packages count. The zero values are empty.
type (
	// A Parameter counts the distinct URLs of a site with a query parameter that crawlers fetched and may fetch.
	Parameter struct {
		Name        string
		Origin      string
		URLs, Paths int64
		Bare        int64  // URLs whose path is also served without a query
		Sized, Same int64  // URLs whose size can be compared with others of their path, and those with equal size
		Pattern     string // of rules that close them, at any place of a query; "" if a rule cannot have the name
		Examples    []string
	}

	// A Space is an endless URL space.
	Space struct {
		Text     string // "an endless calendar"
		Origin   string
		Path     string // common directory
		URLs     int64
		Requests int64 // of crawlers
		By       map[int]int64
		Pattern  string // pattern of a rule that closes them and hardly any other URL; "" if there is none

		common []byte // common prefix of their paths
	}

	// A Conduct says how a crawler followed the rules that bind it.
	Conduct struct {
		Agent       int
		Requests    int64
		Knew        int64 // requests disallowed by the text that it had fetched
		First, Last int64 // of these, in microseconds
		Gaps, Short int64 // gaps between its requests, and those shorter than its Crawl-delay
	}

	// A Listing counts the distinct URLs of sitemaps.
	Listing struct {
		Listed, Missing int64            // Missing: not found by search crawlers, or redirected
		MissingIn       map[string]int64 // by first directory
		Requests        int64            // requests of search crawlers for missing URLs
	}

	// A Hog describes large transfers: the URL of which a crawler took the most bytes, all bytes of a crawler, or the
	// directory with nearly all of these.
	Hog struct {
		Agent    int
		Origin   string
		Path     string // "" for all URLs
		Requests int64
		Bytes    int64
	}

	// A Chain is a sequence of redirects, as shapes of paths.
	Chain struct {
		Shapes    []string
		Redirects int64
	}
)

// An Eater counts the bytes that a crawler took. URLs must come by origin and directory. The zero value is empty.
type Eater struct{ all, now, most Hog }

// Add adds requests for a URL of an origin.
func (e *Eater) Add(agent int, origin, path []byte, requests, bytes int64) {
	end, _ := directoryOf(path)
	if i := strings.IndexByte(string(path[min(1, end):end]), '/'); i >= 0 {
		end = i + 2
	}
	if string(origin) != e.now.Origin || string(path[:end]) != e.now.Path {
		e.End()
		e.now = Hog{Agent: agent, Origin: string(origin), Path: string(path[:end])}
	}
	e.all.Agent = agent
	for _, h := range []*Hog{&e.all, &e.now} {
		h.Requests, h.Bytes = h.Requests+requests, h.Bytes+bytes
	}
}

// End returns what the crawler took.
func (e *Eater) End() Hog {
	if e.now.Bytes > e.most.Bytes {
		e.most = e.now
	}
	if e.most.Path != "/" && float64(e.most.Bytes) >= hogHolds*float64(e.all.Bytes) {
		return e.most
	}
	return e.all
}

// IsOften reports whether that many requests for a file are more than about one per day of the log.
func (c *Counts) IsOften(requests int64) bool {
	return float64(requests*day) >= hogDaily*float64(c.dates[1]-c.dates[0])
}

// A place is a directory with those below it, or the pages of one size in them.
type place struct {
	path   string
	bucket uint32 // bucket of the size; 0 means none
}

// below returns the place of the directory of a path.
func below(path string) place { return place{path: directory(path)} }

// watches returns the places whose requests must be tracked, because a fact is about them.
func (g *grid) watches(s *site) map[place]table {
	all := map[place]table{}
	if len(g.Chain.Shapes) > 2 {
		all[below(g.Chain.Shapes[0])] = table{}
	}
	for _, h := range g.Hogs {
		if h.Origin == s.origin && h.Path != "" && h.Bytes >= hogBytes {
			all[below(h.Path)] = table{}
		}
	}
	for _, space := range g.Spaces {
		if space.Origin == s.origin {
			all[below(space.Path)] = table{}
		}
	}
	for _, soft := range g.Soft {
		if path, isHere := strings.CutPrefix(soft.Directory, s.origin); isHere {
			one := place{sizedName + path, uint32(soft.bucket)}
			all[one] = table{}
			all[place{one.path, one.bucket + 1}] = all[one]
		}
	}
	return all
}

// directory returns the directory in which requests for a path are counted.
func directory(path string) string {
	end, _ := directoryOf([]byte(path))
	return path[:max(end, min(1, len(path)))]
}

// busy returns the requests of the time range with the highest rate, far above the rest, in total and by crawler.
func (v *survey) busy(pages table) (by map[uint16]int64, sum count) {
	isAny := func(cellKey) bool { return true }
	by, _ = pages.by(isAny)
	slots := pages.hours(v.slots, isAny)
	mean := float64(total(slots).n) / float64(v.slots)
	for _, in := range segments(v.slots, func(i int) float64 { return float64(slots[i].n) - tallyEdge*mean }) {
		if n := in.of(slots); n.n > sum.n {
			sum = n
		}
	}
	return by, sum
}

// wasted returns a row about wasted requests, naming the crawler with the greatest share of its page requests in that
// time range. Crawlers with few requests are ignored.
func (v *survey) wasted(code, path string, by map[uint16]int64, n count) Row {
	r := v.row(code, v.site.origin, path, n)
	r.Agents = v.agentsOf(by)
	busiest, most := uint16(0), 0.
	for a, n := range by {
		share := float64(n) / float64(max(1, v.site.ownPages(a, v.slotsOf(&r))))
		if v.isSearch(a) && n >= leastShown && (share > most || share == most && a < busiest) {
			busiest, most = a, share
		}
	}
	r.Evidence.Share, r.Evidence.Crawler = rounded(most), v.Agents[busiest].Name
	return r
}

// findWasted finds what crawlers waste requests on: error pages with status 200, parameters, endless URL spaces and
// chains of redirects.
func (v *survey) findWasted() {
	for _, p := range v.Parameters {
		if p.Origin != v.site.origin {
			continue
		}
		by, sum := v.busy(v.named["/?"+p.Name])
		r := v.wasted(ParameterCrawl, "", by, sum)
		same := float64(p.Same) >= parameterSame*float64(p.Sized) && p.Sized > 0
		if r.Evidence.Share < parameterShare || p.URLs < parameterURLs || p.URLs < parameterFan*p.Paths || 2*p.Bare < p.URLs && !same {
			continue
		}
		r.Evidence.URLs, r.Evidence.Paths, r.Evidence.Parameter = p.URLs, p.Paths, p.Name
		crawled := int64(0)
		for a := range by {
			crawled += v.site.ownPages(a, v.slotsOf(&r))
		}
		if crawled < smallCrawl {
			r.lost = float64(sum.n) / 40
		}
		r.Remedy.Pattern, r.Remedy.Examples = p.Pattern, p.Examples
		i := slices.IndexFunc(v.rows, func(o Row) bool {
			return o.Code == r.Code && o.Origin == r.Origin && float64(min(o.Requests, r.Requests)) >= parameterBeside*float64(max(o.Requests, r.Requests))
		})
		if i >= 0 {
			v.rows[i].Evidence.Parameter += ", " + p.Name
			continue
		}
		v.rows = append(v.rows, r)
	}
	for _, s := range v.Spaces {
		if s.Origin != v.site.origin || s.URLs < endlessURLs || float64(s.URLs)*float64(len(s.By)) < endlessOnce*float64(s.Requests) {
			continue
		}
		by, pages := map[uint16]int64{}, v.watched[below(s.Path)]
		for a, n := range s.By {
			by[uint16(a)] = n
		}
		dates := pages.sum(func(k cellKey) bool { return by[k.agent] > 0 })
		late := pages.sum(func(k cellKey) bool { return by[k.agent] > 0 && 4*(int(k.slot)+1) > 3*v.slots }).n
		r := v.wasted(EndlessURLs, directory(s.Path), by, dates)
		if r.Evidence.Share < endlessShare || float64(late) < endlessLate*float64(dates.n) || dates.n == 0 {
			continue
		}
		r.Requests, r.Evidence.URLs, r.Evidence.Kind, r.Remedy.Pattern = s.Requests, s.URLs, s.Text, s.Pattern
		v.rows = append(v.rows, r)
	}
	if len(v.Chain.Shapes) > 2 { // dated by the redirects of its first directory
		isMoved := func(k cellKey) bool { return k.status/100 == 3 && k.status != 304 }
		from := v.watched[below(v.Chain.Shapes[0])]
		by, _ := from.by(isMoved)
		dates := from.sum(isMoved)
		r := v.wasted(RedirectChain, directory(v.Chain.Shapes[0]), by, dates)
		if dates.n >= chainRuns && r.Evidence.Share >= chainShare && (r.Path == "/" || float64(v.Chain.Redirects) >= chainHolds*float64(dates.n)) {
			r.Requests, r.Evidence.Chain = v.Chain.Redirects, strings.Join(v.Chain.Shapes, " -> ")
			v.rows = append(v.rows, r)
		}
	}
	for _, s := range v.Soft {
		if path, isHere := strings.CutPrefix(s.Directory, v.site.origin); isHere {
			by, sum := v.busy(v.watched[place{sizedName + path, uint32(s.bucket)}])
			r := v.wasted(SoftNotFound, path, by, sum)
			if r.Evidence.URLs, r.Evidence.Size = s.URLs, s.Size; r.Evidence.Share >= softShare {
				v.rows = append(v.rows, r)
			}
		}
	}
	v.findHog()
}

// findHog adds a row for the URL of which a crawler took the most bytes, or else for a crawler that took half of all
// bytes with few requests.
func (v *survey) findHog() {
	for i, h := range v.Hogs {
		isURL, share := i == 0, float64(h.Bytes)/float64(max(1, v.Bytes))
		if h.Bytes < hogBytes || h.Origin != "" && h.Origin != v.site.origin || h.Origin == "" && v.site != v.sites[0] || isURL && share < hogURL || !isURL && (share < hogCrawler || float64(h.Requests) > hogRequests*float64(v.requests) || !v.counts.IsOften(h.Requests)) {
			continue
		}
		dates := total(v.traffic[h.Agent])
		if n := v.watched[below(h.Path)].sum(func(k cellKey) bool { return int(k.agent) == h.Agent }); h.Path != "" && n.n > 0 {
			dates = n
		}
		r := v.row(BytesHog, h.Origin, h.Path, dates, uint16(h.Agent))
		r.Requests, r.Evidence = h.Requests, Evidence{Bytes: h.Bytes, AllBytes: v.Bytes, Share: rounded(share)}
		if r.Remedy.Examples = []string{h.Path}; isPlain(h.Path) && h.Path != "" && !v.isSearch(uint16(h.Agent)) {
			if r.Remedy.Pattern = h.Path; !strings.HasSuffix(h.Path, "/") {
				r.Remedy.Pattern += "$"
			}
		}
		v.rows = append(v.rows, r)
		return
	}
}

// findConduct finds the crawlers that ignored rules or a Crawl-delay.
func (g *grid) findConduct() {
	for _, c := range g.Conducts {
		r := g.row(RulesIgnored, "", "", count{c.Knew, floor(c.First, 1e6), floor(c.Last, 1e6)}, uint16(c.Agent))
		isKnown := !slices.ContainsFunc(g.Texts, func(t Text) bool {
			return t.At.IsZero() && !g.wasSent(&t, r.From.Unix()-day, r.To.Unix())
		})
		if r.Of = c.Requests; isKnown && c.Knew >= leastShown && float64(c.Knew) >= leastOwnShare*float64(c.Requests) {
			g.rows = append(g.rows, r)
		}
		delay, since, texts := 0.0, int64(0), g.textsOf(g.sites[0].origin) // that of the last text, since the first that has it
		for _, t := range slices.Backward(texts) {
			seconds, ok := robots.Inspect(t.Body, g.Dialect).CrawlDelay(robots.NewAgent(r.Agents[0], g.Dialect))
			if !ok {
				break
			}
			if since = t.At.Unix(); delay == 0 {
				delay = seconds
			}
		}
		if delay >= 1 && delayed[r.Agents[0]] && c.Gaps >= delayGaps && float64(c.Short) >= delayShort*float64(c.Gaps) {
			r = g.row(DelayIgnored, "", "", count{c.Short, max(g.from, since), g.to}, uint16(c.Agent))
			r.Ongoing, r.Of, r.Evidence.Delay = true, c.Gaps, delay
			g.rows = append(g.rows, r)
		}
	}
}

// delayed are the crawlers that obey Crawl-delay according to their operators.
var delayed = map[string]bool{"bingbot": true, "AhrefsBot": true, "SemrushBot": true, "SeznamBot": true, "MJ12bot": true, "DotBot": true}

// findImpostors finds the names of crawlers that impostors used.
func (g *grid) findImpostors() {
	for a := 1; a < len(g.Agents); a++ {
		n := total(g.traffic[len(g.Agents)+a])
		own := total(g.traffic[a]).n
		if n.n < impostorsLeast && (n.n < leastShown || float64(n.n) < impostorsShare*float64(n.n+own)) {
			continue
		}
		r := g.row(Impostors, "", "", n, uint16(a))
		r.Of, r.Evidence.Network = n.n+own, g.Networks[a]
		g.rows = append(g.rows, r)
	}
}

// findListed finds URLs of sitemaps that are not found, or redirect. Server errors have other codes.
func (g *grid) findListed() {
	s := &g.Listing
	if s.Missing < listedLeast || float64(s.Missing) < listedShare*float64(s.Listed) {
		return
	}
	r := g.row(SitemapBad, "", "", count{s.Requests, g.from, g.to})
	r.Ongoing, r.Evidence = true, Evidence{URLs: s.Missing, Share: rounded(float64(s.Missing) / float64(s.Listed))}
	if dir := mode(s.MissingIn); dir != "/" && 2*s.MissingIn[dir] > s.Missing {
		r.Path, r.Evidence.Paths = dir, s.MissingIn[dir]
	}
	g.rows = append(g.rows, r)
}
