package automaton

import (
	"strings"
	"testing"
)

// TestLongPattern checks patterns of all lengths: in patterns that are tried, the length shares 16 bits with a flag.
func TestLongPattern(t *testing.T) {
	for _, n := range []int{100, longRest / 3, longRest/3 + 1, 11_000, 22_000, 100_000} {
		pattern := "/" + strings.Repeat("*ab", n) + "*c$"
		a, _, err := Compile([]Rule{{Pattern: pattern}, {Pattern: "/*zz", Allow: true}})
		if err != nil {
			t.Fatal(err)
		}
		path := "/" + strings.Repeat("ab", n)
		if rank := a.Match([]byte(path+"c"), new(Scratch)); rank.Position() != 1 {
			t.Errorf("%d segments: a path that has all of them is decided by rank %d", n, rank)
		}
		for _, path := range []string{path, path[2:] + "c", path + "cd"} {
			if rank := a.Match([]byte(path), new(Scratch)); rank != NoMatch {
				t.Errorf("%d segments: a path that lacks one is decided by rank %d", n, rank)
			}
		}
	}
}
