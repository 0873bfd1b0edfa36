package report

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/revisions"
)

// TestCauses checks that findings of several origins are combined if their code, path, rule, status and time are
// equal, that they name their origins unless the sentence does, and that other origins with the same rule are
// counted.
func TestCauses(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	row := func(code, host, path, rule string, from, to int) (r diagnose.Row) {
		r = diagnose.Row{Code: code, Origin: "https://" + host, Path: path, From: day(from), To: day(to), Sentence: "s " + strconv.Itoa(from)}
		r.Evidence.Rule = rule
		return r
	}
	d := &Diagnosis{Sites: []string{"https://a", "https://b"}, Findings: []diagnose.Row{
		row("section_closed", "a", "/p/", "Disallow: /p/", 3, 9),
		row("section_closed", "b", "/p/", "Disallow: /p/", 4, 9),
		row("section_closed", "c", "/p/", "Disallow: /p/", 10, 12), // later
		row("section_closed", "d", "/p/", "Disallow: /p", 3, 9),    // another rule
		row("section_closed", "b", "/p/", "Disallow: /p/", 5, 9),   // of the same origin
		row("outage", "a", "/", "", 3, 9),
		{Code: "rules_ignored", Sentence: "all"},
	}}
	d.Findings[5].Sentence = "https://a was down"
	var got []string
	all := Causes(d)
	for _, c := range all {
		got = append(got, strconv.Itoa(c.No)+" "+c.Headline())
	}
	want := []string{"1 https://a and 1 other origin: s 3", "2 https://c: s 10", "3 https://d: s 3", "4 https://b: s 5", "5 https://a was down", "6 all"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if d.Sites = d.Sites[:1]; Causes(d)[1].Headline() != "s 10" {
		t.Error("a log of one origin names it")
	}
	revised := func(host string, at int, added string) revisions.Revision {
		return revisions.Revision{Origin: "https://" + host, At: day(at), Added: []revisions.Line{{No: 1, Text: added}}}
	}
	v := &view{Revised: []revisions.Revision{
		revised("a", 3, "Disallow: /p/"), revised("e", 3, "Disallow: /p/"), revised("e", 4, "Disallow: /p/"), revised("f", 2, "Disallow: /p/"),
		revised("g", 1, "Disallow: /p/"), revised("h", 3, "Disallow: /q/"), revised("i", 9, "Disallow: /p/"),
	}}
	if n := v.Alike(all[0]); n != 2 { // e and f; g was earlier, and i later
		t.Errorf("%d more origins got the rule, want 2", n)
	}
}

// TestMinorWarnings checks that warnings that cannot change findings are listed separately, and that each check has a name
// and is either done or has a reason why not.
func TestMinorWarnings(t *testing.T) {
	run := &Run{Warnings: []Warning{{Code: "a"}, {Code: "b", Minor: true}, {Code: "c"}}}
	if major, minor := run.WarningsOf(false), run.WarningsOf(true); len(major) != 2 || major[1].Code != "c" || len(minor) != 1 || minor[0].Code != "b" {
		t.Errorf("%v, %v", major, minor)
	}
	v := &view{Run: &Run{Diagnosis: Diagnosis{Unchecked: []diagnose.Unchecked{{Codes: FindingCodes[1:], Needs: "times"}, {Codes: FindingCodes[2:3]}}}}}
	if got := v.Checked(); !slices.Equal(got, FindingCodes[:1]) {
		t.Errorf("checked: %q", got)
	}
	if n := len(FindingCodes); n <= 20 { // if one reason applies to all checks, the page says that nothing was checked
		t.Errorf("there are %d codes", n)
	}
	for _, code := range FindingCodes {
		if checks[code] == "" || strings.Contains(checks[code], "_") {
			t.Errorf("%s has no name", code)
		}
	}
}
