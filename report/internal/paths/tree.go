// Package paths counts requests by path: by origin, directory, name and query. Counts are exact, and only the busiest
// paths are kept: URLs come in an order in which URLs of one path are adjacent, so a path is complete when the next one
// begins. Package report imports it.
package paths

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/report/internal/show"
)

// Limits of the page: shownPaths in total, and shownBelow per path.
const (
	shownPaths = 600
	manySites  = 20 // number of sites from which half as many paths are shown
	shownBelow = 40
)

// MaxDepth is the maximum depth of distinguished paths, including the origin; deeper paths are counted at this depth.
const MaxDepth = 10

// query is the name for all queries of a path.
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
	size   int // number of paths in the tree of Below, including the path itself
	kept   bool
}

// A Rest counts the requests of a path that Below omits: those of the path itself, and of names without a row.
type Rest struct {
	Counts
	Of    string // the name of the path
	Depth int
	Paths int64 // number of omitted names
}

// Rest returns the part that Below omits; nil if that is nothing, or everything.
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
type Tree struct {
	open []*level // the root, and the paths to the last URL
	used int      // used length of open

	dir      []byte // the last URL, up to the last "/" of its path
	dirDepth int    // depth of that path; 0 means none
	origin   int    // length of the last URL's origin
}

// A level is an incomplete path.
type level struct {
	Counts
	name   []byte
	byRule map[int32]int64 // denying verdicts
	below  []*Path         // complete paths that may be shown
	least  int64           // requests of the last path kept when there were too many
	number int             // number of all paths below
}

// New returns an empty tree.
func New() *Tree { return &Tree{open: []*level{{byRule: map[int32]int64{}}}, used: 1} }

// Enter moves to the path of a URL, whose origin is url[:origin], and whose path ends at pathEnd. Paths that do not
// lead to it are complete then, and must not occur again.
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

// nextEnd returns the end of the name that begins at a position: an origin, a segment of the path including the
// following "/", or a query. It returns the position itself if there is no other name.
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

// push opens a path below the last one.
func (t *Tree) push(name []byte) {
	if t.used == len(t.open) {
		t.open = append(t.open, &level{byRule: map[int32]int64{}})
	}
	t.open[t.used].name = append(t.open[t.used].name[:0], name...)
	t.used++
}

// AddRequests counts requests for the path.
func (t *Tree) AddRequests(c *Counts) { t.open[t.used-1].addCounts(c, 1) }

// AddDenied counts verdicts for the path that a rule denied, given by its number.
func (t *Tree) AddDenied(rule int32, verdicts int64) { t.open[t.used-1].byRule[rule] += verdicts }

// leave completes the open paths from a depth on.
func (t *Tree) leave(depth int) {
	for t.used > depth {
		t.used--
		l, above := t.open[t.used], t.open[t.used-1]
		above.number++
		above.addCounts(&l.Counts, 1)
		for rule, verdicts := range l.byRule {
			above.byRule[rule] += verdicts
		}
		if len(above.below) < shownBelow || l.Requests > above.least {
			above.below = append(above.below, l.path(t.used))
			if n := len(above.below); n == 2*shownBelow || n == shownBelow && t.used > 1 { // origins are not sorted by name
				above.below = busiest(above.below)
				above.least = above.below[shownBelow-1].Requests
			}
		}
		clear(l.byRule)
		*l = level{name: l.name, byRule: l.byRule, below: l.below[:0]}
	}
}

// path returns the path of a completed level.
func (l *level) path(depth int) *Path {
	name := string(l.name)
	if name == "?" {
		name = query
	}
	p := &Path{Name: name, Depth: depth, Counts: l.Counts, Rule: -1, Several: len(l.byRule) > 1, number: l.number}
	most := int64(0)
	for rule, verdicts := range l.byRule {
		if verdicts > most || verdicts == most && rule < p.Rule {
			p.Rule, most = rule, verdicts
		}
	}
	p.Below = busiest(slices.Clone(l.below))
	p.trim(shownPaths)
	return p
}

// busiest returns the paths with the most requests, up to the number shown.
func busiest(all []*Path) []*Path {
	slices.SortStableFunc(all, func(a, b *Path) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), shownBelow)]
}

// trim reduces a tree to the given number of paths: the busiest ones. Their parents are at least as busy.
func (p *Path) trim(most int) {
	p.size = 1
	for _, b := range p.Below {
		p.size += b.size
	}
	if p.size <= most {
		return
	}
	queue, kept := &pathQueue{p}, make([]*Path, 0, most)
	for len(kept) < most && queue.Len() > 0 {
		next := heap.Pop(queue).(*Path)
		next.kept, kept = true, append(kept, next)
		for _, b := range next.Below {
			heap.Push(queue, b)
		}
	}
	for _, q := range kept {
		q.Below = slices.DeleteFunc(q.Below, func(b *Path) bool { return !b.kept })
	}
	for _, q := range kept {
		q.kept = false
	}
	p.size = len(kept)
}

// Root returns all paths below an unnamed root. Nothing may be added afterwards.
func (t *Tree) Root() *Path {
	t.leave(1)
	p := t.open[0].path(0)
	if len(p.Below) > manySites {
		p.trim(shownPaths / 2)
	}
	return p
}

// A pathQueue is a heap of paths, the busiest first.
type pathQueue []*Path

func (q pathQueue) Len() int { return len(q) }
func (q pathQueue) Less(i, j int) bool {
	if q[i].Requests != q[j].Requests {
		return q[i].Requests > q[j].Requests
	}
	return q[i].Depth < q[j].Depth || q[i].Depth == q[j].Depth && q[i].Name < q[j].Name
}
func (q pathQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push adds a path, for package heap.
func (q *pathQueue) Push(p any) { *q = append(*q, p.(*Path)) }

// Pop removes the last path, for package heap.
func (q *pathQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
