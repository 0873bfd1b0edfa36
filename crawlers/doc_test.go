package crawlers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	const head = "\n- Google: [`Googlebot`]"
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

// document returns the list in Markdown, a line for an operator: each token leads to its page. Aliases are with
// their crawlers.
func document() string {
	aliases := map[string][]string{}
	for _, c := range known.all {
		if c.AliasOf != "" {
			aliases[c.AliasOf] = append(aliases[c.AliasOf], "`"+c.Token+"`")
		}
	}
	var sb strings.Builder
	operator := ""
	for _, c := range known.all {
		if c.AliasOf != "" {
			continue
		}
		about := append([]string{strings.Join(c.Purposes, ", ")}, habits(c)...)
		if len(c.Names) > 0 && !slices.Equal(c.Names, []string{c.Token}) {
			about = append(about, "sends "+strings.Join(c.Names, ", "))
		}
		if also := aliases[c.Token]; also != nil {
			about = append(about, "also "+strings.Join(also, ", "))
		}
		lead := ", "
		if c.Operator != operator {
			operator = c.Operator
			lead = "\n- " + operator + ": "
		}
		fmt.Fprintf(&sb, "%s[`%s`](%s) (%s)", lead, c.Token, c.Source, strings.Join(about, "; "))
	}
	return sb.String() + "\n"
}

// habits describes the habits of a crawler.
func habits(c Crawler) (all []string) {
	if len(c.Names) == 0 {
		all = append(all, "a switch")
	}
	if c.IgnoresStar {
		all = append(all, "ignores `*`")
	}
	if c.Fallback != "" {
		all = append(all, "falls back to `"+c.Fallback+"`")
	}
	if c.Unbound {
		all = append(all, "not bound")
	}
	if c.Unstated {
		all = append(all, "not stated")
	}
	return all
}
