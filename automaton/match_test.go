package automaton

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A forms has rules compiled in every form: as Compile chooses, with indexes instead of groups where possible, and with
// lists for package onepass. Compile uses the latter two only for many patterns.
type forms struct {
	rules     []robots.Rule
	automata  []*Automaton
	orders    [][]int32
	formNames []string
}

func compileForms(tb testing.TB, rules []Rule) *forms {
	tb.Helper()
	f := &forms{formNames: []string{"chosen", "index", "lists"}}
	for _, r := range rules {
		f.rules = append(f.rules, robots.Rule{Allow: r.Allow, Pattern: r.Pattern})
	}
	for _, l := range []limits{chosen, {tried: triedLimit}, {}} {
		a := &Automaton{}
		order, err := a.compileWith(rules, l)
		if err != nil {
			tb.Fatalf("Compile: %v", err)
		}
		f.automata = append(f.automata, a)
		f.orders = append(f.orders, order)
	}
	return f
}

// check compares every form with the reference on one path.
func (f *forms) check(tb testing.TB, path string, s *Scratch) {
	tb.Helper()
	want := robots.Decide(f.rules, []byte(path), robots.RFC9309)
	for i, a := range f.automata {
		rank := a.Match([]byte(path), s)
		got := -1
		if rank != NoMatch {
			got = int(f.orders[i][rank.Position()])
		}
		if got != want {
			tb.Fatalf("%s form: %q is decided by rule %d, the reference says %d, of %s", f.formNames[i], path, got, want, describe(f.rules))
		}
		if got >= 0 && rank.Allow() != f.rules[got].Allow {
			tb.Fatalf("%s form: rank %d of %q has the wrong answer", f.formNames[i], rank, path)
		}
		f.checkReads(tb, i, path, s)
	}
}

func describe(rules []robots.Rule) string {
	var b strings.Builder
	for i, r := range rules {
		if i == 20 {
			fmt.Fprintf(&b, " … %d rules", len(rules))
			break
		}
		fmt.Fprintf(&b, " %t:%q", r.Allow, r.Pattern)
	}
	return b.String()
}

// checkReads checks that all paths that begin with the bytes that Reads returns have the same result.
func (f *forms) checkReads(tb testing.TB, form int, path string, s *Scratch) {
	tb.Helper()
	a := f.automata[form]
	read := a.Reads([]byte(path), s)
	if read > len(path) {
		return
	}
	want := a.Match([]byte(path), s)
	for _, rest := range []string{"", "a", "b/", "/a$", "ab?a%41baaaaaaaaaaa", path} {
		if got := a.Match([]byte(path[:read]+rest), s); got != want {
			tb.Fatalf("%s form: %q and %q have ranks %d and %d, but Reads says that %d bytes decide, of %s",
				f.formNames[form], path, path[:read]+rest, want, got, read, describe(f.rules))
		}
	}
}

// words returns all strings of up to n bytes over the alphabet.
func words(alphabet string, n int) []string {
	all := []string{""}
	for from := 0; n > 0; n-- {
		end := len(all)
		for _, w := range all[from:end] {
			for i := range len(alphabet) {
				all = append(all, w+alphabet[i:i+1])
			}
		}
		from = end
	}
	return all
}

// TestMatchExhaustive checks every pattern of up to five bytes, alone, with every path of up to five bytes.
func TestMatchExhaustive(t *testing.T) {
	n := 5
	if testing.Short() {
		n = 4
	}
	patterns, paths := words("/ab*$%", n), words("/ab$%", n)
	s := &Scratch{}
	checks := 0
	for _, p := range patterns {
		f := compileForms(t, []Rule{{Pattern: p}})
		for _, path := range paths {
			if path != "" && path[0] != '/' && path[0] != 'a' {
				continue // the others only differ in the name of a byte
			}
			f.check(t, path, s)
			checks++
		}
	}
	t.Logf("%d patterns, %d checks", len(patterns), checks)
}

// TestMatchPairs checks precedence: every pair of patterns of up to three bytes after the slash, with every such path.
func TestMatchPairs(t *testing.T) {
	n := 3
	if testing.Short() {
		n = 2
	}
	tails, paths := words("a/*$", n), words("a/$*", n)
	s := &Scratch{}
	for i, p := range tails {
		for j, q := range tails {
			f := compileForms(t, []Rule{{Pattern: "/" + p, Allow: (i+j)%3 == 0}, {Pattern: "/" + q, Allow: (i+j)%2 == 0}})
			for _, path := range paths {
				f.check(t, "/"+path, s)
			}
		}
	}
}

// randomRules returns rules whose parts come from a small set, so that they share anchors and segments, overlap, and
// contain each other.
func randomRules(rng *rand.Rand, n int) []Rule {
	stock := []string{"a", "b", "ab", "aa", "aba", "/", "/a", "a/", "bab", "$", "%41", "?", "aaaaaaaa"}
	rules := make([]Rule, n)
	for i := range rules {
		var b strings.Builder
		if rng.IntN(8) > 0 {
			b.WriteByte('/')
		}
		for range rng.IntN(6) {
			if rng.IntN(3) == 0 {
				b.WriteByte('*')
			}
			b.WriteString(stock[rng.IntN(len(stock))])
		}
		if rng.IntN(4) == 0 {
			b.WriteByte('$')
		}
		rules[i] = Rule{Pattern: b.String(), Allow: rng.IntN(2) == 0}
	}
	return rules
}

func randomPath(rng *rand.Rand) string {
	const bytes = "/aaabbb?$%41"
	b := []byte{'/'}
	for range rng.IntN(24) {
		b = append(b, bytes[rng.IntN(len(bytes))])
	}
	return string(b)
}

// TestMatchRandom compares random sets of rules of all sizes with the reference, with one Scratch for all of them.
func TestMatchRandom(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	rng := rand.New(rand.NewPCG(1, 9309))
	s := &Scratch{}
	for round := range rounds {
		f := compileForms(t, randomRules(rng, 1+rng.IntN(1+round%120)))
		for range 60 {
			f.check(t, randomPath(rng), s)
		}
	}
}

// FuzzMatch reads one rule per line; a leading "+" allows.
func FuzzMatch(f *testing.F) {
	f.Add("/\n+/a", "/a/b")
	f.Add("/*_a*/shop/\n/*_b*/shop/\n+/*_c*/shop/$", "/x_b/y_c/shop/")
	f.Add("/a*a$\n+/aa*a\n/*aa*a*", "/aaa")
	f.Add(strings.Repeat("/*x\n/*xy*z$\n", 40), "/xyzxyz")
	f.Add("\n*\n$\n*$\n+$$\n/a**b\n", "/a$b")
	f.Fuzz(func(t *testing.T, text, path string) {
		var rules []Rule
		for line := range strings.SplitSeq(text, "\n") {
			pattern, allow := strings.CutPrefix(line, "+")
			if pattern != "" { // robots drops rules without a value
				rules = append(rules, Rule{Pattern: pattern, Allow: allow})
			}
		}
		compileForms(t, rules).check(t, path, &Scratch{})
	})
}

// TestMatchAllocs checks that matching does not allocate, in either form.
func TestMatchAllocs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	f := compileForms(t, randomRules(rng, 20))
	s := &Scratch{}
	path := []byte("/ab/aba?aa/bab/aaaaaaaab")
	for i, a := range f.automata {
		if n := testing.AllocsPerRun(100, func() { a.Match(path, s) }); n != 0 {
			t.Errorf("%s form: %v allocations a match", f.formNames[i], n)
		}
	}
}
