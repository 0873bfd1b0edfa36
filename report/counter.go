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
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/impostors"
	"github.com/robobatch/robobatch/report/internal/paths"
	"github.com/robobatch/robobatch/report/internal/sitemaps"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/robots"
)

// Options configure a Counter. The zero value counts no status codes.
type Options struct {
	// Memory is the approximate size of the counts in bytes; 0 is [aggregate.DefaultMemory], and half as much again
	// for requests. An eighth each is for the most requested URLs, for the kinds of requests and, with crawlers of
	// the log, for the User-Agents of unidentified clients. A sixteenth is for Counter.Diagnose, a sixteenth for
	// impostors if there are address lists, and a quarter for counts by rule. The rest is for requests. Requests,
	// User-Agents and impostors that exceed their part go to disk.
	Memory int64

	// TempDir is the directory for temporary files, used if requests do not fit into memory; "" is the system's default.
	TempDir string

	// Status is the index in engine.Batch.Kept, plus 1, of the integer column with the status code; 0 means none.
	Status int

	// Bytes is the index, plus 1, of the integer column with the number of bytes sent; 0 means none.
	Bytes int

	// Method is the index, plus 1, of the text column with the request method; 0 means none.
	Method int

	// Conduct is the approximate size of the journal of package conduct in bytes, in addition to Memory; 0 is
	// [conduct.DefaultMemory]. There is no journal if the store has no engine.StoreOptions.Evidence, no status codes are
	// known, or the origins of the rules would take half of the journal.
	Conduct int64

	// NoRequested has MostRequested return no URLs.
	NoRequested bool

	// Texts are the texts of the rules, as in [conduct.Options].
	Texts *conduct.Texts

	// Location is the time zone for days and hours; nil is UTC.
	Location *time.Location

	// Change is the time of a change: the days before and after it are compared. The zero time means none.
	Change time.Time

	// Old is the lookup of the previous rules, as in the [engine.Options] of the run; nil without previous rules.
	// Crawlers that only the previous rules name are also counted.
	Old *engine.Store
}

// A Counter is an [engine.Sink] that counts everything that the page shows. It is for one goroutine.
//
// Write counts rows in an [aggregate.Requests] by URL and [kind], and by time. Settle derives the other numbers, once
// per URL or kind. All numbers are therefore exact.
type Counter struct {
	store    *engine.Store
	look     *engine.Lookup
	old      *engine.Lookup    // nil without Options.Old
	callers  *engine.AgentList // the crawlers of the log
	fromLog  bool
	byTime   bool // whether the text that decides a URL may change over time
	verdicts int  // number of verdicts per row
	status   int  // index in Kept; -1 means none
	bytes    int  // the same
	method   int  // the same

	requests   *aggregate.Requests
	panels     []panel
	sitemaps   *sitemaps.Counts // nil without sitemaps
	listed     *sitemaps.View   // of sitemaps, after CheckSitemaps
	mismatches []conduct.Mismatch
	kinds      kinds
	denials    *denials
	rules      ruleCounts
	series     *timeline.Series
	zone       *time.Location
	clock      times.Clock       // clock of series, in zone
	classes    [][statuses]int64 // by crawler, and by the first digit of the status
	chains     diagnose.Chains
	turn       turn
	hours      *diagnose.Counts // nil without crawlers of the log

	request   diagnose.Request     // request of the last row
	rowOrigin []byte               // see originOf
	failing   diagnose.Directories // directories of URLs, see Settle
	log       diagnose.Log         // what Find needs besides hours
	once      []int                // crawlers that fetched a URL once
	searches  []bool               // by crawler seen so far: whether it fetches for a search engine
	hog       diagnose.Hog         // of a URL
	hogs      []diagnose.Eater     // by crawler, without impostors

	rows, bad int64
	strays    int64   // rows of origins without rules
	fetched   []int64 // by requested crawler: requests for a robots.txt that the rules disallow

	origin  []byte // origin of the last URL that was split, if it is normalised and a path that begins with "/" follows
	spelled []byte // URL of the last row, if its origin is not normalised
	keys    [32]rowKey
	probed  uint32

	// For URLs, see Settle.
	settled     bool
	tree        *paths.Tree
	waste       diagnose.Waste // URLs that crawlers may fetch
	visit       diagnose.Visit // of the last URL
	taking      []diagnose.Hog // the same URL, by crawler
	root        *paths.Path    // of tree
	urls        int64
	agentURLs   []aggregate.URLCount // by crawler
	agentBytes  []int64              // the same
	huge        int64                // responses whose bytes are not counted
	served      answers
	failed      answers
	requested   *aggregate.Largest[requestedURL]
	noRequested bool                 // see Options
	paths       arena[byte]          // paths of requested
	counts      arena[AgentRequests] // counts of requested
	sites       *aggregate.Largest[siteTotal]
	site        siteTotal // totals of the last URL's site
	sections    sections
	taken       *aggregate.Largest[impostors.URL] // URLs that impostors requested; nil without address lists
	fakeURLs    int64
	denied      int64 // verdicts
}

