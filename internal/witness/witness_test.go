package witness

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// fewPaths are limits on the number of paths; memory and time are not reached first.
func fewPaths(paths int) Limits { return Limits{paths, 1 << 30, 1 << 40} }

// allowed reports whether a path is allowed, according to the reference implementation.
func allowed(rules []robots.Rule, path string) bool {
	normal, _ := robots.Google.Path([]byte(path), nil)
	i := robots.Decide(rules, normal, robots.Google)
	return i < 0 || rules[i].Allow
}

// claims returns rules as claims.
func claims(rules []robots.Rule) (all []Claim) {
	for _, r := range rules {
		all = append(all, Claim{r.Pattern, strconv.FormatBool(r.Allow)})
	}
	slices.SortFunc(all, Compare)
	return slices.Compact(all)
}

// without returns sides of which one has no claims, so that each claim changes.
func without(patterns ...string) []Sides {
	var all []Claim
	for _, p := range patterns {
		all = append(all, Claim{p, "false"})
	}
	slices.SortFunc(all, Compare)
	return []Sides{{Old: slices.Compact(all), With: patterns}}
}

// randomFile returns a random robots.txt with a few rules with wildcards, over a tiny alphabet.
func randomFile(rng *rand.Rand) string {
	var sb strings.Builder
	sb.WriteString("User-agent: *\n")
	for range 1 + rng.IntN(4) {
		sb.WriteString([]string{"Allow: ", "Disallow: "}[rng.IntN(2)] + []string{"/", "/", "/", "*"}[rng.IntN(4)])
		for range rng.IntN(5) {
			sb.WriteByte("ab/*."[rng.IntN(5)])
		}
		sb.WriteString([]string{"", "", "$"}[rng.IntN(3)] + "\n")
	}
	return sb.String()
}

// change makes a small change to a robots.txt.
func change(rng *rand.Rand, text string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	i := 1 + rng.IntN(len(lines)-1)
	line := strings.TrimSuffix(lines[i], "\n")
	switch rng.IntN(4) {
	case 0:
		line = strings.TrimSuffix(line, "$") + []string{"a", "*", "/", "$"}[rng.IntN(4)]
	case 1:
		line = strings.TrimSuffix(line[:len(line)-1], "$")
	case 2:
		line = strings.Replace(line, "llow: ", "llow: /*", 1)
	case 3:
		lines[i], lines[len(lines)-1] = lines[len(lines)-1], lines[i]
		return strings.TrimSuffix(strings.Join(lines, "\n"), "\n") + "\n"
	}
	lines[i] = line + "\n"
	return strings.Join(lines, "")
}

// shortPaths returns all paths of up to n bytes behind the first.
func shortPaths(n int) (paths []string) {
	paths = []string{"/"}
	for from := 0; n > 0; n-- {
		to := len(paths)
		for _, path := range paths[from:to] {
			for _, b := range "ab/.x" {
				paths = append(paths, path+string(b))
			}
		}
		from = to
	}
	return paths
}

// TestBruteForce compares the differences between random pairs of files that the paths show with those on all short
// paths. ROUNDS sets the number of pairs.
func TestBruteForce(t *testing.T) {
	rounds := 300
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil {
		rounds = n
	}
	rng := rand.New(rand.NewPCG(17, 17))
	short := shortPaths(6)
	differ, found, more, tried := 0, 0, 0, 0
	for range rounds {
		oldText := randomFile(rng)
		newText := change(rng, oldText)
		old, now := robots.Parse([]byte(oldText), robots.Google), robots.Parse([]byte(newText), robots.Google)
		a, b := old.Groups[0].Rules, now.Groups[0].Rules
		differs := func(path string) bool { return allowed(a, path) != allowed(b, path) }
		made := Make([]Sides{{Old: claims(a), New: claims(b)}}, fewPaths(4000))
		if made.Cut {
			t.Errorf("cut:\n%s---\n%s", oldText, newText)
		}
		tried += len(made.All)
		want, got := slices.ContainsFunc(short, differs), slices.ContainsFunc(made.All, differs)
		switch {
		case want && got:
			differ++
			found++
		case want:
			differ++
			t.Errorf("no path shows how these differ:\n%s---\n%s", oldText, newText)
		case got:
			more++
		}
	}
	if differ < rounds/10 {
		t.Errorf("only %d of %d pairs differ", differ, rounds)
	}
	t.Logf("%d of %d pairs differ on a path of up to 7 bytes: found %d (%.2f %%); %d more differ on longer paths; %.0f paths a pair",
		differ, rounds, found, 100*float64(found)/float64(max(1, differ)), more, float64(tried)/float64(rounds))
}

