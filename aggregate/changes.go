package aggregate

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// ChangesOptions configure Changes. The zero value uses DefaultMemory and counts no status codes.
type ChangesOptions struct {
	// Memory is the number of bytes for the URLs that changed; 0 means DefaultMemory. Counted keys take up to a
	// quarter more. URLs that do not fit go to a temporary file in TempDir; "" means the default directory.
	Memory  int64
	TempDir string

	// Status is 1 + the index in engine.Batch.Kept of the integer column with the status code; 0 means no such
	// column.
	Status int
}

// Shares of the memory that hold keys, in addition to the memory for the URLs that changed.
const (
	keyPart  = 4   // Memory / perKind is the size of each table: rules, families, origins, statuses
	keyBytes = 512 // for each of these, at most
)

// Changes is an [engine.Sink] that counts what changed in a run by two stores, see [engine.Options].Old. For each
// agent and kind of change it counts requests and distinct URLs: in total, by the rule to blame, by family of
// paths, by origin and by status. It also counts requests by day. For unchanged rows it counts only requests:
// counting their distinct URLs would double the CPU time of a run. Use CloseTemp.
type Changes struct {
	now, old *engine.Lookup
	agents   []string          // of the store; nil with fromLog
	list     *engine.AgentList // with fromLog
	byRow    bool              // whether rows with the same URL and agent may have different rules in force
	fromLog  bool
	several  bool // there may be several origins
	status   int
	urls     *URLs // URLs that changed

	totals  []Group // by agent and change, only with byRow; otherwise totals are sums over rules
	same    []int64 // unchanged requests, by agent
	sameAll int64   // requests that are unchanged for all agents
	bad     int64

	rules    *Table[ruleKey]
	blamed   map[Group]*blamed // by the group of a rule
	families *Table[textKey]
	origins  *Table[textKey]
	statuses *Table[statusKey]
	days     *Table[dayKey]

	site   engine.SiteID // agent of the last changed row of this batch
	origin string        // its name
	family string        // the family of the last changed row
	last   []lastGroups  // by agent
}

// A ruleKey is the rule that caused a change or, without a line, the reason of a verdict without a rule.
type ruleKey struct {
	agent  uint16
	change engine.Change
	old    bool // the rule belongs to the old store
	reason engine.Reason
	line   int32
	ruling engine.RulingID
}

// A textKey is a family of paths or an origin, with its agent and kind of change.
type textKey struct {
	agent  uint16
	change engine.Change
	text   string
}

// A statusKey is a status code with its agent and kind of change; -1 if the log has no status codes.
type statusKey struct {
	agent  uint16
	change engine.Change
	status int64
}

// A dayKey is a day in UTC, in days since 1970-01-01, with its agent and kind of change.
type dayKey struct {
	agent  uint16
	change engine.Change
	day    int32
}

// Keys for the families, origins, rules and days that do not fit in their tables: they are counted together.
const (
	otherText = "(others)"
	otherLine = -1
	otherDay  = math.MinInt32
)

// A blamed is a rule that caused changes.
type blamed struct {
	rule   robots.Rule
	origin string // the first origin at which the rule closed or opened a URL
	others bool   // there are other such origins
	top    Top[Decider]
}

// A Decider identifies what decided a verdict: a rule, or a reason without a rule.
type Decider struct {
	Line   int    // 0 without a rule
	Rule   string // the value of the column "rule"; "" without a rule
	Reason engine.Reason
}

// NewChanges returns a sink for a run with two stores, which must outlive the sink.
func NewChanges(now, old *engine.Store, opt ChangesOptions) *Changes {
	memory := cmp.Or(max(0, opt.Memory), DefaultMemory)
	keys := int(memory / keyPart / keyBytes)
	c := &Changes{
		now: now.NewLookup(), old: old.NewLookup(), agents: now.Options().Agents,
		byRow: now.Options().RowTimes || old.Options().RowTimes, fromLog: now.Options().LogAgents != engine.LogAgentsOff,
		status:  opt.Status - 1,
		urls:    NewURLs(memory, opt.TempDir),
		several: now.NumSites() > 1 || old.NumSites() > 1,
		blamed:  map[Group]*blamed{}, site: engine.NoSite,
	}
	c.grow(len(c.agents))
	if c.fromLog {
		c.list = engine.NewAgentList(c.now, c.old, maxNamed)
	}
	c.rules, c.statuses = NewTable[ruleKey](c.urls, keys/8), NewTable[statusKey](c.urls, keys/4)
	c.days = NewTable[dayKey](c.urls, keys/8)
	c.families, c.origins = NewTable[textKey](c.urls, keys/4), NewTable[textKey](c.urls, keys/4)
	return c
}

