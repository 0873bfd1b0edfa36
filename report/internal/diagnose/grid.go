package diagnose

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// An Agent is a crawler of the log.
type Agent struct {
	Name     string
	Search   bool // it fetches for a search engine
	Verified bool // its requests came from addresses that its operator publishes
	Listed   bool // its operator publishes addresses
}

// A Text is what an origin sent as its robots.txt from a time on.
type Text struct {
	Origin string
	At     time.Time // zero if it is unknown: the text was in force all the time
	Body   []byte
}

// A Log has the facts about a log besides its counts.
type Log struct {
	Agents   []Agent // by number; the first is for all other clients
	Texts    []Text  // by origin, the oldest first
	Dialect  robots.Dialect
	Statuses bool           // the log has them
	Zone     *time.Location // of the times in sentences; nil is UTC
	Lists    bool           // of addresses are there
	Sitemaps bool           // are there
	Failing  map[string]URLs

	Parameters []Parameter // those with the most requests first
	Spaces     []Space
	Chain      Chain
	Conducts   []Conduct
	Networks   map[int]string // by crawler, from which most of its impostors came
	Listing    Listing
	Violations int64
	Bytes      int64 // of all answers; 0 is unknown
	Soft       []Soft
	Hogs       []Hog // the first is of a URL, the others of crawlers, those with the most bytes first
}

// URLs counts the distinct URLs of a directory that were answered by 4xx or 5xx, and those that sitemaps list.
type URLs struct{ Missing, Failing, Listed int64 }

// A count is requests of a slot of time, and the first and the last of them, in seconds since 1970.
type count struct {
	n           int64
	first, last int64
}

// add adds other requests.
func (c *count) add(o count) {
	switch {
	case o.n == 0:
	case c.n == 0:
		*c = o
	default:
		c.n, c.first, c.last = c.n+o.n, min(c.first, o.first), max(c.last, o.last)
	}
}

// A cellKey tells the counts of a table apart.
type cellKey struct {
	slot          int32
	agent, status uint16
	client        uint8 // the part of clients that got an error
}

// A table is the requests of a directory by slot, crawler and status.
type table map[cellKey]count

// hours returns the sums of counts by slot.
func (t table) hours(slots int, wanted func(k cellKey) bool) []count {
	all := make([]count, slots)
	for k, n := range t {
		if wanted(k) {
			all[k.slot].add(n)
		}
	}
	return all
}

// put adds a count.
func (t table) put(k cellKey, one count) {
	sum := t[k]
	sum.add(one)
	t[k] = sum
}

// by returns the requests by crawler and by status.
func (t table) by(wanted func(k cellKey) bool) (agents, statuses map[uint16]int64) {
	agents, statuses = map[uint16]int64{}, map[uint16]int64{}
	for k, n := range t {
		if wanted(k) {
			agents[k.agent] += n.n
			statuses[k.status] += n.n
		}
	}
	return agents, statuses
}

// blame adds failed requests to a row, by agent. Those of others than search crawlers count a fourth, as their rows do: what fails for all
// visitors is worse than what is gone for crawlers.
func (g *grid) blame(r *Row, by map[uint16]int64) {
	for agent, n := range by {
		if g.isCrawler(agent) {
			r.Evidence.Crawlers += n
		}
		weight := .25
		if g.isSearch(agent) {
			weight = 1
		}
		r.lost += weight * float64(n)
	}
}

// sum returns the sum of counts.
func (t table) sum(wanted func(k cellKey) bool) (sum count) {
	for k, n := range t {
		if wanted(k) {
			sum.add(n)
		}
	}
	return sum
}

// isPage reports whether a count is of pages.
func isPage(k cellKey) bool { return k.status&isAsset == 0 }

// isError reports whether a count is of pages that the server failed to send. 501 and 505 answer requests that no crawler makes.
func isError(k cellKey) bool {
	return isPage(k) && k.status/100 == 5 && k.status != 501 && k.status != 505
}

// isMissing reports whether a count is of pages that are not there.
func isMissing(k cellKey) bool { return k.status == 404 || k.status == 410 }

// isServed reports whether a count is of pages that were sent.
func isServed(k cellKey) bool { return k.status/100 == 2 || k.status == 304 }

// An answer is one to a request for robots.txt.
type answer struct {
	at     int64
	n      int64
	agent  uint16
	status uint16
	size   uint32
	client uint32
}

