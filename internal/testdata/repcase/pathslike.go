package repcase

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// PathsLike returns up to so many paths, in random order: some that resemble the rules of a text, and
// some that are odd. They need no escaping to be read from a log.
func PathsLike(rng *rand.Rand, text []byte, most int) (paths []string) {
	paths = []string{"", "/", "/robots.txt", "/robots.txt?x", "?q=1", ";x", "/a%2fb?ü=\xff", "/q?=%C3%BC%7e"}
	for _, g := range robots.Parse(text, robots.Google).Groups {
		for _, r := range g.Rules {
			p := strings.ReplaceAll(strings.TrimSuffix(r.Value, "$"), "*", pick(rng, []string{"", "x", "/a.b/"}))
			paths = append(paths, "/"+strings.TrimPrefix(strings.ReplaceAll(p, "#", ""), "/")+pick(rng, []string{"", "y"}))
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	rng.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	return paths[:min(len(paths), most)]
}
