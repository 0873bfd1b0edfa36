package automaton

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A shape is a family of hostile sets of rules, with paths that are slow to match.
type shape struct {
	name  string
	size  int // argument of rules for the full size: a robots.txt of 500 KiB, or what the name says
	rules func(n int) []Rule
	paths []string
}

// maxText is the approximate size of the patterns in the largest robots.txt: 500 KiB.
const maxText = 500 << 10

// longPath is the length of the hostile paths.
const longPath = 2 << 10

// fill repeats s up to longPath bytes.
func fill(s string) string { return "/" + strings.Repeat(s, longPath/len(s)+1)[:longPath-1] }

// letters is a path that repeats a to z.
var letters = fill("abcdefghijklmnopqrstuvwxyz")

// manyRules returns n rules; every seventh allows.
func manyRules(n int, pattern func(i int) string) []Rule {
	rules := make([]Rule, n)
	for i := range rules {
		rules[i] = Rule{Pattern: pattern(i), Allow: i%7 == 6}
	}
	return rules
}

// oneRule returns a rule of about n bytes that consists of pieces.
func oneRule(n int, piece func(i int) string) []Rule {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; b.Len() < n; i++ {
		b.WriteString(piece(i))
	}
	return []Rule{{Pattern: b.String()}}
}

func letter(i int) string { return string(rune('a' + i%26)) }

// randomChain returns n segments that are "a" or "b".
func randomChain(rng *rand.Rand, n int) string {
	b := make([]byte, 0, 2*n)
	for range n {
		b = append(b, '*', byte('a'+rng.IntN(2)))
	}
	return string(b)
}

// hundred returns one of a hundred bytes without a meaning in patterns.
func hundred(i int) string { return string([]byte{byte(0x80 + i%100)}) }

// hundreds is a path that contains each of these bytes three times.
func hundreds() string {
	var b strings.Builder
	b.WriteByte('/')
	for i := range 300 {
		b.WriteString(hundred(i))
	}
	return b.String()
}

// nested returns rules with increasingly long runs of a, of about n bytes in total: 1,000 rules for 500 KiB.
func nested(n int, pattern func(run string, i int) string) []Rule {
	var rules []Rule
	for i := 1; n > 0; i++ {
		p := pattern(strings.Repeat("a", i), i)
		n -= len(p)
		rules = append(rules, Rule{Pattern: p, Allow: i%7 == 6})
	}
	return rules
}

// nearMisses returns n rules whose segments nearly occur everywhere in a path that repeats "abbbbbbb", and some rules
// whose keys occur so often that all are tried.
func nearMisses(n int) []Rule {
	rng := rand.New(rand.NewPCG(14, 9309))
	period := strings.Repeat("abbbbbbb", 5)
	return manyRules(n, func(i int) string {
		if i < 40 {
			return "/*" + period[i%8:][:23] + string(rune('k'+i/8))
		}
		seg := []byte(period[:24])
		for range 2 {
			seg[12+rng.IntN(12)] = "etsnio/-rcd"[rng.IntN(11)]
		}
		return "/*" + string(seg)
	})
}

// crowd returns n rules at three anchors whose keys occur in every path to a page; one word is missing.
func crowd(n int) []Rule {
	rng := rand.New(rand.NewPCG(9309, 60))
	return manyRules(n, func(i int) string {
		word := make([]byte, 4)
		for j := range word {
			word[j] = "etaoins"[rng.IntN(7)]
		}
		switch {
		case i%50 == 0:
			return "/shop/" + string(word)
		case i%10 < 8:
			return "/*" + string(word) + "*html"
		}
		return [...]string{"/shop/*", "/shop/a*"}[i%2] + string(word) + "*.html$"
	})
}

