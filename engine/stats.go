package engine

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// Stats count the decisions of a run.
type Stats struct {
	URLs      int64 // rows of the input
	Rows      int64 // verdicts: one per URL and agent
	Origins   int64 // distinct origins of the URLs
	About     bool  // Origins is an estimate, because there are more without rules than Options.MaxStrays
	URLBytes  int64 // bytes of the URLs
	BadBytes  int64 // bytes of the bad URLs among them
	RuleLines int64 // sum of the line numbers of the rules that won; a checksum to compare outputs

	// Verdicts by answer, and by reason:
	Allowed, Denied, Unknown int64
	Reasons                  [NumReasons]int64

	// Agents has the verdicts by agent, in the order of the Agents of Store.Options. It is empty with
	// LogAgentsByName.
	Agents []AgentCount
	Named  []NamedCount // with LogAgents: the crawlers that only a robots.txt names, in the order of their names

	// The busiest origins and rules, busiest first. Unused elements have no rows. If there are too many to count
	// exactly, the Rows of each may be too low, by at most TopOriginsOff or TopRulesOff. That happens with over
	// 262,144 sites with rules, and with over 32,768 origins without rules, or rules, that occurred.
	TopOrigins                 [Top]BusyOrigin
	TopRules                   [Top]BusyRule
	TopOriginsOff, TopRulesOff int64

	// With StoreOptions.LogAgents:
	TopViolated [Top]BusyRule // the rules with the most violations; Rows are violations, with the error of TopRules
	Violations  int64         // rows whose crawler fetched a URL that it was not allowed to fetch
	Skipped     int64         // rows dropped because of LogAgentsSkip, which no other number counts

	// Rows of origins without rules:
	Strays  int64            // of origins that the Store never had
	Busiest [Busy]BusyOrigin // the origins of Strays with the most rows
	Early   int64            // of sites first captured after StoreOptions.AsOf or, with RowTimes, after the row

	// Odd counts the sites with rows whose robots.txt is not valid, judged by its bytes.
	Odd OddCount

	// Misread has the crawlers whose operator documents another dialect, in the order of Agents. It counts their
	// rows that are decided by other groups than that dialect chooses.
	Misread []MisreadCount

	Disputes DisputeStats // see Batch.Disputes

	// With StoreOptions.RowTimes:
	Undated  int64 // rows without a time; the newest rules decide them
	Timeless int64 // see Batch.Timeless

	Unfetched int64 // see Batch.Unfetched

	// With StoreOptions.Ranges:
	UntimedRows, UntimedLists int64         // see Batch
	Census                    ranges.Census // where the requests of crawlers came from
}

// An AgentCount counts the verdicts for one agent. With StoreOptions.LogAgents, it counts requests for robots.txt
// as allowed, see [Batch.ForCrawlers].
type AgentCount struct {
	Allowed, Denied, Unknown int64
	Violations               int64 // with StoreOptions.LogAgents

	// Verified divides these verdicts by whether the request came from the crawler, with StoreOptions.Ranges;
	// otherwise all counts are zero. Requests without a usable client address are counted under ranges.Null.
	Verified [ranges.NumAnswers]VerifiedCount
}

// A VerifiedCount counts verdicts, and how many of them are Denied.
type VerifiedCount struct{ Rows, Denied int64 }

// A MisreadCount counts rows of a crawler.
type MisreadCount struct {
	Name    string
	Dialect robots.Dialect // documented by its operator
	Rows    int64
}

// A NamedCount counts the verdicts for a crawler that only a robots.txt names. OtherNamed stands for the crawlers
// beyond MaxNamed.
type NamedCount struct {
	Name string
	AgentCount
}

// A counter holds the counts of one worker.
type counter struct {
	store  *Store
	lookup *Lookup
	stats  Stats
	sites  []uint64  // bit set of the store's sites that occurred
	strays tally     // other origins
	odds   rules.Odd // of the store; nil if no text is odd
	odd    oddRows

	documented []int   // agents whose operator documents another dialect
	misread    []int64 // by index in documented: see Stats.Misread

	// By agent: the counts with StoreOptions.LogAgents, otherwise the difference from the previous agent. Agents
	// with the same rules are neighbours, so most differences are zero.
	agents []AgentCount
}

// newCounter returns a counter for one goroutine. goroutines is their number; they share a memory limit.
func newCounter(s *Store, goroutines int) *counter {
	documented := s.opt.misread.Agents()
	return &counter{
		documented: documented, misread: make([]int64, len(documented)), store: s, odds: s.rules.Odd(), lookup: s.newLookup(goroutines),
		sites: make([]uint64, (s.NumSites()+63)/64), agents: make([]AgentCount, len(s.opt.Agents)+1),
	}
}

