package flags

import (
	"slices"
	"testing"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/robots"
)

// TestUnclear checks, for a table of names in -agent, which crawlers the warning says may be meant.
func TestUnclear(t *testing.T) {
	named := RuleTokens{[]robots.ProductToken{"AcmeFetcher", "abot", "Gogglebot"}, true}
	for _, c := range []struct{ asked, want string }{
		{"Googelbot", "Googlebot"},
		{"googelbot/2.1", "Googlebot"},
		{"Googlbot", "Googlebot"},
		{"Google-bot", "Googlebot"},
		{"GTPBot", "GPTBot"},
		{"GPT-Bot", "GPTBot"},
		{"GPTBott", "GPTBot"},
		{"BingBto", "bingbot"},
		{"ClaudBot", "ClaudeBot"},
		{"MJ12bto", "MJ12bot"},
		{"AcmeFetchr", "AcmeFetcher"},
		{"acme-fetcher", "AcmeFetcher"},
		{"Gogglebot", ""}, // the rules name it
		{"AcmeFetcher", ""},
		{"ACMEFETCHER/1.0", ""},
		{"MJ12bot", ""}, // its token MJ is another name
		{"archive.org_bot", ""},
		{"*", ""},
		{"007", ""},
		{"a", ""},
		{"b", ""},
		{"bot", ""},
		{"mybot", ""},
		{"otherbot", ""},
		{"examplebot", ""},
		{"ABot2", ""},
		{"dbot", ""}, // short names are alike by chance
		{"msnbot", ""},
		{"discobot", ""},
		{"Roverbot", ""},
		{"Googlebot-Mobile", ""},
	} {
		got := UnclearAgents([]string{c.asked}, robots.Google, named)
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %v", c.asked, got)
		case c.want != "" && (len(got) != 1 || got[0].Count != 1 || got[0].Examples[0] != `"`+c.asked+`": did you mean `+c.want+"?"):
			t.Errorf("%s: %v, want %s", c.asked, got, c.want)
		}
	}
	all := UnclearAgents([]string{"Googelbot", "b", "GTPBot", "bimgbot", "Ahrefsbt"}, robots.Google, RuleTokens{})
	if len(all) != 1 || all[0].Count != 4 || len(all[0].Examples) != 3 || all[0].Text != "a crawler name may be misspelt: it is not in the list of known crawlers" {
		t.Errorf("%v", all)
	}
}

// TestUnclearKnown checks that no known crawler is reported as a misspelling of another one, in any dialect, whether
// it is named by its product token or by its name in the User-Agent header.
func TestUnclearKnown(t *testing.T) {
	for _, c := range crawlers.Set("all") {
		for _, name := range append(slices.Clone(c.Names), c.Token, c.Token+"/1.0") {
			for _, d := range []robots.Dialect{robots.RFC9309, robots.Google, robots.Yandex | robots.WideTokens} {
				if got := UnclearAgents([]string{name}, d, RuleTokens{Complete: true}); len(got) > 0 {
					t.Errorf("%s: %v", name, got)
				}
			}
		}
	}
}
