// Package onepass finds the best of very many patterns that a path matches. Only package automaton may import it:
// for rules of hostile files, which take too long one after the other. It hides the algorithm.
//
// A pattern is a sequence of segments. A path matches it if it has them in order, none overlapping another. An
// Aho-Corasick automaton finds where segments end. A pattern is looked for only if the path has its sign, the segment of it
// that the fewest patterns have. Then the path is read from its end to its beginning. Each pattern waits for its last
// segment. Where that ends, the pattern moves to where it begins, and waits for the segment before. The last place of a
// segment is always right, as an earlier one leaves less of the path.
//
// With n the bytes of all patterns and p those of the path, [New] takes O(n) and sorting, and [Matcher.Match]
// O(p·(∛n + √n/64) + n): a pattern moves at most once for each of its segments, which takes 4 ns, and not at all if the path
// lacks its sign. Of 1,000 segments that end one another, the bits of 64 say at once which of them patterns wait for.
//
// The code should be short and bounded: no group of 2,561 real files gets here. A pack stores no such table.
package onepass

import (
	"bytes"
	"math/bits"
	"slices"
	"sort"
)

// A Matcher has lists of patterns. It is immutable, and safe for concurrent use by callers with a [Scratch] each.
type Matcher struct {
	states   []state    // of the Aho-Corasick automaton, in order of depth, and one more; the root is 0
	next     []uint32   // by state and class of a byte, the state that follows, of the first states
	rows     uint32     // the states that next has
	shift    uint8      // 1<<shift is at least the number of classes
	class    [256]uint8 // of each byte: those that no label is are 0
	labels   []byte     // the label that leads to each state
	segments []segment  // and one more
	patterns []pattern  // by sign, then list
	lists    int
	steps    []uint32 // the segments of each pattern, the last one first, and lastStep + its rank after them
}

type (
	// A state represents a text that segments begin with. Its children are neighbours.
	state struct {
		children uint32 // the first; they end where the children of the next state begin
		fail     uint32 // the state of the longest proper suffix
		end      uint32 // 1 + the longest segment that ends the text; 0 if there is none
	}

	// A segment is a distinct segment of the patterns.
	segment struct {
		family   uint64 // a bit for each segment that ends this one, itself included, of the 64 with the same number / 64
		other    uint32 // 1 + the longest segment that ends this one and is none of these; 0 if there is none
		length   uint32 // in bytes
		patterns uint32 // the first pattern of which it is the sign; they end where those of the next segment begin
	}

	// A pattern says where it begins in Matcher.steps.
	pattern struct {
		at, rank uint32
		list     uint32 // the index of its list
		sign     uint32 // the segment of it that the fewest patterns have
		atEnd    bool   // its last segment is at the end of the path
	}
)

// lastStep marks, in Matcher.steps, a rank.
const lastStep = 1 << 31

// A Start is a place of a path where the search for a list of patterns starts.
type Start struct {
	List int // its index in the argument of [New]
	Pos  int // how many bytes of the path are before it
}

// A Scratch is the memory of [Matcher.Match], for one goroutine at a time. The zero Scratch is ready, and grows.
type Scratch struct {
	ends     []uint32  // by place of the path: 1 + the longest segment that ends there
	attempts []attempt // the first is unused
	queues   []queue   // by segment: the attempts that wait for it, if it is active
	active   []uint64  // a bit for each segment that attempts wait for
	seen     []uint64  // a bit for each segment that the path has
	signs    []uint32  // the segments that the path has
	touched  []uint32  // the words of seen and active that may not be 0
	from     []uint32  // by list: 1 + the place where its search starts; 0 if there is none
	arriving []uint32  // by place of the path: the first attempt that arrives there; 0 if there is none
	best     uint32

	// Counts of the work since the Scratch was new, beyond reading paths: how many times a pattern moved on,
	// and how many groups of 64 segments were looked at. Tests bound them.
	Moves, Looked int
}

type (
	// An attempt is a pattern that may match the path.
	attempt struct {
		next uint32 // the attempt after it in its queue, or among those that arrive at a place
		at   uint32 // the place in Matcher.steps of its next step
		from uint32 // the place of the path where its first segment may begin
	}
	queue struct{ head, tail uint32 } // the first attempt and the last
)

// Match returns the highest rank among best and the patterns that the path matches from their starts on. Starts are
// in ascending order of place, and each is before the end of the path.
func (m *Matcher) Match(path []byte, starts []Start, best uint32, s *Scratch) uint32 {
	first, state := starts[0].Pos, uint32(0)
	s.prepare(m, len(path))
	s.ends[first], s.best = 0, best
	for i, b := range path[first:] {
		state = m.step(state, b)
		s.ends[first+i+1] = m.states[state].end
		m.see(s.ends[first+i+1], s)
	}
	for _, start := range starts {
		s.from[start.List] = uint32(start.Pos) + 1
	}
	m.start(starts, true, s)
	m.leave(len(path), s)
	for _, group := range s.touched { // those whose last segment is elsewhere
		s.active[group] = 0
	}
	m.start(starts, false, s)
	if len(s.attempts) == 1 {
		first = len(path) + 1 // nothing waits
	}
	for place := len(path); place >= first; place-- {
		m.arrive(place, s)
		m.leave(place, s)
	}
	for _, start := range starts {
		s.from[start.List] = 0
	}
	return s.best
}

