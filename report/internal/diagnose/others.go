package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// The facts that other packages count. Their zero values are empty.
type (
	// A Parameter is the distinct URLs of a site that crawlers fetched and may, with a parameter in their query.
	Parameter struct {
		Name        string
		Origin      string
		URLs, Paths int64
		Bare        int64  // URLs whose path is served without a query, too
		Sized, Same int64  // URLs whose size can be compared with others of their path, and those that are as large
		Pattern     string // of a rule that closes them, with one for the second place of a query; "" if its name means something else in a rule
		Examples    []string
	}

	// A Space is URLs without end.
	Space struct {
		Text     string // "a calendar without end"
		Origin   string
		Path     string // the directory that they have in common
		URLs     int64
		Requests int64 // of crawlers
		By       map[int]int64
		Pattern  string // of a rule that closes them and hardly another; "" if none does

		common []byte // the beginning of their paths
	}

	// A Conduct is what a crawler did to the rules that bind it.
	Conduct struct {
		Agent       int
		Requests    int64
		Knew        int64 // disallowed requests against the text that it had fetched
		First, Last int64 // of these, in microseconds
		Gaps, Short int64 // between its requests, and those shorter than its Crawl-delay
	}

	// A Listing is the distinct URLs of sitemaps.
	Listing struct {
		Listed, Missing int64            // Missing are not found by search crawlers, or redirect
		MissingIn       map[string]int64 // by first directory
		Requests        int64            // of search crawlers, for those
	}

	// A Hog is the URL of which a crawler took most bytes, or all that a crawler took, or the directory with nearly all of that.
	Hog struct {
		Agent    int
		Origin   string
		Path     string // "" for all URLs
		Requests int64
		Bytes    int64
	}

	// A Chain is redirects that follow one another, as shapes of paths.
	Chain struct {
		Shapes    []string
		Redirects int64
	}
)

// An Eater counts the bytes that a crawler took. Its URLs come by origin and directory. The zero value has none.
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

// IsOften reports whether so many requests for a file are more than one in a day of the log, or so.
func (c *Counts) IsOften(requests int64) bool {
	return float64(requests*day) >= hogDaily*float64(c.dates[1]-c.dates[0])
}

// watches returns the directories whose requests are watched, as one of these facts is about them.
func (g *grid) watches(s *site) map[string]table {
	all := map[string]table{}
	if len(g.Chain.Shapes) > 2 {
		all[directory(g.Chain.Shapes[0])] = table{}
	}
	for _, h := range g.Hogs {
		if h.Origin == s.origin && h.Path != "" && h.Bytes >= hogBytes {
			all[directory(h.Path)] = table{}
		}
	}
	for _, space := range g.Spaces {
		if space.Origin == s.origin {
			all[directory(space.Path)] = table{}
		}
	}
	return all
}

// directory returns the directory by which requests for a path are counted.
func directory(path string) string {
	end, _ := directoryOf([]byte(path))
	return path[:max(end, min(1, len(path)))]
}

// addWatched adds a count of a directory to those that are watched.
func (v *survey) addWatched(path string, k cellKey, one count) {
	for watched, pages := range v.watched {
		if isPage(k) && v.isCrawler(k.agent) && strings.HasPrefix(path, watched) {
			pages.put(k, one)
		}
	}
}

// addParameter adds a cell of a parameter.
func (v *survey) addParameter(r *record, name string) {
	if !slices.ContainsFunc(v.Parameters, func(p Parameter) bool { return p.Name == name && p.Origin == v.site.origin }) || !v.isCrawler(r.key.agent) {
		return
	}
	v.tally(v.parameters, name, r)
}

// addSized adds a cell of pages of a size.
func (v *survey) addSized(r *record, directory string) {
	for _, s := range v.Soft {
		if bucket := int(r.key.size); strings.HasPrefix(v.site.origin+directory, s.Directory) && (bucket == s.bucket || bucket == s.bucket+1) {
			v.tally(v.soft, s.Directory, r)
		}
	}
}

// A tally is requests of crawlers by slot and crawler.
type tally struct {
	slots []count
	by    map[uint16]int64
}

// tally adds a cell to the counts of crawlers for a name.
func (v *survey) tally(of map[string]*tally, name string, r *record) {
	if of[name] == nil {
		of[name] = &tally{make([]count, v.slots), map[uint16]int64{}}
	}
	slot, one := v.countOf(r, nil)
	of[name].slots[slot].add(one)
	of[name].by[r.key.agent] += one.n
}

