package conduct

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// Judge passes all results to a Report. Call it once; Write must not be called after it. Errors come from the Report
// and from temporary files.
func (j *Journal) Judge(to Report) error {
	isSpilled := j.spill.Runs() > 0
	if isSpilled {
		if err := j.writeRun(true); err != nil {
			return err
		}
		j.table = table{} // the merge reuses its memory
	}
	cache := j.opt.Cache
	if cache == 0 {
		cache = engine.DefaultCache
	}
	const size, share = int64(unsafe.Sizeof(keyed{})), 16 // the share of the memory for medians
	judge := &judge{
		opt: j.opt, to: to, cache: max(0, min(cache, time.Duration(1<<62))).Microseconds(), operators: map[string]string{}, keys: map[string]uint32{},
		median: &medians{dir: j.opt.TempDir, most: int(max(64, j.opt.Memory/share/size)), count: map[uint32]int64{}},
	}
	judge.bodies = j.seen.bodied && !j.seen.headed
	defer judge.median.close()
	var err error
	if isSpilled {
		err = merge(j.spill, &joiner{to: judge, details: j.opt.Requests})
	} else {
		err = j.sendPairs(judge, false)
	}
	if err != nil {
		return err
	}
	// Report facts known only at the end.
	if err := judge.endOrigin(); err != nil {
		return err
	}
	if err := judge.median.finish(func(key uint32, median int64) { judge.all[key].AnswerMedian = median }); err != nil {
		return err
	}
	slices.SortFunc(judge.all, func(a, b *Row) int { return strings.Compare(a.Agent, b.Agent) })
	for _, r := range judge.all {
		if err := judge.to.Row(r); err != nil {
			return err
		}
	}
	return nil
}

// A judge is a reader that evaluates each disallowed request by the responses that its crawler received before.
type judge struct {
	opt       Options
	to        Report
	bodies    bool  // whether the sizes in the logs exclude headers, see [Journal.Sizes]
	cache     int64 // of Options, in microseconds
	operators map[string]string

	about  *origin
	row    Row
	shared int64     // time of the first response to another crawler of the operator; NoTime if there is none
	own    answersOf // of the crawler
	last   event     // the last response
	isLast bool

	isFailing, isMoved bool // whether a request for /robots.txt has failed or been redirected since the last response
	hasRobots          bool // at least half of the busy crawlers of the origin have a response

	isOff    bool // whether the crawler's last text is not the one in force, see isOther
	isGone   bool // most responses of the origin say that it has no robots.txt
	mismatch Mismatch
	asked    int64 // time of the crawler's last request for another URL; NoTime if there is none
	change   int   // that changes is for
	now      Change

	median  *medians
	key     uint32            // in median, of the crawler in hand
	keys    map[string]uint32 // with Options.ByAgent, of all
	all     []*Row            // the same, by key
	request Request
}

// operatorOf returns the operator of a crawler; "" if unknown.
func (j *judge) operatorOf(agent string) string {
	name, ok := j.operators[agent]
	if !ok {
		if c, known := crawlers.Lookup(agent); known {
			name = c.Operator
		}
		j.operators[agent] = name
	}
	return name
}

// beginOrigin ends the previous origin, and begins another one, see reader. It counts the crawlers that should have
// requested robots.txt there.
func (j *judge) beginOrigin(o *origin) error {
	err := j.endOrigin()
	j.about, j.mismatch = o, Mismatch{Origin: o.name}
	var all answersOf
	for _, a := range o.fetched {
		if a.requests >= leastBusy {
			j.mismatch.Busy++
			if a.any() {
				j.mismatch.Asked++
			}
		}
		all.gave, all.denied = all.gave+a.gave, all.denied+a.denied
	}
	j.hasRobots = 2*j.mismatch.Asked >= j.mismatch.Busy
	if j.isGone = all.denied > all.gave; j.isGone {
		j.mismatch.Denied, j.mismatch.Told = all.denied, all.denied+all.gave
	}
	return err
}

// endOrigin reports the current origin, if there is one and its responses contradict its text. A few contradictions are
// tolerated: some transfers end early, and a server may lack its robots.txt for a while.
func (j *judge) endOrigin() error {
	m := &j.mismatch
	if 10*m.Answers <= m.Compared {
		m.Answers, m.Compared, m.Size, m.Text = 0, 0, 0, 0
	}
	if m.Hidden == 0 {
		m.Busy, m.Asked = 0, 0
	}
	if m.Answers+m.Denied+m.Hidden > 0 {
		return j.to.Mismatch(m)
	}
	return nil
}

