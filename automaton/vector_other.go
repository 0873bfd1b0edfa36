//go:build !amd64 || purego

package automaton

// walk is walkGeneric.
func (t table) walk(path []byte, nodes []pending) (best Rank, n int) {
	best, n, _ = t.walkGeneric(path, nodes)
	return best, n
}

// sift is walkGeneric, and then siftGeneric.
func (t table) sift(path []byte, work *[2*triedLimit + 1]pending) (best Rank, groups []pending) {
	best, n, _ := t.walkGeneric(path, work[:])
	if n == 0 {
		return best, nil
	}
	return best, work[n:][:t.siftGeneric(path, work[:n], best)]
}

// find is findGeneric.
func find(path, window []byte) int { return findGeneric(path, window) }

// hits is hitsGeneric.
func (t table) hits(group uint32, path []byte, pos int, out *[hitsRoom]uint16) (n int, has uint64) {
	return t.hitsGeneric(group, path, pos, out)
}

// slashes is slashesGeneric.
func slashes(path []byte) (has uint64) { return slashesGeneric(path) }
