package report

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/localtime"
	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/impostors"
	"github.com/robobatch/robobatch/report/internal/paths"
	"github.com/robobatch/robobatch/report/internal/sitemaps"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/robots"
)

// Options tell a Counter which things to count. The zero value counts no statuses.
type Options struct {
	// Memory is about how many bytes the counts may take; 0 is [aggregate.DefaultMemory]. An eighth each is for
	// the most requested URLs, for the kinds of requests and, with crawlers of the log, for the User-Agents of
	// other clients, then a sixteenth for Counter.Diagnose, a sixteenth with lists of addresses for impostors, and a quarter for counts by rule. The
	// rest is for requests. Those, User-Agents and impostors go to disk beyond their part.
	Memory int64

	// TempDir is where temporary files lie, if requests do not fit into memory; "" is the usual directory.
	TempDir string

	// Status is the index in engine.Batch.Kept of the column of integers that has the status of the
	// answer, plus 1; 0 is none.
	Status int

	// Bytes is the index, plus 1, of the column of integers that has how many bytes were sent; 0 is none.
	Bytes int

	// Method is the index, plus 1, of the column of texts that has the method of the request; 0 is none.
	Method int

	// Conduct is about how many bytes the journal of package conduct may take, beside Memory; 0 is
	// [conduct.DefaultMemory]. There is no journal if the store has no engine.StoreOptions.Deeds, no status is known, or
	// the origins of the rules alone would take half of it.
	Conduct int64

	// Texts are those of the rules, as in [conduct.Options].
	Texts *conduct.Texts

	// Location is whose days and hours are counted; nil is UTC.
	Location *time.Location

	// Change is when something changed, so that the days before and after it are compared; zero is never.
	Change time.Time

	// Old is the same as in [engine.Options] of the run, nil if there is none: a client that only the rules before name
	// is a crawler, too.
	Old *engine.Store
}

// A Counter is an [engine.Sink] that makes the counts of the page. It is for one goroutine.
//
// Write counts rows in an [aggregate.Requests] by URL and [kind], and by time; Settle adds up the numbers that follow from
// a URL or a kind, once for each. So all numbers are exact.
type Counter struct {
	store    *engine.Store
	look     *engine.Lookup
	old      *engine.Lookup    // nil without Options.Old
	callers  *engine.AgentList // the crawlers of the log
	fromLog  bool
	byTime   bool // a URL may be decided by another text at another time
	verdicts int  // of a row
	status   int  // index of Kept; -1 is none
	bytes    int  // the same
	method   int  // the same

	requests *aggregate.Requests
	panels   []panel
	sitemaps *sitemaps.Counts // nil without sitemaps
	listed   *sitemaps.View   // of them, after CheckSitemaps
	misfits  []conduct.Misfit
	kinds    kinds
	denials  *denials
	rules    ruleCounts
	series   *timeline.Series
	zone     *time.Location
	clock    localtime.Clock   // of series, in zone
	classes  [][statuses]int64 // by crawler, and by the first digit of the status
	chains   diagnose.Chains
	turn     turn
	hours    *diagnose.Counts // nil without crawlers of the log

	request   diagnose.Request     // of the last row
	rowOrigin []byte               // see originOf
	failing   diagnose.Directories // of URLs, see Settle
	log       diagnose.Log         // what Find needs to know besides hours
	once      []int                // crawlers of a URL
	searches  []bool               // by crawler, whether it fetches for a search engine; those that came until now
	hog       diagnose.Hog         // of a URL
	hogs      []diagnose.Eater     // by crawler, without impostors

	rows, bad int64
	strays    int64   // rows of origins that the rules do not know
	fetched   []int64 // by crawler that is asked for, fetches of a robots.txt that it is told not to fetch

	origin  []byte // of the last URL that was split, if it is in normal form and a path follows that begins with "/"
	spelled []byte // the URL of the last row, if its origin is not in normal form
	keys    [32]rowKey
	probed  uint32

	// Of URLs, see Settle.
	settled    bool
	tree       *paths.Tree
	waste      diagnose.Waste // of URLs that crawlers may fetch
	visit      diagnose.Visit // of the last URL
	taking     []diagnose.Hog // of that URL, by crawler
	root       *paths.Path    // of tree
	urls       int64
	agentURLs  []aggregate.URLCount // by crawler
	agentBytes []int64              // the same
	huge       int64                // answers whose bytes are not counted
	served     answers
	failed     answers
	requested  *aggregate.Largest[requestedURL]
	paths      arena[byte]          // of requested
	counts     arena[AgentRequests] // the same
	sites      *aggregate.Largest[siteTotal]
	site       siteTotal // of the last URL
	sections   sections
	taken      *aggregate.Largest[impostors.URL] // by impostors; nil without lists of addresses
	fakeURLs   int64
	denied     int64 // verdicts
}

