// Package onepass finds the best of very many patterns that a path matches, in one pass over the
// path. Package automaton uses it, and nobody else may, for rules that take too long one pattern
// after the other. It hides the algorithm.
//
// A pattern is a sequence of segments. A path matches it if it has them in order, none overlapping
// the one before. An Aho-Corasick automaton finds where segments end. Each pattern waits for one of
// its segments at a time, in the queue of that segment. Where the segment ends in the path, the
// pattern moves to the queue of its next segment. To move at the first place is always right, as a
// later place leaves less of the path.
//
// # Cost
//
// With n the bytes of all patterns and p the bytes of the path, [New] takes O(n) and sorting, and
// [Matcher.Match] O(p·(1 + √n/64) + n): a pattern moves at most once for each of its segments, which
// takes some 5 ns. Where a segment ends, all segments that it ends with end too, and these can be
// 1,000. So the bits of 64 segments say which queues have a pattern that can move; others are not
// looked at.
//
// # Why so
//
// Of 12,015 groups of 2,561 real files none is heavy enough to come here: the code is for hostile
// files, and has to be short and bounded, not fast. 319 patterns of 340 times "*ba" took 4.3 ms one by
// one, and take 0.03 ms so. A trie of the sequences of segments, with alarms and chains, was 930 lines,
// and bounded the worst case no better. Segments that end one another have neighbouring numbers (heavy
// paths of their tree). The tables are not stored: a pack has the patterns. Only package automaton
// imports this one.
package onepass

import (
	"bytes"
	"math/bits"
)

// A Matcher has the patterns of any number of lists. It is immutable, and safe for concurrent use
// by callers that have a [Scratch] each.
type Matcher struct {
	// The states of the Aho-Corasick automaton. The root is 0, and the others are in order of depth,
	// so the children of a state are neighbours.
	start  [256]uint32 // the child of the root by label; 0 if there is none
	labels []byte      // the label that leads to a state
	first  []uint32    // the children of state s: first[s] up to first[s+1]
	fail   []uint32    // the state of the longest proper suffix of the text of a state
	ends   []uint32    // 1 + the longest segment that ends the text of a state; 0 if there is none

	segments []segment
	lists    []list
	patterns []pattern // list by list
	steps    []uint32  // the segments of each pattern, and lastStep + its rank behind them
}

// A segment is a distinct segment of the patterns. Segments are numbered so that those which end one
// another are close together.
type segment struct {
	family uint64 // a bit for each segment that ends this one, itself included, of the 64 with the same number / 64
	other  uint32 // 1 + the longest segment that ends this one and is none of these; 0 if there is none
	room   uint32 // where its queue begins in Scratch.queued
	length uint32 // in bytes
	atEnd  bool   // it counts at the end of the path only
}

type (
	// A list is the patterns of one [Start].
	list struct {
		end  uint32 // where the patterns of the next list begin
		best uint32 // the highest rank
	}

	// A pattern is where it begins in Matcher.steps, its rank and its last segment.
	pattern struct{ at, rank, last uint32 }
)

// lastStep marks, in Matcher.steps, a rank.
const lastStep = 1 << 31

// A Start is a place of a path where the search for a list of patterns starts.
type Start struct {
	List int // its index in the argument of [New]
	Pos  int // how many bytes of the path are before it
}

// A Scratch is the memory of [Matcher.Match]. The zero Scratch is ready; it grows to the size that the largest
// Matcher needs and is then used again and again, by one goroutine at a time.
type Scratch struct {
	ends   []uint32 // by place of the path: 1 + the longest segment that ends there
	found  []uint64 // a bit for each segment that the path has
	active []uint64 // a bit for each segment whose queue has a pattern that moves where the segment ends
	queues []queue  // by segment
	used   []uint32 // the segments whose queues are not zero
	queued []waiting
	wake   []uint32 // by place of the path: 1 + the first segment of those that become active there
	length uint32   // of the path
	best   uint32

	// Counts of the work since the Scratch was new, beyond reading paths: how many times a pattern moved on,
	// and how many groups of 64 segments were looked at. Tests bound them.
	Moves, Looked int
}

type (
	// A queue has the patterns that wait for a segment, in the order they came:
	// Scratch.queued[head:tail]. It is zero if the segment was never waited for.
	queue struct {
		head, tail uint32
		length     uint32 // of the segment
		next       uint32 // 1 + the next segment that becomes active at the same place
	}

	// A waiting is the place in Matcher.steps of the segment that a pattern waits for, and the least
	// place of the path where that may end.
	waiting struct{ at, due uint32 }
)

// Match returns the highest rank among best and the patterns that the path matches from their
// starts on. Starts are in ascending order of place, and each is before the end of the path.
func (m *Matcher) Match(path []byte, starts []Start, best uint32, s *Scratch) uint32 {
	limit := uint32(0)
	for _, at := range starts {
		limit = max(limit, m.lists[at.List].best)
	}
	if limit <= best {
		return best
	}
	s.prepare(m, len(path))
	s.best = best
	m.findSegments(path, starts[0].Pos, s)
	for pos := starts[0].Pos; s.best < limit; {
		for len(starts) > 0 && starts[0].Pos == pos {
			m.startList(starts[0], s)
			starts = starts[1:]
		}
		if pos == len(path) {
			break
		}
		pos++
		for g := s.wake[pos]; g != 0; g = s.queues[g-1].next {
			s.active[(g-1)>>6] |= 1 << ((g - 1) & 63)
		}
		if o := s.ends[pos]; o != 0 {
			m.endSegments(o, uint32(pos), s)
		}
	}
	s.clear(len(path))
	return s.best
}

