package conduct

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/robobatch/robobatch/internal/wire"
)

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

// A piece is the rest of a piece of a series, and its next event.
type piece struct {
	rest  []byte
	state state
	next  event
}

// read reads the next event of a piece that has one.
func (p *piece) read() (err error) {
	p.rest, err = p.state.read(&p.next, p.rest)
	return err
}

var errItem = errors.New("the block of requests is not what was written")
