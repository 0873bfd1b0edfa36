package engine

import (
	"bytes"
	"math"
	"math/bits"
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// MaxReadings is the maximum number of readings of one operator, see [robots.Readings].
const MaxReadings = 3

// A Dispute is a verdict that disallows a URL although a reading of the crawler's operator allows it, see
// [robots.Readings]. Requests for robots.txt itself are never disputed.
type Dispute struct {
	Row, Verdict uint32 // the row in the batch, and the index of the verdict in the row
	By           [MaxReadings]ReadBy
}

// A ReadBy is the answer by one reading.
type ReadBy struct {
	Dialect robots.Dialect // 0 means no reading
	Allows  bool
	Line    int32 // of the rule that decides; 0 if none does
}

// findDisputes fills b.Disputes. Rows that are not in e.suspects have no dispute: their text has no other readings, the
// response that brought the text does not open the site to any reader, and their path is the same in every dialect. So
// most disallowed rows need no further work.
func (e *Evaluator) findDisputes(b *Batch) {
	if e.store.opt.readings == nil {
		return
	}
	agents := e.store.agentsPerURL()
	for word, set := range e.suspects {
		for ; set != 0; set &= set - 1 {
			if row := word*64 + bits.TrailingZeros64(set); denies(b.Verdicts[row*agents:][:agents]) {
				e.disputeRow(b, row, agents)
			}
		}
	}
}

// disputeRow adds the disputes of a row to b.Disputes, by ascending agent.
func (e *Evaluator) disputeRow(b *Batch, row, agents int) {
	id := b.Rulings[row]
	if _, text := id.Text(); !text {
		return
	}
	periods := e.periodsOf(b, row)
	raw, open := e.rawPath(b, row), len(periods) > 0 && periods[e.periodIn(b, row, periods)].Open
	if robots.IsTxt(raw) || !open && !e.readingsOf(id, b.agent(row, 0)).some && e.readsSamePath(raw) {
		return
	}
	for a := range agents {
		if b.Verdicts[row*agents+a].Access != Denied {
			continue
		}
		if by, allows := e.decideReadings(id, b.agent(row, a), raw, open); allows {
			b.Disputes = append(b.Disputes, Dispute{uint32(row), uint32(a), by})
		}
	}
}

// denies reports whether any of the verdicts disallows.
func denies(verdicts []Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Access == Denied })
}

// A rowSet is a set of rows of a batch, as a bit set.
type rowSet []uint64

// reset makes room for the n rows of a batch. The set is then empty or, if all is true, has all of them.
func (s *rowSet) reset(n int, all bool) {
	*s = grown(*s, n/64+1)
	clear(*s)
	if all {
		for i := range n / 64 {
			(*s)[i] = math.MaxUint64
		}
		(*s)[n/64] = 1<<(n%64) - 1
	}
}

func (s rowSet) add(row int)      { s[row/64] |= 1 << (row % 64) }
func (s rowSet) has(row int) bool { return s[row/64]>>(row%64)&1 != 0 }

// readsOpen reports whether a reading of the agent's operator treats a site as open unless its robots.txt has
// status 200.
func (e *Evaluator) readsOpen(agent int) bool {
	if !e.store.isKnown(agent) {
		agent = -1
	}
	return slices.ContainsFunc(e.store.opt.readings.Dialects(agent), robots.Dialect.OpensUnlessOK)
}

// readsSamePath reports whether a path is the same in all readings. If the standard's normal form leaves a path
// unchanged, which is usual, so do the others.
func (e *Evaluator) readsSamePath(raw []byte) bool {
	full, light := e.store.otherPaths, e.store.opt.Dialect
	if light.SamePaths(robots.RFC9309) {
		full, light = light, full
	}
	path, buf := full.Path(raw, e.otherPath)
	e.otherPath = buf
	if len(raw) > 0 && len(path) == len(raw) && &path[0] == &raw[0] {
		return true
	}
	other, buf := light.Path(raw, e.path)
	e.path = buf
	return bytes.Equal(path, other)
}

// agentReadings are the readings of a text for an agent.
type agentReadings struct {
	id    RulingID
	agent int
	some  bool            // the text has readings for some agent
	sets  []rules.Reading // for this agent; nil if all have the same effect as its own rules
}

// readingsOf returns the readings for an agent. It remembers the last result, because nearly all logs have streaks.
func (e *Evaluator) readingsOf(id RulingID, agent int) *agentReadings {
	if r := &e.readAs; r.id != id || r.agent != agent {
		ruling := e.reader.Ruling(id)
		*r = agentReadings{id, agent, ruling.HasReadings(), ruling.Readings(agent)}
	}
	return &e.readAs
}

