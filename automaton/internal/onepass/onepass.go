// Package onepass finds the highest-ranked of very many patterns that match a path. Only package automaton imports
// it, for the rules of hostile files, which take too long to try one after the other. It hides the algorithm.
//
// A pattern is a sequence of segments. It matches a path that contains them in order and without overlap. The sign of a
// pattern is the segment of it that the fewest patterns have, and of these the longest. Hashes of four bytes tell which
// signs the path has. If they are few, their patterns are tried one by one.
//
// Otherwise an Aho-Corasick automaton finds where segments end in the path. Then the path is read from its end to its
// beginning. Each pattern whose sign occurs waits for its last segment. Where that segment ends, the pattern moves to
// the beginning of the segment, and waits for the previous one. Taking the last occurrence of a segment is always right,
// because an earlier one leaves less of the path.
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
	"strings"
	"unsafe"
)

// A Matcher finds patterns in paths. It is immutable, and safe for concurrent use by callers that each have their
// own [Scratch].
type Matcher struct {
	states   []state    // of the Aho-Corasick automaton, in order of depth, with a sentinel at the end; the root is 0
	next     []uint32   // for the first states: by state and class of a byte, the next state
	rows     uint32     // the number of states in next
	width    uint8      // 1<<width is at least the number of classes
	class    [256]uint8 // by byte; 0 for bytes that are not labels
	labels   []byte     // the label that leads to each state
	segments []segment  // with a sentinel at the end
	patterns []pattern  // by sign, then list
	lists    int
	steps    []uint32 // the segments of each pattern, last one first, followed by lastStep + its rank

	masks   []uint32 // of the bytes of windows that are hashed
	shift   uint8    // the number of the lowest bits of a product that are not part of the hash
	filter  []uint32 // a bit for each hash of a window
	first   []uint32 // by word of filter, the first of its windows; 0 if there is none
	windows []window // of signs; the first is unused
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

	// A window contains the last bytes of a segment, by which a path is searched for it.
	window struct {
		text    uint64 // up to eight bytes, the last one in the lowest bits
		segment uint32
		next    uint32 // the next window of the same word of the filter; 0 if there is none
	}

	// A pattern is the position of a pattern in Matcher.steps.
	pattern struct {
		segments string // each after a "*"
		at, rank uint32
		list     uint32 // the index of its list
		sign     uint32 // twice the segment of it that the fewest patterns have, plus 1 if the last must be at the end
	}
)

// mix is a factor that mixes the bytes of a number into its highest bits.
const mix = 0x9e3779b1

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
	s.prepare(m)
	few := m.findSigns(path[starts[0].Pos:], s)
	if few && len(s.signs) == 0 {
		return best
	}
	s.best = best
	for _, start := range starts {
		s.from[start.List] = uint32(start.Pos) + 1
	}
	if !few || !m.tryAll(path, s) {
		s.prepare(m)
		m.search(path, starts, s)
	}
	for _, start := range starts {
		s.from[start.List] = 0
	}
	return s.best
}

// findSigns finds the signs whose windows are in the path, or reports false if they are too many.
func (m *Matcher) findSigns(path []byte, s *Scratch) bool {
	left := len(path) + 32
	for _, mask := range m.masks {
		text := uint64(0)
		for _, b := range path {
			text = text<<8 | uint64(b)
			h := uint32(text) & mask * mix >> m.shift
			if m.filter[h>>5]>>(h&31)&1 == 0 {
				continue
			}
			for i := m.first[h>>5]; i != 0; left-- {
				w := &m.windows[i]
				if i = w.next; (w.text^text)<<(64-8*min(8, m.segments[w.segment].length)) == 0 {
					s.see(w.segment>>6, 1<<(w.segment&63))
				}
				if left < 8*len(s.signs) {
					return false
				}
			}
		}
	}
	return true
}

