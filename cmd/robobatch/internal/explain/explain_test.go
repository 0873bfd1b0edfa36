package explain

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/internal/repcase"
	"github.com/robobatch/robobatch/robots"
)

// agents are crawlers to ask for: named often, by families, and never.
var agents = []string{"*", "Googlebot", "Googlebot-Image", "AdsBot-Google", "bingbot", "YandexImages", "GPTBot", "AhrefsBot", "x"}

// TestEngine compares answers for random URLs of the quick start, and of the collection where it is
// there, with the verdicts of package engine, in all dialects.
func TestEngine(t *testing.T) {
	t.Run("quickstart", func(t *testing.T) {
		compare(t, filepath.Join(repcase.Dir(t), "..", "quickstart", "rules"), 500)
	})
	t.Run("collection", func(t *testing.T) {
		if testing.Short() {
			t.Skip("10,000 answers from the collection take 30 s of processor time, so not with -short")
		}
		compare(t, repcase.Collection(t), 10_000)
	})
}

// compare makes the comparisons with the rules of a directory.
func compare(t *testing.T, dir string, samples int) {
	t.Helper()
	files, err := rulefiles.Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	targets := randomTargets(t, files, rng, samples)
	var origins []robots.Origin
	for _, target := range targets {
		origins = append(origins, target.Origin)
	}
	q := Question{Dialect: robots.Google}
	copies, err := listings.Copies(t.Context(), files.Responses(), origins, q.Moment())
	if err != nil {
		t.Fatal(err)
	}
	byRule := 0
	for d, dialect := range q.Dialects() {
		store, err := engine.BuildStore(files.Responses(), engine.StoreOptions{Dialect: dialect, Agents: agents})
		if err != nil {
			t.Fatal(err)
		}
		mine := Question{Dialect: dialect}
		for i, target := range targets {
			agent := agents[i%len(agents)]
			want, err := store.Verdict(target.URL, agent)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Clone(copies[target.Origin])
			all[0], all[d] = all[d], all[0] // of this dialect first; the others' order does not matter here
			got := mine.Explain(target, agent, all)
			if *got.Allowed != (want.Access == engine.Allowed) || got.Reason != want.Reason.String() || got.RuleLine != want.Rule.Line {
				t.Fatalf("%s, %s, %s: %+v; the engine says %+v", target.URL, agent, dialect, got.Verdict, want)
			}
			if len(got.Rules) > 0 && got.Rules[0].Matches && want.Reason != engine.ReasonRobotsTxt {
				byRule++
				if got.Rules[0].Line != want.Rule.Line || got.Rules[0].Decides == "" {
					t.Fatalf("%s, %s, %s: the first rule is %+v; the engine says %+v", target.URL, agent, dialect, got.Rules[0], want)
				}
			}
			checkText(t, got)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	if byRule < samples/10 {
		t.Errorf("a rule decided only %d of %d", byRule, samples)
	}
}

// randomTargets returns URLs that resemble the rules of random files.
func randomTargets(t *testing.T, files *rulefiles.Files, rng *rand.Rand, n int) []Target {
	t.Helper()
	var values []string // origin, NUL, path
	for r, err := range files.Responses() {
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, string(r.Origin)+"\x00/robots.txt")
		for _, g := range robots.Parse(r.Body, robots.Google).Groups {
			for _, rule := range g.Rules {
				values = append(values, string(r.Origin)+"\x00"+rule.Value)
			}
		}
	}
	targets := make([]Target, n)
	for i := range targets {
		origin, value, _ := strings.Cut(values[rng.IntN(len(values))], "\x00")
		path := strings.ReplaceAll(strings.TrimSuffix(value, "$"), "*", []string{"", "x", "/a.b/"}[rng.IntN(3)])
		if rng.IntN(3) == 0 {
			path += "y"
		}
		if rng.IntN(5) == 0 {
			path = path[:rng.IntN(len(path)+1)]
		}
		targets[i] = NewTarget(origin + "/" + strings.TrimPrefix(path, "/"))
		if targets[i].Origin == "" {
			t.Fatalf("%q is no URL", targets[i].URL)
		}
	}
	return targets
}

// checkText checks that the text fits 80 columns, apart from the names of files and single words.
func checkText(t *testing.T, a *Answer) {
	t.Helper()
	for i, line := range strings.Split(a.Text(Style{Title: true}), "\n") {
		words := strings.Fields(line)
		if utf8.RuneCountInString(line) > width && i != 1 && len(words) > 2 && !strings.Contains(line, "source") {
			t.Errorf("%q has %d columns", line, utf8.RuneCountInString(line))
		}
		if strings.HasPrefix(line, "::") || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%q can be read as something else", line)
		}
	}
}
