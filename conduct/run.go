package conduct

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/prefix"
	"github.com/robobatch/robobatch/internal/wire"
)

// A reader receives the events of a log by origin: first the origin, then its crawlers, in the order of their names,
// each with its events in order of time. Its arguments are valid until it returns.
type reader interface {
	origin(o *origin) error
	begin(agent string) error
	event(e *event) error
	end(c *counts) error // of the crawler
}

// An origin is the facts about an origin that judging its crawlers needs. fetched is by crawler.
type origin struct {
	name    string
	first   int64 // when anybody first asked it for anything; NoTime if nobody did
	reigns  []reign
	fetched map[string]int64 // when each crawler first had an answer that counts
}

// A reign is a period of an origin, and its meaning for changes of the text.
type reign struct {
	from   int64 // NoTime if nobody knows
	isText bool  // a text is in force
	change int   // 1 + the period whose text this is, if that took the place of another ruling; 0 is none
}

// appendReigns appends the reigns of the periods of an origin. A change needs two rulings whose times are known. So
// none is seen before the first capture, at failed fetches, and beside a capture or a file without the time of a fetch.
func appendReigns(dst []reign, periods []engine.Stretch) []reign {
	last, change := engine.RulingID(0), 0
	for n, p := range periods {
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
		r := reign{from: p.From, isText: isText}
		if isText {
			r.change = change
		}
		dst = append(dst, r)
	}
	return dst
}

// An item is a record of a run: of an origin itself, or a piece of the series of a crawler there. Those of an origin come
// first; then come the first answers of each crawler; then the pieces, those of a crawler by their first event.
type item struct {
	origin  []byte
	kind    itemKind
	agent   []byte
	at      int64 // of the first event; NoTime if the piece has none
	payload []byte
}

type itemKind uint8

const (
	ofOrigin itemKind = iota
	ofAnswer
	ofPiece
)

// compare orders items. Of pieces that begin at one moment the first events decide, see event.order: so a run has one
// piece in hand while runs are merged, even if all of a log is of one moment.
func (i *item) compare(o *item, details bool) int {
	c := cmp.Or(bytes.Compare(i.origin, o.origin), cmp.Compare(i.kind, o.kind), bytes.Compare(i.agent, o.agent), cmp.Compare(i.at, o.at))
	if c != 0 || i.kind != ofPiece || i.at == NoTime {
		return c
	}
	p, _, err := i.piece()
	q, _, errOther := o.piece()
	if err != nil || errOther != nil {
		return 0 // who takes the items says so
	}
	return p.next.order(&q.next, details)
}

// piece returns the piece of a series that an item has, and the counts of the pair, nil if they are in another piece.
func (i *item) piece() (p piece, all *counts, err error) {
	rest := i.payload
	if len(rest) == 0 {
		return p, nil, errItem
	}
	hasCounts := rest[0] == 1
	rest = rest[1:]
	if hasCounts {
		c := wire.NewCursor(rest)
		found := readCounts(&c)
		if c.Bad() {
			return p, nil, errItem
		}
		all, rest = &found, c.Rest()
	}
	p = piece{rest: rest, state: state{at: i.at, delay: noDelay}}
	if len(rest) == 0 {
		return p, all, nil
	}
	return p, all, p.read()
}

// runBlock is about how many bytes a block of a run has, and pieceSize about how many a piece has.
const (
	runBlock  = 64 << 10
	pieceSize = 16 << 10
)

// A runWriter is a reader that writes all it receives as the blocks of a run.
type runWriter struct {
	run   interface{ Write(block []byte) error }
	block []byte
	last  []byte // origin, in this block

	name  string // of the origin in hand
	agent string
	from  int64
	state state
	piece []byte
	head  []byte // scratch
}

// writeItem writes an item.
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

// flush writes the block.
func (w *runWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block, w.last = w.block[:0], w.last[:0]
	return err
}

// origin writes the facts about an origin, and when its crawlers first had an answer.
func (w *runWriter) origin(o *origin) error {
	w.name = o.name
	b := binary.AppendVarint(w.head[:0], o.first)
	b = binary.AppendUvarint(b, uint64(len(o.reigns)))
	for _, r := range o.reigns {
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
		if err := w.writeItem(ofAnswer, agent, o.fetched[agent], nil); err != nil {
			return err
		}
	}
	return nil
}

