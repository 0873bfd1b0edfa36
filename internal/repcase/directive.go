package repcase

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A Directive is a question about a directive that decides no access: Crawl-delay, Sitemap, Host or Clean-param.
type Directive struct {
	ID        string                     `json:"id"`
	Dialect   string                     `json:"dialect"` // that the source speaks; "" is run as google
	Robots    string                     `json:"robots"`
	RobotsB64 []byte                     `json:"robots_b64"`
	Agent     string                     `json:"agent"`
	Expect    map[string]json.RawMessage `json:"expect"` // in the form of the suite it came from, see answers
	Note      string                     `json:"note"`
}

// RunDirectives runs all files of directives, and logs how many rows ran and which were not, for what reason.
func RunDirectives(t *testing.T) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(Dir(t), "conformance", "*"+directives+".jsonl.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no directives in %s: %v", Dir(t), err)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-22s %6s %6s %8s %8s\n", "file", "rows", "agree", "differ", "not run")
	var total directiveTally
	known := map[string]bool{}
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")
		var sum directiveTally
		for _, row := range Lines[Directive](t, base) {
			known[row.ID] = true
			sum.run(t, &row)
		}
		sum.print(&table, strings.TrimSuffix(base, directives))
		total.add(&sum)
	}
	total.print(&table, "total")
	for _, why := range sortedKeys(total.why) {
		fmt.Fprintf(&table, "%3d rows %s\n", total.why[why], why)
	}
	for id := range differing {
		if !known[id] {
			t.Errorf("no row %s, which is listed as differing", id)
		}
	}
	t.Logf("directives:\n%s", table.String())
}

// A directiveTally counts the rows of one file.
type directiveTally struct {
	rows, agree, differ, notRun int
	why                         map[string]int
}

func (s *directiveTally) add(o *directiveTally) {
	s.rows += o.rows
	s.agree += o.agree
	s.differ += o.differ
	s.notRun += o.notRun
	for why, n := range o.why {
		s.because(why, n)
	}
}

func (s *directiveTally) because(why string, n int) {
	if s.why == nil {
		s.why = map[string]int{}
	}
	s.why[why] += n
}

func (s *directiveTally) print(w *strings.Builder, name string) {
	fmt.Fprintf(w, "%-22s %6d %6d %8d %8d\n", name, s.rows, s.agree, s.differ, s.notRun)
}

// run checks one row. A row that is listed as differing must differ, so that the list stays true.
func (s *directiveTally) run(t *testing.T, row *Directive) {
	t.Helper()
	s.rows++
	got, want, err := row.compare()
	why, differs := differing[row.ID]
	switch {
	case err != nil:
		s.notRun++
		s.because("not run: "+err.Error(), 1)
		if strings.HasPrefix(row.ID, "seed-") {
			t.Errorf("%s: a seed's row is not run: %v", row.ID, err)
		}
	case differs:
		s.differ++
		s.because("differ: "+why, 1)
		if got == want {
			t.Errorf("%s agrees, but is listed as differing: %s", row.ID, why)
		}
	case got != want:
		t.Errorf("%s: %s\nwant %s\nagent %q, robots.txt:\n%s", row.ID, got, want, row.Agent, elide(row.body()))
	default:
		s.agree++
	}
}

func (row *Directive) body() []byte {
	if row.RobotsB64 != nil {
		return row.RobotsB64
	}
	return []byte(row.Robots)
}

// compare returns what the file says and what the source says, in one notation. The error says why that cannot be told.
func (row *Directive) compare() (got, want string, err error) {
	d := robots.Google
	if row.Dialect != "" {
		if d, err = robots.ParseDialect(row.Dialect); err != nil {
			return "", "", err
		}
	}
	a := answers{row: row, dialect: d, report: robots.Inspect(row.body(), d)}
	for _, question := range questions {
		if value, ok := row.Expect[question.key]; ok {
			return question.compare(&a, value)
		}
	}
	for _, key := range sortedKeys(row.Expect) {
		if why, ok := unasked[key]; ok {
			return "", "", fmt.Errorf("%s: %s", key, why)
		}
	}
	return "", "", fmt.Errorf("expectation %v is not understood", sortedKeys(row.Expect))
}

// unasked are the expectations that this project has no answer to.
var unasked = map[string]string{
	"request_rate":       "Request-rate is not read",
	"request_rate_delay": "Request-rate is not read",
	"visit_time":         "Visit-time is not read",
	"cache_delay":        "Cache-delay is not read",
	"detectWithCommon":   "there is no list of common parameters",
}