var shapes = []shape{
	{"crowd", triedLimit - 40, crowd, []string{fill("etao/") + ".html", fill("nsie.html"), "/shop/a/tina-soon.html", "/shop/toes"}},
	{"near-misses", triedLimit, nearMisses, []string{fill("abbbbbbb"), fill("abbbbbb"), fill("abbbbbbbbb"), fill("abbbbbbb") + "k"}},
	{"stars", maxText, func(n int) []Rule {
		return []Rule{{Pattern: "/" + strings.Repeat("*", n) + ".js"}, {Pattern: "/" + strings.Repeat("*", n) + ".js$", Allow: true}}
	}, []string{"/.js", "/a.js?", fill("."), fill(".j"), fill(".js")}},
	{"stars-between", 26 * 51, func(n int) []Rule {
		return oneRule(n, func(i int) string { return letter(i) + strings.Repeat("*", 50) })
	}, []string{letters, fill("ab"), fill("z")}},
	{"letters", maxText, func(n int) []Rule {
		return oneRule(n, func(i int) string { return "*" + letter(i) })
	}, []string{letters, fill("a"), fill("ab"), fill("zyx")}},
	{"letters-a", 2000, func(n int) []Rule {
		return []Rule{{Pattern: "/" + strings.Repeat("*a", n)}, {Pattern: "/" + strings.Repeat("*a", n-1) + "$", Allow: true}}
	}, []string{fill("a"), fill("ab"), fill("a")[:2000], fill("a")[:2001]}},
	{"letters-ab", 10_000, func(n int) []Rule {
		return manyRules(n, func(i int) string {
			return fmt.Sprintf("/*a*b*a*b*%s*%s*%s*z", letter(i), letter(i/26), letter(i/26/26))
		})
	}, []string{letters, fill("ab"), fill("ba")}},
	{"share-last", 50_000, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/*%x*/s", i) })
	}, []string{fill("/s"), fill("0123456789abcdef/s"), fill("0/s1/s")}},
	{"share-last-end", 50_000, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/*%x*/s$", i) })
	}, []string{fill("/s"), fill("0123456789abcdef/s"), fill("0123456789abcdef") + "/s"}},
	{"share-first", 50_000, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/*/s*%x", i) })
	}, []string{fill("/s"), fill("/s0123456789abcdef"), "/s" + fill("0123456789abcdef")}},
	{"share-all", 50_000, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/%x*/s", i) })
	}, []string{fill("/s"), fill("a/s"), "/ab" + fill("/s")}},
	{"suffixes", maxText, func(n int) []Rule {
		return nested(n, func(run string, _ int) string { return "/*" + run + "x" })
	}, []string{fill("a"), fill("a") + "x", fill(strings.Repeat("a", 60) + "x")}},
	{"suffixes-found", maxText, func(n int) []Rule {
		return nested(n, func(run string, _ int) string { return "/*" + run })
	}, []string{fill("a"), fill("aaaaaaab"), fill(strings.Repeat("a", 1000) + "b")}},
	{"suffixes-end", maxText, func(n int) []Rule {
		return nested(n, func(run string, _ int) string { return "/*" + run + "$" })
	}, []string{fill("a"), fill("a") + "b", fill(strings.Repeat("a", 1000) + "b")}},
	{"suffixes-after", maxText, func(n int) []Rule {
		return nested(n, func(run string, i int) string { return "/*" + letter(i%4+1) + "*" + run })
	}, []string{fill("a"), "/b" + fill("a"), fill("a") + "bcde", fill(strings.Repeat("a", 1000) + "b")}},
	{"suffixes-apart", maxText, func(n int) []Rule { // 64 segments with consecutive numbers, few of which are suffixes of others
		var rules []Rule
		for i := 0; n > 0; i++ {
			p := "/*" + string(rune('B'+i%64)) + strings.Repeat("a", 1+i/64)
			if i%64 == 63 {
				p = "/*" + strings.Repeat("a", 1+i/64)
			}
			rules = append(rules, Rule{Pattern: p + "*Z"}, Rule{Pattern: p + "*Z$"})
			n -= 2*len(p) + 5
		}
		return rules
	}, []string{fill("a"), "/Z" + fill("a"), "/Z" + fill(strings.Repeat("a", 100)+"B")}},
	{"suffixes-parents", maxText, func(n int) []Rule {
		var rules []Rule
		for _, parent := range "bcde" {
			rules = append(rules, nested(n/4, func(run string, _ int) string { return "/*" + string(parent) + "*" + run })...)
		}
		return rules
	}, []string{fill("a"), "/bcde" + fill("a"), fill("bcde" + strings.Repeat("a", 500))}},
	{"anchors", maxText, func(n int) []Rule {
		return nested(n, func(run string, _ int) string { return "/" + run + "*b" })
	}, []string{fill("a"), fill("a") + "b", fill(strings.Repeat("a", 500) + "b")}},
	{"anchors-each", maxText, func(n int) []Rule {
		return nested(n, func(run string, i int) string { return fmt.Sprintf("/%s*b%x", run, i) })
	}, []string{fill("a"), fill("a") + "b1b2bab", fill(strings.Repeat("a", 500) + "b1b2b3")}},
	{"shop", 26, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/*_%s%s/shop/", letter(i), strings.Repeat("x", i/26)) })
	}, []string{fill("_a"), fill("_a/_b/_c/shop"), fill("_" + strings.Repeat("x", 20)), fill("_m/sho") + "/shop/"}},
	{"shop-star", 26, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/*_%s%s*/shop/", letter(i), strings.Repeat("x", i/26)) })
	}, []string{fill("_a"), fill("_a/_b/_c/shop"), fill("_z/shop"), letters + "_m/sho/shop/"}},
	{"plain", 50_000, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/%d/%x", i%100, i) })
	}, []string{fill("1/1"), "/99/c34f", "/99/c34f/x", fill("0"), letters}},
	{"long", maxText, func(n int) []Rule {
		return []Rule{{Pattern: "/" + strings.Repeat("a", n)}, {Pattern: "/" + strings.Repeat("a", n-1) + "$", Allow: true}}
	}, []string{fill("a"), "/", letters}},
	{"long-floating", maxText, func(n int) []Rule {
		return []Rule{{Pattern: "/*" + strings.Repeat("a", n)}, {Pattern: "/*" + strings.Repeat("a", n-1) + "$", Allow: true}}
	}, []string{fill("a"), "/", letters}},
	{"bytes", 256, func(n int) []Rule {
		return manyRules(n, func(i int) string { return "/" + string([]byte{byte(i)}) + string([]byte{byte(i >> 8)}) })
	}, []string{"/\x00", "/\x00\x00", "/\xff\x00", "/*\x00", "/$\x00", "/a\x00" + letters}},
	{"bytes-floating", 256, func(n int) []Rule {
		return manyRules(n, func(i int) string { return "/*" + string([]byte{byte(i), byte(i >> 8), 'x'}) })
	}, []string{"/\x00\x00x", fill("\xff\x00"), fill("\xff\x00x"), fill("*\x00x"), letters}},
	{"grid", 100_000, func(n int) []Rule {
		return manyRules(n, func(i int) string { return "*" + hundred(i) + "*" + hundred(i/100) + "*" + hundred(i/10_000) })
	}, []string{hundreds(), fill(hundreds()[1:]), letters}},
	{"random", 50_000, func(n int) []Rule {
		rng := rand.New(rand.NewPCG(4, 9309))
		return manyRules(n, func(int) string {
			p := []byte{'/'}
			for range 1 + rng.IntN(6) {
				p = append(p, '*', byte(0x80+rng.IntN(100)), byte(0x80+rng.IntN(100)))
			}
			return string(p)
		})
	}, []string{fill(hundreds()), hundreds(), letters}},
	{"keyed", triedLimit, func(n int) []Rule {
		return manyRules(n, func(i int) string { // all have the keys of the path, but end with a text that the path lacks
			return "/*" + strings.Repeat("a", 3+i%60) + "*" + strings.Repeat("a", 3+i/60) + "*" + strings.Repeat("a", longSegment-1) + "b"
		})
	}, []string{fill("a"), fill("aaaaab"), fill(strings.Repeat("a", longSegment-2) + "b"), letters}},
	{"keyed-long", triedLimit / (1 + longSegmentCost), func(n int) []Rule {
		return manyRules(n, func(i int) string { return "/*" + strings.Repeat("a", longestSegment-1-i%200) + "b" })
	}, []string{fill("a"), fill("aaaaab"), fill(strings.Repeat("a", longSegment-2) + "b"), fill(strings.Repeat("a", longestSegment/2) + "b")}},
	{"chain-waiting", 961, func(n int) []Rule { // a segment is reached at every byte, while very many segments wait
		return manyRules(n, func(i int) string {
			if i == 0 {
				return "/" + strings.Repeat("*a", longPath) + "*Z"
			}
			return "/*Z*" + strings.Repeat("a", i)
		})
	}, []string{fill("a"), fill("ab"), fill("a")[:1000] + "Z" + fill("a")[1:1000]}},
	{"misses", 319, func(n int) []Rule { // each segment nearly occurs several times before it does
		return manyRules(n, func(i int) string {
			return "/" + strings.Repeat("*ba", 340) + "*" + strings.ToUpper(letter(i)+letter(i/26))
		})
	}, []string{fill("bbbbba"), fill("ba"), fill("bbbbba")[:2000] + "ABACAD"}},
	{"misses-anchors", 318, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fill("bbbbba")[:i+1] + strings.Repeat("*ba", 340) + "*Z" })
	}, []string{fill("bbbbba"), fill("bbbbba")[:300] + fill("ba"), fill("bbbbba")[:2000] + "Z"}},
	{"chains", 506, func(n int) []Rule { // every sequence of letters occurs, except for its end
		rng := rand.New(rand.NewPCG(5, 9309))
		return manyRules(n, func(int) string { return "/" + randomChain(rng, 500) + "*Z" })
	}, []string{fill("ab"), fill("abba"), fill("ab") + "Z"}},
	{"chains-tree", 12_190, func(n int) []Rule {
		rng := rand.New(rand.NewPCG(6, 9309))
		return manyRules(n, func(int) string { return "/" + randomChain(rng, 16) + "*Z" })
	}, []string{fill("ab"), fill("abba"), fill("a") + "bZ"}},
	{"paths", 4000, func(n int) []Rule {
		return manyRules(n, func(i int) string { return fmt.Sprintf("/*/%s*/%s*%s$", letter(i), letter(i/26), letter(i/676)) })
	}, []string{fill("a/b/c/d/"), fill("/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z"), letters}},
}

