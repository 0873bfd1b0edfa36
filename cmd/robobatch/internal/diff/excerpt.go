package diff

import (
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/cli"
)

// excerpt returns a URL in at most n columns, with the end of the text that a rule matches: readers look for a text
// such as "admin" of "Disallow: /*admin*". If the URL does not have the texts of the rule as they are written, the
// excerpt is the beginning of the URL.
func excerpt(url, rule string, n int) string {
	from, to := lastMatch(url, rule)
	if n < 8 || cli.Columns(url[:to]) < n {
		return fit(url, n)
	}
	runes, most := []rune(url), n
	if cli.Columns(url) > len(runes) { // letters of two columns
		n /= 2
	}
	start, end := utf8.RuneCountInString(url[:from]), utf8.RuneCountInString(url[:to])
	head := n / 3
	room := n - head - 1 // for the text behind the first "…"
	switch {
	case end-start >= room: // its beginning
		end = start + room
	default: // as much behind it as before it
		end = min(len(runes), end+(room-(end-start))/2)
		start = end - room
	}
	if start <= head+1 {
		return fit(url, n)
	}
	tail := string(runes[start:])
	if end < len(runes) {
		tail = string(runes[start:end-1]) + "…"
	}
	return fit(string(runes[:head])+"…"+tail, most)
}

// lastMatch returns where in a URL the last text between wildcards of a rule stands; zeros if a text is
// not there.
func lastMatch(url, rule string) (from, to int) {
	_, pattern, _ := strings.Cut(rule, ": ")
	at := 0
	if _, rest, ok := strings.Cut(url, "://"); ok {
		at = len(url) - len(rest)
		at += max(0, strings.IndexByte(rest, '/'))
	}
	toEnd := strings.HasSuffix(pattern, "$")
	for i, text := range strings.Split(strings.TrimSuffix(pattern, "$"), "*") {
		if text == "" {
			continue
		}
		found := strings.Index(url[at:], text)
		if found < 0 || i == 0 && found > 0 {
			return 0, 0
		}
		from, to = at+found, at+found+len(text)
		at = to
	}
	if toEnd && strings.HasSuffix(url, url[from:to]) {
		return len(url) - (to - from), len(url)
	}
	return from, to
}