// countBatch counts an evaluated batch. It also fills b.streaks, which busiest.countSites needs.
func (c *counter) countBatch(b *Batch) {
	c.stats.URLs += int64(b.Len())
	c.stats.Rows += int64(len(b.Verdicts))
	c.stats.Skipped += int64(b.Skipped)
	c.stats.Timeless += int64(b.Timeless)
	c.stats.Unfetched += int64(b.Unfetched)
	c.stats.UntimedRows += int64(b.UntimedRows)
	c.stats.UntimedLists += int64(b.UntimedLists)
	c.countURLs(b)
	if opt := &c.store.opt; opt.RowTimes || !opt.AsOf.IsZero() {
		for i, id := range b.Rulings {
			switch {
			case b.Sites[i] >= strayBit:
			case opt.RowTimes && b.time(i) == NoTime:
				c.stats.Undated++
			case id == rules.NoRobots:
				c.stats.Early++
			}
		}
	}
	if c.store.opt.LogAgents.judges() {
		for i := range b.Agents {
			if agent, _ := b.crawlerOf(i); c.store.isKnown(int(agent)) { // busiest counts the others
				c.agents[agent].addRow(b, i)
			}
		}
	}
	if c.store.opt.misread.Found() {
		c.countMisread(b)
	}
	c.lookup.Use(b)
	c.countVerdicts(b)
}

// countMisread counts the rows that are decided by other groups than the documentation of the crawler's operator
// chooses. It omits requests for robots.txt that are allowed whatever the rules say; for crawlers of a log, that is
// all of them.
func (c *counter) countMisread(b *Batch) {
	m, first, last := c.store.opt.misread, uint32(c.documented[0]), uint32(c.documented[len(c.documented)-1])
	if len(b.Agents) == 0 {
		agents := len(c.store.opt.Agents)
		for row, id := range b.Rulings {
			for i, agent := range c.documented {
				if m.Has(i, id) && b.Verdicts[row*agents+agent].Reason != ReasonRobotsTxt {
					c.misread[i]++
				}
			}
		}
		return
	}
	for row, agent := range b.Agents {
		if agent < first || agent > last {
			continue
		}
		if i, is := slices.BinarySearch(c.documented, int(agent)); is && m.Has(i, b.Rulings[row]) && !b.IsTxt(row) {
			c.misread[i]++
		}
	}
}

// countURLs counts the bytes of the URLs and, by streaks, the rows of each site.
func (c *counter) countURLs(b *Batch) {
	size := int64(0)
	for _, url := range b.URLs {
		size += int64(url.Len)
	}
	c.stats.URLBytes += size
	last, start := NoSite, 0 // rows of one site often come in streaks
	for i, site := range b.Sites {
		if site != last {
			c.countStreak(b, last, start, i)
			last, start = site, i
		}
	}
	c.countStreak(b, last, start, len(b.Sites))
}

// countStreak counts consecutive rows of one site, from start to before end. For bad URLs, it counts only their bytes.
func (c *counter) countStreak(b *Batch, site SiteID, start, end int) {
	rows := end - start
	if site < strayBit {
		if c.odds != nil {
			c.odd.count(site, b.Rulings[start:end], c.odds, c.store.opt.RowTimes || c.store.opt.LogAgents == LogAgentsByName)
		}
		c.sites[site/64] |= 1 << (site % 64)
		b.streaks.sites = append(b.streaks.sites, siteStreak{site, uint32(rows)})
	} else if n, stray := site.Stray(); stray {
		hash := hashOrigin(b.Strays[n])
		c.strays.addRows(hash, int64(rows))
		b.streaks.sites, b.streaks.hashes = append(b.streaks.sites, siteStreak{site, uint32(rows)}), append(b.streaks.hashes, hash)
		c.stats.Strays += int64(rows)
	} else {
		for _, url := range b.URLs[start:end] {
			c.stats.BadBytes += int64(url.Len)
		}
	}
}

// addRow counts the verdict of a row of a batch with LogAgents. A disallowed request for robots.txt counts as allowed,
// see [Batch.ForCrawlers].
func (a *AgentCount) addRow(b *Batch, row int) {
	access := b.Verdicts[row].Access
	if access == Denied && b.IsTxt(row) {
		access = Allowed
	}
	a.countRows(access, 1)
	if b.Violations[row] == Violated {
		a.Violations++
	}
	if len(b.Verified) == 0 {
		return
	}
	v := &a.Verified[b.Verified[row]]
	if v.Rows++; access == Denied {
		v.Denied++
	}
}

// countVerdicts counts the verdicts of a batch by answer, reason and agent, and the lines of the rules that won. It
// counts a streak of rows with the same verdict at once: rows of one ruling, or rows that no rule decided.
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
			(v.Rule == NoRule && agents == 1 || b.Rulings[next] == id && b.Sites[next] == b.Sites[i] && len(b.Agents) == 0) {
			continue
		}
		rows := int64(i + 1 - start)
		c.countVerdict(v, rows*int64(agents))
		if len(b.Agents) == 0 {
			c.agents[0].countRows(v.Access, rows)
		}
		if v.Rule != NoRule {
			c.countRule(b, i, b.agent(i, 0), v, rows*int64(agents))
		}
		start = i + 1
	}
}

// alike reports whether all agents are known to have the same verdict.
func (c *counter) alike(id RulingID) bool {
	return id <= rules.NoRobots || int(id) < len(c.lookup.common) && c.lookup.common[id] != nil
}

