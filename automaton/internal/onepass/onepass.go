// Package onepass finds the highest-ranked of very many patterns that match a path. Only package automaton imports
// it, for the rules of hostile files, which take too long to try one after the other. It hides the algorithm.
//
// A pattern is a sequence of segments. It matches a path that contains them in order and without overlap. Its sign is
// the segment of it that the fewest patterns have, and of these the longest. A path of p bytes is searched in up to
// three steps. If the first or the second step gives up, the third finds all matches, and up to 15 next paths
// use only it.
//
//  1. Hashes of the last bytes of the signs tell which signs the path may have. This takes 1 to 2 ns a byte for each of
//     at most four lengths. It gives up after p+32 signs with equal hashes, or (p+32)/8 signs found.
//  2. The patterns of these signs are tried one by one. It gives up if they have over p+64 bytes, counting eight more
//     for each pattern, or when the path was read four times.
//  3. An Aho-Corasick automaton finds where segments end in the path, 10 ns a byte. Then the path is read from its end
//     to its beginning. Each pattern whose sign occurs waits for its last segment. Where that segment ends, the pattern
//     moves to the beginning of the segment, and waits for the previous one. Taking the last occurrence of a segment is
//     always right, because an earlier one leaves less of the path. A pattern makes at most one move per segment, which
//     takes 4 ns. If many segments are suffixes of each other, one word of bits says for 64 of them whether patterns
//     wait for them.
//
// If all patterns have n bytes, [New] takes O(n) plus sorting, and [Matcher.Match] takes O(p·(∛n + √n/64) + n).
//
// No group of 2,561 real files needs this package, so the code should be short, and its time bounded. Packs do not
// store its tables.
package onepass

import (
	"bytes"
	"math"
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

	masks   []uint64 // of the bytes of windows that are hashed
	shift   uint8    // the number of the lowest bits of a product that are not part of the hash
	filter  []word   // by the highest bits of the hash, with a sentinel at the end
	windows []window // of signs
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

	// A word is a part of the filter for windows.
	word struct {
		bits  uint32 // a bit for each of 32 hashes that windows have
		first uint32 // its first window; they end where those of the next word begin
	}

	// A window contains the last bytes of a segment, by which a path is searched for it.
	window struct {
		text    uint64 // up to eight bytes, the last one in the lowest bits
		segment uint32
		unused  uint32 // the number of the highest bits of text that are not used
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
const mix = 0x9e3779b97f4a7c15

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
	left     int       // the work that may be done before few patterns are given up
	best     uint32

	// The number of paths that are searched in one pass after the hashes did not help, up to 15, and how many of these
	// are left.
	pause, skip int

	// Counts of the work done since the Scratch was new, besides reading paths: the number of moves, and the number
	// of groups of 64 segments that were examined. Tests limit them.
	Moves, Looked int
}

type (
	// An attempt is a pattern that may match the path.
	attempt struct {
		// The next attempt in its queue, or in the list of those that arrive at a position; before it waits, twice the
		// index of its pattern, plus 1 if the last segment must be at the end.
		next uint32
		at   uint32 // the index in Matcher.steps of its next step
		from uint32 // the first position of the path where its first segment may begin
	}
	queue struct{ head, tail uint32 } // the first and the last attempt
)

// Match returns the highest rank of the patterns that match the path from their starts on, or best if that is
// higher. Starts must be in ascending order of position, and each before the end of the path.
func (m *Matcher) Match(path []byte, starts []Start, best uint32, s *Scratch) uint32 {
	s.best = best
	s.prepare(m)
	for _, start := range starts {
		s.from[start.List] = uint32(start.Pos) + 1
	}
	if s.skip > 0 {
		s.skip--
		m.search(path, starts, s)
	} else if m.findSigns(path[starts[0].Pos:], s) && m.find(starts, len(path)+64, s) && m.tryAll(path, s) {
		s.pause = 0
	} else {
		s.pause = min(2*s.pause+1, 15)
		s.skip = s.pause
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
			h := text & mask * mix >> m.shift
			if m.filter[h>>5].bits>>(h&31)&1 == 0 {
				continue
			}
			windows := m.windows[m.filter[h>>5].first:m.filter[h>>5+1].first]
			if left -= len(windows); left < 8*len(s.signs) {
				return false
			}
			for _, w := range windows {
				if (w.text^text)<<w.unused == 0 {
					s.see(w.segment>>6, 1<<(w.segment&63))
				}
			}
		}
	}
	return true
}