// decideReadings returns the answers by all readings of the agent's operator, and whether any of them allows the path.
// raw is the path as written. open says that the response with the text opens the site to some readers. If no reading
// can differ from the rules of the agent, it returns no answers, and false.
func (e *Evaluator) decideReadings(id RulingID, agent int, raw []byte, open bool) (by [MaxReadings]ReadBy, allows bool) {
	number := -1
	if e.store.isKnown(agent) {
		number = agent
	}
	return e.decideReadingsAs(id, agent, number, e.readingsOf(id, agent).sets, raw, open)
}

// decideReadingsAs is like decideReadings, for the dialects of the agent with that number, see rules.Readings.Dialects.
// sets is nil if the agent's own rules decide in all readings.
func (e *Evaluator) decideReadingsAs(id RulingID, agent, number int, sets []rules.Reading, raw []byte, open bool) (by [MaxReadings]ReadBy, allows bool) {
	if sets == nil && !open && e.readsSamePath(raw) {
		return by, false
	}
	for i, d := range e.store.opt.readings.Dialects(number) {
		set := (*rules.Set)(nil)
		if sets != nil {
			set = sets[i].Set
		}
		if set == nil {
			set = e.set(id, agent)
		}
		path, buf := d.Path(raw, e.path)
		e.path = buf
		v := set.Decide(path, &e.scratch)
		by[i] = ReadBy{d, v.Access == Allowed, int32(set.Line(v))}
		if open && d.OpensUnlessOK() || d.Has(robots.ImplicitRobotsTxt) && robots.IsTxt(path) { // /%72obots.txt
			by[i] = ReadBy{d, true, 0}
		}
		allows = allows || by[i].Allows
	}
	return by, allows
}

// ReadText returns the answers to a path, as written, by all readings of a robots.txt that the crawler's operator
// has, and whether any of them allows it. It parses the text for each reading and tries the rules one by one.
func ReadText(body []byte, agent string, raw []byte, d robots.Dialect) (by []ReadBy, allows bool) {
	for _, reading := range robots.Readings(agent, d) {
		own, _ := robots.Parse(body, reading).Select(robots.NewAgent(agent, reading))
		path, _ := reading.Path(raw, nil)
		r := ReadBy{Dialect: reading, Allows: true}
		if winner := robots.Decide(own, path, reading); winner >= 0 {
			r.Allows, r.Line = own[winner].Allow, own[winner].Line
		}
		if reading.Has(robots.ImplicitRobotsTxt) && robots.IsTxt(path) {
			r.Allows, r.Line = true, 0
		}
		by, allows = append(by, r), allows || r.Allows
	}
	return by, allows
}

// someReadingAllows reports whether a text allows the URL of a row, which the row's own text disallows, in a reading of
// the crawler's operator or in the store's dialect.
func (e *Evaluator) someReadingAllows(b *Batch, row int, id RulingID) bool {
	agent, raw := e.agentIn(b, row, id), e.rawPath(b, row)
	path, buf := e.store.opt.Dialect.Path(raw, e.path)
	e.path = buf
	if e.set(id, agent).Decide(path, &e.scratch).Access == Allowed {
		return true
	}
	if _, text := id.Text(); !text || e.store.opt.readings == nil {
		return false
	}
	if agent != unknownAgent {
		_, allows := e.decideReadings(id, agent, raw, false)
		return allows
	}
	name := e.reader.Ruling(b.Rulings[row]).NameOf(int(b.Agents[row])) // which the other text may not name
	_, allows := e.decideReadingsAs(id, agent, -1, e.reader.Ruling(id).ReadingsOf(name), raw, false)
	return allows
}

// DisputeStats counts the verdicts that disallow a URL although the crawler's operator may interpret the rules as
// allowing it.
type DisputeStats struct {
	Rows    int64
	Worst   [rules.Worst]BusyOrigin // the origins with the most disputes, counted like Stats.TopRules
	Example DisputeExample          // the first dispute
}

// A DisputeExample describes one such verdict.
type DisputeExample struct {
	URL, Agent string
	Line       int32 // of the rule that disallows
	By         [MaxReadings]ReadBy
}

// addDisputes counts the disputes of a batch by site, and keeps the first of the run as an example. Batches must come
// in the order of the source.
func (u *busiest) addDisputes(b *Batch) {
	if len(b.Disputes) == 0 {
		return
	}
	if u.disputes.Rows == 0 {
		d := &b.Disputes[0]
		id, agent := b.Rulings[d.Row], b.agent(int(d.Row), int(d.Verdict))
		u.disputes.Example = DisputeExample{
			URL: string(b.URL(int(d.Row))), Agent: u.lookup.AgentName(id, agent), By: d.By,
			Line: u.lookup.Rule(id, agent, b.Verdicts[int(d.Row)*u.agents+int(d.Verdict)].Rule).Line,
		}
	}
	u.disputes.Rows += int64(len(b.Disputes))
	for i := range b.Disputes {
		site := b.Sites[b.Disputes[i].Row]
		u.disputed.countKey(uint64(site), 1, decider{site: site})
	}
}
