package robots_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestMatchesExhaustive compares Matches with package regexp for every short pattern and path over
// a tiny alphabet.
func TestMatchesExhaustive(t *testing.T) {
	paths, patterns := words("/a$%", 4), words("/a*$%", 4)
	if testing.Short() {
		paths, patterns = words("/a$", 3), words("/a*$", 3)
	}
	n := 0
	for _, pattern := range patterns {
		re := expression(pattern)
		for _, path := range paths {
			n++
			if got, want := robots.Matches(pattern, []byte(path)), re.MatchString(path); got != want {
				t.Errorf("Matches(%q, %q) = %v, regexp says %v", pattern, path, got, want)
			}
		}
	}
	t.Logf("%d comparisons", n)
}

// words returns all words of at most n bytes.
func words(alphabet string, n int) []string {
	all := []string{""}
	for begin := 0; n > 0; n-- {
		end := len(all)
		for _, w := range all[begin:end] {
			for _, c := range alphabet {
				all = append(all, w+string(c))
			}
		}
		begin = end
	}
	return all
}

// expression translates a pattern. Bytes become the runes with the same number, because regexp reads UTF-8.
func expression(pattern string) *regexp.Regexp {
	text, end := latin1(pattern), ""
	if t, ok := strings.CutSuffix(text, "$"); ok {
		text, end = t, `\z`
	}
	return regexp.MustCompile(`(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`) + end)
}

func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

func TestDecide(t *testing.T) {
	rules := []robots.Rule{
		{Pattern: "/a"}, {Pattern: "/a"}, {Allow: true, Pattern: "/a"}, {Pattern: "/a/b"}, {Allow: true, Pattern: "/a/b/index.html"},
	}
	for path, want := range map[string]int{"/": -1, "/a": 2, "/a/b": 3, "/a/b/": 4, "/a/b/index.html": 4, "/a/b/x": 3} {
		if got := robots.Decide(rules, []byte(path), robots.Google); got != want {
			t.Errorf("Decide(%q) = %d, want %d", path, got, want)
		}
	}
	if got := robots.Decide(rules, []byte("/a/b/"), robots.RFC9309); got != 3 {
		t.Errorf("without index pages: %d, want 3", got)
	}
	lengths := []robots.Rule{{Pattern: "/a$$"}, {Allow: true, Pattern: "/a*"}} // in yandex, 3 and 2: only the final "$" does not count
	if got := robots.Decide(lengths, []byte("/a$"), robots.Yandex); got != 0 {
		t.Errorf("yandex: %d, want 0", got)
	}
	if got := robots.Decide(nil, []byte("/"), robots.Google); got != -1 {
		t.Errorf("no rules: %d, want -1", got)
	}
}

func TestAlwaysAllowed(t *testing.T) {
	for path, want := range map[string]bool{"/robots.txt": true, "/robots.txt?x": true, "/robots.txt;x": false, "/robots.txtx": false, "/robots": false, "/x/robots.txt": false} {
		if got := robots.RFC9309.AlwaysAllowed([]byte(path)); got != want {
			t.Errorf("AlwaysAllowed(%q) = %v", path, got)
		}
		if robots.Google.AlwaysAllowed([]byte(path)) {
			t.Errorf("google always allows %q", path)
		}
	}
}

// FuzzDecide compares the reference with another way to decide: it matches all patterns as regular expressions and
// sorts those that match.
func FuzzDecide(f *testing.F) {
	f.Add("user-agent: *\ndisallow: /a*b$\nallow: /a/index.html\n", "http://h/a/")
	f.Add("user-agent: *\nallow: *$\ndisallow: /%2a%24$x\ndisallow: /é", "http://h/*$x")
	f.Add("user-agent: *\ndisallow: $\ndisallow: /$$\nallow: /**/*", "http://h/$")
	f.Fuzz(func(t *testing.T, body, url string) {
		u, err := robots.SplitURL([]byte(url))
		if err != nil || len(body)+len(url) > 1000 {
			return
		}
		for _, d := range allDialects {
			rules, _ := robots.Parse([]byte(body), d).Select(robots.NewAgent("*", d))
			path, _ := d.Path(u.Path, nil)
			if got, want := robots.Decide(rules, path, d), decideSorted(rules, string(path), d); got != want {
				t.Errorf("%v: %q decided by rule %d of %v, want %d", d, path, got, rules, want)
			}
		}
	})
}

// decideSorted returns the index of the rule that decides, or -1.
func decideSorted(rules []robots.Rule, path string, d robots.Dialect) int {
	type match struct{ index, length int }
	matches := []match{{-1, 0}}
	for i, r := range rules {
		patterns := []string{r.Pattern}
		if dir, _, ok := cutLast(r.Pattern, "/index.htm"); ok && r.Allow && d.Has(robots.IndexPage) {
			patterns = append(patterns, dir+"/$")
		}
		for _, p := range patterns {
			if expression(p).MatchString(latin1(path)) {
				matches = append(matches, match{i, len(p)})
			}
		}
	}
	return slices.MaxFunc(matches, func(a, b match) int {
		switch {
		case a.length != b.length:
			return a.length - b.length
		case rules[a.index].Allow != rules[b.index].Allow:
			return map[bool]int{true: 1, false: -1}[rules[a.index].Allow]
		}
		return b.index - a.index
	}).index
}

// cutLast cuts s around its last sep, unless a slash follows sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 || strings.Contains(s[i+len(sep):], "/") {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
