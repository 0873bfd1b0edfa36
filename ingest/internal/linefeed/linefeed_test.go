package linefeed

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/guardpage"
)

// check compares what Find finds, with room for so many places, with a walk over all bytes.
func check(tb testing.TB, text []byte, room int) {
	tb.Helper()
	for name, f := range map[string]func([]byte, []uint32) (int, int, Seen){"Find": Find, "findGeneric": findGeneric} {
		places := make([]uint32, room)
		n, read, seen := f(text, places)
		var want []uint32
		for i, b := range text[:read] {
			if b == '\n' {
				want = append(want, uint32(i))
			}
		}
		if !slices.Equal(places[:n], want) {
			tb.Fatalf("%s of %q, with room for %d: %v, want %v", name, text, room, places[:n], want)
		}
		if read < len(text) && n+Block <= room || n > room {
			tb.Fatalf("%s of %q, with room for %d: it has read %d bytes of %d, and found %d", name, text, room, read, len(text), n)
		}
		if want := (Seen{bytes.ContainsAny(text[:read], " \t"), bytes.IndexByte(text[:read], 0) >= 0, bytes.IndexByte(text[:read], '\r') >= 0}); seen != want {
			tb.Fatalf("%s of %q, with room for %d: it has seen %v, want %v", name, text[:read], room, seen, want)
		}
	}
}

// TestFind checks texts of each length at the very beginning and the very end of readable memory,
// from no line feed to nothing else, with every odd byte.
func TestFind(t *testing.T) {
	before, behind := guardpage.New(t)
	rng := rand.New(rand.NewPCG(15, 9309))
	for n := range 5*Block + 2 {
		for _, text := range [][]byte{before[:n], behind[len(behind)-n:]} {
			for _, every := range []int{1, 2, 5, 30, 80, 1000} {
				for i := range text {
					text[i] = "ab/\x80\xff"[rng.IntN(5)]
					if rng.IntN(every) == 0 {
						text[i] = '\n'
					}
				}
				check(t, text, len(text)+Block)
				check(t, text, rng.IntN(2*Block))
				if n > 0 {
					text[rng.IntN(n)] = " \t\x00\r\x01\x0b\x0e\x1f!"[rng.IntN(9)]
					check(t, text, len(text)+Block)
				}
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("http://a/\nhttp://b/ c\r\n\n\x00"), uint16(100))
	f.Fuzz(func(t *testing.T, text []byte, room uint16) { check(t, text, int(room)) })
}
