//go:build !purego

package robots

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd ../internal/asm && go run ./robots -out ../../robots/vector_amd64.s"

// hasVectors is whether the processor has the instructions that keptAVX2 needs.
var hasVectors = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// shortest is the length from which texts are checked with vector instructions.
const shortest = 16

// kept is keptGeneric for a form for URLs.
func (f *form) kept(s []byte) int {
	if len(s) < shortest || !hasVectors {
		return f.keptGeneric(s)
	}
	return keptAVX2(&s[0], len(s), &f.nibbles[0][0])
}

//go:noescape
func keptAVX2(text *byte, size int, nibbles *byte) int
