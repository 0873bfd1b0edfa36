package engine

import (
	"math/bits"

	"github.com/robobatch/robobatch/engine/internal/rules"
)

// Stats count what a run decided.
type Stats struct {
	URLs      int64 // rows of the input
	Rows      int64 // verdicts: one for each URL and agent
	Origins   int64 // distinct origins of the URLs
	URLBytes  int64 // bytes of the URLs
	RuleLines int64 // sum of the lines of the rules that won, to compare outputs by

	// Verdicts by answer, and by reason:
	Allowed, Denied, Unknown int64
	Reasons                  [NumReasons]int64

	// With StoreOptions.LogAgents:
	Violations int64 // rows whose crawler fetched what it was not allowed to fetch
	Skipped    int64 // rows that were left out, see LogAgentsSkip; no other number counts them

	// Rows of origins without rules:
	Strays  int64            // of origins that the Store does not know, at any moment
	Busiest [Busy]BusyOrigin // those of them that have the most rows; fewer if there are fewer
	Early   int64            // of sites that have no capture as old as StoreOptions.AsOf or, with RowTimes, as the row

	// Odd counts the sites whose robots.txt is none, as far as bytes tell, and which rows asked for.
	Odd OddCount

	// With StoreOptions.RowTimes:
	Undated  int64 // rows of sites that have no time, and are decided by what is newest
	Timeless int64 // see Batch.Timeless
}

// A counter counts for one worker.
type counter struct {
	store  *Store
	lookup *Lookup
	stats  Stats
	sites  []uint64 // bit set of the store's sites that occurred
	strays tally    // of the other origins
	odd    oddRows
}

// newCounter returns a counter for one of so many goroutines.
func newCounter(s *Store, goroutines int) *counter {
	return &counter{
		store: s, lookup: s.newLookup(goroutines),
		sites: make([]uint64, (s.NumSites()+63)/64),
	}
}

// add counts an evaluated batch.
func (c *counter) add(b *Batch) {
	c.stats.URLs += int64(b.Len())
	c.stats.Rows += int64(len(b.Verdicts))
	c.stats.Skipped += int64(b.Skipped)
	c.stats.Timeless += int64(b.Timeless)
	c.countURLs(b)
	switch opt := &c.store.opt; {
	case opt.RowTimes:
		c.stats.countTimes(b)
	case !opt.AsOf.IsZero():
		c.stats.countEarly(b)
	}
	for _, v := range b.Violations {
		if v == Violated {
			c.stats.Violations++
		}
	}
	if odd := c.store.rules.Odd(); odd != nil {
		c.odd.count(b, odd)
	}
	c.lookup.Use(b)
	c.countVerdicts(b)
}

// countURLs counts the bytes of the URLs and the rows of strays, and remembers the sites.
func (c *counter) countURLs(b *Batch) {
	size := int64(0)
	for _, url := range b.URLs {
		size += int64(url.Len)
	}
	c.stats.URLBytes += size
	last, start := NoSite, 0 // rows of one site often come in streaks
	for i, site := range b.Sites {
		if site != last {
			c.countStreak(b, last, i-start)
			last, start = site, i
		}
	}
	c.countStreak(b, last, len(b.Sites)-start)
}

// countStreak counts neighbouring rows of one site.
func (c *counter) countStreak(b *Batch, site SiteID, rows int) {
	if site < strayBit {
		c.sites[site/64] |= 1 << (site % 64)
	} else if n, stray := site.Stray(); stray {
		c.strays.add(b.Strays[n], int64(rows))
		c.stats.Strays += int64(rows)
	}
}

// countVerdicts counts the verdicts of a batch, by answer and reason, and the lines of the rules
// that won. It counts a streak of rows with one verdict at once: those of one ruling, or those that
// no rule decided.
func (c *counter) countVerdicts(b *Batch) {
	agents := c.store.agentsPerURL()
	start := 0
	for i, id := range b.Rulings {
		v := b.Verdicts[i*agents]
		if agents > 1 && !c.alike(id) {
			c.countEach(b, i)
			start = i + 1
			continue
		}
		if next := i + 1; next < len(b.Rulings) && b.Verdicts[next*agents] == v &&
			(v.Rule == NoRule && agents == 1 || b.Rulings[next] == id && len(b.Agents) == 0) {
			continue
		}
		n := int64((i + 1 - start) * agents)
		start = i + 1
		c.countVerdict(v, n)
		if v.Rule != NoRule {
			c.stats.RuleLines += n * c.lookup.line(id, b.agent(i, 0), v)
		}
	}
}

// alike reports whether all agents are known to have one verdict.
func (c *counter) alike(id RulingID) bool {
	return id <= rules.NoRobots || int(id) < len(c.lookup.common) && c.lookup.common[id] != nil
}

// countEach counts the verdicts of a row for agents with different rules, a streak of equal
// verdicts at once.
func (c *counter) countEach(b *Batch, row int) {
	id, agents := b.Rulings[row], c.store.agentsPerURL()
	verdicts, firsts := b.Verdicts[row*agents:][:agents], c.lookup.firsts(id)
	for start, a := 0, 0; start < agents; start = a {
		v, line := verdicts[start], int64(0)
		for ; a < agents && verdicts[a] == v; a++ {
			if v.Rule == NoRule {
				continue
			}
			if a == start || firsts == nil || firsts[a] != firsts[a-1] {
				line = c.lookup.line(id, a, v)
			}
			c.stats.RuleLines += line
		}
		c.countVerdict(v, int64(a-start))
	}
}

// countTimes counts the rows whose time says nothing of the rules.
func (s *Stats) countTimes(b *Batch) {
	for i, id := range b.Rulings {
		switch {
		case b.Sites[i] >= strayBit:
		case len(b.Times) == 0 || b.Times[i] == unknownTime:
			s.Undated++
		case id == rules.NoRobots:
			s.Early++
		}
	}
}

// countEarly counts the rows of sites that have no capture as old as the moment in question.
func (s *Stats) countEarly(b *Batch) {
	for i, id := range b.Rulings {
		if id == rules.NoRobots && b.Sites[i] < strayBit {
			s.Early++
		}
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
		s.add(&c.stats)
		for i, set := range c.sites {
			sum.sites[i] |= set
		}
		sum.strays.merge(&c.strays)
		sum.odd.merge(&c.odd)
	}
	for _, set := range sum.sites {
		s.Origins += int64(bits.OnesCount64(set))
	}
	s.Origins += int64(sum.strays.count)
	s.Busiest = sum.strays.busiest()
	s.Odd = sum.odd.total(sum.store)
	return *s
}

// add adds what another worker counted, but for Origins, Busiest and Odd.
func (s *Stats) add(o *Stats) {
	s.URLs += o.URLs
	s.Rows += o.Rows
	s.URLBytes += o.URLBytes
	s.RuleLines += o.RuleLines
	s.Allowed += o.Allowed
	s.Denied += o.Denied
	s.Unknown += o.Unknown
	for i, n := range o.Reasons {
		s.Reasons[i] += n
	}
	s.Violations += o.Violations
	s.Skipped += o.Skipped
	s.Strays += o.Strays
	s.Early += o.Early
	s.Undated += o.Undated
	s.Timeless += o.Timeless
}
