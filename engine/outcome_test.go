package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

const (
	rulesText = "User-agent: *\nDisallow: /private\n"
	otherText = "User-agent: *\nDisallow: /\n"
)

// noon returns the time of noon on the day with this number.
func noon(day int) time.Time { return time.Date(2024, 1, day, 12, 0, 0, 0, time.UTC) }

// storeOf builds a store of responses that have no names.
func storeOf(tb testing.TB, opt StoreOptions, all ...robots.Response) *Store {
	tb.Helper()
	s, err := BuildStore(func(yield func(robots.Response, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// ask returns a short form of the verdict on a URL for each agent.
func ask(s *Store, url string) string {
	b := &Batch{Data: []byte(url), URLs: []Span{{0, uint32(len(url))}}, Lines: []int64{1}}
	s.NewEvaluator().Evaluate(b)
	var text strings.Builder
	for a, v := range b.Verdicts {
		fmt.Fprintf(&text, "%s %s", [...]string{"unknown", "deny", "allow"}[v.Access], v.Reason)
		if v.Rule != NoRule {
			text.WriteString(" " + s.NewLookup().Rule(b.Rulings[0], a, v.Rule).String())
		}
		text.WriteString("; ")
	}
	return text.String()
}

// TestOutcomes checks that the outcome of a fetch decides, with its reason, for every agent.
func TestOutcomes(t *testing.T) {
	all := []robots.Response{
		{Origin: "https://ok.com", Status: 200, Body: []byte(rulesText)},
		{Origin: "https://partial.com", Status: 206, Body: []byte(rulesText)},
		{Origin: "https://gone.com", Status: 404, Body: []byte(otherText)},
		{Origin: "https://down.com", Status: 503, FetchedAt: noon(20)},
		{Origin: "https://lost.com", Error: "no such host", FetchedAt: noon(1)},
		{Origin: "https://loop.com", Status: 302, Location: "/robots.txt"},
		{Origin: "https://moved.com", Status: 301, Location: "https://ok.com/robots.txt"},
		{Origin: "https://nowhere.com", Status: 301, Location: "https://missing.com/robots.txt"},
		{Origin: "https://huge.com", Status: 200, Body: []byte(rulesText), Size: robots.MaxBytes + 1},
		{Origin: "https://later.com", Status: 200, Body: []byte(otherText), FetchedAt: noon(60)},
	}
	for d, want := range map[robots.Dialect]map[string]string{
		robots.RFC9309: {
			"ok": "deny rule Disallow: /private", "partial": "deny rule Disallow: /private", "gone": "allow status_4xx", "down": "deny unreachable",
			"lost": "allow unreachable_expired", "loop": "allow redirect_limit", "moved": "deny rule Disallow: /private",
			"nowhere": "allow status_4xx", "huge": "deny rule Disallow: /private", "later": "allow no_robots", "missing": "allow no_robots",
		},
		robots.Google2010: {"lost": "deny unreachable", "down": "deny unreachable", "huge": "deny rule Disallow: /private"},
		robots.Yandex: {
			"ok": "deny rule Disallow: /private", "partial": "allow status_4xx", "down": "allow unreachable", "lost": "allow unreachable",
			"loop": "allow redirect_limit", "moved": "deny rule Disallow: /private", "huge": "allow too_large",
		},
	} {
		s := storeOf(t, StoreOptions{Dialect: d, Agents: []string{"*", "a"}, AsOf: noon(35)}, all...)
		for host, verdict := range want {
			if got := ask(s, "https://"+host+".com/private"); got != verdict+"; "+verdict+"; " {
				t.Errorf("%v: %s.com: %s, want %s", d, host, got, verdict)
			}
		}
		if s.InForce() != len(all)-1 {
			t.Errorf("%v: %d sites, want all except the one that was fetched later", d, s.InForce())
		}
	}
	s := storeOf(t, StoreOptions{Dialect: robots.RFC9309}, all...)
	for url, want := range map[string]string{
		"https://down.com/robots.txt": "allow robots_txt; ", "https://later.com/": "deny rule Disallow: /; ", "https://down.com/": "deny unreachable; ",
	} {
		if got := ask(s, url); got != want {
			t.Errorf("without a moment: %s: %s, want %s", url, got, want)
		}
	}
}

// TestAsOf checks which of several responses is in force at a time, whatever their order in the input.
func TestAsOf(t *testing.T) {
	all := []robots.Response{
		{Origin: "https://a.com", Status: 200, Body: []byte(rulesText), FetchedAt: noon(3)},
		{Origin: "https://a.com", Status: 200, Body: []byte(otherText), FetchedAt: noon(1)},
		{Origin: "https://a.com", Status: 410, FetchedAt: noon(5)},
	}
	for range 3 {
		all = append(all[1:], all[0])
		for at, want := range map[time.Time]string{
			{}: "allow status_4xx; ", noon(5): "allow status_4xx; ", noon(4): "allow default; ", noon(3): "allow default; ",
			noon(2): "deny rule Disallow: /; ", noon(1).Add(-1): "allow no_robots; ",
		} {
			if got := ask(storeOf(t, StoreOptions{AsOf: at}, all...), "https://a.com/x"); got != want {
				t.Errorf("as of %v: %s, want %s", at, got, want)
			}
		}
	}
}

// TestOutcomesShare checks that only texts in force are counted, and that sites with the same outcome share their rule
// sets.
func TestOutcomesShare(t *testing.T) {
	s := storeOf(t, StoreOptions{},
		robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(rulesText), FetchedAt: noon(1)},
		robots.Response{Origin: "https://a.com", Status: 404, FetchedAt: noon(2)},
		robots.Response{Origin: "https://b.com", Status: 404, FetchedAt: noon(2)},
		robots.Response{Origin: "https://c.com", Status: 200, Body: []byte(otherText), FetchedAt: noon(1)},
		robots.Response{Origin: "https://d.com", Status: 301, Location: "https://c.com/robots.txt", FetchedAt: noon(1)})
	if m := s.Memory(); m.Files != 1 || m.Rules != 1 {
		t.Errorf("the memory is %+v, want that of one file", m)
	}
	if rulingOf(t, s, "https://a.com") != rulingOf(t, s, "https://b.com") || rulingOf(t, s, "https://c.com") != rulingOf(t, s, "https://d.com") {
		t.Error("sites with the same outcome do not share their rules")
	}
}

func TestUndatedTwice(t *testing.T) {
	r := robots.Response{Origin: "https://a.com", Status: 200, Name: "x"}
	_, err := BuildStore(func(yield func(robots.Response, error) bool) {
		for yield(r, nil) { // it yields the same response again and again
		}
	}, StoreOptions{})
	if !errors.Is(err, ErrTwoFiles) {
		t.Errorf("error %v", err)
	}
	target := robots.Response{Origin: "https://a.com", URL: "https://a.com/x", Status: 200}
	if s := storeOf(t, StoreOptions{}, r, target, target); s.NumSites() != 1 {
		t.Errorf("%d sites", s.NumSites())
	}
}

// TestRulesHashOutcomes checks that the hash depends only on what is in force.
func TestRulesHashOutcomes(t *testing.T) {
	ok := robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(rulesText), FetchedAt: noon(9)}
	old := robots.Response{Origin: "https://a.com", Status: 500, FetchedAt: noon(2)}
	gone := robots.Response{Origin: "https://a.com", Status: 404, FetchedAt: noon(9)}
	forbidden := robots.Response{Origin: "https://a.com", Status: 403, FetchedAt: noon(8)}
	down := robots.Response{Origin: "https://a.com", Status: 500, FetchedAt: noon(9)}
	hash := func(all ...robots.Response) string { return storeOf(t, StoreOptions{}, all...).RulesHash() }
	if hash(ok) != hash(old, ok) || hash(gone) != hash(forbidden) {
		t.Error("the same rules are in force, but the hash differs")
	}
	hashes := []string{hash(ok), hash(gone), hash(down), hash()}
	slices.Sort(hashes)
	if len(slices.Compact(hashes)) != 4 {
		t.Error("other rules are in force, but the hash is the same")
	}
}