// A site is an origin of the log.
type site struct {
	origin   string
	requests int64
	pages    table
	txt      []answer
	refusals map[uint16]map[string]bool // by crawler, first directories with an answer that turns it away
}

// The limits of a grid.
const (
	mostSlots   = 2200    // of a table; slots get longer in a longer log
	mostCells   = 1 << 18 // of all tables of sites; slots get longer where there are more
	mostSites   = 16      // that are looked at one by one: those with the most requests
	mostAnswers = 1 << 17 // of a robots.txt that are looked at one by one; more are put together by slot
	mostSpread  = 8       // directories that a crawler was turned away from
)

// A grid has the tables of a log. Slots are hours, or more of them in a long log.
type grid struct {
	*Log
	counts   *Counts
	from, to int64 // of the log, in seconds
	first    int64 // the number of the first slot
	step     int64 // seconds of a slot
	slots    int
	traffic  [][]count // of all requests by crawler, then by slot; behind them are those of impostors in the same order
	requests int64
	cells    int  // of sites
	isFull   bool // there are too many
	sites    []*site
	rows     []Row
	limits   []Row
	gaps     []segment // of the log
	refused  []refusal
}

// newGrid reads the counts. If its tables would have too many cells, it takes longer slots: the same ones whatever the memory is.
func newGrid(c *Counts, log *Log) (g *grid, err error) {
	for step := int64(hour); ; step *= 2 {
		if step*mostSlots < c.dates[1]-c.dates[0] {
			continue
		}
		g = &grid{Log: log, counts: c, from: c.dates[0], to: c.dates[1], step: step}
		if err = g.read(); err != nil || !g.isFull {
			return g, err
		}
	}
}

// read reads the counts of the log and of its sites.
func (g *grid) read() error {
	g.first = floor(g.from, g.step)
	g.slots = int(floor(g.to, g.step)-g.first) + 1
	g.traffic = make([][]count, 2*len(g.Agents))
	none := make([]count, g.slots)
	for i := range g.traffic {
		g.traffic[i] = none
	}
	var now *site
	err := g.counts.each(func(r *record) {
		if g.isFull {
			return
		}
		origin, path := split(r.text)
		if now == nil || now.origin != string(origin) {
			g.endSite(now)
			now = &site{origin: string(origin), pages: table{}, refusals: map[uint16]map[string]bool{}}
		}
		if !isDirectory(string(path)) {
			return
		}
		k, one := g.countOf(r)
		g.requests += one.n
		column := int(k.agent)
		if k.agent&Impostor != 0 {
			column = len(g.Agents) + int(k.agent&^Impostor)
		}
		if &g.traffic[column][0] == &none[0] {
			g.traffic[column] = make([]count, g.slots)
		}
		g.traffic[column][k.slot].add(one)
		now.requests += one.n
		if string(path) == txtName {
			now.txt = append(now.txt, answer{r.key.slot, one.n, k.agent, k.status, r.key.size, r.key.client})
			return
		}
		now.pages.put(k, one)
		g.isFull = g.cells+len(now.pages) > mostCells
		if isRefusal(k.status) {
			by := now.refusals[k.agent]
			if by == nil {
				by = map[string]bool{}
				now.refusals[k.agent] = by
			}
			if len(by) < mostSpread {
				by[firstDirectory(string(path))] = true
			}
		}
	})
	g.endSite(now)
	return err
}

// ownPages returns the page requests of a crawler at a site in a time.
func (s *site) ownPages(agent uint16, in segment) int64 {
	return s.pages.sum(func(k cellKey) bool { return k.agent == agent && isPage(k) && in.has(k.slot) }).n
}

// split returns the origin and the path of the text of a cell.
func split(text []byte) (origin, path []byte) {
	i := bytes.Index(text, []byte("://")) + 3
	if i < 3 {
		i = 0
	}
	i += max(0, bytes.IndexByte(text[i:], '/'))
	return text[:i], text[i:]
}

// isDirectory reports whether the path of a cell is of a directory or a robots.txt, and no parameter or size.
func isDirectory(path string) bool {
	return len(path) < 2 || path[1] != '?' && !strings.HasPrefix(path, sizedName)
}

// countOf returns the key and the count of a cell.
func (g *grid) countOf(r *record) (cellKey, count) {
	from := r.key.slot
	if !bytes.HasSuffix(r.text, []byte(txtName)) {
		from *= 3600
	}
	one := count{int64(r.cell.n), from + int64(r.cell.first), from + int64(r.cell.last)}
	return cellKey{int32(floor(from, g.step) - g.first), r.key.agent, r.key.status, uint8(r.key.client)}, one
}