// beginCrawler begins a crawler at the current origin, and finds when the other crawlers of its operator first got a
// copy there.
func (j *judge) beginCrawler(agent string) error {
	operator := j.operatorOf(agent)
	j.row = *NewRow(agent, operator, j.about.name)
	j.isLast, j.isFailing, j.isMoved, j.asked, j.change = false, false, false, NoTime, 0
	j.own = j.about.fetched[agent]
	if j.opt.ByAgent {
		key, ok := j.keys[agent]
		if !ok {
			key = uint32(len(j.all))
			j.keys[agent] = key
			j.all = append(j.all, NewRow(agent, operator, ""))
		}
		j.key = key
	}
	j.shared = NoTime
	if operator != "" {
		for other, first := range j.about.fetched {
			if other != agent && j.operatorOf(other) == operator {
				j.shared = earlier(j.shared, first.known(j.bodies))
			}
		}
	}
	return nil
}

// addEvent adds an event of the current crawler to its row, and reports it if it is a disallowed request and each is
// wanted. Events must come in their order. The caller may reuse e.
func (j *judge) addEvent(e *event) error {
	if e.kind == gotText && !j.isOther(e) || e.kind == forbidden {
		if err := j.noteChange(e); err != nil {
			return err
		}
	}
	switch since := j.isLast && e.at > j.last.at; {
	case e.kind.isFetch():
		return j.answer(e)
	case e.kind.isTxt():
		j.isFailing = j.isFailing || since && e.kind == failed
		j.isMoved = j.isMoved || since && e.kind == moved
		return nil
	}
	if e.delay != noDelay && j.asked != NoTime {
		j.row.Gaps++
		if e.at-j.asked < e.delay {
			j.row.ShortGaps++
		}
	}
	j.asked = e.at
	if e.kind != forbidden {
		return nil
	}
	conduct := j.judge(e)
	switch {
	case conduct == Knew:
		j.mismatch.Knew++
	case conduct == Unseen && j.isLast:
		j.mismatch.Unseen++
	}
	j.row.Disallowed++
	j.row.Conducts[conduct]++
	j.sendMoment(Moment{Agent: j.row.Agent, At: e.at, Conduct: conduct, Violated: e.violated})
	if !j.opt.Requests {
		return nil
	}
	q := &j.request
	*q = Request{Agent: j.row.Agent, Operator: j.row.Operator, Origin: j.about.name, At: e.at, Conduct: conduct, Violated: e.violated, Answer: NoTime, Capture: NoTime}
	// The other data are in the detail of the event, which must be complete.
	c := wire.NewCursor(e.detail)
	q.URL = c.Text()
	for _, text := range [...]*[]byte{&q.Client, &q.UserAgent} {
		if isThere := c.Byte() == 1; isThere {
			*text = c.Text()
		}
	}
	q.Status, q.Verified = c.Varint(), ranges.Answer(c.Byte())
	q.RuleLine, q.Rule = c.Varint(), c.Text()
	if !c.AtEnd() || int(q.Verified) >= ranges.NumAnswers {
		return errSeries
	}
	if j.isLast {
		q.Answer, q.HadText = j.last.at, j.last.kind == gotText
		if n := int(j.last.period); q.HadText && !j.isOff && n < len(j.about.periods) && j.about.periods[n].isText {
			q.Capture = j.about.periods[n].from
		}
	}
	return j.to.Request(q)
}

// answer adds a response that counts to the row and to the Mismatch of the origin, and makes it the crawler's last
// response. A response at another origin only becomes the last one: the crawler's numbers have it there.
func (j *judge) answer(e *event) error {
	r := &j.row
	if e.away { // apart from the crawler's knowledge, it counts at the requested origin
		j.isOff = j.isOther(e)
		j.last, j.isLast, j.isFailing, j.isMoved = *e, true, false, false
		return nil
	}
	r.Answers++
	if r.Answers > 1 {
		gap := e.at - r.LastAnswer
		r.AnswerGaps++
		r.AnswerMost = max(r.AnswerMost, gap)
		// Add a number. Numbers are not negative.
		m := j.median
		if len(m.all) >= m.most {
			if err := m.write(); err != nil {
				return err
			}
		}
		m.all = append(m.all, keyed{j.key, gap})
		m.count[j.key]++
	} else {
		r.FirstAnswer = e.at
	}
	r.LastAnswer = e.at
	j.sendMoment(Moment{Agent: r.Agent, At: e.at, IsAnswer: true})
	j.isOff = j.isOther(e)
	j.last, j.isLast, j.isFailing, j.isMoved = *e, true, false, false
	m := &j.mismatch
	if e.fit < fits {
		return nil
	}
	m.Compared++
	if j.isOff {
		if m.Answers++; m.Answers == 1 {
			m.Size, m.Text = e.size, e.text
		}
	}
	return nil
}

