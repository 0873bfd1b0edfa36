package onepass

import (
	"maps"
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
	m := &Matcher{}
	m.addSegments(slices.Sorted(maps.Keys(number)), number)
	for _, list := range lists {
		patterns := make([]pattern, len(list))
		for i, p := range list {
			patterns[i] = pattern{uint32(len(m.steps)), p.Rank, p.End}
			for _, seg := range slices.Backward(strings.Split(p.Segments[1:], "*")) {
				m.steps = append(m.steps, number[seg])
			}
			m.steps = append(m.steps, lastStep|p.Rank)
		}
		// Those that wait for a segment together are to be close together: else Match takes three times as long.
		slices.SortFunc(patterns, func(x, y pattern) int { return slices.Compare(m.steps[x.at:], m.steps[y.at:]) })
		m.lists = append(m.lists, patterns)
	}
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
	}
	m.states = append(m.states, state{children: uint32(len(spans))})
	return shorter, depth
}