// tryAll tries the patterns of the signs that the path has, or reports false if they are too many.
func (m *Matcher) tryAll(path []byte, s *Scratch) bool {
	left := len(path) + 64
	for _, g := range s.signs {
		for _, p := range m.patterns[m.segments[g].patterns:m.segments[g+1].patterns] {
			if p.rank <= s.best || s.from[p.list] == 0 {
				continue
			}
			if left -= 8 + len(p.segments); left < 0 {
				return false
			}
			if p.matches(path[s.from[p.list]-1:]) {
				s.best = p.rank
			}
		}
	}
	return true
}

// matches reports whether the pattern matches a path.
func (p *pattern) matches(path []byte) bool {
	rest, text := p.segments[1:], unsafe.String(unsafe.SliceData(path), len(path))
	for {
		seg, next, more := strings.Cut(rest, "*")
		if !more && p.sign&1 != 0 {
			return strings.HasSuffix(text, seg)
		}
		_, behind, ok := strings.Cut(text, seg)
		if !ok || !more {
			return ok
		}
		rest, text = next, behind
	}
}

// search finds the patterns in one pass over the path, after which it looks only for those whose sign the path has.
func (m *Matcher) search(path []byte, starts []Start, s *Scratch) {
	first, state := starts[0].Pos, uint32(0)
	s.ends = slices.Grow(s.ends[:0], len(path)+1)[:len(path)+1]
	s.arriving = slices.Grow(s.arriving[:0], len(path)+1)[:len(path)+1]
	clear(s.arriving)
	s.ends[first] = 0
	for i, b := range path[first:] {
		state = m.step(state, b)
		s.ends[first+i+1] = m.states[state].end
		m.see(s.ends[first+i+1], s)
	}
	m.start(starts, 1, s)
	m.leave(len(path), s)
	for _, group := range s.touched { // patterns whose last segment can be anywhere
		s.active[group] = 0
	}
	m.start(starts, 0, s)
	if len(s.attempts) == 1 {
		first = len(path) + 1 // no attempt waits
	}
	for place := len(path); place >= first; place-- {
		m.arrive(place, s)
		m.leave(place, s)
	}
}

// see records that the path has the segments that are suffixes of a text. end is as in state.
func (m *Matcher) see(end uint32, s *Scratch) {
	for o := end; o != 0; s.Looked++ {
		seg := &m.segments[o-1]
		s.see((o-1)>>6, seg.family)
		o = seg.other
	}
}

// see records that the path has some of a group of 64 segments.
func (s *Scratch) see(group uint32, segments uint64) {
	if s.seen[group] == 0 {
		s.touched = append(s.touched, group)
	}
	unseen := segments &^ s.seen[group]
	s.seen[group] |= unseen
	for ; unseen != 0; unseen &= unseen - 1 {
		s.signs = append(s.signs, group<<6|uint32(bits.TrailingZeros64(unseen)))
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
	return m.next[state<<m.width|uint32(m.class[b])]
}

// start makes patterns wait for their last segment: those that need it at the end of the path (1), or all others (0). It
// skips patterns whose sign the path lacks, and patterns that cannot beat the best one.
func (m *Matcher) start(starts []Start, atEnd uint32, s *Scratch) {
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

func (m *Matcher) startAll(patterns []pattern, atEnd uint32, s *Scratch) {
	for i := range patterns {
		if p := &patterns[i]; p.rank > s.best && p.sign&1 == atEnd && s.from[p.list] != 0 {
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

// prepare allocates memory for m, and forgets the last path.
func (s *Scratch) prepare(m *Matcher) {
	for _, group := range s.touched {
		s.active[group], s.seen[group] = 0, 0
	}
	s.touched, s.signs, s.attempts = s.touched[:0], s.signs[:0], append(s.attempts[:0], attempt{})
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
	return 4*(len(m.next)+len(m.steps)+len(m.filter)+len(m.first)) + len(m.class) + len(m.labels) + 12*len(m.states) +
		24*len(m.segments) + 32*len(m.patterns) + 16*len(m.windows)
}
