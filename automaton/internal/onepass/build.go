package onepass

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// A Pattern is a sequence of segments to look for.
type Pattern struct {
	Segments string // each with a "*" before it, and of at least one byte; there is at least one
	End      bool   // the last segment is at the end of the path
	Rank     uint32 // less than 1<<31; not 0
}

// New returns the Matcher of lists of patterns. It keeps nothing of them.
func New(lists [][]Pattern) *Matcher {
	number := map[string]uint32{} // of each segment
	for _, list := range lists {
		for _, p := range list {
			for seg := range strings.SplitSeq(p.Segments[1:], "*") {
				number[seg] = 0
			}
		}
	}
	m := &Matcher{lists: len(lists)}
	m.addSegments(slices.Sorted(maps.Keys(number)), number)
	uses := make([]int, len(m.segments)) // of each segment, by patterns
	for l, list := range lists {
		for _, p := range list {
			m.patterns = append(m.patterns, pattern{at: uint32(len(m.steps)), rank: p.Rank, list: uint32(l), atEnd: p.End})
			for _, seg := range slices.Backward(strings.Split(p.Segments[1:], "*")) {
				m.steps = append(m.steps, number[seg])
				uses[number[seg]]++
			}
			m.steps = append(m.steps, lastStep|p.Rank)
		}
	}
	for i := range m.patterns {
		p := &m.patterns[i]
		p.sign = m.steps[p.at]
		for _, seg := range m.steps[p.at:] {
			if seg >= lastStep {
				break
			}
			if uses[seg] < uses[p.sign] {
				p.sign = seg
			}
		}
	}
	// Those that wait for a segment together are to be close together: else Match takes three times as long.
	slices.SortFunc(m.patterns, func(x, y pattern) int {
		return cmp.Or(cmp.Compare(x.sign, y.sign), cmp.Compare(x.list, y.list), slices.Compare(m.steps[x.at:], m.steps[y.at:]))
	})
	for g, i := 0, 0; g < len(m.segments); g++ {
		m.segments[g].patterns = uint32(i)
		for i < len(m.patterns) && m.patterns[i].sign == uint32(g) {
			i++
		}
	}
	m.segments = append(m.segments, segment{patterns: uint32(len(m.patterns))})
	return m
}

// addSegments adds segments, given in ascending order of their texts, and sets the number of each.
func (m *Matcher) addSegments(texts []string, number map[string]uint32) {
	shorter, depth := m.addStates(texts)
	deepest := make([]uint32, len(texts)) // 1 + each segment
	for g := range deepest {
		deepest[g] = uint32(g + 1)
	}
	slices.SortStableFunc(deepest, func(x, y uint32) int { return depth[y] - depth[x] })
	// Numbers follow on one another from a segment to the longest that ends it, until that has one. As the segments that
	// most others end are first, none is ended by many such sequences.
	numbers := make([]uint32, len(texts)+1) // 1 + the number of each
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
// segment, 1 + the longest other one that ends it, and how many end it, itself included.
func (m *Matcher) addStates(texts []string) (shorter []uint32, depth []int) {
	shorter, depth = make([]uint32, len(texts)+1), make([]int, len(texts)+1)
	type span struct{ lo, hi, length int } // the texts that begin with that of a state, and its length
	spans := []span{{0, len(texts), 0}}
	m.labels, m.states = []byte{0}, []state{{}} // of the root
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
	m.shift = uint8(bits.Len(uint(classes - 1)))
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
		if width := 1 << m.shift; s == 0 || s*width < 2*size { // of the first states, at most eight bytes for each of texts
			row := append(m.next, make([]uint32, width)...)
			if s > 0 {
				copy(row[len(m.next):], m.next[fail<<m.shift:][:width])
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
