package engine

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// MaxReadings is the number of readings an operator may have, see [robots.Readings].
const MaxReadings = 3

// A Dispute is a verdict that forbids a URL which a reading of the crawler's operator allows, see [robots.Readings].
// Requests for robots.txt itself are never disputed.
type Dispute struct {
	Row, Verdict uint32 // of the batch, and which verdict of the row
	By           [MaxReadings]ReadBy
}

// A ReadBy is the answer of a reading.
type ReadBy struct {
	Dialect robots.Dialect // 0 means no reading
	Allows  bool
	Line    int32 // of the rule that decides; 0 if none does
}

// dispute fills b.Disputes. Rows outside e.suspects have none: their text has no readings, no fetch of it opens the site to some readers, and
// their path is the same in every dialect. So nothing else is asked of most rows that are forbidden.
func (e *Evaluator) dispute(b *Batch) {
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

// disputeRow adds the disputes of a row.
func (e *Evaluator) disputeRow(b *Batch, row, agents int) {
	id := b.Rulings[row]
	if _, text := id.Text(); !text {
		return
	}
	raw, open := e.rawPath(b, row), e.isOpen(b, row)
	if robots.IsTxt(raw) || !open && !e.readingsOf(id, b.agent(row, 0)).some && e.readsAlike(raw) {
		return
	}
	for a := range agents {
		if b.Verdicts[row*agents+a].Access != Denied {
			continue
		}
		if by, allows := e.readings(id, b.agent(row, a), raw, open); allows {
			b.Disputes = append(b.Disputes, Dispute{uint32(row), uint32(a), by})
		}
	}
}

// denies reports whether one of some verdicts forbids.
func denies(verdicts []Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Access == Denied })
}

// A rowSet is a set of rows of a batch.
type rowSet []uint64

// reset makes it the set of no row, or of all, of a batch of n.
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

// isOpen reports whether the text of a row is in force by a fetch that opens the site to some readers, see [rules.Period].
func (e *Evaluator) isOpen(b *Batch, row int) bool {
	periods := e.periodsOf(b, row)
	return len(periods) > 0 && periods[e.periodIn(b, row, periods)].Open
}

// readsOpen reports whether a reading of the operator of an agent finds a site open unless its robots.txt is answered with 200.
func (e *Evaluator) readsOpen(agent int) bool {
	if !e.store.isKnown(agent) {
		agent = -1
	}
	return slices.ContainsFunc(e.store.opt.readings.Dialects(agent), robots.Dialect.OpensUnlessOK)
}

// readsAlike reports whether a path is the same in all readings. A path that the standard's normal form leaves as it is, as most are, is so
// in the others.
func (e *Evaluator) readsAlike(raw []byte) bool {
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

// agentReadings are the readings of an agent of a text.
type agentReadings struct {
	id    RulingID
	agent int
	some  bool            // the text has readings for some agent
	sets  []rules.Reading // of this one; nil if none has another effect than its own rules
}

// readingsOf returns the readings of an agent. It remembers the last ones, as nearly all logs have streaks.
func (e *Evaluator) readingsOf(id RulingID, agent int) *agentReadings {
	if r := &e.readAs; r.id != id || r.agent != agent {
		ruling := e.reader.Ruling(id)
		*r = agentReadings{id, agent, ruling.HasReadings(), ruling.Readings(agent)}
	}
	return &e.readAs
}

// readings returns the answers of all readings that the operator of an agent may have, and whether one allows the path. open
// says that the fetch of the text opens the site to some of them.
func (e *Evaluator) readings(id RulingID, agent int, raw []byte, open bool) (by [MaxReadings]ReadBy, allows bool) {
	number := -1
	if e.store.isKnown(agent) {
		number = agent
	}
	return e.read(id, agent, number, e.readingsOf(id, agent).sets, raw, open)
}

// read is readings, by the dialects of the agent of that number and by sets, which are nil if the agent's own decides for all.
func (e *Evaluator) read(id RulingID, agent, number int, sets []rules.Reading, raw []byte, open bool) (by [MaxReadings]ReadBy, allows bool) {
	if sets == nil && !open && e.readsAlike(raw) {
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
		if open && d.OpensUnlessOK() || d.Has(robots.ImplicitRobotsTxt) && robots.IsTxt(path) { // as in /%72obots.txt
			by[i] = ReadBy{d, true, 0}
		}
		allows = allows || by[i].Allows
	}
	return by, allows
}

// ReadText returns the answers of all readings that the operator of a crawler may have of a robots.txt, and whether one allows a path as
// written. It parses the text for each, and tries one rule after the other.
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

// someAllows reports whether a text allows a row that its own forbids to its crawler, in one of the readings of the operator or in the
// store's dialect.
func (e *Evaluator) someAllows(b *Batch, row int, id RulingID) bool {
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
		_, allows := e.readings(id, agent, raw, false)
		return allows
	}
	name := e.reader.Ruling(b.Rulings[row]).NameOf(int(b.Agents[row])) // which that text does not name, or not in the store's dialect
	_, allows := e.read(id, agent, -1, e.reader.Ruling(id).ReadingsOf(name), raw, false)
	return allows
}

// DisputeStats counts the verdicts that forbid a URL which a reading of the crawler's operator allows.
type DisputeStats struct {
	Rows    int64
	Worst   [rules.Worst]BusyOrigin // the origins with most of them; with no rows where there are fewer
	Example DisputeExample          // the first of them
}

// A DisputeExample is such a verdict.
type DisputeExample struct {
	URL, Agent string
	Line       int32 // of the rule that forbids
	By         [MaxReadings]ReadBy
}

// maxDisputed is the number of sites with disputes that are told apart.
const maxDisputed = 1 << 16

// addDisputes counts the disputes of a batch, in the order of the source.
func (u *busiest) addDisputes(b *Batch) {
	if len(b.Disputes) == 0 {
		return
	}
	if u.disputes == nil {
		u.disputes = map[SiteID]int64{}
		d := &b.Disputes[0]
		u.lookup.Use(b)
		id, agent := b.Rulings[d.Row], b.agent(int(d.Row), int(d.Verdict))
		u.disputed = DisputeExample{
			URL: string(b.URL(int(d.Row))), Agent: u.lookup.AgentName(id, agent), By: d.By,
			Line: u.lookup.Rule(id, agent, b.Verdicts[int(d.Row)*u.agents+int(d.Verdict)].Rule).Line,
		}
	}
	u.disputedRows += int64(len(b.Disputes))
	for i := range b.Disputes {
		site := b.Sites[b.Disputes[i].Row]
		if _, known := u.disputes[site]; known || len(u.disputes) < maxDisputed {
			u.disputes[site]++
		}
	}
}

// disputeStats returns the counts of addDisputes.
func (u *busiest) disputeStats() DisputeStats {
	s := DisputeStats{Rows: u.disputedRows, Example: u.disputed}
	if len(u.disputes) == 0 {
		return s
	}
	counts := slices.SortedFunc(maps.Values(u.disputes), func(a, b int64) int { return cmp.Compare(b, a) })
	least := counts[min(len(s.Worst), len(counts))-1]
	var worst []BusyOrigin
	for site, rows := range u.disputes {
		if rows >= least {
			worst = append(worst, BusyOrigin{string(u.lookup.Origin(site)), rows})
		}
	}
	slices.SortFunc(worst, busierOrigin)
	copy(s.Worst[:], worst)
	return s
}