// busy returns the requests of the time in which most came, far more than elsewhere, and those of each crawler.
func (t *tally) busy() (by map[uint16]int64, sum count) {
	if t == nil {
		return nil, sum
	}
	scores, mean := make([]float64, len(t.slots)), float64(total(t.slots).n)/float64(len(t.slots))
	for i, n := range t.slots {
		scores[i] = float64(n.n) - tallyEdge*mean
	}
	for _, in := range segments(scores) {
		if n := total(t.slots[in.from:in.to]); n.n > sum.n {
			sum = n
		}
	}
	return t.by, sum
}

// findSoft finds pages that look like an error page and are answered by 200.
func (v *survey) findSoft() {
	for _, s := range v.Soft {
		by, sum := v.soft[s.Directory].busy()
		agent, share := v.share(by, v.during(sum))
		if share < softShare {
			continue
		}
		v.rows = append(v.rows, Row{
			Code: SoftNotFound, Class: "B", Origin: v.site.origin, Path: s.Directory[len(v.site.origin):], Agents: v.agentsOf(by), From: at(sum.first), To: at(sum.last), Requests: sum.n, lost: float64(sum.n) / 4,
			Evidence: Evidence{URLs: s.URLs, Size: s.Size, Share: rounded(share), Crawler: v.Agents[agent].Name},
		})
	}
}

// share returns the crawler of the greatest share of its page requests in a time; those of few do not count.
func (v *survey) share(by map[uint16]int64, in segment) (agent uint16, share float64) {
	for a, n := range by {
		if one := float64(n) / float64(max(1, v.site.ownPages(a, in))); v.isSearch(a) && n >= leastShown && (one > share || one == share && a < agent) {
			agent, share = a, one
		}
	}
	return agent, share
}

