package robots_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// ofPreferences are the codes of diagnostics about preferences.
var ofPreferences = map[robots.Code]bool{
	"bad_content_usage": true, "unknown_content_usage": true, "bad_content_signal": true, "content_signal_outside_group": true,
	"preference_conflict": true, "preference_disallowed": true, "preference_hidden": true, "missing_colon": true, "unknown_field": true,
}

// TestPreferenceFindings has the text of each diagnostic about preferences, and files without any.
func TestPreferenceFindings(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"capitals", "user-agent: *\ncontent-usage: /a Train-AI=n", "2 a key contains capitals, so the line is invalid and has no effect: write train-ai=n"},
		{"capitals, and more", "user-agent: *\ncontent-usage: Train-AI=n;", "2 it is invalid, so it has no effect: write it as in train-ai=n, search=y"},
		{"a capital value", "user-agent: *\ncontent-usage: train-ai=N", "2 the value of train-ai is neither y nor n, so it has no effect: write train-ai=n"},
		{"no for n", "user-agent: *\ncontent-usage: train-ai=no, search=\"yes\"", "2 the value of train-ai is neither y nor n, so it has no effect: write train-ai=n; " +
			"2 the value of search is neither y nor n, so it has no effect: write search=y"},
		{"no value", "user-agent: *\ncontent-usage: train-ai", "2 the value of train-ai is neither y nor n, so it has no effect"},
		{"capitals in a signal", "user-agent: *\ncontent-signal: AI-Train=NO", ""},
		{"n for no", "user-agent: *\ncontent-signal: ai-train=n, search=Y", `2 "ai-train=n" is dropped: write ai-train=no; 2 "search=Y" is dropped: write search=yes`},
		{"the label of the other", "user-agent: *\ncontent-signal: train-ai=n\ncontent-usage: ai-train=n", `2 "train-ai=n" is dropped: write ai-train=no; 3 ai-train is a key of Content-Signal, and has no effect here`},
		{"another word", "user-agent: *\ncontent-signal: ai-train=maybe", `2 "ai-train=maybe" is dropped: write search, ai-input or ai-train with =yes or =no, or use with a word`},
		{"earlier labels", "user-agent: *\ncontent-usage: bots=n, ai-output=n, tdm=n, robots=n", "2 bots is a label only of draft-ietf-aipref-vocab-03 and 04, and now has no effect; " +
			"2 ai-output is a label only of draft-ietf-aipref-vocab-04, and now has no effect; 2 tdm is a label only of draft-ietf-aipref-vocab-01, and now has no effect; 2 no draft defines the label robots, so it has no effect"},
		{"no colon", "user-agent: *\ncontent-usage train-ai=n", "2 the colon after the key is missing, so the line has no effect"},
		{"misspelt keys", "user-agent: *\ncontent-signals: ai-train=no\nlicence: https://a.example/l", `2 "content-signals" is an unknown key; the line is ignored; did you mean content-signal?; 3 "licence" is an unknown key; the line is ignored; did you mean license?`},
		{"before groups", "content-usage: train-ai=n\ncontent-signal: ai-train=no\nuser-agent: *", "1 no user-agent line precedes it, so it is ignored; 2 no user-agent line precedes it, so it applies only to crawlers whose group has no Content-Signal"},

		{"forbidden", "user-agent: *\ndisallow: /a\ncontent-usage: /a/b train-ai=n\ncontent-usage: /b train-ai=n", "3 its crawlers may not fetch /a/b, so Content-Usage has no effect there"},
		{"all forbidden", "user-agent: *\ndisallow: /\ncontent-usage: train-ai=n", "3 its crawlers may not fetch any page, so Content-Usage has no effect there"},
		{"forbidden by a pattern", "user-agent: *\ndisallow: /*.pdf\nallow: /x\ncontent-usage: /a/*.pdf$ train-ai=n", "4 its crawlers may not fetch /a/*.pdf$, so Content-Usage has no effect there"},
		{"forbidden to one of two", "user-agent: a\nuser-agent: b\ncontent-usage: /a train-ai=n\ndisallow: /a\nuser-agent: b\nallow: /a", ""},
		{"an Allow that wins", "user-agent: *\ndisallow: /a\nallow: /a/b/c\ncontent-usage: /a/b train-ai=n", ""},
		{"an Allow that loses", "user-agent: *\ndisallow: /a/b\nallow: /a\ncontent-usage: /a/b/c train-ai=n", "4 its crawlers may not fetch /a/b/c, so Content-Usage has no effect there"},
		{"an Allow with a *", "user-agent: *\ndisallow: /a\nallow: /*c\ncontent-usage: /a/b train-ai=n", ""},
		{"signals of forbidden pages", "user-agent: *\ndisallow: /\ncontent-signal: ai-train=no", ""},

		{"lines that disagree", "user-agent: *\ncontent-usage: /a train-ai=n\ncontent-usage: /b train-ai=y\ncontent-usage: /a train-ai=y, search=n", "4 line 2 contradicts train-ai for the same paths; the refusal takes precedence"},
		{"signals that disagree", "user-agent: *\ncontent-signal: ai-input=yes\n\nuser-agent: *\ncontent-signal: ai-input=no", "5 line 2 contradicts ai-input for the same paths; the refusal takes precedence"},
		{"of two groups", "user-agent: a\ncontent-usage: train-ai=n\nuser-agent: b\ncontent-usage: train-ai=y", ""},
		{"the two contradict", "user-agent: *\ncontent-usage: /a train-ai=n\ncontent-signal: ai-train=yes, search=yes", "2 Content-Signal in line 3 contradicts train-ai for paths such as /a; the refusal takes precedence"},
		{"of search", "content-signal: search=no\nuser-agent: *\ncontent-usage: search=y", "1 no user-agent line precedes it, so it applies only to crawlers whose group has no Content-Signal; " +
			"3 Content-Signal in line 1 contradicts search for paths such as /; the refusal takes precedence"},
		{"where one may not count", "user-agent: *\ndisallow: /a\ncontent-usage: /a train-ai=n\ncontent-signal: ai-train=yes", "3 its crawlers may not fetch /a, so Content-Usage has no effect there"},
		{"a policy against a line", "user-agent: *\ncontent-usage: /a/b train-ai=y\nallow: /\n\nuser-agent: __usage_ai-training\nallow: /a/b/c\ndisallow: /a", "2 __usage_ai-training in line 7 contradicts train-ai for paths such as /a/b; the refusal takes precedence"},
		{"an Allow of a policy", "user-agent: *\ndisallow: /a\ncontent-signal: ai-train=no\ncontent-usage: train-ai=y, search=n\n\nuser-agent: __usage_ai-training\nallow: /a", "3 __usage_ai-training in line 7 contradicts ai-train for paths such as /a; the refusal takes precedence; " +
			"4 Content-Signal in line 3 contradicts train-ai for paths such as /; the refusal takes precedence"},
		{"a policy of other paths", "user-agent: *\ncontent-signal: /a ai-train=yes\n\nuser-agent: __usage_ai-training\ndisallow: /b", "2 no specification defines a path here; it is read as in Content-Usage"},
		{"they agree", "user-agent: *\ncontent-usage: train-ai=n, search=y\ncontent-signal: ai-train=no, search=yes", ""},

		{"hidden", "user-agent: *\ncontent-signal: ai-train=no\nallow: /\n\nuser-agent: GPTBot\ndisallow: /x", "5 the preferences for * do not bind GPTBot: line 2 Content-Signal: ai-train=no"},
		{"hidden for two", "user-agent: GPTBot\nuser-agent: CCBot\ndisallow: /x\n\nuser-agent: *\ncontent-usage: /a train-ai=n\ncontent-signal: ai-train=no", "1 the preferences for * do not bind GPTBot and another name: line 6 Content-Usage: /a train-ai=n"},
		{"hidden in a family", "user-agent: Googlebot\ncontent-usage: search=n\n\nuser-agent: Googlebot-News\nallow: /", "4 the preferences for Googlebot do not bind Googlebot-News: line 2 Content-Usage: search=n"},
		{"behind the last group", "user-agent: *\nallow: /\n\nuser-agent: GPTBot\ndisallow: /x\n\nsitemap: https://a.example/s\ncontent-signal: ai-train=no", "8 it applies only to GPTBot, because it is in that group: if it is meant for all, put it below User-agent: * and repeat it"},
		{"hidden, but a policy says it", "user-agent: *\ncontent-signal: ai-train=no\nallow: /\n\nuser-agent: GPTBot\ndisallow: /x\n\nuser-agent: __usage_ai-training\ndisallow: /", ""},
		{"hidden, and a policy says a part", "user-agent: *\ncontent-signal: ai-train=no\nallow: /\n\nuser-agent: GPTBot\ndisallow: /x\n\nuser-agent: __usage_ai-training\ndisallow: /x", "5 the preferences for * do not bind GPTBot: line 2 Content-Signal: ai-train=no"},
		{"in a policy group", "user-agent: *\nallow: /\n\nuser-agent: __usage_ai-training\ndisallow: /x\ncontent-signal: ai-train=no\ncontent-usage: train-ai=n", "6 it applies to no crawler, because __usage_ai-training names a use of pages: put Content-Signal into the groups of crawlers, such as the group for *; " +
			"7 it applies to no crawler, because __usage_ai-training names a use of pages: put Content-Usage into the groups of crawlers, such as the group for *"},
		{"in a group of both", "user-agent: GPTBot\nuser-agent: __usage_ai-training\ncontent-signal: ai-train=no\ndisallow: /x", ""},
		{"in the last group", "user-agent: *\nallow: /\n\nuser-agent: GPTBot\ncontent-signal: ai-train=no\ndisallow: /x", ""},
		{"behind *", "user-agent: GPTBot\ndisallow: /\n\nuser-agent: *\nallow: /\n\ncontent-signal: ai-train=no", ""},
		{"closed to it", "user-agent: *\ncontent-signal: ai-train=no\n\nuser-agent: GPTBot\ndisallow: /", ""},
		{"its own", "user-agent: *\ncontent-usage: train-ai=n\n\nuser-agent: GPTBot\ncontent-usage: train-ai=y", ""},
		{"they say nothing", "user-agent: *\ncontent-usage:\n\nuser-agent: GPTBot\nallow: /", ""},
		{"early ones bind all", "user-agent: *\nallow: /\n\nuser-agent: GPTBot\nallow: /", ""},
	} {
		var got []string
		for _, n := range robots.Inspect([]byte(c.body), robots.Google).Diagnostics {
			if ofPreferences[n.Code] {
				got = append(got, fmt.Sprintf("%d %s", n.Line, n.Text))
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestPreferenceFindingsAreTrue compares the diagnostics with the reference, on random files: a line that is reported
// as malformed, outside a group, not absolute or for disallowed pages has no effect in the reference either.
func TestPreferenceFindingsAreTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 5))
	useless, counted := 0, 0
	for range 20_000 {
		d := []robots.Dialect{robots.RFC9309, robots.Google, robots.Google2010, robots.Yandex}[r.IntN(4)]
		body := repcase.RandomPreferences(r)
		found := map[robots.Code]map[int32]bool{}
		for _, n := range robots.Inspect([]byte(body), d).Diagnostics {
			if found[n.Code] == nil {
				found[n.Code] = map[int32]bool{}
			}
			found[n.Code][n.Line] = true
		}
		said := robots.PreferencesOf([]byte(body), d)
		for _, g := range said.Groups {
			for _, u := range g.Bound[robots.ByUsage] {
				if u.Malformed != found["bad_content_usage"][u.Line] || found["content_signal_outside_group"][u.Line] {
					t.Fatalf("%s: line %d of %q: malformed %t, findings %v", d, u.Line, body, u.Malformed, found)
				}
			}
			for _, s := range g.Bound[robots.BySignal] {
				if found["content_signal_outside_group"][s.Line] {
					t.Fatalf("%s: line %d of %q is in a group", d, s.Line, body)
				}
			}
		}
		for _, s := range said.Early[robots.BySignal] {
			if !found["content_signal_outside_group"][s.Line] {
				t.Fatalf("%s: line %d of %q is in no group", d, s.Line, body)
			}
		}
		if l := said.License; found["license_not_absolute"][l.Line] {
			t.Fatalf("%s: line %d of %q is no license", d, l.Line, body)
		}
		useless += len(found["preference_disallowed"])
		file := robots.Parse([]byte(body), d)
		for _, name := range []string{"a", "b", "Googlebot-News", "*"} {
			who := robots.NewAgent(name, d)
			bound := said.Select(who)
			rules, _ := file.Select(who)
			for range 3 {
				path, _ := d.Path([]byte(repcase.RandomPath(r)), nil)
				best := robots.Decide(rules, path, d)
				if best >= 0 && !rules[best].Allow {
					continue
				}
				counted++
				if line := bound.Decide(path, true).Said[robots.ByUsage].Line; found["preference_disallowed"][line] && !d.AlwaysAllowed(path) {
					t.Fatalf("%s: line %d of %q counts for %s of %s", d, line, body, path, name)
				}
			}
		}
	}
	if useless < 100 || counted < 1000 {
		t.Errorf("%d lines of pages that may not be fetched, %d paths that may: too few", useless, counted)
	}
	t.Logf("%d lines of pages that may not be fetched, %d paths that may", useless, counted)
}
