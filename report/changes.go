package report

import (
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// A changesView is the changes against the rules before.
type changesView struct {
	Total   changeView   // of all crawlers; it has no URLs
	Changed []changeView // for which something changed, those with the most first
	Same    int64        // crawlers without a change
	SameOf  int64        // their requests
	Rules   []blamed     // over all crawlers, if there are several
	Hidden  int64        // rules that are not shown
	AtLeast bool         // numbers of Rules may be too small, as lists of crawlers end
}

// A changeView is the changes for a crawler.
type changeView struct {
	Agent    string
	Requests int64
	Closed   aggregate.ChangeCount
	Opened   aggregate.ChangeCount
	Other    aggregate.ChangeCount
	Same     aggregate.ChangeCount
	Kinds    []changeKind
}

// A changeKind is the URLs that were closed, or those that were opened.
type changeKind struct {
	Kind  string
	Count aggregate.ChangeCount
	*aggregate.ChangeDetails
}

// A blamed is the changes by a rule for all crawlers together.
type blamed struct {
	blame
	Requests int64
	Crawlers int64
}

// A blame is the rule to blame for a kind of change.
type blame struct {
	Kind string
	aggregate.Decider
	Old    bool
	Origin string
	Others bool
}

// shownBlamed is how many rules the page has of those over all crawlers.
const shownBlamed = 100

// Left reports whether tables leave out rows.
func (v *changesView) Left() bool {
	return v.Hidden > 0 || v.AtLeast || slices.ContainsFunc(v.Changed, func(c changeView) bool {
		return slices.ContainsFunc(c.Kinds, func(k changeKind) bool { return k.MoreRules+k.MoreFamilies > 0 })
	})
}

// newChanges returns the changes, nil without rules before. The crawler of that name stands for clients that are no
// known crawlers; "" is none.
func newChanges(r *aggregate.ChangesReport, others string) *changesView {
	if r == nil {
		return nil
	}
	v := &changesView{}
	for i := range r.Agents {
		a := &r.Agents[i]
		one := newChange(a)
		if others != "" && a.Agent == others {
			one.Agent = otherClients
		}
		v.Total.addRequests(&one)
		if one.Closed.Requests+one.Opened.Requests+one.Other.Requests == 0 {
			v.Same++
			v.SameOf += one.Requests
			continue
		}
		v.Changed = append(v.Changed, one)
	}
	slices.SortStableFunc(v.Changed, func(a, b changeView) int {
		return cmp.Compare(b.Closed.Requests+b.Opened.Requests, a.Closed.Requests+a.Opened.Requests)
	})
	if len(v.Changed) > 1 {
		v.addRules()
	}
	return v
}

// newChange returns the changes for a crawler.
func newChange(a *aggregate.AgentChanges) changeView {
	v := changeView{
		Agent: a.Agent, Requests: a.Requests, Closed: a.Counts[engine.Closed], Opened: a.Counts[engine.Opened],
		Other: a.Counts[engine.OtherRule], Same: a.Counts[engine.Same],
	}
	for _, kind := range []engine.Change{engine.Closed, engine.Opened} {
		if a.Counts[kind].Requests > 0 {
			v.Kinds = append(v.Kinds, changeKind{kind.String(), a.Counts[kind], &a.Of[kind]})
		}
	}
	return v
}

// addRequests adds the requests of a crawler. Their URLs are not those of others, so they have no sum.
func (v *changeView) addRequests(a *changeView) {
	v.Requests += a.Requests
	v.Closed.Requests += a.Closed.Requests
	v.Opened.Requests += a.Opened.Requests
	v.Other.Requests += a.Other.Requests
	v.Same.Requests += a.Same.Requests
}

// addRules adds up the changes by rule over the crawlers.
func (v *changesView) addRules() {
	at := map[blame]int{}
	for i := range v.Changed {
		for _, kind := range v.Changed[i].Kinds {
			v.AtLeast = v.AtLeast || kind.MoreRules > 0
			for j := range kind.Rules {
				r := &kind.Rules[j]
				key := blame{kind.Kind, r.Decider, r.Old, r.Origin, r.Others}
				n, known := at[key]
				if !known {
					n = len(v.Rules)
					at[key], v.Rules = n, append(v.Rules, blamed{blame: key})
				}
				v.Rules[n].Requests += r.Requests
				v.Rules[n].Crawlers++
			}
		}
	}
	slices.SortStableFunc(v.Rules, func(a, b blamed) int { return cmp.Compare(b.Requests, a.Requests) })
	if len(v.Rules) > shownBlamed {
		v.Hidden = int64(len(v.Rules) - shownBlamed)
		v.Rules = v.Rules[:shownBlamed]
	}
}
