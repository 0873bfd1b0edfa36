package repcase

import (
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A Matcher returns the index of the rule that decides the path, or -1 if none matches, as
// [robots.Decide] does.
type Matcher func(rules []robots.Rule, path []byte, d robots.Dialect) int

// Run runs all rows of testdata/rep/conformance against the matcher and logs how many ran per file,
// which were skipped, why, and the answers expected of the rows where sources disagree.
func Run(t *testing.T, match Matcher) {
	t.Helper()
	sums := newTally("rows", "run", "google", "url as is", "rfc9309", "google-2010", "yandex", "lines", "skipped")
	for _, name := range files(t, false) {
		count := sums.in(name)
		t.Run(name, func(t *testing.T) {
			for _, row := range Lines[Row](t, name) {
				count("rows")
				if row.Class != "" {
					sums.remarks[row.Class+": "+classes[row.Class].why]++
				}
				checks, skipped, err := Plan(&row)
				switch {
				case err != nil:
					t.Fatalf("%s: %v", row.ID, err)
				case skipped != "":
					count("skipped")
					sums.remarks["skipped: "+skipped]++
				default:
					count("run")
				}
				for _, c := range checks {
					c.count(count)
					c.check(t, &row, match)
				}
			}
		})
	}
	t.Logf("conformance:\n%s", sums)
}

// count counts the check in its columns.
func (c *Check) count(count func(column string)) {
	if c.Dialect.Has(robots.URLAsIs) {
		count("url as is")
	} else {
		count(c.Dialect.String())
	}
	if c.Line >= 0 {
		count("lines")
	}
}

// check makes one check.
func (c *Check) check(t *testing.T, r *Row, match Matcher) {
	t.Helper()
	file := robots.Parse(r.Body(), c.Dialect)
	allow, line := Ask(file, r.Agent, r.Address(), c.Dialect, match)
	if got := verdict(allow); c.Want != Any && got != c.Want {
		t.Errorf("%s: %s says %s by line %d, want %s (%s)\nagent %q, url %q, robots.txt:\n%s", r.ID, c.Dialect, got, line, c.Want, c.Why, r.Agent, elide(r.Address()), elide(r.Body()))
		return
	}
	if c.Line >= 0 && line != c.Line && (c.exact || line != 0 || !valueless(r.Body(), c.Line, c.Dialect)) {
		t.Errorf("%s: %s decides by line %d, want %d\nagent %q, url %q, robots.txt:\n%s", r.ID, c.Dialect, line, c.Line, r.Agent, elide(r.Address()), elide(r.Body()))
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

// valueless reports whether the rule in this line has no value. google/robotstxt lets such a line
// win where nothing else matches; here it has no effect at all.
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
