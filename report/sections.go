package report

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/paths"
	"github.com/robobatch/robobatch/report/internal/show"
)

// Limits of sites and sections on the page.
const (
	shownSections = 10  // of a crawler
	shownFetches  = 20  // runs of robots.txt responses per crawler
	keptFetches   = 128 // robots.txt requests kept per crawler: 360 crawlers take 5 MB
	listedSites   = 100 // in the table
	siteCrawlers  = 5   // in the table
)

// A section is the first path segment of an origin, with the requests of one crawler.
type section struct {
	Path                     string
	Requests, Denied, Errors int64
}

// sections count the requests of each crawler by section. URLs come in order, so only one section is counted at a
// time.
type sections struct {
	at   []byte
	came []uint16 // crawlers with requests in at
	of   []crawlerCounts
}

// crawlerCounts are the counts of a crawler.
type crawlerCounts struct {
	now     section
	best    *aggregate.Largest[section]
	fetches []txtAnswer // requests for robots.txt, each an entry of its own: the latest ones, and up to keptFetches/4 older ones
	fetched int64       // all of them
}

// A txtAnswer is a run of consecutive requests of a crawler for one robots.txt with the same response.
type txtAnswer struct {
	Origin        string
	From, To      int64 // seconds since 1970, in the time zone of the page
	Requests      int64
	Status, Bytes int64 // -1 means unknown
}

// counts returns the counts of a crawler.
func (s *sections) counts(agent int) *crawlerCounts {
	for len(s.of) <= agent {
		s.of = append(s.of, crawlerCounts{best: aggregate.NewLargest[section](shownSections)})
	}
	return &s.of[agent]
}

// addTxt counts a request of a crawler for a robots.txt. The order of the rows does not matter, because the latest
// requests by time are kept: a newer log may be read first.
func (s *sections) addTxt(c *Counter, b *engine.Batch, row, agent int) {
	if len(b.Times) == 0 || b.Times[row] == engine.NoTime {
		return
	}
	of, at := s.counts(agent), c.clock.Shown(b.Times[row])/1e6
	of.fetched++
	of.fetches = append(of.fetches, txtAnswer{string(c.originOf(b, row)), at, at, 1, intOf(b, c.status, row), intOf(b, c.bytes, row)})
	if len(of.fetches) > keptFetches*5/4 {
		of.fetches = slices.Delete(of.sorted(), 0, len(of.fetches)-keptFetches)
	}
}

// sorted returns the requests for robots.txt by time. Those in the same second are ordered by their other fields.
func (of *crawlerCounts) sorted() []txtAnswer {
	slices.SortFunc(of.fetches, func(a, b txtAnswer) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Bytes, b.Bytes))
	})
	return of.fetches
}

// runs returns the latest runs of equal responses, by the time of their end.
func (of *crawlerCounts) runs() []txtAnswer {
	all, last := []txtAnswer{}, map[string]int{} // by origin
	kept := of.sorted()
	for _, f := range kept[max(0, len(kept)-keptFetches):] {
		if n, known := last[f.Origin]; known && all[n].Status == f.Status && all[n].Bytes == f.Bytes {
			all[n].To = f.To
			all[n].Requests++
			continue
		}
		last[f.Origin] = len(all)
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b txtAnswer) int { return cmp.Compare(a.To, b.To) })
	return all[max(0, len(all)-shownFetches):]
}

// addURL counts a URL for its section. The origin ends at the given offset.
func (s *sections) addURL(c *Counter, u *aggregate.URL) {
	end := len(u.Text)
	if n := bytes.IndexAny(u.Text[min(u.Prefix+1, end):], "/?#"); n >= 0 {
		if end = u.Prefix + 1 + n; u.Text[end] == '/' {
			end++
		}
	}
	if !bytes.Equal(u.Text[:end], s.at) {
		s.end()
		s.at = append(s.at[:0], u.Text[:end]...)
	}
	for i := range u.Requests {
		r := &u.Requests[i]
		k := &c.kinds.all[r.Kind]
		if c.isOther(k.agent) {
			continue
		}
		one := &s.counts(int(k.agent)).now
		if one.Requests == 0 {
			s.came = append(s.came, k.agent)
		}
		one.Requests += r.Rows
		one.Errors += r.Failed
		if k.denies > 0 {
			one.Denied += r.Rows
		}
	}
}

