//go:build engines

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// hostile are shapes of rules meant to slow down matching: each is a format with %s for words, and a number of rules.
// No known real file has so many rules with floating segments.
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
}

// hostileSites returns a workload for each of hostile, with 2,000 paths of some 22 bytes that have words of the rules in every other place.
func hostileSites() (all []*workload, err error) {
	for _, h := range hostile {
		rng := rand.New(rand.NewPCG(9309, 60))
		word := func() string {
			b := make([]byte, 4+rng.IntN(5))
			for i := range b {
				b[i] = "etaoinshrdlucmfwypvb"[min(rng.IntN(20), rng.IntN(20))]
			}
			return string(b)
		}
		var words []string
		var body strings.Builder
		body.WriteString("User-agent: *\n")
		for range h.rules {
			var some []any
			for range strings.Count(h.form, "%") {
				words = append(words, word())
				some = append(some, words[len(words)-1])
			}
			fmt.Fprintf(&body, "Disallow: "+h.form+"\n", some...)
		}
		w := newWorkload("hostile-" + h.name)
		if err := w.addOrigin("https://www.shop.example", []byte(body.String())); err != nil {
			return nil, err
		}
		for range 2000 {
			path := "/"
			for len(path) < 22 {
				if rng.IntN(2) == 0 {
					path += words[rng.IntN(len(words))]
				} else {
					path += word()
				}
				path += string("/-_.?=&"[rng.IntN(7)])
			}
			if strings.Contains(h.form, "html") {
				path = path[:18] + ".html"
			}
			normal, _ := robots.Google.Path([]byte(path), nil)
			w.addPath(0, normal)
		}
		all = append(all, w)
	}
	return all, nil
}