// statuses is the number of status classes: 1xx to 5xx, and one for other and missing status codes.
const statuses = 6

// Limits of a counter.
const (
	mostRequested  = 1 << 17
	leastRequested = 1 << 20 // bytes
	maxNamed       = 256     // maximum number of crawlers of the log that are named only in a robots.txt
)

// NewCounter returns a counter for a run with a store, which must outlive the counter. Call CloseTemp in the end.
func NewCounter(store *engine.Store, opt Options) *Counter {
	memory := cmp.Or(max(0, opt.Memory), aggregate.DefaultMemory)
	o := store.Options()
	share := memory / 2
	if opt.Memory <= 0 {
		share = memory
	}
	if o.LogAgents != engine.LogAgentsOff {
		share -= memory/8 + memory/16
	}
	if o.Ranges != nil {
		share -= memory / 16
	}
	c := &Counter{
		store: store, look: store.NewLookup(), fromLog: o.LogAgents != engine.LogAgentsOff, byTime: o.RowTimes, verdicts: len(o.Agents), status: opt.Status - 1, bytes: opt.Bytes - 1, method: opt.Method - 1,
		requests: aggregate.NewRequests(max(1, share), opt.TempDir), rules: ruleCounts{Rules: aggregate.NewRules(store, aggregate.RulesOptions{Memory: max(1, memory/16*3), Matchers: max(1, memory/16)})}, tree: paths.New(),
		sites: aggregate.NewLargest[siteTotal](shownSites), site: siteTotal{site: engine.NoSite},
	}
	most := mostRequested
	if c.noRequested = opt.NoRequested; c.noRequested {
		most = 0
	}
	c.requested = aggregate.NewLargestWithin(most, max(leastRequested, memory/8*2/3), c.compactRequested) // grows by half
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
	c.kinds = kinds{numbers: newNumbers(), most: int(memory/8) / (kindBytes + c.verdicts*verdictBytes)}
	c.denials = &denials{look: c.look, ruleIDs: map[ruleKey]int32{}, numbers: newNumbers()}
	c.series, c.zone, c.clock = timeline.New(crawlers), opt.Location, times.NewClock(opt.Location)
	if c.turn.at = math.MaxInt64; !opt.Change.IsZero() {
		c.turn.at = c.clock.Shown(opt.Change.UnixMicro())
		c.turn.name = timeline.Text(c.turn.at) + " " + c.clock.Name()
	}
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

// Close does nothing, because the page is made after the run.
func (c *Counter) Close() error { return nil }

// CloseTemp removes the temporary files. The counter must not be used afterwards; further calls do nothing.
func (c *Counter) CloseTemp() {
	c.requests.Close()
	for _, p := range c.panels {
		if p.close != nil {
			p.close()
		}
	}
}

// Write counts a batch, see [engine.Batch.ForCrawlers].
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

// Limits of the byte counts: responses of maxBytes or more are not counted, and the counts of a log stop at
// mostBytes. 2,048 sums of mostBytes by crawler, rule or path do not overflow, and JavaScript numbers represent it
// exactly. See Huge.
const (
	maxBytes  = 1 << 50
	mostBytes = 1 << 52
)

// Huge returns the number of responses that are too large for their bytes to be counted.
func (c *Counter) Huge() int64 { return c.huge }

// bytesOf returns the number of bytes sent for a row: 0 if unknown, and -1 if too large to be counted.
func (c *Counter) bytesOf(b *engine.Batch, i int) int64 {
	sent := intOf(b, c.bytes, i)
	if sent <= 0 {
		return 0
	}
	if sent >= maxBytes || sent > mostBytes-c.log.Bytes {
		return -1
	}
	return sent
}

// intOf returns the number in a column of a row; -1 if absent.
func intOf(b *engine.Batch, column, row int) int64 {
	if column < 0 || !b.Kept[column].Present[row] {
		return -1
	}
	return b.Kept[column].Ints[row]
}

// pageSize returns the size of the page sent for a row; 0 if it is unknown, or if no page was sent. Responses to HEAD
// and responses with status 304 have no page, although some logs count their headers.
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

// keysOf returns the keys of rows that have a URL. It first probes the table for all of them, so that the memory
// accesses overlap.
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
		c.probed |= c.requests.Probe(keys[i].key) // used, so that the compiler does not remove it
	}
	return keys
}

