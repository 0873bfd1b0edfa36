package onepass

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// A Pattern is a sequence of segments to find.
type Pattern struct {
	Segments string // each segment, which is not empty, follows a "*"; there is at least one
	End      bool   // the last segment must be at the end of the path
	Rank     uint32 // less than 1<<31; not 0
}

// New returns a Matcher for lists of patterns. It keeps the texts of their segments.
func New(lists [][]Pattern) *Matcher {
	uses := map[string]int{} // by segment, the number of patterns that have it
	for _, list := range lists {
		for _, p := range list {
			for seg := range strings.SplitSeq(p.Segments[1:], "*") {
				uses[seg]++
			}
		}
	}
	m, number := &Matcher{lists: len(lists)}, make(map[string]uint32, len(uses))
	m.addSegments(slices.Sorted(maps.Keys(uses)), number)
	for l, list := range lists {
		for _, p := range list {
			own, least := pattern{p.Segments, uint32(len(m.steps)), p.Rank, uint32(l), 0}, math.MaxInt
			for _, seg := range slices.Backward(strings.Split(p.Segments[1:], "*")) {
				m.steps = append(m.steps, number[seg])
				if n := uses[seg]<<8 - min(len(seg), 255); n < least {
					own.sign, least = number[seg]<<1, n
				}
			}
			if p.End {
				own.sign++
			}
			m.patterns, m.steps = append(m.patterns, own), append(m.steps, lastStep|p.Rank)
		}
	}
	// Patterns that wait for the same segment should be close together; otherwise Match takes three times as long.
	slices.SortFunc(m.patterns, func(x, y pattern) int {
		return cmp.Or(cmp.Compare(x.sign>>1, y.sign>>1), cmp.Compare(x.list, y.list), slices.Compare(m.steps[x.at:], m.steps[y.at:]))
	})
	for g, i := 0, 0; g < len(m.segments); g++ {
		m.segments[g].patterns = uint32(i)
		for i < len(m.patterns) && m.patterns[i].sign>>1 == uint32(g) {
			i++
		}
	}
	m.segments = append(m.segments, segment{patterns: uint32(len(m.patterns))})
	m.addWindows(number)
	return m
}

// addWindows adds a window for each segment that is a sign, given the numbers of all segments.
func (m *Matcher) addWindows(number map[string]uint32) {
	longest := 8 // the most bytes that are hashed: those of the shortest sign with at least four bytes
	for text, g := range number {
		if m.segments[g].patterns == m.segments[g+1].patterns {
			delete(number, text)
		} else if len(text) >= 4 {
			longest = min(longest, len(text))
		}
	}
	log := bits.Len(uint(len(number) / 2))
	m.shift, m.filter = uint8(59-log), make([]word, 1<<log+1)
	words := make([][]window, 1<<log)
	for text, g := range number {
		w := window{segment: g, unused: uint32(64 - 8*min(8, len(text)))}
		for _, b := range []byte(text) {
			w.text = w.text<<8 | uint64(b)
		}
		mask := ^uint64(0) >> (64 - 8*min(longest, len(text)))
		if !slices.Contains(m.masks, mask) {
			m.masks = append(m.masks, mask)
		}
		h := w.text & mask * mix >> m.shift
		m.filter[h>>5].bits |= 1 << (h & 31)
		words[h>>5] = append(words[h>>5], w)
	}
	for i, windows := range words {
		m.windows = append(m.windows, windows...)
		m.filter[i+1].first = uint32(len(m.windows))
	}
}

// addSegments adds segments, given in ascending order of their texts, and assigns their numbers.
func (m *Matcher) addSegments(texts []string, number map[string]uint32) {
	shorter, depth := m.addStates(texts)
	deepest := make([]uint32, len(texts)) // values are 1 + a segment
	for g := range deepest {
		deepest[g] = uint32(g + 1)
	}
	slices.SortStableFunc(deepest, func(x, y uint32) int { return depth[y] - depth[x] })
	// A segment and the longest segment that is a suffix of it get consecutive numbers, and so on, until a suffix
	// already has a number. Segments with the most suffixes come first, so no segment has many such sequences of
	// suffixes.
	numbers := make([]uint32, len(texts)+1) // values are 1 + a number
	for _, g := range deepest {
		from := len(m.segments)
		for ; g != 0 && numbers[g] == 0; g = shorter[g] {
			m.segments = append(m.segments, segment{length: uint32(len(texts[g-1]))})
			numbers[g] = uint32(len(m.segments))
			number[texts[g-1]] = numbers[g] - 1
		}
		for i := from; i < len(m.segments); i++ {
			end := min(len(m.segments), i|63+1)
			m.segments[i].family = (1<<(end-i) - 1) << (i & 63)
			if m.segments[i].other = numbers[g]; end < len(m.segments) {
				m.segments[i].other = uint32(end + 1)
			}
		}
	}
	for s := range m.states {
		m.states[s].end = numbers[m.states[s].end]
	}
}

// addStates adds the states for the texts of segments, which are numbered in that order. It returns, by 1 + a
// segment, 1 + the longest other segment that is its suffix, and the number of segments that are its suffixes,
// including itself.
func (m *Matcher) addStates(texts []string) (shorter []uint32, depth []int) {
	shorter, depth = make([]uint32, len(texts)+1), make([]int, len(texts)+1)
	type span struct{ lo, hi, length int } // the texts that begin with the text of a state, and the length of that text
	spans := []span{{0, len(texts), 0}}
	m.labels, m.states = []byte{0}, []state{{}} // the root
	classes, size := 1, 0
	for _, text := range texts {
		for i := range len(text) {
			if m.class[text[i]] == 0 {
				m.class[text[i]] = uint8(classes)
				classes++
			}
		}
		size += len(text)
	}
	m.width = uint8(bits.Len(uint(classes - 1)))
	for s := 0; s < len(spans); s++ {
		at, fail := spans[s], m.states[s].fail
		end := m.states[fail].end
		if at.lo < at.hi && len(texts[at.lo]) == at.length {
			at.lo++
			shorter[at.lo], depth[at.lo], end = end, depth[end]+1, uint32(at.lo)
		}
		m.states[s].end, m.states[s].children = end, uint32(len(spans))
		for next := at.lo; at.lo < at.hi; at.lo = next {
			label, child := texts[at.lo][at.length], state{}
			for next < at.hi && texts[next][at.length] == label {
				next++
			}
			if s > 0 {
				child.fail = m.step(fail, label)
			}
			spans = append(spans, span{at.lo, next, at.length + 1})
			m.labels, m.states = append(m.labels, label), append(m.states, child)
		}
		if width := 1 << m.width; s == 0 || s*width < 2*size { // the first states: at most eight bytes per byte of texts
			row := append(m.next, make([]uint32, width)...)
			if s > 0 {
				copy(row[len(m.next):], m.next[fail<<m.width:][:width])
			}
			for child := int(m.states[s].children); child < len(m.labels); child++ {
				row[len(m.next)+int(m.class[m.labels[child]])] = uint32(child)
			}
			m.next, m.rows = row, uint32(s+1)
		}
	}
	m.states = append(m.states, state{children: uint32(len(spans))})
	return shorter, depth
}
