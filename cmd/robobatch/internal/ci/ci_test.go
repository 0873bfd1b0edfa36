package ci

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitHub checks that ten notes become annotations, and the rest goes to the summary, up to the maximum size.
func TestGitHub(t *testing.T) {
	for _, c := range []struct {
		notes   int
		left    int64
		rows    int // in the summary; -1 is none at all
		summary string
	}{
		{3, 0, -1, ""},
		{10, 0, -1, ""},
		{12, 0, 2, "\n2 more findings\n"},
		{12, 5, 2, "\n7 more findings\n"},
		{5_000, 2_000, 3_524, "\n6,990 more findings\n"},
	} {
		name := filepath.Join(t.TempDir(), "summary.md")
		t.Setenv(SummaryFile, name)
		notes := make([]Note, c.notes)
		for i := range notes {
			notes[i] = Note{Level: "error", File: "robots.txt", Line: int32(i + 1), Title: "x", Text: strings.Repeat("long ", 50)}
		}
		var sb strings.Builder
		if err := GitHub(&sb, notes, c.left); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(sb.String(), "::error "); got != min(c.notes, Annotations) {
			t.Errorf("%d notes have %d annotations", c.notes, got)
		}
		text, err := os.ReadFile(name)
		if c.rows < 0 {
			if err == nil {
				t.Errorf("%d notes have the summary %s", c.notes, text)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if rows := strings.Count(string(text), "| error |"); rows != c.rows || !strings.HasPrefix(string(text), c.summary) || len(text) > MaxSummary+100 {
			t.Errorf("%d notes have a summary of %d bytes with %d rows, want %d: %.100s", c.notes, len(text), rows, c.rows, text)
		}
		if left := int64(c.notes-Annotations-c.rows) + c.left; left > 0 && !strings.Contains(string(text), " more omitted\n") {
			t.Errorf("nothing says that %d are left out", left)
		}
		if strings.Contains(string(text), fmt.Sprintf("robots.txt:%d |", Annotations)) {
			t.Error("an annotation stands in the summary, too")
		}
	}
}

// TestEscapes checks that names and texts cannot end workflow commands, properties or table cells.
func TestEscapes(t *testing.T) {
	n := Note{Level: "error", File: "a,b:c%\r\n\x1b", Line: 1, Column: 2, Title: "::t\u202e", Text: "50%\r\n::error::x\u009b"}
	const want = `::error file=a%2Cb%3Ac%25\r\n\x1b,line=1,col=2,title=%3A%3At\u202e::50%25\r%0A\::error::x\u009b`
	if got := n.command(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := Markdown("a|b\n<c>`*\x00"), "a&#124;b &#60;c&#62;&#96;&#42;"+`\x00`; got != want && got != strings.ReplaceAll(want, `\`, "&#92;") {
		t.Errorf("got %s, want %s", got, want)
	}
}
