package rules

import (
	"math/rand/v2"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestIndexPages compares rules for index pages, whose second patterns can have the same length as the patterns of
// other rules, with the reference.
func TestIndexPages(t *testing.T) {
	match := compiledMatcher(t)
	rng := rand.New(rand.NewPCG(5, 6))
	patterns := []string{"/d/index.html", "/d/$", "/index.htm", "/*", "/$", "/", "/d/*", "/d/", "/*/index.htmlx", "/*/$", "/d/index.html$", "/d/e/index.htm"}
	paths := []string{"/", "/d/", "/d", "/d/index.html", "/index.htm", "/d/e/", "/d/index.htmlx", "/x/", "/d/index.html?x"}
	for range 20000 {
		rules := make([]robots.Rule, 1+rng.IntN(5))
		for i := range rules {
			rules[i] = robots.Rule{Pattern: patterns[rng.IntN(len(patterns))], Allow: rng.IntN(4) > 0}
		}
		path := []byte(paths[rng.IntN(len(paths))])
		if got, want := match(rules, path, robots.Google), robots.Decide(rules, path, robots.Google); got != want {
			t.Fatalf("%s is decided by rule %d, the reference says %d, of %+v", path, got, want, rules)
		}
	}
}
