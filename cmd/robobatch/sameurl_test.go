package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestSameURL evaluates the same URLs with a run, with explain (as arguments and on standard input), with check and
// with diff. The URLs have all bytes, blanks, invalid UTF-8 and unusual forms at their beginning, inside and at their
// end. All commands must give the same verdict and write the URL in the same way.
func TestSameURL(t *testing.T) {
	n := 25_000 // for each of four dialects
	if testing.Short() {
		n = 1_500
	}
	t.Chdir(t.TempDir())
	writeFile(t, "robots.txt", oddRules)
	writeFile(t, "open.txt", "User-agent: *\nDisallow:\n")
	for _, dialect := range robots.Dialects() {
		s := sameURLs{t: t, flags: []string{"-quiet", "-dialect", dialect, "-base", "https://o.test"}, urls: oddURLs(n)}
		t.Run(dialect, func(t *testing.T) {
			s.t = t
			s.decide()
			s.explain()
			s.check()
			s.diff()
		})
	}
}

// oddRules decide odd URLs differently, one by one.
const oddRules = "User-agent: *\nDisallow: /a$\nDisallow: /a\xff\nDisallow: /b%20\nDisallow: /b%09\nDisallow: /b c\nDisallow: /\xc3\xa9\n" +
	"Disallow: /*%C2%A0$\nDisallow: /*\x0bz\nDisallow: /x%0C\nDisallow: /*%00\nDisallow: /c?*=$\nAllow: /*.css$\nDisallow: /d%ff\nDisallow: /*\\\n"

// oddPieces are inserted before a URL, into it and after it.
func oddPieces() (pieces []string) {
	for b := range 256 {
		if b != '\n' {
			pieces = append(pieces, string([]byte{byte(b)}))
		}
	}
	return append(pieces, "", "\u00a0", "\u3000", "\u0085", "\u2028", "\ufeff", "\u200b", "\u00e9", "\U0001f916", " \t ", "\t\t", "\r", "\r\r",
		"%20", "%09", "%0a", "%ff", "%C3%A9", "%c3%a9", "%00", "%2", "%", "%zz", "\xc3", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80",
		"#", "?", "//", "/./", "/../", ";x", "$", "*", "\\", "@", ":", "a b", "=\"", "'", "`", ",", "|", "<>")
}

// oddURLs returns n different URLs with such pieces; none is empty.
func oddURLs(n int) (urls []string) {
	rng := rand.New(rand.NewPCG(9309, 38))
	bases := []string{
		"https://o.test/a", "https://o.test/b c", "https://o.test/\u00e9.css", "https://O.test:443/c?x=", "https://o.test", "http://o.test/x",
		"https://o.test/b", "https://u@o.test/d", "o.test/a", "/a", "//o.test/a", "https://o.test/robots.txt", "https://xn--4gbrim.test/a",
	}
	pieces, seen := oddPieces(), map[string]bool{"": true}
	piece := func() string { return pieces[rng.IntN(len(pieces))] }
	for len(urls) < n {
		base := bases[rng.IntN(len(bases))]
		at := rng.IntN(len(base) + 1)
		url := [...]string{piece() + base, base[:at] + piece() + base[at:], base + piece(), piece() + base[:at] + piece() + base[at:] + piece()}[rng.IntN(4)]
		if url = strings.ReplaceAll(strings.TrimRight(url, "\r"), "\n", ""); !seen[url] {
			seen[url] = true
			urls = append(urls, url)
		}
	}
	urls[0] = "https://o.test/a" // the first line must be a URL without a byte order mark
	return urls
}

// sameURLs holds the URLs for which commands are compared with a run.
type sameURLs struct {
	t     *testing.T
	flags []string
	urls  []string
	rows  []oddRow // of a run, one for each URL
}

// An oddRow is the answer for one URL, in the form in which a run writes it; answers of explain, check and diff are
// converted to it.
type oddRow struct {
	Line    int    `json:"line"`
	URL     string `json:"url"`
	Allowed *bool  `json:"allowed"`
	Reason  string `json:"reason"`
	RuleAt  int    `json:"rule_line"`
	Rule    string `json:"rule"`
}

func (r oddRow) String() string {
	allowed := "null"
	if r.Allowed != nil {
		allowed = strconv.FormatBool(*r.Allowed)
	}
	return fmt.Sprintf("%q %s %s %d %q", r.URL, allowed, r.Reason, r.RuleAt, r.Rule)
}

