package madeup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Shape describes a generated set of rules. Equal shapes give equal sets.
type Shape struct {
	Rules    int // number of rules
	Wildcard int // percentage of rules with a "*"
}

// LargeShop is the shape of a real shop's robots.txt: 1,034 rules, 49 % of them with wildcards.
var LargeShop = Shape{Rules: 1034, Wildcard: 49}

// A RuleSet is a generated robots.txt, with paths to match.
type RuleSet struct {
	Body  []byte   // one group, for "*"
	Paths [][]byte // in normal form; four in ten are made from one of the rules
}

// numPaths is small enough for the paths to stay in a second-level cache: about 300 KB.
const numPaths = 8192

// words are parts of paths of an imaginary shop in several countries.
var (
	countries = strings.Fields("at au be br ca ch cl cn cz de dk es fi fr gr hk hu ie il in it jp kr mx nl no nz pl pt ro ru se sg tr tw uk us")
	sections  = strings.Fields("account api basket cart category checkout collections community feedback gift help item listing login market orders people press review search section seller shop sitemap store team transaction trends wishlist your")
	params    = strings.Fields("attr color explicit filter from lang max min order page price q query ref session ship_to size sort source style token track utm_source view")
)

// Make generates the rules and paths. The rules differ from each other; about one in five is an Allow rule.
func (s Shape) Make() *RuleSet {
	rng := rand.New(rand.NewPCG(uint64(s.Rules), uint64(s.Wildcard)))
	patterns := make([]string, 0, s.Rules)
	for seen := map[string]bool{}; len(patterns) < s.Rules; {
		p := prefixPattern(rng)
		if 100*len(patterns) < s.Rules*s.Wildcard {
			p = wildPattern(rng)
		}
		if !seen[p] {
			seen[p] = true
			patterns = append(patterns, p)
		}
	}
	rng.Shuffle(len(patterns), func(i, j int) { patterns[i], patterns[j] = patterns[j], patterns[i] })
	set := &RuleSet{Body: []byte("User-agent: *\n")}
	for _, p := range patterns {
		key := "Disallow"
		if rng.IntN(5) == 0 {
			key = "Allow"
		}
		set.Body = fmt.Appendf(set.Body, "%s: %s\n", key, p)
	}
	for range numPaths {
		path := visit(rng)
		if rng.IntN(10) < 4 {
			path = newMatch(rng, patterns[rng.IntN(len(patterns))])
		}
		set.Paths = append(set.Paths, []byte(path))
	}
	return set
}

// FewRules generates sets of 15 to 43 rules without "*", with paths of 20 to 60 bytes.
func FewRules() (all []*RuleSet) {
	for _, rules := range []int{15, 22, 29, 36, 43} {
		set := Shape{Rules: rules}.Make()
		set.Paths = slices.DeleteFunc(set.Paths, func(path []byte) bool { return len(path) < 20 || len(path) > 60 })
		all = append(all, set)
	}
	return all
}

// Hostile generates rules of a form that is slow to match, and paths of about 22 bytes in which every second segment is
// a word of the rules. The form is a pattern with a formatting verb for each word. Equal forms give equal results.
func Hostile(form string, rules, paths int) *RuleSet {
	rng := rand.New(rand.NewPCG(9309, 60))
	word := func() string {
		b := make([]byte, 4+rng.IntN(5))
		for i := range b {
			b[i] = "etaoinshrdlucmfwypvb"[min(rng.IntN(20), rng.IntN(20))]
		}
		return string(b)
	}
	set, each := &RuleSet{Body: []byte("User-agent: *\n")}, strings.Count(form, "%")
	words := make([]string, 0, each*rules)
	for range rules {
		some := make([]any, each)
		for i := range some {
			words = append(words, word())
			some[i] = words[len(words)-1]
		}
		set.Body = fmt.Appendf(set.Body, "Disallow: "+form+"\n", some...)
	}
	for range paths {
		path := "/"
		for len(path) < 22 {
			if rng.IntN(2) == 0 {
				path += pick(rng, words)
			} else {
				path += word()
			}
			path += string("/-_.?=&"[rng.IntN(7)])
		}
		if strings.Contains(form, "html") {
			path = path[:18] + ".html"
		}
		set.Paths = append(set.Paths, []byte(path))
	}
	return set
}

func pick(rng *rand.Rand, words []string) string { return words[rng.IntN(len(words))] }

// prefixPattern generates a pattern without "*" and end anchor.
func prefixPattern(rng *rand.Rand) string {
	p := "/" + pick(rng, countries) + "/" + pick(rng, sections)
	switch rng.IntN(4) {
	case 0:
		return p + "/" + pick(rng, sections) + "/"
	case 1:
		return p + "/" + pick(rng, sections) + "?" + pick(rng, params)
	case 2:
		return p + "?"
	}
	return "/" + pick(rng, sections) + "/" + pick(rng, sections) + "/" + pick(rng, params)
}

// wildPattern generates a pattern with one or two "*"; some have an end anchor.
func wildPattern(rng *rand.Rand) string {
	switch rng.IntN(6) {
	case 0:
		return "/*/" + pick(rng, sections) + "/*" + pick(rng, params) + "="
	case 1:
		return "/*?*" + pick(rng, params) + "=" + pick(rng, sections)
	case 2:
		return "/*/" + pick(rng, sections) + "/" + pick(rng, sections) + "$"
	}
	return "/" + pick(rng, countries) + "/" + pick(rng, sections) + "/*?" + pick(rng, params) + "="
}

// visit generates the path of a page; one of three has a query.
func visit(rng *rand.Rand) string {
	p := "/"
	if rng.IntN(2) == 0 {
		p += pick(rng, countries) + "/"
	}
	p += fmt.Sprintf("%s/%d/%s-%s-%s", pick(rng, sections), rng.IntN(1e9), pick(rng, sections), pick(rng, params), pick(rng, sections))
	if rng.IntN(3) == 0 {
		p += fmt.Sprintf("?%s=%d&%s=%s", pick(rng, params), rng.IntN(1000), pick(rng, params), pick(rng, countries))
	}
	return p
}

// newMatch generates a path that the pattern matches. Without an end anchor, it is longer than the match.
func newMatch(rng *rand.Rand, pattern string) string {
	var p strings.Builder
	for i := range len(pattern) {
		switch c := pattern[i]; c {
		case '*':
			fmt.Fprintf(&p, "%s-%d", pick(rng, sections), rng.IntN(1e6))
		case '$':
		default:
			p.WriteByte(c)
		}
	}
	if strings.HasSuffix(pattern, "$") {
		return p.String()
	}
	return p.String() + pick(rng, params)
}

// numWords is the number of rules of [Words].
const numWords = 20

// Words generates a site that disallows words anywhere in paths, with rules like /*word*, and paths of 140 bytes; one
// of ten contains such a word.
func Words() *RuleSet {
	rng := rand.New(rand.NewPCG(20, 140))
	closed := slices.DeleteFunc(slices.Clone(params), func(word string) bool { return len(word) < 3 })[:numWords]
	set := &RuleSet{Body: []byte("User-agent: *\n")}
	for _, word := range closed {
		set.Body = fmt.Appendf(set.Body, "Disallow: /*%s*\n", word)
	}
	for range numPaths {
		path := "/"
		if rng.IntN(10) == 0 {
			path += pick(rng, closed) + "/"
		}
		for len(path) < 140 {
			path += fmt.Sprintf("%s/%d/%s-%s/", pick(rng, sections), rng.IntN(1e6), pick(rng, sections), pick(rng, countries))
		}
		set.Paths = append(set.Paths, []byte(path[:140]))
	}
	return set
}