// sizeFor returns the size to test, which is smaller with -short.
func (sh *shape) sizeFor() int {
	if testing.Short() {
		return min(sh.size, max(sh.size/16, 256))
	}
	return sh.size
}

// textBytes returns the bytes of the patterns of rules.
func textBytes(rules []Rule) int {
	n := 0
	for _, r := range rules {
		n += len(r.Pattern)
	}
	return n
}

// TestHostile compares every shape, in both forms, with the reference: on as many paths as fit in a fraction of a
// second, and on the first path at full length.
func TestHostile(t *testing.T) {
	for _, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			rules := sh.rules(sh.sizeFor())
			f, s := compileForms(t, rules), &Scratch{}
			most := max(40, 50<<20/textBytes(rules))
			for _, path := range append([]string{"", "/", "/*", "/$"}, sh.paths...) {
				f.check(t, path[:min(most, len(path))], s)
			}
			f.check(t, sh.paths[0], s)
		})
	}
}

// TestHostileRandom compares small sets of every shape with the reference on many paths, mixed from parts of the
// hostile ones, with one Scratch for all.
func TestHostileRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9309))
	s := &Scratch{}
	checks := 0
	sizes := []int{3, 30, 300}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, sh := range shapes {
		for _, n := range sizes {
			f := compileForms(t, sh.rules(n))
			for range 100 {
				f.check(t, mixed(rng, sh.paths, 300), s)
				checks += len(f.automata)
			}
		}
	}
	t.Logf("%d checks", checks)
}