// statuses are the classes of a status: 1xx to 5xx, and none or another.
const statuses = 6

// The limits of a counter.
const (
	mostRequested  = 1 << 17
	leastRequested = 1 << 20 // bytes
	maxNamed       = 256     // crawlers of the log that only a robots.txt names
)

// NewCounter returns a counter for a run by a store, which must outlive it. Use CloseTemp.
func NewCounter(store *engine.Store, opt Options) *Counter {
	memory := cmp.Or(max(0, opt.Memory), aggregate.DefaultMemory)
	o := store.Options()
	share := memory / 2
	if o.LogAgents != engine.LogAgentsOff {
		share -= memory/8 + memory/16
	}
	if o.Ranges != nil {
		share -= memory / 16
	}
	c := &Counter{
		store: store, look: store.NewLookup(), fromLog: o.LogAgents != engine.LogAgentsOff, byTime: o.RowTimes, verdicts: len(o.Agents), status: opt.Status - 1, bytes: opt.Bytes - 1, method: opt.Method - 1,
		requests: aggregate.NewRequests(max(1, share), opt.TempDir), rules: newRuleCounts(store, memory/4), tree: paths.New(),
		sites: aggregate.NewLargest[siteTotal](shownSites), site: siteTotal{site: engine.NoSite},
	}
	c.requested = aggregate.NewLargestWithin(mostRequested, max(leastRequested, memory/8*2/3), c.compactRequested) // which holds half more
	if o.Sitemaps != nil {
		c.sitemaps = sitemaps.New(o.Sitemaps)
	}
	crawlers := 1
	if c.fromLog {
		crawlers, c.verdicts = len(o.Agents), 1
		c.hours = diagnose.New(memory/16, opt.TempDir)
		if opt.Old != nil {
			c.old = opt.Old.NewLookup()
		}
		c.callers = engine.NewAgentList(c.look, c.old, maxNamed)
	}
	c.fetched = make([]int64, c.verdicts)
	c.kinds, c.denials = newKinds(int(memory/8)/(kindBytes+c.verdicts*verdictBytes)), newDenials(c.look)
	c.series, c.zone, c.clock = timeline.New(crawlers), opt.Location, localtime.New(opt.Location)
	c.turn = newTurn(opt.Change, &c.clock)
	c.classes, c.agentURLs = make([][statuses]int64, crawlers+maxNamed+1), make([]aggregate.URLCount, crawlers+maxNamed+1)
	c.hogs = make([]diagnose.Eater, len(c.classes))
	c.agentBytes = make([]int64, len(c.classes))
	c.served = newAnswers(func(k *kind, n *aggregate.RowCounts) int64 {
		if k.denies == 0 {
			return 0
		}
		return n.Served
	})
	c.failed = newAnswers(func(k *kind, n *aggregate.RowCounts) int64 {
		if int(k.denies) == c.verdicts {
			return 0
		}
		return n.Failed
	})
	c.panels = c.newPanels(memory, &opt)
	return c
}

// Close does nothing: the page is made after the run.
func (c *Counter) Close() error { return nil }

// CloseTemp removes the temporary files. The counter must not be used after it; further calls do nothing.
func (c *Counter) CloseTemp() {
	c.requests.Close()
	for _, p := range c.panels {
		if p.close != nil {
			p.close()
		}
	}
}

// Write counts a batch, as [engine.Batch.ForCrawlers] has it.
func (c *Counter) Write(decided *engine.Batch) error {
	b := decided.ForCrawlers()
	c.look.Use(b)
	c.rules.Use(b)
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
	for first := 0; first < b.Len(); first += len(c.keys) {
		keys := c.keysOf(b, first, min(first+len(c.keys), b.Len()))
		for i := range keys {
			if err := c.addRow(b, &keys[i]); err != nil {
				return err
			}
		}
	}
	for _, p := range c.panels {
		if p.rows != nil {
			if err := p.rows(decided, b); err != nil {
				return err
			}
		}
	}
	return c.store.Err()
}

// The bytes that are counted: fewer than maxBytes of an answer, and mostBytes of a log, a bound that sums by crawlers, rules or paths can
// have 2,048 times, and that numbers of JavaScript can be exactly. See Huge.
const (
	maxBytes  = 1 << 50
	mostBytes = 1 << 52
)

