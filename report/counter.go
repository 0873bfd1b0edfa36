package report

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Options say what a Counter counts. The zero value counts no statuses.
type Options struct {
	// Memory is about how many bytes the counts may take; 0 is [aggregate.DefaultMemory]. Half of it is
	// for distinct URLs, and a quarter for what rules do.
	Memory int64

	// Status is the index in engine.Batch.Kept of the column of integers that has the status of the
	// answer, plus 1; 0 is none.
	Status int
}

// A Counter is an [engine.Sink] that counts what the page shows. It is for one goroutine.
type Counter struct {
	store    *engine.Store
	look     *engine.Lookup
	fromLog  bool
	verdicts int // of a row
	status   int // index of Kept; -1 is none

	requested *requested
	tree      *tree
	series    *series
	paces     *paces
	ruled     *ruled
	urls      *aggregate.Distinct
	total     aggregate.Tally
	agents    []aggregate.Tally // by crawler; only with crawlers of the log
	byTime    bool              // a URL may be decided by another text at another time
	classes   [][statuses]int64 // by crawler, and by the first digit of the status
	hashes    []uint64          // of URLs that leave, and then for how many new ones each stands

	rows, bad     int64
	strays        int64 // rows of origins that the rules do not know
	deniedServed  parted
	allowedFailed parted
	rules         []rule
	ruleIDs       map[ruleKey]int32
	answers       [][]decided // what denied requests, by request.answer
	answerIDs     map[string]int32
	by            []decided // of the request in hand
	key           []byte    // the same, as a key of answerIDs
	visit         visit
	hands         [32]hand
	looked        uint32
	isDone        bool
}

// A parted number is that of known crawlers, or of all if they are not told apart, and that of other
// clients.
type parted struct{ own, others int64 }

// statuses are the classes of a status: 1xx to 5xx, and none or another.
const statuses = 6

// A ruleKey is a rule, or a reason for which no rule is needed.
type ruleKey struct {
	ruling engine.RulingID
	line   int32
	reason engine.Reason
}

// A rule is what may deny a request.
type rule struct {
	text   string
	line   int32
	origin string // the first that it denied at
	reason engine.Reason
}

// What a counter takes.
const (
	maxRules      = 1 << 14
	maxAnswers    = 1 << 16
	maxRequests   = 1 << 17
	leastRequests = 1 << 12
	requestBytes  = 80  // of a request and its slots
	urlBytes      = 120 // of its URL, about
	maxURL        = 4096
)

// NewCounter returns a counter for a run by a store, which must outlive it.
func NewCounter(store *engine.Store, opt Options) *Counter {
	memory := cmp.Or(max(0, opt.Memory), aggregate.DefaultMemory)
	o := store.Options()
	c := &Counter{
		store: store, look: store.NewLookup(), fromLog: o.LogAgents != engine.LogAgentsOff, verdicts: len(o.Agents), status: opt.Status - 1,
		tree: newTree(true), paces: newPaces(), urls: aggregate.NewDistinct(memory / 2), ruleIDs: map[ruleKey]int32{},
		answerIDs: map[string]int32{}, ruled: newRuled(store, memory/4), byTime: o.RowTimes,
	}
	crawlers := 1
	if c.fromLog {
		crawlers, c.verdicts = len(o.Agents), 1
	}
	most := int(max(leastRequests, min(maxRequests, memory/8/(requestBytes+urlBytes))))
	c.requested = newRequested(most, most*urlBytes, c.leave)
	c.series = newSeries(crawlers)
	c.classes = make([][statuses]int64, crawlers)
	if c.fromLog {
		c.agents = make([]aggregate.Tally, crawlers)
	}
	return c
}

// Close does nothing.
func (c *Counter) Close() error { return nil }

