package report

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/prefix"
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

// A node counts the requests of the URLs of a path: those that belong to none of its children, and, once
// sum was called, those of these as well.
type node struct {
	hash   uint64
	name   uint32 // where it begins in names
	size   uint8  // of the name
	more   bool   // there are other rules than those of rules
	exact  bool   // the number of rows is known, though some of them are told
	level  uint8  // see siteRows
	parent int32
	leaves int32 // children that there are
	rows   int64
	denied int64 // verdicts that deny; several a row, if there are several crawlers

	// What denied, as 1 + index of the rules of a Counter, and the verdicts of each; 0 is none.
	rules    [nodeRules]int32
	verdicts [nodeRules]int64

	// missed is the most rows that may have come before the node was there, and lost the most rows of a
	// child that was removed.
	missed, lost int64

	site     engine.SiteID // of the first level
	told     int64         // rows for which those stand that were in a sample
	variance float64       // of these
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
	rows     int64
	denied   int64
	site     engine.SiteID
	told     int64 // see node
	variance float64
	by       []decided
}

// add counts rows of a URL, whose origin is url[:origin].
func (t *tree) add(url []byte, origin int, v *visit) {
	at := t.walk(url, origin, v.rows)
	t.nodes[at].count(v)
	if at > 0 {
		t.nodes[t.way[0]].site = v.site
	}
}

// sum adds to each node what is counted below it. Nothing may be added after it.
func (t *tree) sum() {
	var levels [maxDepth + 2][]int32
	for i := range t.nodes {
		if t.nodes[i].parent < 0 {
			continue
		}
		depth := 0
		for n := i; n > 0; n = int(t.nodes[n].parent) {
			depth++
		}
		levels[depth] = append(levels[depth], int32(i))
	}
	for _, level := range slices.Backward(levels[1:]) {
		for _, n := range level {
			t.nodes[t.nodes[n].parent].merge(&t.nodes[n])
		}
	}
}

// A siteRows is how many rows of a site were sampled, for how many those of them stand that were looked at, and
// the greatest level of the samples that they might have been in: at 0 there are none, and nothing of the site is
// an estimate. And the verdicts that deny, of all rows of the site.
type siteRows struct {
	rows, told, denied int64
	level              uint8
}

// settle sums the tree, and makes what stands for rows of a site stand for all of them, as is known by site. The
// root is set to what is known of all.
func (t *tree) settle(all, denied int64, sites []siteRows, elsewhere siteRows) {
	t.sum()
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
		if n.level = elsewhere.level; int(top.site) < len(sites) {
			n.level = sites[top.site].level
			n.settle(&sites[top.site], n == top)
		}
		t.nodes[0].level = max(t.nodes[0].level, n.level)
		if n == top && !n.exact {
			t.nodes[0].variance += n.variance
		}
	}
	t.nodes[0].rows, t.nodes[0].denied, t.nodes[0].exact = all, denied, true
}

// settle makes what stands for rows stand for all of the site. A node that all were told is the site itself.
func (n *node) settle(known *siteRows, isTop bool) {
	switch {
	case isTop && n.told == known.told && n.missed == 0:
		n.rows += known.rows - known.told
		n.denied, n.exact = known.denied, true
	case known.told > 0:
		rows := n.rows - n.told + int64(math.Round(float64(n.told)*float64(known.rows)/float64(known.told)))
		n.denied = int64(math.Round(float64(n.denied) * float64(rows) / float64(max(1, n.rows))))
		n.rows = rows
	}
}

// within returns the variance of rows of a site, told of which are estimated with such a variance, when they were
// scaled to the number of all, which is known: the more of these they are, the better they are known.
func (n *node) within(told int64, variance float64) float64 {
	if n == nil || !n.exact || n.told == 0 {
		return variance
	}
	part := max(0, min(1, float64(told)/float64(n.told)))
	return variance*(1-part)*(1-part) + max(0, n.variance-variance)*part*part
}

