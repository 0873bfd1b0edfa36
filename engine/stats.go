package engine

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Stats counts what a run decided.
type Stats struct {
	URLs      int64             // rows of the input
	Rows      int64             // verdicts: one for each URL and agent
	Origins   int64             // distinct origins of the URLs
	Allowed   int64             // verdicts by answer
	Denied    int64             //
	Unknown   int64             //
	Reasons   [NumReasons]int64 // verdicts by reason
	RuleLines int64             // sum of the lines of the deciding rules, to compare outputs by
	URLBytes  int64             // bytes of the URLs

	Violations int64 // rows whose crawler fetched what it was disallowed; with LogAgents only
	Undated    int64 // rows of origins of a Store with RowTimes that have no time, and are decided by what is newest
	Early      int64 // rows of such origins that are older than all that is known of their robots.txt

	Skipped int64 // rows of the input that were left out, as LogAgentsSkip says, and that no other number counts
}

// A counter counts for one worker.
type counter struct {
	store  *Store
	lookup Lookup
	stats  Stats
	sites  []uint64            // bit set of the store's sites that occurred
	strays map[uint64]struct{} // hashes of the other origins that occurred
}

func newCounter(s *Store) *counter {
	return &counter{store: s, lookup: Lookup{store: s}, sites: make([]uint64, (s.NumSites()+63)/64), strays: map[uint64]struct{}{}}
}

// add counts an evaluated batch.
func (c *counter) add(b *Batch) {
	c.stats.URLs += int64(b.Len())
	c.stats.Rows += int64(len(b.Verdicts))
	c.countURLs(b)
	for _, name := range b.Strays {
		c.strays[xxh3.Hash(name)] = struct{}{}
	}
	c.stats.Skipped += int64(b.Skipped)
	c.stats.countTimes(b)
	for _, v := range b.Violations {
		if v == Violated {
			c.stats.Violations++
		}
	}
	switch {
	case c.store.plain() && c.store.AgentsPerURL() == 1:
		c.countRuns(b.Verdicts, b.Rulings())
	case c.store.plain():
		c.countPlain(b)
	default:
		c.countVerdicts(b.Verdicts)
		c.lookup.Use(b)
		for i, site := range b.Sites {
			if site < strayBit {
				c.stats.RuleLines += c.lookup.ruleLines(b, i)
			}
		}
	}
}

// countURLs counts the bytes of the URLs, and remembers their sites.
func (c *counter) countURLs(b *Batch) {
	size := int64(0)
	for _, url := range b.URLs {
		size += int64(url.Len)
	}
	c.stats.URLBytes += size
	last := NoSite // rows of one site often come in runs
	for _, site := range b.Sites {
		if site != last && site < strayBit {
			c.sites[site/64] |= 1 << (site % 64)
		}
		last = site
	}
}

// countRuns counts verdicts for the one agent of a store that is plain, given by the rules of which site they are. Equal ones next to each other
// are counted at once; of a site only the rule is looked at, and only where one decided.
func (c *counter) countRuns(verdicts []Verdict, rulings []SiteID) {
	start := 0
	for i, v := range verdicts {
		if next := i + 1; next < len(verdicts) && verdicts[next] == v && (v.Rule == NoRule || rulings[next] == rulings[i]) {
			continue
		}
		n := int64(i + 1 - start)
		start = i + 1
		c.countVerdict(v, n)
		if v.Rule != NoRule {
			c.stats.RuleLines += n * c.store.common[rulings[i]].line(v)
		}
	}
}

// countVerdicts counts verdicts by answer and reason.
func (c *counter) countVerdicts(verdicts []Verdict) {
	for len(verdicts) > 0 { // agents that share rules have runs of one verdict
		n := 1
		for n < len(verdicts) && verdicts[n] == verdicts[0] {
			n++
		}
		c.countVerdict(verdicts[0], int64(n))
		verdicts = verdicts[n:]
	}
}

// countVerdict counts a verdict n times.
func (c *counter) countVerdict(v Verdict, n int64) {
	c.stats.Reasons[v.Reason] += n
	switch v.Access {
	case Allowed:
		c.stats.Allowed += n
	case Denied:
		c.stats.Denied += n
	case Unknown:
		c.stats.Unknown += n
	}
}

// total returns the sum of what the workers counted.
func total(counters []*counter) Stats {
	sum := *counters[0]
	s := &sum.stats
	for _, c := range counters[1:] {
		s.URLs += c.stats.URLs
		s.Rows += c.stats.Rows
		s.Allowed += c.stats.Allowed
		s.Denied += c.stats.Denied
		s.Unknown += c.stats.Unknown
		s.RuleLines += c.stats.RuleLines
		s.URLBytes += c.stats.URLBytes
		s.Violations += c.stats.Violations
		s.Skipped += c.stats.Skipped
		s.Undated += c.stats.Undated
		s.Early += c.stats.Early
		for i, n := range c.stats.Reasons {
			s.Reasons[i] += n
		}
		for i, set := range c.sites {
			sum.sites[i] |= set
		}
		for stray := range c.strays {
			sum.strays[stray] = struct{}{}
		}
	}
	for _, set := range sum.sites {
		s.Origins += int64(bits.OnesCount64(set))
	}
	s.Origins += int64(len(sum.strays))
	return *s
}
