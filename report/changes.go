package report

import (
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// A changesView compares the verdicts with those of the previous rules.
type changesView struct {
	Total   changeView   // sum over all crawlers, without URLs
	Changed []changeView // crawlers with changes, those with the most first
	Same    int64        // number of crawlers without a change
	SameOf  int64        // number of their requests
	Rules   []blamed     // over all crawlers, if there are several
	Hidden  int64        // number of rules that are not shown
	AtLeast bool         // whether the numbers of Rules are lower bounds, because the lists of some crawlers are truncated
}

// A changeView holds the changes for one crawler.
type changeView struct {
	Agent    string
	Requests int64
	Closed   aggregate.ChangeCount
	Opened   aggregate.ChangeCount
	Other    aggregate.ChangeCount
	Same     aggregate.ChangeCount
	Kinds    []changeKind
}

// A changeKind holds the URLs that were closed, or the URLs that were opened.
type changeKind struct {
	Kind  string
	Count aggregate.ChangeCount
	*aggregate.ChangeDetails
}

// A blamed holds the changes that one rule caused, summed over all crawlers.
type blamed struct {
	blame
	Requests int64
	Crawlers int64
}

// A blame identifies the rule that caused a kind of change.
type blame struct {
	Kind string
	aggregate.Decider
	Old    bool
	Origin string
	Others bool
}

// shownBlamed is the maximum number of rules that the page shows in the table for all crawlers.
const shownBlamed = 100

// Left reports whether tables omit rows.
func (v *changesView) Left() bool {
	return v.Hidden > 0 || v.AtLeast || slices.ContainsFunc(v.Changed, func(c changeView) bool {
		return slices.ContainsFunc(c.Kinds, func(k changeKind) bool { return k.MoreRules+k.MoreFamilies > 0 })
	})
}

// newChanges returns the changes; nil without previous rules. other is the name of the crawler that stands for
// unidentified clients; "" if there is none.
func newChanges(r *aggregate.ChangesReport, others string) *changesView {
	if r == nil {
		return nil
	}
	v := &changesView{}
	for i := range r.Agents {
		a := &r.Agents[i]
		one := changeView{
			Agent: a.Agent, Requests: a.Requests, Closed: a.Counts[engine.Closed], Opened: a.Counts[engine.Opened], Other: a.Counts[engine.OtherRule], Same: a.Counts[engine.Same],
		}
		if others != "" && a.Agent == others {
			one.Agent = otherClients
		}
		v.Total.addRequests(&one)
		if one.Closed.Requests+one.Opened.Requests+one.Other.Requests == 0 {
			v.Same++
			v.SameOf += one.Requests
			continue
		}
		for _, kind := range []engine.Change{engine.Closed, engine.Opened} {
			if a.Counts[kind].Requests > 0 {
				one.Kinds = append(one.Kinds, changeKind{kind.String(), a.Counts[kind], &a.Of[kind]})
			}
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

// addRequests adds the requests of a crawler. It does not add the distinct URLs, because crawlers share URLs.
func (v *changeView) addRequests(a *changeView) {
	v.Requests += a.Requests
	v.Closed.Requests += a.Closed.Requests
	v.Opened.Requests += a.Opened.Requests
	v.Other.Requests += a.Other.Requests
	v.Same.Requests += a.Same.Requests
}

// addRules sums the changes by rule over all crawlers.
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
