package engine

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// MaxReadings is how many readings an operator may have, see [robots.Readings].
const MaxReadings = 3

// A Dispute is a verdict that forbids a URL which a reading of the crawler's operator allows, see [robots.Readings]. Requests of a
// robots.txt itself are none.
type Dispute struct {
	Row, Verdict uint32 // of the batch, and which verdict of the row
	By           [MaxReadings]ReadBy
}

// A ReadBy is the answer of a reading.
type ReadBy struct {
	Dialect robots.Dialect // 0 is no reading
	Allows  bool
	Line    int32 // of the rule that decides; 0 if none does
}

// dispute fills b.Disputes. Only rows that are forbidden cost anything, and mostly a look whether their text and their path are the same in
// all readings.
func (e *Evaluator) dispute(b *Batch) {
	if e.store.opt.readings == nil {
		return
	}
	agents := e.store.agentsPerURL()
	for row, id := range b.Rulings {
		if _, text := id.Text(); !text {
			continue
		}
		verdicts := b.Verdicts[row*agents:][:agents]
		first := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Access == Denied })
		if first < 0 || b.IsTxt(row) {
			continue
		}
		ruling, raw := e.reader.Ruling(id), e.rawPath(b, row)
		if !ruling.HasReadings() && e.readsAlike(raw) {
			continue
		}
		for a := first; a < agents; a++ {
			if verdicts[a].Access != Denied {
				continue
			}
			if by, allows := e.readings(id, ruling, b.agent(row, a), raw); allows {
				b.Disputes = append(b.Disputes, Dispute{uint32(row), uint32(a), by})
			}
		}
	}
}

// readsAlike reports whether a path is the same in all readings, and sets e.path and e.otherPath to it as the store's dialect, and as
// readings of the other kind have it.
func (e *Evaluator) readsAlike(raw []byte) bool {
	path, buf := e.store.opt.Dialect.Path(raw, e.path)
	e.path = buf
	other, buf := e.store.otherPaths.Path(raw, e.otherPath)
	e.otherPath = buf
	return bytes.Equal(path, other)
}

// readings returns the answers of all readings that the operator of an agent may have, and whether one allows the path.
func (e *Evaluator) readings(id RulingID, ruling *rules.Ruling, agent int, raw []byte) (by [MaxReadings]ReadBy, allows bool) {
	number := -1
	if e.store.isKnown(agent) {
		number = agent
	}
	dialects := e.store.opt.readings.Dialects(number)
	sets := ruling.Readings(agent)
	if sets == nil && e.readsAlike(raw) {
		return by, false
	}
	for i, d := range dialects {
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
		allows = allows || by[i].Allows
	}
	return by, allows
}

// ReadText returns the answers of all readings that the operator of a crawler may have of a robots.txt, and whether one allows a path as
// written. It parses the text for each, and tries one rule after the other.
func ReadText(body []byte, agent string, raw []byte, d robots.Dialect) (by []ReadBy, allows bool) {
	for _, reading := range robots.Readings(agent, d) {
		rules, _ := robots.Parse(body, reading).Select(robots.NewAgent(agent, reading))
		path, _ := reading.Path(raw, nil)
		r := ReadBy{Dialect: reading, Allows: true}
		if winner := robots.Decide(rules, path, reading); winner >= 0 {
			r.Allows, r.Line = rules[winner].Allow, rules[winner].Line
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
	if _, text := id.Text(); !text || e.store.opt.readings == nil || agent == unknownAgent {
		return false
	}
	_, allows := e.readings(id, e.reader.Ruling(id), agent, raw)
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

// maxDisputed is how many sites with disputes are told apart.
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
