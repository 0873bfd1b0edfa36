package conduct

import (
	"bytes"
	"slices"

	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/wire"
)

// merge merges the runs of a spill into a joiner, which passes everything to its reader.
func merge(spill *extsort.Spill, to *joiner) error {
	begin := func(run *extsort.Run) extsort.Output[*cursor] {
		w := &runWriter{run: run}
		return &joiner{to: w, run: w, details: to.details}
	}
	return extsort.Merge(spill, extsort.MaxFan, func() *cursor { return &cursor{details: to.details} }, begin, to)
}

// A cursor points to an item of a block.
type cursor struct {
	rest    wire.Cursor
	item    item
	isDone  bool
	details bool // see event.order
}

// Load moves the cursor to the first item of a block.
func (c *cursor) Load(block []byte) error {
	c.rest, c.isDone, c.item.origin = wire.NewCursor(block), false, c.item.origin[:0]
	return c.next()
}

// Done reports whether the cursor is after the last item.
func (c *cursor) Done() bool { return c.isDone }

// Compare compares two items.
func (c *cursor) Compare(o *cursor) int { return c.item.compare(&o.item, c.details) }

// next advances the cursor. The item is valid until the next call; only origin is a copy.
func (c *cursor) next() error {
	if c.rest.AtEnd() {
		c.isDone = true
		return nil
	}
	shared := c.rest.Uvarint()
	text := c.rest.Text()
	i := &c.item
	if shared > uint64(len(i.origin)) {
		return errItem
	}
	i.origin = append(i.origin[:shared], text...)
	i.kind, i.agent, i.at, i.payload = itemKind(c.rest.Byte()), c.rest.Text(), c.rest.Varint(), c.rest.Text()
	if c.rest.Bad() {
		return errItem
	}
	return nil
}

// A joiner takes the items of a merge, and passes their origins, crawlers and events to a reader.
type joiner struct {
	to      reader
	details bool       // see event.order
	run     *runWriter // the same as to if that is a runWriter; otherwise nil
	about   origin
	isTold  bool // to.origin was called for it
	isOpen  bool // to.begin was called for agent
	any     bool
	agent   string
	counts  counts
	pieces  []piece // that have events left
}

// Take adds the item of a cursor, and advances the cursor. When another origin begins, it first sends the rest of the
// previous one.
func (j *joiner) Take(c *cursor) error {
	i := &c.item
	if !j.any || string(i.origin) != j.about.name {
		if err := j.endOrigin(); err != nil {
			return err
		}
		j.any, j.isTold = true, false
		j.about = origin{name: string(i.origin), first: NoTime, fetched: map[string]answersOf{}}
	}
	var err error
	switch i.kind {
	case ofOrigin:
		from := wire.NewCursor(i.payload)
		j.about.first = earlier(j.about.first, from.Varint())
		periods := make([]period, from.Count())
		for n := range periods {
			periods[n] = period{from: from.Varint(), isText: from.Byte() == 1, change: int(from.Uvarint())}
		}
		if len(periods) > 0 {
			j.about.periods = periods
		}
		if !from.AtEnd() {
			err = errItem
		}
	case ofAnswer:
		from := wire.NewCursor(i.payload)
		answers := readAnswers(&from)
		if !from.AtEnd() {
			return errItem
		}
		if old, ok := j.about.fetched[string(i.agent)]; ok {
			answers.addAnswers(&old)
		}
		j.about.fetched[string(i.agent)] = answers
	case ofPiece:
		err = j.addPiece(i)
	}
	if err != nil {
		return err
	}
	return c.next()
}

// addPiece adds a piece of a series, of which it copies the payload. First it sends the origin, the previous crawler if
// another one begins, and the events that come before the piece.
func (j *joiner) addPiece(i *item) error {
	if err := j.sendOrigin(); err != nil {
		return err
	}
	if !j.isOpen || string(i.agent) != j.agent {
		if err := j.endPair(); err != nil {
			return err
		}
		j.isOpen, j.agent, j.counts = true, string(i.agent), newCounts()
		if err := j.to.beginCrawler(j.agent); err != nil {
			return err
		}
	}
	i.payload = bytes.Clone(i.payload) // copied, because the piece outlives its block
	p, all, err := i.piece()
	if err != nil {
		return err
	}
	if all != nil {
		// Add the counts of other requests of the pair.
		c := &j.counts
		for i, n := range all.answers {
			c.answers[i] += n
		}
		c.bytes = addBytes(c.bytes, all.bytes)
		c.first, c.last = earlier(c.first, all.first), max(c.last, all.last)
		c.robots += all.robots
		c.untimed += all.untimed
		c.violations += all.violations
		c.fetched.addAnswers(&all.fetched)
		c.newest = max(c.newest, all.newest)
	}
	if i.at == NoTime {
		return nil
	}
	if err := j.sendEvents(&p.next); err != nil {
		return err
	}
	j.pieces = append(j.pieces, p)
	return nil
}

// sendEvents sends the events of all pieces, in order, that cannot come after last; all of them if last is nil. It
// removes pieces without further events.
func (j *joiner) sendEvents(last *event) error {
	for len(j.pieces) > 0 {
		least := 0
		for n := 1; n < len(j.pieces); n++ {
			if j.pieces[n].next.compare(&j.pieces[least].next) < 0 {
				least = n
			}
		}
		p := &j.pieces[least]
		for alone := len(j.pieces) == 1; ; {
			if last != nil && p.next.order(last, j.details) > 0 {
				return nil
			}
			if err := j.to.addEvent(&p.next); err != nil {
				return err
			}
			if len(p.rest) == 0 {
				j.pieces = slices.Delete(j.pieces, least, least+1)
				break
			}
			if err := p.read(); err != nil {
				return err
			}
			if !alone {
				break
			}
		}
	}
	return nil
}

// endPair sends the remaining events of the current crawler, and its counts, if there is one.
func (j *joiner) endPair() error {
	if !j.isOpen {
		return nil
	}
	j.isOpen = false
	if err := j.sendEvents(nil); err != nil {
		return err
	}
	return j.to.endCrawler(&j.counts)
}

// sendOrigin sends the current origin, unless it was sent or there is none.
func (j *joiner) sendOrigin() error {
	if j.isTold || !j.any {
		return nil
	}
	j.isTold = true
	return j.to.beginOrigin(&j.about)
}

// endOrigin sends the rest of an origin. An origin without crawlers matters only if other runs may have some.
func (j *joiner) endOrigin() error {
	if err := j.endPair(); err != nil || j.run == nil {
		return err
	}
	return j.sendOrigin()
}

// Finish sends the rest.
func (j *joiner) Finish() error {
	err := j.endOrigin()
	if j.run != nil && err == nil {
		err = j.run.flush()
	}
	return err
}

// A reader receives the events of a log by origin: first the origin, then its crawlers, in the order of their names,
// each with its events in order of time. Its arguments are valid until it returns.
type reader interface {
	beginOrigin(o *origin) error
	beginCrawler(agent string) error
	addEvent(e *event) error
	endCrawler(c *counts) error // of the crawler
}

// eventsOnly passes on events, and nothing else.
type eventsOnly struct{ reader }

func (eventsOnly) beginOrigin(*origin) error { return nil }
func (eventsOnly) beginCrawler(string) error { return nil }
func (eventsOnly) endCrawler(*counts) error  { return nil }
