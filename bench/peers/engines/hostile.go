//go:build engines

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/robobatch/robobatch/bench/internal/madeup"
)

// hostile are shapes of rules that slow down matching: each has a format with %s for words, and a number of rules. No
// known real file has so many rules with floating segments.
var hostile = []struct {
	name, form string
	rules      int
}{
	{"two-words-1000", "/*/%s*%s", 1000},
	{"two-words-3333", "/*/%s*%s", 3333},
	{"two-words-600", "/*/%s*%s", 600},
	{"one-word", "/*%s", 5000},
	{"one-end", "/*%s*html", 3000},
	{"one-end-100", "/*%s*html", 100},
	{"one-end-300", "/*%s*html", 300},
	{"one-begin", "/*html*%s", 3000},
	{"one-anchor", "/shop/*%s*%s", 3000},
	{"end-anchors", "/*/%s*%s$", 3000},
	{"parameters", "/*?*%s=*&%s=", 3000},
	{"three-words", "/*%s*%s*%s", 2500},
	{"five-letters", "/*%.1s*%.1s*%.1s*%.1s*%.1s", 2500},
	{"pairs", "/*%.2s*%.2s", 3000},
	{"own-anchors", "/%s/*%s*%s", 2500},
	{anyCase, "", 3000},
	{longPaths, "/*/%s*%s", 3000},
}

// longPaths is the shape whose paths have some 2,000 bytes.
const longPaths = "long-paths"

// anyCase is the shape whose rules and paths have two words in upper and lower case at random.
const anyCase = "any-case"

// anyCases generates the shape anyCase, with paths of 40 bytes.
func anyCases(rules, paths int) *madeup.RuleSet {
	rng := rand.New(rand.NewPCG(9309, 60))
	word := func(text string) string {
		b := []byte(text)
		for i := range b {
			b[i] -= byte(rng.IntN(2)) * ('a' - 'A')
		}
		return string(b)
	}
	set := &madeup.RuleSet{Body: []byte("User-agent: *\n")}
	for range rules {
		set.Body = fmt.Appendf(set.Body, "Disallow: /*%s*%s\n", word("sessionid"), word("sortorder"))
	}
	for range paths {
		path := ""
		for range 4 {
			path += "/=="[rng.IntN(3):][:1] + word([]string{"sessionid", "sortorder"}[rng.IntN(2)])
		}
		set.Paths = append(set.Paths, []byte("/"+path[1:]))
	}
	return set
}

// hostileSites returns one workload for each shape in hostile.
func hostileSites() (all []*workload, err error) {
	const paths = 2000
	for _, h := range hostile {
		set := anyCases(h.rules, paths)
		if h.name != anyCase {
			set = madeup.Hostile(h.form, h.rules, paths)
		}
		if h.name == longPaths {
			set.Paths = [][]byte{bytes.Join(set.Paths[:80], nil), bytes.Join(set.Paths[80:160], nil)}
		}
		w, err := oneSite("hostile-"+h.name, set, len(set.Paths))
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}
