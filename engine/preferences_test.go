package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// preferenceRows is the number of random questions of TestPreferencesRandom.
var preferenceRows = flag.Int("preferences", 200_000, "how many questions TestPreferencesRandom compares")

// usageDirectives are the directives of preferences.
var usageDirectives = append(robots.PreferenceLines(), robots.LicenseLines)

// preferenceText returns the answer of a store for a verdict, in the form of [repcase.Answer].
func preferenceText(look *Lookup, b *Batch, row, a, agents int) string {
	p := b.Preferences[row*agents+a]
	text := repcase.Answer(&robots.Answers{Said: p.Said, How: look.HowUsed(b.Rulings[row], b.agent(row, a), p)})
	if note, ok := look.Note(b.Rulings[row], b.agent(row, a), robots.LicenseLines); ok {
		text += " " + note.Value
	}
	return text
}

// TestPreferences runs the cases of testdata/preferences.
func TestPreferences(t *testing.T) {
	repcase.RunPreferences(t, func(t *testing.T, body []byte, agent, path string, d robots.Dialect) string {
		t.Helper()
		s := buildStore(t, StoreOptions{Dialect: d, Agents: []string{agent}, Directives: usageDirectives}, "https://a.example", string(body))
		b := newBatch("https://a.example" + path)
		s.NewEvaluator().Evaluate(b)
		return preferenceText(s.NewLookup(), b, 0, 0, 1)
	})
}

// A mutant changes how a reference decides.
type mutant func(p *preferrer, path []byte, allowed *bool, b *robots.Bound)

// A preferrer answers as the reference does, or as a mutant of it. It keeps the parsed files.
type preferrer struct {
	d     robots.Dialect
	body  string
	file  *robots.File
	said  *robots.Preferences
	bound map[string]robots.Bound // by agent
	rules map[string][]robots.Rule
	alter mutant
}

func newPreferrer(body string, d robots.Dialect) *preferrer {
	return &preferrer{
		d: d, body: body, file: robots.Parse([]byte(body), d), said: robots.PreferencesOf([]byte(body), d),
		bound: map[string]robots.Bound{}, rules: map[string][]robots.Rule{},
	}
}

// answer returns the answer of the reference, or of the mutant, for an agent and a path.
func (p *preferrer) answer(agent, path string) string {
	if _, known := p.rules[agent]; !known {
		a := robots.NewAgent(agent, p.d)
		p.bound[agent] = p.said.Select(a)
		p.rules[agent], _ = p.file.Select(a)
	}
	normal, _ := p.d.Path([]byte(path), nil)
	best := robots.Decide(p.rules[agent], normal, p.d)
	allowed := best < 0 || p.rules[agent][best].Allow || p.d.AlwaysAllowed(normal)
	bound := p.bound[agent]
	if p.alter != nil {
		for s := range bound {
			bound[s] = slices.Clone(bound[s])
		}
		p.alter(p, normal, &allowed, &bound)
	}
	answer := bound.Decide(normal, allowed)
	if p.alter == nil {
		answer.Said[robots.ByPolicy] = repcase.SlowPolicy(p.body, path, p.d)
	}
	text := repcase.Answer(&answer)
	if l := p.said.License; l.Line > 0 {
		text += " " + l.URL
	}
	return text
}

// preferenceAgents are crawlers of all kinds. Only a robots.txt knows the last one.
var preferenceAgents = []string{"*", "a", "B/2.0", "Googlebot-News", "AdsBot-Google", "YandexImages", "zorbot"}

