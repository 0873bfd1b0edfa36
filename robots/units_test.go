package robots_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A unit is a byte of a rule or of a URL as RFC 9309 compares them, or a wildcard or end anchor. Unlike in the normal
// form, a literal "*" or "$" does not need a byte of its own.
type unit struct {
	char         byte
	wildcard     bool
	endOfPattern bool
}

// unitsOf splits a URL or the value of a rule: an unreserved character (RFC 3986), "*" and "$" are one unit, escaped or
// not; other escapes are three, and so are bytes that are not valid in URLs.
func unitsOf(text string, rule, asIs bool) (units []unit) {
	if !strings.HasPrefix(text, "/") && !rule {
		text = "/" + text
	}
	for i := 0; i < len(text); i++ {
		c, escaped := text[i], false
		switch {
		case asIs && !rule:
			units = append(units, unit{char: c})
			continue
		case rule && c == '*':
			units = append(units, unit{wildcard: true})
			continue
		case rule && c == '$' && i == len(text)-1:
			units = append(units, unit{endOfPattern: true})
			continue
		case c == '%' && i+2 < len(text):
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				c, escaped = byte(n), true
				i += 2
			}
		}
		unreserved := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~*$", c) >= 0
		reserved := strings.IndexByte(":/?#[]@!&'()+,;=%", c) >= 0
		if unreserved || reserved && !escaped {
			units = append(units, unit{char: c})
			continue
		}
		for _, digit := range []byte(fmt.Sprintf("%%%02X", c)) {
			units = append(units, unit{char: digit})
		}
	}
	return units
}

// unitsMatch reports whether a rule matches a URL from its first unit on.
func unitsMatch(rule, url []unit) bool {
	switch {
	case len(rule) == 0:
		return true
	case rule[0].endOfPattern:
		return len(url) == 0
	case rule[0].wildcard:
		return unitsMatch(rule[1:], url) || len(url) > 0 && unitsMatch(rule, url[1:])
	}
	return len(url) > 0 && url[0].char == rule[0].char && unitsMatch(rule[1:], url[1:])
}

// decideByUnits returns the index of the rule that decides, or -1: the one with most units, with Allow on a tie, then
// the first. values are those of the rules.
func decideByUnits(rules []robots.Rule, values [][]unit, url []unit) int {
	best, most := -1, 0
	for i, units := range values {
		if unitsMatch(units, url) && (len(units) > most || len(units) == most && rules[i].Allow && !rules[best].Allow) {
			best, most = i, len(units)
		}
	}
	return best
}

// A written is a URL, with its normal form and its units.
type written struct {
	dialect robots.Dialect
	url     string
	path    []byte
	units   []unit
}

// writeURLs returns the URLs, each also as with URLAsIs.
func writeURLs(urls ...string) (all []written) {
	for _, url := range urls {
		for _, d := range []robots.Dialect{robots.RFC9309, robots.RFC9309 | robots.URLAsIs} {
			path, _ := d.Path([]byte(url), nil)
			all = append(all, written{d, url, path, unitsOf(url, false, d.Has(robots.URLAsIs))})
		}
	}
	return all
}

// checkUnits compares the reference with decideByUnits, and returns the number of URLs.
func checkUnits(t *testing.T, rules []robots.Rule, urls []written) int {
	t.Helper()
	values := make([][]unit, len(rules))
	for i := range rules {
		rules[i].Pattern = robots.RFC9309.PatternOf(rules[i].Value)
		values[i] = unitsOf(rules[i].Value, true, false)
	}
	for _, u := range urls {
		if got, want := robots.Decide(rules, u.path, u.dialect), decideByUnits(rules, values, u.units); got != want {
			t.Fatalf("%q, as it is: %t, is decided by rule %d of %+v, want %d", u.url, u.dialect.Has(robots.URLAsIs), got, rules, want)
		}
	}
	return len(urls)
}

// combined returns all texts of up to n pieces.
func combined(pieces []string, n int) []string {
	all := []string{""}
	for from := 0; n > 0; n-- {
		end := len(all)
		for _, text := range all[from:end] {
			for _, piece := range pieces {
				all = append(all, text+piece)
			}
		}
		from = end
	}
	return all
}

// TestUnits compares every short rule, and every pair of shorter ones, on every short URL.
func TestUnits(t *testing.T) {
	single, pairs := 3, 2
	if testing.Short() {
		single, pairs = 2, 1
	}
	rulePieces, urlPieces := []string{"a", "2", "*", "$", "%", "%24", "%2a", "%61", " "}, []string{"a", "2", "4", "A", "$", "*", "%", "%24", "%2A", "\xaa", "\xa4"}
	urls, checks := writeURLs(combined(urlPieces, 3)...), 0
	for _, value := range combined(rulePieces, single) {
		checks += checkUnits(t, []robots.Rule{{Value: "/" + value}}, urls)
	}
	values, urls := combined(rulePieces, pairs), writeURLs(combined(urlPieces, 2)...)
	for i, first := range values {
		for k, second := range values {
			rules := []robots.Rule{{Value: "/" + first, Allow: (i+k)%2 == 0}, {Value: "/" + second, Allow: i%2 == 0}}
			checks += checkUnits(t, rules, urls)
		}
	}
	t.Logf("%d comparisons", checks)
}

// FuzzUnits compares any rules on any URL.
func FuzzUnits(f *testing.F) {
	f.Add("/*2\n+/a$b\n/%2a$\n/*%", "/a$b")
	f.Add("/*bx\n+/a$b\n/\xaa*\xa4", "/\xaa*\xa4$%24")
	f.Fuzz(func(t *testing.T, text, url string) {
		var rules []robots.Rule
		for line := range strings.SplitSeq(text, "\n") {
			value, allow := strings.CutPrefix(line, "+")
			if value != "" {
				rules = append(rules, robots.Rule{Value: value, Allow: allow})
			}
		}
		if url, _, _ = strings.Cut(url, "#"); len(text)+len(url) < 60 && strings.Count(text, "*") < 8 {
			checkUnits(t, rules, writeURLs(url))
		}
	})
}
