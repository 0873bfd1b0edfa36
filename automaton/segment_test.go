package automaton

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSegmentIndex compares the search for a segment by its window with bytes.Index, on few letters, so that the window
// often occurs without the segment.
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
		got := segment{seg, int(window(string(seg)))}.firstIn(path)
		if want := bytes.Index(path, seg); got != want {
			t.Fatalf("%q in %q: %d, want %d", seg, path, got, want)
		}
		if got > 0 {
			found++
		}
	}
	if found < 1000 {
		t.Fatalf("only %d segments were found after the start: too few to compare", found)
	}
}

// TestIndexBaited compares indexBaited, and the search for longer segments, with bytes.Index, on long paths that nearly
// contain the text everywhere, and on bytes that include the one that the baits use.
func TestIndexBaited(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	found := 0
	for range 20_000 {
		period, path := 1+rng.IntN(20), make([]byte, rng.IntN(3*baitedPart))
		for i := range path {
			path[i] = "ab"[min(i%period, 1)]
		}
		for range rng.IntN(3) * len(path) / 100 {
			path[rng.IntN(len(path))] = byte(0xff - rng.IntN(3))
		}
		text := make([]byte, 2+rng.IntN(2*longSegment))
		for i := range text {
			text[i] = byte(0xff - i%longSegment)
		}
		if at := rng.IntN(len(path) + 1); rng.IntN(10) > 0 {
			copy(text, path[at:])
		}
		if rng.IntN(2) == 0 {
			text[rng.IntN(len(text))] = "abc\xff"[rng.IntN(4)]
		}
		got, want := segment{text, int(window(string(text)))}.firstIn(path), bytes.Index(path, text)
		if len(text) <= longSegment && got == want {
			got = indexBaited(path, text)
		}
		if got != want {
			t.Fatalf("%q in %q: %d, want %d", text, path, got, want)
		}
		if got >= baitedPart-longSegment {
			found++
		}
	}
	if found < 500 {
		t.Fatalf("only %d texts were found near or after a border: too few to compare", found)
	}
}

func TestWindow(t *testing.T) {
	for seg, want := range map[string]byte{"/feed/": 1, "?q=": 0, "e": 0, "-x-": 0, "a-xq": 1, "aéa": 0, "": 0} {
		if got := window(seg); got != want {
			t.Errorf("%q: byte %d, want %d", seg, got, want)
		}
	}
}

// TestFindGeneric compares findGeneric with bytes.Index, on paths of few bytes in which windows occur often and nearly
// occur.
func TestFindGeneric(t *testing.T) {
	rng := rand.New(rand.NewPCG(36, 9309))
	found := 0
	for n := range 80 {
		for range 40 {
			path := make([]byte, n)
			for i := range path {
				path[i] = "a\x80"[rng.IntN(2)] + byte(rng.IntN(12)/11)
			}
			window := [printSize]byte{"a\x80"[rng.IntN(2)], "a\x80b"[rng.IntN(3)], "a\x80\x81"[rng.IntN(3)]}
			if got, want := findGeneric(path, window[:]), bytes.Index(path, window[:]); got != want {
				t.Fatalf("%q: %q is found at %d, want %d", path, window, got, want)
			} else if got > 0 {
				found++
			}
		}
	}
	if found < 1000 {
		t.Fatalf("only %d windows were found after the start: too few to compare", found)
	}
}