// findWasted finds what crawlers spend their requests on: parameters, URLs without end and chains of redirects.
func (v *survey) findWasted() {
	for _, p := range v.Parameters {
		by, sum := v.parameters[p.Name].busy()
		agent, share := v.share(by, v.during(sum))
		same := float64(p.Same) >= parameterSame*float64(p.Sized) && p.Sized > 0
		if p.Origin != v.site.origin || share < parameterShare || p.URLs < parameterURLs || p.URLs < parameterFan*p.Paths || 2*p.Bare < p.URLs && !same {
			continue
		}
		r := Row{
			Code: ParameterCrawl, Class: "C", Origin: v.site.origin, Agents: v.agentsOf(by), From: at(sum.first), To: at(sum.last), Requests: sum.n, lost: float64(sum.n) / 4,
			Evidence: Evidence{URLs: p.URLs, Paths: p.Paths, Parameter: p.Name, Share: rounded(share), Crawler: v.Agents[agent].Name},
		}
		crawled := int64(0)
		for a := range by {
			crawled += v.site.ownPages(a, v.during(sum))
		}
		if crawled < smallCrawl {
			r.lost /= 10
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
		by, pages := map[uint16]int64{}, v.watched[directory(s.Path)]
		for a, n := range s.By {
			by[uint16(a)] = n
		}
		dates := pages.sum(func(k cellKey) bool { return by[k.agent] > 0 })
		late := pages.sum(func(k cellKey) bool { return by[k.agent] > 0 && 4*(int(k.slot)+1) > 3*v.slots }).n
		agent, share := v.share(by, v.during(dates))
		if share < endlessShare || float64(late) < endlessLate*float64(dates.n) || dates.n == 0 {
			continue
		}
		r := Row{
			Code: EndlessURLs, Class: "A", Origin: v.site.origin, Path: directory(s.Path), Agents: v.agentsOf(by), From: at(dates.first), To: at(dates.last), Requests: s.Requests, lost: float64(s.Requests) / 4,
			Evidence: Evidence{URLs: s.URLs, Kind: s.Text, Share: rounded(share), Crawler: v.Agents[agent].Name},
		}
		r.Remedy.Pattern = s.Pattern
		v.rows = append(v.rows, r)
	}
	if len(v.Chain.Shapes) > 2 {
		v.findChain()
	}
	v.findSoft()
	v.findHog()
}

// findHog adds the row of the URL of which a crawler took most bytes, or else of a crawler that took half of all bytes by few requests.
func (v *survey) findHog() {
	for i, h := range v.Hogs {
		isURL, share := i == 0, float64(h.Bytes)/float64(max(1, v.Bytes))
		if h.Bytes < hogBytes || h.Origin != "" && h.Origin != v.site.origin || h.Origin == "" && v.site != v.sites[0] || isURL && share < hogURL || !isURL && (share < hogCrawler || float64(h.Requests) > hogRequests*float64(v.requests) || !v.counts.IsOften(h.Requests)) {
			continue
		}
		dates := total(v.traffic[h.Agent])
		if n := v.watched[directory(h.Path)].sum(func(k cellKey) bool { return int(k.agent) == h.Agent }); h.Path != "" && n.n > 0 {
			dates = n
		}
		v.rows = append(v.rows, Row{
			Code: BytesHog, Class: "A", Origin: h.Origin, Path: h.Path, Agents: []string{v.Agents[h.Agent].Name}, From: at(dates.first), To: at(dates.last), Requests: h.Requests,
			Evidence: Evidence{Bytes: h.Bytes, AllBytes: v.Bytes, Share: rounded(share)}, lost: float64(h.Requests) / 10,
		})
		return
	}
}

// gigabytes writes a number of bytes.
func gigabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB" }

// findChain adds the row of a chain of redirects, dated by the redirects of the directory where it begins.
func (v *survey) findChain() {
	path := directory(v.Chain.Shapes[0])
	isMoved := func(k cellKey) bool { return k.status/100 == 3 && k.status != 304 }
	by, _ := v.watched[path].by(isMoved)
	dates := v.watched[path].sum(isMoved)
	agent, share := v.share(by, v.during(dates))
	if dates.n < chainRuns || share < chainShare || path != "/" && float64(v.Chain.Redirects) < chainHolds*float64(dates.n) {
		return
	}
	r := Row{
		Code: RedirectChain, Class: "B", Origin: v.site.origin, Path: path, Agents: v.agentsOf(by), From: at(dates.first), To: at(dates.last), Requests: v.Chain.Redirects, lost: float64(v.Chain.Redirects) / 4,
		Evidence: Evidence{Chain: strings.Join(v.Chain.Shapes, " -> "), Share: rounded(share), Crawler: v.Agents[agent].Name},
	}
	v.rows = append(v.rows, r)
}

// findConduct finds the crawlers that ignored rules or a Crawl-delay.
func (g *grid) findConduct() {
	for _, c := range g.Conducts {
		a := g.Agents[c.Agent]
		isKnown := !slices.ContainsFunc(g.Texts, func(t Text) bool {
			return t.At.IsZero() && !g.wasSent(&t, floor(c.First, 1e6)-day, floor(c.Last, 1e6))
		})
		if isKnown && c.Knew >= leastShown && float64(c.Knew) >= leastOwnShare*float64(c.Requests) {
			g.rows = append(g.rows, Row{
				Code: RulesIgnored, Class: "A", Agents: []string{a.Name}, From: at(floor(c.First, 1e6)), To: at(floor(c.Last, 1e6)), Requests: c.Knew, Of: c.Requests, lost: float64(c.Knew) / 4,
			})
		}
		delay, since := g.delayOf(a.Name)
		if documented := delayed[a.Name]; delay < 1 || !documented || c.Gaps < delayGaps || float64(c.Short) < delayShort*float64(c.Gaps) {
			continue
		}
		r := Row{
			Code: DelayIgnored, Class: "B", Agents: []string{a.Name}, From: at(max(g.from, since)), To: at(g.to), Ongoing: true, Requests: c.Short, Of: c.Gaps, lost: float64(c.Short) / 4,
			Evidence: Evidence{Delay: delay},
		}
		g.rows = append(g.rows, r)
	}
}

// delayed are the crawlers whose operators say that they heed Crawl-delay.
var delayed = map[string]bool{"bingbot": true, "AhrefsBot": true, "SemrushBot": true, "SeznamBot": true, "MJ12bot": true, "DotBot": true}

// delayOf returns the Crawl-delay of the last text for a crawler, in seconds, 0 if it has none, and the time of the first text that states it.
func (g *grid) delayOf(name string) (delay float64, since int64) {
	for _, s := range g.sites[:min(1, len(g.sites))] {
		texts := g.textsOf(s.origin)
		for i := len(texts) - 1; i >= 0; i-- {
			seconds, ok := robots.Inspect(texts[i].Body, g.Dialect).CrawlDelay(robots.NewAgent(name, g.Dialect))
			if !ok {
				break
			}
			if since = texts[i].At.Unix(); delay == 0 {
				delay = seconds
			}
			if texts[i].At.IsZero() {
				since = 0
			}
		}
	}
	return delay, since
}

// findImpostors finds the names of crawlers that others used.
func (g *grid) findImpostors() {
	for a := 1; a < len(g.Agents); a++ {
		n := total(g.traffic[len(g.Agents)+a])
		own := total(g.traffic[a]).n
		if n.n < impostorsLeast && (n.n < leastShown || float64(n.n) < impostorsShare*float64(n.n+own)) {
			continue
		}
		r := Row{Code: Impostors, Class: "A", Agents: []string{g.Agents[a].Name}, From: at(n.first), To: at(n.last), Requests: n.n, Of: n.n + own, Evidence: Evidence{Network: g.Networks[a]}, lost: float64(n.n) / 4}
		g.rows = append(g.rows, r)
	}
}

// findListed finds URLs of sitemaps that are not found, or redirect. Those that fail are told by other codes.
func (g *grid) findListed() {
	s := &g.Listing
	if s.Missing < listedLeast || float64(s.Missing) < listedShare*float64(s.Listed) {
		return
	}
	r := Row{Code: SitemapBad, Class: "A", Path: "", From: at(g.from), To: at(g.to), Ongoing: true, Requests: s.Requests, Evidence: Evidence{URLs: s.Missing, Share: rounded(float64(s.Missing) / float64(s.Listed))}, lost: float64(s.Requests) / 4}
	if dir := mode(s.MissingIn); dir != "/" && 2*s.MissingIn[dir] > s.Missing {
		r.Path, r.Evidence.Paths = dir, s.MissingIn[dir]
	}
	g.rows = append(g.rows, r)
}

// sayOther writes the sentence of a row.
func (g *grid) sayOther(r *Row) {
	e := &r.Evidence
	crawler := r.who(e.Crawler)
	switch r.Code {
	case ParameterCrawl:
		r.Sentence = fmt.Sprintf("%s of the requests of %s go to versions of pages with `%s=`: %s by %s for %s, of only %s.", r.percent(), crawler, e.Parameter, show.Plural(r.Requests, "request"), r.names(), show.Plural(e.URLs, "URL"), show.Plural(e.Paths, "page"))
		r.Remedy.Action = "If these pages need not be found, keep crawlers out of them by a rule, or link them with nofollow."
	case SoftNotFound:
		r.Sentence = fmt.Sprintf("%s below %s answer 200 with pages of one size, about %s bytes, and no sitemap lists them. That looks like an error page: %s of the requests of %s.", show.Plural(e.URLs, "URL"), r.Path, about(float64(e.Size)), r.percent(), crawler)
		r.Remedy.Action = "Answer 404 or 410 if these pages do not exist."
	case BytesHog:
		what := "files"
		if r.Path != "" && !strings.HasSuffix(r.Path, "/") {
			what = r.Path
		} else if r.Path != "" {
			what += " of " + r.Path
		}
		r.Sentence = fmt.Sprintf("%s downloaded %s %s: %s of the %s that were sent.", capital(r.who(r.names())), what, show.Plural(r.Requests, "time"), gigabytes(e.Bytes), gigabytes(e.AllBytes))
		r.Remedy.Action = "Send ETag or Last-Modified, so that it can ask whether the file changed; or limit its rate; or close the file to it by a group that repeats the rules which bind it today."
	case EndlessURLs:
		r.Sentence = fmt.Sprintf("%s crawl %s below %s: %s, nearly every one for a new URL, %s of the requests of %s.", r.names(), e.Kind, r.Path, show.Plural(r.Requests, "request"), r.percent(), crawler)
		r.Remedy.Action = "Keep crawlers out by one rule, or link these pages with nofollow."
	case RedirectChain:
		r.Sentence = fmt.Sprintf("%s meet chains of redirects: %s, %s.", capital(r.who(r.names())), e.Chain, show.Plural(r.Requests, "redirect"))
		shapes := strings.Split(e.Chain, " -> ")
		r.Remedy.Action = "Let " + shapes[0] + " redirect to " + shapes[len(shapes)-1] + " at once, by one rule."
	case DelayIgnored:
		r.Sentence = fmt.Sprintf("%s fetched faster than the Crawl-delay of %g s: %s of %s pauses were shorter (%s).", capital(r.who(r.names())), e.Delay, show.Number(r.Requests), show.Number(r.Of), r.percent())
		r.Remedy.Action = "Write to the operator with these numbers, or answer 429."
	case RulesIgnored:
		r.Sentence = fmt.Sprintf("%s %s made %s that the robots.txt fetched before disallows, %s of all.", r.When, r.who(r.names()), show.Plural(r.Requests, "request"), r.percent())
		r.Remedy.Action = "robots.txt will not stop it: refuse it at the server."
	case Impostors:
		from := ""
		if e.Network != "" {
			from = ", most of them from " + e.Network
		}
		r.Sentence = fmt.Sprintf("%s in the name of %s came from addresses that its operator does not list (%s to %s)%s.", show.Plural(r.Requests, "request"), r.names(), g.moment(r.From), g.moment(r.To), from)
		r.Remedy.Action = "Refuse requests that use this name from outside the operator's lists, and not whole networks."
	case SitemapBad:
		where := ""
		if r.Path != "" {
			where = fmt.Sprintf(", %s of them below %s", show.Number(e.Paths), r.Path)
		}
		r.Sentence = fmt.Sprintf("%s of the sitemaps (%s of all) are missing or redirect%s. Search crawlers made %s for them.", show.Plural(e.URLs, "URL"), r.percent(), where, show.Plural(r.Requests, "request"))
		r.Remedy.Action = "Generate the sitemap from the pages that answer 200."
	}
}
