//go:build !purego

package linefeed

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd ../../../internal/asm && go run ./linefeed -out ../../ingest/internal/linefeed/vector_amd64.s"

// hasVectors reports whether the processor has the instructions used below.
var hasVectors = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// find calls the vector version, or else findGeneric.
func find(text []byte, places []uint32) (n, read int, s Seen) {
	if min(len(text), len(places)) < Block || !hasVectors {
		return findGeneric(text, places)
	}
	n, read, blank, null, ret := findAVX2(&text[0], len(text), &places[0], len(places))
	s = Seen{Blank: blank != 0, NUL: null != 0, CR: ret != 0}
	if len(text)-read < Block && n+Block <= len(places) {
		from := read
		m, rest, more := findGeneric(text[from:], places[n:])
		for i := range places[n : n+m] {
			places[n+i] += uint32(from)
		}
		n, read = n+m, from+rest
		s.Add(more)
	}
	return n, read, s
}

//go:noescape
func findAVX2(text *byte, size int, places *uint32, room int) (n, read int, blank, null, ret uint32)
