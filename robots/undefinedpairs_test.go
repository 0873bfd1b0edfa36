package robots_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// texts returns all strings with this start over the alphabet, up to a length.
func texts(start, alphabet string, most int) []string {
	all := []string{start}
	for i := 0; i < len(all); i++ {
		if len(all[i]) < most {
			for _, c := range alphabet {
				all = append(all, all[i]+string(c))
			}
		}
	}
	return all
}

// TestCommon compares commonPath with a search through all short paths.
func TestCommon(t *testing.T) {
	patterns := append(texts("/", "ab*$", 3), texts("*", "ab*$", 3)...)
	paths := texts("/", "ab$", 6)
	matched := map[string][]bool{}
	for _, p := range patterns {
		for _, path := range paths {
			matched[p] = append(matched[p], robots.Matches(p, []byte(path)))
		}
	}
	found := 0
	for _, a := range patterns {
		for _, b := range patterns {
			want := false
			for i, m := range matched[a] {
				want = want || m && matched[b][i]
			}
			path, ok := robots.Common(a, b)
			if ok != want || ok && (!robots.Matches(a, []byte(path)) || !robots.Matches(b, []byte(path))) {
				t.Fatalf("Common(%q, %q) = %q, %v, want %v", a, b, path, ok, want)
			}
			if ok {
				found++
			}
		}
	}
	if found == 0 || found == len(patterns)*len(patterns) {
		t.Errorf("%d of %d pairs have a path in common", found, len(patterns)*len(patterns))
	}
}

// TestUndefinedExhaustive compares [robots.Undefined] with its definition, on all short paths and random sets of short
// patterns: the verdict is undefined if it depends on whether a rule with "*", and which one, or the rules without "*"
// take precedence. Each undefined_pair must be such a case, and no useless rule may change a verdict.
func TestUndefinedExhaustive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	patterns, paths := texts("/", "ab*$", 4), texts("/", "ab", 5)
	undefined, pairs := 0, 0
	for range 2000 {
		var body strings.Builder
		body.WriteString("user-agent: *\n")
		for range 2 + random.IntN(4) {
			body.WriteString([]string{"allow: ", "disallow: "}[random.IntN(2)] + patterns[random.IntN(len(patterns))] + "\n")
		}
		r := robots.Inspect([]byte(body.String()), robots.Google2010)
		rules := r.File.Groups[0].Rules
		useless := map[int32]bool{}
		for _, n := range r.Diagnostics {
			if n.Code == robots.CodeUndefinedPair {
				pairs++
				path, _ := strings.CutSuffix(n.Text[strings.LastIndex(n.Text, " /")+1:], " matches both")
				if !dependsOnOrder(rules, path) {
					t.Fatalf("%s%v: %s is defined", body.String(), r.Diagnostics, path)
				}
			}
			useless[n.Line] = useless[n.Line] || n.Code == robots.CodeDuplicate || n.Code == robots.CodeShadowed
		}
		var left []robots.Rule
		for _, rule := range rules {
			if !useless[rule.Line] {
				left = append(left, rule)
			}
		}
		for _, path := range paths {
			winner := robots.Decide(rules, []byte(path), robots.Google2010)
			got := robots.Undefined(rules, winner, []byte(path), robots.Google2010)
			if want := dependsOnOrder(rules, path); got != want {
				t.Fatalf("%sundefined on %s: %v, want %v", body.String(), path, got, want)
			}
			if got {
				undefined++
			}
			other := robots.Decide(left, []byte(path), robots.Google2010)
			if (winner < 0) != (other < 0) || winner >= 0 && rules[winner] != left[other] ||
				got != robots.Undefined(left, other, []byte(path), robots.Google2010) {
				t.Fatalf("%s%v: %s is decided otherwise without the useless rules", body.String(), r.Diagnostics, path)
			}
		}
	}
	if undefined == 0 || pairs == 0 {
		t.Errorf("%d verdicts undefined, %d sets with pairs", undefined, pairs)
	}
}

// dependsOnOrder reports whether rules that match a path and may take precedence have different effects.
func dependsOnOrder(rules []robots.Rule, path string) bool {
	says := map[bool]bool{}
	longest := 0
	for _, r := range rules {
		if strings.Contains(r.Pattern, "*") && robots.Matches(r.Pattern, []byte(path)) {
			says[r.Allow] = true
		} else if robots.Matches(r.Pattern, []byte(path)) {
			longest = max(longest, len(r.Pattern))
		}
	}
	for _, allow := range []bool{true, false} {
		for _, r := range rules {
			if r.Allow == allow && len(r.Pattern) == longest && !strings.Contains(r.Pattern, "*") && robots.Matches(r.Pattern, []byte(path)) {
				says[allow] = true
				return len(says) > 1 // Allow takes precedence on a tie
			}
		}
	}
	return len(says) > 1
}
