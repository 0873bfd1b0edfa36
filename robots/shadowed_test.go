package robots_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestShadowed checks on random small sets of rules, with all short paths, that exactly the rules are reported that
// never decide because of one other rule.
func TestShadowed(t *testing.T) {
	sets := 2000
	if testing.Short() {
		sets = 300
	}
	rng := rand.New(rand.NewPCG(5, 6))
	paths := words("abz/", 5)
	found := 0
	for range sets {
		var lines []string
		for range 2 + rng.IntN(4) {
			lines = append(lines, []string{"Allow: ", "Disallow: "}[rng.IntN(2)]+randomPattern(rng))
		}
		body := "User-agent: *\n" + strings.Join(lines, "\n") + "\n"
		for _, d := range []robots.Dialect{robots.Google, robots.RFC9309} {
			report := robots.Inspect([]byte(body), d)
			var got []int32
			for _, n := range report.Diagnostics {
				if n.Code == "shadowed_rule" || n.Code == "duplicate_rule" {
					got = append(got, n.Line)
				}
			}
			want := shadowed(report.File.Groups[0].Rules, d, paths)
			if found += len(want); !slices.Equal(got, want) {
				t.Fatalf("%s: lines %v never decide, want %v:\n%s", d, got, want, body)
			}
		}
	}
	if found < sets/2 {
		t.Errorf("only %d of the rules never decide", found)
	}
	t.Logf("%d rules that never decide in %d sets", found, sets)
}

// randomPattern returns a short pattern, sometimes of an index page.
func randomPattern(rng *rand.Rand) string {
	var sb strings.Builder
	if rng.IntN(8) > 0 {
		sb.WriteByte('/')
	} else {
		sb.WriteByte('*')
	}
	for range rng.IntN(4) {
		sb.WriteByte("aab//***"[rng.IntN(8)])
	}
	if rng.IntN(10) == 0 {
		sb.WriteString("/index.html")
	}
	if rng.IntN(3) == 0 {
		sb.WriteByte('$')
	}
	return sb.String()
}

// shadowed returns the lines of the rules that match some path, and that lose to the same other rule on all of them.
func shadowed(rules []robots.Rule, d robots.Dialect, short []string) (lines []int32) {
	var paths [][]byte
	for _, p := range short {
		paths = append(paths, []byte("/"+p))
	}
	for _, r := range rules {
		for _, filler := range []string{"", "z", "/z", "z/"} {
			for _, end := range []string{"", "z"} {
				if p := strings.ReplaceAll(strings.TrimSuffix(r.Pattern, "$"), "*", filler) + end; strings.HasPrefix(p, "/") {
					paths = append(paths, []byte(p))
				}
			}
		}
	}
	for i, r := range rules {
		left := make([]bool, len(rules)) // by other rule: it does not take precedence on some path of the rule
		matched := false
		for _, path := range paths {
			if robots.Decide(rules[i:i+1], path, d) < 0 {
				continue
			}
			matched = true
			for k, w := range rules {
				pair := []robots.Rule{w, r}
				if k > i {
					pair = []robots.Rule{r, w}
				}
				winner := robots.Decide(pair, path, d)
				left[k] = left[k] || k == i || (winner == 1) == (k < i)
			}
		}
		if matched && slices.Contains(left, false) {
			lines = append(lines, r.Line)
		}
	}
	if !slices.IsSorted(lines) {
		panic(fmt.Sprint("rules are not in the order of their lines: ", lines))
	}
	return lines
}
