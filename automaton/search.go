package automaton

import "bytes"

// A searchTable finds the floating segments of many patterns in one pass: an Aho-Corasick automaton over all distinct
// segments, and a register for each node of the trie of segment sequences that says whether, and where, the sequence
// up to there has been seen. It is an extended finite automaton (Smith, Estan, Jha: XFA, SIGCOMM 2008): states and
// registers, so that their combinations need not be enumerated.
//
// States are numbered in breadth-first order, the root being 0, so the children of one are neighbours. Sequence nodes
// are numbered by their last segment, so those that a segment can reach are neighbours; the nodes that stand for the
// anchors, in which no segment has been seen yet, come last.
type searchTable struct {
	start  [256]uint32 // child of the root by label; 0 if none
	labels []byte      // label of the edge that leads to a state
	first  []uint32    // children of state s: first[s] up to first[s+1]
	fail   []uint32    // state of the longest proper suffix of what s spells
	out    []uint32    // 1 + the longest segment that ends what s spells; 0 if none does

	shorter []uint32 // 1 + the next longest segment that ends segment g; 0 if none does
	length  []int32  // bytes of segment g
	ending  []uint32 // sequence nodes that segment g reaches: ending[g] up to ending[g+1]

	nodes    []seqNode
	anchor   uint32   // first node that stands for an anchor
	queued   []uint32 // children of sequence nodes that are waited for in a queue, see seqNode
	maxDepth int      // most trie nodes with floating segments on one path
}

// A seqNode is a node of the trie of segment sequences.
type seqNode struct {
	parent uint32
	last   uint32 // last segment of the sequence; none for anchors
	rank   Rank   // of the pattern whose last segment this is; NoMatch if there is none
	exact  Rank   // the same for a pattern with an end anchor
	bound  Rank   // highest rank of the patterns that begin with this sequence and have more segments
	queue  uint32 // children to wait for in queues: queued[queue] up to queued[queue+queues]
	queues uint32
}

// crowd is the most sequence nodes that are looked at one by one when their segment occurs. Where a segment is shared
// by more of them, those whose parents were reached wait in a queue, so that no occurrence looks at the others.
const crowd = 4

// isCrowd reports whether the sequence nodes of segment g wait in a queue.
func (t *searchTable) isCrowd(g uint32) bool { return t.ending[g+1]-t.ending[g] > crowd }

// registers is what a search remembers of a path.
type registers struct {
	pending []pending
	ends    []int32  // by sequence node: 1 + where the sequence first ended; 0 if it has not been seen
	seen    []uint32 // the nodes that have been
	head    []uint32 // by segment: 1 + first node of its queue; 0 if it is empty
	tail    []uint32 // by segment: last node of its queue, if it is not empty
	next    []uint32 // by node: 1 + next node of the same queue; 0 if it is the last
	look    []look   // by segment
	marked  []uint32 // the segments whose look has more than idle
	changes uint32   // counts what may give segments something to reach, from 1
	looked  int      // occurrences of segments looked at since the Scratch was new: what matching costs beyond the path
	best    Rank
}

// A look says when a segment is to be looked at where it occurs.
type look struct {
	idle uint32 // not while registers.changes is this: nor any that ends it, they were found to have nothing to reach
	due  int32  // not where it ends before this: what it goes on with ended within it
	skip uint32 // 1 + what next returns, as those between are spent; 0 if none are
}

