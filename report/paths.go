package report

import (
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// What the tree of paths takes.
const (
	maxNodes   = 1 << 15
	maxDepth   = 10  // of path segments below an origin; what is deeper counts at the last one
	maxSegment = 100 // bytes of a name; what is longer is cut
	nodeRules  = 4   // that a node tells apart
)

// A tree counts by path: by origin, if there are several, and then by segments of the path.
type tree struct {
	nodes   []node
	names   []byte   // of nodes, one after the other
	slots   []uint32 // a hash table of nodes by parent and name, linearly probed: see nodeBits; 0 is free
	seed    uint64   // says where a node lies, see requested
	most    int64    // the most rows for which one stands that was looked at
	used    int      // nodes but for the root and those that are free
	origins bool     // the first level is that of origins

	// Names that end a path are not told apart if so few rows came with them, once that many were not
	// enough to stay. Directories always are, as their rows come from many names.
	floor int64

	// The last path that was added, and the nodes on its way, as neighbours often share a beginning.
	last  []byte
	ends  []int // where the name of each of way ends in last
	way   []int32
	spare []int32 // nodes that are free
}

// A node counts the requests of all URLs that begin with a path.
type node struct {
	hash   uint64
	name   uint32 // where it begins in names
	size   uint8  // of the name
	more   bool   // there are other rules than those of by
	parent int32
	leaves int32 // children that there are
	counts counts
	denied int64 // verdicts that deny; several a row, if there are several crawlers
	by     [nodeRules]decided

	// missed is the most rows that may have come before the node was there, and lost the most rows of a
	// child that was removed.
	missed, lost int64

	site     engine.SiteID // of the first level
	told     int64         // rows that stand for those that were never in the table of requests
	variance float64       // of these
	exact    bool          // the number of rows is known, though some of them are told
}

// A decided counts verdicts of what denied.
type decided struct {
	rule     int32 // 1 + index of the rules of a Counter; 0 is none
	verdicts int64
}

func newTree(origins bool) *tree {
	// All nodes at once: what is not used takes no memory.
	return &tree{nodes: make([]node, 1, maxNodes+1), slots: make([]uint32, 2*maxNodes), seed: rand.Uint64(), origins: origins}
}

// A visit is what rows of a path add to its nodes.
type visit struct {
	counts   counts
	denied   int64
	site     engine.SiteID
	told     int64 // see node
	variance float64
	by       []decided
}

// add counts rows of a URL, whose origin is url[:prefix].
func (t *tree) add(url []byte, prefix int, v *visit) {
	t.walk(url, prefix, v.counts.rows)
	t.nodes[0].count(v)
	for _, n := range t.way {
		t.nodes[n].count(v)
	}
	if len(t.way) > 0 {
		t.nodes[t.way[0]].site = v.site
	}
}

// A siteRows is how many rows of a site were never in the table of requests, and for how many those of them
// stand that were looked at.
type siteRows struct{ rows, told int64 }

// settle makes what stands for rows of a site stand for all of them, as is known by site. With several
// spellings of an origin their sum is known. The root is set to what is known of all.
func (t *tree) settle(all counts, denied int64, sites []siteRows) {
	t.nodes[0].variance = 0
	for i := range t.nodes {
		n := &t.nodes[i]
		if i == 0 || n.parent < 0 {
			continue
		}
		top := n
		for top.parent > 0 {
			top = &t.nodes[top.parent]
		}
		if int(top.site) < len(sites) && sites[top.site].told > 0 {
			known := sites[top.site]
			rows := n.counts.rows - n.told + int64(math.Round(float64(n.told)*float64(known.rows)/float64(known.told)))
			n.denied = int64(math.Round(float64(n.denied) * float64(rows) / float64(max(1, n.counts.rows))))
			n.counts.rows, n.exact = rows, n == top && n.told == known.told
		}
		if n.hasAll(&all) {
			n.denied = denied
		}
		if n == top && !n.exact {
			t.nodes[0].variance += n.variance
		}
	}
	t.nodes[0].counts, t.nodes[0].denied = all, denied
}

// hasAll reports whether a node is known to have all rows: then what denied them is known as well.
func (n *node) hasAll(all *counts) bool { return n.exact && n.counts.rows == all.rows }

// count adds a visit.
func (n *node) count(v *visit) {
	n.counts.add(&v.counts)
	n.told += v.told
	n.variance += v.variance
	n.denied += v.denied
	for _, d := range v.by {
		n.countRule(d)
	}
}

// countRule counts verdicts of a rule. Of many rules it keeps those that came first.
func (n *node) countRule(d decided) {
	for i := range n.by {
		switch n.by[i].rule {
		case d.rule, 0:
			n.by[i].rule = d.rule
			n.by[i].verdicts += d.verdicts
			return
		}
	}
	n.more = true
}

// walk finds the nodes of a URL that so many rows came with, and makes those that are missing.
func (t *tree) walk(url []byte, prefix int, rows int64) {
	same, alike := 0, common(t.last, url)
	for same < len(t.way) && t.ends[same] <= alike && t.whole(url, prefix, same) {
		same++
	}
	t.way, t.ends = t.way[:same], t.ends[:same]
	t.last = append(t.last[:alike], url[alike:]...)
	at, parent := 0, int32(0)
	if same > 0 {
		at, parent = t.ends[same-1], t.way[same-1]
	}
	if t.origins && at == 0 {
		parent, _ = t.step(parent, url[:prefix], prefix, false)
		at = prefix
	}
	at = max(at, prefix)
	for len(t.way) < maxDepth {
		size := segment(url[at:])
		if size == 0 {
			return
		}
		name := url[at : at+size]
		var known bool
		if parent, known = t.step(parent, name, at+size, name[size-1] != '/' && rows <= t.floor); !known {
			t.nodes[parent].lost += rows
			return
		}
		at += size
	}
}

// common returns how many bytes two texts begin with that are the same.
func common(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for n+8 <= most {
		if differ := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); differ != 0 {
			return n + bits.TrailingZeros64(differ)/8
		}
		n += 8
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// whole reports whether what way has at a place, with which the URL begins as well, is a whole segment of
// it.
func (t *tree) whole(url []byte, prefix, place int) bool {
	start, end := 0, t.ends[place]
	if place > 0 {
		start = t.ends[place-1]
	} else if t.origins {
		return end == prefix
	}
	switch {
	case start < prefix:
		return false
	case end == len(url):
		return true
	case url[start] == '?':
		return false
	}
	return url[end-1] == '/' || url[end] == '?' || url[end] == '#'
}

// segment returns the length of the first segment of a path: up to and with the next "/", or a query
// with its "?" to the end, or 0 if there is none.
func segment(path []byte) int {
	if len(path) == 0 || path[0] == '#' {
		return 0
	}
	if path[0] == '?' {
		return len(path)
	}
	end := 0
	for ; end+8 <= len(path); end += 8 { // eight bytes at a time: this is asked for each URL
		if found := ends(binary.LittleEndian.Uint64(path[end:])); found != 0 {
			end += bits.TrailingZeros64(found) / 8
			break
		}
	}
	for ; end < len(path); end++ {
		switch path[end] {
		case '/':
			return end + 1
		case '?', '#':
			return end
		}
	}
	return end
}

// ends returns a number that is not 0 if one of eight bytes ends a segment. The lowest bit that is set is in
// the first that does.
func ends(text uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	slash, query, fragment := text^'/'*ones, text^'?'*ones, text^'#'*ones
	return ((slash-ones)&^slash | (query-ones)&^query | (fragment-ones)&^fragment) & highs
}

// query is the name of all queries of a path.
const query = "?…"

// step goes to a child. If that is new, it makes it, unless it is to be known: then it stays.
func (t *tree) step(parent int32, name []byte, end int, mustBeKnown bool) (n int32, found bool) {
	if mustBeKnown && t.nodes[parent].leaves == 0 {
		return parent, false
	}
	if name[0] == '?' {
		name = name[:1]
	}
	name = name[:min(len(name), maxSegment)]
	hash := xxh3.HashSeed(name, uint64(parent)+1)
	slot := t.find(hash, parent, name)
	if n = int32(t.slots[slot] & (1<<nodeBits - 1)); n == 0 {
		if mustBeKnown {
			return parent, false
		}
		if t.used >= maxNodes {
			t.shrink()
			slot = t.find(hash, parent, name)
		}
		n = t.newNode(parent, name, hash)
		t.slots[slot] = slotOf(n, hash)
	}
	t.way, t.ends = append(t.way, n), append(t.ends, end)
	return n, true
}

// find returns the slot of a node, or the free one where it belongs.
func (t *tree) find(hash uint64, parent int32, name []byte) uint64 {
	mask := uint64(len(t.slots) - 1)
	for i := spread(hash, t.seed, len(t.slots)); ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 {
			return i
		}
		if (n^uint32(hash))>>nodeBits != 0 {
			continue
		}
		if at := &t.nodes[n&(1<<nodeBits-1)]; at.hash == hash && at.parent == parent && string(t.name(n&(1<<nodeBits-1))) == string(name) {
			return i
		}
	}
}

// name returns the name of a node. It is valid until one is made.
func (t *tree) name(n uint32) []byte {
	at := &t.nodes[n]
	return t.names[at.name:][:at.size]
}

// nodeBits are the lower bits of a slot, which have the index of a node. Above them are those of its hash,
// so that others are told apart without a look at them, which is a wait for memory.
const nodeBits = 17

// slotOf returns the slot of a node.
func slotOf(n int32, hash uint64) uint32 { return uint32(n) | uint32(hash)&^(1<<nodeBits-1) }

// newNode makes a node.
func (t *tree) newNode(parent int32, name []byte, hash uint64) int32 {
	n := int32(len(t.nodes))
	if last := len(t.spare) - 1; last >= 0 {
		n, t.spare = t.spare[last], t.spare[:last]
	} else {
		t.nodes = append(t.nodes, node{})
	}
	above := &t.nodes[parent]
	t.nodes[n] = node{name: uint32(len(t.names)), size: uint8(len(name)), hash: hash, parent: parent, missed: above.lost + above.missed}
	t.names = append(t.names, name...)
	above.leaves++
	t.used++
	return n
}

// shrink removes leaves with few rows, until at most three quarters of the nodes are left. The nodes on
// the way stay.
func (t *tree) shrink() {
	for t.used > maxNodes*3/4 {
		least := t.least()
		t.floor = max(t.floor, least)
		before := t.used
		for n := range t.nodes {
			if t.isLeaf(n) && t.nodes[n].counts.rows <= least {
				t.remove(int32(n))
			}
		}
		if t.used == before {
			break
		}
	}
	clear(t.slots)
	old := t.names
	t.names = make([]byte, 0, len(old))
	for n := range t.nodes {
		if at := &t.nodes[n]; n > 0 && at.parent >= 0 {
			name := old[at.name:][:at.size]
			t.slots[t.find(at.hash, at.parent, name)] = slotOf(int32(n), at.hash)
			at.name, t.names = uint32(len(t.names)), append(t.names, name...)
		}
	}
}

// isLeaf reports whether a node may be removed. The first level stays, unless it is most of the tree.
func (t *tree) isLeaf(n int) bool {
	at := &t.nodes[n]
	return n > 0 && at.parent >= 0 && at.leaves == 0 && (at.parent > 0 || t.nodes[0].leaves > maxNodes/4) && !slices.Contains(t.way, int32(n))
}

// least returns the number of rows up to which leaves have to go: half of them, or so many that half of the
// nodes are left.
func (t *tree) least() int64 {
	var leaves []int64
	for n := range t.nodes {
		if t.isLeaf(n) {
			leaves = append(leaves, t.nodes[n].counts.rows)
		}
	}
	slices.Sort(leaves)
	if len(leaves) == 0 {
		return 0
	}
	return leaves[min(len(leaves)/2, t.used-maxNodes/2)]
}

// remove removes a leaf. Its rows still count for its parent.
func (t *tree) remove(n int32) {
	leaf := &t.nodes[n]
	above := &t.nodes[leaf.parent]
	above.lost += leaf.counts.rows // what comes again may have been removed more than once
	above.leaves--
	*leaf = node{parent: -1}
	t.spare = append(t.spare, n)
	t.used--
}

// A Path is a node of the tree as the page shows it.
type Path struct {
	Name     string
	Depth    int
	Requests int64
	Error    float64 // the relative standard error of Requests; 0 if they are exact
	Missed   int64   // rows that may be missing in Requests and Denied, at most
	Denied   int64   // verdicts
	Share    float64
	Of       float64 // share of the requests of all paths
	By       string  // the rule that denied most of these; "" is none
	ByMore   bool    // others denied, too
	Below    []Path
	Rest     *Rest // what of it is not shown; nil if that is nothing

	ShareError float64 // the standard error of Share, see shareError; 0 if it is exact
}

// Number returns the requests as the page shows them.
func (p *Path) Number() string {
	switch {
	case p.Error == 0:
		return atLeast(p.Requests, p.Missed)
	case p.Missed == 0:
		return estimate(aggregate.Estimate{N: p.Requests, Error: p.Error})
	}
	return "~" + atLeast(p.Requests, p.Missed) + plusMinus(p.Error)
}

// A Rest is what of a path is not shown below it: the path itself, and names that are left out.
type Rest struct {
	Of       string // the name of the path
	Depth    int
	Requests int64
	Denied   int64   // verdicts
	Share    float64 // of the verdicts
	OfAll    float64 // share of the requests of all paths
	Paths    int64   // names that are known and left out
	Lost     bool    // others were not told apart
	Error    float64 // the relative standard error of Requests; 0 if they are exact

	ShareError float64 // the standard error of Share; 0 if it is exact
}

// Number returns the requests as the page shows them.
func (r *Rest) Number() string {
	return estimate(aggregate.Estimate{N: r.Requests, Error: r.Error})
}

// Label says what the requests of the rest are.
func (r *Rest) Label() string {
	label := shown(r.Of) + " itself"
	switch {
	case r.Depth == 1:
		return "other origins"
	case r.Paths > 0:
		label += ", and " + plural(r.Paths, "path") + " without a row"
	}
	if r.Lost {
		label += ", and paths that were not told apart"
	}
	return label
}

// The page shows at most shownPaths, and at most shownBelow of a path.
const (
	shownPaths = 600
	shownBelow = 40
)

// show returns the busiest paths. verdicts is how many a row has, and name names what denied.
func (t *tree) show(verdicts int64, name func(rule int32) string) (all Path) {
	below := make([][]int32, len(t.nodes))
	for i := 1; i < len(t.nodes); i++ {
		if p := t.nodes[i].parent; p >= 0 {
			below[p] = append(below[p], int32(i))
		}
	}
	for _, children := range below {
		slices.SortFunc(children, func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.nodes[b].counts.rows, t.nodes[a].counts.rows), bytes.Compare(t.name(uint32(a)), t.name(uint32(b))))
		})
	}
	// The busiest nodes are shown, whose parents are busier and so are shown as well.
	shown := make([]bool, len(t.nodes))
	queue := &busiest{t: t, all: []int32{0}}
	for left := shownPaths; left > 0 && queue.Len() > 0; left-- {
		n := heap.Pop(queue).(int32)
		shown[n] = true
		for _, c := range below[n][:min(len(below[n]), shownBelow)] {
			heap.Push(queue, c)
		}
	}
	var view func(n int32, depth int, most int64) Path // of at most so many rows
	view = func(n int32, depth int, most int64) Path {
		at := &t.nodes[n]
		p := Path{Name: nameOf(t.name(uint32(n))), Depth: depth, Requests: at.counts.rows, Missed: max(0, min(at.missed, most-at.counts.rows)), Denied: at.denied}
		p.Share, p.Of = share(at.denied, at.counts.rows*verdicts), share(at.counts.rows, t.nodes[0].counts.rows)
		p.By, p.ByMore = at.busiestRule(name)
		if !at.exact {
			p.Error = t.error(at.counts.rows, at.variance)
		}
		if !at.hasAll(&t.nodes[0].counts) {
			p.ShareError = t.shareError(at.counts.rows, at.told, p.Share, at.variance)
		}
		rest, told, variance := Rest{Of: p.Name, Depth: depth + 1, Requests: at.counts.rows, Denied: at.denied, Lost: at.lost > 0}, at.told, at.variance
		for _, c := range below[n] {
			if !shown[c] {
				rest.Paths++
				continue
			}
			p.Below = append(p.Below, view(c, depth+1, p.Requests+p.Missed))
			rest.Requests -= t.nodes[c].counts.rows
			rest.Denied -= t.nodes[c].denied
			told -= t.nodes[c].told
			if !t.nodes[c].exact {
				variance -= t.nodes[c].variance
			}
		}
		if rest.Requests > 0 && len(p.Below) > 0 {
			if rest.Error = t.error(rest.Requests, variance); rest.Error >= 1 {
				return p // as good as nothing
			}
			rest.Denied = max(0, min(rest.Denied, rest.Requests*verdicts)) // the sum above may be exact, and those below not
			rest.Share, rest.OfAll = share(rest.Denied, rest.Requests*verdicts), share(rest.Requests, t.nodes[0].counts.rows)
			rest.ShareError = t.shareError(rest.Requests, told, rest.Share, variance)
			p.Rest = &rest
		}
		return p
	}
	return view(0, 0, t.nodes[0].counts.rows)
}

