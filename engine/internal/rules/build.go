package rules

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// A builder collects responses while workers compile their texts.
type builder struct {
	opt     Options
	history *robots.History
	undated captures.Undated
	numbers map[captures.Key]int // of texts
	texts   []*text
	text    []int    // by number of the capture: the number of its text
	caches  []uint32 // by number of the capture: see CacheOf
	workers compilers
	failure failure
}

// A text is a distinct robots.txt.
type text struct {
	key    captures.Key
	ruling *Ruling
}

// Build returns a Store that keeps all rules in memory. It parses and compiles the responses in parallel while it
// reads them, each distinct text once, and keeps no body. Then it determines which responses are in force for each
// origin. It stops at an error of the responses, [captures.ErrTwoFiles], or rules that are too large to compile;
// the error names the file.
func Build(responses iter.Seq2[robots.Response, error], opt Options) (Store, error) {
	b := &builder{
		opt:     opt,
		history: robots.NewHistory(opt.Dialect),
		undated: captures.Undated{},
		numbers: map[captures.Key]int{},
	}
	b.opt.Fail = func(err error) { b.failure.first.CompareAndSwap(nil, &err) }
	b.workers.start(cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0)), b.compile)
	readErr := b.read(responses)
	if err := errors.Join(readErr, b.workers.wait()); err != nil {
		return nil, err
	}
	return b.newStore()
}

// read adds all responses, and gives each distinct text to the workers once. It stops at the first error of the
// responses, or at [captures.ErrTwoFiles] if an origin has two files of unknown time.
func (b *builder) read(responses iter.Seq2[robots.Response, error]) error {
	for r, err := range responses {
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		if err := b.undated.Add(&r); err != nil {
			return err
		}
		b.history.Add(r)
		b.caches = append(b.caches, CacheOf(&r))
		if !b.opt.Dialect.HasRules(&r) {
			b.text = append(b.text, -1)
			continue
		}
		key := captures.KeyOf(r.Body)
		number, known := b.numbers[key]
		if !known {
			number = len(b.texts)
			b.numbers[key] = number
			b.texts = append(b.texts, &text{key: key})
			b.workers.addJob(compileJob{b.texts[number], r})
		}
		b.text = append(b.text, number)
	}
	return nil
}

// compile compiles the text of a response.
func (b *builder) compile(j compileJob) (err error) {
	if j.text.ruling, err = CompileText(j.response.Body, &b.opt); err != nil {
		return fmt.Errorf("compile the rules of %s from %s: %w", j.response.Origin, j.response.Name, err)
	}
	return nil
}

// newStore returns the Store of the responses read. Each origin is a site. All texts must have been compiled.
func (b *builder) newStore() (Store, error) {
	origins := b.history.Origins()
	s := &inMemory{
		origins: origins,
		sites:   make(map[robots.Origin]uint32, len(origins)),
		ids:     make([]RulingID, len(origins)),
		rulings: append(FixedRulings(len(b.opt.Agents)), make([]*Ruling, len(b.texts))...),
		tokens:  b.opt.Tokens,
		keys:    make([]captures.Key, len(b.texts)),
		failure: &b.failure,
	}
	b.opt.Misread.SetTexts(len(b.texts))
	for number, t := range b.texts {
		s.keys[number] = t.key
		b.opt.Misread.AddText(number, t.ruling.Misread)
	}
	textOf := func(capture int) int { return b.text[capture] }
	cacheOf := func(capture int) uint32 { return b.caches[capture] }
	var periods []Period
	for site, o := range origins {
		s.sites[o] = uint32(site)
		if leads := b.opt.Moment.AppendRedirects(nil, b.history, o); len(leads) > 0 {
			if s.leads == nil {
				s.leads = map[uint32][]robots.Redirect{}
			}
			s.leads[uint32(site)] = leads
		}
		periods = b.opt.Moment.AppendPeriods(periods[:0], b.history, o, textOf, cacheOf)
		for _, p := range periods {
			if number, ok := p.ID.Text(); ok && s.rulings[p.ID] == nil {
				s.rulings[p.ID] = b.texts[number].ruling
				s.odd.Add(p.ID, b.texts[number].ruling.Odd)
				s.memory.Add(s.rulings[p.ID])
			}
		}
		id, kept := SiteRuling(periods)
		if s.ids[site] = id; kept != nil {
			if s.periods == nil {
				s.periods, s.newest = make([][]Period, len(origins)), make([]int64, len(origins))
			}
			s.periods[site], s.newest[site] = kept, robots.Microseconds(b.history.NewestOf(o))
		}
	}
	s.common = make([]*Set, len(s.rulings))
	for id, r := range s.rulings {
		if r != nil {
			s.common[id] = r.Common()
		}
	}
	return s, b.setDigest(s)
}

// setDigest sets the hash of s and its number of sites in force. s must have its origins, RulingIDs and periods.
func (b *builder) setDigest(s *inMemory) error {
	d := NewDigest(b.opt.Moment, func(text int) (captures.Key, error) { return b.texts[text].key, nil })
	for _, o := range slices.Sorted(slices.Values(s.origins)) {
		site := s.sites[o]
		periods := []Period{{From: math.MinInt64, ID: s.ids[site]}}
		if s.ids[site] == Dated {
			periods = s.periods[site]
		}
		if err := d.Add(o, periods); err != nil {
			return err
		}
	}
	sum, inForce := d.Sum()
	s.hash, s.inForce = HashText(sum), inForce
	return nil
}

// A scratch is the working memory of Compile. It is reused, because most files are small.
type scratch struct {
	in      []automaton.Rule // the patterns to compile, in the order of the rules
	origin  []int32          // by pattern: the index of its rule
	offsets []uint32         // by rule: where its value is in Set.text
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxScratch is the number of patterns from which a scratch is not reused. Few files have more.
const maxScratch = 4096

// setPatterns sets in and origin to the patterns of the rules. A rule may have two, see [robots.Dialect.IndexPattern].
func (s *scratch) setPatterns(rules []robots.Rule, d robots.Dialect) {
	s.in, s.origin = s.in[:0], s.origin[:0]
	for i := range rules {
		r := &rules[i]
		s.in = append(s.in, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow, Uncounted: d.Uncounted(r.Pattern)})
		s.origin = append(s.origin, int32(i))
		if pattern, ok := d.IndexPattern(*r); ok {
			s.in = append(s.in, automaton.Rule{Pattern: pattern, Allow: true})
			s.origin = append(s.origin, int32(i))
		}
	}
}

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
