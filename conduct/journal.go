package conduct

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/robots"
)

// DefaultMemory is the default of Options.Memory, in bytes.
const DefaultMemory = 256 << 20

// Options select the requests that a Journal stores, and where. Status is required: without it, no response counts.
type Options struct {
	Memory  int64  // limit in bytes, beyond which events go to a temporary file; 0 means DefaultMemory
	TempDir string // the directory of that file; "" means the default

	// Cache is how long a crawler may use a copy without a max-age, as in engine.StoreOptions.
	Cache time.Duration

	// 1 + the indices of the kept columns with the status of the response, the method and the bytes sent; 0 means
	// none. Without a status, no response counts; without a method, no request is HEAD.
	Status, Method, Bytes int

	// Texts are the texts of the rules. A response counts as the text in force unless its size contradicts that. nil
	// disables the comparison.
	Texts *Texts

	Client int // 1 + the index of the kept column with the client's address; 0 means Clients of engine.Batch

	Requests bool // Judge passes on each disallowed request
	ByAgent  bool // a Row covers a crawler at all origins

	// Judge calls Moment for each answer that counts and each disallowed request with a time, ordered by time for each
	// crawler and origin. May be nil.
	Moment func(Moment)
}

// A Journal is a Sink that records the requests of crawlers. It needs a store with engine.StoreOptions.Evidence, and
// robots.CrawlDelayLines among its Directives to count gaps. Write all batches of a run, then call Judge, and
// CloseTemp at the end. It is not safe for concurrent use.
type Journal struct {
	opt    Options
	store  *engine.Store
	known  int // number of agents in package crawlers
	lookup *engine.Lookup
	list   *engine.AgentList
	table  table
	sites  []site
	strays strays
	spill  *extsort.Spill
	gaps   bool // gaps are counted

	seen   seen
	detail []byte
	spans  []engine.Period
	delays map[string]int64 // by value of a Crawl-delay

	lengths map[engine.RulingID]lengths // lengths of texts in force; missing ones are unknown

	leads map[engine.SiteID][]robots.Redirect // from these sites to other origins
	ledTo map[string][]engine.SiteID          // to an origin, from these sites
}

// A seen records what occurred in the log.
type seen struct {
	dated, answered, sized bool // a time, a response that counts, a number of bytes
	bodied, headed         bool // responses that prove that sizes exclude headers, and responses that prove that they include them
}

// A site is the data kept about an origin of the rules.
type site struct {
	first   int64           // time of the first request to the origin; NoTime if there is none
	ruling  engine.RulingID // the ruling of one of its rows; of all rows unless isDated
	newest  engine.RulingID // of the newest text; 0 if there is none
	isKnown bool            // the fields above are valid
	isDated bool            // the text in force changes
	delays  bool            // a text has a Crawl-delay for any crawler
}

// mostNamed is the maximum number of crawlers that are counted separately although only a robots.txt names them.
const mostNamed = 1 << 16

// siteSize is the memory of a Journal, in bytes, for each origin of the rules, requested or not.
const siteSize = int64(unsafe.Sizeof(site{}))

// Least returns the approximate minimum memory, in bytes, of a Journal for rules of the given number of origins.
func Least(origins int) int64 { return leastSize + siteSize*int64(origins) }

// NewJournal returns a Journal for a run over the store, which must stay open until Judge has returned. The caller must
// call CloseTemp.
func NewJournal(store *engine.Store, opt Options) *Journal {
	if opt.Memory <= 0 {
		opt.Memory = DefaultMemory
	}
	j := &Journal{
		opt: opt, store: store, known: len(store.Options().Agents), lookup: store.NewLookup(), sites: make([]site, store.NumSites()),
		spill: extsort.NewSpill(opt.TempDir), delays: map[string]int64{}, lengths: map[engine.RulingID]lengths{},
		gaps: slices.Contains(store.Options().Directives, robots.CrawlDelayLines),
	}
	j.list = engine.NewAgentList(j.lookup, nil, mostNamed)
	for i := range j.sites {
		j.sites[i].first = NoTime
	}
	j.leads, j.ledTo = store.Redirects(), map[string][]engine.SiteID{}
	for site, leads := range j.leads {
		for _, lead := range leads {
			if from := j.ledTo[string(lead.To)]; !slices.Contains(from, site) {
				j.ledTo[string(lead.To)] = append(from, site)
			}
		}
	}
	j.table.details = opt.Requests
	memory := max(opt.Memory/4, opt.Memory-siteSize*int64(len(j.sites)))
	j.table.size = max(leastSize, min(memory/4*3, 1<<32)) // three quarters, because a growing slice exists twice
	j.table.slots = make([]uint32, 128)
	return j
}