// end ends the count of a section.
func (s *sections) end() {
	hash := aggregate.Hash(s.at)
	for _, agent := range s.came {
		of := &s.of[agent]
		if of.best.Takes(of.now.Requests, hash) {
			of.now.Path = show.Text(string(s.at))
			of.best.AddItem(of.now.Requests, hash, of.now)
		}
		of.now = section{}
	}
	s.came = s.came[:0]
}

// A crawlerView is the part of a crawler's own view that no table contains.
type crawlerView struct {
	Name     string      `json:"name"`
	Sections []section   `json:"sections"`
	Fetches  []txtAnswer `json:"fetches"`
	Fetched  int64       `json:"fetched"`
}

// view returns the busiest sections of each crawler of the log.
func (s *sections) view(name func(int) string) []crawlerView {
	all := []crawlerView{}
	for agent, of := range s.of {
		if rows := of.best.Items(); len(rows) > 0 {
			slices.SortFunc(rows, func(a, b section) int {
				return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Path, b.Path))
			})
			all = append(all, crawlerView{show.Text(name(agent)), rows, of.runs(), of.fetched})
		}
	}
	return all
}

// A siteTotal counts the URLs of a site, and the requests for them.
type siteTotal struct {
	site                           engine.SiteID
	urls, requests, denied, failed int64
	by                             []AgentRequests // in no order
}

// shownSites is the number of busiest sites for which totals are kept.
const shownSites = 1 << 12

// addSite counts a URL for its site. The URLs of a site are neighbours.
func (c *Counter) addSite(u *aggregate.URL, requests int64) {
	if u.Site != c.site.site {
		c.endSite()
		c.site = siteTotal{site: u.Site}
	}
	c.site.urls++
	c.site.requests += requests
	for i := range u.Requests {
		r := &u.Requests[i]
		k := &c.kinds.all[r.Kind]
		c.site.denied, c.site.failed = c.site.denied+int64(k.denies)*r.Rows, c.site.failed+r.Failed
		n := slices.IndexFunc(c.site.by, func(a AgentRequests) bool { return a.Agent == int(k.agent) })
		if n < 0 {
			n, c.site.by = len(c.site.by), append(c.site.by, AgentRequests{Agent: int(k.agent)})
		}
		c.site.by[n].Requests += r.Rows
	}
}

// endSite ends the count of the URLs of a site.
func (c *Counter) endSite() {
	if c.site.site != engine.NoSite {
		c.sites.AddItem(c.site.requests, uint64(c.site.site), c.site)
	}
}

// A sitesView is the table of the busiest sites, by crawler.
type sitesView struct {
	Names []string // of crawlers
	Rows  []siteRow
	Rest  siteRow // all other rows of the log
}

// A siteRow counts the requests for a site: those of the crawlers in Names, of all other crawlers, and of
// unidentified clients.
type siteRow struct {
	Origin                         string
	Requests, URLs, Denied, Failed int64
	By                             []int64
}

// viewSites fills in the table of sites, if there are several.
func (c *Counter) viewSites(v *view) bool {
	items := c.sites.Items()
	if len(items) < 2 {
		return false
	}
	slices.SortFunc(items, func(a, b siteTotal) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), cmp.Compare(c.look.Origin(a.site), c.look.Origin(b.site)))
	})
	s := &sitesView{Rest: siteRow{Origin: "all others", Requests: v.Requests, URLs: v.URLs, Denied: v.Denied}}
	column := map[string]int{} // of Names
	if c.fromLog {
		busiest := slices.Clone(v.Crawlers)
		slices.SortStableFunc(busiest, func(a, b Crawler) int { return cmp.Compare(b.Requests, a.Requests) })
		for i := range busiest {
			if name := busiest[i].Name; name != otherClients && len(s.Names) < siteCrawlers {
				column[name] = len(s.Names)
				s.Names = append(s.Names, name)
			}
		}
		s.Rest.By = make([]int64, len(s.Names)+2)
		for i := range v.Crawlers {
			s.Rest.By[c.siteColumn(column, v.Crawlers[i].Name)] += v.Crawlers[i].Requests
		}
	}
	for i := range c.kinds.all {
		s.Rest.Failed += c.kinds.all[i].Failed
	}
	for _, item := range items[:min(len(items), listedSites)] {
		row := siteRow{Origin: string(c.look.Origin(item.site)), Requests: item.requests, URLs: item.urls, Denied: item.denied, Failed: item.failed, By: make([]int64, len(s.Rest.By))}
		for _, by := range item.by {
			if c.fromLog {
				row.By[c.siteColumn(column, c.agentName(by.Agent))] += by.Requests
			}
		}
		s.Rows = append(s.Rows, row)
		s.Rest.Requests -= row.Requests
		s.Rest.URLs -= row.URLs
		s.Rest.Denied -= row.Denied
		s.Rest.Failed -= row.Failed
		for n := range row.By {
			s.Rest.By[n] -= row.By[n]
		}
	}
	v.Sites = s
	return true
}

