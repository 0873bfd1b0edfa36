package rules

import (
	"sync/atomic"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// An inMemory is a Store that keeps all rules in memory, except rules of agents that only a robots.txt names, see
// named.
type inMemory struct {
	origins []robots.Origin              // by site
	sites   map[robots.Origin]uint32     //
	ids     []RulingID                   // by site
	periods [][]Period                   // by site; nil if no site has any, see Reader.Periods
	newest  []int64                      // by site, see Reader.Newest
	leads   map[uint32][]robots.Redirect // by site, see Store.Redirects
	rulings []*Ruling                    // by RulingID; nil if it is never in force
	common  []*Set                       // by RulingID, see Store.Common
	keys    []captures.Key               // by text
	odd     Odd
	tokens  *Tokens // nil if they are not needed

	inForce int
	hash    string
	memory  Memory
	failure *failure
}

// A failure is the first error of a Store, or nil. It is safe for concurrent use.
type failure struct{ first atomic.Pointer[error] }

func (f *failure) keepFirst(err error) { f.first.CompareAndSwap(nil, &err) }

func (f *failure) err() error {
	if err := f.first.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *inMemory) NumSites() int     { return len(s.origins) }
func (s *inMemory) InForce() int      { return s.inForce }
func (s *inMemory) Hash() string      { return s.hash }
func (s *inMemory) Memory() Memory    { return s.memory }
func (*inMemory) Enough() int64       { return 0 }
func (s *inMemory) Common() []*Set    { return s.common }
func (s *inMemory) Odd() Odd          { return s.odd }
func (s *inMemory) Texts() int        { return len(s.keys) }
func (s *inMemory) Reader(int) Reader { return s }
func (s *inMemory) Budget(int) int64  { return 0 }
func (s *inMemory) Err() error        { return s.failure.err() }
func (s *inMemory) Close() error      { return nil }

func (s *inMemory) Key(text int) captures.Key { return s.keys[text] }

func (s *inMemory) Tokens() (all []robots.ProductToken, complete bool) {
	if s.tokens == nil {
		return nil, true
	}
	return s.tokens.List()
}

func (s *inMemory) Find(origin []byte) (site uint32, id RulingID, ok bool) {
	if site, ok = s.sites[robots.Origin(origin)]; ok {
		id = s.ids[site]
	}
	return site, id, ok
}

func (s *inMemory) Redirects() map[uint32][]robots.Redirect { return s.leads }

func (s *inMemory) Periods(site uint32) []Period {
	if s.periods == nil {
		return nil
	}
	return s.periods[site]
}

func (s *inMemory) Newest(site uint32) int64         { return s.newest[site] }
func (s *inMemory) Ruling(id RulingID) *Ruling       { return s.rulings[id] }
func (s *inMemory) Set(id RulingID, agent int) *Set  { return s.rulings[id].Set(agent) }
func (s *inMemory) Origin(site uint32) robots.Origin { return s.origins[site] }
