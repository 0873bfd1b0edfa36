package rules

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// TestUndefined compares the reason undefined with the reference, for random rules over a tiny alphabet.
func TestUndefined(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(alphabet string, n int) string {
		b := []byte{'/'}
		for range rng.IntN(n) {
			b = append(b, alphabet[rng.IntN(len(alphabet))])
		}
		return string(b)
	}
	undefined, defined := 0, 0
	for range 3000 {
		var body strings.Builder
		body.WriteString("User-agent: *\n")
		for range 1 + rng.IntN(6) {
			body.WriteString([]string{"Allow: ", "Disallow: "}[rng.IntN(2)] + word("ab*$", 5) + "\n")
		}
		for _, d := range []robots.Dialect{robots.Google2010, robots.Google} {
			f := robots.Parse([]byte(body.String()), d)
			rules, _ := f.Select(robots.Agent{})
			rs, err := Compile(f, robots.Agent{}, d)
			if err != nil {
				t.Fatal(err)
			}
			var s automaton.Scratch
			for range 10 {
				path := []byte(word("ab", 5))
				winner := robots.Decide(rules, path, d)
				want := robots.Undefined(rules, winner, path, d)
				got := rs.Decide(path, &s)
				if (got.Reason == ReasonUndefined) != want || got.Rule != NoRule && rs.Rule(got.Rule).Line != rules[winner].Line {
					t.Fatalf("%v: %s on %s gives %+v, want undefined: %v, by %v", d, body.String(), path, got, want, winner)
				}
				if want {
					undefined++
				} else {
					defined++
				}
			}
		}
	}
	t.Logf("%d undefined, %d not", undefined, defined)
}

// TestUndefinedExhaustive compares sets of two rules, or three without -short, with the reference: all patterns of up
// to three bytes, on all paths of up to four.
func TestUndefinedExhaustive(t *testing.T) {
	var patterns, paths []string
	for n, texts := 0, []string{"/"}; n < 4; n++ {
		var longer []string
		for _, text := range texts {
			for _, c := range "ab*$" {
				longer = append(longer, text+string(c))
			}
			if n < 3 {
				patterns = append(patterns, text)
			}
			if !strings.ContainsAny(text, "*$") {
				paths = append(paths, text)
			}
		}
		texts = longer
	}
	rest := []string{""}
	if !testing.Short() {
		for _, p := range patterns {
			rest = append(rest, "Allow: "+p+"\n", "Disallow: "+p+"\n")
		}
	}
	undefined := 0
	for _, allowed := range patterns {
		for _, denied := range patterns {
			for _, third := range rest {
				body := "User-agent: *\nAllow: " + allowed + "\nDisallow: " + denied + "\n" + third
				undefined += compareUndefined(t, body, paths)
			}
		}
	}
	if undefined == 0 {
		t.Error("no verdict is undefined")
	}
}

// compareUndefined compares the verdicts of a robots.txt in the dialect google-2010 with the reference, and returns the
// number of undefined ones.
func compareUndefined(t *testing.T, body string, paths []string) (undefined int) {
	t.Helper()
	const d = robots.Google2010
	f := robots.Parse([]byte(body), d)
	rules, _ := f.Select(robots.Agent{})
	rs, err := Compile(f, robots.Agent{}, d)
	if err != nil {
		t.Fatal(err)
	}
	var s automaton.Scratch
	for _, path := range paths {
		winner := robots.Decide(rules, []byte(path), d)
		want := robots.Undefined(rules, winner, []byte(path), d)
		got := rs.Decide([]byte(path), &s)
		if (got.Reason == ReasonUndefined) != want || (got.Rule != NoRule) != (winner >= 0) ||
			got.Rule != NoRule && rs.Rule(got.Rule).Line != rules[winner].Line {
			t.Fatalf("%s on %s gives %+v, want undefined: %v, by %v", body, path, got, want, winner)
		}
		if want {
			undefined++
		}
	}
	return undefined
}

// TestRivalsOnlyWhereNeeded checks that groups without possible rivals have none.
func TestRivalsOnlyWhereNeeded(t *testing.T) {
	for _, c := range []struct {
		rules string
		d     robots.Dialect
		want  bool
	}{
		{"Disallow: /*a\nAllow: /", robots.Google2010, true},
		{"Disallow: /*a\nDisallow: /", robots.Google2010, false},
		{"Disallow: /a\nAllow: /", robots.Google2010, false},
		{"Disallow: /*a\nAllow: /", robots.RFC9309, false},
	} {
		rs, err := Compile(robots.Parse([]byte("User-agent: *\n"+c.rules), c.d), robots.Agent{}, c.d)
		if err != nil {
			t.Fatal(err)
		}
		if (rs.rivals != nil) != c.want || c.want != (rs.rivals.size() > 0) {
			t.Errorf("%v: %q has rivals: %v", c.d, c.rules, rs.rivals != nil)
		}
	}
}
