package automaton

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestRuns checks runs around the length at which the trie starts a new node, and at which the forms of floating
// segments change.
func TestRuns(t *testing.T) {
	s := &Scratch{}
	for _, n := range []int{1, longSegment, longSegment + 1, longestSegment, longestSegment + 1, maxRun - 1, maxRun, maxRun + 1, maxRun + 2, 2*maxRun + 1, 2*maxRun + 2, 1000} {
		run := strings.Repeat("a", n)
		for _, rules := range [][]Rule{
			{{Pattern: "/" + run}},
			{{Pattern: "/" + run + "$"}, {Pattern: "/" + run + "b", Allow: true}},
			{{Pattern: "/" + run + "*b"}, {Pattern: "/" + run[1:] + "*b$", Allow: true}},
			{{Pattern: "/*" + run}, {Pattern: "/*" + run + "b$", Allow: true}},
			{{Pattern: "/b*" + run + "*" + run + "$"}, {Pattern: "/b*" + run, Allow: true}},
		} {
			f := compileForms(t, rules)
			for _, m := range []int{0, 1, n - 1, n, n + 1, 2*n - 1, 2 * n, 2*n + 1} {
				path := strings.Repeat("a", m)
				for _, p := range []string{"/" + path, "/" + path + "b", "/b" + path, "/b" + path + "b" + run} {
					f.check(t, p, s)
				}
			}
		}
	}
}

// TestByteLabels has one node with every byte as a label.
func TestByteLabels(t *testing.T) {
	var rules, floating []Rule
	for b := range 256 {
		label := string([]byte{byte(b)})
		rules = append(rules, Rule{Pattern: "/" + label + "x", Allow: b%2 == 0})
		floating = append(floating, Rule{Pattern: "/*" + label + "x", Allow: b%2 == 0})
	}
	s := &Scratch{}
	for _, f := range []*forms{compileForms(t, rules), compileForms(t, floating), compileForms(t, append(rules, floating...))} {
		for b := range 256 {
			label := string([]byte{byte(b)})
			for _, path := range []string{"/" + label, "/" + label + "x", "/" + label + "xx", "/" + label + label + "x"} {
				f.check(t, path, s)
			}
		}
	}
}

// TestForms checks at which weight of the patterns Compile changes to package onepass.
func TestForms(t *testing.T) {
	same := func(i int) string { return fmt.Sprintf("/*x%d", i) }
	apart := func(i int) string { return fmt.Sprintf("/%03d*x", i) }
	longer := func(i int) string { return fmt.Sprintf("/*%03d", i) + strings.Repeat("a", longSegment-2) }
	segments := func(i int) string { return fmt.Sprintf("/*%d", i) + strings.Repeat("*ab", 4*manySegments-1) }
	below := func(i int) string { return "/" + strings.Repeat("a", i) + "*x" }
	for _, c := range []struct {
		name    string
		n       int
		pattern func(int) string
		search  bool
	}{
		{"same", triedLimit, same, false},
		{"same", triedLimit + 1, same, true},
		{"apart", triedLimit, apart, false},
		{"apart", triedLimit + 1, apart, true},
		{"below", triedLimit, below, false},
		{"below", triedLimit + 1, below, true},
		{"one letter each", 1, func(int) string { return "/" + strings.Repeat("*a", manySegments*triedLimit) }, true},
		{"segments", triedLimit / 5, segments, false},
		{"more segments", triedLimit/5 + 1, segments, true},
		{"long", 1, func(int) string { return "/*" + strings.Repeat("a", longSegment) }, false},
		{"longer", 1, func(int) string { return "/*" + strings.Repeat("a", longestSegment) }, false},
		{"longest", 1, func(int) string { return "/*" + strings.Repeat("a", longestSegment+1) }, true},
		{"some longer", triedLimit / (1 + longSegmentCost), longer, false},
		{"many longer", triedLimit/(1+longSegmentCost) + 1, longer, true},
	} {
		rules := manyRules(c.n, c.pattern)
		compileForms(t, rules).check(t, "/a/b/c/d", &Scratch{})
		a, _, err := Compile(rules)
		if err != nil {
			t.Fatal(err)
		}
		if search := a.search != nil; search != c.search {
			t.Errorf("%d rules, %s: search %t, want %t", c.n, c.name, search, c.search)
		}
	}
}

// TestTooLarge checks that rules that exceed the table are an error, rather than a wrong result.
func TestTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles 16 MiB")
	}
	_, _, err := Compile([]Rule{{Pattern: "/" + strings.Repeat("a", maxTable)}})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
	rules := []Rule{{Pattern: "/" + strings.Repeat("a", maxTable-maxTable/32)}}
	a, _, err := Compile(rules)
	if err != nil || a.Match([]byte(rules[0].Pattern+"x"), &Scratch{}) == NoMatch || a.Match([]byte(rules[0].Pattern[1:]), &Scratch{}) != NoMatch {
		t.Errorf("a rule that just fits: %v", err)
	}
}

// TestEmpty checks sets of rules that match nothing, or hardly anything.
func TestEmpty(t *testing.T) {
	if (&Automaton{}).Match([]byte("/"), &Scratch{}) != NoMatch || (&Automaton{}).Size() != 0 || NoMatch.Position() != -1 {
		t.Error("the zero Automaton matches")
	}
	for _, rules := range [][]Rule{nil, {{}}, {{}, {Pattern: "/a"}}, {{Allow: true}, {Pattern: "*"}, {Pattern: "**$", Allow: true}}} {
		f, s := compileForms(t, rules), &Scratch{}
		kept := f.rules[:0:0]
		for _, r := range f.rules {
			if r.Pattern == "" {
				r.Pattern = "\x00\x00nothing" // the reference does not accept an empty pattern
			}
			kept = append(kept, r)
		}
		f.rules = kept
		for _, path := range []string{"/", "/a", "/b", ""} {
			f.check(t, path, s)
		}
	}
}

// TestNestedAnchors has one pattern with a floating segment at each of n nested anchors, so that a path passes all of
// them: as many as may be tried, one less and one more.
func TestNestedAnchors(t *testing.T) {
	tails := []string{"", "xa", "xb", "xc", "xaxbxc"}
	if testing.Short() {
		tails = tails[4:]
	}
	for n := triedLimit - 1; n <= triedLimit+1; n++ {
		var rules []Rule
		for i := range n {
			rules = append(rules, Rule{Pattern: "/" + strings.Repeat("a", i) + "*x" + string(rune('a'+i%3)), Allow: i%2 == 0})
		}
		a, _, err := Compile(rules)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.search != nil; got != (n > triedLimit) {
			t.Errorf("%d patterns on one path are searched: %t", n, got)
		}
		f, s := compileForms(t, rules), &Scratch{}
		for i := range n + 2 {
			for _, tail := range tails {
				f.check(t, "/"+strings.Repeat("a", i)+tail, s)
			}
		}
	}
}

// Patterns that only differ in the rest of their text are found in one pass; patterns that differ in words are not.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		rules []Rule
		lists bool
	}{
		{crowd(300), true},
		{crowd(20), false},
		{manyRules(300, func(i int) string { return fmt.Sprintf("/*%c%c-%c", 'a'+i%26, 'a'+i/26, 'a'+i%7) }), false},
	} {
		a, _, err := Compile(c.rules)
		if err != nil || (a.search != nil) != c.lists {
			t.Errorf("%d rules like %s: lists %t, error %v", len(c.rules), c.rules[1].Pattern, a.search != nil, err)
		}
	}
}