// Close does nothing.
func (j *Journal) Close() error { return nil }

// CloseTemp removes the temporary file. Further calls do nothing.
func (j *Journal) CloseTemp() { j.spill.Close() }

// HasTimes reports whether any crawler request had a time. Without times, nothing can be judged.
func (j *Journal) HasTimes() bool { return j.seen.dated }

// HasAnswers reports whether any request for /robots.txt had a response that counts, or at least a status. Without
// one, nothing can be judged.
func (j *Journal) HasAnswers() bool { return j.seen.answered }

// HasBytes reports whether any crawler request has the number of bytes sent.
func (j *Journal) HasBytes() bool { return j.seen.sized }

// Sizes reports whether the responses of all clients prove that logged sizes exclude headers, and whether they prove
// that sizes include headers. Responses to HEAD, 204 and 304 have no body, and no header has only a few bytes. Both
// can be true, because the logs of a run may differ.
func (j *Journal) Sizes() (bodies, headers bool) { return j.seen.bodied, j.seen.headed }

// leastAnswer is the minimum size of a response with its header, in bytes, even if the header is compressed.
const leastAnswer = 40

// isHead reports whether the method of a request is HEAD.
func (j *Journal) isHead(b *engine.Batch, row int) bool {
	return j.opt.Method > 0 && strings.EqualFold(string(b.Piece(b.Kept[j.opt.Method-1].Texts[row])), "HEAD")
}

