package automaton

import (
	"cmp"
	"slices"
	"strings"
)

// A searchBuilder makes a searchTable. The trie of segment sequences is built first, with nodes in order of
// appearance; finish puts them in the order that the table wants.
type searchBuilder struct {
	segments []string // the distinct segments, sorted
	nodes    []seqNode
	child    map[seqEdge]uint32
	anchors  []uint32 // the nodes that stand for anchors
	depth    int
}

// A seqEdge leads from one sequence to that with one more segment.
type seqEdge struct{ parent, segment uint32 }

// noSegment is the last segment of an anchor's node: it sorts behind all.
const noSegment = 1<<32 - 1

// newSearchBuilder starts a table for the floating segments of pats.
func newSearchBuilder(pats []ranked) *searchBuilder {
	b := &searchBuilder{child: map[seqEdge]uint32{}}
	var above []string
	for i := range pats {
		p := &pats[i]
		if p.Rest == "" {
			continue
		}
		p.segments(func(seg string, _ bool) { b.segments = append(b.segments, seg) })
		for len(above) > 0 && !strings.HasPrefix(p.Anchor, above[len(above)-1]) {
			above = above[:len(above)-1]
		}
		if len(above) == 0 || above[len(above)-1] != p.Anchor {
			above = append(above, p.Anchor)
		}
		b.depth = max(b.depth, len(above))
	}
	slices.Sort(b.segments)
	b.segments = slices.Compact(b.segments)
	return b
}

// addRoot adds the sequences of the patterns that share an anchor and returns the number of the anchor, which is what the
// trie node must say of its floating segments.
func (b *searchBuilder) addRoot(pats []ranked) uint32 {
	root := b.node(seqNode{last: noSegment})
	for i := range pats {
		p := &pats[i]
		v := root
		p.segments(func(seg string, _ bool) {
			g, _ := slices.BinarySearch(b.segments, seg)
			edge := seqEdge{v, uint32(g)}
			next, ok := b.child[edge]
			if !ok {
				next = b.node(seqNode{parent: v, last: uint32(g)})
				b.child[edge] = next
			}
			v = next
		})
		if p.End {
			b.nodes[v].exact = p.rank
		} else {
			b.nodes[v].rank = p.rank
		}
		b.nodes[root].bound = max(b.nodes[root].bound, p.rank)
	}
	b.anchors = append(b.anchors, root)
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
	b.addNodes(t)
	return t
}

// addStates makes the trie of the sorted segments breadth first, and returns the state that spells each.
func (t *searchTable) addStates(segments []string) (terminal []uint32) {
	type span struct{ lo, hi, depth int } // segments that start with what a state spells, and its length
	terminal = make([]uint32, len(segments))
	states := []span{{0, len(segments), 0}}
	t.labels = append(t.labels, 0) // of the root, unused
	for s := 0; s < len(states); s++ {
		at := states[s]
		t.first = append(t.first, uint32(len(states)))
		for at.lo < at.hi && len(segments[at.lo]) == at.depth {
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

// addFailures links each state to that of its longest proper suffix. The links of shorter states come first, as steps
// from them are what the others are made of.
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

// addNodes numbers the sequence nodes by their last segment, anchors last, in the order of their numbers.
func (b *searchBuilder) addNodes(t *searchTable) {
	order := make([]uint32, len(b.nodes))
	for v := range order {
		order[v] = uint32(v)
	}
	slices.SortStableFunc(order, func(v, w uint32) int { return cmp.Compare(b.nodes[v].last, b.nodes[w].last) })
	number := make([]uint32, len(order))
	t.nodes = make([]seqNode, len(order))
	t.ending = make([]uint32, len(b.segments)+1)
	for v, old := range order {
		number[old] = uint32(v)
		t.nodes[v] = b.nodes[old]
		if g := t.nodes[v].last; g != noSegment {
			t.ending[g+1] = uint32(v) + 1
		}
	}
	for v := range t.nodes {
		t.nodes[v].parent = number[t.nodes[v].parent]
	}
	t.anchor = uint32(len(t.nodes) - len(b.anchors))
	t.addQueues()
}

// addQueues lists, for each sequence node, the children that share their segment with a crowd.
func (t *searchTable) addQueues() {
	isQueued := func(v uint32) bool {
		g := t.nodes[v].last
		return t.ending[g+1]-t.ending[g] > crowd
	}
	for v := range t.anchor {
		if isQueued(v) {
			t.nodes[t.nodes[v].parent].queues++
		}
	}
	total := uint32(0)
	for v := range t.nodes {
		t.nodes[v].queue = total
		total += t.nodes[v].queues
	}
	t.queued = make([]uint32, total)
	filled := make([]uint32, len(t.nodes))
	for v := range t.anchor {
		if isQueued(v) {
			p := t.nodes[v].parent
			t.queued[t.nodes[p].queue+filled[p]] = v
			filled[p]++
		}
	}
}
