package crawlers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of docs/AGENTS.md anew")

// The list in docs/AGENTS.md is what the data say; go test ./crawlers -update writes it.
func TestDocument(t *testing.T) {
	name := filepath.Join("..", "docs", "AGENTS.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const head = "\n- [`Googlebot`]"
	prose, _, _ := strings.Cut(string(text), head)
	want := prose + document()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(text, []byte(want)) {
		t.Errorf("%s does not have the list of the data: run go test ./crawlers -update", name)
	}
	for _, set := range Sets() {
		if !strings.Contains(prose+want, set) {
			t.Errorf("%s does not mention the set %s", name, set)
		}
	}
}

// document returns the list in Markdown: each token leads to the page of its operator.
func document() string {
	var sb strings.Builder
	sb.WriteString("\n")
	for _, c := range known.all {
		about := append([]string{strings.Join(c.Purposes, ", ")}, habits(c)...)
		if len(c.Names) > 0 && !slices.Equal(c.Names, []string{c.Token}) {
			about = append(about, "sends "+strings.Join(c.Names, ", "))
		}
		fmt.Fprintf(&sb, "- [`%s`](%s), %s: %s\n", c.Token, c.Source, c.Operator, strings.Join(about, "; "))
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