// Write records the rows of crawlers in a batch, which it does not keep. Rows of impostors are counted, but not judged.
// The error is that of a temporary file.
func (j *Journal) Write(b *engine.Batch) error {
	j.lookup.Use(b)
	left := b.Evidence
	j.strays.batch = slices.Grow(j.strays.batch[:0], len(b.Strays))[:len(b.Strays)]
	clear(j.strays.batch)
	for row, id := range b.Sites {
		at := timeOf(b, row)
		number, isStray := id.Stray()
		if id == engine.NoSite {
			continue
		}
		if !isStray && at != NoTime {
			if s := &j.sites[id]; s.first == NoTime || at < s.first {
				s.first = at
			}
		}
		if j.opt.Texts != nil && j.opt.Bytes > 0 && !j.seen.headed {
			// Record what the size of a response shows about the log.
			status, ok := keptInt(b, row, j.opt.Status)
			size, isSized := keptInt(b, row, j.opt.Bytes)
			if ok && isSized && status >= 200 && status < 400 {
				switch hasNoBody := status == 204 || status == 304 || j.isHead(b, row); {
				case hasNoBody && size > 0:
					j.seen.headed = true
				case hasNoBody || 0 < size && size < leastAnswer: // other responses of 0 bytes may be truncated transfers
					j.seen.bodied = true
				}
			}
		}
		if b.Agents[row] == 0 { // not a crawler
			continue
		}
		var evidence *engine.Evidence
		if len(left) > 0 && int(left[0].Row) == row {
			evidence, left = &left[0], left[1:]
		}
		origin := uint32(id)
		if isStray {
			origin = j.strays.numberOf(b, number)
		}
		agent := int(b.Agents[row])
		if agent >= j.known {
			agent = j.list.Number(b, row)
		}
		p := j.table.findPair(origin, uint32(agent))
		if p == nil {
			var err error
			if p, err = j.addPair(b, row, origin, uint32(agent), b.Rulings[row]); err != nil {
				return err
			}
		}
		if j.count(b, row, p, at); len(b.Verified) > 0 && b.Verified[row] == ranges.No {
			continue
		}
		if err := j.recordEvent(b, row, p, evidence); err != nil {
			return err
		}
		if evidence != nil && evidence.IsTxt && at != NoTime && len(j.ledTo) > 0 {
			if err := j.recordAway(b, row, uint32(agent)); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordAway records a request for robots.txt also for the origins whose capture in force redirects to it, because a
// redirected crawler requests the file there. The row must have a time.
func (j *Journal) recordAway(b *engine.Batch, row int, agent uint32) error {
	name, at := "", b.Times[row]
	if n, isStray := b.Sites[row].Stray(); isStray {
		name = string(b.Strays[n])
	} else {
		name = string(j.lookup.Origin(b.Sites[row]))
	}
	for _, from := range j.ledTo[name] {
		if !slices.ContainsFunc(j.leads[from], func(l robots.Redirect) bool { return string(l.To) == name && l.From <= at && at < l.Until }) {
			continue
		}
		j.spans = j.lookup.Periods(j.spans[:0], from, 0)
		n := sort.Search(len(j.spans), func(i int) bool { return j.spans[i].From > at }) - 1
		n = max(n, 0)
		span := j.spans[n]
		e := event{at: at, delay: noDelay, away: true, period: uint32(n), cache: span.CacheFor}
		if !j.classifyAnswer(b, row, span.ID, &e) {
			if e.kind != failed {
				continue
			}
			e.away, e.period, e.cache = false, 0, 0
		}
		p := j.table.findPair(uint32(from), agent)
		if p == nil {
			var err error
			if p, err = j.addPair(b, row, uint32(from), agent, span.ID); err != nil {
				return err
			}
		}
		if e.kind.isFetch() {
			_, isText := span.ID.Text()
			p.fetched.noteAnswer(&e, isText)
		}
		if j.table.appendEvent(p, &e) {
			continue
		}
		err := j.writeRun(false)
		if err == nil {
			p, err = j.addPair(b, row, uint32(from), agent, span.ID)
		}
		if err != nil {
			return err
		}
		j.table.appendEvent(p, &e)
	}
	return nil
}

// timeOf returns the time of a row.
func timeOf(b *engine.Batch, row int) int64 {
	if len(b.Times) == 0 {
		return NoTime
	}
	return b.Times[row]
}

// count adds a request to the counts of its pair. For an impostor, it counts only who sent the request.
func (j *Journal) count(b *engine.Batch, row int, p *pair, at int64) {
	answer := ranges.Null
	if len(b.Verified) > 0 {
		answer = b.Verified[row]
	}
	p.answers[answer]++
	size, isSized := keptInt(b, row, j.opt.Bytes)
	j.seen.sized = j.seen.sized || isSized
	if answer == ranges.No {
		return
	}
	if isSized {
		p.bytes = addBytes(p.bytes, max(0, size))
	}
	if at != NoTime {
		j.seen.dated = true
		if p.first == NoTime || at < p.first {
			p.first = at
		}
		p.last = max(p.last, at)
	}
	if b.Violations[row] == engine.Violated {
		p.violations++
	}
}

// keptInt returns a value of a kept column; ok is false if absent.
func keptInt(b *engine.Batch, row, column int) (int64, bool) {
	if column == 0 {
		return 0, false
	}
	k := &b.Kept[column-1]
	return k.Ints[row], k.Present[row]
}

// recordEvent stores a request of a pair as an event, if it is relevant: a request for /robots.txt, a disallowed one,
// or any under a Crawl-delay. A disallowed request without a time is only counted. evidence is nil for other requests.
// The pair may move: do not use p afterwards. The error is that of a temporary file.
func (j *Journal) recordEvent(b *engine.Batch, row int, p *pair, evidence *engine.Evidence) error {
	at := timeOf(b, row)
	e := event{at: at, kind: allowed, delay: noDelay}
	switch {
	case evidence == nil && (!p.timed || at == NoTime):
		return nil
	case evidence == nil:
	case evidence.IsTxt:
		p.robots++
		if !j.classifyAnswer(b, row, b.Rulings[row], &e) {
			if e.kind == moved {
				p.fetched.moved++
			}
			isLed := func(l robots.Redirect) bool { return l.From <= at && at < l.Until }
			if e.kind == allowed || at == NoTime || e.kind == moved && slices.ContainsFunc(j.leads[b.Sites[row]], isLed) { // by a capture, too
				return nil
			}
			break
		}
		if at == NoTime {
			return nil
		}
		e.period, e.cache = evidence.Period, evidence.CacheFor
		_, isText := b.Rulings[row].Text()
		p.fetched.noteAnswer(&e, isText)
	case at == NoTime:
		p.untimed++
		return nil
	default:
		e.kind, e.period, e.past, e.violated = forbidden, evidence.Period, b.DisallowedIn(evidence), b.Violations[row] == engine.Violated
		if j.opt.Requests {
			j.detail = j.appendDetail(j.detail[:0], b, row)
			e.detail = j.detail
		}
	}
	if p.timed && !e.kind.isTxt() {
		if p.ruling != b.Rulings[row] {
			p.ruling = b.Rulings[row]
			p.own = j.delayOf(p.ruling, p.agent)
		}
		e.delay = p.own
	}
	if j.table.appendEvent(p, &e) {
		return nil
	}
	origin, agent := p.origin, p.agent
	if err := j.writeRun(false); err != nil {
		return err
	}
	if isStray(origin) {
		n, _ := b.Sites[row].Stray()
		origin = j.strays.numberOf(b, n)
	}
	p, err := j.addPair(b, row, origin, agent, b.Rulings[row])
	if err == nil {
		j.table.appendEvent(p, &e)
	}
	return err
}

// classifyAnswer sets the kind of a request for /robots.txt, and its fit, by the response, and reports whether the
// response counts. If it does not count, the kind is failed or moved, or unchanged if the response is inconclusive: the
// status is missing, or the method is HEAD. id is the ruling in force.
func (j *Journal) classifyAnswer(b *engine.Batch, row int, id engine.RulingID, e *event) bool {
	status, ok := keptInt(b, row, j.opt.Status)
	if !ok {
		return false
	}
	j.seen.answered = true
	if j.isHead(b, row) {
		return false
	}
	switch {
	case status >= 200 && status < 300, status == 304:
		e.kind = gotText
		switch status {
		case 200:
			j.fit(b, row, id, e)
		case 206, 304:
			e.fit = confirms
		}
	case status >= 400 && status < 500 && status != 429:
		e.kind = gotNone
		if _, isText := id.Text(); isText && (status == 404 || status == 410) { // others refuse a crawler
			e.fit = denies
		}
	case status >= 300 && status < 400:
		e.kind = moved
		return false
	default:
		e.kind = failed
		return false
	}
	return true
}

// fit sets the fit of an event by comparing the size of the response with that of the text in force (id). It
// changes nothing if either size is unknown.
func (j *Journal) fit(b *engine.Batch, row int, id engine.RulingID, e *event) {
	size, ok := keptInt(b, row, j.opt.Bytes)
	if !ok || size <= 0 || j.opt.Texts == nil { // 0 may mean that bytes were not logged
		return
	}
	l, known := j.lengths[id]
	if !known {
		if key, isText := j.store.TextKey(id); isText {
			l = j.opt.Texts.all[key]
		}
		if len(j.lengths) < mostTexts {
			j.lengths[id] = l
		}
	}
	if l.plain == [3]int64{} {
		return
	}
	if e.fit = l.fitOf(size); e.fit > fits {
		e.size, e.text = size, l.text
	}
}

// addPair adds the pair of a row's crawler and an origin, and returns it; it is valid until the next one is added. id
// is a ruling of the origin that is in force. If there is no room, all other pairs are first written to disk, and a
// stray origin gets a new number.
func (j *Journal) addPair(b *engine.Batch, row int, origin, agent uint32, id engine.RulingID) (*pair, error) {
	if isFull := len(j.table.pairs) > 0 && j.table.used()+pairSize > j.table.size; isFull || j.strays.size > j.opt.Memory/8 {
		if err := j.writeRun(false); err != nil {
			return nil, err
		}
		if isStray(origin) {
			n, _ := b.Sites[row].Stray()
			origin = j.strays.numberOf(b, n)
		}
	}
	// Add a new pair.
	t := &j.table
	if 2*len(t.pairs) >= len(t.slots) {
		t.slots = make([]uint32, 2*len(t.slots))
		for i := range t.pairs {
			t.placeInSlot(i)
		}
	}
	t.pairs = append(t.pairs, pair{origin: origin, agent: agent, state: state{delay: noDelay}, own: noDelay, counts: newCounts()})
	t.placeInSlot(len(t.pairs) - 1)
	p := &t.pairs[len(t.pairs)-1]
	p.ruling = 0
	if isStray(origin) {
		return p, nil
	}
	s := &j.sites[origin]
	if !s.isKnown {
		s.isKnown, s.ruling = true, id
		j.spans = j.lookup.Periods(j.spans[:0], engine.SiteID(origin), s.ruling)
		s.isDated = len(j.spans) > 1
		for n, t := range j.spans {
			if _, isText := t.ID.Text(); !isText {
				continue
			}
			s.newest = t.ID
			if before := j.spans[:n]; j.gaps && !slices.ContainsFunc(before, func(o engine.Period) bool { return o.ID == t.ID }) {
				s.delays = s.delays || j.lookup.HasNote(t.ID, robots.CrawlDelayLines)
			}
		}
	}
	if s.delays {
		p.timed = true
		p.newest = j.delayOf(s.newest, agent)
		p.ruling, p.own = s.newest, p.newest // usually also the ruling of the row
	}
	return p, nil
}

// delayOf returns the Crawl-delay in a ruling that binds a crawler, in microseconds; noDelay if there is none, or if it
// is invalid. agent is a number of j.list.
func (j *Journal) delayOf(id engine.RulingID, agent uint32) int64 {
	names := j.list.Names()
	note, ok := j.lookup.NoteOf(id, int(agent), names[agent], robots.CrawlDelayLines)
	if !ok {
		if c, known := crawlers.Lookup(names[agent]); known && c.InheritsDelay() {
			note, ok = j.lookup.NoteOf(id, 0, names[0], robots.CrawlDelayLines) // that of "*"
		}
	}
	if !ok {
		return noDelay
	}
	if delay, ok := j.delays[note.Value]; ok {
		return delay
	}
	seconds, err := strconv.ParseFloat(note.Value, 64)
	delay := int64(noDelay)
	if err == nil {
		delay = int64(min(seconds*second, math.MaxInt64/4))
	}
	if len(j.delays) < 1<<12 {
		j.delays[strings.Clone(note.Value)] = delay
	}
	return delay
}

// strays assigns numbers to origins without rules.
type strays struct {
	numbers map[string]uint32
	names   []string
	size    int64
	batch   []uint32 // by number in the current batch: 1 + the number in the Journal; 0 means unknown
}

// strayBit is set in the number of an origin without rules.
const strayBit = 1 << 31

// isStray reports whether an origin has no rules.
func isStray(origin uint32) bool { return origin&strayBit != 0 }

// numberOf returns the Journal's number of an origin, with strayBit, given its number in the batch. It assigns a new
// number to an unknown origin.
func (s *strays) numberOf(b *engine.Batch, n int) uint32 {
	if s.batch[n] > 0 {
		return s.batch[n] - 1 | strayBit
	}
	number, ok := s.numbers[string(b.Strays[n])]
	if !ok {
		if s.numbers == nil {
			s.numbers = map[string]uint32{}
		}
		name := string(b.Strays[n])
		number = uint32(len(s.names))
		s.numbers[name] = number
		s.names = append(s.names, name)
		const overhead = 64
		s.size += overhead + int64(len(name))
	}
	s.batch[n] = number + 1
	return number | strayBit
}

// A pair is a crawler at an origin: its counts, and its series of events in the order of the rows. The series is in
// chunks of an arena.
type pair struct {
	origin, agent uint32
	state         state // after the last event
	head, tail    uint32
	used, room    uint32 // the bytes in use of the last chunk, and its bytes for events
	ruling        engine.RulingID
	own           int64 // the Crawl-delay in ruling
	timed         bool  // whether all requests are events, because a text has a Crawl-delay
	jumbled       bool  // whether the events are not in order of time
	before        kind  // of the last event
	counts
}

// A table holds the pairs of a part of a log, within a memory limit.
type table struct {
	slots []uint32 // 1 + the index of a pair, linearly probed; 0 is free. Its length is a power of two
	pairs []pair
	arena []byte // each chunk has the offset of the next one in 4 bytes, the number of bytes with events in 4 bytes, and the events
	text  []byte // memory for an event
	size  int64  // limits in bytes: for the pairs with their slots, and for the arena

	details bool // events have details
}

const (
	chunkHead  = 8
	firstChunk = 24 // bytes of events
	lastChunk  = 1024
	leastSize  = 16 << 10

	pairSize = int64(unsafe.Sizeof(pair{})) + 4*4 // with its slots
)

// used returns the number of bytes in use.
func (t *table) used() int64 { return int64(len(t.pairs))*pairSize + int64(len(t.arena)) }

// index returns the index of a pair, or -1 if there is none. The table must have a free slot.
func (t *table) index(origin, agent uint32) int {
	mask := uint32(len(t.slots) - 1)
	for i := hash(origin, agent) & mask; ; i = (i + 1) & mask {
		n := int(t.slots[i]) - 1
		if n < 0 {
			return n
		}
		if p := &t.pairs[n]; p.origin == origin && p.agent == agent {
			return n
		}
	}
}

// findPair returns a pair, or nil if there is none. It is valid until another pair is added.
func (t *table) findPair(origin, agent uint32) *pair {
	if n := t.index(origin, agent); n >= 0 {
		return &t.pairs[n]
	}
	return nil
}

// hash spreads pairs over the slots.
func hash(origin, agent uint32) uint32 {
	h := (uint64(origin)<<32 | uint64(agent)) * 0x9E3779B97F4A7C15
	return uint32(h >> 32)
}

// placeInSlot makes a free slot refer to pair n.
func (t *table) placeInSlot(n int) {
	mask := uint32(len(t.slots) - 1)
	i := hash(t.pairs[n].origin, t.pairs[n].agent) & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = uint32(n + 1)
}

// appendEvent appends an event to the series of a pair, which then is jumbled if the event is out of order. If there is
// no room, it returns false and changes nothing.
func (t *table) appendEvent(p *pair, e *event) bool {
	next := p.state
	t.text = next.append(t.text[:0], e)
	size := uint32(len(t.text))
	if p.room-p.used < size && !t.addChunk(p, size) {
		return false
	}
	if p.head == 0 {
		p.head = p.tail
	} else if e.at < p.state.at || e.at == p.state.at && t.isBefore(e, p.before) {
		p.jumbled = true
	}
	copy(t.arena[p.tail+chunkHead+p.used:], t.text)
	p.used += size
	p.state, p.before = next, e.kind
	return true
}

// isBefore reports whether an event may have to precede the previous one, which has the given kind and the same time.
// Requests at the same time are equal, unless the caller needs each (details).
func (t *table) isBefore(e *event, before kind) bool {
	if e.kind == before {
		return e.kind.isFetch() || t.details && e.kind == forbidden
	}
	return e.kind < before && (t.details || e.kind.isTxt())
}

// addChunk adds a chunk with room for at least need bytes to the series of a pair, and reports whether the memory limit
// allows it. The first chunk is always allowed.
func (t *table) addChunk(p *pair, need uint32) bool {
	size := max(need, firstChunk, min(lastChunk, 2*p.room))
	if len(t.arena) > 0 && (t.used()+int64(size)+chunkHead > t.size || len(t.arena) > math.MaxInt32) {
		return false
	}
	if len(t.arena) == 0 {
		t.arena = append(t.arena, 0, 0, 0, 0) // so that no chunk begins at 0
	}
	start := uint32(len(t.arena))
	if need := len(t.arena) + int(size+chunkHead); need > cap(t.arena) { // doubled, unless less is enough
		t.arena = append(make([]byte, 0, max(need, min(2*cap(t.arena), int(t.size)), 1<<12)), t.arena...)
	}
	t.arena = t.arena[:len(t.arena)+int(size+chunkHead)]
	clear(t.arena[start:][:chunkHead])
	if p.head != 0 {
		binary.LittleEndian.PutUint32(t.arena[p.tail:], start)
		binary.LittleEndian.PutUint32(t.arena[p.tail+4:], p.used)
	}
	p.tail, p.used, p.room = start, 0, size
	return true
}

// chunks yields the chunks of the series of a pair, in order. They are parts of the arena.
func (t *table) chunks(p *pair) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for at := p.head; at != 0; {
			next, used := binary.LittleEndian.Uint32(t.arena[at:]), binary.LittleEndian.Uint32(t.arena[at+4:])
			if at == p.tail {
				next, used = 0, p.used
			}
			if !yield(t.arena[at+chunkHead:][:used]) {
				return
			}
			at = next
		}
	}
}