// keyOf returns the key of a group of rows. The key needs no verdicts of requested crawlers, because they follow from
// the URL and the ruling.
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
	page := c.pageSize(b, r.row, one.Bytes)
	c.requests.AddRow(q, &one, page)
	c.addTime(b, r, &c.kinds.all[q.Kind], &one)
	return c.addHour(b, r, c.kinds.all[q.Kind].denies > 0, page)
}

// countsOf returns the counts of a row, and counts its status by class: requests for robots.txt separately from
// pages.
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
	c.log.Bytes += one.Bytes
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

// hasStatuses reports whether the log has status codes: false if they are not kept, or if requests were counted, other
// than for robots.txt, and none had one. The fields of a pipe are not known before.
func (c *Counter) hasStatuses() bool {
	var with, without bool
	for _, of := range c.classes {
		with = with || of != [statuses]int64{of[0]}
		without = without || of[0] > 0
	}
	return c.status >= 0 && (with || !without)
}

// isServed reports whether the status of a row is 2xx or 304.
func (c *Counter) isServed(b *engine.Batch, row int) bool {
	status := intOf(b, c.status, row)
	return status/100 == 2 || status == 304
}

// statusClass returns the first digit of the status; 0 if there is no status.
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

// addRequest adds a request that is not in the table yet.
func (c *Counter) addRequest(b *engine.Batch, r *rowKey) (*aggregate.Entry, error) {
	id := c.kindOf(b, r)
	k, site := &c.kinds.all[id], b.Sites[r.row]
	if k.file != nil && site != k.site {
		c.rules.File(b.Rulings[r.row], site) // both sites have it
		k.site = site
	}
	if _, stray := site.Stray(); stray {
		site = engine.NoSite // the number is valid only in this batch
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
		k.answer = -1 // their responses differ
	} else if !k.stray {
		c.rules.openKind(&k, b, r, verdicts)
	}
	return c.kinds.addKind(k)
}

// spell returns a URL with a normalised origin, and the length of that origin. So all spellings of an origin count as
// one, and user names and passwords are dropped.
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

// isOther reports whether an agent stands for unidentified clients.
func (c *Counter) isOther(agent uint16) bool { return c.fromLog && agent == 0 }

// Settle sums the counts by URL and by kind, and ends counting: nothing may be written afterwards. Further calls do
// nothing. The error is about the temporary files.
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

// addURL counts a URL with all its requests.
func (c *Counter) addURL(u *aggregate.URL) {
	c.urls = u.Number
	hash := uint64(0)
	if c.taken != nil || !c.noRequested || c.status >= 0 {
		hash = aggregate.Hash(u.Text)
	}
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

// addAnswers adds the requests for a URL to the lists of contradicting responses, crawler by crawler.
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
		tie := hash + uint64(agent) // keeps the order of the rows of one URL stable
		c.served.addURL(c, u, tie, rest[:n])
		c.failed.addURL(c, u, tie, rest[:n])
		rest = rest[n:]
	}
}

// Mismatches returns the origins whose responses in the log contradict their robots.txt. Call it after Settle.
func (c *Counter) Mismatches() []conduct.Mismatch { return c.mismatches }

// NumDenied returns the number of disallowing verdicts. Call it after Settle.
func (c *Counter) NumDenied() int64 { return c.denied }

// Busiest returns the robots.txt files with the most requests, with counts by rule, and the number of others. Call it
// after Settle.
func (c *Counter) Busiest(most int) (busiest []aggregate.BusyFile, more int) {
	return c.rules.Busiest(most)
}