// maxNamed is the maximum number of crawlers that are counted separately although only a robots.txt names them.
const maxNamed = 1024

// grow makes room for so many agents.
func (c *Changes) grow(agents int) {
	for len(c.same) < agents {
		for range engine.NumChanges {
			c.totals = append(c.totals, c.urls.NewGroup())
		}
		c.same, c.last = append(c.same, 0), append(c.last, lastGroups{})
	}
}

// Close does nothing.
func (c *Changes) Close() error { return nil }

// CloseTemp removes the temporary file. Further calls do nothing.
func (c *Changes) CloseTemp() { c.urls.Close() }

// Write counts a batch.
func (c *Changes) Write(b *engine.Batch) error {
	c.now.Use(b)
	c.old.Use(b.Old)
	c.site = engine.NoSite // the remembered site belongs to another batch
	agents, together := len(c.agents), !c.byRow && !c.fromLog
	if c.fromLog {
		agents = 1
	}
	for i, site := range b.Sites {
		if site == engine.NoSite {
			c.bad++
			continue
		}
		changes := b.Changes[i*agents:][:agents]
		if together && isSame(changes) {
			c.sameAll++
			continue
		}
		url := b.URL(i)
		hash := Hash(url)
		for a, change := range changes {
			agent := a
			if c.fromLog {
				agent = c.list.Number(b, i)
				c.grow(agent + 1)
			}
			if change == engine.Same {
				c.same[agent]++
			} else if err := c.count(b, row{i, i*agents + a, uint16(agent), change, url, hash}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lastGroups are the groups of an agent's last changed row. Consecutive rows often have the same groups.
type lastGroups struct {
	rule    ruleKey
	ofRule  Group
	blamed  *blamed // nil before the first row
	family  textKey
	inGroup Group // of the family
	origin  textKey
	atGroup Group // of the origin
	day     dayKey
	onGroup Group // of the day
}

// isSame reports whether nothing changed.
func isSame(changes []engine.Change) bool {
	for _, change := range changes {
		if change != engine.Same {
			return false
		}
	}
	return true
}

// A row is a verdict that changed.
type row struct {
	url     int // of the batch
	verdict int
	agent   uint16
	change  engine.Change
	text    []byte
	hash    uint64
}

// count counts a verdict that changed.
func (c *Changes) count(b *engine.Batch, r row) error {
	if site := b.Sites[r.url]; site != c.site {
		c.site, c.origin = site, c.originOf(b, site)
	}
	known := c.blame(b, r)
	var also Also
	if family := Family(r.text[prefixLen(r.text):]); string(family) != c.family {
		c.family = string(family)
	}
	last, others := &c.last[r.agent], textKey{r.agent, r.change, otherText}
	if key := (textKey{r.agent, r.change, c.family}); last.family != key {
		last.family, last.inGroup = key, c.families.GroupOr(key, others)
	}
	also[0] = last.inGroup
	if c.several {
		if key := (textKey{r.agent, r.change, c.origin}); last.origin != key {
			last.origin, last.atGroup = key, c.origins.GroupOr(key, others)
		}
		also[1] = last.atGroup
	}
	of, also := c.last[r.agent].ofRule, also
	if c.byRow { // different rules may close the same URL at different times
		if _, err := c.urls.Add(c.totals[int(r.agent)*int(engine.NumChanges)+int(r.change)], r.hash, also); err != nil {
			return err
		}
		also = Also{}
	}
	requests, err := c.urls.Add(of, r.hash, also)
	if err != nil {
		return err
	}
	known.top.Offer(r.text, r.hash, requests, func() Decider {
		if oldIsToBlame(b, r) {
			return decider(c.now, b, r, b.Verdicts[r.verdict])
		}
		return decider(c.old, b.Old, r, b.Old.Verdicts[r.verdict])
	})
	if len(b.Times) > 0 && b.Times[r.url] != engine.NoTime {
		// Count the request on its day, but not its URL: a URL may be requested on several days, and would take
		// memory for each.
		last := &c.last[r.agent]
		micros := b.Times[r.url]
		const day = int64(24 * time.Hour / time.Microsecond)
		n := micros / day // at most 107 million
		if micros%day < 0 {
			n--
		}
		key := dayKey{r.agent, r.change, int32(n)}
		if last.onGroup == 0 || last.day != key {
			last.day, last.onGroup = key, c.days.GroupOr(key, dayKey{key.agent, key.change, otherDay})
		}
		c.urls.AddRequest(last.onGroup)
	}
	if c.status >= 0 {
		key := statusKey{r.agent, r.change, -1}
		if k := &b.Kept[c.status]; k.Present[r.url] {
			key.status = k.Ints[r.url]
		}
		_, err = c.urls.Add(c.statuses.GroupOr(key, statusKey{r.agent, r.change, -1}), r.hash, Also{})
	}
	return err
}

// originOf returns the name of a site.
func (c *Changes) originOf(b *engine.Batch, site engine.SiteID) string {
	if n, stray := site.Stray(); stray {
		return string(b.Strays[n])
	}
	return string(c.now.Origin(site))
}

// blame returns the cause of a change, and sets its group in the agent's lastGroups. The cause is the rule of the new
// store or, if there is none, the old rule that no longer decides. If no rule decides, or if a missing robots.txt
// closes a URL, the cause is the reason of the verdict.
func (c *Changes) blame(b *engine.Batch, r row) *blamed {
	is, was := b.Verdicts[r.verdict], b.Old.Verdicts[r.verdict]
	key := ruleKey{agent: r.agent, change: r.change, reason: is.Reason, ruling: b.Rulings[r.url]}
	var rule robots.Rule
	switch {
	case is.Rule != engine.NoRule:
		rule = c.now.Rule(b.Rulings[r.url], agentIn(b, r), is.Rule)
	case oldIsToBlame(b, r):
		key.old, key.reason, key.ruling = true, was.Reason, b.Old.Rulings[r.url]
		if was.Rule != engine.NoRule {
			rule = c.old.Rule(b.Old.Rulings[r.url], agentIn(b.Old, r), was.Rule)
		}
	}
	if key.line = rule.Line; key.line == 0 {
		key.ruling = 0 // a reason is the same for all origins
	}
	last := &c.last[r.agent]
	if last.blamed == nil || last.rule != key {
		g := c.rules.GroupOr(key, ruleKey{agent: r.agent, change: r.change, line: otherLine})
		known := c.blamed[g]
		if known == nil {
			known = &blamed{rule: rule, origin: c.origin}
			known.rule.Value = strings.Clone(rule.Value)
			c.blamed[g] = known
		}
		last.rule, last.ofRule, last.blamed = key, g, known
	}
	last.blamed.others = last.blamed.others || last.blamed.origin != c.origin
	return last.blamed
}

// oldIsToBlame reports whether the old verdict is the cause of a change.
func oldIsToBlame(b *engine.Batch, r row) bool {
	if b.Verdicts[r.verdict].Rule != engine.NoRule || r.change == engine.Closed {
		return false
	}
	return r.change == engine.Opened || b.Old.Verdicts[r.verdict].Rule != engine.NoRule
}

// agentIn returns the number of the agent of a row of a batch, for use with a Lookup.
func agentIn(b *engine.Batch, r row) int {
	if len(b.Agents) > 0 {
		return int(b.Agents[r.url])
	}
	return int(r.agent)
}

// decider returns what decided a verdict.
func decider(lookup *engine.Lookup, b *engine.Batch, r row, v engine.Verdict) Decider {
	d := Decider{Reason: v.Reason}
	if v.Rule != engine.NoRule {
		rule := lookup.Rule(b.Rulings[r.url], agentIn(b, r), v.Rule)
		d.Line, d.Rule = int(rule.Line), strings.Clone(rule.String())
	}
	return d
}

// prefixLen returns the offset of the path in a URL with a valid origin.
func prefixLen(url []byte) int {
	u, err := robots.SplitURL(url)
	if err != nil {
		return len(url)
	}
	return len(u.Prefix)
}

// maxFamily is the maximum length of a family in bytes.
const maxFamily = 128

// Family returns the family of a path: its first two directories, or fewer if it has fewer. The family of
// "/es/docs/x?page=1" is "/es/docs/".
func Family(path []byte) []byte {
	if i := bytes.IndexAny(path, "?#;"); i >= 0 {
		path = path[:i]
	}
	end := 0
	for range 3 {
		i := bytes.IndexByte(path[end:], '/')
		if i < 0 {
			break
		}
		end += i + 1
	}
	if end == 0 {
		return []byte("/")
	}
	return path[:min(end, maxFamily)]
}

// FirstOf returns the first directory of a family: "/es/" for "/es/docs/".
func FirstOf(family string) string {
	if len(family) > 1 {
		if i := strings.IndexByte(family[1:], '/'); i >= 0 {
			return family[:i+2]
		}
	}
	return family
}

// A ChangeCount counts the requests and URLs of a kind of change.
type ChangeCount struct {
	Requests int64
	URLs     int64 // distinct URLs; 0 for engine.Same
}

// A ChangesReport has the counts of Changes.
type ChangesReport struct {
	Agents []AgentChanges // in the order of the store; for agents from the log, only those that made requests
	Bad    int64          // rows with an invalid URL, which no other number includes
}

// AgentChanges are the changes for an agent.
type AgentChanges struct {
	Agent    string
	Requests int64 // all of them
	Counts   [engine.NumChanges]ChangeCount
	Of       [engine.NumChanges]ChangeDetails
}

// ChangeDetails are the causes of a kind of change, and where it occurred. Each list is sorted by requests, most
// first.
type ChangeDetails struct {
	Rules       []BlamedRule
	Families    []Part // by Family
	Directories []Part // by the first directory of the families
	Origins     []Part
	Statuses    []StatusPart
	Days        []DayPart // the latest, in chronological order

	// Numbers of keys that are not in the lists, or that were counted together because the tables were full:
	MoreRules, MoreFamilies, MoreDirectories, MoreOrigins, MoreDays int
}

// A Part is the part of a change that belongs to one origin, or to one family of paths.
type Part struct {
	Text string
	ChangeCount
}

// A StatusPart is the part of a change that belongs to one status code; -1 means that the log has no status codes.
type StatusPart struct {
	Status int64
	ChangeCount
}

// A DayPart is the number of requests of a change on one day, in UTC.
type DayPart struct {
	Day      time.Time
	Requests int64
}

// A BlamedRule is the cause of a change: a rule, or a reason without a rule.
type BlamedRule struct {
	Decider
	Old    bool   // whether the rule belongs to the old store, because no rule of the new store decides
	Origin string // the first origin in the log at which it changed a verdict
	Others bool   // several origins have this text
	ChangeCount
	Examples []Example[Decider] // their data is what decided in the other store: in the new one if Old is set, otherwise in the old one
}

// Finish counts the URLs on disk. Call it after all batches and before Report. The error is about the temporary file.
func (c *Changes) Finish() error {
	requests := map[PairKey]int64{}
	if c.urls.Spilled() {
		for g, of := range c.blamed {
			for i := range of.top.all {
				requests[KeyOf(g, of.top.all[i].hash)] = 0
			}
		}
	}
	if err := c.urls.Finish(requests); err != nil || len(requests) == 0 {
		return err
	}
	for g, of := range c.blamed {
		of.top.setRequests(requests, g)
	}
	return nil
}

// Report returns the counts. Call it after Finish. Each list has at most the given number of rules, families or
// origins per agent and kind of change.
func (c *Changes) Report(most int) *ChangesReport {
	r := &ChangesReport{Bad: c.bad}
	names := c.agents
	if c.fromLog {
		names = c.list.Names()
		c.grow(len(names))
	}
	at, totals := make([]int, len(names)), c.sums()
	for a, name := range names {
		agent := AgentChanges{Agent: name}
		for change := engine.OtherRule; change < engine.NumChanges; change++ {
			agent.Counts[change] = totals[a*int(engine.NumChanges)+int(change)]
			agent.Requests += agent.Counts[change].Requests
		}
		agent.Counts[engine.Same].Requests = c.same[a] + c.sameAll
		agent.Requests += agent.Counts[engine.Same].Requests
		if at[a] = -1; agent.Requests > 0 || !c.fromLog {
			at[a] = len(r.Agents)
			r.Agents = append(r.Agents, agent)
		}
	}
	details := func(agent uint16, change engine.Change) *ChangeDetails { return &r.Agents[at[agent]].Of[change] }
	// Add the rules and reasons to blame.
	for _, row := range c.rules.Rows(c.compareRules) {
		d := details(row.Key.agent, row.Key.change)
		if len(d.Rules) == most || row.Key.line == otherLine {
			d.MoreRules++
			continue
		}
		of := c.blamed[row.Group]
		blamed := BlamedRule{
			Decider: Decider{Line: int(row.Key.line), Reason: row.Key.reason}, Old: row.Key.old, Origin: of.origin, Others: of.others,
			ChangeCount: ChangeCount{row.Requests, row.URLs}, Examples: of.top.Examples(),
		}
		if blamed.Line > 0 {
			blamed.Rule = of.rule.String()
		}
		d.Rules = append(d.Rules, blamed)
	}
	reportTexts(c.families, most, func(k textKey) (*[]Part, *int) {
		d := details(k.agent, k.change)
		return &d.Families, &d.MoreFamilies
	})
	c.reportDirectories(details, most)
	reportTexts(c.origins, most, func(k textKey) (*[]Part, *int) {
		d := details(k.agent, k.change)
		return &d.Origins, &d.MoreOrigins
	})
	for _, row := range c.statuses.Rows(func(a, b statusKey) int { return cmp.Compare(a.status, b.status) }) {
		d := details(row.Key.agent, row.Key.change)
		d.Statuses = append(d.Statuses, StatusPart{row.Key.status, ChangeCount{row.Requests, row.URLs}})
	}
	// Add the latest days.
	rows := c.days.Rows(func(dayKey, dayKey) int { return 0 })
	slices.SortFunc(rows, func(a, b Row[dayKey]) int { return cmp.Compare(b.Key.day, a.Key.day) })
	for _, row := range rows {
		d := details(row.Key.agent, row.Key.change)
		if len(d.Days) == most || row.Key.day == otherDay {
			d.MoreDays++
			continue
		}
		d.Days = slices.Insert(d.Days, 0, DayPart{time.Unix(0, 0).UTC().AddDate(0, 0, int(row.Key.day)), row.Requests})
	}
	return r
}

// sums returns the counts by agent and change.
func (c *Changes) sums() []ChangeCount {
	sums := make([]ChangeCount, len(c.totals))
	if c.byRow {
		for i, g := range c.totals {
			sums[i] = ChangeCount{c.urls.Requests(g), c.urls.Distinct(g)}
		}
		return sums
	}
	for _, row := range c.rules.Rows(c.compareRules) {
		sum := &sums[int(row.Key.agent)*int(engine.NumChanges)+int(row.Key.change)]
		sum.Requests += row.Requests
		sum.URLs += row.URLs
	}
	return sums
}

// compareRules orders rules by agent, origin and line.
func (c *Changes) compareRules(a, b ruleKey) int {
	x, y := c.blamed[c.rules.groups[a]], c.blamed[c.rules.groups[b]]
	return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(x.origin, y.origin), cmp.Compare(a.line, b.line),
		cmp.Compare(a.reason, b.reason), cmp.Compare(a.ruling, b.ruling), cmp.Compare(a.change, b.change))
}

// reportDirectories sums the families of each first directory.
func (c *Changes) reportDirectories(details func(agent uint16, change engine.Change) *ChangeDetails, most int) {
	sums := map[textKey]*Part{}
	var keys []textKey
	for _, row := range c.families.Rows(func(a, b textKey) int { return strings.Compare(a.text, b.text) }) {
		key := row.Key
		key.text = FirstOf(key.text)
		sum := sums[key]
		if sum == nil {
			sum = &Part{Text: key.text}
			sums[key], keys = sum, append(keys, key)
		}
		sum.Requests += row.Requests
		sum.URLs += row.URLs
	}
	slices.SortStableFunc(keys, func(a, b textKey) int {
		return cmp.Or(cmp.Compare(sums[b].Requests, sums[a].Requests), strings.Compare(a.text, b.text))
	})
	for _, key := range keys {
		if d := details(key.agent, key.change); len(d.Directories) < most {
			d.Directories = append(d.Directories, *sums[key])
		} else {
			d.MoreDirectories++
		}
	}
}

// reportTexts appends the entries of a table to the lists of their agents and kinds of change.
func reportTexts(t *Table[textKey], most int, list func(textKey) (parts *[]Part, more *int)) {
	for _, row := range t.Rows(func(a, b textKey) int { return strings.Compare(a.text, b.text) }) {
		parts, more := list(row.Key)
		if len(*parts) == most {
			*more++
			continue
		}
		*parts = append(*parts, Part{row.Key.text, ChangeCount{row.Requests, row.URLs}})
	}
}
