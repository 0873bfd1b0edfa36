package automaton

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSegmentIndex compares looking for a segment by a window of it with bytes.Index, on few
// letters, so that the window is often found without the segment.
func TestSegmentIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(n int, letters string) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[rng.IntN(len(letters))]
		}
		return b
	}
	found := 0
	for range 200_000 {
		letters := "eqe/"[:1+rng.IntN(4)]
		seg := text(1+rng.IntN(5), letters)
		path := text(rng.IntN(90), letters+"z"[:rng.IntN(2)])
		got := segment{seg, int(window(string(seg)))}.index(path)
		if want := bytes.Index(path, seg); got != want {
			t.Fatalf("%q in %q: %d, want %d", seg, path, got, want)
		}
		if got > 0 {
			found++
		}
	}
	if found < 1000 {
		t.Fatalf("only %d segments were found behind the start: too few to compare", found)
	}
}

func TestWindow(t *testing.T) {
	for seg, want := range map[string]byte{"/feed/": 1, "?q=": 0, "e": 0, "-x-": 0, "a-xq": 1, "aéa": 0, "": 0} {
		if got := window(seg); got != want {
			t.Errorf("%q: byte %d, want %d", seg, got, want)
		}
	}
}
