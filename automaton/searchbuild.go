package automaton

import "slices"

// A searchBuilder makes a searchTable. The trie of segment sequences is built first, with nodes in
// order of appearance; finish puts them in the order that the table wants.
type searchBuilder struct {
	segments []string          // the distinct segments, sorted
	number   map[string]uint32 // their places in segments
	nodes    []seqNode
	anchors  []uint32 // the nodes that stand for anchors
	depth    int
}

// noSegment is the last segment of an anchor's node: it sorts behind all.
const noSegment = 1<<32 - 1

// newSearchBuilder starts a table for patterns with floating segments, in the order of
// Pattern.compare.
func newSearchBuilder(pats []ranked) *searchBuilder {
	b := &searchBuilder{number: map[string]uint32{}}
	above := anchors{}
	for i := range pats {
		p := &pats[i]
		p.segments(func(seg string, _ bool) {
			if _, known := b.number[seg]; !known {
				b.number[seg] = 0
				b.segments = append(b.segments, seg)
			}
		})
		above.add(p.Anchor, 0)
		b.depth = max(b.depth, len(above))
	}
	slices.Sort(b.segments)
	for g, seg := range b.segments {
		b.number[seg] = uint32(g)
	}
	return b
}

// addRoot adds the sequences of the patterns that share an anchor and returns the number of the
// anchor, which is what the trie node must say of its floating segments. Neighbours share the nodes
// of the segments that they begin with.
func (b *searchBuilder) addRoot(pats []ranked) uint32 {
	way := []uint32{b.node(seqNode{last: noSegment})} // the nodes of the pattern before
	b.anchors = append(b.anchors, way[0])
	for i := range pats {
		p, n := &pats[i], 1
		p.segments(func(seg string, _ bool) {
			b.nodes[way[n-1]].bound = max(b.nodes[way[n-1]].bound, p.rank)
			if g := b.number[seg]; n == len(way) || b.nodes[way[n]].last != g {
				way = append(way[:n], b.node(seqNode{parent: way[n-1], last: g}))
			}
			n++
		})
		way = way[:n]
		if p.End {
			b.nodes[way[n-1]].exact = p.rank
		} else {
			b.nodes[way[n-1]].rank = p.rank
		}
	}
	return uint32(len(b.anchors) - 1)
}

func (b *searchBuilder) node(n seqNode) uint32 {
	b.nodes = append(b.nodes, n)
	return uint32(len(b.nodes) - 1)
}

// finish returns the table.
func (b *searchBuilder) finish() *searchTable {
	t := &searchTable{maxDepth: b.depth}
	terminal := t.addStates(b.segments)
	t.addFailures()
	t.addOutputs(b.segments, terminal)
	b.orderSegments(t)
	b.addNodes(t)
	t.derive()
	return t
}

// countStates returns how many states the trie of the sorted segments has: the root, and one for
// each byte of a segment that the one before it does not share.
func countStates(segments []string) int {
	n, last := 1, ""
	for _, seg := range segments {
		shared := 0
		for shared < len(last) && last[shared] == seg[shared] { // sorted, so no segment is what the one before begins with
			shared++
		}
		n += len(seg) - shared
		last = seg
	}
	return n
}

// addStates makes the trie of the sorted segments breadth first, and returns the state that spells
// each.
func (t *searchTable) addStates(segments []string) (terminal []uint32) {
	type span struct{ lo, hi, depth int32 } // segments that start with what a state spells, and its length
	n := countStates(segments)
	terminal = make([]uint32, len(segments))
	states := append(make([]span, 0, n), span{0, int32(len(segments)), 0})
	t.first = make([]uint32, 0, n+1)
	t.labels = append(make([]byte, 0, n), 0) // of the root, unused
	for s := 0; s < len(states); s++ {
		at := states[s]
		t.first = append(t.first, uint32(len(states)))
		for at.lo < at.hi && int32(len(segments[at.lo])) == at.depth {
			terminal[at.lo] = uint32(s)
			at.lo++
		}
		for at.lo < at.hi {
			label := segments[at.lo][at.depth]
			next := at.lo
			for next < at.hi && segments[next][at.depth] == label {
				next++
			}
			t.labels = append(t.labels, label)
			states = append(states, span{at.lo, next, at.depth + 1})
			at.lo = next
		}
	}
	t.first = append(t.first, uint32(len(states)))
	for child := t.first[0]; child < t.first[1]; child++ {
		t.start[t.labels[child]] = child
	}
	return terminal
}

// addFailures links each state to that of its longest proper suffix. The links of shorter states
// come first, as steps from them are what the others are made of.
func (t *searchTable) addFailures() {
	t.fail = make([]uint32, len(t.labels))
	for s := range uint32(len(t.labels)) {
		for child := t.first[s]; child < t.first[s+1]; child++ {
			if s != 0 {
				t.fail[child] = t.step(t.fail[s], t.labels[child])
			}
		}
	}
}

// addOutputs makes the lists of the segments that end in each state.
func (t *searchTable) addOutputs(segments []string, terminal []uint32) {
	t.out = make([]uint32, len(t.labels))
	t.shorter = make([]uint32, len(segments))
	t.length = make([]int32, len(segments))
	for g, s := range terminal {
		t.out[s] = uint32(g) + 1
		t.length[g] = int32(len(segments[g]))
	}
	for s := range t.out {
		switch shorter := t.out[t.fail[s]]; {
		case t.out[s] == 0:
			t.out[s] = shorter
		case s != 0:
			t.shorter[t.out[s]-1] = shorter
		}
	}
}
