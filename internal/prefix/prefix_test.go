package prefix

import (
	"bytes"
	"testing"
)

// TestShared compares texts of all lengths up to three blocks that differ at any offset.
func TestShared(t *testing.T) {
	x := bytes.Repeat([]byte("x"), 3*block+1)
	for m := range len(x) + 1 {
		b := bytes.Clone(x[:m])
		for at := range m + 1 {
			if at < m {
				b[at] = 'y'
			}
			for _, n := range []int{0, 1, 7, 8, 9, block - 1, block, block + 1, 2*block - 1, 2 * block, m, len(x)} {
				want := min(n, at)
				if got := Shared(x[:n], b); got != want {
					t.Fatalf("%d bytes and %d that differ at %d share %d, want %d", n, m, at, got, want)
				}
				if got := Shared(b, x[:n]); got != want {
					t.Fatalf("%d bytes that differ at %d and %d share %d, want %d", m, at, n, got, want)
				}
			}
			if at < m {
				b[at] = 'x'
			}
		}
	}
}
