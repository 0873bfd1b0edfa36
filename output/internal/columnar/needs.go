package columnar

import (
	"errors"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Needs list the needs of a column besides the verdicts of a batch, or of all columns of a table, its
// partitions and the rows that are written.
type Needs struct {
	Directives []robots.Directive // [engine.StoreOptions].Directives has these
	LogAgents  bool               // [engine.StoreOptions].LogAgents is not off
	Ranges     bool               // [engine.StoreOptions].Ranges is not nil
	Sitemaps   bool               // [engine.StoreOptions].Sitemaps is not nil
	Times      bool               // the rows have times, see [engine.Batch].Times
}

// AddNeeds adds the needs of another column.
func (n *Needs) AddNeeds(more Needs) {
	for _, d := range more.Directives {
		if !slices.Contains(n.Directives, d) {
			n.Directives = append(n.Directives, d)
		}
	}
	n.LogAgents, n.Ranges, n.Times = n.LogAgents || more.LogAgents, n.Ranges || more.Ranges, n.Times || more.Times
	n.Sitemaps = n.Sitemaps || more.Sitemaps
}

// NeedsOf returns all needs of the columns and partitions of these names. Names that are none need
// nothing.
func NeedsOf(names ...string) (n Needs) {
	for _, name := range names {
		if s := Lookup(name); s != nil {
			n.AddNeeds(s.needs)
		}
	}
	return n
}

// ErrDirectives is the error of a column of a directive whose lines the store does not keep.
var ErrDirectives = errors.New("the store was built without the directives of the columns")

// ErrLogAgents is the error of a column about the crawlers of the log, without them.
var ErrLogAgents = errors.New("the store was built for agents that do not come from the log")

// ErrRanges is the error of a column about who the crawlers of the log were, without lists of their addresses.
var ErrRanges = errors.New("the store was built without lists of addresses")

// ErrSitemaps is the error of a column about sitemaps, without them.
var ErrSitemaps = errors.New("the store was built without sitemaps")

// Check returns an ErrDirectives, ErrLogAgents, ErrRanges or ErrSitemaps if a store does not meet the needs.
func (n Needs) Check(store engine.StoreOptions) error {
	for _, d := range n.Directives {
		if !slices.Contains(store.Directives, d) {
			return ErrDirectives
		}
	}
	if n.LogAgents && store.LogAgents == engine.LogAgentsOff {
		return ErrLogAgents
	}
	if n.Ranges && store.Ranges == nil {
		return ErrRanges
	}
	if n.Sitemaps && store.Sitemaps == nil {
		return ErrSitemaps
	}
	return nil
}
