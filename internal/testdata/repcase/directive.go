package repcase

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A Directive is a question about a directive that decides no access: Crawl-delay, Sitemap, Host or
// Clean-param. One without a dialect is run as google.
type Directive struct {
	Case
	Expect map[string]json.RawMessage `json:"expect"` // in the form of the suite it came from, see answers
}

// RunDirectives runs all files of directives, and logs how many rows ran and which were not, for
// which reason. A row that is listed as differing must differ, so that the list stays true.
func RunDirectives(t *testing.T) {
	t.Helper()
	sums := newTally("rows", "agree", "differ", "not run")
	known := map[string]bool{}
	for _, name := range files(t, true) {
		count := sums.in(strings.TrimSuffix(name, directives))
		for _, row := range Lines[Directive](t, name) {
			known[row.ID] = true
			count("rows")
			got, want, err := row.compare()
			why, differs := differing[row.ID]
			switch {
			case err != nil:
				count("not run")
				sums.remarks["not run: "+err.Error()]++
				if strings.HasPrefix(row.ID, "seed-") {
					t.Errorf("%s: a seed's row is not run: %v", row.ID, err)
				}
			case differs:
				count("differ")
				sums.remarks["differ: "+why]++
				if got == want {
					t.Errorf("%s agrees, but is listed as differing: %s", row.ID, why)
				}
			case got != want:
				t.Errorf("%s: %s\nwant %s\nagent %q, robots.txt:\n%s", row.ID, got, want, row.Agent, elide(row.Body()))
			default:
				count("agree")
			}
		}
	}
	for id := range differing {
		if !known[id] {
			t.Errorf("no row %s, which is listed as differing", id)
		}
	}
	t.Logf("directives:\n%s", sums)
}

// compare returns the answers of the file and of the source, in one notation. The error says why
// that cannot be told.
func (row *Directive) compare() (got, want string, err error) {
	d := robots.Google
	if row.Dialect != "" {
		if d, err = robots.ParseDialect(row.Dialect); err != nil {
			return "", "", err
		}
	}
	a := answers{row: row, dialect: d, report: robots.Inspect(row.Body(), d)}
	for _, question := range questions {
		if value, ok := row.Expect[question.key]; ok {
			return question.compare(&a, value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(row.Expect)) {
		if why, ok := unasked[key]; ok {
			return "", "", fmt.Errorf("%s: %s", key, why)
		}
	}
	return "", "", fmt.Errorf("expectation %v is not understood", slices.Sorted(maps.Keys(row.Expect)))
}

// unasked are the expectations that this project has no answer to.
var unasked = map[string]string{
	"request_rate":       "Request-rate is not read",
	"request_rate_delay": "Request-rate is not read",
	"visit_time":         "Visit-time is not read",
	"cache_delay":        "Cache-delay is not read",
	"detectWithCommon":   "there is no list of common parameters",
}
