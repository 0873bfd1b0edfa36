package conduct

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// A kind is the kind of an event. Events at the same time are ordered by kind, in favour of the crawler: a response
// to a fetch comes before a request, and a response that allowed everything comes after one that did not.
type kind uint8

const (
	gotText   kind = iota // a response with the text in force
	gotNone               // a response that says that there is no robots.txt
	failed                // a request for /robots.txt without a response that counts
	moved                 // a redirect of /robots.txt that is in no capture
	allowed               // a request for a URL other than /robots.txt
	forbidden             // the same, disallowed by the text in force
	violated              // only in a series: disallowed, and a violation
)

// isFetch reports whether an event is a response to a request for /robots.txt.
func (k kind) isFetch() bool { return k <= gotNone }

// isTxt reports whether an event is a request for /robots.txt.
func (k kind) isTxt() bool { return k <= moved }

// noDelay is the delay of a request without a Crawl-delay.
const noDelay = -1

// An event is a request of a crawler at an origin.
type event struct {
	at       int64 // microseconds since 1970 UTC
	kind     kind
	violated bool   // for forbidden only
	delay    int64  // Crawl-delay in microseconds, or noDelay; a fetch has the delay of the previous event
	period   uint32 // for fetches and forbidden, see engine.Evidence
	cache    int64  // for fetches: how long the copy may be used, in microseconds
	away     bool   // for fetches: at the origin that the capture in force redirects to
	fit      fit    // for fetches
	size     int64  // bytes of the response, if fit is above fits
	text     int64  // bytes of the text in force, if fit is above fits
	past     []byte // for forbidden: the bits of engine.Evidence
	detail   []byte // for forbidden, see appendDetail; nil without Options.Requests
}

// compare orders events by time, and events at the same time by a fixed order of their other data.
func (e *event) compare(o *event) int {
	if e.at != o.at {
		return cmp.Compare(e.at, o.at)
	}
	if c := cmp.Or(cmp.Compare(e.kind, o.kind), cmp.Compare(e.period, o.period), cmp.Compare(e.cache, o.cache), cmp.Compare(e.delay, o.delay), cmp.Compare(e.fit, o.fit), cmp.Compare(e.size, o.size), cmp.Compare(e.text, o.text), cmp.Compare(flagByte(e.away), flagByte(o.away))); c != 0 {
		return c
	}
	return cmp.Or(bytes.Compare(e.past, o.past), bytes.Compare(e.detail, o.detail))
}

// order orders the events that a judge receives: by time, then requests for /robots.txt first. Other requests at the
// same time are equal, unless the caller needs each (details); then it is compare.
func (e *event) order(o *event, details bool) int {
	switch fetch, other := e.kind.isTxt(), o.kind.isTxt(); {
	case details, e.at != o.at, fetch && other:
		return e.compare(o)
	case fetch:
		return -1
	case other:
		return 1
	}
	return 0
}

// flagByte returns 1 for true.
func flagByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// isAway is set in the fit byte of a fetch at another origin.
const isAway = 1 << 7

// The lowest three bits of an event's first byte are its kind; the others are these flags.
const (
	kindMask  = 7
	newDelay  = 1 << 3 // the delay differs from that of the previous event, and follows
	inSeconds = 1 << 4 // the time difference is in seconds, not microseconds
	stepShift = 5      // the time difference, from 0; longStep means that it follows
	longStep  = 7

	second = 1_000_000
)

// A state is the time and the delay of an event. The next event of a series is stored as its difference to them.
type state struct{ at, delay int64 }

// append appends an event to a series in dst, and makes it the state for the next one.
func (s *state) append(dst []byte, e *event) []byte {
	step := e.at - s.at
	head := byte(e.kind)
	if step%second == 0 {
		head |= inSeconds
		step /= second
	}
	long := step < 0 || step >= longStep
	if long {
		head |= longStep << stepShift
	} else {
		head |= byte(step) << stepShift
	}
	isNew := !e.kind.isTxt() && e.delay != s.delay
	if isNew {
		head |= newDelay
	}
	if e.violated {
		head += byte(violated - forbidden)
	}
	dst = append(dst, head)
	if long {
		dst = binary.AppendVarint(dst, step)
	}
	if isNew {
		dst = binary.AppendVarint(dst, e.delay)
		s.delay = e.delay
	}
	s.at = e.at
	switch e.kind {
	case gotText, gotNone:
		dst = append(binary.AppendUvarint(dst, uint64(e.period)), byte(e.fit)|flagByte(e.away)*isAway)
		dst = binary.AppendUvarint(dst, uint64(e.cache))
		if e.fit > fits {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(e.size)), uint64(e.text))
		}
	case forbidden:
		dst = binary.AppendUvarint(dst, uint64(e.period))
		dst = append(dst, e.past...)
		dst = append(binary.AppendUvarint(dst, uint64(len(e.detail))), e.detail...)
	case failed, moved, allowed, violated:
	}
	return dst
}

var errSeries = errors.New("the series of events differs from what was written")

