package crawlers

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTable checks that tokens and names are unique, that sources are URLs and dates are dates, and that each fallback
// is in the table.
func TestTable(t *testing.T) {
	tokens, names := map[string]bool{}, map[string]bool{}
	for _, c := range known.all {
		if key := strings.ToLower(c.Token); tokens[key] {
			t.Errorf("%s is there twice", c.Token)
		} else {
			tokens[key] = true
		}
		for _, name := range c.Names {
			if key := strings.ToLower(name); names[key] {
				t.Errorf("the name %s is there twice", name)
			} else {
				names[key] = true
			}
		}
		if strings.ContainsAny(c.Token, " \t,@*") {
			t.Errorf("%q is no token", c.Token)
		}
		if !strings.HasPrefix(c.Source, "http") {
			t.Errorf("%s: source %q", c.Token, c.Source)
		}
		if _, err := time.Parse(time.DateOnly, c.Checked); c.Checked != "" && err != nil {
			t.Errorf("%s: %v", c.Token, err)
		}
		for _, other := range []string{c.AliasOf, c.Fallback} {
			if o, ok := Lookup(other); other != "" && (!ok || o.AliasOf != "") {
				t.Errorf("%s falls back to %s, which is unknown, or an alias itself", c.Token, other)
			}
		}
	}
}

