package automaton

import (
	"bytes"
	"math/bits"
)

// A searchTable finds the floating segments of many patterns in one pass: an Aho-Corasick automaton
// over all distinct segments, and registers that say which sequences of segments have been seen. It
// is an extended finite automaton (Smith, Estan, Jha: XFA, SIGCOMM 2008): states and registers, so
// that their combinations need not be enumerated.
//
// States are numbered in breadth-first order, the root being 0, so the children of one are
// neighbours. Segments that end one another are neighbours too, see orderSegments. The sequences
// are a trie. Its nodes are numbered by their last segment, so those that a segment can reach are
// neighbours; the nodes that stand for the anchors, in which no segment has been seen yet, come
// last. Where a sequence goes on in one way only, what it goes on with is no nodes but a chain.
type searchTable struct {
	start  [256]uint32 // child of the root by label; 0 if none
	labels []byte      // label of the edge that leads to a state
	first  []uint32    // children of state s: first[s] up to first[s+1]
	fail   []uint32    // state of the longest proper suffix of what s spells
	out    []uint32    // 1 + the longest segment that ends what s spells; 0 if none does

	shorter []uint32 // 1 + the next longest segment that ends segment g; 0 if none does
	length  []int32  // bytes of segment g
	ending  []uint32 // sequence nodes that segment g reaches: ending[g] up to ending[g+1]
	listed  []uint32 // of those, the nodes before listed[g] are looked at where g occurs; the others end chains

	nodes    []seqNode
	anchor   uint32   // first node that stands for an anchor
	starts   []uint32 // where the chains begin, see seqNode
	chains   []uint32 // segments, each chain with chainEnd + the node that it leads to behind it
	maxDepth int      // most trie nodes with floating segments on one path

	// What follows from the above, see derive.
	tops  []uint64 // a bit for each segment that is not ended by the one before it
	fresh []uint64 // a bit for each segment that has listed nodes
	room  []uint32 // for how many waiting chains there is room before those of segment g
}

// A seqNode is a node of the trie of segment sequences.
type seqNode struct {
	parent uint32 // the node before; if a chain leads here, that where it begins
	last   uint32 // last segment of the sequence; none for anchors
	rank   Rank   // of the pattern whose last segment this is; NoMatch if there is none
	exact  Rank   // the same for a pattern with an end anchor
	bound  Rank   // highest rank of the patterns that begin with this sequence and have more segments
	start  uint32 // chains that begin here: at starts[start] up to starts[start+chains]
	chains uint32
}

// chainEnd marks, in searchTable.chains, the node that a chain leads to.
const chainEnd = 1 << 31

// crowd is the most sequence nodes that are looked at one by one when their segment occurs. Where a
// segment is shared by more of them, chains begin with it, which wait for it from when their
// parents are reached: so no occurrence looks at the others.
const crowd = 4

// derive sets what follows from the other tables.
func (t *searchTable) derive() {
	segments := len(t.length)
	t.tops, t.fresh = make([]uint64, (segments+63)/64), make([]uint64, (segments+63)/64)
	t.room = make([]uint32, segments+1)
	for g := range uint32(segments) {
		if g == 0 || t.shorter[g] != g {
			t.tops[g>>6] |= 1 << (g & 63)
		}
		if t.listed[g] > t.ending[g] {
			t.fresh[g>>6] |= 1 << (g & 63)
		}
	}
	for _, g := range t.chains {
		if g < chainEnd {
			t.room[g+1]++
		}
	}
	for g := range segments {
		t.room[g+1] += t.room[g]
	}
}

// match returns the best rank among best and the patterns with floating segments of the trie nodes
// that the path passed, which are in the order of their places.
func (t *searchTable) match(path []byte, anchors []pending, best Rank, r *registers) Rank {
	bound := NoMatch
	for _, a := range anchors {
		bound = max(bound, t.nodes[t.anchor+a.group].bound)
	}
	if bound <= best {
		return best
	}
	r.prepare(t, len(path))
	r.best = best
	state := uint32(0)
	for i, a := range anchors {
		t.reach(t.anchor+a.group, int32(a.pos), r)
		end := len(path)
		if i+1 < len(anchors) {
			end = int(anchors[i+1].pos)
		}
		var done bool
		if state, done = t.scan(path, int(a.pos), end, state, bound, r); done {
			break
		}
	}
	if r.best < bound {
		t.atEnd(state, r)
	}
	best = r.best
	r.clear()
	return best
}

// scan searches path[pos:end]. It reports done if the best rank has reached the bound.
func (t *searchTable) scan(path []byte, pos, end int, state uint32, bound Rank, r *registers) (next uint32, done bool) {
	for ; pos < end; pos++ {
		if state == 0 {
			for pos < end && t.start[path[pos]] == 0 {
				pos++
			}
			if pos == end {
				break
			}
		}
		state = t.step(state, path[pos])
		if t.out[state] != 0 {
			t.fire(state, pos+1, r)
			if r.best >= bound {
				return state, true
			}
		}
	}
	return state, false
}

// step returns the state that follows on a byte.
func (t *searchTable) step(state uint32, b byte) uint32 {
	for state != 0 {
		lo, hi := t.first[state], t.first[state+1]
		if i := bytes.IndexByte(t.labels[lo:hi], b); i >= 0 {
			return lo + uint32(i)
		}
		state = t.fail[state]
	}
	return t.start[b]
}

