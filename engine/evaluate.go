package engine

import (
	"bytes"
	"slices"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// An Evaluator decides batches by the rules of a Store. It is for one goroutine; several may share a Store.
type Evaluator struct {
	store   *Store
	scratch automaton.Scratch
	path    []byte // memory of paths that are not in normal form as written
	origin  []byte // memory of origins

	prefix []byte // URL.Prefix of the row before, as nearly all logs have runs of one host; empty if it had none
	site   SiteID // and its site

	known agentMemory // with LogAgents
}

// NewEvaluator returns an Evaluator for the store's agents and dialect.
func (s *Store) NewEvaluator() *Evaluator { return &Evaluator{store: s} }

// Evaluate fills b.Sites, b.Strays and b.Verdicts, and what else the store was built for. But for b.Canonicals and User-Agents
// that it has not seen lately, it does not allocate once b has grown, but where a run of URLs begins whose host is an IPv6 address or has characters
// beyond ASCII.
func (e *Evaluator) Evaluate(b *Batch) {
	if _, stray := e.site.Stray(); stray {
		e.prefix = e.prefix[:0] // its number was of another batch
	}
	fromLog := e.store.logAgents != LogAgentsOff
	if fromLog {
		e.identify(b)
	}
	for i := range b.URLs {
		site, raw := e.route(b, b.URL(i))
		b.Sites = append(b.Sites, site)
		switch _, stray := site.Stray(); {
		case site == NoSite:
			b.appendSame(Verdict{NoRule, ReasonBadURL, Unknown}, e.agents())
		case stray:
			b.appendSame(e.store.missing, e.agents())
		default:
			e.decide(b, &e.store.sites[site], raw)
		}
		if fromLog {
			b.Violations = append(b.Violations, violation(b.Agents[i], b.Verdicts[i], raw))
		}
	}
	if e.store.cleans != nil {
		e.canonicalize(b)
	}
}

func (e *Evaluator) agents() int { return e.store.AgentsPerURL() }

// decide appends a site's verdicts on a path, one for each agent, or that for the agent of the row.
func (e *Evaluator) decide(b *Batch, site *Site, raw []byte) {
	var path []byte
	path, e.path = e.store.dialect.Path(raw, e.path)
	if e.store.dialect.AlwaysAllowed(path) {
		b.appendSame(Verdict{NoRule, ReasonRobotsTxt, Allowed}, e.agents())
		return
	}
	n := len(b.Verdicts)
	if len(b.Agents) > 0 {
		b.Verdicts = append(b.Verdicts, site.Rules[b.Agents[n]].decide(path, &e.scratch))
		return
	}
	b.Verdicts = slices.Grow(b.Verdicts, len(site.Rules))[:n+len(site.Rules)]
	site.decide(b.Verdicts[n:], path, &e.scratch)
}

// appendSame appends one verdict for each agent.
func (b *Batch) appendSame(v Verdict, agents int) {
	for range agents {
		b.Verdicts = append(b.Verdicts, v)
	}
}

// route returns the site of a URL and the URL's path, not yet normalised.
func (e *Evaluator) route(b *Batch, url []byte) (site SiteID, path []byte) {
	if n := len(e.prefix); n > 0 && len(url) >= n && string(url[:n]) == string(e.prefix) && endsPrefix(url, n) {
		path = url[n:]
		if hash := bytes.IndexByte(path, '#'); hash >= 0 {
			path = path[:hash]
		}
		return e.site, path
	}
	u, err := robots.SplitURL(url)
	if err == nil {
		e.origin, err = robots.AppendOrigin(e.origin[:0], u)
	}
	if err != nil {
		return NoSite, nil
	}
	e.prefix = append(e.prefix[:0], u.Prefix...)
	id, ok := e.store.ids[robots.Origin(e.origin)]
	if !ok {
		id = b.addStray(e.origin)
	}
	e.site = id
	return id, u.Path
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