// findSegments sets, for a path from a place on, which segments it has and where they end.
func (m *Matcher) findSegments(path []byte, pos int, s *Scratch) {
	state := uint32(0)
	for pos < len(path) {
		if state == 0 && m.start[path[pos]] == 0 {
			pos++
			s.ends[pos] = 0
			continue
		}
		state = m.step(state, path[pos])
		pos++
		o := m.ends[state]
		s.ends[pos] = o
		for o != 0 && !s.hasSegment(o-1) { // if the path has one, it has those that end it
			g := &m.segments[o-1]
			s.found[(o-1)>>6] |= g.family
			o = g.other
		}
	}
}

// step returns the state that follows on a byte.
func (m *Matcher) step(state uint32, b byte) uint32 {
	for state != 0 {
		lo, hi := m.first[state], m.first[state+1]
		if i := bytes.IndexByte(m.labels[lo:hi], b); i >= 0 {
			return lo + uint32(i)
		}
		state = m.fail[state]
	}
	return m.start[b]
}

// startList has those patterns of a list wait for their first segment that may be better than the one
// found, and whose first and last segment the path has.
func (m *Matcher) startList(at Start, s *Scratch) {
	from := uint32(0)
	if at.List > 0 {
		from = m.lists[at.List-1].end
	}
	for i := from; i < m.lists[at.List].end; i++ {
		p := &m.patterns[i]
		if g := m.steps[p.at]; p.rank > s.best && s.hasSegment(g) && s.hasSegment(p.last) {
			m.enqueue(p.at, g, uint32(at.Pos), s)
		}
	}
}

// hasSegment reports whether the path has segment g.
func (s *Scratch) hasSegment(g uint32) bool { return s.found[g>>6]>>(g&63)&1 != 0 }

// enqueue has a pattern wait for segment g, its next one, from a place of the path on.
func (m *Matcher) enqueue(at, g, pos uint32, s *Scratch) {
	q := &s.queues[g]
	if q.head == q.tail {
		m.scheduleWake(g, q, pos, s)
	}
	s.queued[q.tail] = waiting{at, pos + q.length}
	q.tail++
}

// scheduleWake has segment g become active where the first pattern of its queue, which began to wait at
// pos, can move. It is not inlined, as it is rare and would take the registers of the loop in advance:
// 1.35 in place of 1.19 ms for the worst known rules.
//
//go:noinline
func (m *Matcher) scheduleWake(g uint32, q *queue, pos uint32, s *Scratch) {
	seg := &m.segments[g]
	if q.length == 0 {
		*q = queue{head: seg.room, tail: seg.room, length: seg.length}
		s.used = append(s.used, g)
	}
	due := pos + seg.length
	if due > s.length {
		return // never
	}
	if seg.atEnd {
		due = s.length
	}
	q.next = s.wake[due]
	s.wake[due] = g + 1
}

// endSegments moves the patterns that wait for segments which end at a place of the path, where the
// longest is o-1.
func (m *Matcher) endSegments(o, pos uint32, s *Scratch) {
	for o != 0 {
		seg, w := &m.segments[o-1], (o-1)>>6
		active := s.active[w] & seg.family
		s.active[w] &^= active
		s.Looked++
		for ; active != 0; active &= active - 1 {
			m.advance(w<<6|uint32(bits.TrailingZeros64(active)), pos, s)
		}
		o = seg.other
	}
}

// advance moves the patterns that wait for segment g, which ends at pos. Most of the cost of hostile
// rules is here, so the steps of enqueue are in its loop.
func (m *Matcher) advance(g, pos uint32, s *Scratch) {
	steps, queued, queues := m.steps, s.queued, s.queues
	q := &queues[g]
	i, end := q.head, q.tail // those that come meanwhile cannot move
	for ; i < end && queued[i].due <= pos; i++ {
		at := queued[i].at + 1
		next := steps[at]
		if next >= lastStep {
			s.best = max(s.best, next-lastStep)
			continue
		}
		n := &queues[next]
		if n.head == n.tail {
			m.scheduleWake(next, n, pos, s)
		}
		tail := n.tail
		n.tail = tail + 1
		queued[tail] = waiting{at, pos + n.length}
	}
	s.Moves += int(i - q.head)
	room := m.segments[g].room
	if left := q.tail - i; left <= i-room { // so that the queue stays in few lines of the cache
		copy(queued[room:], queued[i:q.tail])
		i, q.tail = room, room+left
	}
	q.head = i
	if i < q.tail {
		m.scheduleWake(g, q, queued[i].due-q.length, s)
	}
}

// prepare makes room for m and a path of that length.
func (s *Scratch) prepare(m *Matcher, length int) {
	s.length = uint32(length)
	if len(s.wake) <= length {
		s.wake, s.ends = make([]uint32, length+1), make([]uint32, length+1)
	}
	if len(s.queues) < len(m.segments) {
		s.queues = make([]queue, len(m.segments))
		s.found, s.active = make([]uint64, (len(m.segments)+63)/64), make([]uint64, (len(m.segments)+63)/64)
	}
	if len(s.queued) < len(m.steps) {
		s.queued = make([]waiting, len(m.steps))
	}
}

// clear forgets the path.
func (s *Scratch) clear(length int) {
	for _, g := range s.used {
		s.queues[g] = queue{}
	}
	s.used = s.used[:0]
	clear(s.active)
	clear(s.found)
	clear(s.wake[:length+1])
}

// Size returns the bytes of the tables; of a nil Matcher, 0.
func (m *Matcher) Size() int {
	if m == nil {
		return 0
	}
	return len(m.labels) + 4*(len(m.start)+len(m.first)+len(m.fail)+len(m.ends)+len(m.steps)) + 32*len(m.segments) + 8*len(m.lists) + 12*len(m.patterns)
}
