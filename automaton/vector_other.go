//go:build !amd64 || purego

package automaton

// Without vector instructions, siftAVX2 is never used.
const (
	hasVectors = false
	shortest   = 0
)

func siftAVX2(_, _ *byte, _ int, _ *pending) (best Rank, n, end int) { panic("no vector instructions") }

// walk is walkGeneric.
func (t table) walk(path []byte, nodes []pending) (best Rank, n int) {
	best, n, _ = t.walkGeneric(path, nodes)
	return best, n
}

// find is findGeneric.
func find(path, window []byte) int { return findGeneric(path, window) }

// hits is hitsGeneric.
func (t table) hits(group uint32, path []byte, pos int, out *[hitsRoom]uint16) (n int, has uint64) {
	return t.hitsGeneric(group, path, pos, out)
}

// slashes is slashesGeneric.
func slashes(path []byte) (has uint64) { return slashesGeneric(path) }
