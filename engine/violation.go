package engine

import (
	"math"
	"time"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A Violation says whether a crawler fetched a URL although it was not allowed to. It is Violated only if that is
// certain.
type Violation uint8

// The values of Violation.
const (
	// ViolationUnknown means one of the following:
	//   - there is no answer, or no known crawler;
	//   - robots.txt need not bind the crawler, or its operator does not say that it does, see [Binding];
	//   - a reading of its operator allows the URL, see [Dispute];
	//   - the client was an impostor, or lists are loaded but the row has no client address, see StoreOptions.Ranges;
	//   - no rule disallows the URL, but a missing robots.txt, or a failed fetch of it by someone else;
	//   - with StoreOptions.RowTimes, the rule may not have been there yet, or the crawler may have used a copy of
	//     the robots.txt that allowed the URL, see StoreOptions.Cache.
	ViolationUnknown Violation = iota
	NoViolation                // the fetch was allowed, or was for /robots.txt, which crawlers must fetch
	Violated                   // it fetched a disallowed URL
)

// A Binding says whether robots.txt binds a crawler.
type Binding uint8

// The values of Binding.
const (
	BindingUnknown Binding = iota // package crawlers does not know it, or its operator does not say
	Bound                         // it is bound
	Exempt                        // its operator says that robots.txt need not bind it, because it acts for a person
)

// String returns the binding as the output column spells it: unknown, yes or no.
func (b Binding) String() string { return [...]string{"unknown", "yes", "no"}[b] }

// binding returns whether robots.txt binds an agent. It binds an agent that only a robots.txt names.
func (s *Store) binding(agent int) Binding {
	if s.isKnown(agent) {
		return s.bindings[agent]
	}
	return Bound
}

// Binding returns whether robots.txt binds an agent, by its number in a Batch.
func (m *Lookup) Binding(agent int) Binding { return m.store.binding(agent) }

// DefaultCache is how long a crawler may use a copy of a robots.txt whose response has no max-age: 24 hours, as RFC
// 9309 section 2.4 and Google's documentation say.
const DefaultCache = 24 * time.Hour

// findViolations fills b.Violations, with LogAgents, from the verdicts in decided, which is b or b.Old. e is the
// Evaluator that made them. It also counts rows in b.Timeless and b.Unfetched.
func (e *Evaluator) findViolations(b, decided *Batch) {
	if !e.store.opt.LogAgents.judges() {
		return
	}
	disputes, verifies := decided.Disputes, e.store.verifier != nil
	for i, v := range decided.Verdicts {
		violation := ViolationUnknown
		disputed := len(disputes) > 0 && int(disputes[0].Row) == i
		if disputed {
			disputes = disputes[1:]
		}
		switch {
		case v.Access == Unknown || decided.Agents[i] == unknownAgent:
		case v.Access == Allowed || robots.IsTxt(e.rawPath(decided, i)):
			violation = NoViolation
		case v.Reason == ReasonNoRobots || e.store.binding(int(decided.Agents[i])) != Bound:
		case disputed, verifies && (e.isImpostor(b, decided, i) || e.lacksAddress(b, i)):
		case v.Reason == ReasonUnreachable:
			b.Unfetched++
		case !e.store.opt.RowTimes:
			violation = Violated
		case e.timeless[i]:
			if b.time(i) != NoTime {
				b.Timeless++
			}
		case e.mustKnow(b, i):
			violation = Violated
		}
		b.Violations = append(b.Violations, violation)
	}
}

// agentIn returns the agent of a row in another ruling: unknownAgent if only the robots.txt of the row names the
// crawler.
func (e *Evaluator) agentIn(b *Batch, row int, id RulingID) int {
	agent := int(b.Agents[row])
	if !e.store.isKnown(agent) {
		name := e.reader.Ruling(b.Rulings[row]).NameOf(agent)
		agent = unknownAgent
		if n, ok := e.reader.Ruling(id).FindNamed([]byte(name)); ok {
			agent = n
		}
	}
	return agent
}

// mustKnow reports whether the crawler of a row must have known the text that disallows the URL. That is so if the
// text's effective date is known and the crawler could not use an older copy that allows the URL. It could use a
// copy that was in force within the cache time, or the last copy before failures within the cache time, because it
// may keep that one until fetches succeed.
func (e *Evaluator) mustKnow(b *Batch, row int) bool {
	periods := e.reader.Periods(uint32(b.Sites[row]))
	moment := b.time(row)
	if len(periods) == 0 || moment == NoTime {
		return false
	}
	n := rules.Index(periods, moment)
	end := periods[n].From // end of the earlier period, or of the failures that follow it
	for n--; n >= 0; n-- {
		p, until := periods[n], end
		if p.ID.IsFailed() { // opens the site to readers of some dialects
			if until > moment-e.store.cacheOf(p) && e.readsOpen(b.agent(row, 0)) {
				return false
			}
			continue
		}
		end = p.From
		if p.ID <= rules.NoRobots || until <= moment-e.store.cacheOf(p) {
			continue
		}
		if p.Open && e.readsOpen(b.agent(row, 0)) || e.someReadingAllows(b, row, p.ID) {
			return false
		}
	}
	return true
}

// cacheOf returns for how many microseconds a crawler may use a copy of the text in force in a period: as long as the
// response or, if it does not say, StoreOptions.Cache allows. It is always 0 if crawlers use no copies.
func (s *Store) cacheOf(p rules.Period) int64 {
	own, ok := p.MaxAge()
	switch cache := s.opt.Cache; {
	case cache < 0:
		return 0
	case ok:
		return own * 1_000_000
	case cache == 0:
		return DefaultCache.Microseconds()
	default:
		return min(cache, math.MaxInt64/2).Microseconds()
	}
}
