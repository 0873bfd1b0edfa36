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

// document returns the list in Markdown, a line for an operator, and one for all operators of one crawler: each token leads
// to its page, and has a ° if the operator does not say whether robots.txt binds it. Aliases are with their crawlers.
func document() string {
	aliases, ofOperator := map[string][]string{}, map[string]int{}
	for _, c := range known.all {
		if c.AliasOf == "" {
			ofOperator[c.Operator]++
		} else {
			aliases[c.AliasOf] = append(aliases[c.AliasOf], "`"+c.Token+"`")
		}
	}
	var lines, single []string
	operator := ""
	for _, c := range known.all {
		if c.AliasOf != "" {
			continue
		}
		text := fmt.Sprintf("[`%s`](%s)", c.Token, c.Source)
		if c.Unstated {
			text += "°"
		}
		about := habits(c)
		if len(c.Names) > 0 && !slices.Equal(c.Names, []string{c.Token}) {
			about = append(about, "sends "+strings.Join(c.Names, ", "))
		}
		if also := aliases[c.Token]; also != nil {
			about = append(about, "also "+strings.Join(also, ", "))
		}
		if len(about) > 0 {
			text += " (" + strings.Join(about, "; ") + ")"
		}
		switch {
		case ofOperator[c.Operator] == 1:
			single = append(single, text)
		case c.Operator == operator:
			lines[len(lines)-1] += ", " + text
		default:
			operator = c.Operator
			lines = append(lines, "\n- "+operator+": "+text)
		}
	}
	return strings.Join(lines, "") + "\n- Operators of one crawler: " + strings.Join(single, ", ") + "\n"
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
	return all
}