// match returns the best rank among best and the patterns with floating segments of the trie nodes that the path
// passed, which are in the order of their places.
func (t *searchTable) match(path []byte, anchors []pending, best Rank, r *registers) Rank {
	bound := NoMatch
	for _, a := range anchors {
		bound = max(bound, t.nodes[t.anchor+a.floating].bound)
	}
	if bound <= best {
		return best
	}
	r.prepare(t)
	r.best = best
	state := uint32(0)
	for i, a := range anchors {
		t.reach(t.anchor+a.floating, a.pos, r)
		end := len(path)
		if i+1 < len(anchors) {
			end = anchors[i+1].pos
		}
		var done bool
		if state, done = t.scan(path, a.pos, end, state, bound, r); done {
			break
		}
	}
	if r.best < bound {
		t.atEnd(state, len(path), r)
	}
	best = r.best
	r.clear(t)
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

// fire takes note of the segments that end at pos, where the search is in state. Those that end segment g are the same
// wherever g ends, so once they have all been looked at, that need not be done again before the registers change; and
// those that are spent need not be looked at ever again.
func (t *searchTable) fire(state uint32, pos int, r *registers) {
	idle, before := t.out[state], r.changes
	last := uint32(0) // 1 + the segment before, passing over spent ones
	for o := t.out[state]; o != 0; {
		g := o - 1
		l := &r.look[g]
		if l.idle == r.changes {
			break
		}
		o = t.next(g, l)
		if int(l.due) > pos {
			idle, last = o, g+1 // this one, and so those before it, must be looked at again
			continue
		}
		switch t.occur(g, pos, r) {
		case overlapping:
			idle, last = o, g+1
		case waiting:
			last = g + 1
		case spent:
			if last == 0 {
				last = g + 1
			} else {
				r.mark(last - 1)
				r.look[last-1].skip = o + 1
			}
		}
	}
	if idle != 0 && r.changes == before {
		r.look[idle-1].idle = before
	}
}

// next returns 1 + the segment to look at after g, 0 if there is none.
func (t *searchTable) next(g uint32, l *look) uint32 {
	if l.skip != 0 {
		return l.skip - 1
	}
	return t.shorter[g]
}

// mark has clear forget what is known of segment g.
func (r *registers) mark(g uint32) {
	if l := &r.look[g]; l.skip == 0 && l.due == 0 {
		r.marked = append(r.marked, g)
	}
}

// postpone takes note that segment g goes on with nothing before it occurs with its end at due.
func (r *registers) postpone(g uint32, due int32) {
	r.mark(g)
	r.look[g].due = due
}

// A prospect says what is left to do for a segment after it occurred.
type prospect uint8

const (
	overlapping prospect = iota // it reaches something where it occurs again: what it goes on with ended within it
	waiting                     // it may, once other segments have occurred
	spent                       // nothing, on this path: it has reached all that it can
)

// occur takes note of an occurrence of segment g that ends at pos.
func (t *searchTable) occur(g uint32, pos int, r *registers) prospect {
	r.looked++
	if t.isCrowd(g) {
		return t.dequeue(g, pos, r)
	}
	left, begin, earliest := spent, int32(pos)-t.length[g], int32(pos)
	lo, hi := t.ending[g], t.ending[g+1]
	for v := lo; v < hi; v++ {
		if r.ends[v] != 0 {
			continue
		}
		switch p := r.ends[t.nodes[v].parent]; {
		case p == 0:
			left = min(left, waiting)
		case p-1 > begin:
			left, earliest = overlapping, min(earliest, p-1)
		default:
			t.reach(v, pos, r)
		}
	}
	if left == overlapping {
		r.postpone(g, earliest+t.length[g])
	}
	return left
}

// dequeue reaches the nodes that wait for segment g and whose parents ended before it. They wait in the order in which
// their parents were reached, which is the order of the parents' ends.
func (t *searchTable) dequeue(g uint32, pos int, r *registers) prospect {
	for r.head[g] != 0 {
		v := r.head[g] - 1
		if due := r.ends[t.nodes[v].parent] - 1 + t.length[g]; due > int32(pos) {
			r.postpone(g, due)
			return overlapping
		}
		r.head[g] = r.next[v]
		t.reach(v, pos, r)
	}
	return waiting
}

// reach takes note that the sequence of node v first ended at pos. A later end can only accept less, so the first is all
// that counts.
func (t *searchTable) reach(v uint32, pos int, r *registers) {
	n := &t.nodes[v]
	r.ends[v] = int32(pos) + 1
	r.seen = append(r.seen, v)
	r.best = max(r.best, n.rank)
	if n.bound <= r.best { // it has no children, or none that can win
		return
	}
	r.changes++
	for _, child := range t.queued[n.queue : n.queue+n.queues] {
		g := t.nodes[child].last
		r.next[child] = 0
		if r.head[g] == 0 {
			r.head[g] = child + 1
		} else {
			r.next[r.tail[g]] = child + 1
		}
		r.tail[g] = child
	}
}

// atEnd looks at the patterns with an end anchor: the last segment ends the path, of the given length.
func (t *searchTable) atEnd(state uint32, length int, r *registers) {
	for o := t.out[state]; o != 0; o = t.shorter[o-1] {
		g := o - 1
		begin := int32(length) - t.length[g]
		lo, hi := t.ending[g], t.ending[g+1]
		if int(hi-lo) > len(r.seen) { // all that can match have been reached, at the latest by this occurrence
			for _, v := range r.seen {
				if lo <= v && v < hi {
					r.best = max(r.best, t.nodes[v].exact)
				}
			}
			continue
		}
		for v := lo; v < hi; v++ {
			n := &t.nodes[v]
			if n.exact <= r.best {
				continue
			}
			if p := r.ends[n.parent]; p != 0 && p-1 <= begin {
				r.best = n.exact
			}
		}
	}
}

// prepare makes room for the registers of t. All are clear between matches.
func (r *registers) prepare(t *searchTable) {
	if len(r.ends) < len(t.nodes) {
		r.ends = make([]int32, len(t.nodes))
	}
	if len(r.look) < len(t.length) {
		r.look = make([]look, len(t.length))
	}
	if r.changes > 1<<31 {
		r.changes = 0
	}
	if r.changes == 0 {
		clear(r.look)
	}
	r.changes++
	if len(t.queued) == 0 {
		return
	}
	if len(r.next) < len(t.nodes) {
		r.next = make([]uint32, len(t.nodes))
	}
	if len(r.head) < len(t.length) {
		r.head = make([]uint32, len(t.length))
		r.tail = make([]uint32, len(t.length))
	}
}

// clear forgets the path.
func (r *registers) clear(t *searchTable) {
	for _, v := range r.seen {
		r.ends[v] = 0
		n := &t.nodes[v]
		for _, child := range t.queued[n.queue : n.queue+n.queues] {
			r.head[t.nodes[child].last] = 0
		}
	}
	r.seen = r.seen[:0]
	for _, g := range r.marked {
		r.look[g] = look{}
	}
	r.marked = r.marked[:0]
}

// size returns the bytes of the tables.
func (t *searchTable) size() int {
	if t == nil {
		return 0
	}
	const node = 7 * 4
	return 4*(len(t.start)+len(t.first)+len(t.fail)+len(t.out)+len(t.shorter)+len(t.length)+len(t.ending)+len(t.queued)) +
		len(t.labels) + node*len(t.nodes)
}
