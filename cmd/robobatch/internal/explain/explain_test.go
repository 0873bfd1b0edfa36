package explain

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/internal/why"
	"github.com/robobatch/robobatch/robots"
)

// asked are the crawlers of the tests: some that many files name, some that only have a fallback group, and some that
// no file names.
var asked = []string{"*", "Googlebot", "Googlebot-Image", "AdsBot-Google", "bingbot", "YandexImages", "GPTBot", "AhrefsBot", "x"}

// TestEngine compares the answers for random URLs with the verdicts of package engine in all dialects, and the rules
// of each answer with the reference in one dialect. It uses the files of the quick start and, if it exists, the
// collection.
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

// compare makes the comparisons of TestEngine with the rules of a directory.
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
	stores := map[string]*engine.Store{}
	for _, dialect := range q.Dialects() {
		store, err := engine.BuildStore(files.Responses(), engine.StoreOptions{Dialect: dialect, Agents: asked})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		stores[dialect.String()] = store
	}
	byRule, listed := 0, 0
	for i, target := range targets {
		dialect, agent := q.Dialects()[i%len(stores)], asked[i%len(asked)]
		mine := Question{Dialect: dialect}
		var all []listings.Copy
		for _, d := range mine.Dialects() {
			all = append(all, copies[target.Origin][slices.Index(q.Dialects(), d)])
		}
		got := mine.Explain(target, agent, all)
		for _, said := range got.Dialects {
			want, err := stores[said.Dialect].Verdict(target.URL, agent)
			if err != nil {
				t.Fatal(err)
			}
			if *said.Allowed != (want.Access == engine.Allowed) || said.Reason != want.Reason.String() || said.RuleLine != want.Rule.Line {
				t.Fatalf("%s, %s, %s: %+v; the engine says %+v", target.URL, agent, said.Dialect, said.Verdict, want)
			}
			if said.Dialect != got.Dialect {
				continue
			}
			if said.RuleLine != got.RuleLine || *said.Allowed != *got.Allowed || said.Reason != got.Reason {
				t.Fatalf("%s, %s, %s: %+v and %+v", target.URL, agent, dialect, got.Verdict, said.Verdict)
			}
			if len(got.Rules) > 0 && got.Rules[0].Matches && want.Reason != engine.ReasonRobotsTxt {
				byRule++
				if got.Rules[0].Line != want.Rule.Line || got.Rules[0].Decides == "" {
					t.Fatalf("%s, %s, %s: the first rule is %+v; the engine says %+v", target.URL, agent, dialect, got.Rules[0], want)
				}
			}
		}
		listed += compareRules(t, got, all[0], dialect)
		checkText(t, got)
	}
	if byRule < samples/4 {
		t.Errorf("a rule decided only %d of %d", byRule, samples)
	}
	if listed < samples/2 {
		t.Errorf("only %d rules that match were compared with the reference", listed)
	}
	t.Logf("%d answers, %d of them by a rule; %d rules that match", samples, byRule, listed)
}

// compareRules compares the rules of an answer with the reference: whether each rule, tested separately, matches the
// path, and the order of precedence. It returns the number of rules that match.
func compareRules(t *testing.T, got *Answer, c listings.Copy, d robots.Dialect) (matching int) {
	t.Helper()
	if c.Outcome.Effect != robots.UseRules {
		if len(got.Rules) > 0 {
			t.Fatalf("%s: rules without a robots.txt: %+v", got.URL, got.Rules)
		}
		return 0
	}
	rules, _ := robots.Parse(c.Response.Body, d).Select(robots.NewAgent(got.Agent, d))
	if len(rules) != len(got.Rules) {
		t.Fatalf("%s, %s, %s: %d rules, want %d", got.URL, got.Agent, d, len(got.Rules), len(rules))
	}
	path := pathOf(t, got, d)
	var matches, others []robots.Rule
	for _, r := range rules {
		if robots.Decide([]robots.Rule{r}, path, d) == 0 {
			matches = append(matches, r)
		} else {
			others = append(others, r)
		}
	}
	for i := range got.Rules {
		entry := &got.Rules[i]
		if len(matches) > 0 { // the rule that takes precedence in the reference, among those that remain
			best := robots.Decide(matches, path, d)
			r := matches[best]
			matches = slices.Delete(matches, best, best+1)
			matching++
			if !entry.Matches || entry.Line != r.Line || entry.Text != fieldtext.Valid(r.String()) || entry.StopsAt != 0 || !hasPattern(r, entry, d) || !beginsWith(d.PatternOf(entry.Pattern), path, d) {
				t.Fatalf("%s, %s, %s: entry %d is %+v; the reference says that line %d matches", got.URL, got.Agent, d, i+1, *entry, r.Line)
			}
			continue
		}
		k := slices.IndexFunc(others, func(r robots.Rule) bool { return r.Line == entry.Line })
		if k < 0 || entry.Matches || entry.Text != fieldtext.Valid(others[k].String()) || entry.Decides != "" || !hasPattern(others[k], entry, d) {
			t.Fatalf("%s, %s, %s: entry %d is %+v; the reference says that it does not match", got.URL, got.Agent, d, i+1, *entry)
		}
		others = slices.Delete(others, k, k+1)
		checkStop(t, got, i, d)
	}
	return matching
}