// answers runs a command and returns its lines of JSON.
func (s *sameURLs) answers(code int, stdin string, arguments ...string) (rows []oddRow) {
	s.t.Helper()
	text := outputOf(s.t, code, stdin, slices.Concat(arguments[:1], s.flags, arguments[1:])...)
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	for decoder.More() {
		var row oddRow
		if err := decoder.Decode(&row); err != nil {
			s.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// decide has a run decide the URLs.
func (s *sameURLs) decide() {
	s.t.Helper()
	list := strings.Join(s.urls, "\n") + "\n"
	text := outputOf(s.t, exitDone, list, append(s.flags, "-rules", "robots.txt", "-in", "-", "-format", "urls",
		"-columns", "line,url,allowed,reason,rule_line,rule", "-out", "-", "-out-format", "jsonl")...)
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var row oddRow
		if err := decoder.Decode(&row); err != nil {
			s.t.Fatal(err)
		}
		s.rows = append(s.rows, row)
	}
	if len(s.rows) != len(s.urls) {
		s.t.Fatalf("%d rows for %d URLs", len(s.rows), len(s.urls))
	}
}

// explain compares the run with explain, for the URLs as arguments and as a list on standard input.
func (s *sameURLs) explain() {
	s.t.Helper()
	listed := s.answers(exitDone, strings.Join(s.urls, "\n")+"\n", "explain", "-rules", "robots.txt", "-print", "json")
	arguments := slices.DeleteFunc(slices.Clone(s.urls), hasNUL)
	named := s.answers(exitDone, "", append([]string{"explain", "-rules", "robots.txt", "-print", "json", "--"}, arguments...)...)
	for i, want := range s.rows {
		got := []oddRow{listed[i]}
		if !hasNUL(s.urls[i]) {
			got, named = append(got, named[0]), named[1:]
		}
		for _, got := range got {
			if got.String() != want.String() {
				s.t.Fatalf("URL %d, %q: a run says %v, explain says %v", i+1, s.urls[i], want, got)
			}
		}
	}
}

// hasNUL reports whether a URL cannot be an argument. At the start of a line in a list, NULs count as a hole that a
// crash left.
func hasNUL(url string) bool { return strings.ContainsRune(url, 0) }

// check compares the run with check, for those URLs that a line of expectations can contain: URLs without blanks
// inside and without line ends.
func (s *sameURLs) check() {
	s.t.Helper()
	var expected strings.Builder
	var of []int
	for i, url := range s.urls {
		if url = strings.Trim(url, " \t"); url != "" && !strings.ContainsAny(url, " \t\r\x00") && url[0] != '#' && s.rows[i].Allowed != nil {
			expected.WriteString("disallow * " + url + "\n")
			of = append(of, i)
		}
	}
	rows := s.answers(exitPolicy, expected.String(), "check", "-rules", "robots.txt", "-expect", "-", "-print", "json")
	if len(rows) < len(of) || len(of) < len(s.urls)/4 {
		s.t.Fatalf("%d answers for %d of %d URLs", len(rows), len(of), len(s.urls))
	}
	for k, i := range of {
		want, got := s.rows[i], rows[k]
		if got.String() != want.String() {
			s.t.Fatalf("URL %d, %q: a run says %v, check says %v", i+1, s.urls[i], want, got)
		}
	}
}

// diff compares a run with diff from its rules to none: diff must report every URL that the run disallows as opened, by
// the same rule.
func (s *sameURLs) diff() {
	s.t.Helper()
	s.answers(exitDone, strings.Join(s.urls, "\n")+"\n", "diff", "-old", "robots.txt", "-rules", "open.txt", "-in", "-", "-format", "urls",
		"-out", "changes.jsonl", "-print", "json")
	changed := map[int]string{}
	for line := range strings.Lines(readText(s.t, "changes.jsonl")) {
		var row struct {
			Line int    `json:"line"`
			URL  string `json:"url"`
			Rule string `json:"rule_old"`
			Kind string `json:"change"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			s.t.Fatal(err)
		}
		if row.Kind == engine.Opened.String() {
			changed[row.Line] = row.URL + " " + row.Rule
		}
	}
	for i, row := range s.rows {
		want := ""
		if row.Allowed != nil && !*row.Allowed && row.Reason != "no_robots" {
			want = row.URL + " " + row.Rule
		}
		if got := changed[i+1]; got != want {
			s.t.Fatalf("URL %d, %q: a run says %v, diff has %q", i+1, s.urls[i], row, got)
		}
	}
}