// FuzzMake tests that some path shows a difference between two files if any short path does. Bytes are letters of a
// tiny alphabet.
func FuzzMake(f *testing.F) {
	f.Add([]byte("\x02\x03\x00\x03\x01\x04\x07\x02\x00\x05"), []byte("\x02\x03\x00\x03\x01"))
	f.Add([]byte("\x02\x00"), []byte("\x02\x03\x01\x06\x02\x00"))
	short := shortPaths(4)
	f.Fuzz(func(t *testing.T, one, two []byte) {
		if len(one)+len(two) > 40 {
			return
		}
		var texts [2]string
		var sides [2][]robots.Rule
		for i, letters := range [][]byte{one, two} {
			var text strings.Builder
			text.WriteString("User-agent: *\nDisallow: ")
			for _, b := range letters {
				text.WriteString([]string{"a", "b", "/", "*", "$", ".", "\nAllow: /", "\nDisallow: /"}[b%8])
			}
			texts[i] = text.String()
			sides[i], _ = robots.Parse([]byte(texts[i]), robots.Google).Select(robots.NewAgent("*", robots.Google))
		}
		differs := func(path string) bool { return allowed(sides[0], path) != allowed(sides[1], path) }
		at := slices.IndexFunc(short, differs)
		if at < 0 {
			return
		}
		if made := Make([]Sides{{Old: claims(sides[0]), New: claims(sides[1])}}, fewPaths(20_000)); !made.Cut && !slices.ContainsFunc(made.All, differs) {
			t.Errorf("%s differs, and none of %d paths:\n%s\n---\n%s", short[at], len(made.All), texts[0], texts[1])
		}
	})
}

// Paths are a function of the patterns, each once, and no more than asked for.
func TestMake(t *testing.T) {
	patterns := []string{"/a*b$", "/*admin*", "*.php", "/", ""}
	made, again := Make(without(patterns...), fewPaths(10)), Make(without(patterns...), fewPaths(10))
	if !slices.Equal(made.All, again.All) || len(made.All) != 10 || !made.Cut {
		t.Errorf("%d paths, cut %t", len(made.All), made.Cut)
	}
	seen := map[string]bool{}
	for _, path := range Make(without(patterns...), fewPaths(10_000)).All {
		if seen[path] || path[0] != '/' || strings.ContainsAny(path, "# ") {
			t.Errorf("path %q", path)
		}
		seen[path] = true
	}
	for _, want := range []string{"/a", "/ab", "/axb", "/AB", "/admin", "/admin/index.html", "/x/yadmin", "/.php?q=1"} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
	if all := Make(nil, fewPaths(10)); len(all.All) == 0 || all.Cut {
		t.Errorf("%v", all)
	}
}

// TestLimits tests that each limit ends the work, for rules with too many combinations to examine, and that the result
// says so.
func TestLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 5))
	word := func() string {
		b := make([]byte, 5)
		for i := range b {
			b[i] = "ab"[rng.IntN(2)]
		}
		return string(b)
	}
	var patterns []string
	for range 400 {
		words := []string{"/"}
		for range 8 {
			words = append(words, word())
		}
		patterns = append(patterns, strings.Join(words, "*"))
	}
	patterns = append(patterns, "/"+strings.Repeat("a*b", 100_000))
	for _, l := range []Limits{{100, 1 << 30, 1 << 40}, {40_000, 1 << 20, 1 << 40}, {40_000, 1 << 30, 1 << 20}} {
		made := Make(without(patterns...), l)
		size := int64(0)
		for _, path := range made.All {
			size += int64(len(path))
		}
		if !made.Cut || len(made.All) > l.Paths || size > l.Bytes+1<<20 || len(made.All) == 0 {
			t.Errorf("%+v: %d paths of %d bytes, cut %t", l, len(made.All), size, made.Cut)
		}
	}
}
