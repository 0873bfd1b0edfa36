package automaton

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// shopRules are rules with fingerprints of one to three bytes, some of which are shared.
func shopRules(rng *rand.Rand, n int) []Rule {
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
		rules[i] = Rule{Pattern: b.String(), Allow: rng.IntN(2) == 0}
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

// TestNeedsOfMatches checks that a path that matches a pattern has all buckets that the pattern needs.
func TestNeedsOfMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9309))
	for range 300 {
		rules := shopRules(rng, 2+rng.IntN(groupSize-1))
		var pats []ranked
		for _, r := range rules {
			pats = append(pats, ranked{Pattern: ParsePattern(r.Pattern), rank: 2})
		}
		var b builder
		choosePrints(pats)
		b.table.addGroup(pats)
		b.table = append(b.table, make([]byte, padding)...)
		for i, r := range rules {
			path := []byte(fulfilled(rng, r.Pattern))
			if robots.Decide([]robots.Rule{{Pattern: r.Pattern}}, path, robots.RFC9309) != 0 {
				t.Fatalf("%q does not match %q, which was made from it", r.Pattern, path)
			}
			need := uint64(b.table[maskedHeader+i])
			if found := b.table.scanGeneric(0, path, 1); need == 0 || need&^found != 0 {
				t.Errorf("%q needs buckets %b, %q has %b", r.Pattern, need, path, found)
			}
		}
	}
}

// TestIndexOfMatches checks that a path that matches a pattern has the key that the pattern is filed under, and all
// keys that it needs.
func TestIndexOfMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9309))
	checked := 0
	for range 300 {
		var pats []ranked
		for _, r := range shopRules(rng, 1+rng.IntN(100)) {
			if p := (ranked{Pattern: ParsePattern(r.Pattern), rank: 2}); p.canBeIndexed() {
				pats = append(pats, p)
			}
		}
		if len(pats) == 0 {
			continue
		}
		var b builder
		b.table.addIndex(pats)
		b.table = append(b.table, make([]byte, padding)...)
		x := b.table.indexAt(0)
		for e := x.entries; e < x.offsets; e += entrySize {
			pattern := pats[b.table.u16(e+8)].String()
			path := []byte(fulfilled(rng, pattern))
			var c candidates
			n, has := b.table.hitsGeneric(0, path, 1, &c.hashes)
			found, ok := b.table.candidates(0, &x, c.hashes[:n], has|slashesGeneric(path), &c)
			if ok && !slices.Contains(found, uint16(b.table.u16(e+8))) {
				t.Fatalf("%q is not found in %q, which was made from it", pattern, path)
			}
			checked++
		}
	}
	if checked < 1000 {
		t.Errorf("only %d patterns checked", checked)
	}
}

// TestManyHits has paths that repeat the keys of many patterns.
func TestManyHits(t *testing.T) {
	var rules []Rule
	for i := range 40 {
		rules = append(rules, Rule{Pattern: fmt.Sprintf("/*-word*x%d$", i), Allow: i%2 == 0}, Rule{Pattern: fmt.Sprintf("/*key%d=", i), Allow: i%3 == 0})
	}
	f, s := compileForms(t, rules), &Scratch{}
	for _, n := range []int{1, 10, 100, maxHits/2 - 1, maxHits / 2, maxHits, 2000} {
		for _, tail := range []string{"", "x7", "/key3=", "key39=x39"} {
			f.check(t, "/"+strings.Repeat("-word", n)+tail, s)
			f.check(t, "/"+strings.Repeat("/key7", n)+tail, s)
			f.check(t, "/"+strings.Repeat("key7=", n)+tail, s)
		}
	}
}

// TestMatchGroups compares rules in several groups with the reference.
func TestMatchGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9309))
	s := &Scratch{}
	for range 100 {
		rules := shopRules(rng, 1+rng.IntN(120))
		f := compileForms(t, rules)
		for range 60 {
			path := fulfilled(rng, rules[rng.IntN(len(rules))].Pattern)
			f.check(t, path, s)
			f.check(t, path[:rng.IntN(len(path)+1)], s)
			f.check(t, strings.Repeat(path, 1+rng.IntN(40)), s)
		}
	}
}

// TestIndexManyEntries has a path whose keys have so many patterns that all patterns are tried, although it has few
// hashes of the index. The matching pattern is not under any of these.
func TestIndexManyEntries(t *testing.T) {
	const n = 100
	rules := manyRules(n, func(i int) string { return fmt.Sprintf("/*abcde*%c%c", 'A'+i/10, 'A'+i%10) })
	rules = append(rules, Rule{Pattern: "/*abcde*klmnopqrstuv", Allow: true})
	for i := range groupedLimit {
		rules = append(rules, Rule{Pattern: fmt.Sprintf("/*wx%02dyz", i), Allow: false})
	}
	last := len(rules) - 1
	path := "/" + strings.Repeat("abcde-", maxEntries/n+2) + rules[last].Pattern[2:]
	f, s := compileForms(t, rules), &Scratch{}
	f.check(t, path, s)
	f.check(t, path+"klmnopqrstuv", s)
	f.check(t, path+"AA", s)
}

// TestNoOtherPattern has groups of each size whose buckets a path has, but none of whose patterns it matches. With some
// number of other rules, the highest rank of a group is the offset of a pattern at another anchor that would match.
func TestNoOtherPattern(t *testing.T) {
	s := &Scratch{}
	for size := 2; size <= groupSize; size++ {
		rules, path := []Rule{{Pattern: "/a*X" + strings.Repeat("Z", 20)}}, []byte("/b")
		for i := range size {
			rules = append(rules, Rule{Pattern: fmt.Sprintf("/b*Q%cW*nn", 'a'+i)})
			path = fmt.Appendf(path, "Q%cW", 'a'+i)
		}
		for range 60 {
			compileForms(t, rules).check(t, string(path)+rules[0].Pattern[3:], s)
			rules = append(rules, Rule{Pattern: fmt.Sprintf("/c%d", len(rules))})
		}
	}
}