// Huge returns how many answers have so many bytes that these are not counted.
func (c *Counter) Huge() int64 { return c.huge }

// bytesOf returns how many bytes were sent for a row, 0 if that is not known, and -1 if they are not counted. It notes them.
func (c *Counter) bytesOf(b *engine.Batch, i int) int64 {
	sent := intOf(b, c.bytes, i)
	if sent <= 0 {
		return 0
	}
	if sent >= maxBytes || sent > mostBytes-c.log.Bytes {
		return -1
	}
	c.log.Bytes += sent
	return sent
}

// intOf returns the number in a column of a row; -1 if there is none.
func intOf(b *engine.Batch, column, row int) int64 {
	if column < 0 || !b.Kept[column].Present[row] {
		return -1
	}
	return b.Kept[column].Ints[row]
}

// pageSize returns the size of the page that answered a row; 0 if it is not known, or there was none. An answer to HEAD, and 304,
// have no page, though some logs count their headers.
func (c *Counter) pageSize(b *engine.Batch, row int, sent int64) uint32 {
	if sent == 0 || intOf(b, c.status, row) != 200 || !c.isGet(b, row) {
		return 0
	}
	return uint32(min(sent, math.MaxUint32))
}

// isGet reports whether a row may be a request with the method GET.
func (c *Counter) isGet(b *engine.Batch, row int) bool {
	if c.method < 0 {
		return true
	}
	method := b.Piece(b.Kept[c.method].Texts[row])
	return len(method) == 0 || bytes.EqualFold(method, []byte("GET"))
}

// keysOf returns the keys of rows that have a URL. It probes the table for all of them, so that the waits for
// memory overlap.
func (c *Counter) keysOf(b *engine.Batch, from, to int) []rowKey {
	keys := c.keys[:0]
	for i := from; i < to; i++ {
		if b.Sites[i] == engine.NoSite {
			c.bad++
			continue
		}
		r := rowKey{hash: aggregate.Hash(b.URL(i)), row: i}
		if c.fromLog {
			r.agent, r.local = uint16(c.callers.Number(b, i)), b.Agents[i]
			r.faked = len(b.Verified) > 0 && b.Verified[i] == ranges.No
		}
		r.key = keyOf(&r, b.Rulings[i], b.Verdicts[i*c.verdicts])
		keys = append(keys, r)
	}
	for i := range keys {
		c.probed |= c.requests.Probe(keys[i].key) // used, or the compiler would leave it out
	}
	return keys
}

// keyOf returns the key of rows that are alike. The verdicts of several crawlers follow from the URL
// and the ruling.
func keyOf(r *rowKey, ruling engine.RulingID, v engine.Verdict) uint64 {
	crawler := uint64(r.agent)<<32 | uint64(bit(r.faked))<<63 | uint64(r.local)
	key := r.hash ^ crawler*0x9E3779B97F4A7C15 ^ uint64(uint32(v.Rule))<<32 ^ uint64(v.Access)<<8 ^ uint64(v.Reason)
	key ^= uint64(ruling) * 0xC2B2AE3D27D4EB4F
	key *= 0xD6E8FEB86659FD93
	return key ^ key>>32
}

// addRow counts a row that has a URL.
func (c *Counter) addRow(b *engine.Batch, r *rowKey) error {
	one := c.countsOf(b, r)
	q := c.requests.Find(r.key)
	if q == nil {
		var err error
		if q, err = c.addRequest(b, r); err != nil {
			return err
		}
	}
	q.AddCounts(&one)
	q.AddPage(c.pageSize(b, r.row, one.Bytes))
	c.addTime(b, r, &c.kinds.all[q.Kind], &one)
	return c.addHour(b, r, c.kinds.all[q.Kind].denies > 0, c.pageSize(b, r.row, one.Bytes))
}

// countsOf returns the counts of a row, and counts its status: for a robots.txt apart from those of pages.
func (c *Counter) countsOf(b *engine.Batch, r *rowKey) (one aggregate.RowCounts) {
	i := r.row
	if _, stray := b.Sites[i].Stray(); stray {
		c.strays++
	}
	if one.Rows = 1; c.fromLog && b.Violations[i] == engine.Violated {
		one.Violations = 1
	}
	if one.Bytes = c.bytesOf(b, i); one.Bytes < 0 {
		one.Bytes = 0
		c.huge++
	}
	class, status := statusClass(b, i, c.status), intOf(b, c.status, i)
	if r.isTxt = b.IsTxt(i); r.isTxt {
		return one
	}
	c.classes[r.agent][class]++
	switch {
	case c.isServed(b, i):
		one.Served = 1
	case class >= 4:
		one.Failed, one.Errors = 1, uint32(bit(class == 5))
		one.Missing = uint32(bit(status == 404 || status == 410))
	}
	if _, stray := b.Sites[i].Stray(); class > 0 && !r.faked && r.agent > 0 && !stray && len(b.Times) > 0 && b.Times[i] != engine.NoTime {
		c.chains.AddAnswer(b.URL(i), r.agent, class == 3 && one.Served == 0, b.Times[i])
	}
	return one
}

