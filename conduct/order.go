package conduct

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/prefix"
	"github.com/robobatch/robobatch/internal/wire"
)

// writeRun writes all pairs to disk as a run, and empties the table and the strays: pairs and stray numbers are no
// longer valid. The last run also has all origins with requests.
func (j *Journal) writeRun(last bool) error {
	run, err := j.spill.Begin()
	if err != nil {
		return err
	}
	w := &runWriter{run: run}
	if err := j.sendPairs(w, last); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	run.End()
	t := &j.table
	clear(t.slots)
	t.pairs, t.arena = t.pairs[:0], t.arena[:0]
	s := &j.strays
	clear(s.numbers)
	clear(s.batch)
	s.names, s.size = nil, 0
	return nil
}

// An originPairs is an origin to send to a reader, with its pairs.
type originPairs struct {
	name   string
	origin uint32
	pairs  []uint32 // indices, in the order of the names of their crawlers
}

// sendPairs sends the origins of the table with their pairs to a reader, ordered by origin and crawler. If all is set,
// it also sends origins with requests but without pairs.
func (j *Journal) sendPairs(to reader, all bool) error {
	names := j.list.Names()
	ranks := make([]uint32, len(names)) // of crawlers, by name
	order := make([]uint32, len(names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(names[a], names[b]) })
	for rank, agent := range order {
		ranks[agent] = uint32(rank)
	}
	keys := make([]uint64, len(j.table.pairs))
	for i := range keys {
		p := &j.table.pairs[i]
		keys[i] = uint64(p.origin)<<32 | uint64(ranks[p.agent])
	}
	slices.Sort(keys)
	pairs := make([]uint32, len(keys))
	for i, key := range keys {
		pairs[i] = uint32(j.table.index(uint32(key>>32), order[uint32(key)]))
	}
	for _, t := range j.pairsByOrigin(pairs, all) {
		// Send an origin to a reader, and then its pairs.
		o := origin{name: t.name, first: NoTime, fetched: map[string]answersOf{}}
		if !isStray(t.origin) {
			s := &j.sites[t.origin]
			o.first = s.first
			j.spans = j.spans[:0]
			if s.isDated {
				j.spans = j.lookup.Periods(j.spans, engine.SiteID(t.origin), s.ruling)
			} else if s.isKnown {
				j.spans = append(j.spans, engine.Period{From: NoTime, ID: s.ruling})
			}
			o.periods = periodsOf(j.spans)
		}
		names := j.list.Names()
		for _, n := range t.pairs {
			p := &j.table.pairs[n]
			a := p.fetched
			for answer, requests := range p.answers {
				if ranges.Answer(answer) != ranges.No {
					a.requests += requests
				}
			}
			o.fetched[names[p.agent]] = a
		}
		if err := to.beginOrigin(&o); err != nil {
			return err
		}
		for _, n := range t.pairs {
			p := &j.table.pairs[n]
			if err := to.beginCrawler(names[p.agent]); err != nil {
				return err
			}
			if err := j.sendEvents(to, p); err != nil {
				return err
			}
			if err := to.endCrawler(&p.counts); err != nil {
				return err
			}
		}
	}
	return nil
}

// pairsByOrigin returns the origins to send, ordered by name, each with its pairs. pairs must be in order of origin;
// the result shares its memory. all is as in sendPairs.
func (j *Journal) pairsByOrigin(pairs []uint32, all bool) (list []originPairs) {
	for len(pairs) > 0 {
		id := j.table.pairs[pairs[0]].origin
		n := slices.IndexFunc(pairs, func(p uint32) bool { return j.table.pairs[p].origin != id })
		if n < 0 {
			n = len(pairs)
		}
		list = append(list, originPairs{j.nameOf(id), id, pairs[:n]})
		pairs = pairs[n:]
	}
	if all {
		have := make(map[uint32]bool, len(list))
		for i := range list {
			have[list[i].origin] = true
		}
		for id := range j.sites {
			if s := &j.sites[id]; (s.isKnown || s.first != NoTime) && !have[uint32(id)] { // its pairs are in another run
				list = append(list, originPairs{j.nameOf(uint32(id)), uint32(id), nil})
			}
		}
	}
	slices.SortFunc(list, func(a, b originPairs) int { return strings.Compare(a.name, b.name) })
	return list
}