// TestPreferencesRandom compares stores of files and packs with the reference, for agents of the store and agents of
// rows, in all dialects, and also for origins without a robots.txt.
func TestPreferencesRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	const sites, perSite = 150, 8
	differences, policies := 0, 0
	asked := 0
	for asked < *preferenceRows {
		d := []robots.Dialect{robots.RFC9309, robots.Google, robots.Google2010, robots.Yandex}[r.IntN(4)]
		var pairs []string
		references := map[string]*preferrer{}
		for i := range sites {
			origin := fmt.Sprintf("https://s%d.example", i)
			if body := repcase.RandomPreferences(r); r.IntN(20) > 0 {
				pairs, references[origin] = append(pairs, origin, body), newPreferrer(body, d)
			}
		}
		var rows []logRow
		for i := range sites * perSite {
			rows = append(rows, logRow{preferenceAgents[r.IntN(len(preferenceAgents))], fmt.Sprintf("https://s%d.example%s", i/perSite, repcase.RandomPath(r))})
		}
		for kind, store := range preferenceStores(t, r, d, pairs) {
			b, agents := logBatch(rows), preferenceAgents
			if store.opt.LogAgents == LogAgentsByName {
				agents = []string{""}
			}
			store.NewEvaluator().Evaluate(b)
			look := store.NewLookup()
			look.Use(b)
			for i, row := range rows {
				origin, path := row.url[:strings.Index(row.url[8:], "/")+8], row.url[strings.Index(row.url[8:], "/")+8:]
				for a, agent := range agents {
					want := "none | none"
					if ref := references[origin]; ref != nil {
						want = ref.answer(cmpOr(agent, row.userAgent), path)
					}
					asked++
					if strings.Count(want, " | ") > 1 {
						policies++
					}
					if got := preferenceText(look, b, i, a, len(agents)); got != want {
						if differences++; differences < 5 {
							t.Errorf("%s in %s: %s for %q: %s, want %s, of %q", kind, d, row.url, cmpOr(agent, row.userAgent), got, want, bodyOf(pairs, origin))
						}
					}
				}
			}
			if err := store.Err(); err != nil {
				t.Fatal(err)
			}
			store.Close()
		}
	}
	t.Logf("%d questions, %d with an answer of a policy group: %d differences", asked, policies, differences)
	if policies < asked/50 {
		t.Errorf("only %d of %d questions have an answer of a policy group", policies, asked)
	}
}

// cmpOr returns the first name that is not empty.
func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// bodyOf returns the robots.txt of an origin.
func bodyOf(pairs []string, origin string) string {
	if i := slices.Index(pairs, origin); i >= 0 {
		return pairs[i+1]
	}
	return ""
}

// preferenceStores are stores of the same files; one of them is a pack, with or without a limit.
func preferenceStores(t *testing.T, r *rand.Rand, d robots.Dialect, pairs []string) map[string]*Store {
	t.Helper()
	opt := StoreOptions{Dialect: d, Agents: preferenceAgents, Directives: usageDirectives}
	byName := opt
	byName.LogAgents = LogAgentsByName
	stores := map[string]*Store{"files": buildStore(t, opt, pairs...), "files, by name": buildStore(t, byName, pairs...)}
	var all []robots.Response
	for response, err := range responses(pairs...) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, response)
	}
	if r.IntN(4) > 0 { // writing one takes as long as everything else
		return stores
	}
	name := makePack(t, d, all...)
	stores["pack"] = openPack(t, name, opt)
	byName.MaxMemory = 1
	stores["pack, by name, dropping"] = openDropping(t, name, byName)
	return stores
}

// preferenceMutants are references with one mistake each.
var preferenceMutants = map[string]mutant{
	"what does not parse hides nothing": func(_ *preferrer, _ []byte, _ *bool, b *robots.Bound) {
		b[robots.ByUsage] = slices.DeleteFunc(b[robots.ByUsage], func(u robots.Statement) bool { return u.Malformed })
	},
	"what may not be fetched has preferences": func(_ *preferrer, _ []byte, allowed *bool, _ *robots.Bound) { *allowed = true },
	"of equal length the first alone counts": func(_ *preferrer, path []byte, _ *bool, b *robots.Bound) {
		line := b.Decide(path, true).Said[robots.ByUsage].Line
		b[robots.ByUsage] = slices.DeleteFunc(b[robots.ByUsage], func(u robots.Statement) bool { return u.Line != line })
	},
	"/ is as long as no path": func(_ *preferrer, _ []byte, _ *bool, b *robots.Bound) {
		for i := range b[robots.ByUsage] {
			if u := &b[robots.ByUsage][i]; u.Pattern == "/" {
				u.Pattern, u.Length = "", 0
			}
		}
	},
	"a permission wins": func(_ *preferrer, _ []byte, _ *bool, b *robots.Bound) {
		usage := b[robots.ByUsage]
		for i := range usage {
			for k := range usage {
				if usage[i].Pattern == usage[k].Pattern && usage[k].Uses[robots.TrainAI] == robots.Permitted {
					usage[i].Uses[robots.TrainAI] = robots.Permitted
				}
			}
		}
	},
	"the longest line of Content-Signal decides all keys": func(_ *preferrer, path []byte, _ *bool, b *robots.Bound) {
		longest := 0
		for _, s := range b[robots.BySignal] {
			if (&robots.Bound{{{Line: 1, Pattern: s.Pattern}}}).Decide(path, true).Said[robots.ByUsage].Line > 0 {
				longest = max(longest, s.Length)
			}
		}
		b[robots.BySignal] = slices.DeleteFunc(b[robots.BySignal], func(s robots.Statement) bool { return s.Length != longest })
	},
	"early lines of Content-Signal bind nobody": func(p *preferrer, _ []byte, _ *bool, b *robots.Bound) {
		signals, early := b[robots.BySignal], p.said.Early[robots.BySignal]
		if len(signals) > 0 && len(early) > 0 && signals[0].Line == early[0].Line {
			b[robots.BySignal] = nil
		}
	},
	"of equally long policy rules a Disallow wins": func(_ *preferrer, _ []byte, _ *bool, b *robots.Bound) {
		rules := b[robots.ByPolicy]
		for i := range rules {
			for k := range rules {
				if rules[i].Length == rules[k].Length && rules[k].Uses[robots.TrainAI] == robots.Refused {
					rules[i].Uses[robots.TrainAI] = robots.Refused
				}
			}
		}
	},
	"no line of a policy group counts": func(_ *preferrer, _ []byte, _ *bool, b *robots.Bound) { b[robots.ByPolicy] = nil },
	"groups are those of the rules": func(p *preferrer, _ []byte, _ *bool, b *robots.Bound) {
		starts := map[int32]bool{}
		for _, g := range p.file.Groups {
			starts[g.Line] = true
		}
		for _, g := range p.said.Groups {
			if !starts[g.Line] { // it is part of the previous group
				b[robots.ByUsage] = nil
			}
		}
	},
}