// mixed returns a path that consists of parts of others.
func mixed(rng *rand.Rand, paths []string, most int) string {
	b := []byte{'/'}
	for range 1 + rng.IntN(6) {
		p := paths[rng.IntN(len(paths))]
		i := rng.IntN(len(p))
		b = append(b, p[i:min(i+rng.IntN(most/4), len(p))]...)
	}
	return string(b)
}

// The bounds of TestHostileSize: bytes of tables per byte of patterns, and a constant. The worst case is a rule of four
// bytes, "/x*y", with a node of the trie, a list, a state and a segment.
const (
	mostPerByte = 32
	mostFixed   = 2 << 10
)

// TestHostileSize checks that the size of tables is linear in the text: within a bound, and about twice as large, at
// most three times, for twice the text.
func TestHostileSize(t *testing.T) {
	for _, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			last, lastText := 0, 0
			for _, part := range []int{8, 4, 2, 1} {
				rules := sh.rules(max(sh.sizeFor()/part, 2))
				text := textBytes(rules)
				size := 0
				for i, a := range compileForms(t, rules).automata {
					size = max(size, a.Size())
					if a.Size() > mostPerByte*text+mostFixed {
						t.Errorf("form %d: %d bytes of tables for %d of patterns", i, a.Size(), text)
					}
				}
				if growth := float64(text) / float64(lastText); last > 0 && float64(size) > 1.5*growth*float64(last)+mostFixed {
					t.Errorf("%d bytes of tables for %d bytes of patterns, but %d for %d", size, text, last, lastText)
				}
				last, lastText = size, text
			}
			t.Logf("%d bytes of tables for %d of patterns", last, lastText)
		})
	}
}

