package explain

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestRead parses lines of each form, and checks that the error about a fault names its line.
func TestRead(t *testing.T) {
	f, err := parseExpectations(strings.NewReader("\ufeff# robots\n\nallow Googlebot,bingbot / # all\r\n\tdisallow *  /a#b rule=12\nwaive all_closed\n"), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Lines) != 2 || f.Waivers[AllClosed] != 5 || f.Name != "x" {
		t.Fatalf("%+v", f)
	}
	if l := f.Lines[0]; l.Num != 3 || !l.Allow || l.URL != "/" || l.Rule != 0 || !slices.Equal(l.Agents, []string{"Googlebot", "bingbot"}) {
		t.Errorf("%+v", l)
	}
	if l := f.Lines[1]; l.Num != 4 || l.Allow || l.URL != "/a#b" || l.Rule != 12 || !slices.Equal(l.Agents, []string{"*"}) {
		t.Errorf("%+v", l)
	}
	for text, want := range map[string]string{
		"":                             "x: contains no expectations",
		"# nothing\n":                  "x: contains no expectations",
		"allow Googlebot":              "x:1: \"allow Googlebot\": write allow or disallow, crawlers, and a path or URL",
		"\nmay Googlebot /":            "x:2: \"may Googlebot /\": begin each line with allow, disallow, usage or waive",
		"usage GPTBot /":               "x:1: \"usage GPTBot /\": write usage, crawlers, a path or URL, and uses",
		"usage GPTBot / train-ai=no":   "x:1: \"train-ai=no\": write one of train-ai, search, ai-input, =, and one of y, n, unknown",
		"usage GPTBot / ai-train=n":    "x:1: \"ai-train=n\": write one of train-ai",
		"usage a / search=y,search=n":  "x:1: search comes twice",
		"usage a / search=y rule=1":    "x:1: \"usage a / search=y rule=1\": write usage",
		"waive none":                   "x:1: \"waive none\": write waive and one of all_closed, no_robots, odd_robots",
		"allow Googlebot / rule=0":     "x:1: \"rule=0\": after the URL, write rule=",
		"allow Googlebot / line=1":     "x:1: \"line=1\": after the URL, write rule=",
		"allow @nosuch /":              "x:1: unknown set \"@nosuch\"",
		"allow a / rule=1 x":           "x:1: \"allow a / rule=1 x\": write allow or disallow",
		"allow a /\nbad\nallow b\n":    "x:2: \"bad\"",
		"allow a /" + "\u00a0" + "b c": "x:1: \"c\": after the URL",
	} {
		if _, err := parseExpectations(strings.NewReader(text), "x", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestJudge checks which answers pass, and how each output form shows failures.
func TestJudge(t *testing.T) {
	yes, no := true, false
	answer := func(allowed *bool, reason string, line int32) *Answer {
		a := &Answer{URL: "https://a.example/p", Agent: "Googlebot"}
		a.Allowed, a.Reason, a.RuleLine = allowed, reason, line
		return a
	}
	f := &expectations{Name: "x"}
	var failed []result
	for _, c := range []struct {
		line expectation
		a    *Answer
		want bool
	}{
		{expectation{Num: 1, Allow: true}, answer(&yes, "default", 0), true},
		{expectation{Num: 2}, answer(&no, "rule", 3), true},
		{expectation{Num: 3, Rule: 3}, answer(&no, "rule", 3), true},
		{expectation{Num: 4, Rule: 2}, answer(&no, "rule", 3), false},
		{expectation{Num: 5}, answer(&yes, "rule", 3), false},
		{expectation{Num: 6, Allow: true}, answer(nil, "bad_url", 0), false},
		{expectation{Num: 7, Allow: true}, answer(&yes, "undefined", 0), false},
	} {
		r := f.Judge(&c.line, c.a)
		if r.Pass != c.want || r.Line != c.line.Num {
			t.Errorf("line %d: %+v", c.line.Num, r)
		}
		if !r.Pass {
			failed = append(failed, r)
		}
	}
	if !strings.Contains(failed[0].Text, "(expected: line 2)") || strings.Contains(failed[1].Text, "(expected: ") {
		t.Errorf("%q, %q", failed[0].Text, failed[1].Text)
	}
	other := f.Judge(&expectation{Num: 5}, answer(&yes, "rule", 3))
	other.Agent = "bingbot"
	failed = append(failed, other, f.NewProblem(NoRobots, "none"))
	for form, want := range map[string][]string{
		"text": {
			"FAILED  x:4  disallow Googlebot https://a.example/p", "FAILED  x:5  disallow 2 crawlers https://a.example/p\n        Googlebot, bingbot\n",
			"FAILED  x:6  allow Googlebot", "FAILED  no_robots", "6 checks, 6 failed",
		},
		"json":   {`"line":4,"expect":"disallow","want_rule":2,"pass":false`, `"agent":"bingbot"`, `"problem":"no_robots"`},
		"junit":  {`failures="6"`},
		"github": {"::error file=x,line=4,", "::error file=x,title="},
	} {
		var out bytes.Buffer
		if err := printResults(&out, form, false, failed); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s has no %s:\n%s", form, part, out.String())
			}
		}
	}
}
