package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	estes "github.com/benjaminestes/robots"
	"github.com/jimsmart/grobotstxt"
	"github.com/temoto/robotstxt"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// crawler is a name that no robots.txt has, so the groups for "*" bind it.
const crawler = "nobodyhasthisname"

// A query is a URL and its parts.
type query struct {
	url  string
	path string // path and query
}

// A file is the robots.txt of one origin, as a library has parsed it.
type file func(query) (allowed bool)

// A library parses robots.txt.
type library struct {
	name  string
	parse func(body []byte, crawler string) (file, error)
}

// libraries are the libraries that robobatch is compared with. The first is robobatch's own reference matcher.
// grobotstxt-cached only works for crawlers without their own group.
var libraries = []library{
	{"robobatch-reference", newReference(robots.Google)},
	{"temoto-robotstxt", parseTemoto},
	{"benjaminestes-robots", parseEstes},
	{"grobotstxt-cached", parseGrobotsOnce},
	{"grobotstxt", parseGrobots},
}

// newReference returns robobatch's slow reference matcher, which defines the correct verdicts in a dialect.
func newReference(d robots.Dialect) func(body []byte, crawler string) (file, error) {
	return func(body []byte, crawler string) (file, error) {
		rules, _ := robots.Parse(body, d).Select(robots.NewAgent(crawler, d))
		var buf []byte
		return func(q query) bool {
			path := []byte(q.path)
			path, buf = d.Path(path, buf)
			i := robots.Decide(rules, path, d)
			return i < 0 || rules[i].Allow || d.AlwaysAllowed(path)
		}, nil
	}
}

// parseTemoto finds the crawler's group once. A file that the library rejects allows everything, like a file without
// groups.
func parseTemoto(body []byte, crawler string) (file, error) {
	data, err := robotstxt.FromBytes(body)
	if err != nil {
		return func(query) bool { return true }, nil //nolint:nilerr // the library's answer for a file that it cannot read
	}
	group := data.FindGroup(crawler)
	return func(q query) bool { return group.Test(q.path) }, nil
}

