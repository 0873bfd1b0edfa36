package aggregate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// AnyUse is the Use of a [PreferenceChange] that counts requests with a changed preference for at least one use.
const AnyUse = robots.NumUses

// PreferenceChanges is an [engine.Sink] that counts changed preferences in a run by two stores, see
// [engine.Options].Old. For each agent and use, it counts the requests and distinct URLs, in total and by family of
// paths. Both stores must include the preferences. It is for one goroutine. Call CloseTemp in the end.
type PreferenceChanges struct {
	now, old *engine.Lookup
	agents   []string
	list     *engine.AgentList // if the agents come from the log; otherwise nil
	urls     *URLs
	kinds    *Table[preferenceKey]
	families *Table[preferenceKey]
}

// A preferenceKey is a change of a preference, in one family of paths or in total.
type preferenceKey struct {
	agent    uint16
	use      robots.Use
	from, to robots.Preference
	family   string // "" means all
}

// NewPreferenceChanges returns a sink for a run with two stores, which must outlive the sink. memory is the number of
// bytes for the URLs; 0 means DefaultMemory. The families take up to a quarter more. URLs that do not fit go to a
// temporary file in tempDir; "" means the default directory.
func NewPreferenceChanges(now, old *engine.Store, memory int64, tempDir string) *PreferenceChanges {
	memory = cmp.Or(max(0, memory), DefaultMemory)
	c := &PreferenceChanges{now: now.NewLookup(), old: old.NewLookup(), agents: now.Options().Agents, urls: NewURLs(memory, tempDir)}
	if now.Options().LogAgents != engine.LogAgentsOff {
		c.list = engine.NewAgentList(c.now, c.old, maxNamed)
	}
	most := int(memory / keyPart / keyBytes) // families; there are at most 19 changes for each agent
	c.kinds, c.families = NewTable[preferenceKey](c.urls, math.MaxInt), NewTable[preferenceKey](c.urls, most)
	return c
}

// Write counts a batch.
func (c *PreferenceChanges) Write(b *engine.Batch) error {
	if len(b.Preferences) == 0 || b.Old == nil || slices.Equal(b.Preferences, b.Old.Preferences) {
		return nil
	}
	c.now.Use(b)
	c.old.Use(b.Old)
	agents := len(b.Preferences) / b.Len()
	for i := range b.Preferences {
		p, was := &b.Preferences[i], &b.Old.Preferences[i]
		if *p == *was {
			continue
		}
		changed := false
		before, after := was.Uses(), p.Uses()
		for use := range robots.NumUses {
			from, to := before[use], after[use]
			if from == to {
				continue
			}
			changed = true
			if err := c.count(b, i/agents, i%agents, preferenceKey{use: use, from: from, to: to}); err != nil {
				return err
			}
		}
		if !changed {
			continue
		}
		if err := c.count(b, i/agents, i%agents, preferenceKey{use: AnyUse}); err != nil {
			return err
		}
	}
	return nil
}

// count counts a changed preference for the agent of a row.
func (c *PreferenceChanges) count(b *engine.Batch, row, agent int, key preferenceKey) error {
	if c.list != nil {
		agent = c.list.Number(b, row)
	}
	key.agent = uint16(agent)
	url := b.URL(row)
	all := c.kinds.GroupOr(key, key)
	key.family = string(Family(url[prefixLen(url):]))
	other := key
	other.family = otherText
	_, err := c.urls.Add(all, Hash(url), Also{c.families.GroupOr(key, other)})
	return err
}

// Finish counts the URLs on disk. Nothing may be written after it.
func (c *PreferenceChanges) Finish() error { return c.urls.Finish(nil) }

// CloseTemp removes the temporary file. Further calls do nothing.
func (c *PreferenceChanges) CloseTemp() { c.urls.Close() }

// Close does nothing.
func (c *PreferenceChanges) Close() error { return nil }

// A PreferenceChange is a change of an agent's preference for a use, and the number of requests that it affects. For
// AnyUse, From and To are empty, and each request counts once, even if several of its preferences changed.
type PreferenceChange struct {
	Agent    string
	Use      robots.Use
	From, To robots.Preference
	ChangeCount
	Families     []Part // the most requested first
	MoreFamilies int    // number of families that were omitted from the list
}

// Report returns the counts, ordered by agent, use, old value and new value, with at most the given number of
// families each. Call it after Finish.
func (c *PreferenceChanges) Report(most int) (all []PreferenceChange) {
	names := c.agents
	if c.list != nil {
		names = c.list.Names()
	}
	order := func(a, b preferenceKey) int {
		return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.use, b.use), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), strings.Compare(a.family, b.family))
	}
	rows := c.kinds.Rows(order)
	slices.SortFunc(rows, func(a, b Row[preferenceKey]) int { return order(a.Key, b.Key) })
	at := map[preferenceKey]int{}
	for _, row := range rows {
		k := row.Key
		at[k] = len(all)
		all = append(all, PreferenceChange{Agent: names[k.agent], Use: k.use, From: k.from, To: k.to, ChangeCount: ChangeCount{row.Requests, row.URLs}})
	}
	for _, row := range c.families.Rows(order) {
		key := row.Key
		key.family = ""
		if of := &all[at[key]]; len(of.Families) < most {
			of.Families = append(of.Families, Part{row.Key.family, ChangeCount{row.Requests, row.URLs}})
		} else {
			of.MoreFamilies++
		}
	}
	return all
}