// isServed reports whether a row was answered by 2xx or 304.
func (c *Counter) isServed(b *engine.Batch, row int) bool {
	status := intOf(b, c.status, row)
	return status/100 == 2 || status == 304
}

// statusClass returns the first digit of the status, 0 if there is none.
func statusClass(b *engine.Batch, i, column int) int {
	if class := intOf(b, column, i) / 100; class >= 1 && class < statuses {
		return int(class)
	}
	return 0
}

// addTime counts the time of a row, if it has one.
func (c *Counter) addTime(b *engine.Batch, r *rowKey, k *kind, one *aggregate.RowCounts) {
	if len(b.Times) == 0 || b.Times[r.row] == engine.NoTime {
		c.series.None++
		return
	}
	at := b.Times[r.row]
	if c.byTime && k.file != nil {
		k.file.AddTime(at)
	}
	cell := c.series.CellAt(c.clock.Shown(at), int(r.agent))
	cell[timeline.Denied] += int64(min(1, k.denies))
	cell[timeline.Violations] += one.Violations
	cell[timeline.Bytes] += one.Bytes
	addStatus(cell, statusClass(b, r.row, c.status))
	if r.isTxt && r.agent > 0 && !r.faked && (c.status < 0 || c.isServed(b, r.row)) {
		c.turn.addTxt(int(r.agent), c.clock.Shown(at))
	}
}

// addStatus counts a row with a status by its class.
func addStatus(cell *timeline.Cell, class int) {
	cell[timeline.Requests]++
	cell[timeline.Errors] += int64(bit(class >= 4))
	cell[timeline.Moved] += int64(bit(class == 3))
	cell[timeline.Server] += int64(bit(class == 5))
}

// addRequest adds the request of a row that is not in the table.
func (c *Counter) addRequest(b *engine.Batch, r *rowKey) (*aggregate.Request, error) {
	id := c.kindOf(b, r)
	k, site := &c.kinds.all[id], b.Sites[r.row]
	if k.file != nil && site != k.site {
		c.rules.File(b.Rulings[r.row], site) // which has it, too
		k.site = site
	}
	if _, stray := site.Stray(); stray {
		site = engine.NoSite // its number is of this batch alone
	}
	p := aggregate.Place{URL: b.URL(r.row), Site: site}
	if n := len(c.origin); n > 0 && n < len(p.URL) && p.URL[n] == '/' && string(p.URL[:n]) == string(c.origin) {
		p.Prefix = n
	} else if u, err := robots.SplitURL(p.URL); err == nil {
		p.URL, p.Prefix = c.spell(p.URL, u)
		if len(p.URL) != len(b.URL(r.row)) || string(p.URL[:p.Prefix]) != string(u.Prefix) {
			p.Variant = r.hash
		}
	}
	if len(p.URL) > aggregate.MaxURL {
		p.URL, p.Prefix, p.Variant = p.URL[:aggregate.MaxURL], min(p.Prefix, aggregate.MaxURL), r.hash
	}
	return c.requests.AddRequest(r.key, id, p)
}

// kindOf returns the number of the kind of a row.
func (c *Counter) kindOf(b *engine.Batch, r *rowKey) int32 {
	verdicts := b.Verdicts[r.row*c.verdicts:][:c.verdicts]
	id := c.kinds.findKind(b, r, verdicts)
	if id >= 0 {
		return id
	}
	k := kind{agent: r.agent, faked: r.faked}
	_, k.stray = b.Sites[r.row].Stray()
	k.denies, k.answer = c.denials.denyingOf(b, r.row, int(r.local), verdicts)
	if len(c.kinds.all) >= c.kinds.most {
		if id = c.kinds.findOverflow(&k); id >= 0 {
			return id
		}
		k.answer = -1 // they differ
	} else if !k.stray {
		c.rules.openKind(&k, b, r, verdicts)
	}
	return c.kinds.addKind(k)
}