// isOther reports whether a response shows that the crawler does not have the text in force, by its size or by the
// size of the response that it confirms.
func (j *judge) isOther(e *event) bool {
	if e.fit == confirms {
		return j.isLast && j.isOff
	}
	return e.fit == impossible || e.fit == fitsHeaders && j.bodies
}

// sendMoment passes on a moment.
func (j *judge) sendMoment(m Moment) {
	if j.opt.Moment != nil {
		j.opt.Moment(m)
	}
}

// judge returns the crawler's knowledge when it made a disallowed request. It also counts requests that are unseen
// because the log has too few requests for robots.txt.
func (j *judge) judge(e *event) Conduct {
	switch {
	case j.isLast && j.isOff:
		return Unseen
	case j.isLast && j.last.kind == gotText && engine.WasDisallowed(e.past, e.period, j.last.period):
		return Knew
	case j.isLast && e.at-j.last.at <= j.last.cache:
		return Held
	case j.isLast && j.isFailing && !j.isMoved && e.at-j.last.at <= robots.Lapse.Microseconds(): // it could not get a newer copy
		return Held
	case j.isLast && j.isGone && j.last.fit == denies: // no newer text was available
		return Unseen
	case j.isLast:
		return Outdated
	case j.shared != NoTime && j.shared <= e.at:
		return Shared
	case j.about.first == NoTime || j.about.first > e.at-j.cache || j.own.moved > 0:
		return Unseen
	case j.hasRobots:
		return NeverAsked
	}
	j.mismatch.Hidden++
	return Unseen
}

// leastBusy is the number of requests to an origin from which a crawler is expected to have requested robots.txt
// there.
const leastBusy = 20

// noteChange records how a crawler reacts to a change of the text, given a fetch of a text or a disallowed request.
// When the next change begins, it reports the previous one.
func (j *judge) noteChange(e *event) error {
	n := int(e.period)
	if n >= len(j.about.periods) || !j.about.periods[n].isText {
		return nil // a failed fetch does not end a text
	}
	change := j.about.periods[n].change
	if change != j.change {
		if err := j.endChange(); err != nil {
			return err
		}
		j.change = change
		if change > 0 {
			j.now = Change{Agent: j.row.Agent, Operator: j.row.Operator, Origin: j.about.name, At: j.about.periods[change-1].from, Answer: NoTime}
		}
	}
	switch {
	case change == 0:
	case e.kind == forbidden && j.now.Answer == NoTime:
		j.now.Before++
	case e.kind == forbidden:
		j.now.After++
	case j.now.Answer == NoTime:
		j.now.Answer = e.at
	}
	return nil
}

// endChange reports the recorded reaction to a change, if there is one, and the crawler requested anything at the
// origin.
func (j *judge) endChange() error {
	if j.change == 0 {
		return nil
	}
	j.change = 0
	if j.own.requests == 0 { // the crawler requested nothing here; the redirect of a capture brought its fetch
		return nil
	}
	return j.to.Change(&j.now)
}

// endCrawler completes the row of the current crawler by its counts, and reports it or adds it to the row of all
// origins. A crawler without requests has no row.
func (j *judge) endCrawler(c *counts) error {
	if err := j.endChange(); err != nil {
		return err
	}
	r := &j.row
	for _, n := range c.answers {
		r.Requests += n
	}
	r.Verified, r.Impostors, r.Unpublished = c.answers[ranges.Yes], c.answers[ranges.No], c.answers[ranges.Unpublished]
	r.Stale, r.NoAddress = c.answers[ranges.Stale], c.answers[ranges.Null]
	r.Robots, r.Untimed, r.Violations, r.Delay = c.robots, c.untimed, c.violations, c.newest
	r.First, r.Last, r.Bytes = c.first, c.last, c.bytes
	if r.Requests == 0 { // only fetches redirected by the capture
		return nil
	}
	if j.opt.ByAgent {
		j.all[j.key].Add(r)
		return nil
	}
	if r.AnswerGaps > 0 {
		if err := j.median.finish(func(_ uint32, median int64) { r.AnswerMedian = median }); err != nil {
			return err
		}
	}
	return j.to.Row(r)
}

// medians finds exact medians of numbers by key. Numbers that do not fit in its memory go to disk.
type medians struct {
	dir   string
	all   []keyed
	most  int
	count map[uint32]int64
	spill *extsort.Spill // nil if all fit
}