// TestPreferenceMutants checks that random questions find each mutant of the reference.
func TestPreferenceMutants(t *testing.T) {
	for name, alter := range preferenceMutants {
		r := rand.New(rand.NewPCG(33, 2))
		asked := 0
		found := false
		for !found && asked < 100_000 {
			d := []robots.Dialect{robots.RFC9309, robots.Google, robots.Google2010, robots.Yandex}[r.IntN(4)]
			body := repcase.RandomPreferences(r)
			mutant := newPreferrer(body, d)
			mutant.alter = alter
			store := buildStore(t, StoreOptions{Dialect: d, Agents: preferenceAgents, Directives: usageDirectives}, "https://a.example", body)
			path := repcase.RandomPath(r)
			b := newBatch("https://a.example" + path)
			store.NewEvaluator().Evaluate(b)
			for a, agent := range preferenceAgents {
				asked++
				found = found || preferenceText(store.NewLookup(), b, 0, a, len(preferenceAgents)) != mutant.answer(agent, path)
			}
		}
		if !found {
			t.Errorf("%s: not found by %d questions", name, asked)
		}
		t.Logf("%s: found by %d questions", name, asked)
	}
}

// TestPreferencesChangeNoVerdict compares verdicts with and without preferences.
func TestPreferencesChangeNoVerdict(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 3))
	for range 2000 {
		d := []robots.Dialect{robots.RFC9309, robots.Google, robots.Google2010, robots.Yandex}[r.IntN(4)]
		body := repcase.RandomPreferences(r)
		opt := StoreOptions{Dialect: d, Agents: preferenceAgents}
		without := buildStore(t, opt, "https://a.example", body)
		opt.Directives = robots.Directives()
		with := buildStore(t, opt, "https://a.example", body)
		url := "https://a.example" + repcase.RandomPath(r)
		b, c := newBatch(url), newBatch(url)
		without.NewEvaluator().Evaluate(b)
		with.NewEvaluator().Evaluate(c)
		if !slices.Equal(b.Verdicts, c.Verdicts) || len(b.Preferences) > 0 {
			t.Fatalf("%s for %q: %v with preferences, but %v without", url, body, c.Verdicts, b.Verdicts)
		}
	}
}

// FuzzPreferences compares a store with the reference.
func FuzzPreferences(f *testing.F) {
	r := rand.New(rand.NewPCG(33, 4))
	for range 40 {
		f.Add(repcase.RandomPreferences(r), "a", repcase.RandomPath(r), uint8(r.IntN(4)))
	}
	f.Add("User-agent: *\nContent-Usage: /*a train-ai=n\nContent-Usage: /a* search=y", "*", "/a", uint8(0))
	f.Fuzz(func(t *testing.T, body, agent, path string, dialect uint8) {
		d := []robots.Dialect{robots.RFC9309, robots.Google, robots.Google2010, robots.Yandex}[dialect%4]
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		path, _, _ = strings.Cut(path, "#")
		store := buildStore(t, StoreOptions{Dialect: d, Agents: []string{agent}, Directives: usageDirectives}, "https://a.example", body)
		b := newBatch("https://a.example" + path)
		store.NewEvaluator().Evaluate(b)
		if len(body) > robots.MaxBytes {
			return // in some dialects, no rules are in force
		}
		if got, want := preferenceText(store.NewLookup(), b, 0, 0, 1), newPreferrer(body, d).answer(agent, path); got != want {
			t.Errorf("%s for %q by %q in %s: %s, want %s", path, agent, body, d, got, want)
		}
	})
}
