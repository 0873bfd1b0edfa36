package automaton

import "sync"

// A workspace is the memory that Compile works in. It is used again: most files are small, and to
// make it anew takes a fifth of the time of compiling them.
type workspace struct {
	keys     []uint64 // see rankRules
	rules    []Rule   // what is compiled
	order    []int32  // of precedence
	entries  []entry
	spare    []entry  // as many, if they have to be merged
	distinct []entry  // what is left, in one of both
	parsed   []ranked // the patterns with floating segments, in ascending order of rank
	group    []ranked // some of them, see floating
	buf      []byte   // where the table is written
}

// keptRules is the number of rules from which on a workspace is not kept: few files have as many.
const keptRules = 4096

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// release gives the workspace back, without what it holds of the rules.
func (w *workspace) release() {
	if len(w.order) > keptRules {
		return
	}
	clear(w.parsed)
	w.rules, w.order, w.parsed = nil, nil, w.parsed[:0]
	workspaces.Put(w)
}
