// Package onepass finds the highest-ranked of very many patterns that match a path. Only package automaton imports
// it, for the rules of hostile files, which take too long to try one after the other. It hides the algorithm.
//
// A pattern is a sequence of segments. It matches a path that contains them in order and without overlap. An
// Aho-Corasick automaton finds where segments end in the path. A pattern is considered only if its sign occurs in
// the path: the segment of the pattern that the fewest patterns have. Then the path is read from its end to its
// beginning. Each pattern waits for its last segment. Where that segment ends, the pattern moves to the beginning
// of the segment, and waits for the previous one. Taking the last occurrence of a segment is always right, because
// an earlier one leaves less of the path.
//
// If all patterns have n bytes and the path has p bytes, [New] takes O(n) plus sorting, and [Matcher.Match] takes
// O(p·(∛n + √n/64) + n). A pattern makes at most one move per segment, which takes 4 ns, and none if the path lacks
// its sign. If many segments are suffixes of each other, one word of bits says for 64 of them whether patterns wait
// for them.
//
// No group of 2,561 real files needs this package, so the code should be short, and its time bounded. Packs do not
// store its tables.
package onepass

import (
	"bytes"
	"math/bits"
	"slices"
	"sort"
)

// A Matcher finds patterns in paths. It is immutable, and safe for concurrent use by callers that each have their
// own [Scratch].
type Matcher struct {
	states   []state    // of the Aho-Corasick automaton, in order of depth, with a sentinel at the end; the root is 0
	next     []uint32   // for the first states: by state and class of a byte, the next state
	rows     uint32     // the number of states in next
	shift    uint8      // 1<<shift is at least the number of classes
	class    [256]uint8 // by byte; 0 for bytes that are not labels
	labels   []byte     // the label that leads to each state
	segments []segment  // with a sentinel at the end
	patterns []pattern  // by sign, then list
	lists    int
	steps    []uint32 // the segments of each pattern, last one first, followed by lastStep + its rank
}

type (
	// A state represents a text with which segments begin. Its children have consecutive numbers.
	state struct {
		children uint32 // the first child; they end where the children of the next state begin
		fail     uint32 // the state of the longest proper suffix
		end      uint32 // 1 + the longest segment that is a suffix of the text; 0 if there is none
	}

	// A segment is a distinct segment of the patterns.
	segment struct {
		family   uint64 // bits of the suffixes of this segment, itself included, among the 64 with the same number / 64
		other    uint32 // 1 + the longest suffix that is not in family; 0 if there is none
		length   uint32 // in bytes
		patterns uint32 // the first pattern with this sign; they end where those of the next segment begin
	}

	// A pattern is the position of a pattern in Matcher.steps.
	pattern struct {
		at, rank uint32
		list     uint32 // the index of its list
		sign     uint32 // the segment of it that the fewest patterns have
		atEnd    bool   // its last segment must be at the end of the path
	}
)

// lastStep marks a rank in Matcher.steps.
const lastStep = 1 << 31

// A Start is a position of a path from which a list of patterns is searched.
type Start struct {
	List int // its index in the argument of [New]
	Pos  int // the number of bytes before it
}

// A Scratch is the memory of [Matcher.Match], for one goroutine at a time. The zero Scratch is ready for use, and
// grows as needed.
type Scratch struct {
	ends     []uint32  // by position in the path: 1 + the longest segment that ends there
	attempts []attempt // the first is unused
	queues   []queue   // by segment: the attempts that wait for it, if it is active
	active   []uint64  // a bit for each segment that attempts wait for
	seen     []uint64  // a bit for each segment that the path has
	signs    []uint32  // the segments that the path has
	touched  []uint32  // the words of seen and active that may not be 0
	from     []uint32  // by list: 1 + the position where its search starts; 0 if it does not start
	arriving []uint32  // by position in the path: the first attempt that arrives there; 0 if there is none
	best     uint32

	// Counts of the work done since the Scratch was new, besides reading paths: the number of moves, and the number
	// of groups of 64 segments that were examined. Tests limit them.
	Moves, Looked int
}

type (
	// An attempt is a pattern that may match the path.
	attempt struct {
		next uint32 // the next attempt in its queue, or in the list of those that arrive at a position
		at   uint32 // the index in Matcher.steps of its next step
		from uint32 // the first position of the path where its first segment may begin
	}
	queue struct{ head, tail uint32 } // the first and the last attempt
)

// Match returns the highest rank of the patterns that match the path from their starts on, or best if that is
// higher. Starts must be in ascending order of position, and each before the end of the path.
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
	for _, group := range s.touched { // patterns whose last segment can be anywhere
		s.active[group] = 0
	}
	m.start(starts, false, s)
	if len(s.attempts) == 1 {
		first = len(path) + 1 // no attempt waits
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

// see records that the path contains the segments that are suffixes of a text. end is as in state.
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

// step returns the next state after a byte.
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

// start makes patterns wait for their last segment: those that need it at the end of the path, or all others. It
// skips patterns whose sign the path lacks, and patterns that cannot beat the best one.
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

// arrive makes the attempts that arrive at a position wait for their next segment.
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

// leave moves the attempts that wait for segments ending at a position to the beginning of these segments.
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

// prepare allocates memory for m and a path of that length, and forgets the last path.
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

// Size returns the size of the tables in bytes; 0 for a nil Matcher.
func (m *Matcher) Size() int {
	if m == nil {
		return 0
	}
	return 4*len(m.next) + len(m.class) + len(m.labels) + 12*len(m.states) + 24*len(m.segments) + 4*len(m.steps) + 20*len(m.patterns)
}
