package warning

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/cli"
)

// TestPage compares docs/WARNINGS.md with the meanings of all codes, which must be in alphabetical order.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/WARNINGS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "|---|---|---|\n")
	var want strings.Builder
	for _, m := range Meanings {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", m.Code, m.What, m.Do)
	}
	if rows != want.String() {
		t.Errorf("the table of docs/WARNINGS.md should be\n%s", &want)
	}
	if !slices.IsSortedFunc(Meanings, func(a, b Meaning) int { return strings.Compare(string(a.Code), string(b.Code)) }) {
		t.Error("the meanings are not in alphabetical order")
	}
}

// TestString shows a warning with its examples.
func TestString(t *testing.T) {
	d := Warning{Code: NoURLs, Text: "nothing", Count: 2, Examples: []string{"a:1", "b:2"}}
	if got, want := d.String(), "nothing [no_urls]\n  a:1\n  b:2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPageText checks that the explanation of every warning has two examples, and that its lines are not too long.
func TestPageText(t *testing.T) {
	for _, m := range Meanings {
		e := examples[m.Code]
		if e.bad == "" || e.good == "" || e.bad == e.good {
			t.Errorf("%s: bad %q, good %q: add them to examples in warning.go", m.Code, e.bad, e.good)
			continue
		}
		found, ok := Lookup(m.Code)
		text := found.Text(cli.Fill)
		for line := range strings.Lines(text) {
			if cli.Columns(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s: %q is too long", m.Code, line)
			}
		}
		if !ok || !strings.Contains(text, "\nBad:\n\n    "+e.bad[:1]) || !strings.Contains(text, "\nGood:\n\n    "+e.good[:1]) {
			t.Errorf("%s: %s", m.Code, text)
		}
	}
	if _, ok := Lookup("nonsense"); ok {
		t.Error("nonsense is a warning")
	}
}