// TestParseRejects checks that errors contain the line and column of each fault.
func TestParseRejects(t *testing.T) {
	const head = "# a comment\ntoken\toperator\tpurposes\tnames\thabits\tsource\tchecked\n"
	for _, c := range []struct{ text, want string }{
		{"", "f.tsv has no crawler"},
		{"# nothing\n", "f.tsv has no crawler"},
		{"token\n", "f.tsv has no crawler"},
		{"Examplebot\tMe\n", `f.tsv, line 1: unknown column "Examplebot": name columns in the first line`},
		{"operator\nMe\n", "f.tsv, line 1: missing column token"},
		{"token\ttoken\nA\tB\n", "f.tsv, line 1, column token: duplicate column"},
		{"token operator\nA B\n", `f.tsv, line 1: unknown column "token operator"`},
		{head + "A\tB\tsearch\tA\t-\thttp://x", "f.tsv, line 3: 6 fields instead of 7"},
		{head + "A\tB\tsearch\tA\t-\thttp://x\t-\t-", "f.tsv, line 3: 8 fields instead of 7"},
		{head + "A\tB\tspying\tA\t-\thttp://x\t-", `f.tsv, line 3, column purposes: unknown purpose "spying"`},
		{head + "A\tB\tsearch\tA\tshy\thttp://x\t-", `f.tsv, line 3, column habits: unknown habit "shy"`},
		{head + "A\tB\tsearch\tA\t-\thttp://x\tnever", `f.tsv, line 3, column checked: invalid day "never"`},
		{head + "A\tB\tsearch\tA|+\t-\thttp://x\t-", `f.tsv, line 3, column names: invalid User-Agent name "+"`},
		{head + "A\tB\tsearch\tChrome\t-\thttp://x\t-", `f.tsv, line 3, column names: "Chrome" is sent by browsers`},
		{"token\nFirefox\n", `f.tsv, line 2, column token: "Firefox" is sent by browsers`},
		{"token\toperator\n\tMe\n", `f.tsv, line 2, column token: "" is not a product token`},
		{"token\nmy bot\n", `f.tsv, line 2, column token: "my bot" is not a product token`},
		{"token\nA\n\na\n", `f.tsv, line 4, column token: "a" is already in line 2`},
		{"token\tnames\nA\tx|y\nB\tY\n", `f.tsv, line 3, column names: "Y" is already in line 2`},
		{"token\na\xff\n", `f.tsv, line 2, column token: "a\xff" is not printable UTF-8 text`},
		{"token\nourbot\nb\x1b[2J\n", `f.tsv, line 3, column token: "b\x1b[2J" is not printable UTF-8 text`},
	} {
		if _, err := parseTable("f.tsv", c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	_, err := parseTable("f.tsv", "token\thabits\nmy bot\tshy\nB\tshy\n"+strings.Repeat("x\n", 100))
	if n := strings.Count(err.Error(), "\n") + 1; n != maxFaults || !strings.Contains(err.Error(), "line 3, column habits") {
		t.Errorf("%d faults: %v", n, err)
	}
}

// TestAdd adds crawlers from a file with columns in any order, which also replace crawlers of the table.
func TestAdd(t *testing.T) {
	before := known
	defer func() { known = before }()
	err := Add("own.tsv", []byte("\ufeff# ours\r\nnames\ttoken\thabits\r\n\tExamplebot\tfallback=GPTBot,unbound\r\nmsnbot|Old Bot\tOldbot\talias=Examplebot\r\n-\tGPTBot\tnostar\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"Mozilla/5.0 (compatible; ExampleBot/2)": "Examplebot",
		"msnbot/2.0b":                            "Oldbot",
		"old bot":                                "Oldbot",
		"bingbot/2.0":                            "bingbot",
		"GPTBot/1.0":                             "", // a switch now
	} {
		if c, _ := Identify([]byte(header)); c.Token != want {
			t.Errorf("%s is %q, want %q", header, c.Token, want)
		}
	}
	if c, ok := Lookup("examplebot"); !ok || c.Fallback != "GPTBot" || !c.Unbound || c.Operator != "" || !c.isIn(other) {
		t.Errorf("%+v", c)
	}
	if c, _ := Lookup("Oldbot"); c.AliasOf != "Examplebot" || c.Fallback != "" {
		t.Errorf("%+v", c)
	}
	if c, _ := Lookup("GPTBot"); !c.IgnoresStar || c.isIn("ai") || len(Set("all")) != len(before.all)+2 {
		t.Errorf("%+v, %d crawlers", c, len(Set("all")))
	}
	now := known
	for text, want := range map[string]string{
		"token\thabits\nA\tfallback=Nobody\n":        "own.tsv: A falls back to Nobody, which is not a known crawler",
		"token\thabits\nA\talias=Nobody\n":           "own.tsv: A falls back to Nobody, which is not a known crawler",
		"token\thabits\nA\tfallback=B\nC\talias=D\n": "own.tsv: A falls back to B, which is not a known crawler\nown.tsv: C falls back to D",
		"token\n__Usage_ai-training\nA B\n":          "own.tsv, line 2, column token: \"__Usage_ai-training\" names a use of pages, not a crawler: delete the line\nown.tsv, line 3",
		"token\n" + manyTokens(maxCrawlers-50) + "b": "own.tsv: too many crawlers: 4047",
	} {
		if err := Add("own.tsv", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) || known != now {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// manyTokens returns this number of lines with a token each.
func manyTokens(n int) string {
	var sb strings.Builder
	for i := range n {
		fmt.Fprintf(&sb, "bot%d\n", i)
	}
	return sb.String()
}

func TestSets(t *testing.T) {
	for _, name := range Sets() {
		if len(Set(name)) == 0 {
			t.Errorf("the set %s is empty", name)
		}
	}
	if Set("nonsense") != nil || Set("") != nil {
		t.Error("there are sets without a name")
	}
	if got := len(Set("ai-training")) + len(Set("ai-search")) + len(Set("ai-assistant")); got != len(Set("ai")) {
		t.Errorf("%d crawlers of three kinds, %d in the set ai", got, len(Set("ai")))
	}
	if len(Set("all")) != len(known.all) {
		t.Errorf("%d of %d crawlers", len(Set("all")), len(known.all))
	}
	for _, c := range []struct{ set, token string }{
		{"search", "Googlebot"},
		{"search", "bingbot"},
		{"ai", "GPTBot"},
		{"ai", "Claude-User"},
		{"ai-training", "CCBot"},
		{"archive", "CCBot"},
		{"ai-training", "Applebot-Extended"},
		{"ads", "AdsBot-Google"},
		{"seo", "MJ12bot"},
	} {
		crawler, ok := Lookup(c.token)
		if !ok || !crawler.isIn(c.set) {
			t.Errorf("%s is not in %s", c.token, c.set)
		}
	}
}

func TestLookup(t *testing.T) {
	c, ok := Lookup("adsbot-GOOGLE")
	if !ok || c.Token != "AdsBot-Google" || !c.IgnoresStar {
		t.Errorf("%+v, %t", c, ok)
	}
	if c, _ := Lookup("bingbot"); !c.InheritsDelay() {
		t.Error("Bing reads the Crawl-delay of * beside a group of its own")
	}
	if c, _ := Lookup("Applebot"); c.Fallback != "Googlebot" || c.IgnoresStar {
		t.Errorf("%+v", c)
	}
	if c, _ := Lookup("Applebot-Extended"); len(c.Names) != 0 {
		t.Errorf("%+v", c)
	}
	for token, want := range map[string]string{
		"ChatGPT-User": "no", "Google-Safety": "no", "GoogleProducer": "no", "Google-Pinpoint": "no",
		"facebookexternalhit": "unknown", "facebookcatalog": "unknown", "WhatsApp": "unknown",
		"OAI-AdsBot": "yes", "Googlebot": "yes",
	} {
		got := "yes"
		c, _ := Lookup(token)
		if c.Unbound {
			got = "no"
		} else if c.Unstated {
			got = "unknown"
		}
		if got != want || c.Checked == "" {
			t.Errorf("%s: bound %s, checked %q, want %s", token, got, c.Checked, want)
		}
	}
	if _, ok := Lookup("nobody"); ok {
		t.Error("nobody is known")
	}
}
