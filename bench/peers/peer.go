package main

import (
	"bytes"
	"net/http"

	estes "github.com/benjaminestes/robots"
	"github.com/jimsmart/grobotstxt"
	"github.com/temoto/robotstxt"

	"github.com/robobatch/robobatch/robots"
)

// crawler is a name that no robots.txt has: the groups for "*" bind it.
const crawler = "nobodyhasthisname"

// A query is a URL and its parts.
type query struct {
	url  string
	path string // path and query
}

// A file is one origin's robots.txt, parsed, as a library answers from it.
type file func(query) (allowed bool)

// A library parses robots.txt.
type library struct {
	name  string
	parse func(body []byte) (file, error)
}

// libraries are all that robobatch is compared with; the first is robobatch's own reference
// matcher.
var libraries = []library{
	{"robobatch-reference", parseReference},
	{"temoto-robotstxt", parseTemoto},
	{"benjaminestes-robots", parseEstes},
	{"grobotstxt-cached", parseGrobotsOnce},
	{"grobotstxt", parseGrobots},
}

// parseReference is robobatch's slow and obvious matcher, which gives the right answers.
func parseReference(body []byte) (file, error) {
	rules, _ := robots.Parse(body, robots.Google).Select(robots.NewAgent("*", robots.Google))
	var buf []byte
	return func(q query) bool {
		path := []byte(q.path)
		path, buf = robots.Google.Path(path, buf)
		i := robots.Decide(rules, path, robots.Google)
		return i < 0 || rules[i].Allow
	}, nil
}

// parseTemoto finds the crawler's group once. A file that the library refuses allows all, as one
// without groups.
func parseTemoto(body []byte) (file, error) {
	data, err := robotstxt.FromBytes(body)
	if err != nil {
		return func(query) bool { return true }, nil //nolint:nilerr // the library's answer for a file that it cannot read
	}
	group := data.FindGroup(crawler)
	return func(q query) bool { return group.Test(q.path) }, nil
}

// parseEstes finds the crawler's group once. The library panics at files without any line that it
// knows, and at rules that are not UTF-8; then all is taken for allowed.
func parseEstes(body []byte) (f file, err error) {
	defer func() {
		if recover() != nil {
			f, err = func(query) bool { return true }, nil
		}
	}()
	r, err := estes.From(http.StatusOK, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	test := r.Tester(crawler)
	return func(q query) (allowed bool) {
		defer func() {
			if recover() != nil {
				allowed = true
			}
		}()
		return test(q.path)
	}, nil
}

// parseGrobots is the library as it is to be used: it parses the text for each URL.
func parseGrobots(body []byte) (file, error) {
	text := string(body)
	return func(q query) bool { return grobotstxt.AgentAllowed(text, crawler, q.url) }, nil
}

// parseGrobotsOnce parses once, by the library's handler, and matches by its function for one
// pattern: the code of a user who needs it faster.
func parseGrobotsOnce(body []byte) (file, error) {
	c := &collector{}
	grobotstxt.Parse(string(body), c)
	rules := c.rules
	return func(q query) bool {
		longest, allowed := 0, true
		for i := range rules {
			r := &rules[i]
			if len(r.pattern) >= longest && (r.allow || len(r.pattern) > longest) && grobotstxt.Matches(q.path, r.pattern) {
				longest, allowed = len(r.pattern), r.allow
			}
		}
		return allowed
	}, nil
}
