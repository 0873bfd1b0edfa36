package rules

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"

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
	b.opt.Fail = b.failure.keepFirst
	b.workers.start(cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0)), b.compile)
	readErr := b.readAll(responses)
	if err := errors.Join(readErr, b.workers.wait()); err != nil {
		return nil, err
	}
	return b.store()
}

// readAll adds all responses. The error is [captures.ErrTwoFiles] if an origin has two of unknown time.
func (b *builder) readAll(responses iter.Seq2[robots.Response, error]) error {
	for r, err := range responses {
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		if err := b.undated.Add(&r); err != nil {
			return err
		}
		b.addResponse(r)
	}
	return nil
}

// addResponse adds a response. If its text is new, a worker compiles it.
func (b *builder) addResponse(r robots.Response) {
	b.history.Add(r)
	b.caches = append(b.caches, CacheOf(&r))
	if !b.opt.Dialect.HasRules(&r) {
		b.text = append(b.text, -1)
		return
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

// compile compiles the text of a response.
func (b *builder) compile(j compileJob) (err error) {
	if j.text.ruling, err = CompileText(j.response.Body, &b.opt); err != nil {
		return fmt.Errorf("compile the rules of %s from %s: %w", j.response.Origin, j.response.Name, err)
	}
	return nil
}

// store returns the Store. Each origin is a site.
func (b *builder) store() (Store, error) {
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
	var periods []Period
	for site, o := range origins {
		s.sites[o] = uint32(site)
		if leads := b.opt.Moment.AppendRedirects(nil, b.history, o); len(leads) > 0 {
			if s.leads == nil {
				s.leads = map[uint32][]robots.Redirect{}
			}
			s.leads[uint32(site)] = leads
		}
		periods = b.opt.Moment.AppendPeriods(periods[:0], b.history, o, b.textOf, b.cacheOf)
		for _, p := range periods {
			if number, ok := p.ID.Text(); ok && s.rulings[p.ID] == nil {
				s.rulings[p.ID] = b.texts[number].ruling
				s.odd.Add(p.ID, b.texts[number].ruling.Odd)
				s.memory.Add(s.rulings[p.ID])
			}
		}
		id, kept := Settle(periods)
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
	return s, b.digest(s)
}

func (b *builder) textOf(capture int) int     { return b.text[capture] }
func (b *builder) cacheOf(capture int) uint32 { return b.caches[capture] }

// digest sets the Store's hash and its number of sites in force.
func (b *builder) digest(s *inMemory) error {
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