// count adds a visit.
func (n *node) count(v *visit) {
	n.rows += v.rows
	n.told += v.told
	n.variance += v.variance
	n.denied += v.denied
	for _, d := range v.by {
		n.countRule(d)
	}
}

// merge adds what another node counts.
func (n *node) merge(o *node) {
	n.rows += o.rows
	n.told += o.told
	n.variance += o.variance
	n.denied += o.denied
	n.more = n.more || o.more
	for i, rule := range o.rules {
		if rule != 0 {
			n.countRule(decided{rule, o.verdicts[i]})
		}
	}
}

// countRule counts verdicts of a rule. If there are many rules, those with fewer make room for one with more.
func (n *node) countRule(d decided) {
	least := 0
	for i, rule := range n.rules {
		if rule == d.rule || rule == 0 {
			n.rules[i] = d.rule
			n.verdicts[i] += d.verdicts
			return
		}
		if n.verdicts[i] < n.verdicts[least] {
			least = i
		}
	}
	if n.more = true; d.verdicts > n.verdicts[least] {
		n.rules[least], n.verdicts[least] = d.rule, d.verdicts
	}
}

// walk finds the nodes of a URL that so many rows came with, makes those that are missing, and returns the last.
func (t *tree) walk(url []byte, origin int, rows int64) int32 {
	same, alike := 0, prefix.Shared(t.last, url)
	for same < len(t.way) && t.ends[same] <= alike && t.whole(url, origin, same) {
		same++
	}
	t.way, t.ends = t.way[:same], t.ends[:same]
	t.last = append(t.last[:alike], url[alike:]...)
	at, parent := 0, int32(0)
	if same > 0 {
		at, parent = t.ends[same-1], t.way[same-1]
	}
	if t.origins && at == 0 {
		parent, _ = t.step(parent, url[:origin], origin, false)
		at = origin
	}
	at = max(at, origin)
	for len(t.way) < maxDepth {
		size := segment(url[at:])
		if size == 0 {
			break
		}
		name := url[at : at+size]
		var known bool
		if parent, known = t.step(parent, name, at+size, name[size-1] != '/' && rows <= t.floor); !known {
			t.nodes[parent].lost += rows
			break
		}
		at += size
	}
	return parent
}

// whole reports whether what way has at a place, with which the URL begins as well, is a whole segment of
// it.
func (t *tree) whole(url []byte, origin, place int) bool {
	start, end := 0, t.ends[place]
	if place > 0 {
		start = t.ends[place-1]
	} else if t.origins {
		return end == origin
	}
	switch {
	case start < origin:
		return false
	case end == len(url):
		return true
	case url[start] == '?':
		return false
	}
	return url[end-1] == '/' || url[end] == '?' || url[end] == '#'
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
			if t.isLeaf(n) && t.nodes[n].rows <= least {
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
	var few [16]int // leaves by rows
	var more []int64
	leaves := 0
	for n := range t.nodes {
		if t.isLeaf(n) {
			leaves++
			if rows := t.nodes[n].rows; rows < int64(len(few)) {
				few[rows]++
			} else {
				more = append(more, rows)
			}
		}
	}
	at := min(leaves/2, t.used-maxNodes/2)
	for rows, n := range few { // which most have: to sort all takes longer
		if at -= n; at < 0 {
			return int64(rows)
		}
	}
	if len(more) == 0 {
		return 0
	}
	slices.Sort(more)
	return more[at]
}

// remove removes a leaf. Its rows still count for its parent.
func (t *tree) remove(n int32) {
	leaf := &t.nodes[n]
	above := &t.nodes[leaf.parent]
	above.merge(leaf)
	above.lost += leaf.rows // what comes again may have been removed more than once
	above.leaves--
	*leaf = node{parent: -1}
	t.spare = append(t.spare, n)
	t.used--
}
