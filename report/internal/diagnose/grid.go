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
	Search   bool // fetches for a search engine
	Verified bool // its requests came from addresses published by its operator
	Listed   bool // its operator publishes addresses
}

// A Text is the robots.txt that an origin sent from a given time on.
type Text struct {
	Origin string
	At     time.Time // zero if unknown: the text was in force all the time
	Body   []byte
}

// A Log holds facts about a log besides its counts.
type Log struct {
	Agents   []Agent // by number; the first stands for unidentified clients
	Texts    []Text  // by origin, the oldest first
	Dialect  robots.Dialect
	Statuses bool           // the log has status codes
	Zone     *time.Location // time zone of the sentences; nil is UTC
	Lists    bool           // there are address lists
	Sitemaps bool           // there are sitemaps
	Failing  map[string]URLs

	Parameters []Parameter // by number of requests, most first
	Spaces     []Space
	Chain      Chain
	Conducts   []Conduct
	Networks   map[int]string // by crawler: the network with most of its impostors
	Listing    Listing
	Violations int64
	Bytes      int64 // bytes of all responses; 0 is unknown
	Soft       []Soft
	Hogs       []Hog // first the one of a URL, then those of crawlers by number of bytes
}

// URLs counts the distinct URLs of a directory with 4xx or 5xx responses, and those listed in sitemaps.
type URLs struct{ Missing, Failing, Listed int64 }

// A count is a number of requests, with the times of the first and the last one in seconds since 1970.
type count struct {
	n           float64 // a whole number, ready for shares
	first, last int64
}

// add adds other requests, and extends the times to theirs.
func (c *count) add(o count) {
	switch {
	case o.n == 0:
	case c.n == 0:
		*c = o
	default:
		c.n, c.first, c.last = c.n+o.n, min(c.first, o.first), max(c.last, o.last)
	}
}

// A cellKey identifies the counts of a table.
type cellKey struct {
	slot          int32
	agent, status uint16
	client        uint8 // bucket of clients with errors
}

// A table holds the requests of a directory by slot, crawler and status.
type table map[cellKey]count

// A test chooses some of the counts of a table.
type test = func(k cellKey) bool

// byAgent returns a test that chooses the counts of a crawler.
func byAgent(agent uint16) test { return func(k cellKey) bool { return k.agent == agent } }

// eachCount visits the counts that pass all tests, in any order.
func (t table) eachCount(visit func(k cellKey, n count), tests []test) {
next:
	for k, n := range t {
		for _, passes := range tests {
			if !passes(k) {
				continue next
			}
		}
		visit(k, n)
	}
}

// perSlot returns the counts that pass all tests, summed by slot.
func (t table) perSlot(slots int, tests ...test) []count {
	all := make([]count, slots)
	t.eachCount(func(k cellKey, n count) { all[k.slot].add(n) }, tests)
	return all
}

// requestsBy returns the numbers of requests that pass all tests, by crawler and by status.
func (t table) requestsBy(tests ...test) (agents, statuses map[uint16]float64) {
	agents, statuses = map[uint16]float64{}, map[uint16]float64{}
	t.eachCount(func(k cellKey, n count) {
		agents[k.agent] += n.n
		statuses[k.status] += n.n
	}, tests)
	return agents, statuses
}

// sum returns the sum of the counts that pass all tests.
func (t table) sum(tests ...test) (sum count) {
	t.eachCount(func(_ cellKey, n count) { sum.add(n) }, tests)
	return sum
}

// addCount adds a count.
func (t table) addCount(k cellKey, one count) {
	sum := t[k]
	sum.add(one)
	t[k] = sum
}

// addFailures adds failed requests, given by agent, to what a row lost, and those of crawlers to its evidence.
// Requests of clients other than search crawlers are weighted by a quarter, as in their rows: failures for all
// visitors are worse than missing pages for crawlers.
func (g *grid) addFailures(r *Row, by map[uint16]float64) {
	for agent, n := range by {
		if g.isCrawler(agent) {
			r.Evidence.Crawlers += int64(n)
		}
		if !g.isSearch(agent) {
			n /= 4
		}
		r.lost += n
	}
}

// isPage reports whether a count is for pages.
func isPage(k cellKey) bool { return k.status&isAsset == 0 }

// isLayout reports whether a count is for resources that change the layout of pages. Images do not: a site may keep
// them out of image search.
func isLayout(k cellKey) bool { return k.status&(isAsset|isImage) == isAsset }

// isError reports whether a count is for pages with server errors. 501 and 505 are excluded, because they answer
// requests that no crawler makes.
func isError(k cellKey) bool {
	return isPage(k) && k.status/100 == 5 && k.status != 501 && k.status != 505
}

// isMissing reports whether a count is for pages that do not exist.
func isMissing(k cellKey) bool { return k.status == 404 || k.status == 410 }

