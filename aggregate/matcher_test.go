package aggregate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// dialects are all that differ in patterns.
var dialects = []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex}

// slow returns the rules that match a path. It evaluates each rule separately with the reference.
func slow(rules []robots.Rule, path []byte, d robots.Dialect) (all []int32) {
	for i, r := range rules {
		r.Pattern = d.PatternOf(r.Value)
		if robots.Decide([]robots.Rule{r}, path, d) == 0 {
			all = append(all, int32(i))
		}
	}
	return all
}

// compare compares the matcher with the reference.
func compare(t *testing.T, rules []robots.Rule, path []byte, d robots.Dialect) {
	t.Helper()
	numbers := make([]int32, len(rules))
	for i := range numbers {
		numbers[i] = int32(i)
	}
	if got, want := newMatcher(rules, numbers, d).match(path, nil), slow(rules, path, d); !slices.Equal(got, want) {
		t.Fatalf("%s: %q on %q matches %v, want %v", d, rules, path, got, want)
	}
}

// TestMatch compares matcher and reference on random rules over a tiny alphabet.
func TestMatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(alphabet string, most int) string {
		b := []byte("/")
		for range rng.IntN(most) {
			b = append(b, alphabet[rng.IntN(len(alphabet))])
		}
		return string(b)
	}
	for range 30_000 {
		var rules []robots.Rule
		for range rng.IntN(6) {
			value := text("/ab**$%", 7)
			switch rng.IntN(12) {
			case 0:
				value = value[1:]
			case 1:
				value += "/index.html"
			case 2, 3: // more bytes than a key has
				value = "/ab/ab/ab" + value
			}
			rules = append(rules, robots.Rule{Allow: rng.IntN(2) == 0, Value: value})
		}
		path := text("/ab%$", 9)
		if rng.IntN(4) == 0 {
			path = "/ab/ab/ab" + path
		}
		if rng.IntN(9) == 0 {
			path += "/index.htm"
		}
		compare(t, rules, []byte(path), dialects[rng.IntN(len(dialects))])
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("/a*b$", "/*a", "/ab")
	f.Add("/index.html", "*", "/")
	f.Fuzz(func(t *testing.T, one, other, path string) {
		for _, d := range dialects {
			normal, _ := d.Path([]byte(path), nil)
			compare(t, []robots.Rule{{Value: one}, {Allow: true, Value: other}}, normal, d)
		}
	})
}