// readOrigin reads the payload of an item of an origin into o, which has a part of it or nothing.
func (o *origin) readOrigin(payload []byte) error {
	c := wire.NewCursor(payload)
	o.first = earlier(o.first, c.Varint())
	reigns := make([]reign, c.Count())
	for i := range reigns {
		reigns[i].from = c.Varint()
		reigns[i].isText = c.Byte() == 1
		reigns[i].change = int(c.Uvarint())
	}
	if len(reigns) > 0 {
		o.reigns = reigns
	}
	if !c.AtEnd() {
		return errItem
	}
	return nil
}

// begin begins a crawler.
func (w *runWriter) begin(agent string) error {
	w.agent, w.piece, w.from = agent, w.piece[:0], NoTime
	return nil
}

// event adds an event to the piece in hand.
func (w *runWriter) event(e *event) error {
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

// endPiece writes a piece, with the counts of the pair if that is the last one.
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

// end writes the last piece of a crawler.
func (w *runWriter) end(c *counts) error { return w.endPiece(c) }

// A cursor stands on an item of a block.
type cursor struct {
	rest    wire.Cursor
	item    item
	isDone  bool
	details bool // see event.order
}

var errItem = errors.New("the block of requests is not what was written")

// Load moves the cursor to the first item of a block.
func (c *cursor) Load(block []byte) error {
	c.rest, c.isDone, c.item.origin = wire.NewCursor(block), false, c.item.origin[:0]
	return c.next()
}

// Done reports whether the cursor is behind the last item.
func (c *cursor) Done() bool { return c.isDone }

// Compare compares two items.
func (c *cursor) Compare(o *cursor) int { return c.item.compare(&o.item, c.details) }

// next moves the cursor on.
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
	run     *runWriter // that to is, if it is one
	about   origin
	isTold  bool // to.origin was called for it
	isOpen  bool // to.begin was called for agent
	any     bool
	agent   string
	counts  counts
	pieces  []piece // that have events left
}

// A piece is the rest of a piece of a series, and its next event.
type piece struct {
	rest  []byte
	state state
	next  event
}

// Take takes an item.
func (j *joiner) Take(c *cursor) error {
	i := &c.item
	if !j.any || string(i.origin) != j.about.name {
		if err := j.endOrigin(); err != nil {
			return err
		}
		j.any, j.isTold = true, false
		j.about = origin{name: string(i.origin), first: NoTime, fetched: map[string]int64{}}
	}
	var err error
	switch i.kind {
	case ofOrigin:
		err = j.about.readOrigin(i.payload)
	case ofAnswer:
		old, ok := j.about.fetched[string(i.agent)]
		if !ok {
			old = NoTime
		}
		j.about.fetched[string(i.agent)] = earlier(old, i.at)
	case ofPiece:
		err = j.addPiece(i)
	}
	if err != nil {
		return err
	}
	return c.next()
}

// addPiece adds a piece of a series, and sends the events that come before it.
func (j *joiner) addPiece(i *item) error {
	if err := j.sendOrigin(); err != nil {
		return err
	}
	if !j.isOpen || string(i.agent) != j.agent {
		if err := j.endPair(); err != nil {
			return err
		}
		j.isOpen, j.agent, j.counts = true, string(i.agent), newCounts()
		if err := j.to.begin(j.agent); err != nil {
			return err
		}
	}
	i.payload = bytes.Clone(i.payload) // the piece stays, and the block does not
	p, all, err := i.piece()
	if err != nil {
		return err
	}
	if all != nil {
		j.counts.addCounts(all)
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

// read reads the next event of a piece that has one.
func (p *piece) read() (err error) {
	p.rest, err = p.state.read(&p.next, p.rest)
	return err
}

// sendEvents sends the events that need not come after last, or all of them if that is nil.
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
			if err := j.to.event(&p.next); err != nil {
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

// endPair sends the rest of a pair.
func (j *joiner) endPair() error {
	if !j.isOpen {
		return nil
	}
	j.isOpen = false
	if err := j.sendEvents(nil); err != nil {
		return err
	}
	return j.to.end(&j.counts)
}

// sendOrigin sends the origin, once.
func (j *joiner) sendOrigin() error {
	if j.isTold || !j.any {
		return nil
	}
	j.isTold = true
	return j.to.origin(&j.about)
}

// endOrigin sends the rest of an origin. One without crawlers matters only where other runs may have some.
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
