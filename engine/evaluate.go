package engine

import (
	"math"
	"slices"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// An Evaluator decides batches by the rules of a Store. It is for one goroutine; several Evaluators may share a
// Store.
type Evaluator struct {
	store   *Store
	reader  rules.Reader
	common  []*rules.Set
	budget  int64 // bytes of rules that a batch may copy, see rules.Store.Budget
	scratch automaton.Scratch
	path    []byte // memory for normalised paths
	origin  []byte // memory for origins

	route route
	memo  prefixMemo
	ahead ahead

	suspects  rowSet        // rows of the batch that may have disputes, see dispute
	otherPath []byte        // like path, for dispute
	readAs    agentReadings // the last result of readingsOf

	paths []uint32 // by row of the batch, if it has a site: the offset of its URL.Path in Batch.Data
	order rulingOrder
	lead  lead

	timeless []bool // with RowTimes, by row of the batch: see route

	// With LogAgents:
	clients *clients
	pending []pendingRow // of the batch
	words   []byte       // memory for the words of pending rows
	kept    []uint32     // memory for dropUnknown

	asked []askedText // with StoreOptions.Evidence

	lister lister // with StoreOptions.Sitemaps
}

// A route leads from the URL of a row to the ruling in force. The route of the previous row is kept, because nearly
// all logs have streaks of one host.
type route struct {
	prefix []byte // URL.Prefix of the last row that had one, or empty
	site   SiteID
	ruling RulingID

	periods  []rules.Period // if ruling is rules.Dated
	from, to int64          // the first and the last microsecond of the last row's period
	dated    RulingID       // the ruling in force in that period
	open     bool           // see rules.Period

	timeless bool // with RowTimes: the ruling's effective date is unknown, see rules.CacheUndated
}

// NewEvaluator returns an Evaluator for the store's agents and dialect.
func (s *Store) NewEvaluator() *Evaluator { return s.newEvaluator(unknownUsers, unknownUsers) }

// newEvaluator returns an Evaluator. A memory limit is divided by the number of goroutines and of batches.
func (s *Store) newEvaluator(goroutines, batches int) *Evaluator {
	reader := s.rules.Reader(goroutines)
	fetching, _ := reader.(rules.AheadReader)
	return &Evaluator{store: s, reader: reader, common: s.rules.Common(), budget: s.rules.Budget(batches), ahead: ahead{reader: fetching}}
}

// Evaluate fills b.Sites, b.Strays, b.Rulings and b.Verdicts, and all other columns that the store was built for.
// Once b has grown, it does not allocate, with three exceptions: b.Canonicals; User-Agents that it has not seen
// recently; and the first of a streak of URLs whose host is an IPv6 address or has non-ASCII characters.
func (e *Evaluator) Evaluate(b *Batch) {
	e.evaluateRules(b)
	e.verify(b, nil)
	e.findDisputes(b)
	e.findViolations(b, b)
	e.findEvidence(b)
	e.dropUnknown(b)
}

// evaluateRules fills the columns that follow from the rules and the sitemaps: Sites, Strays, Rulings, Verdicts, Canonicals,
// Preferences, Listed and, with LogAgents, Agents. It does not compare, verify or judge rows. It keeps rows that are to
// be skipped if a robots.txt might have named their crawlers.
func (e *Evaluator) evaluateRules(b *Batch) {
	logAgents := e.store.opt.LogAgents
	if logAgents != LogAgentsOff {
		e.identify(b)
	}
	n, agents := b.Len(), e.store.agentsPerURL()
	b.Sites = slices.Grow(b.Sites, n)[:n]
	b.Rulings = slices.Grow(b.Rulings, n)[:n]
	b.Verdicts = slices.Grow(b.Verdicts, n*agents)[:n*agents]
	e.paths = slices.Grow(e.paths[:0], n)[:n]
	if e.store.opt.RowTimes {
		e.timeless = slices.Grow(e.timeless[:0], n)[:n]
	}
	e.suspects.reset(n, false)
	var order []rulingRow // nil means in the order of the batch
	streaks := e.findSites(b)
	nameless := false // some rows name no agent: like bad URLs, they have no ruling
	for i := 0; logAgents == LogAgentsByName && i < len(b.UserAgents); i++ {
		if b.UserAgents[i] == NoURL {
			b.Rulings[i], nameless = rules.NoRuling, true
		}
	}
	if streaks >= n/minStreak {
		order = e.order.sort(b.Rulings)
	}
	e.decide(b, order)
	for i := 0; nameless && i < n; i++ {
		if b.Rulings[i] == rules.NoRuling && b.Sites[i] != NoSite {
			b.Verdicts[i].Reason = ReasonBadAgent
		}
	}
	if logAgents == LogAgentsOff && e.store.opt.RowTimes {
		// Count the verdicts that disallow a URL by a text with an unknown effective date.
		for i, timeless := range e.timeless {
			if !timeless {
				continue
			}
			for _, v := range b.Verdicts[i*agents:][:agents] {
				if v.Access == Denied {
					b.Timeless++
				}
			}
		}
	}
	if slices.Contains(e.store.opt.Directives, robots.CleanParamLines) {
		e.canonicalize(b)
	}
	if e.store.hasPreferences() {
		e.fillPreferences(b)
	}
	e.fillListed(b)
}

// findSites fills b.Sites, b.Strays, b.Rulings, e.paths and e.timeless, and returns the number of streaks of rows of
// one site. It adds rows to e.suspects if their robots.txt is open to some readers, see rules.Period.
func (e *Evaluator) findSites(b *Batch) (streaks int) {
	r := &e.route
	// The number of a stray, or the copy of a name, belongs to the previous batch.
	if _, stray := r.site.Stray(); stray || e.budget > 0 {
		r.prefix = r.prefix[:0]
	}
	e.ahead.begin(b.Len())
	for i := range b.URLs {
		if e.ahead.useful && i%rules.AheadRows == 0 {
			e.ahead.sites(b, i, &e.memo)
		}
		url := b.URL(i)
		if n := len(r.prefix); n == 0 || len(url) < n || string(url[:n]) != string(r.prefix) || !endsPrefix(url, n) {
			streaks++
			if !e.findRoute(b, url) {
				b.Sites[i], b.Rulings[i] = NoSite, rules.NoRuling
				if len(e.timeless) > 0 {
					e.timeless[i] = false
				}
				continue
			}
		}
		ruling := r.ruling
		if ruling == rules.Dated {
			if ruling = e.rulingAt(b, i); r.open {
				e.suspects.add(i)
			}
		}
		if len(e.timeless) > 0 {
			e.timeless[i] = r.timeless
		}
		b.Sites[i], b.Rulings[i] = r.site, ruling
		e.paths[i] = b.URLs[i].Off + uint32(len(r.prefix))
	}
	return streaks
}

// findRoute sets e.route for a URL, and adds the origin to b.Strays if the store does not know it. If the URL has no
// valid origin, it returns false and does not change the route.
func (e *Evaluator) findRoute(b *Batch, url []byte) bool {
	prefix := url[:prefixLen(url)]
	site, ruling, ok := e.findPrefix(prefix)
	if !ok {
		u, err := robots.SplitURL(url)
		if err == nil {
			e.origin, err = robots.AppendOrigin(e.origin[:0], u)
		}
		if err != nil {
			return false
		}
		prefix = u.Prefix
		if site, ruling, ok = e.findSite(e.origin); ok {
			e.memo.remember(prefix, site, ruling)
		} else {
			site, ruling = b.addStray(e.origin), rules.NoRobots
		}
	}
	r := &e.route
	r.prefix, r.site, r.ruling = append(r.prefix[:0], prefix...), site, ruling
	r.timeless = ruling > rules.NoRobots // with RowTimes; a text with a time would have a period before it
	if ruling == rules.Dated {
		r.periods, r.from, r.to = e.reader.Periods(uint32(site)), math.MaxInt64, math.MinInt64
	}
	if ok && e.budget > 0 {
		b.winners.addSite(site, e.reader)
	}
	return true
}

// findPrefix looks up a prefix, which may be empty. It succeeds for a prefix that was met recently or is a
// normalised origin, as nearly all are.
func (e *Evaluator) findPrefix(prefix []byte) (site SiteID, ruling RulingID, ok bool) {
	if len(prefix) == 0 {
		return 0, 0, false
	}
	if site, ruling, ok = e.memo.find(prefix); ok {
		return site, ruling, true
	}
	e.ahead.missed++
	if site, ruling, ok = e.findSite(prefix); ok {
		e.memo.remember(prefix, site, ruling)
	}
	return site, ruling, ok
}

func (e *Evaluator) findSite(origin []byte) (SiteID, RulingID, bool) {
	site, ruling, ok := e.reader.Find(origin)
	return SiteID(site), ruling, ok
}

// time returns the time of a row.
func (b *Batch) time(row int) int64 {
	if len(b.Times) > 0 {
		return b.Times[row]
	}
	return NoTime
}

// rulingAt returns the ruling in force at the time of a row. The ruling of e.route must be rules.Dated; the route then
// has the period of the row.
func (e *Evaluator) rulingAt(b *Batch, row int) RulingID {
	r, moment := &e.route, b.time(row)
	if moment == NoTime {
		moment = e.reader.Newest(uint32(r.site))
	}
	if moment < r.from || moment > r.to {
		var n int
		n, r.from, r.to = rules.Find(r.periods, moment)
		r.dated, r.timeless, r.open = r.periods[n].ID, r.periods[n].IsUndated(), r.periods[n].Open
	}
	return r.dated
}

// decide fills the verdicts of rows in the given order, or of all rows of the batch if order is nil. It also finds the
// agents of pending rows, and adds the rows that may have disputes to e.suspects.
func (e *Evaluator) decide(b *Batch, order []rulingRow) {
	agents, dialect := e.store.agentsPerURL(), e.store.opt.Dialect
	fromLog, known := len(b.Agents) > 0, len(e.store.opt.Agents)
	always := dialect.Has(robots.ImplicitRobotsTxt)
	e.lead.begin()
	n := len(b.Rulings)
	if order != nil {
		n = len(order)
	}
	for k := range n {
		i := k
		if order != nil {
			if i = int(order[k].row); e.ahead.useful && k%rules.AheadRows == 0 {
				e.ahead.rules(order[k:min(n, k+rules.AheadRows)])
			}
		}
		id, verdicts := b.Rulings[i], b.Verdicts[i*agents:][:agents]
		if fromLog && b.Agents[i] >= pendingAgent {
			b.Agents[i] = e.resolvePending(b.Agents[i], id)
		}
		if id <= rules.NoRobots {
			fillVerdicts(verdicts, e.store.without[id])
			continue
		}
		raw := e.rawPath(b, i)
		if e.lead.leads(id, b.Data[e.paths[i]:], len(raw)) && (!fromLog || b.Agents[i] == b.Agents[e.lead.row]) {
			verdicts[0] = b.Verdicts[e.lead.row*agents]
			if agents > 1 {
				copy(verdicts, b.Verdicts[e.lead.row*agents:][:agents])
			}
			e.lead.debt = max(0, e.lead.debt-1)
			if e.lead.suspect != 0 && e.lead.suspects(raw) {
				e.suspects.add(i)
			}
			continue
		}
		path, isPlain := raw, robots.IsPlain(raw)
		if !isPlain {
			path, e.path = dialect.Path(raw, e.path)
		}
		var hasReadings bool
		switch {
		case always && dialect.AlwaysAllowed(path):
			fillVerdicts(verdicts, Verdict{NoRule, ReasonRobotsTxt, Allowed})
			continue
		case int(id) < len(e.common) && e.common[id] != nil && (!fromLog || int(b.Agents[i]) < known):
			fillVerdicts(verdicts, Verdict(e.common[id].Decide(path, &e.scratch)))
			hasReadings = e.common[id].HasReadings()
		default:
			hasReadings = e.decideEach(b, i, path)
		}
		if (!isPlain || hasReadings) && denies(verdicts) && (!isPlain || agents > 1 || e.readingsOf(id, b.agent(i, 0)).sets != nil) {
			e.suspects.add(i)
		}
		e.tryLead(b, id, i, raw, path)
	}
}

// decideEach fills the verdicts of a row for agents with different rules, or by rules that may have to be loaded. If
// the store drops rules, b.winners gets copies of those that won. It reports whether the text has readings, see
// [rules.Ruling.HasReadings].
func (e *Evaluator) decideEach(b *Batch, row int, path []byte) bool {
	agents := e.store.agentsPerURL()
	id, verdicts := b.Rulings[row], b.Verdicts[row*agents:][:agents]
	if len(b.Agents) > 0 {
		return e.decideOwn(b, row, path)
	}
	r := e.reader.Ruling(id)
	for a, set := range r.Sets {
		if first := int(r.Firsts[a]); first < a {
			verdicts[a] = verdicts[first]
		} else {
			verdicts[a] = Verdict(set.Decide(path, &e.scratch))
		}
	}
	if e.budget > 0 {
		b.winners.addFirsts(id, r, e.budget)
		for k, v := range verdicts {
			if v.Rule != NoRule && int(r.Firsts[k]) == k {
				b.winners.addRule(winner{id, int32(k), v.Rule}, r.Sets[k], e.budget)
			}
		}
	}
	return r.HasReadings()
}

// decideOwn is like decideEach, for a Store with LogAgents: the row has one crawler of its own.
func (e *Evaluator) decideOwn(b *Batch, row int, path []byte) bool {
	id, agent := b.Rulings[row], int(b.Agents[row])
	set := e.set(id, agent)
	v := Verdict(set.Decide(path, &e.scratch))
	b.Verdicts[row] = v
	if e.budget == 0 {
		return set.HasReadings()
	}
	r := e.reader.Ruling(id)
	b.winners.addFirsts(id, r, e.budget)
	first := agent
	if e.store.isKnown(agent) {
		first = int(r.Firsts[agent])
	} else {
		b.winners.addName(agentOf{id, agent}, r, e.budget)
	}
	if v.Rule != NoRule {
		b.winners.addRule(winner{id, int32(first), v.Rule}, set, e.budget)
	}
	return set.HasReadings()
}

// rawPath returns the path, not normalised, of a row that has a site.
func (e *Evaluator) rawPath(b *Batch, i int) []byte {
	span := b.URLs[i]
	return b.Data[e.paths[i] : span.Off+span.Len]
}

// fillVerdicts gives all agents one verdict.
func fillVerdicts(verdicts []Verdict, v Verdict) {
	for a := range verdicts {
		verdicts[a] = v
	}
}

// endsPrefix reports whether the first n bytes of a URL are its Prefix, given that they were the Prefix of another
// URL.
func endsPrefix(url []byte, n int) bool {
	if n == len(url) {
		return true
	}
	switch url[n] {
	case '/', '?', ';', '#':
		return true
	}
	return false
}

// addStray adds an origin without rules. Only consecutive rows share an entry; otherwise a name may be added twice.
func (b *Batch) addStray(origin []byte) SiteID {
	at := len(b.strayNames)
	b.strayNames = append(b.strayNames, origin...)
	b.Strays = append(b.Strays, b.strayNames[at:len(b.strayNames):len(b.strayNames)])
	return strayBit | SiteID(len(b.Strays)-1)
}