// spell returns a URL with its origin in normal form, and how many bytes that has: all spellings are counted as one
// origin, which is known exactly, and no name or password of a user is kept.
func (c *Counter) spell(url []byte, u robots.URL) (spelled []byte, prefix int) {
	n := len(u.Prefix)
	origin, err := robots.AppendOrigin(c.spelled[:0], u)
	if c.spelled, c.origin = origin, c.origin[:0]; err != nil || string(origin) == string(u.Prefix) {
		if n < min(len(url), aggregate.MaxURL) && url[n] == '/' {
			c.origin = append(c.origin, u.Prefix...)
		}
		return url, n
	}
	c.spelled = append(c.spelled, url[n:]...)
	return c.spelled, len(origin)
}

// isOther reports whether an agent stands for clients that are no known crawlers.
func (c *Counter) isOther(agent uint16) bool { return c.fromLog && agent == 0 }

// Settle adds up the counts by URL and by kind. It ends the count: nothing may be written after it. Further
// calls do nothing. The error is from the temporary files.
func (c *Counter) Settle() error {
	if c.settled {
		return nil
	}
	c.settled = true
	if c.series.HasTimes() {
		_, to, _ := c.series.Shown().Times()
		c.waste.Year = to.Year()
		c.failing.After = to.Year()*10_000 + int(to.Month())*100 + to.Day()
	}
	err := c.requests.EachURL(c.addURL)
	c.endSite()
	c.sections.end()
	for _, p := range c.panels {
		if p.end != nil {
			err = errors.Join(err, p.end())
		}
	}
	c.root = c.tree.Root()
	c.endFacts()
	for i := range c.kinds.all {
		k := &c.kinds.all[i]
		c.denied += int64(k.denies) * k.Rows
		c.rules.addKind(k)
	}
	return err
}

// addURL counts a URL that has all its requests.
func (c *Counter) addURL(u *aggregate.URL) {
	c.urls = u.Number
	hash := aggregate.Hash(u.Text)
	c.tree.Enter(u.Text, u.Prefix, u.PathEnd)
	for i := range u.Requests {
		r := &u.Requests[i]
		k := &c.kinds.all[r.Kind]
		k.AddCounts(&r.RowCounts)
		c.agentURLs[k.agent].AddURL(u.Number)
		c.agentBytes[k.agent] += r.Bytes
		c.rules.addRequests(u, k, r)
		c.tree.AddRequests(&paths.Counts{Requests: r.Rows, Denied: int64(k.denies) * r.Rows, Failed: r.Failed, Bytes: r.Bytes})
		for _, d := range c.denials.of(k) {
			c.tree.AddDenied(d.rule, d.verdicts*r.Rows)
		}
	}
	if c.hours != nil {
		c.diagnoseURL(u)
		c.sections.addURL(c, u)
	}
	c.addTaken(u, hash)
	c.addSitemapURL(u)
	c.addRequested(u, hash)
	c.addAnswers(u, hash)
}

// isTxt reports whether a URL names a robots.txt.
func isTxt(u *aggregate.URL) bool { return robots.IsTxt(u.Text[u.Prefix:]) }

// addAnswers adds the requests of a URL to the lists of answers, crawler by crawler.
func (c *Counter) addAnswers(u *aggregate.URL, hash uint64) {
	if c.status < 0 {
		return
	}
	slices.SortStableFunc(u.Requests, func(a, b aggregate.Request) int {
		return cmp.Compare(c.kinds.all[a.Kind].agent, c.kinds.all[b.Kind].agent)
	})
	for rest := u.Requests; len(rest) > 0; {
		agent, n := c.kinds.all[rest[0].Kind].agent, 1
		for n < len(rest) && c.kinds.all[rest[n].Kind].agent == agent {
			n++
		}
		tie := hash + uint64(agent) // so that those of one URL have an order
		c.served.addURL(c, u, tie, rest[:n])
		c.failed.addURL(c, u, tie, rest[:n])
		rest = rest[n:]
	}
}

// Misfits returns the origins whose answers in the log contradict their robots.txt. It is called after Settle.
func (c *Counter) Misfits() []conduct.Misfit { return c.misfits }

// NumDenied returns how many verdicts deny. It is called after Settle.
func (c *Counter) NumDenied() int64 { return c.denied }

// Busiest returns the robots.txt with the most requests, with counts by rule, and how many others
// there are. It is called after Settle.
func (c *Counter) Busiest(most int) (busiest []aggregate.BusyFile, more int) {
	return c.rules.Busiest(most)
}
