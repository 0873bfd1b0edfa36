package robots_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// The document about the dialects has examples: a block "robots", and below it tables. The header of a table starts
// with "agent" and names a dialect in each column from the third; a header that starts with "fetch" is about outcomes.
var dialectsDoc = filepath.Join("..", "docs", "DIALECTS.md")

// docOptions are the options that a column may add to its dialect.
var docOptions = map[string]robots.Dialect{
	"-yandex-empty-allow=ignore": robots.EmptyAllowIgnored,
	"-agent-chars=extended":      robots.WideTokens,
	"-url-as-is":                 robots.URLAsIs,
}

// A docExample is one row of a table.
type docExample struct {
	line  int
	body  string           // the block "robots" above it
	about []string         // the cells before the answers
	ask   []robots.Dialect // the dialect of each answer
	want  []string
}

// readDialectsDoc returns the rows of all examples.
func readDialectsDoc(t *testing.T) []docExample {
	t.Helper()
	data, err := os.ReadFile(dialectsDoc)
	if err != nil {
		t.Fatal(err)
	}
	var examples []docExample
	var body strings.Builder
	var head []robots.Dialect
	inBlock := false
	for i, line := range strings.Split(string(data), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case line == "```robots":
			body.Reset()
			inBlock = true
		case line == "```":
			inBlock = false
		case inBlock:
			body.WriteString(line + "\n")
		case !strings.HasPrefix(line, "|"):
			head = nil
		case cells[0] == "agent":
			head = docDialects(t, cells[2:])
		case cells[0] == "fetch":
			head = docDialects(t, cells[1:])
		case head != nil && !strings.HasPrefix(line, "|--"):
			about := len(cells) - len(head)
			examples = append(examples, docExample{i + 1, expand(body.String()), cells[:about], head, cells[about:]})
		}
	}
	return examples
}

func docDialects(t *testing.T, cells []string) []robots.Dialect {
	t.Helper()
	var all []robots.Dialect
	for _, cell := range cells {
		words := strings.Fields(strings.Trim(cell, "`"))
		d, err := robots.ParseDialect(words[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, option := range words[1:] {
			if docOptions[option] == 0 {
				t.Fatalf("unknown option %s", option)
			}
			d |= docOptions[option]
		}
		all = append(all, d)
	}
	return all
}

var times = regexp.MustCompile(`<(.) × (\d+)>`)

// expand replaces "<a × 3>" by "aaa".
func expand(s string) string {
	return times.ReplaceAllStringFunc(s, func(m string) string {
		parts := times.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

// TestDialectsDoc runs the examples of the document.
func TestDialectsDoc(t *testing.T) {
	answers, sections := 0, map[string]bool{}
	for _, e := range readDialectsDoc(t) {
		sections[e.body] = true
		for i, d := range e.ask {
			var got []string
			if len(e.about) == 2 {
				got = []string{docVerdict(d, e.body, e.about[0], expand(e.about[1]))}
			} else {
				for _, fetch := range docFetches(e.about[0]) {
					got = append(got, docOutcome(d, fetch))
				}
			}
			for _, answer := range got {
				answers++
				if answer != e.want[i] {
					t.Errorf("%s:%d: %s: %s, and the document says %s", dialectsDoc, e.line, d, answer, e.want[i])
				}
			}
		}
	}
	t.Logf("%d answers in %d sections", answers, len(sections))
	if answers < 200 || len(sections) < 15 {
		t.Error("examples are missing, or not recognised")
	}
}

// docFetches returns the fetches of a cell: several if it is a list of status codes, such as "401, 404".
func docFetches(cell string) []string {
	all := strings.Split(cell, ", ")
	for _, status := range all {
		if _, err := strconv.Atoi(status); err != nil {
			return []string{cell}
		}
	}
	return all
}

func docVerdict(d robots.Dialect, body, agent, path string) string {
	url := []byte("https://example.com" + path)
	f := robots.Parse([]byte(body), d)
	allow, _ := repcase.Ask(f, agent, url, d, robots.Decide)
	text := map[bool]string{true: "allow", false: "disallow"}[allow]
	rules, _ := f.Select(robots.NewAgent(agent, d))
	normal, _ := d.Path([]byte(path), nil)
	if robots.Undefined(rules, robots.Decide(rules, normal, d), normal, d) {
		text += " (undefined)"
	}
	return text
}

// docOutcome returns the outcome of the fetches in a row.
func docOutcome(d robots.Dialect, fetch string) string {
	good := robots.Response{Status: 200, FetchedAt: day(0)}
	bad := robots.Response{Status: 503, FetchedAt: day(1)}
	at := day(2)
	var all []robots.Response
	switch status, err := strconv.Atoi(fetch); {
	case err == nil:
		all = []robots.Response{{Status: status}}
	case fetch == "200, over 500 KiB":
		all = []robots.Response{{Status: 200, Size: robots.MaxBytes + 1}}
	case fetch == "5 redirects to 200":
		all = redirects(5, 302)
	case fetch == "6 redirects to 200":
		all = redirects(6, 302)
	case fetch == "redirect to a URL not in the input":
		all = redirects(1, 302)[:1]
	case fetch == "503 for 31 days":
		all, at = []robots.Response{bad}, day(32.1)
	case fetch == "200, then 503 for 31 days":
		all, at = []robots.Response{good, bad}, day(32.1)
	case fetch == "no connection":
		all = []robots.Response{{Error: "connection refused"}}
	default:
		return "unknown case " + fetch
	}
	effect, cause, _ := strings.Cut(outcome(d, at, all...), ":")
	cause, _, _ = strings.Cut(strings.TrimSpace(cause), " ")
	switch effect {
	case "use rules":
		return "rules"
	case "allow all":
		return "allow: " + cause
	}
	return "disallow: " + cause
}
