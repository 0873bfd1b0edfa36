package crawlers

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var listFile = flag.String("names", "", "a list of crawlers to compare with the table: robots.json of ai-robots-txt/ai.robots.txt, or a text with a name a line")

// A listed is a crawler as described in robots.json of ai-robots-txt/ai.robots.txt.
type listed struct{ Operator, Respect, Description string }

// sources are the URLs in that description.
func (l listed) sources() string {
	urls := regexp.MustCompile(`https?://[^\s)\]]+[\w/]`).FindAllString(strings.Join([]string{l.Operator, l.Respect, l.Description}, " "), -1)
	if urls == nil {
		return "no source"
	}
	return strings.Join(urls, " ")
}

// parseList parses a list of crawlers.
func parseList(text []byte) (list map[string]listed, err error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		err = json.Unmarshal(text, &list)
		return list, err
	}
	list = map[string]listed{}
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			list[name] = listed{}
		}
	}
	return list, nil
}

// compareList describes the differences between a list of crawlers and the table: new crawlers, other operators or
// habits, and crawlers of the set ai that are not in the list. Names that were deliberately left out of the table are
// not new.
func compareList(list map[string]listed, leftOut map[string]bool) (lines []string) {
	has := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		l := list[name]
		c, ok := Lookup(name)
		if !ok {
			c, ok = Identify([]byte(name))
		}
		_, isRetired := LookupRetired(name)
		if !ok {
			if !leftOut[name] && !isRetired {
				lines = append(lines, fmt.Sprintf("new      %s: %s", name, l.sources()))
			}
			continue
		}
		has[c.Token] = true
		operator, table := strings.ToLower(l.Operator), strings.ToLower(c.Operator)
		if operator != "" && !strings.HasPrefix(operator, "un") && !strings.Contains(operator, table) && !strings.Contains(table, operator) {
			lines = append(lines, fmt.Sprintf("changed  %s: operator %s in place of %s: %s", name, l.Operator, c.Operator, l.sources()))
		}
		heeds := !c.Unbound && !c.Unstated
		if says := strings.Trim(l.Respect, "["); strings.HasPrefix(says, "Yes") && !heeds || strings.HasPrefix(says, "No") && heeds {
			lines = append(lines, fmt.Sprintf("changed  %s: heeds robots.txt: %s: %s", name, l.Respect, l.sources()))
		}
	}
	for _, c := range Set(aiSet) {
		if !has[c.Token] {
			lines = append(lines, fmt.Sprintf("gone     %s: the table has it from %s", c.Token, c.Source))
		}
	}
	return lines
}

// TestCompareList compares a list of crawlers with the table. A list given with -names is only printed:
//
//	go test ./crawlers -run CompareList -v -names $PWD/robots.json
func TestCompareList(t *testing.T) {
	leftOut := map[string]bool{"Left": true}
	for _, line := range dataLines(t, "testdata/left-out.tsv")[1:] {
		name, why, _ := strings.Cut(line, "\t")
		leftOut[name] = true
		if _, ok := Lookup(name); ok || why == "" {
			t.Errorf("%s is in the table, or there is no reason why not: %q", name, why)
		}
	}
	if *listFile != "" {
		text, err := os.ReadFile(*listFile)
		if err != nil {
			t.Fatal(err)
		}
		list, err := parseList(text)
		if err != nil {
			t.Error(err) // values of other types are empty, but the rest is compared
		}
		lines := compareList(list, leftOut)
		t.Logf("%d names, table of %s\n%s", len(list), Date(), strings.Join(lines, "\n"))
	}
	list, err := parseList([]byte(`{
		"Newbot": {"operator": "[New](https://new.example/)", "description": "See https://new.example/bot."},
		"Left": {}, "Claude-Web": {}, "GPTBot/1.0": {"operator": "OpenAI", "respect": "[No](https://o.example)"},
		"ClaudeBot": {"operator": "Acme", "respect": "Yes"}, "ChatGPT-User": {"operator": "Unclear", "respect": "Yes"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"changed  ChatGPT-User: heeds robots.txt: Yes: no source",
		"changed  ClaudeBot: operator Acme in place of Anthropic: no source",
		"changed  GPTBot/1.0: heeds robots.txt: [No](https://o.example): https://o.example",
		"new      Newbot: https://new.example/ https://new.example/bot",
	}
	got := compareList(list, leftOut)
	if n := len(want); !slices.Equal(got[:n], want) || len(got) != n+len(Set(aiSet))-3 || !strings.HasPrefix(got[n], "gone     ") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if plain, err := parseList([]byte("# names\nNewbot\n\nGPTBot\n")); err != nil || len(plain) != 2 {
		t.Errorf("%v, %v", plain, err)
	}
}
