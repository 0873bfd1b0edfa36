package automaton

import "slices"

// A sequences is the trie of segment sequences on its way into a searchTable.
type sequences struct {
	nodes    []seqNode
	children []uint32 // how many each node has
	chained  []bool   // nodes that a chain leads to or through
	inner    []bool   // nodes that a chain leads through, which are no nodes of the table
	number   []uint32 // in the table
}

// addNodes puts the sequences into the table: its nodes by their last segment, the listed ones
// first, anchors last, in the order of their numbers; and the chains.
func (b *searchBuilder) addNodes(t *searchTable) {
	s := sequences{nodes: b.nodes}
	s.findChains(len(b.segments))
	s.addTo(t, len(b.segments))
	s.addChains(t)
}

// findChains decides which nodes chains lead to and through.
func (s *sequences) findChains(segments int) {
	n := len(s.nodes)
	s.children, s.chained, s.inner = make([]uint32, n), make([]bool, n), make([]bool, n)
	for v := range s.nodes {
		if n := &s.nodes[v]; n.last != noSegment {
			s.children[n.parent]++
		}
	}
	listed := make([]uint32, segments)
	for v := range s.nodes {
		if n := &s.nodes[v]; n.last != noSegment && s.children[n.parent] > 1 {
			listed[n.last]++
		}
	}
	for v := range s.nodes {
		n := &s.nodes[v]
		if n.last == noSegment {
			continue
		}
		s.chained[v] = s.children[n.parent] == 1 || listed[n.last] > crowd
		s.inner[v] = s.chained[v] && s.children[v] == 1 && n.rank == NoMatch && n.exact == NoMatch
	}
}

// addTo numbers the nodes that are not inside of chains.
func (s *sequences) addTo(t *searchTable, segments int) {
	place := func(v int) int { // by segment: the listed nodes, and those that chains lead to
		n := &s.nodes[v]
		switch {
		case n.last == noSegment:
			return 2 * segments
		case s.chained[v]:
			return 2*int(n.last) + 1
		}
		return 2 * int(n.last)
	}
	next := make([]uint32, 2*segments+2)
	for v := range s.nodes {
		if !s.inner[v] {
			next[place(v)+1]++
		}
	}
	for i := range 2*segments + 1 {
		next[i+1] += next[i]
	}
	t.anchor = next[2*segments]
	t.ending, t.listed = make([]uint32, segments+1), make([]uint32, segments)
	for g := range segments {
		t.ending[g], t.listed[g] = next[2*g], next[2*g+1]
	}
	t.ending[segments] = t.anchor
	s.number = make([]uint32, len(s.nodes))
	t.nodes = make([]seqNode, next[2*segments+1])
	for v := range s.nodes { // parents come before their children
		n := s.nodes[v]
		if s.inner[v] {
			s.number[v] = s.number[n.parent] // where the chain begins
			continue
		}
		s.number[v] = next[place(v)]
		next[place(v)]++
		n.parent = s.number[n.parent]
		t.nodes[s.number[v]] = n
	}
}

// addChains writes the chains, by the numbers of the nodes where they begin and then of those they
// lead to.
func (s *sequences) addChains(t *searchTable) {
	var ends []uint32 // nodes of s that chains lead to
	total := 0
	for v := range s.nodes {
		if s.chained[v] && !s.inner[v] {
			ends = append(ends, uint32(v))
			total++
		} else if s.inner[v] {
			total++
		}
	}
	slices.SortFunc(ends, func(x, y uint32) int {
		x, y = s.number[x], s.number[y]
		if p, q := t.nodes[x].parent, t.nodes[y].parent; p != q {
			return int(p) - int(q)
		}
		return int(x) - int(y)
	})
	t.starts, t.chains = make([]uint32, 0, len(ends)), make([]uint32, 0, total+len(ends))
	at := 0
	for v := range t.nodes {
		n := &t.nodes[v]
		n.start = uint32(len(t.starts))
		for ; at < len(ends) && t.nodes[s.number[ends[at]]].parent == uint32(v); at++ {
			t.starts = append(t.starts, uint32(len(t.chains)))
			s.chain(t, ends[at])
			n.chains++
		}
	}
}

// chain writes the chain that leads to node v of s.
func (s *sequences) chain(t *searchTable, v uint32) {
	begin := len(t.chains)
	t.chains = append(t.chains, s.nodes[v].last)
	for p := s.nodes[v].parent; s.inner[p]; p = s.nodes[p].parent {
		t.chains = append(t.chains, s.nodes[p].last)
	}
	slices.Reverse(t.chains[begin:])
	t.chains = append(t.chains, chainEnd|s.number[v])
}
