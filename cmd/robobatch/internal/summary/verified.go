package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
)

// Verified splits the rows of crawlers by whether they came from them, with -ranges or -hosts. The parts add up to
// all rows.
type Verified struct {
	Yes         Clients `json:"yes"`
	No          Clients `json:"no"` // impostors
	Unpublished Clients `json:"unpublished"`
	Stale       Clients `json:"stale"`
	NoAddress   Clients `json:"no_address"` // or none that a client on the internet has
}

// verifiedOf returns the counts of an agent, nil without lists, and for clients that are no crawler.
func verifiedOf(store *engine.Store, a *engine.NamedCount) *Verified {
	if store.Options().Ranges == nil || a.Name == "*" {
		return nil
	}
	of := func(answer ranges.Answer) Clients { return Clients{a.Verified[answer].Rows, a.Verified[answer].Denied} }
	return &Verified{Yes: of(ranges.Yes), No: of(ranges.No), Unpublished: of(ranges.Unpublished), Stale: of(ranges.Stale), NoAddress: of(ranges.Null)}
}

// addVerified adds other counts, if there are any.
func (v *Verified) addVerified(o *Verified) *Verified {
	if v == nil || o == nil {
		return cmp.Or(v, o)
	}
	sum := *v
	for i, part := range sum.parts() {
		part.join(o.parts()[i])
	}
	return &sum
}

// parts returns the counts in their order.
func (v *Verified) parts() []*Clients {
	return []*Clients{&v.Yes, &v.No, &v.Unpublished, &v.Stale, &v.NoAddress}
}

// rows returns the sum of all rows.
func (v *Verified) rows() (n int64) {
	for _, part := range v.parts() {
		n += part.Rows
	}
	return n
}

// String returns the parts that have rows: "yes 3, impostors 2".
func (v *Verified) String() string {
	var list []string
	for i, name := range [...]string{"verified", "impostors", "unpublished", "stale", "no address"} {
		if n := v.parts()[i].Rows; n > 0 {
			list = append(list, name+" "+say.Number(n))
		}
	}
	return strings.Join(list, ", ")
}

// Ranges are the lists of addresses by which crawlers are verified.
type Ranges struct {
	Lists  int    `json:"lists"`
	Oldest string `json:"oldest,omitempty"` // day of a list; "" if none has a time
	Newest string `json:"newest,omitempty"`
}

// rangesOf returns the lists of a store, nil if it has none.
func rangesOf(store *engine.Store) *Ranges {
	lists := store.Options().Ranges
	if lists == nil {
		return nil
	}
	r := &Ranges{Lists: lists.Len()}
	if oldest, newest, ok := lists.Span(); ok {
		r.Oldest, r.Newest = oldest.Format("2006-01-02"), newest.Format("2006-01-02")
	}
	return r
}

// days returns the days of the lists: "2026-08-15", "2026-04-12 to 2026-08-15".
func (r *Ranges) days() string {
	if r.Oldest == r.Newest {
		return r.Newest
	}
	return r.Oldest + " to " + r.Newest
}

// Impostors says how many requests of crawlers were not theirs, for a command that counts them all the same; "" if
// there are none.
func (r *Report) Impostors() string {
	all := r.allVerified()
	if all == nil || all.No.Rows == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s of crawlers did not come from the crawler's addresses, and count all the same; robobatch -where impostors lists them",
		say.Number(all.No.Rows), say.Count(all.rows(), "request"))
}

// allVerified returns the counts of all crawlers, nil without lists.
func (r *Report) allVerified() (all *Verified) {
	for _, a := range r.ByAgent {
		all = all.addVerified(a.Verified)
	}
	return all
}

// verified returns the lines about who came, and the crawlers with most impostors.
func (r *Report) verified() (t table) {
	all := r.allVerified()
	if all == nil {
		return nil
	}
	took := func(c *Clients) string { return say.Number(c.Disallowed) + " disallowed: " }
	stale := "too far from the lists"
	if r.Ranges != nil && r.Ranges.Newest != "" {
		stale = "lists are of " + r.Ranges.days()
	}
	none := "none of the internet"
	if r.local > 0 {
		none += ", " + say.Number(r.local) + " of loopback"
	}
	t = table{
		{"verified", say.Number(all.Yes.Rows), "of " + say.Count(all.rows(), "request") + " of crawlers, " + say.Number(all.Yes.Disallowed) + " disallowed", true},
		{"impostors", say.Number(all.No.Rows), took(&all.No) + "not from the crawler's addresses", true},
		{"unpublished", say.Number(all.Unpublished.Rows), took(&all.Unpublished) + "no list speaks for the crawler", all.Unpublished.Rows > 0},
		{"stale", say.Number(all.Stale.Rows), took(&all.Stale) + stale, all.Stale.Rows > 0},
		{"no address", say.Number(all.NoAddress.Rows), took(&all.NoAddress) + none, all.NoAddress.Rows > 0},
	}
	agents := slices.DeleteFunc(slices.Clone(r.ByAgent), func(a AgentCount) bool { return a.Verified == nil || a.Verified.No.Rows == 0 })
	slices.SortStableFunc(agents, func(a, b AgentCount) int { return cmp.Compare(b.Verified.No.Rows, a.Verified.No.Rows) })
	for _, a := range agents[:min(shortAgents, len(agents))] {
		t = append(t, line{"as " + a.Agent, say.Number(a.Verified.No.Rows), "impostors of " + say.Count(a.Rows, "request"), true})
	}
	return t
}