// error returns the relative standard error of rows with such a variance. A path none of whose rows stands
// for others may still lack some.
func (t *tree) error(rows int64, variance float64) float64 {
	if t.most <= 1 {
		return 0
	}
	return math.Sqrt(max(0, variance)+float64(t.most)*float64(t.most-1)) / float64(max(1, rows))
}

// nameOf returns the name of a node as the page shows it.
func nameOf(name []byte) string {
	if string(name) == "?" {
		return query
	}
	return string(name)
}

// busiestRule returns the name of the rule with the most verdicts, and whether there are others.
func (n *node) busiestRule(name func(rule int32) string) (text string, more bool) {
	best := decided{}
	for _, d := range n.by {
		more = more || d.rule != 0 && best.rule != 0
		if d.verdicts > best.verdicts {
			best = d
		}
	}
	if best.rule == 0 {
		return "", false
	}
	return name(best.rule - 1), more || n.more
}

// busiest is a heap of nodes, the busiest first.
type busiest struct {
	t   *tree
	all []int32
}

func (b *busiest) Len() int { return len(b.all) }
func (b *busiest) Less(i, j int) bool {
	x, y := &b.t.nodes[b.all[i]], &b.t.nodes[b.all[j]]
	return x.counts.rows > y.counts.rows || x.counts.rows == y.counts.rows && b.all[i] < b.all[j]
}
func (b *busiest) Swap(i, j int) { b.all[i], b.all[j] = b.all[j], b.all[i] }

// Push adds a node.
func (b *busiest) Push(n any) { b.all = append(b.all, n.(int32)) }

// Pop removes the last one.
func (b *busiest) Pop() any {
	last := b.all[len(b.all)-1]
	b.all = b.all[:len(b.all)-1]
	return last
}