// fire takes note of the segments that end at pos, where the search is in state: of those that are
// active.
func (t *searchTable) fire(state uint32, pos int, r *registers) {
	if r.alarms > 0 {
		r.ring(pos)
	}
	for o := t.out[state]; o != 0; {
		r.passed++
		g := o - 1
		w := g >> 6
		stops := (r.active[w] | t.tops[w]) & (2<<(g&63) - 1)
		if stops == 0 {
			o = w << 6
			continue
		}
		g = w<<6 | uint32(bits.Len64(stops)-1)
		if bit := uint64(1) << (g & 63); r.active[w]&bit != 0 {
			r.active[w] &^= bit
			t.occur(g, int32(pos), r)
		}
		o = t.shorter[g]
	}
}

// occur takes note that segment g ends at pos, and sees to it that it becomes active again when it
// can reach more.
func (t *searchTable) occur(g uint32, pos int32, r *registers) {
	r.looked++
	for v := t.ending[g]; v < t.listed[g]; v++ {
		if r.nodes[v].end != 0 {
			continue
		}
		switch p := r.nodes[t.nodes[v].parent].end; {
		case p == 0:
			r.await(t.nodes[v].parent, v)
		case p-1+t.length[g] > pos:
			r.alarm(g, p-1+t.length[g], pos)
		default:
			t.reach(v, pos, r)
		}
	}
	if q := &r.queues[g]; q.head < q.tail {
		t.advance(g, q, pos, r)
	}
}

// advance has those chains go on that wait for segment g, which ends at pos, in its queue. Most of
// what hostile rules cost is here, so what push does is in the loop.
func (t *searchTable) advance(g uint32, q *queue, pos int32, r *registers) {
	chains, waits, queues := t.chains, r.chains, r.queues
	i, end := q.head, q.tail // those behind that come meanwhile are not due
	for ; i < end; i++ {
		c := waits[i]
		if c.due > pos {
			break
		}
		at := c.at + 1
		next := chains[at]
		if next >= chainEnd {
			t.reach(next-chainEnd, pos, r)
			continue
		}
		n := &queues[next]
		tail := n.tail
		if n.head == tail {
			t.activate(next, r)
			tail = n.tail
		}
		waits[tail] = waiting{at, pos + n.length}
		n.tail = tail + 1
	}
	room := t.room[g]
	r.looked += int(i - q.head)
	q.head = i
	if q.head < q.tail {
		r.alarm(g, r.chains[i].due, pos)
	}
	if left := q.tail - i; left <= i-room { // so that all stays in few lines of the cache
		copy(r.chains[room:], r.chains[i:q.tail])
		q.head, q.tail = room, room+left
	}
}

// push has a chain wait for its segment g, at a place of searchTable.chains; what comes before it
// ended at pos.
func (t *searchTable) push(at, g uint32, pos int32, r *registers) {
	q := &r.queues[g]
	if q.head == q.tail {
		t.activate(g, r)
	}
	r.chains[q.tail] = waiting{at, pos + q.length}
	q.tail++
}

// activate makes segment g active, for whose queue chains come, for the first time or again.
func (t *searchTable) activate(g uint32, r *registers) {
	r.active[g>>6] |= 1 << (g & 63)
	if q := &r.queues[g]; q.length == 0 {
		*q = queue{t.room[g], t.room[g], t.length[g]}
		r.used = append(r.used, g)
	}
}

// reach takes note that the sequence of node v first ended at pos. A later end can only accept
// less, so the first is all that counts.
func (t *searchTable) reach(v uint32, pos int32, r *registers) {
	s, n := &r.nodes[v], &t.nodes[v]
	if s.end != 0 {
		return
	}
	s.end = pos + 1
	r.seen = append(r.seen, v)
	r.best = max(r.best, n.rank)
	if n.bound <= r.best { // it has no children, or none that can win
		return
	}
	for w := s.awaited; w != 0; w = r.next[w-1] - 1 {
		g := t.nodes[w-1].last
		r.active[g>>6] |= 1 << (g & 63)
	}
	for _, at := range t.starts[n.start : n.start+n.chains] {
		t.push(at, t.chains[at], pos, r)
	}
}

// atEnd looks at the patterns with an end anchor: the last segment ends the path. Those that can
// match have been reached, at the latest where the path ends.
func (t *searchTable) atEnd(state uint32, r *registers) {
	for o := t.out[state]; o != 0; o = t.shorter[o-1] {
		lo, hi := t.ending[o-1], t.ending[o]
		if int(hi-lo) > len(r.seen) {
			for _, v := range r.seen {
				if lo <= v && v < hi {
					r.best = max(r.best, t.nodes[v].exact)
				}
			}
			continue
		}
		for v := lo; v < hi; v++ {
			if n := &t.nodes[v]; n.exact > r.best && r.nodes[v].end != 0 {
				r.best = n.exact
			}
		}
	}
}

// size returns the bytes of the tables.
func (t *searchTable) size() int {
	if t == nil {
		return 0
	}
	const node = 7 * 4
	return 4*(len(t.start)+len(t.first)+len(t.fail)+len(t.out)+len(t.shorter)+len(t.length)+len(t.ending)+len(t.listed)+
		len(t.starts)+len(t.chains)+len(t.room)) + 8*(len(t.tops)+len(t.fresh)) + len(t.labels) + node*len(t.nodes)
}
