package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/robots"
)

// planted returns ten days of requests with known conduct: GPTBot reads robots.txt and ignores it, ClaudeBot never
// requests it, bingbot requests it once and violates nothing.
func planted() (all []fetch) {
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	add := func(hour int, path, agent string, status int64) {
		all = append(all, fetch{url: "https://a.example" + path, userAgent: agent, at: begin.Add(time.Duration(hour) * time.Hour).UnixMicro(), status: status})
	}
	for hour := range 240 {
		add(hour, "/", "Mozilla/5.0 (X11) Firefox/140.0", 200)
		switch {
		case hour%48 == 1:
			add(hour, "/robots.txt", "GPTBot/1.2", 200)
		case hour%8 == 2:
			add(hour, fmt.Sprint("/private/", hour), "GPTBot/1.2", 200)
		case hour > 48 && hour%8 == 3:
			add(hour, fmt.Sprint("/private/", hour), "ClaudeBot/1.0", 200)
		case hour == 100:
			add(hour, "/robots.txt", "bingbot/2.0", 304)
		}
	}
	return all
}

// TestConduct checks that the page has the numbers of package conduct if the log has status codes, and that the first
// finding about violations uses them.
func TestConduct(t *testing.T) {
	rules := map[robots.Origin]string{"https://a.example": "User-agent: *\nDisallow: /private\n"}
	q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar, Evidence: true}, workers: 1}
	c, stats := counted(t, rules, planted(), q)
	v := c.newView(&Run{Stats: stats})
	var got []string
	for _, r := range v.Conduct.Rows {
		got = append(got, fmt.Sprintf("%s asked %d, %s; disallowed %d, knew %d, never asked %d, broke %d", r.Agent, r.Robots, r.Apart(), r.Disallowed, r.Knew(), r.NeverAsked(), r.Broke[conduct.NeverAsked]))
	}
	want := []string{
		"GPTBot asked 5, at most 2 days apart; disallowed 30, knew 30, never asked 0, broke 0",
		"ClaudeBot asked 0, ; disallowed 24, knew 0, never asked 24, broke 24",
		"bingbot asked 1, ; disallowed 0, knew 0, never asked 0, broke 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if r := v.Conduct.Rows[0]; strings.Count(r.Answered, "M") != 5 || strings.Count(r.Violating, "M") != 30 || r.Changed != "" || len(r.Bars) != 1 || r.Bars[0].Class != "knew" {
		t.Errorf("GPTBot has the line %+v", r)
	}
	if sum := v.Conduct.Sum; sum == nil || sum.Disallowed != 54 || sum.Robots != 6 || len(sum.Bars) != 2 {
		t.Errorf("the sum is %+v", sum)
	}
	d, err := c.Diagnose(&Run{Stats: stats})
	if err != nil || len(d.Findings) == 0 || d.Findings[0].Code != diagnose.RulesIgnored || d.Findings[0].Requests != 30 || v.PartOf(diagnose.RulesIgnored).ID != "conduct" {
		t.Errorf("found are %+v, %v", d.Findings, err)
	}

	silent := planted()
	for i := range silent {
		if strings.HasSuffix(silent[i].url, "robots.txt") {
			silent[i].status = 0
		}
	}
	c, stats = counted(t, rules, silent, q)
	if v := c.newView(&Run{Stats: stats}); v.Conduct != nil {
		t.Errorf("without status codes, the panel is %+v", v.Conduct)
	}
}

// TestUnjudged checks that conduct is evaluated only if the rules are not a draft and there is enough memory, and
// that the diagnosis says so if not.
func TestUnjudged(t *testing.T) {
	rules := map[robots.Origin]string{"https://a.example": "User-agent: *\nDisallow: /private\n"}
	for i, q := range []question{
		{StoreOptions: engine.StoreOptions{Evidence: true}},
		{},
		{StoreOptions: engine.StoreOptions{Evidence: true}, Options: Options{Conduct: 1000}},
	} {
		q.Dialect, q.LogAgents, q.workers = robots.Google, engine.LogAgentsStar, 1
		c, stats := counted(t, rules, planted(), q)
		v := c.newView(&Run{Stats: stats})
		d, err := c.Diagnose(&Run{Stats: stats})
		unchecked := slices.ContainsFunc(d.Unchecked, func(u diagnose.Unchecked) bool { return slices.Contains(u.Codes, diagnose.DelayIgnored) })
		if err != nil || unchecked != (i > 0) || (v.Conduct == nil) != (i > 0) {
			t.Errorf("%d: unchecked are %+v, %v", i, d.Unchecked, err)
		}
	}
}
