package report

import (
	"bytes"
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
	deniedServed  int64
	allowedFailed int64
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
		c.deniedServed += r.counts.served
	}
	if int(r.denies) < c.verdicts {
		c.allowedFailed += r.counts.failed
	}
	c.tree.add(url, int(r.prefix), &v)
}

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

// A Requested is a URL of an origin, and who asked for it.
type Requested struct {
	Path   string // what follows the origin, as the log has it
	Counts []AgentRequests
	Missed int64 // requests that may be missing in Counts, at most
}

// AgentRequests are the requests of a crawler for a URL: that of the log or, without crawlers of the
// log, of each that is asked for.
type AgentRequests struct {
	Agent    int // index of the agents of the store
	Requests int64
}

// MostRequested returns the most requested URLs of origins that the counter knows, at most so many of
// each, those with the most requests first. It is called before Write.
func (c *Counter) MostRequested(origins []robots.Origin, most int) map[robots.Origin][]Requested {
	type entry struct {
		origin int // index of origins
		path   []byte
		*request
	}
	number := map[robots.Origin]int{}
	for i, o := range origins {
		number[o] = i
	}
	var entries []entry
	var buf []byte
	for i := range c.requested.all {
		r := &c.requested.all[i]
		url := c.requested.url(r)
		u, err := robots.SplitURL(url)
		if err != nil || len(url) == maxURL {
			continue
		}
		if buf, err = robots.AppendOrigin(buf[:0], u); err != nil {
			continue
		}
		if n, wanted := number[robots.Origin(buf)]; wanted {
			entries = append(entries, entry{n, url[len(u.Prefix):], r})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), bytes.Compare(a.path, b.path), cmp.Compare(a.agent, b.agent))
	})
	all := map[robots.Origin][]Requested{}
	for i, e := range entries {
		urls := all[origins[e.origin]]
		if i == 0 || e.origin != entries[i-1].origin || !bytes.Equal(e.path, entries[i-1].path) {
			urls = append(urls, Requested{Path: string(e.path)})
			all[origins[e.origin]] = urls
		}
		c.addRequests(&urls[len(urls)-1], e.request)
	}
	for origin, urls := range all {
		slices.SortFunc(urls, func(a, b Requested) int {
			return cmp.Or(cmp.Compare(b.requests(), a.requests()), cmp.Compare(a.Path, b.Path))
		})
		all[origin] = urls[:min(len(urls), most)]
	}
	return all
}

// addRequests adds the rows of a request, whose crawler is the last of the URL or comes after it.
func (c *Counter) addRequests(to *Requested, r *request) {
	to.Missed += int64(r.missed)
	if c.fromLog {
		if last := len(to.Counts) - 1; last >= 0 && to.Counts[last].Agent == int(r.agent) {
			to.Counts[last].Requests += r.counts.rows
		} else {
			to.Counts = append(to.Counts, AgentRequests{int(r.agent), r.counts.rows})
		}
		return
	}
	if to.Counts == nil {
		for a := range c.verdicts {
			to.Counts = append(to.Counts, AgentRequests{Agent: a})
		}
	}
	for a := range to.Counts {
		to.Counts[a].Requests += r.counts.rows
	}
}

// requests returns the sum of the requests.
func (r *Requested) requests() (n int64) {
	for _, c := range r.Counts {
		n += c.Requests
	}
	return n
}
