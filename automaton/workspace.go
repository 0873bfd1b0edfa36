package automaton

import "sync"

// A workspace is the memory that Compile works in. It is used again: most files are small, and to make it anew takes a fifth
// of the time of compiling them.
type workspace struct {
	keys     []uint64
	prefixes []patternKey
	all      []ranked
	pats     []ranked
	table    table
}

// keptRules is the number of patterns from which on a workspace is not kept: few files have as many.
const keptRules = 4096

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// release gives the workspace back, without what it holds of the rules.
func (w *workspace) release() {
	if len(w.all) > keptRules {
		return
	}
	clear(w.all)
	clear(w.pats)
	workspaces.Put(w)
}