// countEach counts the verdicts of a row for agents with different rules. It counts a streak of equal verdicts at once:
// in c.agents, it adds 1 for the first agent of the streak, and subtracts 1 for the first agent after it.
func (c *counter) countEach(b *Batch, row int) {
	agents := c.store.agentsPerURL()
	verdicts, firsts := b.Verdicts[row*agents:][:agents], c.lookup.firstAgents(b.Rulings[row])
	for start, a := 0, 0; start < agents; start = a {
		v := verdicts[start]
		for rule := start; a < agents && verdicts[a] == v; {
			if a++; v.Rule == NoRule || a < agents && verdicts[a] == v && firsts != nil && firsts[a] == firsts[a-1] {
				continue
			}
			c.countRule(b, row, rule, v, int64(a-rule))
			rule = a
		}
		c.countVerdict(v, int64(a-start))
		c.agents[start].countRows(v.Access, 1)
		c.agents[a].countRows(v.Access, -1)
	}
}

// countRule counts a number of consecutive verdicts by one rule. row and agent are those of the first verdict.
func (c *counter) countRule(b *Batch, row, agent int, v Verdict, verdicts int64) {
	id := b.Rulings[row]
	line := c.lookup.lineOf(id, agent, v)
	c.stats.RuleLines += verdicts * line
	b.addRule(ruleStreak{uint32(row), uint32(line), uint32(verdicts), uint32(agent)})
}

// countVerdict counts a verdict n times, by answer and by reason.
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

// countRows adds n rows with one answer.
func (a *AgentCount) countRows(access Access, n int64) {
	switch access {
	case Allowed:
		a.Allowed += n
	case Denied:
		a.Denied += n
	case Unknown:
		a.Unknown += n
	}
}

// Add adds the counts of o.
func (a *AgentCount) Add(o *AgentCount) {
	a.Allowed += o.Allowed
	a.Denied += o.Denied
	a.Unknown += o.Unknown
	a.Violations += o.Violations
	for i, v := range o.Verified {
		a.Verified[i].Rows += v.Rows
		a.Verified[i].Denied += v.Denied
	}
}

// sumCounts returns the sum of the counts of all workers, and the results of all. It can be called once, because it
// adds to the memory of the first counter.
func sumCounts(counters []*counter, all *busiest) Stats {
	sum := *counters[0]
	s := &sum.stats
	for _, c := range counters[1:] {
		s.addStats(&c.stats)
		for i, set := range c.sites {
			sum.sites[i] |= set
		}
		sum.strays.merge(&c.strays)
		sum.odd.merge(&c.odd)
		for i, rows := range c.misread {
			sum.misread[i] += rows
		}
		for i := range c.agents {
			sum.agents[i].Add(&c.agents[i])
		}
	}
	s.Agents = sum.agents[:len(sum.agents)-1]
	if sum.store.opt.LogAgents == LogAgentsOff {
		for i := range s.Agents[1:] {
			s.Agents[i+1].Add(&s.Agents[i])
		}
	}
	for n, count := range all.named {
		s.Named = append(s.Named, NamedCount{all.list.names[all.list.known+n], count})
	}
	slices.SortFunc(s.Named, func(a, b NamedCount) int { return strings.Compare(a.Name, b.Name) })
	s.Census, s.Disputes = all.census, all.disputes
	copy(s.Disputes.Worst[:], topOrigins(all.lookup, &all.disputed, rules.Worst))
	for i := range s.Agents {
		s.Violations += s.Agents[i].Violations
	}
	for i := range s.Named {
		s.Violations += s.Named[i].Violations
	}
	for _, set := range sum.sites {
		s.Origins += int64(bits.OnesCount64(set))
	}
	strays, about := sum.strays.origins()
	s.Origins += strays
	s.About = about
	all.total(s, &sum.strays)
	s.Odd = sum.odd.total(sum.store)
	for i, rows := range sum.misread {
		name := sum.store.opt.Agents[sum.documented[i]]
		if _, own, _ := robots.DocumentedAgent(name, sum.store.opt.Dialect); rows > 0 {
			s.Misread = append(s.Misread, MisreadCount{name, own, rows})
		}
	}
	return *s
}

// addStats adds the counts of another worker, except those that sumCounts adds.
func (s *Stats) addStats(other *Stats) {
	s.URLs += other.URLs
	s.Rows += other.Rows
	s.URLBytes += other.URLBytes
	s.BadBytes += other.BadBytes
	s.RuleLines += other.RuleLines
	s.Allowed += other.Allowed
	s.Denied += other.Denied
	s.Unknown += other.Unknown
	for i, n := range other.Reasons {
		s.Reasons[i] += n
	}
	s.Skipped += other.Skipped
	s.Strays += other.Strays
	s.Early += other.Early
	s.Undated += other.Undated
	s.Timeless += other.Timeless
	s.Unfetched += other.Unfetched
	s.UntimedRows += other.UntimedRows
	s.UntimedLists += other.UntimedLists
}
