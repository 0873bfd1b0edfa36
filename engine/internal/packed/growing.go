package packed

import (
	"sync/atomic"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// A growing is a Store without a memory limit: loaded rules stay. It is its own Reader.
type growing struct {
	*loader
	sites []atomic.Pointer[site]         // by number
	texts []atomic.Pointer[rules.Ruling] // by number
}

func newGrowing(l *loader) *growing {
	return &growing{l, make([]atomic.Pointer[site], l.file.Sites()), make([]atomic.Pointer[rules.Ruling], l.file.Texts())}
}

func (g *growing) Reader(int) rules.Reader { return g }
func (*growing) Budget(int) int64          { return 0 }
func (g *growing) Close() error            { return g.file.Close() }

// site returns a site, which it loads at its first use.
func (g *growing) site(number uint32) *site {
	s := g.sites[number].Load()
	if s == nil {
		if s = g.loader.site(number, rules.NoRuling); s != brokenSite {
			g.sites[number].Store(s)
		}
	}
	return s
}

// Find implements rules.Store. It loads the sites that have the hash of the origin.
func (g *growing) Find(origin []byte) (number uint32, id rules.RulingID, ok bool) {
	lo, hi := g.file.Candidates(pack.Site, origin)
	for ; lo < hi; lo++ {
		if s := g.site(lo); string(s.origin) == string(origin) {
			return lo, s.id, true
		}
	}
	return 0, rules.NoRuling, false
}

func (g *growing) Periods(number uint32) []rules.Period { return g.site(number).periods }
func (g *growing) Origin(number uint32) robots.Origin   { return g.site(number).origin }

func (g *growing) Set(id rules.RulingID, agent int) *rules.Set { return g.Ruling(id).Set(agent) }

// Ruling implements rules.Store. It loads a text at its first use; of two goroutines that do, one
// wins.
func (g *growing) Ruling(id rules.RulingID) *rules.Ruling {
	number, ok := id.Text()
	if !ok {
		return g.fixed[id]
	}
	if r := g.texts[number].Load(); r != nil {
		return r
	}
	r := g.text(number)
	if r != g.broken && !g.texts[number].CompareAndSwap(nil, r) {
		r = g.texts[number].Load() // another goroutine was faster
	}
	return r
}
