package report

import (
	"cmp"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Options say what a Counter counts. The zero value counts no statuses.
type Options struct {
	// Memory is about how many bytes the counts may take; 0 is [aggregate.DefaultMemory]. A quarter of it
	// each is for distinct URLs, for what rules do, and for the kinds of requests.
	Memory int64

	// Status is the index in engine.Batch.Kept of the column of integers that has the status of the
	// answer, plus 1; 0 is none.
	Status int

	// Old is that of [engine.Options] of the run, nil if there is none: who only the rules before name is
	// a crawler, too.
	Old *engine.Store
}

// A Counter is an [engine.Sink] that counts what the page shows. It is for one goroutine.
//
// Rows that are alike are counted together, see [request]; those of URLs that come seldom are counted by
// their [kind], and from some number of URLs on only a sample of them is looked at further: for the tree of
// paths, the rules that match without deciding, and the number of distinct URLs.
type Counter struct {
	store    *engine.Store
	look     *engine.Lookup
	old      *engine.Lookup    // nil without Options.Old
	callers  *engine.AgentList // the crawlers of the log
	fromLog  bool
	byTime   bool // a URL may be decided by another text at another time
	verdicts int  // of a row
	status   int  // index of Kept; -1 is none

	requested *requested
	few       batch // requests that are not in the table, and were looked at
	many      int   // of these, before they are added up
	kinds     kinds
	denials   *denials
	ruled     *ruled
	tree      *tree
	series    *series
	paces     *paces
	urls      *aggregate.Sampler
	whole     seen
	sites     []siteRows        // nil if there are too many
	elsewhere siteRows          // of sites that are not there
	agents    []seen            // by crawler; only with crawlers of the log
	classes   [][statuses]int64 // by crawler, and by the first digit of the status

	rows, bad     int64
	denied        int64   // verdicts; known at the end
	fetched       []int64 // by crawler that is asked for, fetches of a robots.txt that it is told not to fetch
	strays        int64   // rows of origins that the rules do not know
	deniedServed  parted
	allowedFailed parted

	origin  []byte // of the last URL that was split, if it is in normal form and a path follows that begins with "/"
	spelled []byte // a URL in hand
	visit   visit
	order   order
	hands   [32]hand
	looked  uint32
	isDone  bool

	entries []aggregate.Entry // URLs by group, that are added together
	of      []*aggregate.Tally
}

// seen are the URLs of a group.
type seen struct {
	aggregate.Tally
	aggregate.Sample
}

// A parted number is that of known crawlers, or of all if they are not told apart, and that of other
// clients.
type parted struct{ own, others int64 }

// statuses are the classes of a status: 1xx to 5xx, and none or another.
const statuses = 6

// What a counter takes.
const (
	maxRequests   = 1 << 17
	leastRequests = 1 << 12
	maxFew        = 1 << 14 // requests that are added up together
	requestBytes  = 96      // of a request and its slots
	urlBytes      = 120     // of its URL, about
	maxURL        = 4096
	mostExact     = 1 << 19 // requests that are looked at before fewer are
	leastExact    = 1 << 12
	exactBytes    = 512     // for each of these
	mostSites     = 1 << 17 // that are counted each
	leastOfAll    = 1 << 18 // URLs: these numbers are read first, and are cheap
	leastOfAgent  = 1 << 14
	maxNamed      = 256 // crawlers of the log that only a robots.txt names
)

// NewCounter returns a counter for a run by a store, which must outlive it.
func NewCounter(store *engine.Store, opt Options) *Counter {
	memory := cmp.Or(max(0, opt.Memory), aggregate.DefaultMemory)
	o := store.Options()
	c := &Counter{
		store: store, look: store.NewLookup(), fromLog: o.LogAgents != engine.LogAgentsOff, byTime: o.RowTimes, verdicts: len(o.Agents), status: opt.Status - 1,
		tree: newTree(true), paces: newPaces(),
	}
	crawlers := 1
	if c.fromLog {
		crawlers, c.verdicts = len(o.Agents), 1
		if opt.Old != nil {
			c.old = opt.Old.NewLookup()
		}
		c.callers = engine.NewAgentList(c.look, c.old, maxNamed)
	}
	c.fetched = make([]int64, c.verdicts)
	kinds := int(memory/4) / (kindBytes + encounterBytes + c.verdicts*verdictBytes)
	c.kinds, c.ruled = newKinds(kinds), newRuled(store, memory/4, kinds)
	times := int64(2) // that the sampler is asked for a row
	if c.fromLog {
		times = 4
	} else if c.byTime {
		times = 3
	}
	c.urls = aggregate.NewSampler(memory/4, times*max(leastExact, min(mostExact, memory/exactBytes)))
	c.denials = newDenials(c.look)
	most := int(max(leastRequests, min(maxRequests, memory/8/(requestBytes+urlBytes))))
	if n := store.NumSites(); n <= mostSites {
		c.sites = make([]siteRows, n)
	}
	c.many = min(maxFew, most/2)
	c.requested = newRequested(most, most*urlBytes, c.leave)
	c.series = newSeries(crawlers)
	c.classes = make([][statuses]int64, crawlers+maxNamed+1)
	if c.whole.Least = leastOfAll; c.fromLog {
		c.agents = make([]seen, crawlers+maxNamed+1)
		for a := range c.agents {
			c.agents[a].Least = leastOfAgent
		}
	}
	return c
}

// Close does nothing.
func (c *Counter) Close() error { return nil }

// Write counts a batch, as [engine.Batch.ForCrawlers] has it.
func (c *Counter) Write(decided *engine.Batch) error {
	b := decided.ForCrawlers()
	c.look.Use(b)
	c.ruled.rules.Use(b)
	if c.old != nil {
		c.old.Use(b.Old)
	}
	if b != decided {
		for i, v := range decided.Verdicts {
			if v != b.Verdicts[i] {
				c.fetched[i%c.verdicts]++
			}
		}
	}
	c.rows += int64(b.Len())
	for first := 0; first < b.Len(); first += len(c.hands) {
		c.some(b, first, min(first+len(c.hands), b.Len()))
	}
	return c.store.Err()
}

// A hand is a row that is about to be counted: the hash of its URL, and the key of its request.
type hand struct {
	hash, key uint64
	row       int
	agent     uint16 // its number in Counter.callers
	local     uint32 // the same in the batch
}

// some counts a few rows. It has the table of requests looked at for all of them first, so that the waits
// for memory overlap.
func (c *Counter) some(b *engine.Batch, from, to int) {
	hands := c.hands[:0]
	for i := from; i < to; i++ {
		if b.Sites[i] == engine.NoSite {
			c.bad++
			continue
		}
		h := hand{hash: aggregate.Hash(b.URL(i)), row: i}
		if c.fromLog {
			h.agent, h.local = uint16(c.callers.Number(b, i)), b.Agents[i]
		}
		h.key = keyOf(&h, b.Rulings[i], b.Verdicts[i*c.verdicts])
		hands = append(hands, h)
	}
	for i := range hands {
		c.looked |= c.requested.look(hands[i].key) // used, or the compiler would leave it out
	}
	for i := range hands {
		c.row(b, &hands[i])
	}
}

// row counts a row with a URL.
func (c *Counter) row(b *engine.Batch, h *hand) {
	i, agent, violated := h.row, h.agent, false
	if c.fromLog {
		violated = b.Violations[i] == engine.Violated
	}
	if _, stray := b.Sites[i].Stray(); stray {
		c.strays++
	}
	class := statusClass(b, i, c.status)
	c.classes[agent][class]++
	one := counts{rows: 1}
	if violated {
		one.violations = 1
	}
	switch class {
	case 2:
		one.served = 1
	case 4, 5:
		one.failed = 1
	case 3:
		if b.Kept[c.status].Ints[i] == 304 {
			one.served = 1
		}
	}
	denies, of := c.count(b, h, &one)
	if len(b.Times) == 0 || b.Times[i] == noTime {
		c.series.none++
		return
	}
	at := b.Times[i]
	if k := &c.kinds.all[of]; c.byTime && k.file != nil {
		k.file.Met(at)
	}
	cell := c.series.at(at, int(agent))
	cell.requests++
	cell.denied += int64(min(1, denies))
	if violated {
		cell.violations++
	}
	if c.fromLog && agent != 0 && c.callers.Names()[agent] != engine.OtherNamed {
		c.paces.add(b, h, c.look)
	}
}

// count counts a row for its request, or its kind. It returns how many of its verdicts deny, and the kind.
func (c *Counter) count(b *engine.Batch, h *hand, one *counts) (denies uint16, of int32) {
	if r := c.requested.find(h.key); r != nil {
		r.counts.add(one)
		return r.denies, r.kind
	}
	of = c.kindOf(b, h)
	k := &c.kinds.all[of]
	if site := b.Sites[h.row]; k.file != nil && site != k.site {
		c.ruled.rules.File(b.Rulings[h.row], site) // which has it, too
		k.site = site
	}
	if c.requested.takes(h.key) {
		r, url := c.meet(b, h, of)
		r.did = c.ruled.meet(k, of, url, int(r.prefix))
		c.requested.add(r, url).counts.add(one)
		return k.denies, of
	}
	c.pass(b, h, of, one)
	return k.denies, of
}

// pass counts a row whose request does not come into the table, and looks at it if its URL is in the sample.
func (c *Counter) pass(b *engine.Batch, h *hand, of int32, one *counts) {
	k, bySite := &c.kinds.all[of], c.bySite(b.Sites[h.row])
	k.passed.add(one)
	c.see(h.agent, h.hash)
	// A request has one row here while sightings remember it: so rows are in the sample independently.
	level := c.urls.Level(&k.sample)
	weight := c.urls.Take(&k.sample, aggregate.In(c.requested.seen.epoch, h.key))
	if weight == 0 && k.told == 0 {
		weight, level = 1, 0 // until there is an encounter that the others of the kind count for
	}
	if level > 0 { // or all are looked at, and stand for themselves
		k.sampled++
		k.told += weight
		k.level = max(k.level, level)
		bySite.rows++
		bySite.told += weight
		bySite.denied += int64(k.denies)
		bySite.level = max(bySite.level, level)
	}
	isURL := c.urls.Take(k.urlsIn, h.hash) > 0
	if weight == 0 && !isURL {
		return
	}
	r, url := c.meet(b, h, of)
	r.counts, r.stands, r.alone, r.isURL = *one, uint32(weight), true, isURL
	if c.few.add(r, url); c.few.isFull(c.many) {
		c.leaveFew()
	}
}

// bySite returns what is counted of a site.
func (c *Counter) bySite(site engine.SiteID) *siteRows {
	if int(site) < len(c.sites) {
		return &c.sites[site]
	}
	return &c.elsewhere
}

// keyOf returns the key of rows that are alike. The verdicts of several crawlers follow from the URL
// and what is in force.
func keyOf(h *hand, ruling engine.RulingID, v engine.Verdict) uint64 {
	crawler := uint64(h.agent)<<32 | uint64(h.local)
	key := h.hash ^ crawler*0x9E3779B97F4A7C15 ^ uint64(uint32(v.Rule))<<32 ^ uint64(v.Access)<<8 ^ uint64(v.Reason)
	key ^= uint64(ruling) * 0xC2B2AE3D27D4EB4F
	key *= 0xD6E8FEB86659FD93
	return max(1, key^key>>32)
}

// statusClass returns the first digit of the status, 0 if there is none.
func statusClass(b *engine.Batch, i, column int) int {
	if column < 0 {
		return 0
	}
	k := &b.Kept[column]
	if class := k.Ints[i] / 100; k.Present[i] && class >= 1 && class < statuses {
		return int(class)
	}
	return 0
}

// kindOf returns the kind of a row.
func (c *Counter) kindOf(b *engine.Batch, h *hand) int32 {
	verdicts := b.Verdicts[h.row*c.verdicts:][:c.verdicts]
	id := c.kinds.of(b, h, verdicts)
	if id >= 0 {
		return id
	}
	k := kind{agent: h.agent, first: -1}
	_, k.stray = b.Sites[h.row].Stray()
	k.denies, k.answer = c.denials.of(b, h.row, int(h.local), verdicts)
	if len(c.kinds.all) >= c.kinds.most {
		if id = c.kinds.rest(&k); id >= 0 {
			return id
		}
		k.answer = -1 // they differ
	} else if !k.stray {
		if c.ruled.rules.IsScarce() {
			c.leaveFew() // whose rules come first to the memory that is left
		}
		c.ruled.open(&k, b, h, verdicts)
	}
	if k.urlsIn = new(aggregate.Sample); c.fromLog && len(k.asked) > 0 {
		k.urlsIn = c.ruled.sampleOf(k.asked[0])
	}
	return c.kinds.add(k)
}

// meet returns the request of a row that is not in the table, and its URL, in which the origin is spelled as its
// site is. It is valid until the next call.
func (c *Counter) meet(b *engine.Batch, h *hand, of int32) (request, []byte) {
	k, url := &c.kinds.all[of], b.URL(h.row)
	r := request{key: h.key, hash: h.hash, site: b.Sites[h.row], kind: of, agent: h.agent, denies: k.denies}
	if n := len(c.origin); n > 0 && n < len(url) && url[n] == '/' && string(url[:n]) == string(c.origin) {
		r.prefix = uint16(n)
	} else if u, err := robots.SplitURL(url); err == nil {
		url, r.prefix = c.spell(url, u)
	}
	return r, url[:min(len(url), maxURL)]
}

// spell returns a URL with its origin in normal form, and how many bytes that has: all spellings are counted as one
// origin, which is known exactly, and no name or password of a user is kept.
func (c *Counter) spell(url []byte, u robots.URL) (spelled []byte, prefix uint16) {
	n := len(u.Prefix)
	origin, err := robots.AppendOrigin(c.spelled[:0], u)
	if c.spelled, c.origin = origin, c.origin[:0]; err != nil || string(origin) == string(u.Prefix) {
		if n < min(len(url), maxURL) && url[n] == '/' {
			c.origin = append(c.origin, u.Prefix...)
		}
		return url, uint16(min(n, maxURL))
	}
	c.spelled = append(c.spelled, url[n:]...)
	return c.spelled, uint16(min(len(origin), maxURL))
}

// Denied returns how many verdicts deny. It ends the count.
func (c *Counter) Denied() int64 {
	c.finish()
	return c.denied
}

// Busiest returns the robots.txt with the most requests and what their rules did, and how many others
// there are. It ends the count.
func (c *Counter) Busiest(most int) (busiest []aggregate.BusyFile, more int) {
	c.finish()
	return c.ruled.rules.Busiest(most)
}