// siteColumn returns the column in which a crawler is counted: its own, that of all other crawlers, or that of
// unidentified clients.
func (c *Counter) siteColumn(column map[string]int, name string) int {
	if name == otherClients {
		return len(column) + 1
	}
	if n, ok := column[name]; ok {
		return n
	}
	return len(column)
}

// A pathView is a path, prepared for the page.
type pathView struct {
	*paths.Path
	Share float64 // of its verdicts that are disallowed
	Of    float64 // share of the requests of all paths
	By    string  // the rule that denied most of these; "" means none
	Below []pathView
	Rest  *restView // the part that the rows below omit; nil if there is none
}

// A restView is the part of a path's requests that the rows below it omit.
type restView struct {
	*paths.Rest
	Share, Of float64
}

// pathView returns a path and the paths below it. all is the number of requests for shares.
func (c *Counter) pathView(p *paths.Path, all int64) pathView {
	verdicts := int64(c.verdicts)
	v := pathView{Path: p, Share: show.Share(p.Denied, p.Requests*verdicts), Of: show.Share(p.Requests, all)}
	if p.Rule >= 0 {
		v.By = c.nameOf(p.Rule)
	}
	for _, below := range p.Below {
		v.Below = append(v.Below, c.pathView(below, all))
	}
	if rest := p.Rest(); rest != nil {
		v.Rest = &restView{rest, show.Share(rest.Denied, rest.Requests*verdicts), show.Share(rest.Requests, all)}
	}
	return v
}

// numbers assigns consecutive numbers to keys. Keys are compared only by hashes with a secret seed: two of n keys
// collide with a probability of n²/2⁶⁵, which is 1 in 4 billion for 100,000 keys. A look-up therefore takes a single
// memory access. The last key found is checked first, because frequent keys often follow one another.
type numbers struct {
	ids  map[uint64]int32
	seed uint64
	key  []byte // that is looked for
	hash uint64 // of it
	last int32  // that was found
	is   uint64 // its hash
}

func newNumbers() numbers { return numbers{ids: map[uint64]int32{}, seed: rand.Uint64(), last: -1} }

// find returns the number of the current key; -1 if the key is new. Then call set.
func (n *numbers) find() int32 {
	if n.hash = xxh3.HashSeed(n.key, n.seed); n.hash == n.is {
		return n.last
	}
	id, known := n.ids[n.hash]
	if !known {
		return -1
	}
	n.last, n.is = id, n.hash
	return id
}

// set assigns a number to the key that find looked for.
func (n *numbers) set(id int32) { n.ids[n.hash] = id }

// ruleCounts count requests by rule: the rule that decides, and the others that match.
type ruleCounts struct {
	*aggregate.Rules
	uncounted int64 // requests whose robots.txt could not be counted because memory was full
}

// openKind finds the rules that bind the crawlers of a new kind. The row is one of the kind, at a site that the store
// knows.
func (c *ruleCounts) openKind(k *kind, b *engine.Batch, r *rowKey, verdicts []engine.Verdict) {
	if k.file = c.File(b.Rulings[r.row], b.Sites[r.row]); k.file == nil {
		return
	}
	k.site = b.Sites[r.row]
	for a, v := range verdicts {
		if s, _ := c.Set(k.file, int(r.local)+a, v); s != nil {
			k.asked = append(k.asked, askedRule{s, v.Rule})
		}
	}
}

// addRequests counts the requests of a kind for a URL by rule.
func (c *ruleCounts) addRequests(u *aggregate.URL, k *kind, requests *aggregate.Request) {
	for i, asked := range k.asked {
		o := c.Outcome(u.Text, u.Prefix, k.file, asked.set, asked.rule)
		o.AddURL(requests.Rows, u.Number)
		o.Failed += requests.Failed
		o.Bytes += requests.Bytes
		if i == 0 {
			k.first = o
		}
	}
}

// addKind counts what does not depend on the URL, once all rows of the kind are known.
func (c *ruleCounts) addKind(k *kind) {
	switch {
	case k.stray:
	case k.file == nil:
		c.uncounted += k.Rows
	default:
		k.file.Requests += k.Rows
		if k.first != nil && c.ByRow() {
			c.Ask(k.first, int(k.agent), k.Rows)
		}
	}
}