// read reads the first event of a series, which must not be empty, into e, and returns the rest. The slices of e are
// parts of the series. s becomes the state for the next event. The error is errSeries.
func (s *state) read(e *event, series []byte) ([]byte, error) {
	head := series[0]
	series = series[1:]
	step := int64(head >> stepShift)
	if step == longStep {
		var n int
		if step, n = binary.Varint(series); n <= 0 {
			return nil, errSeries
		}
		series = series[n:]
	}
	if head&inSeconds != 0 {
		step *= second
	}
	s.at += step
	e.kind = kind(head & kindMask)
	if head&newDelay != 0 {
		var n int
		if s.delay, n = binary.Varint(series); n <= 0 {
			return nil, errSeries
		}
		series = series[n:]
	}
	e.at, e.delay, e.violated, e.away, e.fit = s.at, s.delay, e.kind == violated, false, unsized
	if e.violated {
		e.kind = forbidden
	}
	if e.kind == allowed || e.kind == failed || e.kind == moved {
		return series, nil
	}
	// Read the fields that only some events have.
	period, n := binary.Uvarint(series)
	if n <= 0 {
		return nil, errSeries
	}
	series = series[n:]
	e.period, e.past, e.detail, e.cache, e.size, e.text = uint32(period), nil, nil, 0, 0, 0
	if e.kind.isFetch() {
		if len(series) == 0 || fit(series[0]&^isAway) > impossible {
			return nil, errSeries
		}
		e.fit, e.away, series = fit(series[0]&^isAway), series[0]&isAway != 0, series[1:]
		fields := []*int64{&e.cache, &e.size, &e.text}
		if e.fit <= fits {
			fields = fields[:1]
		}
		for _, field := range fields {
			value, n := binary.Uvarint(series)
			if n <= 0 {
				return nil, errSeries
			}
			*field, series = int64(value), series[n:]
		}
		return series, nil
	}
	size := (period + 7) / 8
	if size > uint64(len(series)) {
		return nil, errSeries
	}
	e.past, series = series[:size:size], series[size:]
	size, n = binary.Uvarint(series)
	if n <= 0 || size > uint64(len(series)-n) {
		return nil, errSeries
	}
	series = series[n:]
	e.detail = series[:size:size]
	return series[size:], nil
}

// appendDetail appends the detail of a request to dst, for judge.addEvent: its URL, client, User-Agent, status,
// verification and rule. The URL comes first, because requests at the same time are ordered by their details.
func (j *Journal) appendDetail(dst []byte, b *engine.Batch, row int) []byte {
	clients := b.Clients
	if j.opt.Client > 0 {
		clients = b.Kept[j.opt.Client-1].Texts
	}
	dst = wire.AppendText(dst, b.URL(row))
	for _, texts := range [...][]engine.Span{clients, b.UserAgents} {
		if len(texts) == 0 || texts[row] == engine.NoURL {
			dst = append(dst, 0)
		} else {
			dst = wire.AppendText(append(dst, 1), b.Piece(texts[row]))
		}
	}
	status, _ := keptInt(b, row, j.opt.Status)
	dst = binary.AppendVarint(dst, status)
	verified := ranges.Null
	if len(b.Verified) > 0 {
		verified = b.Verified[row]
	}
	var rule robots.Rule
	var text string
	if n := b.Verdicts[row].Rule; n != engine.NoRule {
		rule = j.lookup.Rule(b.Rulings[row], int(b.Agents[row]), n)
		text = rule.String()
	}
	return wire.AppendText(binary.AppendVarint(append(dst, byte(verified)), int64(rule.Line)), text)
}

// An item is a record of a run: the facts about an origin, or a piece of the series of a crawler there. The items of
// an origin come first, then the first responses of each crawler, then the pieces, ordered by crawler and first
// event.
type item struct {
	origin  []byte
	kind    itemKind
	agent   []byte
	at      int64 // of the first event; NoTime if the piece has no event
	payload []byte
}

type itemKind uint8

const (
	ofOrigin itemKind = iota
	ofAnswer
	ofPiece
)

// compare orders items. Pieces that begin at the same time are ordered by their first events, see event.order. So a
// merge holds one piece of each run, even if all events have the same time.
func (i *item) compare(o *item, details bool) int {
	c := cmp.Or(bytes.Compare(i.origin, o.origin), cmp.Compare(i.kind, o.kind), bytes.Compare(i.agent, o.agent), cmp.Compare(i.at, o.at))
	if c != 0 || i.kind != ofPiece || i.at == NoTime {
		return c
	}
	p, _, err := i.piece()
	q, _, errOther := o.piece()
	if err != nil || errOther != nil {
		return 0 // the receiver of the items reports the error
	}
	return p.next.order(&q.next, details)
}

// piece returns the piece of a series in an item of kind ofPiece, with its first event, and the counts of the pair; all
// is nil if another piece has the counts. The piece is a part of the item's payload.
func (i *item) piece() (p piece, all *counts, err error) {
	rest := i.payload
	if len(rest) == 0 {
		return p, nil, errItem
	}
	hasCounts := rest[0] == 1
	rest = rest[1:]
	if hasCounts {
		c := wire.NewCursor(rest)
		all = new(counts)
		for i := range all.answers {
			all.answers[i] = c.Varint()
		}
		for _, n := range [...]*int64{&all.bytes, &all.first, &all.last, &all.robots, &all.untimed, &all.violations, &all.newest} {
			*n = c.Varint()
		}
		if all.fetched = readAnswers(&c); c.Bad() {
			return p, nil, errItem
		}
		rest = c.Rest()
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

var errItem = errors.New("the block of requests differs from what was written")
