package onepass

import (
	"slices"
	"strings"
)

// A Pattern is a sequence of segments to look for.
type Pattern struct {
	Segments string // each with a "*" before it, and of at least one byte; there is at least one
	End      bool   // the last segment is at the end of the path
	Rank     uint32 // less than 1<<31; not 0
}

// A text is a segment while a Matcher is built.
type text struct {
	bytes string
	atEnd bool
}

// compare orders texts, and of the same bytes the one first that counts everywhere.
func (t text) compare(u text) int {
	c := strings.Compare(t.bytes, u.bytes)
	switch {
	case c != 0:
		return c
	case t.atEnd == u.atEnd:
		return 0
	case u.atEnd:
		return -1
	}
	return 1
}

// A builder numbers the segments as it meets them; finish gives them the numbers
// that the Matcher has.
type builder struct {
	*Matcher
	number map[text]uint32
	texts  []text
}

// New returns the Matcher of lists of patterns. It keeps nothing of them.
func New(lists [][]Pattern) *Matcher {
	b := builder{Matcher: &Matcher{}, number: map[text]uint32{}}
	for _, patterns := range lists {
		best := uint32(0)
		for i := range patterns {
			b.addPattern(&patterns[i])
			best = max(best, patterns[i].Rank)
		}
		b.lists = append(b.lists, list{uint32(len(b.patterns)), best})
	}
	b.renumber(b.addStates())
	return b.Matcher
}

// addPattern adds a pattern.
func (b *builder) addPattern(p *Pattern) {
	at, g := len(b.steps), uint32(0)
	for rest, more := p.Segments[1:], true; more; {
		t := text{}
		t.bytes, rest, more = strings.Cut(rest, "*")
		t.atEnd = p.End && !more
		g = b.numberOf(t)
		b.steps = append(b.steps, g)
	}
	b.patterns = append(b.patterns, pattern{uint32(at), p.Rank, g})
	b.steps = append(b.steps, lastStep|p.Rank)
}

// numberOf returns the first number of a segment.
func (b *builder) numberOf(t text) uint32 {
	g, known := b.number[t]
	if !known {
		g = uint32(len(b.texts))
		b.number[t] = g
		b.texts = append(b.texts, t)
	}
	return g
}

// addStates makes the Aho-Corasick automaton, with the longest segment that ends in each state by
// its first number. It returns, for each segment, 1 + the next longest that ends it, and the
// segments in ascending order of length.
func (b *builder) addStates() (shorter, byLength []uint32) {
	sorted := make([]uint32, len(b.texts))
	for g := range sorted {
		sorted[g] = uint32(g)
	}
	slices.SortFunc(sorted, func(x, y uint32) int { return b.texts[x].compare(b.texts[y]) })
	type span struct{ lo, hi, depth int } // the sorted segments that begin with the text of a state, and its length
	states := []span{{0, len(sorted), 0}}
	b.labels = []byte{0} // of the root, unused
	shorter, byLength = make([]uint32, len(sorted)), make([]uint32, 0, len(sorted))
	for s := 0; s < len(states); s++ {
		at := states[s]
		b.first = append(b.first, uint32(len(states)))
		for at.lo < at.hi && len(b.texts[sorted[at.lo]].bytes) == at.depth {
			byLength = append(byLength, sorted[at.lo])
			at.lo++
		}
		for at.lo < at.hi {
			label, next := b.texts[sorted[at.lo]].bytes[at.depth], at.lo
			for next < at.hi && b.texts[sorted[next]].bytes[at.depth] == label {
				next++
			}
			b.labels = append(b.labels, label)
			states = append(states, span{at.lo, next, at.depth + 1})
			at.lo = next
		}
	}
	b.first = append(b.first, uint32(len(states)))
	for child := b.first[0]; child < b.first[1]; child++ {
		b.start[b.labels[child]] = child
	}
	b.fail, b.ends = make([]uint32, len(states)), make([]uint32, len(states))
	for s := range uint32(len(states)) { // states that make up others come first
		if s > 0 {
			b.ends[s] = b.ends[b.fail[s]]
			for i := states[s].lo; i < states[s].hi && len(b.texts[sorted[i]].bytes) == states[s].depth; i++ {
				shorter[sorted[i]] = b.ends[s]
				b.ends[s] = sorted[i] + 1
			}
		}
		for child := b.first[s]; child < b.first[s+1]; child++ {
			if s > 0 {
				b.fail[child] = b.step(b.fail[s], b.labels[child])
			}
		}
	}
	return shorter, byLength
}

// renumber numbers the segments so that each is followed by those that it ends, first by the one that
// ends most others: so segments that end one another are close together.
func (b *builder) renumber(shorter, byLength []uint32) {
	n := len(byLength)
	// By 1 + a segment: the number of segments that it ends, itself included; and 1 + the one of the next
	// longer of these that ends most.
	size, most := make([]uint32, n+1), make([]uint32, n+1)
	for _, g := range slices.Backward(byLength) {
		o := shorter[g]
		size[g+1]++
		size[o] += size[g+1]
		if m := most[o]; m == 0 || size[m] < size[g+1] {
			most[o] = g + 1
		}
	}
	// By 1 + a segment: 1 + its number; and 1 + the number for the next of the segments that it ends.
	number, next := make([]uint32, n+1), make([]uint32, n+1)
	next[0] = 1 + size[most[0]]
	b.segments = make([]segment, n)
	for _, g := range byLength {
		o := shorter[g]
		if v := number[o] + 1; most[o] == g+1 {
			number[g+1] = v
		} else {
			number[g+1] = next[o]
			next[o] += size[g+1]
		}
		v := number[g+1]
		next[g+1] = v + 1 + size[most[g+1]]
		seg := segment{family: 1 << ((v - 1) & 63), other: number[o], length: uint32(len(b.texts[g].bytes)), atEnd: b.texts[g].atEnd}
		if o != 0 && (number[o]-1)>>6 == (v-1)>>6 {
			ended := &b.segments[number[o]-1]
			seg.family |= ended.family
			seg.other = ended.other
		}
		b.segments[v-1] = seg
	}
	for s, o := range b.ends {
		b.ends[s] = number[o]
	}
	for i := range b.patterns {
		b.patterns[i].last = number[b.patterns[i].last+1] - 1
	}
	for i, g := range b.steps {
		if g < lastStep {
			b.steps[i] = number[g+1] - 1
			b.segments[b.steps[i]].room++
		}
	}
	room := uint32(0)
	for g := range b.segments {
		b.segments[g].room, room = room, room+b.segments[g].room
	}
}
