package automaton

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestWindow compares windows with the bytes that are there.
func TestWindow(t *testing.T) {
	for size := windowSize; size <= 3*windowSize; size++ {
		path := []byte("abcdefghijklmnopqrstuvwxyz")[:size]
		for i := -4; i <= size; i++ {
			w := window(path, i)
			for k := range windowSize {
				want, j := byte(0), i-windowBefore+k
				if j >= 0 && j < size {
					want = path[j]
				}
				if got := byte(w >> (8 * k)); got != want {
					t.Errorf("window at %d of %q has %q as its byte %d, want %q", i, path, got, k, want)
				}
			}
		}
	}
}

// keyedRules are rules of whose segments some have keys of every set and shape, and some have none.
func keyedRules(rng *rand.Rand, n int) []Rule {
	stock := []string{"/", "q=", "?q=", "?", ".js", ".html", "/a/", "shop", "-x-", "_y", "&id=", "a", "ei", "/shop/", "colour-red", "7"}
	rules := make([]Rule, n)
	for i := range rules {
		var b strings.Builder
		b.WriteByte('/')
		for range 1 + rng.IntN(2) {
			b.WriteByte('*')
			for range 1 + rng.IntN(3) {
				b.WriteString(stock[rng.IntN(len(stock))])
			}
		}
		if rng.IntN(3) == 0 {
			b.WriteByte('$')
		}
		rules[i] = Rule{b.String(), rng.IntN(2) == 0}
	}
	return rules
}

// fulfilled returns a path that the pattern matches.
func fulfilled(rng *rand.Rand, pattern string) string {
	body, atEnd := strings.CutSuffix(pattern, "$")
	for strings.Contains(body, "*") {
		body = strings.Replace(body, "*", []string{"", "/", "z", "?q=", "/z.html"}[rng.IntN(5)], 1)
	}
	if !atEnd {
		body += []string{"", "/", "zz"}[rng.IntN(3)]
	}
	return body
}

// TestKeysOfMatches checks for all sets and shapes that a path which a pattern matches has the pattern's key, and all that
// the pattern needs.
func TestKeysOfMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9309))
	for range 400 {
		rule := keyedRules(rng, 1)[0]
		p := ranked{Pattern: ParsePattern(rule.Pattern)}
		path := []byte(fulfilled(rng, rule.Pattern))
		if robots.Decide([]robots.Rule{{Pattern: rule.Pattern}}, path, robots.RFC9309) != 0 {
			t.Fatalf("%q does not match %q, which was made from it", rule.Pattern, path)
		}
		rest := append(bytes.Clone(path[1:]), make([]byte, windowSize)...)[:max(windowSize, len(path)-1)]
		for set := range delimiterSets {
			for shape := range keyShapes {
				f := filing{log: maxKeyedLog, set: byte(set), shape: byte(shape), end: endBytes([]ranked{p})}
				e := f.entry(&p, make([]uint16, 64<<maxKeyedLog))
				k := keys{filter: bytes.Repeat([]byte{0xff}, 8<<maxKeyedLog), set: delimiterSets[set], shape: &keyShapes[shape], end: endMask(f.end)}
				var c candidates
				n, has := k.hits(rest, len(path)-1, &c)
				if e.hash >= 0 && !slices.Contains(c.hashes[:n], uint16(e.hash)) {
					t.Errorf("set %q, shape %d: the key of %q is not found in %q", delimiterSets[set], shape, rule.Pattern, path)
				}
				if e.needs&^(has|k.slashes(rest)) != 0 {
					t.Errorf("set %q, shape %d: %q lacks what %q needs", delimiterSets[set], shape, path, rule.Pattern)
				}
			}
		}
	}
}

// TestMatchKeyed compares rules that are filed under keys with the reference.
func TestMatchKeyed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9309))
	s := &Scratch{}
	for range 100 {
		rules := keyedRules(rng, 1+rng.IntN(120))
		f := compileForms(t, rules)
		for range 60 {
			path := fulfilled(rng, rules[rng.IntN(len(rules))].Pattern)
			f.check(t, path, s)
			f.check(t, path[:rng.IntN(len(path)+1)], s)
			f.check(t, strings.Repeat(path, 1+rng.IntN(40)), s)
		}
	}
}

// TestChooseKeys checks which bytes are chosen to look keys up around.
func TestChooseKeys(t *testing.T) {
	for _, c := range []struct{ pattern, set string }{
		{"/*colour=red%", "="},
		{"/*?%colour", "?="},
		{"/*/%/", "/"},
		{"/*.%x", "./?="},
		{"/*-%x", "-./=?_"},
		{"/*sho%p", "aeiou"},
		{"/*%x$", "="}, // found at the end of the path
	} {
		var pats []ranked
		for i := range 60 {
			pats = append(pats, ranked{Pattern: ParsePattern(strings.ReplaceAll(c.pattern, "%", strings.Repeat("x", 3)+letter(i)))})
		}
		if set, _ := chooseKeys(pats); delimiterSets[set] != c.set {
			t.Errorf("60 patterns like %q have keys around %q, want %q", c.pattern, delimiterSets[set], c.set)
		}
	}
}
