package crawlers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSetsInDocument holds that docs/AGENTS.md has the name of each set.
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

// TestRangesInDocument holds that docs/AGENTS.md fetches each list of JSON that an operator publishes, and names the
// pages of the others.
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
			if !strings.Contains(doc, r.URL) && c.Operator != "SE Ranking" { // which has articles
				t.Errorf("%s: docs/AGENTS.md does not fetch %s", c.Token, r.URL)
			}
		}
	}
	if lists < 50 {
		t.Errorf("the table has %d lists", lists)
	}
}