// isRefusal reports whether a count is for pages that were refused. The catalogue has only 503 of the 5xx; but if
// visitors get pages, other errors refuse a crawler, too.
func isRefusal(k cellKey) bool {
	switch k.status {
	case 401, 403, 406, 429, 500, 502, 503, 504:
		return true
	}
	return false
}

// isServed reports whether a count is for pages that were sent.
func isServed(k cellKey) bool { return k.status/100 == 2 || k.status == 304 }

// An answer is a response to a request for robots.txt.
type answer struct {
	at     int64
	n      float64
	agent  uint16
	status uint16
	size   uint32
	client uint32
}

// count returns the response as a count.
func (a answer) count() count { return count{a.n, a.at, a.at} }

// isRefusal reports whether it refused the file.
func (a answer) isRefusal() bool { return isRefusal(cellKey{status: a.status}) }

// A site is an origin of the log.
type site struct {
	origin   string
	requests float64
	pages    table
	txt      []answer
	refusals map[uint16]map[string]bool // by crawler: first directories that refused it
}

// Limits of a grid.
const (
	mostSlots   = 2200    // per table; slots get longer in a longer log
	mostCells   = 1 << 18 // in the tables of all sites; slots get longer if there are more
	mostSites   = 16      // sites that are examined separately: those with the most requests
	mostAnswers = 1 << 17 // responses per robots.txt that are examined separately; more are grouped by slot
	mostSpread  = 8       // directories that refused a crawler
)

// A grid holds the tables of a log. A slot is an hour, or several hours in a long log.
type grid struct {
	*Log
	counts   *Counts
	from, to int64 // time range of the log, in seconds
	first    int64 // index of the first slot
	step     int64 // length of a slot in seconds
	slots    int
	traffic  [][]count // all requests by crawler, then by slot; followed by those of impostors in the same order
	requests float64
	cells    int // of sites
	sites    []*site
	rows     []Row
	limits   []Row
	gaps     []segment // gaps in the log
}

// newGrid reads the counts of the log and of its busiest sites. If its tables would have too many cells, it reads
// again with longer slots, independent of the available memory. The counts must not be empty.
func newGrid(c *Counts, log *Log) (*grid, error) {
	for step := int64(hour); ; step *= 2 {
		if step*mostSlots < c.dates[1]-c.dates[0] {
			continue
		}
		g := &grid{Log: log, counts: c, from: c.dates[0], to: c.dates[1], step: step, first: floorDiv(c.dates[0], step), traffic: make([][]count, 2*len(log.Agents))}
		g.slots = int(floorDiv(g.to, step)-g.first) + 1
		none := make([]count, g.slots)
		for i := range g.traffic {
			g.traffic[i] = none
		}
		var now *site
		isFull := false
		err := c.eachCell(func(r *record) {
			if isFull {
				return
			}
			origin, path := splitText(r.text)
			if now == nil || now.origin != string(origin) {
				g.endSite(now)
				now = &site{origin: string(origin), pages: table{}, refusals: map[uint16]map[string]bool{}}
			}
			if !isDirectory(string(path)) {
				return
			}
			k, one := g.countOf(r)
			column := int(k.agent)
			if k.agent&Impostor != 0 {
				column = len(g.Agents) + int(k.agent&^Impostor)
			}
			if &g.traffic[column][0] == &none[0] {
				g.traffic[column] = make([]count, g.slots)
			}
			g.traffic[column][k.slot].add(one)
			g.requests, now.requests = g.requests+one.n, now.requests+one.n
			if string(path) == txtName {
				now.txt = append(now.txt, answer{r.key.slot, one.n, k.agent, k.status, r.key.size, r.key.client})
				return
			}
			now.pages.addCount(k, one)
			isFull = g.cells+len(now.pages) > mostCells
			if isRefusal(k) {
				if now.refusals[k.agent] == nil {
					now.refusals[k.agent] = map[string]bool{}
				}
				if by := now.refusals[k.agent]; len(by) < mostSpread {
					by[firstDirectory(string(path))] = true
				}
			}
		})
		if g.endSite(now); err != nil || !isFull {
			return g, err
		}
	}
}

// ownPages returns a crawler's page requests at a site in a time range.
func (s *site) ownPages(agent uint16, in segment) float64 {
	return s.pages.sum(byAgent(agent), isPage, in.hasKey).n
}

// splitText returns the origin and the path of the text of a cell. They share its memory.
func splitText(text []byte) (origin, path []byte) {
	i := bytes.Index(text, []byte("://")) + 3
	if i < 3 {
		i = 0
	}
	i += max(0, bytes.IndexByte(text[i:], '/'))
	return text[:i], text[i:]
}

// isDirectory reports whether the path of a cell is a directory or a robots.txt, rather than a parameter or size.
func isDirectory(path string) bool {
	return len(path) < 2 || path[1] != '?' && !strings.HasPrefix(path, sizedName)
}

