package conduct

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/robobatch/robobatch/engine"
)

// A pair is a crawler at an origin: its counts, and its series of events in the order of the rows. The series lies in
// chunks of an arena.
type pair struct {
	origin, agent uint32
	state         state // after the last event
	head, tail    uint32
	used, room    uint32 // bytes of the last chunk that have events, and that it has
	ruling        engine.RulingID
	own           int64 // the delay that ruling gives
	timed         bool  // all requests are events, as a text has a Crawl-delay
	jumbled       bool  // an event came before an earlier one
	before        kind  // of the last event
	counts
}

// A table has the pairs of a part of a log. It never takes more memory than it was given.
type table struct {
	slots []uint32 // 1 + the index of a pair, linearly probed; 0 is free. Its length is a power of two
	pairs []pair
	arena []byte // chunks: where the next one begins, 4 bytes; how many bytes have events, 4 bytes; these
	text  []byte // of an event
	size  int64  // bytes of pairs, with their slots, and of the arena at most

	details bool // events have details
}

const (
	chunkHead  = 8
	firstChunk = 24 // bytes of events
	lastChunk  = 1024
	leastSize  = 16 << 10

	pairSize = int64(unsafe.Sizeof(pair{})) + 4*4 // with its slots
)

// init empties the table, and gives it so many bytes. It uses three quarters: while a slice grows, the old one is there, too.
func (t *table) init(memory int64) {
	t.size = max(leastSize, min(memory/4*3, 1<<32))
	t.slots = make([]uint32, 128)
}

// used returns how many bytes have something in them.
func (t *table) used() int64 { return int64(len(t.pairs))*pairSize + int64(len(t.arena)) }

// isFull reports whether there is no room for another pair.
func (t *table) isFull() bool { return len(t.pairs) > 0 && t.used()+pairSize > t.size }

// index returns the index of a pair; -1 if there is none.
func (t *table) index(origin, agent uint32) int {
	mask := uint32(len(t.slots) - 1)
	for i := hash(origin, agent) & mask; ; i = (i + 1) & mask {
		n := int(t.slots[i]) - 1
		if n < 0 {
			return n
		}
		if p := &t.pairs[n]; p.origin == origin && p.agent == agent {
			return n
		}
	}
}

// find returns a pair, nil if there is none. It is valid until another is added.
func (t *table) find(origin, agent uint32) *pair {
	if n := t.index(origin, agent); n >= 0 {
		return &t.pairs[n]
	}
	return nil
}

// hash spreads pairs over the slots.
func hash(origin, agent uint32) uint32 {
	h := (uint64(origin)<<32 | uint64(agent)) * 0x9E3779B97F4A7C15
	return uint32(h >> 32)
}

// place puts a pair into its slot.
func (t *table) place(n int) {
	mask := uint32(len(t.slots) - 1)
	i := hash(t.pairs[n].origin, t.pairs[n].agent) & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = uint32(n + 1)
}

// append appends an event to the series of a pair. It reports false, and does nothing, if there is no room.
func (t *table) append(p *pair, e *event) bool {
	next := p.state
	t.text = next.append(t.text[:0], e)
	size := uint32(len(t.text))
	if p.room-p.used < size && !t.grow(p, size) {
		return false
	}
	if p.head == 0 {
		p.head = p.tail
	} else if e.at < p.state.at || e.at == p.state.at && t.isBefore(e, p.before) {
		p.jumbled = true
	}
	copy(t.arena[p.tail+chunkHead+p.used:], t.text)
	p.used += size
	p.state, p.before = next, e.kind
	return true
}

// isBefore reports whether an event may have to come before the one before, of that kind and the same moment.
// Requests are all one, unless the caller wants them one by one.
func (t *table) isBefore(e *event, before kind) bool {
	if e.kind == before {
		return e.kind.isFetch() || t.details && e.kind == forbidden
	}
	return e.kind < before && (t.details || e.kind.isTxt())
}

// grow adds a chunk to the series of a pair, and reports whether there is room for one.
func (t *table) grow(p *pair, need uint32) bool {
	size := max(need, firstChunk, min(lastChunk, 2*p.room))
	if len(t.arena) > 0 && (t.used()+int64(size)+chunkHead > t.size || len(t.arena) > math.MaxInt32) {
		return false
	}
	if len(t.arena) == 0 {
		t.arena = append(t.arena, 0, 0, 0, 0) // so that no chunk begins at 0
	}
	start := uint32(len(t.arena))
	t.arena = extend(t.arena, int(size+chunkHead), t.size)
	clear(t.arena[start:][:chunkHead])
	if p.head != 0 {
		binary.LittleEndian.PutUint32(t.arena[p.tail:], start)
		binary.LittleEndian.PutUint32(t.arena[p.tail+4:], p.used)
	}
	p.tail, p.used, p.room = start, 0, size
	return true
}

// extend extends a slice by n bytes. It doubles the memory, but does not take more than most bytes, if they suffice.
func extend(b []byte, n int, most int64) []byte {
	if len(b)+n <= cap(b) {
		return b[:len(b)+n]
	}
	size := max(len(b)+n, min(2*cap(b), int(most)), 1<<12)
	grown := make([]byte, len(b)+n, size)
	copy(grown, b)
	return grown
}

// chunks yields the chunks of the series of a pair.
func (t *table) chunks(p *pair) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for at := p.head; at != 0; {
			next, used := binary.LittleEndian.Uint32(t.arena[at:]), binary.LittleEndian.Uint32(t.arena[at+4:])
			if at == p.tail {
				next, used = 0, p.used
			}
			if !yield(t.arena[at+chunkHead:][:used]) {
				return
			}
			at = next
		}
	}
}