// find makes an attempt for each pattern whose sign the path has, except those that cannot beat the best one. It
// reports false if this is too much work.
func (m *Matcher) find(starts []Start, most int, s *Scratch) bool {
	s.left = most
	for _, g := range s.signs {
		lo, hi := m.segments[g].patterns, m.segments[g+1].patterns
		if int(hi-lo) <= 8*len(starts) {
			m.add(lo, hi, s)
			continue
		}
		for _, start := range starts {
			search := func(list int) uint32 {
				return lo + uint32(sort.Search(int(hi-lo), func(i int) bool { return int(m.patterns[lo:][i].list) >= list }))
			}
			m.add(search(start.List), search(start.List+1), s)
		}
	}
	return s.left >= 0
}

// add appends attempts of the patterns from lo to hi whose rank is above the best and whose list has started. It takes
// their cost from s.left, and stops below 0.
func (m *Matcher) add(lo, hi uint32, s *Scratch) {
	attempts, left := s.attempts, s.left-int(hi-lo)
	for ; lo < hi && left >= 0; lo++ {
		if p := &m.patterns[lo]; p.rank > s.best && s.from[p.list] != 0 {
			attempts = append(attempts, attempt{lo<<1 | p.sign&1, p.at + 1, s.from[p.list] - 1})
			left -= 8 + len(p.segments)
		}
	}
	s.attempts, s.left = attempts, left
}

// tryAll makes the attempts one by one, or reports false if this takes too long.
func (m *Matcher) tryAll(path []byte, s *Scratch) bool {
	s.left = len(path)
	for _, a := range s.attempts[1:] {
		if p := &m.patterns[a.next>>1]; p.rank > s.best && p.matches(path[a.from:], s) {
			s.best = p.rank
		}
		if s.left < 0 {
			return false
		}
	}
	return true
}

// matches reports whether the pattern matches a path.
func (p *pattern) matches(path []byte, s *Scratch) bool {
	rest, text := p.segments[1:], unsafe.String(unsafe.SliceData(path), len(path))
	for {
		seg, next, more := strings.Cut(rest, "*")
		if !more && p.sign&1 != 0 {
			return strings.HasSuffix(text, seg)
		}
		_, behind, ok := strings.Cut(text, seg)
		if len(seg) > 1 { // a single byte is found much faster
			s.left -= (len(text) - len(behind)) / 4
		}
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
	m.find(starts, math.MaxInt, s)
	for i := uint32(1); i < uint32(len(s.attempts)); i++ {
		a := &s.attempts[i]
		last, p := m.steps[a.at-1], &m.patterns[a.next>>1]
		if a.next&1 == 0 {
			s.wait(i, last)
		} else if n := int(m.segments[last].length); bytes.HasSuffix(path[first:], []byte(p.segments[len(p.segments)-n:])) {
			a.next, s.arriving[len(path)-n] = s.arriving[len(path)-n], i
		}
	}
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
		if i := bytes.IndexByte(m.labels[next:end], b); i >= 0 {
			return next + uint32(i)
		}
	}
	return m.next[state<<m.width|uint32(m.class[b])]
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
	return 4*(len(m.next)+len(m.steps)+2*len(m.filter)) + len(m.class) + len(m.labels) + 12*len(m.states) +
		24*len(m.segments) + 32*len(m.patterns) + 16*len(m.windows)
}
