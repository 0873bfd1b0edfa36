package report

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSegment compares with what is read byte by byte, for texts of all lengths around eight.
func TestSegment(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 18))
	text := func() []byte {
		b := make([]byte, rng.IntN(30))
		for i := range b {
			b[i] = "ab\x00\xff/.?#0@"[rng.IntN(4+rng.IntN(7))]
		}
		return b
	}
	for range 100_000 {
		a := text()
		want := strings.IndexAny(string(a), "/?#")
		switch {
		case want < 0 || want == 0 && a[0] == '?':
			want = len(a)
		case a[want] == '/':
			want++
		}
		if got := segment(a); got != want {
			t.Fatalf("the first segment of %q has %d bytes, want %d", a, got, want)
		}
	}
}
