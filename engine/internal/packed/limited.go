package packed

import (
	"strconv"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/singleflight"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A limited is a Store under a memory limit. It uses for rules what is left of the limit, but at least MinRoom. It
// remembers the ruling in force for each site, in 4 bytes, and keeps rules in a cache that drops them.
type limited struct {
	*loader
	ids   []atomic.Uint32 // by site: its RulingID, or NoRuling if it is not known yet
	cache Cache
	apart int64 // bytes of the limit for everything except rules
	room  int64 // bytes for rules: the rest of the limit, at least MinRoom

	loading singleflight.Group // of texts, each by one goroutine
}

// The shares of the memory for rules. The rest is for dropped rules that are not yet garbage-collected.
const (
	cachePart = 3.0 / 8 // the cache, with its queue
	batchPart = 1.0 / 8 // copies of names and rules that rows of all batches refer to
	readPart  = 1.0 / 8 // the rules that all workers used last
)

// fraction returns a part of a number of bytes: of is from 0 to 1.
func fraction(bytes int64, of float64) int64 { return int64(float64(bytes) * of) }

// noticedReloads is the number of repeated loads above which Enough recommends a higher limit. 20,000 repeated
// loads took 1 s of CPU time, with 18,100 texts of real rules.
const noticedReloads = 20_000

// Enough returns the limit whose cache holds all texts needed so far, or 0 if few of them were loaded repeatedly.
func (s *limited) Enough() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts, loads := int64(s.memory.Files), s.loads.Load()
	if loads-texts < noticedReloads {
		return 0
	}
	return s.apart + int64(float64(cacheFor(s.size))/cachePart) + 1
}

func (s *limited) Close() error {
	s.cache.Close()
	return s.file.Close()
}

// Budget returns the share of one batch.
func (s *limited) Budget(batches int) int64 { return fraction(s.room, batchPart) / int64(batches) }

// ruling returns the rules of a text from the cache, or loads them. If several goroutines need the text, one
// loads it for all. After an error it returns s.broken.
func (s *limited) ruling(number int) *rules.Ruling {
	if r, ok := s.cache.Get(uint64(number)); ok {
		return r
	}
	r, _, _ := s.loading.Do(strconv.Itoa(number), func() (any, error) {
		r := s.loadText(number)
		if r != s.broken {
			s.cache.Set(uint64(number), r, r.Size)
		}
		return r, nil
	})
	return r.(*rules.Ruling)
}

// cachedNamed returns the rules of a list of groups of a text, as a Ruling with one Set, from the cache or by
// r.LoadNamed. number is the number of the text, and r its Ruling. The key in the cache is beyond the keys of texts.
func (s *limited) cachedNamed(r *rules.Ruling, number, list int) *rules.Ruling {
	key := uint64(list+1)<<32 | uint64(number)
	if set, ok := s.cache.Get(key); ok {
		return set
	}
	set, _, _ := s.loading.Do(strconv.FormatUint(key, 10), func() (any, error) {
		set := rules.NewRuling([]*rules.Set{r.LoadNamed(list)})
		s.cache.Set(key, set, set.Size)
		return set, nil
	})
	return set.(*rules.Ruling)
}

// memoSize is the number of origins, and of rulings, that a limitedReader remembers.
const memoSize = 64

// A limitedReader remembers the sites and the rules that it returned recently, so that they are neither looked up
// again nor dropped during a streak of rows of one origin.
type limitedReader struct {
	*limited
	byName   [memoSize]*siteEntry // by hash of the origin; nil means empty
	byNumber [memoSize]*siteEntry
	rulings  [memoSize]rulingEntry
	size     int64 // bytes of the rules in rulings, which stay in memory whatever the limit
	most     int64 // maximum of size, unless a single ruling is larger
}

// A siteEntry is a remembered site.
type siteEntry struct {
	site
	number uint32
}

// A rulingEntry holds remembered rules.
type rulingEntry struct {
	id     rules.RulingID
	list   int           // list of groups of an agent that the text names; -1 means the agents of Options
	ruling *rules.Ruling // nil if the entry is empty; for a list it has one Set
}

// Reader returns a Reader that remembers at most its share of the memory.
func (s *limited) Reader(goroutines int) rules.Reader {
	return &limitedReader{limited: s, most: fraction(s.room, readPart) / int64(goroutines)}
}

// Find implements rules.Reader. If the origin is the last one of its slot, it is found without reading the pack.
func (m *limitedReader) Find(origin []byte) (number uint32, id rules.RulingID, ok bool) {
	slot := xxh3.Hash(origin) % memoSize
	if e := m.byName[slot]; e != nil && string(e.origin) == string(origin) {
		return e.number, e.id, true
	}
	lo, hi := m.candidates(origin)
	for ; lo < hi; lo++ {
		if e := m.rememberSite(lo); string(e.origin) == string(origin) {
			m.byName[slot] = e
			return lo, e.id, true
		}
	}
	return 0, rules.NoRuling, false
}

func (m *limitedReader) Periods(number uint32) []rules.Period { return m.site(number).periods }
func (m *limitedReader) Newest(number uint32) int64           { return m.site(number).newest }
func (m *limitedReader) Origin(number uint32) robots.Origin   { return m.site(number).origin }

func (m *limitedReader) site(number uint32) *siteEntry {
	if e := m.byNumber[number%memoSize]; e != nil && e.number == number {
		return e
	}
	return m.rememberSite(number)
}

// rememberSite reads a site, and remembers it by its number. It also stores its RulingID for all readers. After an
// error the site has no name.
func (m *limitedReader) rememberSite(number uint32) *siteEntry {
	id := rules.RulingID(m.ids[number].Load())
	e := &siteEntry{*m.loadSite(number, id), number}
	if e.origin != "" && id == rules.NoRuling {
		if id = e.id; e.periods != nil {
			id = rules.Dated // its periods must be found again, even if there is only one
		}
		m.ids[number].Store(uint32(id))
	}
	m.byNumber[number%memoSize] = e
	return e
}

// Ruling implements rules.Reader. It returns the last ruling of each slot even if the cache has dropped it.
func (m *limitedReader) Ruling(id rules.RulingID) *rules.Ruling {
	number, ok := id.Text()
	if !ok {
		return m.fixed[id]
	}
	e := &m.rulings[id%memoSize]
	if e.ruling == nil || e.id != id || e.list >= 0 {
		m.remember(e, rulingEntry{id, -1, m.ruling(number)})
	}
	return e.ruling
}

// Set implements rules.Reader, also for agents that only the text names. After an error it may return the Set of
// another agent.
func (m *limitedReader) Set(id rules.RulingID, agent int) *rules.Set {
	r := m.Ruling(id)
	if agent < len(r.Sets) {
		return r.Sets[agent]
	}
	list := r.List(agent)
	if list < 0 {
		return r.Sets[0] // after an error
	}
	e := &m.rulings[(uint64(id)+1+uint64(list))*0x9e3779b97f4a7c15>>58%memoSize]
	if e.ruling == nil || e.id != id || e.list != list {
		number, _ := id.Text()
		m.remember(e, rulingEntry{id, list, m.cachedNamed(r, number, list)})
	}
	return e.ruling.Sets[0]
}

// remember stores rules in an entry. If all entries then have more than m.most bytes, it empties the others.
func (m *limitedReader) remember(e *rulingEntry, next rulingEntry) {
	if e.ruling != nil {
		m.size -= e.ruling.Size
	}
	if m.size += next.ruling.Size; m.size > m.most {
		clear(m.rulings[:])
		m.size = next.ruling.Size
	}
	*e = next
}