// nameOf returns the name of an origin.
func (j *Journal) nameOf(id uint32) string {
	if isStray(id) {
		return j.strays.names[id&^strayBit]
	}
	return string(j.lookup.Origin(engine.SiteID(id)))
}

// sendEvents sends the events of a pair to a reader in order of time. If they are jumbled, it sorts them first, with a
// temporary file if there are many.
func (j *Journal) sendEvents(to reader, p *pair) error {
	if !p.jumbled {
		return j.eachEvent(p, to.addEvent)
	}
	s := &sorter{to: to, dir: j.opt.TempDir}
	defer s.close()
	err := j.eachEvent(p, func(e *event) error {
		if len(s.all) >= mostSorted {
			if err := s.write(); err != nil {
				return err
			}
		}
		s.all = append(s.all, *e) // its slices are parts of the series, which remains
		return nil
	})
	if err != nil {
		return err
	}
	// Send the events in order.
	if s.spill != nil {
		if err := s.write(); err != nil {
			return err
		}
		return merge(s.spill, &joiner{to: eventsOnly{s.to}, details: true})
	}
	s.sort()
	for i := range s.all {
		if err := s.to.addEvent(&s.all[i]); err != nil {
			return err
		}
	}
	return nil
}

// eachEvent calls tell for the events of a pair, in the order of the rows. An event is valid until it returns.
func (j *Journal) eachEvent(p *pair, tell func(*event) error) error {
	s := state{delay: noDelay}
	var e event
	for chunk := range j.table.chunks(p) {
		for len(chunk) > 0 {
			var err error
			if chunk, err = s.read(&e, chunk); err != nil {
				return err
			}
			if err := tell(&e); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostSorted is the maximum number of events of a pair that are sorted in memory, which takes some megabytes.
const mostSorted = 32 << 10

// A sorter sends the events of a pair in order. Events that exceed its memory go to a temporary file.
type sorter struct {
	to    reader
	dir   string
	all   []event
	spill *extsort.Spill // nil if all fit
}

// sort sorts the events in memory.
func (s *sorter) sort() {
	slices.SortFunc(s.all, func(a, b event) int { return a.compare(&b) })
}

// write writes the events in memory as a sorted run, and removes them from memory.
func (s *sorter) write() error {
	if s.spill == nil {
		s.spill = extsort.NewSpill(s.dir)
	}
	run, err := s.spill.Begin()
	if err != nil {
		return err
	}
	s.sort()
	w := &runWriter{run: run}
	if err := w.beginCrawler(""); err != nil {
		return err
	}
	for i := range s.all {
		if err := w.addEvent(&s.all[i]); err != nil {
			return err
		}
	}
	none := newCounts()
	if err := cmp.Or(w.endCrawler(&none), w.flush()); err != nil {
		return err
	}
	run.End()
	s.all = s.all[:0]
	return nil
}

// close removes the temporary file.
func (s *sorter) close() {
	if s.spill != nil {
		s.spill.Close()
	}
}

// runBlock is the approximate size of a block of a run in bytes, and pieceSize that of a piece.
const (
	runBlock  = 64 << 10
	pieceSize = 16 << 10
)

// A runWriter is a reader that writes everything that it receives as blocks of a run.
type runWriter struct {
	run   *extsort.Run
	block []byte
	last  []byte // origin, in this block

	name  string // of the origin in hand
	agent string
	from  int64
	state state
	piece []byte
	head  []byte // scratch
}

// writeItem adds an item of the current origin to the block, and writes the block if it is full. at is NoTime if the
// item has no event.
func (w *runWriter) writeItem(kind itemKind, agent string, at int64, payload []byte) error {
	shared := prefix.Shared(w.last, []byte(w.name))
	w.last = append(w.last[:shared], w.name[shared:]...)
	b := binary.AppendUvarint(w.block, uint64(shared))
	b = wire.AppendText(b, w.name[shared:])
	b = wire.AppendText(append(b, byte(kind)), agent)
	w.block = wire.AppendText(binary.AppendVarint(b, at), payload)
	if len(w.block) >= runBlock {
		return w.flush()
	}
	return nil
}

// flush writes the block, if it has an item, and begins an empty one.
func (w *runWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block, w.last = w.block[:0], w.last[:0]
	return err
}

// beginOrigin adds the facts about an origin, and the first responses of each of its crawlers.
func (w *runWriter) beginOrigin(o *origin) error {
	w.name = o.name
	b := binary.AppendVarint(w.head[:0], o.first)
	b = binary.AppendUvarint(b, uint64(len(o.periods)))
	for _, r := range o.periods {
		flag := byte(0)
		if r.isText {
			flag = 1
		}
		b = binary.AppendUvarint(append(binary.AppendVarint(b, r.from), flag), uint64(r.change))
	}
	w.head = b
	if err := w.writeItem(ofOrigin, "", NoTime, b); err != nil {
		return err
	}
	for _, agent := range slices.Sorted(maps.Keys(o.fetched)) {
		answers := o.fetched[agent]
		w.head = answers.append(w.head[:0])
		if err := w.writeItem(ofAnswer, agent, NoTime, w.head); err != nil {
			return err
		}
	}
	return nil
}

// beginCrawler begins a crawler.
func (w *runWriter) beginCrawler(agent string) error {
	w.agent, w.piece, w.from = agent, w.piece[:0], NoTime
	return nil
}

// addEvent adds an event to the current piece. A piece that is full is ended first, without counts.
func (w *runWriter) addEvent(e *event) error {
	if len(w.piece) >= pieceSize {
		if err := w.endPiece(nil); err != nil {
			return err
		}
	}
	if len(w.piece) == 0 {
		w.from, w.state = e.at, state{at: e.at, delay: noDelay}
	}
	w.piece = w.state.append(w.piece, e)
	return nil
}

// endPiece adds the current piece to the block. c has the counts of the pair for its last piece, and is nil for others.
func (w *runWriter) endPiece(c *counts) error {
	w.head = append(w.head[:0], 0)
	if c != nil {
		w.head[0] = 1
		w.head = c.append(w.head)
	}
	w.head = append(w.head, w.piece...)
	err := w.writeItem(ofPiece, w.agent, w.from, w.head)
	w.piece, w.from = w.piece[:0], NoTime
	return err
}

// endCrawler writes the last piece of a crawler.
func (w *runWriter) endCrawler(c *counts) error { return w.endPiece(c) }

// An origin holds the facts about an origin that are needed to judge its crawlers. fetched is by crawler.
type origin struct {
	name    string
	first   int64 // time of the first request to it by any crawler; NoTime if there is none
	periods []period
	fetched map[string]answersOf
}

// A period is an engine.Period with the change of the text at its start.
type period struct {
	from   int64 // NoTime if unknown
	isText bool  // a text is in force
	change int   // 1 + the index of the period of this text, if it replaced another ruling; 0 means no change
}

// periodsOf returns the periods of an origin with their changes; spans must be in order of time. A change needs two
// rulings with known times. So no change is detected before the first capture, at failed fetches, or next to a capture
// or file without a fetch time.
func periodsOf(spans []engine.Period) (periods []period) {
	last, change := engine.RulingID(0), 0
	for n, p := range spans {
		_, isText := p.ID.Text()
		switch {
		case !p.IsKnown:
		case !p.HasTime:
			last, change, p.From = 0, 0, NoTime
		default:
			if last != 0 && p.ID != last {
				change = 0
				if isText {
					change = n + 1
				}
			}
			last = p.ID
		}
		r := period{from: p.From, isText: isText}
		if isText {
			r.change = change
		}
		periods = append(periods, r)
	}
	return periods
}
