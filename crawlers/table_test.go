package crawlers

import (
	"strings"
	"testing"
	"time"
)

// The table is whole: tokens and names are unique, sources are URLs, dates are dates, and a
// fallback is in the table.
func TestTable(t *testing.T) {
	tokens, names := map[string]bool{}, map[string]bool{}
	for _, c := range table {
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
		if _, ok := Lookup(c.Fallback); c.Fallback != "" && !ok {
			t.Errorf("%s falls back to %s, which is unknown", c.Token, c.Fallback)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for _, row := range []string{
		"A\tB\tsearch\tA\t-\thttp://x",
		"A\tB\tsearch\tA\t-\thttp://x\t-\t-",
		"A\tB\tspying\tA\t-\thttp://x\t-",
		"A\tB\tsearch\tA\tshy\thttp://x\t-",
		"A\t\tsearch\tA\t-\thttp://x\t-",
	} {
		if _, err := parse("# head\n" + row); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", row, err)
		}
	}
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
	if len(Set("all")) != len(table) {
		t.Errorf("%d of %d crawlers", len(Set("all")), len(table))
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
		if !ok || !crawler.in(c.set) {
			t.Errorf("%s is not in %s", c.token, c.set)
		}
	}
}

func TestLookup(t *testing.T) {
	c, ok := Lookup("adsbot-GOOGLE")
	if !ok || c.Token != "AdsBot-Google" || !c.IgnoresStar {
		t.Errorf("%+v, %t", c, ok)
	}
	if c, _ := Lookup("Googlebot-Image"); !c.IgnoresDelay() {
		t.Error("Google reads no Crawl-delay")
	}
	if c, _ := Lookup("bingbot"); c.IgnoresDelay() {
		t.Error("Bing reads Crawl-delay")
	}
	if c, _ := Lookup("Applebot"); c.Fallback != "Googlebot" || c.IgnoresStar {
		t.Errorf("%+v", c)
	}
	if c, _ := Lookup("Applebot-Extended"); len(c.Names) != 0 {
		t.Errorf("%+v", c)
	}
	if c, _ := Lookup("ChatGPT-User"); !c.Unbound {
		t.Errorf("%+v", c)
	}
	if _, ok := Lookup("nobody"); ok {
		t.Error("nobody is known")
	}
}