// TestGrowth checks the same for random rules: n of one kind, and n more.
func TestGrowth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9309))
	worst := 0.0
	for range 300 {
		n := 1 + rng.IntN(400)
		rules := randomRules(rng, 2*n)
		half, whole := compileForms(t, rules[:n]), compileForms(t, rules)
		for i := range whole.automata {
			size, text := whole.automata[i].Size(), textBytes(rules)
			if size > mostPerByte*text+mostFixed {
				t.Errorf("%s form: %d bytes of tables for %d of patterns", whole.formNames[i], size, text)
			}
			growth := float64(text) / float64(max(1, textBytes(rules[:n])))
			if limit := 1.5*growth*float64(half.automata[i].Size()) + mostFixed; i == 1 && float64(size) > limit {
				t.Errorf("%d rules take %d bytes, half of them %d", 2*n, size, half.automata[i].Size())
			}
			worst = max(worst, float64(size-mostFixed/2)/float64(text))
		}
	}
	t.Logf("at most %.1f bytes of tables per byte of patterns", worst)
}

// TestHostileSteps limits the work of package onepass on hostile paths: a pattern advances at most once per segment,
// and of 1,000 segments that are suffixes of each other, 64 are checked together.
func TestHostileSteps(t *testing.T) {
	for _, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			a := &Automaton{}
			rules, segments := sh.rules(sh.sizeFor()), 0
			if _, err := a.compileWith(rules, limits{}); err != nil {
				t.Fatal(err)
			}
			for _, r := range rules {
				segments += strings.Count(ParsePattern(r.Pattern).Rest, "*")
			}
			if a.search == nil {
				return
			}
			for _, path := range sh.paths {
				s := &Scratch{}
				a.Match([]byte(path), s)
				if s.search.Moves > segments {
					t.Errorf("%d moves of patterns in %.20q…, which have %d segments", s.search.Moves, path, segments)
				}
				if most := 128 * len(path); s.search.Looked > most {
					t.Errorf("examined %d families of segments in %.20q…, the limit is %d", s.search.Looked, path, most)
				}
			}
		})
	}
}

// BenchmarkHostile measures the shapes at their full size.
func BenchmarkHostile(b *testing.B) {
	for _, sh := range shapes {
		rules := sh.rules(sh.size)
		text := textBytes(rules)
		b.Run(fmt.Sprintf("shape=%s/do=compile", sh.name), func(b *testing.B) {
			b.SetBytes(int64(text))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Compile(rules); err != nil {
					b.Fatal(err)
				}
			}
		})
		a, _, err := Compile(rules)
		if err != nil {
			b.Fatal(err)
		}
		for i, path := range sh.paths {
			b.Run(fmt.Sprintf("shape=%s/do=match/path=%d", sh.name, i), func(b *testing.B) {
				s, p := &Scratch{}, []byte(path)
				b.SetBytes(int64(len(path)))
				b.ReportAllocs()
				for b.Loop() {
					a.Match(p, s)
				}
			})
		}
	}
}