// A keyed is a number with its key.
type keyed struct {
	key   uint32
	value int64
}

// compare orders numbers by key.
func (k keyed) compare(o keyed) int {
	return cmp.Or(cmp.Compare(k.key, o.key), cmp.Compare(k.value, o.value))
}

// write writes all numbers in memory to disk as a sorted run, and removes them from memory.
func (m *medians) write() error {
	if m.spill == nil {
		m.spill = extsort.NewSpill(m.dir)
	}
	run, err := m.spill.Begin()
	if err != nil {
		return err
	}
	slices.SortFunc(m.all, keyed.compare)
	w := &keyedWriter{run: run}
	for _, k := range m.all {
		if err := w.write(k); err != nil {
			return err
		}
	}
	if err := w.Finish(); err != nil {
		return err
	}
	run.End()
	m.all = m.all[:0]
	return nil
}

// finish calls tell with the median of each key in ascending order, and removes all numbers. The median of an even
// count is the mean of the two middle numbers, rounded down.
func (m *medians) finish(tell func(key uint32, median int64)) error {
	p := &picker{count: m.count, tell: tell}
	if m.spill == nil {
		slices.SortFunc(m.all, keyed.compare)
		for _, k := range m.all {
			p.takeNumber(k)
		}
	} else {
		defer m.close()
		if err := m.write(); err != nil {
			return err
		}
		begin := func(run *extsort.Run) extsort.Output[*keyedCursor] { return &keyedWriter{run: run} }
		if err := extsort.Merge(m.spill, extsort.MaxFan, func() *keyedCursor { return &keyedCursor{} }, begin, p); err != nil {
			return err
		}
	}
	m.all = m.all[:0]
	clear(m.count)
	return nil
}

// close removes the temporary file.
func (m *medians) close() {
	if m.spill != nil {
		m.spill.Close()
		m.spill = nil
	}
}

// A picker receives sorted numbers and picks the middle one, or the middle two.
type picker struct {
	count map[uint32]int64
	tell  func(key uint32, median int64)
	key   uint32
	n     int64 // numbers of the key so far
	lower int64
}

// takeNumber counts a number for its key, and calls tell with the median once it is reached. Numbers must come in the
// order of keyed.compare.
func (p *picker) takeNumber(k keyed) {
	if k.key != p.key {
		p.key, p.n = k.key, 0
	}
	all := p.count[k.key]
	if p.n == (all-1)/2 {
		p.lower = k.value
	}
	if p.n == all/2 {
		p.tell(k.key, p.lower+(k.value-p.lower)/2)
	}
	p.n++
}

// Take takes the number of a cursor, and advances the cursor.
func (p *picker) Take(c *keyedCursor) error {
	p.takeNumber(c.keyed())
	c.next()
	return nil
}

// Finish does nothing.
func (p *picker) Finish() error { return nil }

// A keyedWriter writes numbers in their order as blocks of a run.
type keyedWriter struct {
	run   *extsort.Run
	block []byte
}

// keyedSize is the size of a number in a run, in bytes.
const keyedSize = 12

// write writes a number.
func (w *keyedWriter) write(k keyed) error {
	w.block = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(w.block, k.key), uint64(k.value))
	if len(w.block) >= runBlock {
		return w.Finish()
	}
	return nil
}

// Take writes the number of a cursor, and advances the cursor.
func (w *keyedWriter) Take(c *keyedCursor) error {
	if err := w.write(c.keyed()); err != nil {
		return err
	}
	c.next()
	return nil
}

// Finish writes the block, if it has a number, and begins an empty one.
func (w *keyedWriter) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block = w.block[:0]
	return err
}

// A keyedCursor points to a number of a block.
type keyedCursor struct{ block []byte }

// Load moves the cursor to the first number of a block.
func (c *keyedCursor) Load(block []byte) error {
	if len(block)%keyedSize != 0 {
		return errItem
	}
	c.block = block
	return nil
}

// Done reports whether the cursor is after the last number.
func (c *keyedCursor) Done() bool { return len(c.block) == 0 }

// Compare compares two numbers.
func (c *keyedCursor) Compare(o *keyedCursor) int { return c.keyed().compare(o.keyed()) }

// keyed returns the number.
func (c *keyedCursor) keyed() keyed {
	return keyed{binary.LittleEndian.Uint32(c.block), int64(binary.LittleEndian.Uint64(c.block[4:]))}
}

// next advances the cursor.
func (c *keyedCursor) next() { c.block = c.block[keyedSize:] }