// countOf returns the key and the count of a cell in the tables of a grid.
func (g *grid) countOf(r *record) (cellKey, count) {
	from := r.key.slot
	if !bytes.HasSuffix(r.text, []byte(txtName)) {
		from *= 3600
	}
	one := count{float64(r.cell.n), from + int64(r.cell.first), from + int64(r.cell.last)}
	return cellKey{int32(floorDiv(from, g.step) - g.first), r.key.agent, r.key.status, uint8(r.key.client)}, one
}

// firstDirectory returns the first directory of a path; "/" if it has none.
func firstDirectory(path string) string {
	if i := strings.IndexByte(path[1:], '/'); i >= 0 {
		return path[:i+2]
	}
	return "/"
}

// endSite keeps a complete site if it is one of the busiest; nil is ignored. If it has too many responses for
// robots.txt to examine separately, they are grouped by slot, crawler, status and size.
func (g *grid) endSite(s *site) {
	if s == nil {
		return
	}
	if len(s.txt) > mostAnswers {
		joined := map[answer]answer{}
		for _, a := range s.txt {
			k := answer{at: floorDiv(a.at, g.step), agent: a.agent, status: a.status, size: a.size}
			if sum, known := joined[k]; known {
				a.at, a.n, a.client = min(sum.at, a.at), sum.n+a.n, sum.client
			}
			joined[k] = a
		}
		s.txt = slices.SortedFunc(maps.Values(joined), func(a, b answer) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.agent, b.agent), cmp.Compare(a.status, b.status), cmp.Compare(a.size, b.size))
		})
	}
	g.sites = append(g.sites, s)
	slices.SortFunc(g.sites, func(a, b *site) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), cmp.Compare(a.origin, b.origin))
	})
	g.sites, g.cells = g.sites[:min(len(g.sites), mostSites)], 0
	for _, s := range g.sites {
		g.cells += len(s.pages)
	}
}

// startOf returns the beginning of a slot in seconds since 1970.
func (g *grid) startOf(slot int) int64 { return (g.first + int64(slot)) * g.step }

// slotOf returns the slot of a time in seconds; the first or the last one if it is outside the log.
func (g *grid) slotOf(at int64) int {
	return max(0, min(g.slots-1, int(floorDiv(at, g.step)-g.first)))
}

// isCrawler reports whether a number belongs to a crawler.
func (g *grid) isCrawler(agent uint16) bool { return agent > 0 && int(agent) < len(g.Agents) }

// crawlers returns the numbers of all crawlers of the log, in ascending order.
func (g *grid) crawlers() (all []uint16) {
	for a := range g.Agents {
		if g.isCrawler(uint16(a)) {
			all = append(all, uint16(a))
		}
	}
	return all
}

// searches returns the numbers of search crawlers.
func (g *grid) searches() []uint16 {
	return slices.DeleteFunc(g.crawlers(), func(a uint16) bool { return !g.Agents[a].Search })
}

// addRow adds a row.
func (g *grid) addRow(r Row) { g.rows = append(g.rows, r) }

// isSearch reports whether a number belongs to a search crawler.
func (g *grid) isSearch(agent uint16) bool { return g.isCrawler(agent) && g.Agents[agent].Search }

// total returns the sum of counts.
func total(all []count) (sum count) {
	for _, c := range all {
		sum.add(c)
	}
	return sum
}

// A segment is a half-open range of slots.
type segment struct{ from, to int }

func (s segment) length() int { return s.to - s.from }

// sumOf returns the sum of the counts in the segment's slots.
func (s segment) sumOf(counts []count) count { return total(counts[s.from:s.to]) }

// contains reports whether a slot is in the segment.
func (s segment) contains(slot int) bool { return slot >= s.from && slot < s.to }

// hasKey is a test that chooses the counts in the segment.
func (s segment) hasKey(k cellKey) bool { return s.contains(int(k.slot)) }

// isIn reports whether a slot is in one of the segments.
func isIn(all []segment, slot int) bool {
	return slices.ContainsFunc(all, func(s segment) bool { return s.contains(slot) })
}

// overlap returns the number of slots that two segments have in common.
func (s segment) overlap(o segment) int { return max(0, min(s.to, o.to)-max(s.from, o.from)) }

// mostlyBad returns the segments in which bad requests outweigh the good ones, each of which counts weight times as
// much. all includes the bad ones.
func mostlyBad(bad, all []count, weight float64) []segment {
	return segments(len(all), func(i int) float64 { return bad[i].n - weight*(all[i].n-bad[i].n) })
}

// segments returns the disjoint segments of n slots with the greatest positive sums of scores, by the algorithm of
// Ruzzo and Tompa. Each begins and ends with a positive score, and cannot be extended without lowering its sum.
func segments(n int, scoreOf func(slot int) float64) (all []segment) {
	type part struct {
		segment
		before, after float64 // sums of scores up to its beginning and its end
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
