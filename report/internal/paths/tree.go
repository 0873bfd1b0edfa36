// Package paths counts requests by path: by origin, directory, name and query. Counts are exact, but only the busiest
// paths are kept. URLs of one path must be adjacent, so a path is complete when the next one begins. Package report
// imports it.
package paths

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/report/internal/show"
)

// Limits of the page: shownPaths in total, and shownBelow for each path.
const (
	shownPaths = 600
	manySites  = 20 // from this number of sites on, half as many paths are shown
	shownBelow = 40
)

// MaxDepth is the maximum depth of a path, including the origin. Requests for deeper paths are counted at this depth.
const MaxDepth = 10

// query is the name that stands for all queries of a path.
const query = "?…"

// Counts count the requests of a path.
type Counts struct {
	Requests int64
	Denied   int64 // verdicts
	Failed   int64 // with 4xx or 5xx responses
	Bytes    int64
}

// addCounts adds other requests, or subtracts them if times is -1.
func (c *Counts) addCounts(o *Counts, times int64) {
	c.Requests += times * o.Requests
	c.Denied += times * o.Denied
	c.Failed += times * o.Failed
	c.Bytes += times * o.Bytes
}

// A Path is an origin, a directory, a name, or all queries of a name.
type Path struct {
	Counts
	Name    string
	Depth   int     // 1 is an origin
	Rule    int32   // the rule that denied most of its verdicts; -1 means none
	Several bool    // other rules denied some
	Below   []*Path // the shown paths below, the busiest first

	number int // number of paths below, shown or not
}

// A Rest counts the requests of a path that Below does not show: those of the path itself, and of names without a
// row.
type Rest struct {
	Counts
	Of    string // the name of the path
	Depth int
	Paths int64 // number of omitted names
}

// Rest returns the part that Below does not show; nil if it is nothing or everything.
func (p *Path) Rest() *Rest {
	r := &Rest{Counts: p.Counts, Of: p.Name, Depth: p.Depth + 1, Paths: int64(p.number - len(p.Below))}
	for _, b := range p.Below {
		r.addCounts(&b.Counts, -1)
	}
	if r.Requests == 0 || len(p.Below) == 0 {
		return nil
	}
	return r
}

// Label returns a phrase for the requests of the rest.
func (r *Rest) Label() string {
	switch {
	case r.Depth == 1:
		return "other origins"
	case r.Paths > 0:
		return show.Text(r.Of) + " itself, and " + show.Plural(r.Paths, "path") + " without a row"
	}
	return show.Text(r.Of) + " itself"
}

// A Tree counts requests by path. Use New. It is for one goroutine.
//
// Complete paths have no pointers, because there may be one for each URL. They are in nodes, in the order of
// completion, so the paths below an open one are at the end.
type Tree struct {
	open []*level // the root, and the paths to the last URL
	used int      // used length of open

	nodes, spareNodes []node
	names, spareNames []byte
	queue             []queued

	dir      []byte // the last URL, up to the last "/" of its path
	dirDepth int    // depth of that path; 0 means none
	origin   int    // length of the last URL's origin
}

// A level is an incomplete path.
type level struct {
	Counts
	name   []byte
	byRule map[int32]int64 // denying verdicts
	below  []node          // complete paths that may be shown
	least  int64           // after below was cut to the busiest nodes: requests of the last of them
	number int             // number of all paths below

	nodes, names int // sizes of the tree's nodes and names when the path was opened
}

// A node is a complete path.
type node struct {
	Counts
	name    int // index of Tree.names
	length  int // of the name
	below   int // index of the shown paths below it in Tree.nodes, busiest first
	shown   int // number of these
	size    int // number of nodes of the subtree, including this node
	number  int // number of paths below, shown or not
	rule    int32
	several bool
	kept    bool
}

// New returns an empty tree.
func New() *Tree { return &Tree{open: []*level{{byRule: map[int32]int64{}}}, used: 1} }

