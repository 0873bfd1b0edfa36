package automaton

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// compareFor is the duration of TestCompare. It replaces fuzzing under emulators of other processors, because fuzzing
// starts processes, which they do not support. See make arm64.
var compareFor = flag.Duration("compare", 0, "how long to compare random rules with the reference, in one process")

// TestCompare compares random rules of all sizes and kinds with the reference, on paths made from them.
func TestCompare(t *testing.T) {
	start := time.Now()
	seed := uint64(start.UnixNano())
	if *compareFor == 0 {
		seed = 9309
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(14, seed))
	s, sets, checks := &Scratch{}, 0, 0
	for ; sets < 30 || time.Since(start) < *compareFor; sets++ {
		n := 1 + rng.IntN(1+rng.IntN(200))
		var rules []Rule
		switch sets % 3 {
		case 0:
			rules = vectorRules(rng, n)
		case 1:
			rules = shopRules(rng, n)
		default:
			rules = randomRules(rng, n)
		}
		f := compileForms(t, rules)
		for range 40 {
			for _, path := range []string{
				string(vectorPath(rng, rules)), fulfilled(rng, rules[rng.IntN(n)].Pattern), randomPath(rng),
			} {
				f.check(t, path, s)
				checks++
			}
		}
	}
	t.Logf("%d sets of rules, %d paths", sets, checks)
}

// vectorRules returns rules of every form that vector instructions handle: nodes with many and few children, long runs,
// groups of one and of many patterns, and fingerprints of one byte, two bytes, and the end of the path.
func vectorRules(rng *rand.Rand, n int) []Rule {
	stock := []string{
		"a", "b", "ab", "/", ".js", "?q=", "\x00", "\xff", "abcdefgh", strings.Repeat("x", 17), strings.Repeat("y", 40), "/shop/",
		"colour=", "-blue", "index.html",
	}
	rules := make([]Rule, n)
	for i := range rules {
		var b strings.Builder
		b.WriteByte('/')
		if rng.IntN(4) == 0 {
			b.WriteByte(byte(rng.IntN(256)))
		}
		for range rng.IntN(4) {
			if rng.IntN(2) == 0 {
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

// vectorPath generates a path from the same parts.
func vectorPath(rng *rand.Rand, rules []Rule) []byte {
	path := []byte("/")
	for n := rng.IntN(200); len(path) < n; {
		p := rules[rng.IntN(len(rules))].Pattern
		i := rng.IntN(len(p) + 1)
		path = append(path, strings.Trim(p[i:i+rng.IntN(len(p)-i+1)], "*$")...)
		path = append(path, "ab/\x00"[rng.IntN(4)])
	}
	return path
}
