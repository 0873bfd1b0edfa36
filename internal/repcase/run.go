package repcase

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A Matcher returns the index of the rule that decides the path, or -1 if none matches, as [robots.Decide] does.
type Matcher func(rules []robots.Rule, path []byte, d robots.Dialect) int

// Run runs all rows of testdata/rep/conformance against the matcher and logs how many ran per file, which were
// skipped for what reason, and what was expected of the rows in which sources disagree.
func Run(t *testing.T, match Matcher) {
	t.Helper()
	var table strings.Builder
	fmt.Fprintf(&table, "%-22s %6s %6s %8s %7s %7s %11s %6s %7s %8s\n", "file", "rows", "run", "google", "raw url", "rfc9309", "google-2010", "yandex", "lines", "skipped")
	total, skips, byClass := &tally{name: "total"}, map[string]int{}, map[string]int{}
	for _, f := range Files(t) {
		sum := &tally{name: f.Name}
		t.Run(f.Name, func(t *testing.T) {
			for i := range f.Rows {
				sum.run(t, &f.Rows[i], match, skips)
				byClass[f.Rows[i].Class]++
			}
		})
		sum.print(&table)
		total.add(sum)
	}
	total.print(&table)
	for _, why := range sortedKeys(skips) {
		fmt.Fprintf(&table, "skipped %d rows: %s\n", skips[why], why)
	}
	delete(byClass, "")
	for _, name := range sortedKeys(byClass) {
		fmt.Fprintf(&table, "%3d rows %s: %s\n", byClass[name], name, classes[name].why)
	}
	t.Logf("conformance:\n%s", table.String())
}

// A tally counts the rows of one file and the checks made with them.
type tally struct {
	name                      string
	rows, ran, lines, skipped int
	asIs                      int                    // checks in google with URLs as they are
	checks                    map[robots.Dialect]int // all others
}

func (s *tally) add(o *tally) {
	s.rows += o.rows
	s.ran += o.ran
	s.lines += o.lines
	s.skipped += o.skipped
	s.asIs += o.asIs
	for d, n := range o.checks {
		s.count(d, n)
	}
}

func (s *tally) count(d robots.Dialect, n int) {
	if s.checks == nil {
		s.checks = map[robots.Dialect]int{}
	}
	s.checks[d] += n
}

func (s *tally) print(w *strings.Builder) {
	fmt.Fprintf(w, "%-22s %6d %6d %8d %7d %7d %11d %6d %7d %8d\n", s.name, s.rows, s.ran, s.asIs, s.checks[robots.Google],
		s.checks[robots.RFC9309], s.checks[robots.Google2010], s.checks[robots.Yandex], s.lines, s.skipped)
}

// run makes all checks of one row.
func (s *tally) run(t *testing.T, r *Row, match Matcher, skips map[string]int) {
	t.Helper()
	s.rows++
	checks, skipped, err := Plan(r)
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	if skipped != "" {
		s.skipped++
		skips[skipped]++
		return
	}
	s.ran++
	for _, c := range checks {
		if c.Dialect.Has(robots.URLAsIs) {
			s.asIs++
		} else {
			s.count(c.Dialect, 1)
		}
		if c.Line >= 0 {
			s.lines++
		}
		c.check(t, r, match)
	}
}

// check makes one check.
func (c Check) check(t *testing.T, r *Row, match Matcher) {
	t.Helper()
	file := robots.Parse(r.Body(), c.Dialect)
	allow, line := Ask(file, r.Agent, r.Address(), c.Dialect, match)
	if got := verdict(allow); c.Want != Any && got != c.Want {
		t.Errorf("%s: %s says %s by line %d, want %s (%s)\nagent %q, url %q, robots.txt:\n%s", r.ID, c.Dialect, got, line, c.Want, c.Why, r.Agent, elide(r.Address()), elide(r.Body()))
		return
	}
	if want := c.Line; want >= 0 && line != want && !valueless(r.Body(), want, c.Dialect) {
		t.Errorf("%s: %s decides by line %d, want %d\nagent %q, url %q, robots.txt:\n%s", r.ID, c.Dialect, line, want, r.Agent, elide(r.Address()), elide(r.Body()))
	} else if line != want && want >= 0 && line != 0 {
		t.Errorf("%s: %s decides by line %d, where the rule of line %d has no value", r.ID, c.Dialect, line, want)
	}
}

// Ask asks a file for one verdict and the line that gives it, 0 if none does.
func Ask(f *robots.File, agent string, url []byte, d robots.Dialect, match Matcher) (allow bool, line int32) {
	path, _ := d.Path(PathOf(url), nil)
	if d.AlwaysAllowed(path) {
		return true, 0
	}
	rules, _ := f.Select(robots.NewAgent(agent, d))
	i := match(rules, path, d)
	if i < 0 {
		return true, 0
	}
	return rules[i].Allow, rules[i].Line
}

// valueless reports whether the rule in this line has no value. google/robotstxt lets such a line win where nothing
// else matches; here it has no effect at all.
func valueless(body []byte, line int32, d robots.Dialect) bool {
	for _, g := range robots.Parse(body, d).Groups {
		for _, r := range g.Rules {
			if r.Line == line {
				return false
			}
		}
	}
	return line > 0
}

// elide returns b, or its beginning if it is long.
func elide(b []byte) []byte {
	const most = 2000
	if len(b) <= most {
		return b
	}
	return append(b[:most:most], "..."...)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