// Write counts a batch.
func (c *Counter) Write(b *engine.Batch) error {
	c.look.Use(b)
	c.ruled.rules.Use(b)
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
	agent     uint16
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
			h.agent = b.Agents[i]
		}
		h.key = keyOf(h.hash, h.agent, b.Rulings[i], b.Verdicts[i*c.verdicts])
		hands = append(hands, h)
	}
	for i := range hands {
		c.looked |= c.requested.slots[c.requested.slot(hands[i].key)] // used, or the compiler would leave it out
	}
	for i := range hands {
		c.row(b, &hands[i])
	}
}

// row counts a row with a URL.
func (c *Counter) row(b *engine.Batch, h *hand) {
	i, agent, site, violated := h.row, h.agent, b.Sites[h.row], false
	if c.fromLog {
		violated = b.Violations[i] == engine.Violated
	}
	if _, stray := site.Stray(); stray {
		c.strays++
	}
	r := c.requested.find(h.key)
	if r == nil {
		r = c.meet(b, i, request{key: h.key, hash: h.hash, agent: agent, site: site})
	}
	r.counts.rows++
	if violated {
		r.counts.violations++
	}
	class := statusClass(b, i, c.status)
	c.classes[agent][class]++
	switch class {
	case 2:
		r.counts.served++
	case 4, 5:
		r.counts.failed++
	}
	if class == 3 && b.Kept[c.status].Ints[i] == 304 {
		r.counts.served++
	}
	if len(b.Times) == 0 || b.Times[i] == noTime {
		c.series.none++
		return
	}
	at := b.Times[i]
	if c.byTime && r.ruled >= 0 {
		c.ruled.all[r.ruled].file.Met(at)
	}
	cell := &c.series.at(at)[agent]
	cell.requests++
	cell.denied += int64(min(1, r.denies))
	if violated {
		cell.violations++
	}
	if c.fromLog && agent != 0 {
		c.paces.add(b, i, c.look)
	}
}