// Enter moves to the path of a URL. Its origin is url[:origin], and its path ends at pathEnd. Open paths that do not
// lead to it become complete, and must not occur again.
func (t *Tree) Enter(url []byte, origin, pathEnd int) {
	depth, at, isIn := 1, 0, t.dirDepth > 0 && origin == t.origin && bytes.HasPrefix(url[:pathEnd], t.dir)
	if isIn {
		depth, at = t.dirDepth+1, len(t.dir)
	}
	dirDepth, dirEnd := depth-1, at
	for {
		end := nextEnd(url, at, origin, pathEnd)
		if end == at || depth > MaxDepth {
			break
		}
		name := url[at:end]
		if at >= pathEnd && at >= origin && name[0] == '?' {
			name = name[:1]
		}
		if depth == t.used || !bytes.Equal(t.open[depth].name, name) {
			t.leave(depth)
			t.push(name)
		}
		if end <= pathEnd && url[end-1] == '/' {
			dirDepth, dirEnd = depth, end
		}
		depth, at = depth+1, end
	}
	t.leave(depth)
	if !isIn || dirEnd > len(t.dir) {
		t.dir, t.dirDepth, t.origin = append(t.dir[:0], url[:dirEnd]...), dirDepth, origin
	}
}

// nextEnd returns the end of the name that begins at an offset: an origin, a segment of the path with the following
// "/", or a query. It returns the offset itself if no name follows.
func nextEnd(url []byte, at, origin, pathEnd int) int {
	switch {
	case at < origin:
		return origin
	case at < pathEnd:
		if i := bytes.IndexByte(url[at:pathEnd], '/'); i >= 0 {
			return at + i + 1
		}
		return pathEnd
	case at == pathEnd && at < len(url) && url[at] == '?':
		return len(url)
	}
	return at
}

// push opens a path below the last open one.
func (t *Tree) push(name []byte) {
	if t.used == len(t.open) {
		t.open = append(t.open, &level{byRule: map[int32]int64{}})
	}
	l := t.open[t.used]
	l.name, l.nodes, l.names = append(l.name[:0], name...), len(t.nodes), len(t.names)
	t.used++
}

// AddRequests counts requests for the path.
func (t *Tree) AddRequests(c *Counts) { t.open[t.used-1].addCounts(c, 1) }

// AddDenied counts verdicts for the path that a rule denied, given by its number.
func (t *Tree) AddDenied(rule int32, verdicts int64) { t.open[t.used-1].byRule[rule] += verdicts }

// leave completes the open paths from the given depth on.
func (t *Tree) leave(depth int) {
	for t.used > depth {
		t.used--
		l, above := t.open[t.used], t.open[t.used-1]
		above.number++
		above.addCounts(&l.Counts, 1)
		if len(above.below) < shownBelow || l.Requests > above.least {
			above.below = append(above.below, t.complete(l, t.used))
			if n := len(above.below); n == 2*shownBelow || n == shownBelow && t.used > 1 { // origins are not sorted by name
				kept := t.place(above)
				t.pack(above, &kept)
				above.below = append(above.below[:0], t.nodes[kept.below:]...)
				above.least, t.nodes = above.below[shownBelow-1].Requests, t.nodes[:kept.below]
			}
		} else {
			t.nodes, t.names = t.nodes[:l.nodes], t.names[:l.names]
		}
		if len(l.byRule) > 0 {
			for rule, verdicts := range l.byRule {
				above.byRule[rule] += verdicts
			}
			clear(l.byRule)
		}
		l.Counts, l.below, l.least, l.number = Counts{}, l.below[:0], 0, 0
	}
}

// complete returns the node of a level.
func (t *Tree) complete(l *level, depth int) node {
	n := node{size: 1}
	if len(l.below) > 0 {
		n = t.place(l)
		t.trim(&n, depth, shownPaths)
		t.pack(l, &n)
	}
	n.Counts, n.number, n.rule, n.several = l.Counts, l.number, -1, len(l.byRule) > 1
	most := int64(0)
	for rule, verdicts := range l.byRule {
		if verdicts > most || verdicts == most && rule < n.rule {
			n.rule, most = rule, verdicts
		}
	}
	n.name, n.length = len(t.names), len(l.name)
	t.names = append(t.names, l.name...)
	return n
}

// place appends the busiest paths below a level to the tree's nodes, up to the number shown, and returns a node with
// these as children.
func (t *Tree) place(l *level) node {
	slices.SortFunc(l.below, func(a, b node) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), bytes.Compare(t.nameOf(&a), t.nameOf(&b)))
	})
	below := l.below[:min(len(l.below), shownBelow)]
	n := node{below: len(t.nodes), shown: len(below), size: 1}
	for i := range below {
		n.size += below[i].size
	}
	if len(t.nodes)+len(below) > cap(t.nodes) {
		t.nodes = slices.Grow(t.nodes, len(t.nodes)+len(below)) // which copies less than append
	}
	t.nodes = append(t.nodes, below...)
	return n
}

