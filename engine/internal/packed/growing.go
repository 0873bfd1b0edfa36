package packed

import (
	"sync/atomic"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// A growing is a Store without a memory limit: loaded rules stay in memory. It is its own Reader.
type growing struct {
	*loader
	sites pointers[site]         // by number
	texts pointers[rules.Ruling] // by number
}

// pointers has one pointer per number; few of them may be set. It consists of parts that are allocated at their
// first use: the garbage collector scans each word, and a run on few URLs needs few of a million pointers.
type pointers[T any] []atomic.Pointer[[pointerPart]atomic.Pointer[T]]

const pointerPart = 256

func newPointers[T any](n int) pointers[T] { return make(pointers[T], (n+pointerPart-1)/pointerPart) }

// at returns the address of the pointer for a number, and allocates its part if necessary. It is safe for concurrent
// use.
func (p pointers[T]) at(number uint32) *atomic.Pointer[T] {
	part := p[number/pointerPart].Load()
	if part == nil {
		part = new([pointerPart]atomic.Pointer[T])
		if !p[number/pointerPart].CompareAndSwap(nil, part) {
			part = p[number/pointerPart].Load() // another goroutine was faster
		}
	}
	return &part[number%pointerPart]
}

func (g *growing) Reader(int) rules.Reader { return g }
func (*growing) Budget(int) int64          { return 0 }
func (g *growing) Close() error            { return g.file.Close() }

// site returns a site, and loads it at its first use. After an error it returns brokenSite, and tries again the next
// time.
func (g *growing) site(number uint32) *site {
	place := g.sites.at(number)
	s := place.Load()
	if s == nil {
		if s = g.loadSite(number, rules.NoRuling); s != brokenSite {
			place.Store(s)
		}
	}
	return s
}

// Find implements rules.Reader. It loads all sites whose hash is that of the origin, until it has found the origin.
func (g *growing) Find(origin []byte) (number uint32, id rules.RulingID, ok bool) {
	lo, hi := g.candidates(origin)
	for ; lo < hi; lo++ {
		if s := g.site(lo); string(s.origin) == string(origin) {
			return lo, s.id, true
		}
	}
	return 0, rules.NoRuling, false
}

func (g *growing) Periods(number uint32) []rules.Period { return g.site(number).periods }
func (g *growing) Newest(number uint32) int64           { return g.site(number).newest }
func (g *growing) Origin(number uint32) robots.Origin   { return g.site(number).origin }

func (g *growing) Set(id rules.RulingID, agent int) *rules.Set { return g.Ruling(id).Set(agent) }

// Ruling implements rules.Reader. It loads a text at its first use. If two goroutines load it at the same time, both
// use the one that was stored first. After an error it returns g.broken.
func (g *growing) Ruling(id rules.RulingID) *rules.Ruling {
	number, ok := id.Text()
	if !ok {
		return g.fixed[id]
	}
	place := g.texts.at(uint32(number))
	if r := place.Load(); r != nil {
		return r
	}
	r := g.loadText(number)
	if r != g.broken && !place.CompareAndSwap(nil, r) {
		r = place.Load() // another goroutine was faster
	}
	return r
}

// FindAll implements rules.AheadReader. It loads nothing, so it finds only sites that are loaded already. It finishes
// each kind of read for all origins before it starts the next.
func (g *growing) FindAll(origins [][]byte, found []rules.Found) {
	clear(found[:len(origins)])
	var numbers [rules.AheadRows]pack.Numbers
	if err := g.file.AllCandidates(pack.Site, origins, &numbers); err != nil {
		return // nothing is found; the Find of a row reports the error
	}
	var sites [rules.AheadRows]*site
	var firsts [rules.AheadRows]byte
	for i := range origins {
		if n := numbers[i]; n.Lo < n.Hi {
			sites[i] = g.sites.at(n.Lo).Load()
		}
	}
	for i, s := range sites[:len(origins)] {
		if s != nil {
			firsts[i] = s.origin[0]
		}
	}
	for i, origin := range origins {
		if s := sites[i]; s != nil && firsts[i] == origin[0] && string(s.origin) == string(origin) {
			found[i] = rules.Found{Site: numbers[i].Lo, ID: s.id, OK: true}
		}
	}
}

// Fetch implements rules.AheadReader. It does not load rulings: it reads those that are loaded already, and at most a
// few Sets of each.
func (g *growing) Fetch(ids []rules.RulingID) (sum byte) {
	var rulings [rules.AheadRows]*rules.Ruling
	n := 0
	for _, id := range ids {
		if number, ok := id.Text(); ok {
			if part := g.texts[uint32(number)/pointerPart].Load(); part != nil {
				if r := part[uint32(number)%pointerPart].Load(); r != nil {
					rulings[n] = r
					n++
				}
			}
		}
	}
	const most = 4 // sets of a text that are read; a text has more if it names many of the agents
	var sets [most * rules.AheadRows]*rules.Set
	m := 0
	for _, r := range rulings[:n] {
		if r.HasReadings() {
			sum++
		}
		for a, set := range r.Sets {
			if int(r.Firsts[a]) == a && m < len(sets) {
				sets[m] = set
				m++
			}
		}
	}
	for _, set := range sets[:m] {
		sum += set.Peek()
	}
	return sum
}
