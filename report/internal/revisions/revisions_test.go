package revisions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDifferences checks that two texts without their differing lines are equal, and that no other choice of lines
// keeps more. It compares with all choices, for short texts.
func TestDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 1))
	text := func() (lines []Line) {
		for i := range rng.IntN(7) {
			lines = append(lines, Line{i + 1, string(rune('a' + rng.IntN(3)))})
		}
		return lines
	}
	for range 3000 {
		a, b := text(), text()
		gone, added := differences(a, b)
		left, other := without(a, gone), without(b, added)
		if !slices.Equal(left, other) {
			t.Fatalf("%v to %v: -%v +%v leaves %q and %q", a, b, gone, added, left, other)
		}
		most := 0
		for mask := range 1 << len(a) {
			var chosen []string
			for i := range a {
				if mask>>i&1 == 1 {
					chosen = append(chosen, a[i].Text)
				}
			}
			if len(chosen) > most && within(chosen, b) {
				most = len(chosen)
			}
		}
		if most != len(left) {
			t.Fatalf("%v to %v: %d lines are kept, but %d could be", a, b, len(left), most)
		}
	}
}

func without(all, some []Line) (left []string) {
	for _, l := range all {
		if !slices.Contains(some, l) {
			left = append(left, l.Text)
		}
	}
	return left
}

func within(chosen []string, all []Line) bool {
	for _, l := range all {
		if len(chosen) > 0 && chosen[0] == l.Text {
			chosen = chosen[1:]
		}
	}
	return len(chosen) == 0
}

// TestOf checks that texts of an origin are compared in the order of time, and that equal texts are not a revision.
func TestOf(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	all := Of([]Text{
		{Origin: "https://a", At: at(5), Body: []byte("User-agent: *\r\nDisallow: /a\n\nDisallow: /b")},
		{Origin: "https://a", At: at(1), Body: []byte("User-agent: *\nDisallow: /a\n")},
		{Origin: "https://b", At: at(2), Body: []byte("x")},
		{Origin: "https://a", At: at(3), Body: []byte("User-agent: *\nDisallow: /a\n")},
		{Origin: "https://b", At: at(4), Body: nil},
	})
	if got := fmt.Sprint(all); len(all) != 2 || all[1].Added[0] != (Line{4, "Disallow: /b"}) || len(all[1].Added) != 1 || len(all[1].Gone) > 0 || all[0].Known || all[0].Origin != "https://b" {
		t.Errorf("the revisions are %s", got)
	}
}

// TestLarge checks that texts that are too large for a comparison line by line count as replaced between their common
// beginning and end.
func TestLarge(t *testing.T) {
	lines := func(word string) []byte {
		return []byte("first\n" + strings.Repeat(word+"\n", 3000) + "last\n")
	}
	all := Of([]Text{{Origin: "o", At: time.Unix(1, 0), Body: lines("a")}, {Origin: "o", At: time.Unix(2, 0), Body: lines("b")}})
	if len(all) != 1 || len(all[0].Added) != 3000 || len(all[0].Gone) != 3000 || all[0].Added[0] != (Line{2, "b"}) {
		t.Errorf("%d revisions", len(all))
	}
}

// TestAlike checks that revisions of several origins with the same lines on one day are combined, and the others are
// counted.
func TestAlike(t *testing.T) {
	one := func(origin string, hour int, added string) Revision {
		return Revision{Origin: origin, At: time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC), Added: []Line{{hour, added}}, Known: added != ""}
	}
	var got []string
	for _, r := range Alike([]Revision{one("a", 1, "x"), one("b", 2, "x"), one("c", 3, "y"), one("d", 4, ""), one("e", 5, "x"), one("f", 6, ""), one("g", 25, "x")}) {
		got = append(got, fmt.Sprint(r.Origin, r.Others))
	}
	if want := []string{"a2", "c0", "d1", "g0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