// parseEstes finds the crawler's group once. The library panics if it recognises no line of a file, or if a rule is not
// UTF-8; then everything is treated as allowed.
func parseEstes(body []byte, crawler string) (f file, err error) {
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

// parseGrobots uses the library as documented: it parses the text again for each URL.
func parseGrobots(body []byte, crawler string) (file, error) {
	text := string(body)
	return func(q query) bool { return grobotstxt.AgentAllowed(text, crawler, q.url) }, nil
}

// parseGrobotsOnce parses once with a handler of the library, and matches with its function for a single pattern, as a
// user would do for speed.
func parseGrobotsOnce(body []byte, _ string) (file, error) {
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

// A collector collects the rules of the groups for "*" from grobotstxt's parser, as the library's own matcher does.
type collector struct {
	rules []pattern
	open  bool // the last lines were user-agent lines
	ours  bool // one of the names was "*"
}

type pattern struct {
	pattern string
	allow   bool
}

// HandleRobotsStart does nothing.
func (*collector) HandleRobotsStart() {}

// HandleRobotsEnd does nothing.
func (*collector) HandleRobotsEnd() {}

// HandleUserAgent starts a group, or adds a name to it.
func (c *collector) HandleUserAgent(_ int, name string) {
	star := name == "*" || strings.HasPrefix(name, "* ")
	c.open, c.ours = true, star || c.open && c.ours
}

// HandleAllow adds a rule, and for an index page also the rule of its directory.
func (c *collector) HandleAllow(_ int, value string) {
	c.addRule(value, true)
	slash := strings.LastIndexByte(value, '/')
	if slash >= 0 && strings.HasPrefix(value[slash:], "/index.htm") {
		c.addRule(value[:slash+1]+"$", true)
	}
}

// HandleDisallow adds a rule.
func (c *collector) HandleDisallow(_ int, value string) { c.addRule(value, false) }

// HandleSitemap does nothing: the line does not end a run of user-agent lines.
func (*collector) HandleSitemap(int, string) {}

// HandleUnknownAction does nothing: the line does not end a run of user-agent lines.
func (*collector) HandleUnknownAction(int, string, string) {}

// addRule ends the user-agent lines, and adds a rule if one of their names was "*". Empty values are ignored.
func (c *collector) addRule(value string, allow bool) {
	c.open = false
	if c.ours && value != "" {
		c.rules = append(c.rules, pattern{value, allow})
	}
}

// A verdict is the result for a line.
type verdict int8

const (
	noRules verdict = iota // the origin has no rules, or the line is not a URL
	allowed
	denied
)

// An asker has all files of a workload, parsed by a library: by origin, and by scheme and authority as written in the
// log.
type asker map[string]file

// newAsker parses each file of a workload once. An error of the library is returned.
func newAsker(lib library, w workload) (asker, error) {
	a := asker{}
	for origin, body := range w.bodies {
		f, err := lib.parse(body, crawler)
		if err != nil {
			return nil, fmt.Errorf("%s parses %s: %w", lib.name, origin, err)
		}
		a[string(origin)] = f
	}
	return a, nil
}

// decideLines returns the verdict of each line. Consecutive lines of one origin need one look-up; no line is copied.
// It adds spellings of origins to a.
func (a asker) decideLines(w workload) []verdict {
	all := make([]verdict, 0, w.lines())
	head, f := "", file(nil)
	for line := range strings.Lines(w.text) {
		url := strings.TrimSuffix(line, "\n")
		path := pathOf(url)
		if h := url[:len(url)-len(path)]; h != head || f == nil {
			known := false
			if f, known = a[h]; !known { // each spelling that is not normalised is looked up only once
				f = a[string(corpus.OriginOf([]byte(url)))]
				a[h] = f
			}
			head = h
		}
		all = append(all, decideLine(f, url, path))
	}
	return all
}

// decideLine returns the verdict of a URL, whose path is given; noRules if f is nil. It drops the fragment, and adds a
// missing slash before the path.
func decideLine(f file, url, path string) verdict {
	if f == nil {
		return noRules
	}
	if i := strings.IndexByte(path, '#'); i >= 0 {
		path = path[:i]
	}
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	if f(query{url, path}) {
		return allowed
	}
	return denied
}

// pathOf returns the text of a URL after scheme and authority; the whole text if it has no scheme.
func pathOf(url string) string {
	i := strings.Index(url, "://")
	if i < 0 {
		return url
	}
	if j := strings.IndexAny(url[i+3:], "/?#"); j >= 0 {
		return url[i+3+j:]
	}
	return ""
}

// writeAnswers answers the cases of matrix.py with a library. Each input line has three texts in hexadecimal: a
// robots.txt, a crawler and a URL. The output line is 1 for allowed, 0 for disallowed, or - for an error.
func writeAnswers(in io.Reader, out io.Writer, name string) error {
	all := append(slices.Clone(libraries), library{"robobatch-rfc9309", newReference(robots.RFC9309)})
	i := slices.IndexFunc(all, func(lib library) bool { return lib.name == name })
	if i < 0 {
		return fmt.Errorf("-answer: there is no library %q", name)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var texts [3]string
		for n, part := range strings.SplitN(lines.Text(), "\t", len(texts)) {
			text, err := hex.DecodeString(part)
			if err != nil {
				return fmt.Errorf("read a case: %w", err)
			}
			texts[n] = string(text)
		}
		says := "-"
		if f, err := all[i].parse([]byte(texts[0]), texts[1]); err == nil {
			says = map[verdict]string{allowed: "1", denied: "0"}[decideLine(f, texts[2], pathOf(texts[2]))]
		}
		if _, err := fmt.Fprintln(out, says); err != nil {
			return err
		}
	}
	return lines.Err()
}