func (t *Tree) nameOf(n *node) []byte { return t.names[n.name:][:n.length] }

// pack removes the nodes that were added for a level but are not below its node n, if they are many. The children of n
// must be the last nodes.
func (t *Tree) pack(l *level, n *node) {
	if len(t.nodes)-l.nodes <= 2*n.size+shownBelow {
		return
	}
	t.spareNodes, t.spareNames = t.spareNodes[:0], t.spareNames[:0]
	t.move(l, n)
	t.nodes, t.names = append(t.nodes[:l.nodes], t.spareNodes...), append(t.names[:l.names], t.spareNames...)
}

// move copies the nodes below a node, and their names.
func (t *Tree) move(l *level, n *node) {
	name := t.nameOf(n)
	n.name = l.names + len(t.spareNames)
	t.spareNames = append(t.spareNames, name...)
	below := t.nodes[n.below:][:n.shown]
	for i := range below {
		t.move(l, &below[i])
	}
	n.below = l.nodes + len(t.spareNodes)
	t.spareNodes = append(t.spareNodes, below...)
}

// trim reduces a tree to the given number of paths, the busiest ones. Parents of busy paths are at least as busy, so
// they are kept.
func (t *Tree) trim(n *node, depth, most int) {
	if n.size <= most {
		return
	}
	t.queue = t.queue[:0]
	t.enqueue(n, depth)
	for kept := 1; kept < most && len(t.queue) > 0; kept++ {
		next := t.dequeue()
		child := &t.nodes[next.node]
		child.kept = true
		t.enqueue(child, next.depth)
	}
	t.dropBelow(n)
	n.size = most
}

// dropBelow drops the nodes below a node that are not kept.
func (t *Tree) dropBelow(n *node) {
	below, kept := t.nodes[n.below:][:n.shown], 0
	for i := range below {
		if below[i].kept {
			t.dropBelow(&below[i])
			below[i].kept = false
			below[kept] = below[i]
			kept++
		}
	}
	n.shown = kept
}

// Root returns the root of the tree, which has no name. Nothing may be added afterwards.
func (t *Tree) Root() *Path {
	t.leave(1)
	n := t.complete(t.open[0], 0)
	if n.shown > manySites {
		t.trim(&n, 0, shownPaths/2)
	}
	return t.path(&n, 0)
}

// path returns the path of a node.
func (t *Tree) path(n *node, depth int) *Path {
	p := &Path{Counts: n.Counts, Name: string(t.nameOf(n)), Depth: depth, Rule: n.rule, Several: n.several, number: n.number}
	if p.Name == "?" {
		p.Name = query
	}
	for i := range n.shown {
		p.Below = append(p.Below, t.path(&t.nodes[n.below+i], depth+1))
	}
	return p
}

// A queued is a node in the heap of trim.
type queued struct {
	requests int64
	depth    int
	node     int // index of Tree.nodes
}

// before reports whether a node comes before another in the heap of trim.
func (t *Tree) before(a, b *queued) bool {
	if a.requests != b.requests {
		return a.requests > b.requests
	}
	return a.depth < b.depth || a.depth == b.depth && bytes.Compare(t.nameOf(&t.nodes[a.node]), t.nameOf(&t.nodes[b.node])) < 0
}

// enqueue puts the nodes below a node into the heap.
func (t *Tree) enqueue(n *node, depth int) {
	for i := range n.shown {
		at := len(t.queue)
		t.queue = append(t.queue, queued{t.nodes[n.below+i].Requests, depth + 1, n.below + i})
		for q := t.queue; at > 0 && t.before(&q[at], &q[(at-1)/2]); at = (at - 1) / 2 {
			q[at], q[(at-1)/2] = q[(at-1)/2], q[at]
		}
	}
}

// dequeue removes the first node from the heap.
func (t *Tree) dequeue() queued {
	last := len(t.queue) - 1
	first, q := t.queue[0], t.queue[:last]
	t.queue[0] = t.queue[last]
	for at := 0; ; {
		child := 2*at + 1
		if child >= last {
			break
		}
		if child+1 < last && t.before(&q[child+1], &q[child]) {
			child++
		}
		if !t.before(&q[child], &q[at]) {
			break
		}
		q[at], q[child] = q[child], q[at]
		at = child
	}
	t.queue = q
	return first
}