// pathOf returns the path that rules are matched with, and checks that the answer shows it.
func pathOf(t *testing.T, got *Answer, d robots.Dialect) []byte {
	t.Helper()
	path, _ := d.Path(NewTarget(got.URL).raw, nil)
	if d.ReadablePath(path) != got.Path {
		t.Fatalf("%s: the path is %q, want %q", got.URL, got.Path, d.ReadablePath(path))
	}
	return path
}

// hasPattern reports whether an entry shows the pattern of a rule and the length of the pattern.
func hasPattern(r robots.Rule, entry *why.Rule, d robots.Dialect) bool {
	index, ok := d.IndexPattern(r)
	pattern := d.PatternOf(entry.Pattern)
	return (pattern == r.Pattern || ok && pattern == index) && entry.Length == d.Length(pattern)
}

// beginsWith reports whether a pattern matches a path according to the reference.
func beginsWith(pattern string, path []byte, d robots.Dialect) bool {
	return pattern == "" || robots.Decide([]robots.Rule{{Pattern: pattern}}, path, d) == 0
}

// checkStop checks the byte of the pattern at which an entry fails to match: the pattern before that byte must match,
// and with that byte it must not. Entries that match more bytes come first.
func checkStop(t *testing.T, got *Answer, i int, d robots.Dialect) {
	t.Helper()
	entry, pattern := &got.Rules[i], d.PatternOf(got.Rules[i].Pattern)
	path, stop := pathOf(t, got, d), 0
	for stop < len(pattern) && len(robots.ReadablePattern(pattern[:stop])) != entry.StopsAt-1 {
		stop++
	}
	if stop == len(pattern) {
		t.Fatalf("%s: entry %d is %+v", got.URL, i+1, *entry)
	}
	upTo := func(n int) string { // a "*" is appended, so that a "$" is not an end anchor; "" matches everything
		if n == len(pattern) || n == 0 {
			return pattern[:n]
		}
		return pattern[:n] + "*"
	}
	if !beginsWith(upTo(stop), path, d) || beginsWith(upTo(stop+1), path, d) {
		t.Fatalf("%s: %q does not stop at byte %d of %q", got.URL, got.Path, entry.StopsAt, entry.Pattern)
	}
	if before := &got.Rules[max(i-1, 0)]; !before.Matches && before.StopsAt < entry.StopsAt {
		t.Fatalf("%s: entry %d stops at byte %d, and the one before it at byte %d", got.URL, i+1, entry.StopsAt, before.StopsAt)
	}
}

// randomTargets returns URLs made from rules of randomly chosen files.
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

// checkText checks that the text fits 80 columns, except for the name of the file, which is never shortened.
func checkText(t *testing.T, a *Answer) {
	t.Helper()
	for i, line := range strings.Split(a.Text(Style{Title: true}), "\n") {
		if cli.Columns(line) > width && (a.Source == nil || !strings.Contains(line, filepath.ToSlash(a.Source.Name)+",")) {
			t.Errorf("line %d: %q has %d columns", i+1, line, cli.Columns(line))
		}
		if strings.HasPrefix(line, "::") || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%q can be read as something else", line)
		}
	}
}
