package automaton

// registers is what a search remembers of a path. A segment is active if it can reach something
// where it occurs next, for all that is known; where others occur, nothing is done. What it is
// inactive for makes it active again: the parent of a node is reached, a chain comes to wait for
// it, or the path is long enough for what it must not overlap.
type registers struct {
	pending []pending
	nodes   []nodeState
	seen    []uint32  // the sequence nodes that have been seen
	active  []uint64  // a bit for each segment
	next    []uint32  // by node that is awaiting its parent: 2 + the next one with the same parent, 1 if it is the last
	waits   []wait    // all such nodes
	queues  []queue   // by segment
	used    []uint32  // the segments whose queues have been used
	chains  []waiting // the queues, as searchTable.room says
	bells   []uint32  // by place of the path: 1 + first of rings to make active there; 0 if there is none
	rings   []ring
	alarms  int   // rings that are left
	rung    int   // the place up to which they have been
	length  int32 // of the path
	looked  int   // occurrences of segments, and chains, looked at since the Scratch was new: what matching costs beyond the path
	passed  int   // words of active that were looked at since then
	best    Rank
}

type (
	// A nodeState is what is known of a sequence node.
	nodeState struct {
		end     int32  // 1 + where the sequence first ended; 0 if it has not been seen
		awaited uint32 // 1 + first listed child whose segment occurred before the node was seen; 0 if none did
	}

	// A wait is a listed node that waits for its parent.
	wait struct{ parent, child uint32 }

	// A queue has the chains that wait for a segment of the given length, in the order in which
	// what is before them ended: those at head up to tail of registers.chains. It is zero before
	// its first use.
	queue struct {
		head, tail uint32
		length     int32
	}

	// A waiting chain goes on with the segment at a place of searchTable.chains, where it ends at
	// due or later.
	waiting struct {
		at  uint32
		due int32
	}

	// A ring is a segment that becomes active at a place of the path.
	ring struct{ segment, next uint32 }
)

// await has a listed node's segment be active once the parent is reached.
func (r *registers) await(parent, child uint32) {
	if r.next[child] == 0 {
		r.next[child] = r.nodes[parent].awaited + 1
		r.nodes[parent].awaited = child + 1
		r.waits = append(r.waits, wait{parent, child})
	}
}

// alarm has segment g be active where it ends at due, which is behind pos.
func (r *registers) alarm(g uint32, due, pos int32) {
	switch {
	case due > r.length:
	case due == pos+1:
		r.active[g>>6] |= 1 << (g & 63)
	default:
		if r.alarms == 0 {
			r.rung = int(pos)
		}
		r.alarms++
		r.rings = append(r.rings, ring{g, r.bells[due]})
		r.bells[due] = uint32(len(r.rings))
	}
}

// ring makes those segments active that are to be up to pos.
func (r *registers) ring(pos int) {
	for r.rung < pos {
		r.rung++
		for i := r.bells[r.rung]; i != 0; i = r.rings[i-1].next {
			g := r.rings[i-1].segment
			r.active[g>>6] |= 1 << (g & 63)
			r.alarms--
		}
	}
}

// prepare makes room for the registers of t and a path of the given length. All are clear between
// matches.
func (r *registers) prepare(t *searchTable, length int) {
	r.length = int32(length)
	if len(r.nodes) < len(t.nodes) {
		r.nodes, r.next = make([]nodeState, len(t.nodes)), make([]uint32, len(t.nodes))
	}
	if len(r.queues) < len(t.length) {
		r.queues = make([]queue, len(t.length))
	}
	if n := int(t.room[len(t.length)]); len(r.chains) < n {
		r.chains = make([]waiting, n)
	}
	if len(r.bells) <= length {
		r.bells = make([]uint32, length+1)
	}
	r.active = append(r.active[:0], t.fresh...)
}

// clear forgets the path.
func (r *registers) clear() {
	for _, v := range r.seen {
		r.nodes[v].end = 0
	}
	for _, w := range r.waits {
		r.nodes[w.parent].awaited, r.next[w.child] = 0, 0
	}
	for _, g := range r.used {
		r.queues[g] = queue{}
	}
	if len(r.rings) > 0 {
		clear(r.bells[:r.length+1])
	}
	r.seen, r.waits, r.used, r.rings, r.alarms = r.seen[:0], r.waits[:0], r.used[:0], r.rings[:0], 0
}

// pendingOf returns memory for the nodes that a path passes.
func (s *searchTable) pendingOf(r *registers) []pending {
	if len(r.pending) <= s.maxDepth {
		r.pending = make([]pending, s.maxDepth+1)
	}
	return r.pending
}
