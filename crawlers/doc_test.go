package crawlers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSetsInDocument checks that docs/AGENTS.md contains the name of each set.
func TestSetsInDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "AGENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range Sets() {
		if name := "@" + set; !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/AGENTS.md does not mention the set %s", name)
		}
	}
}

// TestRangesInDocument checks that docs/AGENTS.md fetches each JSON list that an operator publishes, and names the
// pages of the other lists.
func TestRangesInDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "AGENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	braces := regexp.MustCompile(`(https://\S*)\{(\S*)\}([^'` + "`" + `\s]*)`)
	doc := braces.ReplaceAllStringFunc(string(text), func(url string) string {
		var all []string
		part := braces.FindStringSubmatch(url)
		for name := range strings.SplitSeq(part[2], ",") {
			all = append(all, part[1]+name+part[3])
		}
		return strings.Join(all, " ")
	})
	lists := 0
	for _, c := range known.all {
		for _, r := range c.Ranges {
			lists++
			if !strings.Contains(doc, r.URL) && c.Operator != "SE Ranking" { // it publishes articles
				t.Errorf("%s: docs/AGENTS.md does not fetch %s", c.Token, r.URL)
			}
		}
	}
	if lists < 50 {
		t.Errorf("the table has %d lists", lists)
	}
}
