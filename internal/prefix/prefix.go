// Package prefix finds the length of the common prefix of two texts. Packages parquet, wordzstd, report, aggregate and
// conduct import it.
package prefix

import (
	"encoding/binary"
	"math/bits"
)

// block is the number of bytes that are compared without a branch.
const block = 32

// Shared returns the length of the common prefix of a and b. Within a block of 32 bytes, no branch depends on where they
// differ, because processors cannot predict that.
func Shared(a, b []byte) (n int) {
	for len(a) >= block && len(b) >= block {
		p, q := (*[block]byte)(a), (*[block]byte)(b)
		at, x := 24, differ(p, q, 24)
		if y := differ(p, q, 16); y != 0 {
			at, x = 16, y
		}
		if y := differ(p, q, 8); y != 0 {
			at, x = 8, y
		}
		if y := differ(p, q, 0); y != 0 {
			at, x = 0, y
		}
		if x != 0 {
			return n + at + bits.TrailingZeros64(x)/8
		}
		a, b, n = a[block:], b[block:], n+block
	}
	i := 0
	for ; i+8 <= min(len(a), len(b)); i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return n + i + bits.TrailingZeros64(x)/8
		}
	}
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return n + i
}

// differ returns the XOR of eight bytes of p and q, beginning at at.
func differ(p, q *[block]byte, at int) uint64 {
	return binary.LittleEndian.Uint64(p[at:]) ^ binary.LittleEndian.Uint64(q[at:])
}
