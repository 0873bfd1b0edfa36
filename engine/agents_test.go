package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/robots"
)

// Habits: AdsBot-Google ignores groups for "*", and Applebot obeys Googlebot's group.
func TestHabits(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, Agents: []string{"AdsBot-Google", "Applebot", "GPTBot"}},
		"https://a.com", "User-agent: *\nDisallow: /\n", "https://b.com", "User-agent: googlebot\nDisallow: /x\n\nUser-agent: adsbot-google\nDisallow: /\n")
	evaluateCases(t, s, [][2]string{
		{"https://a.com/", "https://a.com | allow no_group | deny rule 2 Disallow: / | deny rule 2 Disallow: /"},
		{"https://b.com/x", "https://b.com | deny rule 5 Disallow: / | deny rule 2 Disallow: /x | allow no_group"},
	})
}

// TestAgents checks that agents share a rule set if and only if the same groups bind them, as Firsts says.
func TestSharedRulesets(t *testing.T) {
	const text = "User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: c\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\n\nUser-agent: a\nDisallow: /z\n"
	s := buildStore(t, StoreOptions{Agents: []string{"x", "a", "b", "y", "A", "c", "*"}}, "https://a.com", text)
	r := rulingOf(t, s, "https://a.com")
	if got, want := r.Firsts, []uint16{0, 1, 2, 0, 1, 5, 0}; !slices.Equal(got, want) {
		t.Errorf("firsts %v, want %v", got, want)
	}
	for a, first := range r.Firsts {
		if r.Sets[a] != r.Sets[first] {
			t.Errorf("agent %d does not have the rules of agent %d", a, first)
		}
	}
}

// Many agents at once have the same verdicts as each of them alone, and the sum of their counts.
func TestManyAgents(t *testing.T) {
	names := []string{"*", "Googlebot", "Googlebot-Image", "bingbot", "GPTBot", "AdsBot-Google", "Applebot", "Googlebot-Image"}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		body := randomGroups(rng, names)
		together := buildStore(t, StoreOptions{Dialect: robots.Google, Agents: names}, "https://a.com", body)
		b := newBatch("https://a.com/a", "https://a.com/b", "https://a.com/ab", "https://b.com/a", "nonsense")
		together.NewEvaluator().Evaluate(b)
		c := newCounter(together, 1)
		c.countBatch(b)
		sum := Stats{}
		for a, name := range names {
			alone := buildStore(t, StoreOptions{Dialect: robots.Google, Agents: []string{name}}, "https://a.com", body)
			one := newBatch("https://a.com/a", "https://a.com/b", "https://a.com/ab", "https://b.com/a", "nonsense")
			alone.NewEvaluator().Evaluate(one)
			for i, v := range one.Verdicts {
				if got := b.Verdicts[i*len(names)+a]; got != v {
					t.Fatalf("%s on row %d: %v together, %v alone, by\n%s", name, i, got, v, body)
				}
			}
			counter := newCounter(alone, 1)
			counter.countBatch(one)
			sum.RuleLines += counter.stats.RuleLines
			sum.Denied += counter.stats.Denied
			sum.Rows += counter.stats.Rows
			for r, n := range counter.stats.Reasons {
				sum.Reasons[r] += n
			}
		}
		if got := c.stats; got.RuleLines != sum.RuleLines || got.Denied != sum.Denied || got.Rows != sum.Rows || got.Reasons != sum.Reasons {
			t.Fatalf("counts %+v together, %+v alone, by\n%s", got, sum, body)
		}
	}
}

// randomGroups generates a robots.txt with several groups, some of which name several agents.
func randomGroups(rng *rand.Rand, names []string) string {
	var sb strings.Builder
	for range rng.IntN(5) {
		for range 1 + rng.IntN(2) {
			sb.WriteString("User-agent: " + names[rng.IntN(len(names))] + "\n")
		}
		for range rng.IntN(3) {
			sb.WriteString([]string{"Allow", "Disallow"}[rng.IntN(2)] + ": /" + []string{"", "a", "b", "*b"}[rng.IntN(4)] + "\n")
		}
	}
	return sb.String()
}

// A Store for the agents of the log has all known crawlers, and one verdict per row.
func TestLogAgentsStore(t *testing.T) {
	s := buildStore(t, StoreOptions{LogAgents: LogAgentsStar, Agents: []string{"ignored"}}, "https://a.com", "User-agent: *\nDisallow: /\n")
	if names := s.Options().Agents; len(names) != 1+len(crawlers.Set("all")) || names[0] != "*" || names[1] != "Googlebot" {
		t.Errorf("agents %q", names)
	}
	if s.agentsPerURL() != 1 || s.Options().LogAgents != LogAgentsStar {
		t.Errorf("%d verdicts per URL, %d", s.agentsPerURL(), s.Options().LogAgents)
	}
	if m := s.Memory(); m.Rules != 1 {
		t.Errorf("%d rules in force of one", m.Rules)
	}
}
