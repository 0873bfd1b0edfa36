package why

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestPreferencesOf shows both winners of a path and all candidates, in their order.
func TestPreferencesOf(t *testing.T) {
	const body = "User-agent: a\nContent-Usage: train-ai=y, search=y\nContent-Usage: /a/ train-ai=n\nContent-Usage: /*x/ search=n\nContent-Usage: /b\n" +
		"Content-Signal: ai-train=yes, search=no\nContent-Signal: /a/ ai-train=no\nLicense: https://a.example/l\nDisallow: /a/no\n"
	said := robots.PreferencesOf([]byte(body), robots.RFC9309)
	for _, c := range []struct {
		agent, path string
		fetched     bool
		want        string
	}{
		{"a", "/a/", true, "train-ai=n @3 | ai-train=no, search=no @6 | https://a.example/l | no no nil; 3 match 3 counts; 2 match 0; 4 stops 3; 5 stops 2; 7 match 3 counts; 6 match 0 counts"},
		{"a", "/", true, "search=y, train-ai=y @2 | ai-train=yes, search=no @6 | https://a.example/l | yes no nil; 2 match 0 counts; 4 stops 3; 3 stops 2; 5 stops 2; 6 match 0 counts; 7 stops 2"},
		{"a", "/b", true, " @5 | ai-train=yes, search=no @6 | https://a.example/l | yes no nil; 5 match 2 counts; 2 match 0; 4 stops 3; 3 stops 2; 6 match 0 counts; 7 stops 2"},
		{"a", "/a/no", false, "nil @0 | ai-train=no, search=no @6 | https://a.example/l | no no nil; 3 match 3; 2 match 0; 4 stops 3; 5 stops 2; 7 match 3 counts; 6 match 0 counts"},
		{"b", "/", true, "nil @0 | nil @0 | https://a.example/l | nil nil nil"},
	} {
		p := PreferencesOf(said, robots.NewAgent(c.agent, robots.RFC9309), []byte(c.path), c.fetched)
		got := fmt.Sprintf("%s @%d | %s @%d | %s | %s %s %s", textOf(p.Usage), p.UsageLine, textOf(p.Signal), p.SignalLine, textOf(p.License), truth(p.TrainAI), truth(p.Search), truth(p.AIInput))
		parts := []string{got}
		for _, l := range p.Lines {
			part := fmt.Sprintf("%d stops %d", l.Line, l.StopsAt)
			if l.Matches {
				part = fmt.Sprintf("%d match %d", l.Line, l.Length)
			}
			if l.Counts {
				part += " counts"
			}
			parts = append(parts, part)
			if (l.Source == robots.BySignal) != strings.HasPrefix(l.Text, "Content-Signal: ") {
				t.Errorf("%+v", l)
			}
		}
		if got = strings.Join(parts, "; "); got != c.want {
			t.Errorf("%s %s:\n%s, want\n%s", c.agent, c.path, got, c.want)
		}
	}
	if p := PreferencesOf(robots.PreferencesOf([]byte("User-agent: a\nDisallow: /"), robots.Google), robots.Agent{}, []byte("/"), true); p != nil {
		t.Errorf("%+v, want nil", p)
	}
}

// textOf returns a text that may be nil.
func textOf(s *string) string {
	if s == nil {
		return "nil"
	}
	return *s
}

// truth returns a truth that may be nil.
func truth(v *bool) string {
	if v == nil {
		return "nil"
	}
	return map[bool]string{true: "yes", false: "no"}[*v]
}
