package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/robots"
)

// agentNames are names of agents: similar ones, names that robots.txt cannot contain, and names with habits.
var agentNames = []string{
	"*", "Googlebot", "googlebot/2.1", "Googlebot-News", "Googlebot-Image", "AdsBot-Google", "adsbot-google/1",
	"AdsBot-Google-Mobile", "YandexBot", "YandexImages", "Yandex", "GPTBot", "exampibot", "EXAMPIBOT/0.8", "ab", "a-b-c",
	"x_bot.v2", "360Spider", "MJ12bot", "MJ", "archive.org_bot", "Mozilla/5.0", "Chrome", "bot", "Google-Extended",
	strings.Repeat("long", MaxAgentName/4), "\xff",
}

// TestByName compares each row of a store with LogAgentsByName with a store for only that agent.
func TestByName(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { checkByName(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

// checkByName compares rows of generated rules of two origins.
func checkByName(t *testing.T, r *rand.Rand) {
	t.Helper()
	dialects := robots.Dialects()
	d, err := robots.ParseDialect(dialects[r.IntN(len(dialects))])
	if err != nil {
		t.Fatal(err)
	}
	if r.IntN(3) == 0 {
		d |= robots.WideTokens
	}
	var pairs []string
	for i := range 2 {
		var text strings.Builder
		for range r.IntN(7) {
			for range 1 + r.IntN(2) {
				fmt.Fprintf(&text, "User-agent: %s\n", agentNames[r.IntN(len(agentNames))])
			}
			for range r.IntN(3) {
				fmt.Fprintf(&text, "%s: /%c\n", []string{"Disallow", "Allow"}[r.IntN(2)], 'a'+r.IntN(3))
			}
		}
		pairs = append(pairs, fmt.Sprintf("https://site%d.example", i), text.String())
	}
	names := append([]string{}, agentNames...)
	for _, c := range crawlers.Set("all")[:10] {
		names = append(names, c.Token)
	}
	rows := make([]logRow, 200)
	for i := range rows {
		rows[i] = logRow{names[r.IntN(len(names))], fmt.Sprintf("https://site%d.example/%c%d", r.IntN(3), 'a'+r.IntN(4), i%3)}
	}
	var all []robots.Response
	for response, err := range responses(pairs...) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, response)
	}
	pack := makePack(t, d, all...)
	opt := StoreOptions{Dialect: d, LogAgents: LogAgentsByName}
	stores := waysToOpen(t, pack, opt)
	stores["built"] = buildStore(t, opt, pairs...)
	alone := map[string]*Store{} // by agent
	for kind, s := range stores {
		b := logBatch(rows)
		e, c, look := s.NewEvaluator(), newCounter(s, 1), s.NewLookup()
		e.Evaluate(b)
		c.countBatch(b)
		look.Use(b)
		for i, row := range rows {
			if alone[row.userAgent] == nil {
				alone[row.userAgent] = buildStore(t, StoreOptions{Dialect: d, Agents: []string{row.userAgent}}, pairs...)
			}
			want, err := alone[row.userAgent].Verdict(row.url, row.userAgent)
			if err != nil {
				t.Fatal(err)
			}
			got := Answer{Access: b.Verdicts[i].Access, Reason: b.Verdicts[i].Reason}
			if b.Verdicts[i].Rule != NoRule {
				got.Rule = look.Rule(b.Rulings[i], int(b.Agents[i]), b.Verdicts[i].Rule)
			}
			if !sameAnswers(&got, &want) {
				t.Fatalf("%s, %v: %q for %q: %+v, want %+v\n%s", kind, d, row.url, row.userAgent, got, want, pairs)
			}
		}
		if stats := sumCounts([]*counter{c}, newBusiest(s, nil)); stats.Rows != int64(len(rows)) || stats.Violations != 0 {
			t.Errorf("%s: %d rows, %d violations", kind, stats.Rows, stats.Violations)
		}
	}
}

// TestByNameIgnoresStar checks that each crawler that ignores groups for "*" has a unique key, which [clients.named]
// relies on.
func TestByNameIgnoresStar(t *testing.T) {
	seen := 0
	for _, text := range robots.Dialects() {
		d, err := robots.ParseDialect(text)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := newNamerByName(d)
		for _, c := range crawlers.Set("all") {
			if agent := robots.NewAgent(c.Token, d); agent.IgnoresStar {
				seen++
				if n.deafs[agentKey(&agent)] == unknownAgent {
					t.Errorf("%v does not know %s", d, c.Token)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no crawler ignores groups for *")
	}
}

// sameAnswers reports whether two answers are equal except for their Readings, which do not exist for agents by name.
func sameAnswers(a, b *Answer) bool {
	x, y := *a, *b
	x.Readings, y.Readings = [MaxReadings]ReadBy{}, [MaxReadings]ReadBy{}
	return x == y
}