// keyOf returns the key of rows that are alike. The verdicts of several crawlers follow from the URL
// and what is in force.
func keyOf(hash uint64, agent uint16, ruling engine.RulingID, v engine.Verdict) uint64 {
	key := hash ^ uint64(agent)*0x9E3779B97F4A7C15 ^ uint64(uint32(v.Rule))<<32 ^ uint64(v.Access)<<8 ^ uint64(v.Reason)
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

// meet adds a request that is not in the table.
func (c *Counter) meet(b *engine.Batch, i int, r request) *request {
	verdicts := b.Verdicts[i*c.verdicts:][:c.verdicts]
	c.by = c.by[:0]
	for a, v := range verdicts {
		if v.Access != engine.Denied {
			continue
		}
		agent := a
		if c.fromLog {
			agent = int(r.agent)
		}
		r.denies++
		c.by = count(c.by, 1+c.ruleOf(b, i, agent, v))
	}
	url := b.URL(i)
	if u, err := robots.SplitURL(url); err == nil {
		r.prefix = uint16(min(len(u.Prefix), maxURL))
	}
	r.answer, r.ruled = c.answer(), -1
	if _, stray := r.site.Stray(); !stray {
		r.ruled = c.ruled.of(b, i, int(r.agent), verdicts, int(r.prefix))
	}
	return c.requested.add(r, url[:min(len(url), maxURL)])
}

// count counts a verdict for a rule.
func count(by []decided, rule int32) []decided {
	for i := range by {
		if by[i].rule == rule {
			by[i].verdicts++
			return by
		}
	}
	return append(by, decided{rule, 1})
}

// answer returns the number of what denied the request in hand, -1 if nothing did.
func (c *Counter) answer() int32 {
	if len(c.by) == 0 {
		return -1
	}
	if len(c.answers) >= maxAnswers {
		c.by = c.by[:1] // few logs have so many kinds; the verdicts stay right, and stand with one rule
	}
	c.key = c.key[:0]
	for _, d := range c.by {
		c.key = binary.LittleEndian.AppendUint32(c.key, uint32(d.rule))
		c.key = binary.LittleEndian.AppendUint32(c.key, uint32(d.verdicts))
	}
	id, known := c.answerIDs[string(c.key)]
	if !known {
		id = int32(len(c.answers))
		c.answers, c.answerIDs[string(c.key)] = append(c.answers, slices.Clone(c.by)), id
	}
	return id
}

// ruleOf returns the number of what denied a row.
func (c *Counter) ruleOf(b *engine.Batch, i, agent int, v engine.Verdict) int32 {
	key := ruleKey{reason: v.Reason}
	var winner robots.Rule
	if v.Rule != engine.NoRule {
		winner = c.look.Rule(b.Rulings[i], agent, v.Rule)
		key.ruling, key.line = b.Rulings[i], winner.Line
	}
	id, known := c.ruleIDs[key]
	if known {
		return id
	}
	if len(c.rules) >= maxRules {
		key = ruleKey{reason: v.Reason, line: -1}
		if id, known = c.ruleIDs[key]; known {
			return id
		}
		winner = robots.Rule{Line: -1}
	}
	r := rule{line: winner.Line, reason: v.Reason}
	if winner.Line > 0 {
		r.text = strings.Clone(winner.String())
		if u, err := robots.SplitURL(b.URL(i)); err == nil {
			r.origin = strings.Clone(string(u.Prefix))
		}
	}
	id = int32(len(c.rules))
	c.rules, c.ruleIDs[key] = append(c.rules, r), id
	return id
}

// leave adds up what is counted by URL and by path.
func (c *Counter) leave(all []request) {
	c.hashes = c.hashes[:0]
	for i := range all {
		c.hashes = append(c.hashes, all[i].hash)
	}
	c.urls.AddAll(c.hashes)
	for i := range all {
		r := &all[i]
		c.count(r, int64(c.hashes[i]))
		c.addPath(r)
	}
}

// In a [aggregate.Distinct] the groups of outcomes come behind those of crawlers.
const firstOutcome = 1 << 16

// count adds up what is counted by URL. weight says for how many new URLs that of the request stands.
func (c *Counter) count(r *request, weight int64) {
	rows := r.counts.rows
	c.total.Add(rows, weight)
	if c.fromLog {
		c.agents[r.agent].Add(rows, c.urls.Add(aggregate.In(uint32(r.agent), r.hash)))
	}
	if r.ruled < 0 {
		if _, stray := r.site.Stray(); !stray {
			c.ruled.untold += rows
		}
		return
	}
	of := &c.ruled.all[r.ruled]
	of.file.Requests += rows
	for _, o := range of.outcomes {
		if c.fromLog || c.byTime { // else a URL has one outcome, so that it is new where the URL is
			weight = c.urls.Add(aggregate.In(firstOutcome+o.Number, r.hash))
		}
		o.Add(rows, weight)
		if c.fromLog {
			c.ruled.rules.Ask(o, int(r.agent), rows)
		}
	}
}

// addPath adds up what is counted by path.
func (c *Counter) addPath(r *request) {
	url := c.requested.url(r)
	v := visit{counts: r.counts}
	if r.answer >= 0 {
		v.by = c.visit.by[:0]
		v.denied = int64(r.denies) * r.counts.rows
		for _, d := range c.answers[r.answer] {
			v.by = append(v.by, decided{d.rule, d.verdicts * r.counts.rows})
		}
		c.visit.by = v.by
	}
	if r.denies > 0 {
		c.deniedServed.add(c, r, r.counts.served)
	}
	if int(r.denies) < c.verdicts {
		c.allowedFailed.add(c, r, r.counts.failed)
	}
	c.tree.add(url, int(r.prefix), &v)
}

// add adds n rows of a request.
func (p *parted) add(c *Counter, r *request, n int64) {
	if c.isOther(r) {
		p.others += n
	} else {
		p.own += n
	}
}

// isOther reports whether a request is of a client that is no known crawler.
func (c *Counter) isOther(r *request) bool { return c.fromLog && r.agent == 0 }

// finish ends the count. Nothing may be written after it.
func (c *Counter) finish() {
	if !c.isDone {
		for some := range slices.Chunk(c.requested.all, leaving) {
			c.leave(some)
		}
		c.isDone = true
	}
}

// Busiest returns the robots.txt with the most requests and what their rules did, and how many others
// there are. It ends the count.
func (c *Counter) Busiest(most int) (busiest []aggregate.BusyFile, more int) {
	c.finish()
	return c.ruled.rules.Busiest(most)
}

// A Requested is a path of the origins of a file, and who asked for it.
type Requested struct {
	Path   string          // what follows the origin, as the log has it
	Counts []AgentRequests // by ascending Agent
	Missed int64           // requests that may be missing in Counts, at most
}

// AgentRequests are the requests of a crawler for a URL: that of the log or, without crawlers of the
// log, of each that is asked for.
type AgentRequests struct {
	Agent    int // index of the agents of the store
	Requests int64
}

// MostRequested returns the most requested URLs of each of some files, whose sites are given, at most so
// many of each, those with the most requests first. Paths of sites that have the same file are put together.
// It is called before Write.
func (c *Counter) MostRequested(files [][]engine.SiteID, most int) [][]Requested {
	of := map[engine.SiteID]int{}
	for i, sites := range files {
		for _, site := range sites {
			of[site] = i
		}
	}
	found := make([][]pathEntry, len(files))
	for i := range c.requested.all {
		r := &c.requested.all[i]
		if n, wanted := of[r.site]; wanted && r.n < maxURL {
			found[n] = append(found[n], pathEntry{aggregate.Hash(c.requested.url(r)[r.prefix:]), int32(i)})
		}
	}
	all := make([][]Requested, len(files))
	for n := range found {
		all[n] = c.mostRequested(found[n], most)
	}
	return all
}

// A pathEntry is a request, by the hash of its path.
type pathEntry struct {
	hash    uint64
	request int32 // index of Counter.requested.all
}

// mostRequested returns the paths of a file with the most requests, at most so many.
func (c *Counter) mostRequested(entries []pathEntry, most int) []Requested {
	all := c.requested.all
	slices.SortFunc(entries, func(a, b pathEntry) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return cmp.Compare(all[a.request].agent, all[b.request].agent) // looked at for these alone: it is a wait for memory
	})
	type span struct { // the entries of a path
		rows     int64
		from, to int32
	}
	var paths []span
	for from := 0; from < len(entries); {
		s := span{from: int32(from)}
		for hash := entries[from].hash; from < len(entries) && entries[from].hash == hash; from++ {
			s.rows += all[entries[from].request].counts.rows
		}
		s.to = int32(from)
		paths = append(paths, s)
	}
	slices.SortFunc(paths, func(a, b span) int { return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.from, b.from)) })
	paths = paths[:min(len(paths), most)]
	urls := make([]Requested, len(paths))
	var counts []AgentRequests // of all: a slice for each would take longer
	for i, p := range paths {
		r := &all[entries[p.from].request]
		urls[i].Path = string(c.requested.url(r)[r.prefix:])
		begin := len(counts)
		for _, e := range entries[p.from:p.to] {
			urls[i].Missed += int64(all[e.request].missed)
			if last := len(counts) - 1; last >= begin && counts[last].Agent == int(all[e.request].agent) {
				counts[last].Requests += all[e.request].counts.rows
			} else {
				counts = append(counts, AgentRequests{int(all[e.request].agent), all[e.request].counts.rows})
			}
		}
		if !c.fromLog { // all of them ask for each
			for a := 1; a < c.verdicts; a++ {
				counts = append(counts, AgentRequests{a, counts[begin].Requests})
			}
		}
		urls[i].Counts = counts[begin:len(counts):len(counts)]
	}
	return urls
}

// requests returns the sum of the requests.
func (r *Requested) requests() (n int64) {
	for _, c := range r.Counts {
		n += c.Requests
	}
	return n
}
