package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// A place is a directory with those below it, or the pages of one size in them.
type place struct {
	path   string
	bucket uint32 // bucket of the size; 0 means none
}

// placeOf returns the place of the directory of a path, without a size.
func placeOf(path string) place { return place{path: directory(path)} }

// directory returns the directory in which requests for a path are counted.
func directory(path string) string {
	end, _ := directoryOf([]byte(path))
	return path[:max(end, min(1, len(path)))]
}

// busiestRange returns the requests of the whole log by crawler, and the sum of the time range with the most requests
// among those whose slots are mostly above tallyEdge times the mean.
func (v *survey) busiestRange(pages table) (by map[uint16]float64, sum count) {
	by, _ = pages.requestsBy()
	slots := pages.perSlot(v.slots)
	mean := total(slots).n / float64(v.slots)
	for _, in := range segments(v.slots, func(i int) float64 { return slots[i].n - tallyEdge*mean }) {
		if n := in.sumOf(slots); n.n > sum.n {
			sum = n
		}
	}
	return by, sum
}

// newWasteRow returns a row about n wasted requests. by has their number by crawler. The evidence names the search
// crawler that wasted the greatest share of its page requests in that time range; crawlers with few requests are
// ignored.
func (v *survey) newWasteRow(code, path string, by map[uint16]float64, n count) Row {
	r := v.newRow(code, v.site.origin, path, n)
	r.Agents = v.agentsOf(by)
	busiest, most := uint16(0), 0.
	for a, n := range by {
		share := n / max(1, v.site.ownPages(a, v.slotsOf(&r)))
		if v.isSearch(a) && n >= leastShown && (share > most || share == most && a < busiest) {
			busiest, most = a, share
		}
	}
	r.Evidence.Share, r.Evidence.Crawler = rounded(most), v.Agents[busiest].Name
	return r
}

// findWasted finds what search crawlers waste requests on. The proof is a share of the requests of one of them, and for
// each code that the URLs are not pages.
func (v *survey) findWasted() {
	for _, p := range v.Parameters { // whose values are many, but the paths few; those exist without it, or pages have equal sizes
		if p.Origin != v.site.origin {
			continue
		}
		by, sum := v.busiestRange(v.named["/?"+p.Name])
		r := v.newWasteRow(ParameterCrawl, "", by, sum)
		same := float64(p.Same) >= parameterSame*float64(p.Sized) && p.Sized > 0
		if r.Evidence.Share < parameterShare || p.URLs < parameterURLs || p.URLs < parameterFan*p.Paths || 2*p.Bare < p.URLs && !same {
			continue
		}
		r.Evidence.URLs, r.Evidence.Paths, r.Evidence.Parameter = p.URLs, p.Paths, p.Name
		crawled := 0.
		for a := range by {
			crawled += v.site.ownPages(a, v.slotsOf(&r))
		}
		if crawled < smallCrawl {
			r.lost = sum.n / 40
		}
		r.Remedy.Pattern, r.Remedy.Examples = p.Pattern, p.Examples
		i := slices.IndexFunc(v.rows, func(o Row) bool {
			return o.Code == r.Code && o.Origin == r.Origin && float64(min(o.Requests, r.Requests)) >= parameterBeside*float64(max(o.Requests, r.Requests))
		})
		if i < 0 {
			v.addRow(r)
		} else {
			v.rows[i].Evidence.Parameter += ", " + p.Name
		}
	}
	for _, s := range v.Spaces { // calendars, session ids and the like, of which nearly each URL is requested once, until the end of the log
		if s.Origin != v.site.origin || s.URLs < endlessURLs || float64(s.URLs)*float64(len(s.By)) < endlessOnce*float64(s.Requests) {
			continue
		}
		by, pages := map[uint16]float64{}, v.watched[placeOf(s.Path)]
		for a, n := range s.By {
			by[uint16(a)] = float64(n)
		}
		crawls := func(k cellKey) bool { return by[k.agent] > 0 }
		dates, late := pages.sum(crawls), pages.sum(crawls, segment{3 * v.slots / 4, v.slots}.hasKey)
		r := v.newWasteRow(EndlessURLs, directory(s.Path), by, dates)
		if r.Evidence.Share < endlessShare || late.n < endlessLate*dates.n || dates.n == 0 {
			continue
		}
		r.Requests, r.Evidence.URLs, r.Evidence.Kind, r.Remedy.Pattern = s.Requests, s.URLs, s.Text, s.Pattern
		v.addRow(r)
	}
	if len(v.Chain.Shapes) > 2 { // two redirects in a row; they are dated by those of the first directory
		isMoved := func(k cellKey) bool { return k.status/100 == 3 && k.status != 304 }
		by, _ := v.watched[placeOf(v.Chain.Shapes[0])].requestsBy(isMoved)
		dates := v.watched[placeOf(v.Chain.Shapes[0])].sum(isMoved)
		r := v.newWasteRow(RedirectChain, directory(v.Chain.Shapes[0]), by, dates)
		if dates.n >= chainRuns && r.Evidence.Share >= chainShare && (r.Path == "/" || float64(v.Chain.Redirects) >= chainHolds*dates.n) {
			r.Requests, r.Evidence.Chain = v.Chain.Redirects, strings.Join(v.Chain.Shapes, " -> ")
			v.addRow(r)
		}
	}
	for _, s := range v.Soft { // pages of one size that no sitemap lists, see [Directories]
		if path, isHere := strings.CutPrefix(s.Directory, v.site.origin); isHere {
			by, sum := v.busiestRange(v.watched[place{sizedName + path, uint32(s.bucket)}])
			r := v.newWasteRow(SoftNotFound, path, by, sum)
			if r.Evidence.URLs, r.Evidence.Size = s.URLs, s.Size; r.Evidence.Share >= softShare {
				v.addRow(r)
			}
		}
	}
}

