package robots

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTry compares the order of trials with Decide, and the lengths of matches with the definition of patterns, on
// random rules.
func TestTry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(alphabet string, n int) string {
		var sb strings.Builder
		for range rng.IntN(n) {
			sb.WriteByte(alphabet[rng.IntN(len(alphabet))])
		}
		return sb.String()
	}
	matched := 0
	for range 20_000 {
		var rules []Rule
		for i := range rng.IntN(6) {
			pattern := "/" + text("ab*$", 5)
			if rng.IntN(4) == 0 {
				pattern = "/" + text("ab", 3) + "/index.html"
			}
			rules = append(rules, Rule{Allow: rng.IntN(2) == 0, Line: int32(i + 1), Value: pattern, Pattern: pattern})
		}
		path := []byte("/" + text("ab/", 6))
		for _, d := range []Dialect{Google, RFC9309} {
			trials := Try(rules, path, d)
			want := Decide(rules, path, d)
			if len(trials) != len(rules) {
				t.Fatalf("%d trials of %d rules", len(trials), len(rules))
			}
			got := -1
			if len(trials) > 0 && trials[0].Matches() {
				got = trials[0].Rule
				matched++
			}
			if got != want {
				t.Fatalf("%v on %q: the first of %v is not rule %d, which decides", rules, path, trials, want)
			}
			for i, trial := range trials {
				if trial.Matches() != (rules[trial.Rule].priority(path, d) > 0) {
					t.Fatalf("%v on %q: %v", rules, path, trial)
				}
				if i > 0 && trial.Matches() && !trials[i-1].Matches() {
					t.Fatalf("%v on %q: %v: a rule that matches stands behind one that does not", rules, path, trials)
				}
				if i > 0 && trial.Matches() == trials[i-1].Matches() && trial.Reach > trials[i-1].Reach {
					t.Fatalf("%v on %q: %v: not in order", rules, path, trials)
				}
				if n := trial.Reach; n < len(trial.Pattern) {
					begun, next := strings.TrimRight(trial.Pattern[:n], "*"), trial.Pattern[:n+1]
					if !matches(begun+"*", path) || n+1 < len(trial.Pattern) && trial.Pattern[n] != '$' && matches(next, path) {
						t.Fatalf("%q on %q stops at byte %d", trial.Pattern, path, n)
					}
				}
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d times a rule matched", matched)
	}
}
