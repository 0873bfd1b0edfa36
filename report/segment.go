package report

import (
	"encoding/binary"
	"math/bits"
)

// segment returns the length of the first segment of a path: up to and with the next "/", or a query
// with its "?" to the end, or 0 if there is none.
func segment(path []byte) int {
	if len(path) == 0 || path[0] == '#' {
		return 0
	}
	if path[0] == '?' {
		return len(path)
	}
	for n := 0; n < len(path); n += 8 {
		found := ends(eight(path, n))
		if found == 0 {
			continue
		}
		if n += bits.TrailingZeros64(found) / 8; path[n] == '/' {
			n++
		}
		return n
	}
	return len(path)
}

// eight returns the eight bytes of a text that begin at a place, and zeros for those behind its end: paths are
// looked at for each URL.
func eight(text []byte, at int) uint64 {
	switch {
	case at+8 <= len(text):
		return binary.LittleEndian.Uint64(text[at:])
	case len(text) >= 8:
		return binary.LittleEndian.Uint64(text[len(text)-8:]) >> (8 * (at + 8 - len(text)))
	}
	var rest [8]byte
	copy(rest[:], text[at:])
	return binary.LittleEndian.Uint64(rest[:])
}

// ends returns a number that is not 0 if one of eight bytes ends a segment. The lowest bit that is set is in
// the first that does.
func ends(text uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	slash, query, fragment := text^'/'*ones, text^'?'*ones, text^'#'*ones
	return ((slash-ones)&^slash | (query-ones)&^query | (fragment-ones)&^fragment) & highs
}