// findHog finds a crawler that takes most bytes, and adds at most one row. The proof is a gigabyte and one of two
// shares of all bytes: a fifth for one URL; or half for a crawler that made at most a fifth of the requests, but more
// than one per day.
func (v *survey) findHog() {
	for i, h := range v.Hogs {
		agent, share := uint16(h.Agent), float64(h.Bytes)/float64(max(1, v.Bytes))
		isFew := share >= hogCrawler && float64(h.Requests) <= hogRequests*v.requests && v.counts.IsOften(h.Requests)
		if h.Bytes < hogBytes || cmp.Or(h.Origin, v.sites[0].origin) != v.site.origin || i == 0 && share < hogURL || i > 0 && !isFew {
			continue
		}
		dates := total(v.traffic[agent])
		if n := v.watched[placeOf(h.Path)].sum(byAgent(agent)); h.Path != "" && n.n > 0 {
			dates = n
		}
		r := v.newRow(BytesHog, h.Origin, h.Path, dates, agent)
		r.Requests, r.Evidence = h.Requests, Evidence{Bytes: h.Bytes, AllBytes: v.Bytes, Share: rounded(share)}
		if r.Remedy.Examples = []string{h.Path}; isPlain(h.Path) && h.Path != "" && !v.isSearch(agent) {
			if r.Remedy.Pattern = h.Path; !strings.HasSuffix(h.Path, "/") {
				r.Remedy.Pattern += "$"
			}
		}
		v.addRow(r)
		return
	}
}

// findConduct finds the crawlers that ignored rules or a Crawl-delay. The proof of ignored rules: the robots.txt that
// the crawler itself fetched last disallows 20 of its requests. The proof of an ignored delay: a fifth of the pauses
// between its requests were shorter than the delay, which its operator says it obeys. A text without a time proves
// nothing, unless sizes in the log show that it was sent.
func (g *grid) findConduct() {
	for _, c := range g.Conducts {
		r := g.newRow(RulesIgnored, "", "", count{float64(c.Knew), floorDiv(c.First, 1e6), floorDiv(c.Last, 1e6)}, uint16(c.Agent))
		isKnown := !slices.ContainsFunc(g.Texts, func(t Text) bool {
			return t.At.IsZero() && !g.wasSent(&t, r.From.Unix()-day, r.To.Unix())
		})
		if r.Of = c.Requests; isKnown && c.Knew >= leastShown && float64(c.Knew) >= leastOwnShare*float64(c.Requests) {
			g.addRow(r)
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
			r = g.newRow(DelayIgnored, "", "", count{float64(c.Short), max(g.from, since), g.to}, uint16(c.Agent))
			r.Ongoing, r.Of, r.Evidence.Delay = true, c.Gaps, delay
			g.addRow(r)
		}
	}
}

// delayed are the crawlers that obey Crawl-delay according to their operators.
var delayed = map[string]bool{"bingbot": true, "AhrefsBot": true, "SemrushBot": true, "SeznamBot": true, "MJ12bot": true, "DotBot": true}

// findImpostors finds the names of crawlers that impostors used. The proof: 100 requests with the name, or 20 that are
// a twentieth of them, came from addresses that the operator does not publish.
func (g *grid) findImpostors() {
	for _, a := range g.crawlers() {
		n := total(g.traffic[len(g.Agents)+int(a)])
		all := n.n + total(g.traffic[a]).n
		if n.n < impostorsLeast && (n.n < leastShown || n.n < impostorsShare*all) {
			continue
		}
		r := g.newRow(Impostors, "", "", n, a)
		r.Of, r.Evidence.Network = int64(all), g.Networks[int(a)]
		g.addRow(r)
	}
}

// findListed finds bad URLs of sitemaps. The proof: search crawlers got 404, 410 or a redirect for ten of them and one
// in a hundred. Server errors have other codes.
func (g *grid) findListed() {
	s := &g.Listing
	if s.Missing < listedLeast || float64(s.Missing) < listedShare*float64(s.Listed) {
		return
	}
	r := g.newRow(SitemapBad, "", "", count{float64(s.Requests), g.from, g.to})
	r.Ongoing, r.Evidence = true, Evidence{URLs: s.Missing, Share: rounded(float64(s.Missing) / float64(s.Listed))}
	if dir := mode(s.MissingIn); dir != "/" && 2*s.MissingIn[dir] > s.Missing {
		r.Path, r.Evidence.Paths = dir, s.MissingIn[dir]
	}
	g.addRow(r)
}
