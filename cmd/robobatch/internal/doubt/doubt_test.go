package doubt

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPage compares docs/DOUBTS.md with the meanings, which are in alphabetical order.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/DOUBTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "|---|---|---|\n")
	var want strings.Builder
	for _, m := range Meanings {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", m.Code, m.What, m.Do)
	}
	if rows != want.String() {
		t.Errorf("the table of docs/DOUBTS.md should be\n%s", &want)
	}
	if !slices.IsSortedFunc(Meanings, func(a, b Meaning) int { return strings.Compare(string(a.Code), string(b.Code)) }) {
		t.Error("the meanings are not in alphabetical order")
	}
}

// TestString shows a doubt with its examples.
func TestString(t *testing.T) {
	d := Doubt{Code: NoURLs, Text: "nothing", Count: 2, Examples: []string{"a:1", "b:2"}}
	if got, want := d.String(), "nothing [no_urls]\n  a:1\n  b:2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
