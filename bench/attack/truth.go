//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/robots"
)

// A row is the command's answer about one URL.
type row struct {
	Line    int64
	URL     string // "" is none
	Allowed *bool  // nil is null
	Rule    *int64 // line of the rule that decided; nil is none
}

// String returns the row as a message shows it.
func (r row) String() string {
	allowed, rule := "null", "null"
	if r.Allowed != nil {
		allowed = strconv.FormatBool(*r.Allowed)
	}
	if r.Rule != nil {
		rule = strconv.FormatInt(*r.Rule, 10)
	}
	return fmt.Sprintf("line %d %q allowed %s rule_line %s", r.Line, r.URL, allowed, rule)
}

// An oracle decides URLs by the slow reference, [robots.Decide]. Its bodies are the robots.txt by
// origin, each parsed once.
type oracle struct {
	bodies map[string][]byte
	rules  map[string][]robots.Rule // of all crawlers, by origin
}

const dialect = robots.Google

// newOracleOf returns the oracle of some robots.txt files, by origin.
func newOracleOf(bodies map[string][]byte) oracle {
	o := oracle{bodies, map[string][]robots.Rule{}}
	for origin, body := range bodies {
		if rules, ok := robots.Parse(body, dialect).Select(robots.NewAgent("*", dialect)); ok {
			o.rules[origin] = rules
		}
	}
	return o
}

// decide returns the row of a URL.
func (o oracle) decide(line int64, url []byte) row {
	r := row{Line: line, URL: written(url)}
	u, err := robots.SplitURL(url)
	if err != nil {
		return r
	}
	origin, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return r
	}
	allowed := true
	r.Allowed = &allowed
	rules, ok := o.rules[string(origin)]
	if !ok {
		return r
	}
	path, _ := dialect.Path(u.Path, nil)
	if i := robots.Decide(rules, path, dialect); i >= 0 {
		at := int64(rules[i].Line)
		allowed, r.Rule = rules[i].Allow, &at
	}
	return r
}

// same reports whether two rows say the same of their URLs, wherever they stand.
func same(a, b row) bool {
	return a.URL == b.URL && equal(a.Allowed, b.Allowed) && equal(a.Rule, b.Rule)
}

func equal[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// site is the site of the logs that have paths only.
const site = "https://www.example.com"

// newOracle makes up robots.txt files of a few origins.
func newOracle() oracle {
	bodies := map[string][]byte{
		site:                  []byte("User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\n"),
		"http://c.example":    []byte("User-agent: otherbot\nDisallow: /\n"),
		"https://d.example":   []byte("\ufeff# nothing\nUser-agent: *\nDisallow: /a*b*c\nDisallow: /\nAllow: /docs/\n"),
		"https://e.example":   []byte("User-agent: *\nDisallow:\n"),
		"https://f.example:1": []byte("User-agent: *\r\nDisallow: /f\r\nAllow: /f/%C3%A9\r\n"),
	}
	for i := range 3 {
		bodies[fmt.Sprintf("https://s%d.example", i)] = fmt.Appendf(nil, "User-agent: *\nDisallow: /%d/\nDisallow: /private\nAllow: /docs/%d\n", i, i)
	}
	return newOracleOf(bodies)
}

// origins are those that the made-up URLs have; one has no robots.txt.
var origins = []string{
	site, "http://c.example", "https://d.example", "https://e.example", "https://f.example:1",
	"https://s0.example", "https://s1.example", "https://s2.example", "https://none.example",
}

var dirs = []string{"/private/", "/private/open/", "/docs/", "/0/", "/1/x/", "/a/b/c/", "/f/%C3%A9/", "/f/", "/"}

// madeUp returns a URL that no other number has. All of it is of one site if that is asked for.
func madeUp(r *rand.Rand, i int, oneSite bool) string {
	origin := site
	if !oneSite {
		origin = origins[r.IntN(len(origins))]
	}
	url := fmt.Sprintf("%s%sp%d-%x", origin, dirs[r.IntN(len(dirs))], i, r.Uint32())
	switch r.IntN(6) {
	case 0:
		url += ".pdf"
	case 1, 2:
		url += fmt.Sprintf("?q=%d&lang=de", r.IntN(1000))
	}
	return url
}

// written returns a text as the output has it: bytes that are not UTF-8 are escaped.
func written(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var sb strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&sb, "%%%02X", text[0])
		} else {
			sb.Write(text[:n])
		}
		text = text[n:]
	}
	return sb.String()
}

// cut returns the lines of a text without their ends. A byte order mark is none of the first.
func cut(text []byte) [][]byte {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.TrimSuffix(text, []byte("\n"))
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimSuffix(line, []byte("\r"))
	}
	return lines
}
