package engine

import (
	"slices"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// An Evaluator decides batches by the rules of a Store. It is for one goroutine; several may share a Store.
type Evaluator struct {
	store   *Store
	sites   Lookup
	scratch automaton.Scratch
	path    []byte // memory of paths that are not in normal form as written
	origin  []byte // memory of origins

	prefix []byte // URL.Prefix of the last row that had one, as nearly all logs have runs of one host
	site   SiteID // and its site
	memo   prefixMemo

	// With StoreOptions.RowTimes: what is in force for site, and where in the batch rows of another one begin.
	changes []change
	runs    []datedRun

	rulings []SiteID // Batch.Rulings of the batch

	paths []uint32 // of each row of the batch: where in Batch.Data its URL.Path starts, if it has a site
	order siteOrder

	known agentMemory // with LogAgents
}

// NewEvaluator returns an Evaluator for the store's agents and dialect.
func (s *Store) NewEvaluator() *Evaluator { return &Evaluator{store: s, sites: Lookup{store: s}} }

// Evaluate fills b.Sites, b.Strays and b.Verdicts, and what else the store was built for. But for b.Canonicals and User-Agents
// that it has not seen lately, it does not allocate once b has grown, but where a run of URLs begins whose host is an IPv6 address or has characters
// beyond ASCII.
func (e *Evaluator) Evaluate(b *Batch) {
	if e.store.logAgents != LogAgentsOff {
		e.identify(b)
	}
	n := b.Len()
	b.Sites = slices.Grow(b.Sites, n)[:n]
	b.Verdicts = slices.Grow(b.Verdicts, n*e.agents())[:n*e.agents()]
	e.paths = slices.Grow(e.paths[:0], n)[:n]
	runs := e.route(b)
	if e.store.times != nil {
		e.date(b)
	}
	if e.rulings = b.Rulings(); runs < n/minRun {
		e.decideInTurn(b)
	} else {
		e.decideBySite(b)
	}
	if e.store.HasCanonical() {
		e.canonicalize(b)
	}
}

func (e *Evaluator) agents() int { return e.store.AgentsPerURL() }

// route fills b.Sites and e.paths, and returns how many runs of rows of one site there are.
func (e *Evaluator) route(b *Batch) (runs int) {
	if _, stray := e.site.Stray(); stray {
		e.prefix = e.prefix[:0] // its number was of another batch
	}
	e.runs = append(e.runs[:0], datedRun{0, e.changes})
	for i := range b.URLs {
		url := b.URL(i)
		site := e.site
		if n := len(e.prefix); n == 0 || len(url) < n || string(url[:n]) != string(e.prefix) || !endsPrefix(url, n) {
			site = e.find(b, i)
			runs++
		}
		b.Sites[i] = site
		e.paths[i] = b.URLs[i].Off + uint32(len(e.prefix))
	}
	return runs
}

// find returns the site of a row's URL. If it has an origin, its Prefix becomes the one to compare the next row with.
func (e *Evaluator) find(b *Batch, row int) SiteID {
	url := b.URL(row)
	if n, site, ok := e.findPrefix(b, url); ok {
		e.prefix = append(e.prefix[:0], url[:n]...)
		e.begin(b, row, site)
		return site
	}
	u, err := robots.SplitURL(url)
	if err == nil {
		e.origin, err = robots.AppendOrigin(e.origin[:0], u)
	}
	if err != nil {
		return NoSite
	}
	e.prefix = append(e.prefix[:0], u.Prefix...)
	id, ok := e.sites.find(e.origin)
	if ok {
		e.memo.put(u.Prefix, id)
		e.sites.holdFound(b, id, e.origin)
	} else {
		id = b.addStray(e.origin)
	}
	e.begin(b, row, id)
	return id
}

// findPrefix returns the length of the URL's Prefix and its site, if it was met lately or is an origin in normal form as it is
// written.
func (e *Evaluator) findPrefix(b *Batch, url []byte) (n int, site SiteID, ok bool) {
	n = prefixLen(url)
	if n == 0 {
		return 0, 0, false
	}
	if site, ok = e.memo.get(url[:n]); ok {
		return n, site, true
	}
	if site, ok = e.sites.find(url[:n]); ok {
		e.memo.put(url[:n], site)
		e.sites.holdFound(b, site, url[:n])
	}
	return n, site, ok
}

// begin notes that with a row, those of another site begin.
func (e *Evaluator) begin(b *Batch, row int, id SiteID) {
	e.site = id
	if e.store.times != nil {
		e.startRun(b, row, id)
	}
}

// decideInTurn fills b.Verdicts in the order of the rows.
func (e *Evaluator) decideInTurn(b *Batch) {
	if e.store.plain() {
		e.decidePlain(b, nil)
		return
	}
	for i := range b.URLs {
		e.decide(b, i)
	}
}

// decide fills the verdicts of a row, one for each agent, or that for the agent of the row and what it means.
func (e *Evaluator) decide(b *Batch, i int) {
	e.decideRow(b, i)
	if len(b.Agents) > 0 {
		var path []byte
		if b.Sites[i] != NoSite {
			path = e.rawPath(b, i)
		}
		b.Violations[i] = violation(b.Agents[i], b.Verdicts[i], path)
	}
}

// rawPath returns the path of a row that has a site, not in normal form.
func (e *Evaluator) rawPath(b *Batch, i int) []byte {
	span := b.URLs[i]
	return b.Data[e.paths[i] : span.Off+span.Len]
}

func (e *Evaluator) decideRow(b *Batch, i int) {
	site, verdicts := e.rulings[i], b.Verdicts[i*e.agents():][:e.agents()]
	if site >= strayBit {
		fillVerdicts(verdicts, e.store.withoutRules(site))
		return
	}
	var path []byte
	path, e.path = e.store.dialect.Path(e.rawPath(b, i), e.path)
	if e.store.dialect.AlwaysAllowed(path) {
		fillVerdicts(verdicts, Verdict{NoRule, ReasonRobotsTxt, Allowed})
	} else if s := e.sites.Site(site); len(b.Agents) > 0 {
		verdicts[0] = s.Rules[b.Agents[i]].decide(path, &e.scratch)
	} else {
		s.decide(verdicts, path, &e.scratch)
	}
	e.sites.hold(b, i, verdicts)
}

// withoutRules returns the verdict on the URLs of a site that the store does not hold, or of none.
func (s *Store) withoutRules(site SiteID) Verdict {
	if site == NoSite {
		return Verdict{NoRule, ReasonBadURL, Unknown}
	}
	return s.missing
}

// fillVerdicts gives all agents one verdict.
func fillVerdicts(verdicts []Verdict, v Verdict) {
	for a := range verdicts {
		verdicts[a] = v
	}
}

// endsPrefix reports whether the first n bytes of a URL, which were the Prefix of another, are its Prefix too.
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

// addStray adds an origin without rules. Only neighbouring rows share one: others may have the same name twice.
func (b *Batch) addStray(origin []byte) SiteID {
	at := len(b.strayNames)
	b.strayNames = append(b.strayNames, origin...)
	b.Strays = append(b.Strays, b.strayNames[at:len(b.strayNames):len(b.strayNames)])
	return strayBit | SiteID(len(b.Strays)-1)
}
