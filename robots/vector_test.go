//go:build amd64 && !purego

package robots

import (
	"math/rand/v2"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/guardpage"
)

var vectorForms = map[string]*form{"light": lightURL, "full": fullURL}

// checkKept compares kept and keptGeneric with the actions of the form.
func checkKept(tb testing.TB, name string, text []byte) {
	tb.Helper()
	f := vectorForms[name]
	want := 0
	for want < len(text) && f.actions[text[want]] == 0 {
		want++
	}
	if got := f.keptGeneric(text); got != want {
		tb.Fatalf("%s: the first %d bytes of %q are kept, not %d", name, want, text, got)
	}
	if len(text) < shortest || !hasVectors {
		return
	}
	if got := keptAVX2(&text[0], len(text), &f.nibbles[0][0]); got != want {
		tb.Fatalf("%s: the first %d bytes of %q are kept, by vector instructions %d", name, want, text, got)
	}
}

// TestKept checks texts of each length at the start and the end of readable memory and at each alignment, with every
// byte at every position.
func TestKept(t *testing.T) {
	before, behind := guardpage.New(t)
	rng := rand.New(rand.NewPCG(15, 9309))
	const longest = 5*32 + 2
	for name := range vectorForms {
		for n := range longest {
			places := [][]byte{before[:n], behind[len(behind)-n:]}
			for align := range 32 {
				places = append(places, before[align:][:n])
			}
			for _, text := range places {
				for i := range text {
					text[i] = 'a'
				}
				checkKept(t, name, text)
				for range 4 { // one byte with an action, and mostly one more
					if n > 0 {
						text[rng.IntN(n)] = byte(rng.IntN(256))
						checkKept(t, name, text)
					}
				}
			}
			for i := range n {
				text := places[1]
				for b := range 256 {
					text[i] = byte(b)
					checkKept(t, name, text)
				}
				text[i] = 'b'
			}
		}
	}
}

func FuzzKept(f *testing.F) {
	f.Add([]byte("/shop/colour=red&size=%41#fragment, and on for more than two blocks of bytes"))
	f.Add([]byte("/a%C3%A9/"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name := range vectorForms {
			checkKept(t, name, text)
		}
	})
}
