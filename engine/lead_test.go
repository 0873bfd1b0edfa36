package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// leadTexts are robots.txt files. With the first, each row may follow a lead; with the second, only rows that no
// wildcard can match; with the third, none. The last has no rules.
var leadTexts = []string{
	"User-agent: *\nDisallow: /shop/cart\nAllow: /shop/cart/help\nDisallow: /%C3%A9\nDisallow: /rob\nDisallow: /exactly$\nDisallow: /A\nDisallow: /!\n",
	"User-agent: *\nDisallow: /a\nDisallow: /shop/*sale\nAllow: /shop\n\nUser-agent: b\nDisallow: /shop/x\nDisallow: /robots.txt\n",
	"User-agent: *\nDisallow: /*x\nAllow: /a\n\nUser-agent: b\nDisallow: /\n",
	"",
}

// leadPaths returns the text after the origin of URLs. Many have a common beginning, some are in normal form, and some
// have no path.
func leadPaths(rng *rand.Rand, n int) []string {
	heads := []string{"", "/", "/shop/", "/shop/cart", "/a", "/exactly", "/robots.txt", "/robots", "/%C3%A9", "/\xc3\xa9", "/%", "/%4", "/%2", "?", "#", "/shop/%78"}
	stock := []string{"a", "x", "/", "1", "%41", "1", "F", "%c3%a9", "%", "?", "#", "sale", "/help", "é", "long-enough-for-two-words"}
	paths := make([]string, n)
	head := ""
	for i := range paths {
		if rng.IntN(6) == 0 {
			head = heads[rng.IntN(len(heads))]
		}
		paths[i] = head
		for range rng.IntN(4) {
			paths[i] += stock[rng.IntN(len(stock))]
		}
	}
	return paths
}

// TestLeads checks that rows in batches, where they may follow a lead, have the same verdicts as alone: in all
// dialects, for one agent and for two, from memory and from packs with limits.
func TestLeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 2))
	led := 0
	for _, d := range []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex, robots.Google | robots.URLAsIs} {
		var all []robots.Response
		for i, text := range leadTexts {
			all = append(all, robots.Response{Origin: robots.Origin(fmt.Sprintf("https://%d.com", i)), Status: 200, Body: []byte(text)})
		}
		name := makePack(t, d, all...)
		for _, agents := range [][]string{{"*"}, {"*", "b"}} {
			opt := StoreOptions{Dialect: d, Agents: agents}
			stores := waysToOpen(t, name, opt)
			stores["memory"] = storeOf(t, opt, all...)
			for how, s := range stores {
				e := s.NewEvaluator()
				for range 3 {
					b := &Batch{}
					site := 0
					for i, path := range leadPaths(rng, 300) {
						if i%40 == 0 {
							site = rng.IntN(len(leadTexts) + 1) // the last has no rules
						}
						appendRow(b, fmt.Sprintf("https://%d.com%s", site, path), int64(i+1))
					}
					e.Evaluate(b)
					if e.lead.ruling != rules.NoRuling {
						led++
					}
					for i := range b.Len() {
						if got, want := describe(s, b, i), evaluateAlone(s, b.URL(i)); got != want {
							t.Fatalf("%s, %s, agents %q: %q gives %s among others, but %s alone", d, how, agents, b.URL(i), got, want)
						}
					}
				}
			}
		}
	}
	if led == 0 {
		t.Error("no batch ended with a lead")
	}
}

// TestLeadsOfLog is TestLeads for the agents of a log: a row does not lead a row of another crawler.
func TestLeadsOfLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 3))
	text := "User-agent: GPTBot\nDisallow: /shop/\nUser-agent: *\nDisallow: /shop/cart\n"
	s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, "https://a.com", text)
	var rows []logRow
	for _, path := range leadPaths(rng, 3000) {
		rows = append(rows, logRow{[]string{gptHeader, googleHeader, browserHeader, ""}[rng.IntN(4)], "https://a.com" + path})
	}
	b := logBatch(rows)
	s.NewEvaluator().Evaluate(b)
	got := describeLog(s, b)
	for i, row := range rows {
		alone := logBatch([]logRow{row})
		s.NewEvaluator().Evaluate(alone)
		_, have, _ := strings.Cut(got[i], " ")
		if _, want, _ := strings.Cut(describeLog(s, alone)[0], " "); have != want {
			t.Fatalf("%q among others: %s, alone: %s", row, have, want)
		}
	}
}

// TestLeadEnds checks that the text after a URL in the batch, here "Mozilla", is not part of it: the row before leads
// all paths that begin with "/Moz".
func TestLeadEnds(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, "https://a.com", "User-agent: *\nDisallow: /M\nAllow: /Mos\n")
	b := logBatch([]logRow{{browserHeader, "https://a.com/Mozart"}, {browserHeader, "https://a.com/"}, {browserHeader, "https://a.com/Mozzarella"}})
	e := s.NewEvaluator()
	e.Evaluate(b)
	if got := string(e.lead.head); got != "/Moz" {
		t.Errorf("the lead is %q", got)
	}
	want := []string{"1 * deny 2 null", "2 * allow 0 null", "3 * deny 2 null"}
	if got := describeLog(s, b); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