// firstDirectory returns the first directory of a path; "/" if it has none.
func firstDirectory(path string) string {
	if i := strings.IndexByte(path[1:], '/'); i >= 0 {
		return path[:i+2]
	}
	return "/"
}

// endSite keeps a site if it is one of the busiest.
func (g *grid) endSite(s *site) {
	if s == nil {
		return
	}
	s.endAnswers(g.step)
	g.sites = append(g.sites, s)
	slices.SortFunc(g.sites, func(a, b *site) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), cmp.Compare(a.origin, b.origin))
	})
	g.sites, g.cells = g.sites[:min(len(g.sites), mostSites)], 0
	for _, s := range g.sites {
		g.cells += len(s.pages)
	}
}

// endAnswers puts answers together if there are too many to look at one by one: those of a slot, crawler, status and size.
func (s *site) endAnswers(step int64) {
	if len(s.txt) <= mostAnswers {
		return
	}
	joined := map[answer]answer{}
	for _, a := range s.txt {
		k := answer{at: floor(a.at, step), agent: a.agent, status: a.status, size: a.size}
		if sum, known := joined[k]; known {
			a.at, a.n, a.client = min(sum.at, a.at), sum.n+a.n, sum.client
		}
		joined[k] = a
	}
	s.txt = slices.SortedFunc(maps.Values(joined), func(a, b answer) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.agent, b.agent), cmp.Compare(a.status, b.status), cmp.Compare(a.size, b.size))
	})
}

// start returns when a slot begins, in seconds.
func (g *grid) start(slot int) int64 { return (g.first + int64(slot)) * g.step }

// slotOf returns the slot of a time.
func (g *grid) slotOf(at int64) int {
	return max(0, min(g.slots-1, int(floor(at, g.step)-g.first)))
}

// isCrawler reports whether a number is of a crawler.
func (g *grid) isCrawler(agent uint16) bool { return agent > 0 && int(agent) < len(g.Agents) }

// searches returns the numbers of search crawlers.
func (g *grid) searches() (all []uint16) {
	for a := range g.Agents {
		if g.isSearch(uint16(a)) {
			all = append(all, uint16(a))
		}
	}
	return all
}

// isSearch reports whether a number is of a search crawler.
func (g *grid) isSearch(agent uint16) bool { return g.isCrawler(agent) && g.Agents[agent].Search }

// total returns the sum of counts.
func total(all []count) (sum count) {
	for _, c := range all {
		sum.add(c)
	}
	return sum
}

// A segment is the slots from one to another, which is not among them.
type segment struct{ from, to int }

func (s segment) length() int { return s.to - s.from }

// of returns the sum of the counts of its slots.
func (s segment) of(counts []count) count { return total(counts[s.from:s.to]) }

// isIn reports whether a slot is in a segment.
func isIn(all []segment, slot int32) bool {
	return slices.ContainsFunc(all, func(s segment) bool { return s.has(slot) })
}

// has reports whether a slot is in the segment.
func (s segment) has(slot int32) bool { return int(slot) >= s.from && int(slot) < s.to }

// overlap returns how many slots two segments have in common.
func (s segment) overlap(o segment) int { return max(0, min(s.to, o.to)-max(s.from, o.from)) }

// segments returns the disjoint segments of n slots with the greatest sums of scores, each positive: Ruzzo and Tompa's. Each begins and ends
// with a positive score, and none can be lengthened without getting worse.
func segments(n int, scoreOf func(slot int) float64) (all []segment) {
	type part struct {
		segment
		before, after float64 // sums of scores until its begin and its end
	}
	var parts []part
	sum := 0.0
	for i := range n {
		before, score := sum, scoreOf(i)
		if sum += score; score <= 0 {
			continue
		}
		one := part{segment{i, i + 1}, before, sum}
		for {
			j := len(parts) - 1
			for j >= 0 && parts[j].before >= one.before {
				j--
			}
			if j < 0 || parts[j].after >= one.after {
				break
			}
			one.from, one.before = parts[j].from, parts[j].before
			parts = parts[:j]
		}
		parts = append(parts, one)
	}
	for _, p := range parts {
		all = append(all, p.segment)
	}
	return all
}