// see adds the segments that end a text to those that the path has.
func (m *Matcher) see(end uint32, s *Scratch) {
	for o := end; o != 0; s.Looked++ {
		seg, group := &m.segments[o-1], (o-1)>>6
		if s.seen[group] == 0 {
			s.touched = append(s.touched, group)
		}
		unseen := seg.family &^ s.seen[group]
		s.seen[group] |= unseen
		for ; unseen != 0; unseen &= unseen - 1 {
			s.signs = append(s.signs, group<<6|uint32(bits.TrailingZeros64(unseen)))
		}
		o = seg.other
	}
}

// step returns the state that follows on a byte.
func (m *Matcher) step(state uint32, b byte) uint32 {
	for ; state >= m.rows; state = m.states[state].fail {
		next, end := m.states[state].children, m.states[state+1].children
		if end-next > 8 {
			if i := bytes.IndexByte(m.labels[next:end], b); i >= 0 {
				return next + uint32(i)
			}
			continue
		}
		for ; next < end; next++ {
			if m.labels[next] == b {
				return next
			}
		}
	}
	return m.next[state<<m.shift|uint32(m.class[b])]
}

// start has the patterns whose last segment is at the end of the path, or the others, wait for it, except those whose
// sign the path lacks and those that cannot beat the best one.
func (m *Matcher) start(starts []Start, atEnd bool, s *Scratch) {
	for _, g := range s.signs {
		patterns := m.patterns[m.segments[g].patterns:m.segments[g+1].patterns]
		if len(patterns) <= 8*len(starts) {
			m.startAll(patterns, atEnd, s)
			continue
		}
		for _, start := range starts {
			lo := sort.Search(len(patterns), func(i int) bool { return patterns[i].list >= uint32(start.List) })
			hi := lo + sort.Search(len(patterns)-lo, func(i int) bool { return patterns[lo+i].list > uint32(start.List) })
			m.startAll(patterns[lo:hi], atEnd, s)
		}
	}
}

func (m *Matcher) startAll(patterns []pattern, atEnd bool, s *Scratch) {
	for i := range patterns {
		if p := &patterns[i]; p.rank > s.best && p.atEnd == atEnd && s.from[p.list] != 0 {
			s.attempts = append(s.attempts, attempt{at: p.at + 1, from: s.from[p.list] - 1})
			s.wait(uint32(len(s.attempts)-1), m.steps[p.at])
		}
	}
}

// arrive has the attempts that arrive at a place wait for their next segment.
func (m *Matcher) arrive(place int, s *Scratch) {
	for i := s.arriving[place]; i != 0; s.Moves++ {
		a := &s.attempts[i]
		next, step := a.next, m.steps[a.at]
		if step < lastStep {
			a.at++
			s.wait(i, step)
		} else if uint32(place) >= a.from {
			s.best = max(s.best, step-lastStep)
		}
		i = next
	}
}

// wait adds an attempt to the queue of a segment.
func (s *Scratch) wait(i, segment uint32) {
	q, active, bit := &s.queues[segment], &s.active[segment>>6], uint64(1)<<(segment&63)
	if *active&bit == 0 {
		if *active == 0 {
			s.touched = append(s.touched, segment>>6)
		}
		*active |= bit
		*q = queue{tail: i}
	}
	s.attempts[i].next, q.head = q.head, i
}

// leave has the attempts that wait for segments which end at a place move to where these begin.
func (m *Matcher) leave(place int, s *Scratch) {
	for o := s.ends[place]; o != 0; s.Looked++ {
		seg, group := &m.segments[o-1], (o-1)>>6
		waited := s.active[group] & seg.family
		s.active[group] &^= waited
		for ; waited != 0; waited &= waited - 1 {
			g := group<<6 | uint32(bits.TrailingZeros64(waited))
			begin := uint32(place) - m.segments[g].length
			s.attempts[s.queues[g].tail].next = s.arriving[begin]
			s.arriving[begin] = s.queues[g].head
		}
		o = seg.other
	}
}

// prepare makes room for m and a path of that length, and forgets the last path.
func (s *Scratch) prepare(m *Matcher, length int) {
	for _, group := range s.touched {
		s.active[group], s.seen[group] = 0, 0
	}
	s.touched, s.signs, s.attempts = s.touched[:0], s.signs[:0], append(s.attempts[:0], attempt{})
	s.ends = slices.Grow(s.ends[:0], length+1)[:length+1]
	s.arriving = slices.Grow(s.arriving[:0], length+1)[:length+1]
	clear(s.arriving)
	if n := len(m.segments); n > len(s.queues) {
		s.queues, s.active, s.seen = make([]queue, n), make([]uint64, n/64+1), make([]uint64, n/64+1)
	}
	if m.lists > len(s.from) {
		s.from = make([]uint32, m.lists)
	}
}

// Size returns the bytes of the tables; of a nil Matcher, 0.
func (m *Matcher) Size() int {
	if m == nil {
		return 0
	}
	return 4*len(m.next) + len(m.class) + len(m.labels) + 12*len(m.states) + 24*len(m.segments) + 4*len(m.steps) + 20*len(m.patterns)
}
