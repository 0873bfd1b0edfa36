//go:build !purego

package automaton

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd ../internal/asm && go run ./automaton -out ../../automaton/vector_amd64.s"

// hasVectors reports whether the processor has the instructions used below.
var hasVectors = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// shortest is the length of the shortest path that is processed with vector instructions.
const shortest = 8

// walk is walkGeneric.
func (t table) walk(path []byte, nodes []pending) (best Rank, n int) {
	if len(path) < shortest || len(t) == 0 || !hasVectors {
		best, n, _ = t.walkGeneric(path, nodes)
		return best, n
	}
	return walkBMI2(&t[0], &path[0], len(path), &nodes[0])
}

//go:noescape
func walkBMI2(table, path *byte, size int, nodes *pending) (best Rank, n int)

//go:noescape
func siftAVX2(table, path *byte, size int, nodes *pending) (best Rank, n, end int)

//go:noescape
func scanAVX2(table *byte, group int, path *byte, size, pos int) (found uint64)

// find is findGeneric.
func find(path, window []byte) int {
	if len(path) < blockSize || !hasVectors {
		return findGeneric(path, window)
	}
	return findAVX2(&path[0], len(path), &window[0])
}

//go:noescape
func findAVX2(path *byte, size int, window *byte) int

// hits is hitsGeneric.
func (t table) hits(group uint32, path []byte, pos int, out *[hitsRoom]uint16) (n int, has uint64) {
	if len(path) < shortest || !hasVectors {
		return t.hitsGeneric(group, path, pos, out)
	}
	return hitsAVX2(&t[0], int(group), &path[0], len(path), pos, &out[0])
}

//go:noescape
func hitsAVX2(table *byte, group int, path *byte, size, pos int, out *uint16) (n int, has uint64)

// slashes is slashesGeneric.
func slashes(path []byte) (has uint64) {
	if len(path) < shortest || !hasVectors {
		return slashesGeneric(path)
	}
	return slashesAVX2(&path[0], len(path))
}

//go:noescape
func slashesAVX2(path *byte, size int) (has uint64)
