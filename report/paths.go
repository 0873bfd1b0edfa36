package report

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
)

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
	sure := t.sure(below)
	for _, children := range below {
		slices.SortFunc(children, func(a, b int32) int {
			return cmp.Or(cmp.Compare(sure[b], sure[a]), bytes.Compare(t.name(uint32(a)), t.name(uint32(b))))
		})
	}
	// The busiest nodes are shown, whose parents are busier and so are shown as well.
	shown := make([]bool, len(t.nodes))
	queue := &busiest{rows: sure, all: []int32{0}}
	for left := shownPaths; left > 0 && queue.Len() > 0; left-- {
		n := heap.Pop(queue).(int32)
		shown[n] = true
		for _, c := range below[n][:min(len(below[n]), shownBelow)] {
			if sure[c] > 0 {
				heap.Push(queue, c)
			}
		}
	}
	for _, children := range below {
		slices.SortStableFunc(children, func(a, b int32) int { return cmp.Compare(t.nodes[b].rows, t.nodes[a].rows) })
	}
	var view func(n int32, depth int, most int64, site *node) Path // of at most so many rows
	view = func(n int32, depth int, most int64, site *node) Path {
		at := &t.nodes[n]
		if depth == 1 {
			site = at
		}
		p := Path{Name: nameOf(t.name(uint32(n))), Depth: depth, Requests: at.rows, Missed: max(0, min(at.missed, most-at.rows)), Denied: at.denied}
		p.Share, p.Of = share(at.denied, at.rows*verdicts), share(at.rows, t.nodes[0].rows)
		p.By, p.ByMore = at.busiestRule(name)
		if !at.exact {
			p.Error = rowsError(at.level, at.rows, site.within(at.told, at.variance))
			p.ShareError = shareError(at.level, at.rows, at.told, p.Share, at.variance)
		}
		rest, told, variance := Rest{Of: p.Name, Depth: depth + 1, Requests: at.rows, Denied: at.denied, Lost: at.lost > 0}, at.told, at.variance
		for _, c := range below[n] {
			if !shown[c] {
				rest.Paths++
				continue
			}
			p.Below = append(p.Below, view(c, depth+1, p.Requests+p.Missed, site))
			rest.Requests -= t.nodes[c].rows
			rest.Denied -= t.nodes[c].denied
			told -= t.nodes[c].told
			if !t.nodes[c].exact {
				variance -= t.nodes[c].variance
			}
		}
		if rest.Requests > 0 && len(p.Below) > 0 {
			if rest.Error = rowsError(at.level, rest.Requests, site.within(told, variance)); rest.Error >= 1 {
				return p // as good as nothing
			}
			rest.Denied = max(0, min(rest.Denied, rest.Requests*verdicts)) // the sum above may be exact, and those below not
			rest.Share, rest.OfAll = share(rest.Denied, rest.Requests*verdicts), share(rest.Requests, t.nodes[0].rows)
			rest.ShareError = shareError(at.level, rest.Requests, told, rest.Share, variance)
			p.Rest = &rest
		}
		return p
	}
	return view(0, 0, t.nodes[0].rows, nil)
}

// sure returns the rows that each node has at least, in 39 of 40 cases. By the estimates themselves those would be
// shown first that happen to be too large, among many paths with few rows each.
func (t *tree) sure(below [][]int32) []int64 {
	rows := make([]int64, len(t.nodes))
	var set func(n int32, most int64, site *node)
	set = func(n int32, most int64, site *node) {
		at := &t.nodes[n]
		if at.parent == 0 && n > 0 {
			site = at
		}
		rows[n] = min(most, at.rows)
		if !at.exact {
			rows[n] = min(most, int64(float64(at.rows)*(1-2*rowsError(at.level, at.rows, site.within(at.told, at.variance)))))
		}
		for _, c := range below[n] {
			set(c, rows[n], site)
		}
	}
	set(0, t.nodes[0].rows, nil)
	return rows
}

// rowsError returns the relative standard error of rows with such a variance, whose samples have at most such a
// level. A path none of whose rows stands for others may still lack some.
func rowsError(level uint8, rows int64, variance float64) float64 {
	return math.Sqrt(max(0, variance)+missing(level)) / float64(max(1, rows))
}

// missing returns the variance of rows of which one may stand for others and was not looked at; 0 if all were.
func missing(level uint8) float64 {
	most := float64(int64(1) << level)
	return most * (most - 1)
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
	for i, rule := range n.rules {
		more = more || rule != 0 && best.rule != 0
		if n.verdicts[i] > best.verdicts {
			best = decided{rule, n.verdicts[i]}
		}
	}
	if best.rule == 0 {
		return "", false
	}
	return name(best.rule - 1), more || n.more
}

// busiest is a heap of nodes, those with the most rows first.
type busiest struct {
	rows []int64 // by node
	all  []int32
}

func (b *busiest) Len() int { return len(b.all) }
func (b *busiest) Less(i, j int) bool {
	x, y := b.all[i], b.all[j]
	return b.rows[x] > b.rows[y] || b.rows[x] == b.rows[y] && x < y
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
