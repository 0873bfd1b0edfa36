package crawlers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/AGENTS.md anew")

// The table in docs/AGENTS.md is what the data say; go test ./crawlers -update writes it.
func TestDocument(t *testing.T) {
	name := filepath.Join("..", "docs", "AGENTS.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| token | operator | sets |"
	prose, _, _ := strings.Cut(string(text), head)
	want := prose + document()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(text, []byte(want)) {
		t.Errorf("%s does not have the table of the data: run go test ./crawlers -update", name)
	}
	for _, set := range Sets() {
		if !strings.Contains(prose+want, set) {
			t.Errorf("%s does not mention the set %s", name, set)
		}
	}
}

// document returns the table in Markdown.
func document() string {
	var sb strings.Builder
	sb.WriteString("| token | operator | sets | names in the User-Agent header | habits | documented at | checked |\n|---|---|---|---|---|---|---|\n")
	for _, c := range known.all {
		fmt.Fprintf(&sb, "| `%s` | %s | %s | %s | %s | <%s> | %s |\n", c.Token, c.Operator, strings.Join(c.Purposes, ", "),
			strings.Join(c.Names, ", "), strings.Join(habits(c), "; "), c.Source, c.Checked)
	}
	return sb.String()
}

// habits describes the habits of a crawler.
func habits(c Crawler) (all []string) {
	if len(c.Names) == 0 {
		all = append(all, "a switch")
	}
	if c.IgnoresStar {
		all = append(all, "does not heed `*`")
	}
	if c.Fallback != "" {
		all = append(all, "falls back to `"+c.Fallback+"`")
	}
	if c.Unbound {
		all = append(all, "not bound")
	}
	return all
}
