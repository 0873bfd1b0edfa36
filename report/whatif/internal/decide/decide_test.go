package decide

import (
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

const origin = "https://shop.example"

var names = []string{"Googlebot-Image", "AdsBot-Google", "bingbot", "YandexImages", "GPTBot", "nobody"}

// dialects are the named dialects, and one with options.
func dialects(t *testing.T) (all []robots.Dialect) {
	t.Helper()
	for _, name := range robots.Dialects() {
		d, err := robots.ParseDialect(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return append(all, robots.Yandex|robots.WideTokens, robots.Google|robots.URLAsIs)
}

// TestEngine compares the verdicts for random edits of real robots.txt files with those of package engine. Each text
// edits the previous one, so that reused verdicts are compared as well.
func TestEngine(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repcase.Dir(t), "..", "quickstart", "rules", "*.txt"))
	if err != nil || len(files) < 300 {
		t.Fatal(len(files), err)
	}
	rng := rand.New(rand.NewPCG(18, 1))
	edits, compared, byRule, kept := 0, 0, 0, 0
	for _, name := range files[:80] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		urls := urlsLike(rng, text)
		var paths []string
		for _, u := range urls {
			paths = append(paths, u.Path)
		}
		for _, d := range dialects(t) {
			log, err := ReadLog(AppendLog(nil, urls), d, names)
			if err != nil {
				t.Fatal(err)
			}
			var before *Text
			body := text
			for range 4 {
				now, err := log.Decide(body, before, nil)
				if err != nil {
					t.Fatal(err)
				}
				n, ruled := compare(t, log, now, body, d)
				if before != nil && &now.winners[0][0] == &before.winners[0][0] {
					kept++
				}
				edits, compared, byRule = edits+1, compared+n, byRule+ruled
				before, body = now, repcase.Edit(rng, body, paths, names)
			}
		}
	}
	if byRule < compared/10 || kept == 0 {
		t.Errorf("%d of %d verdicts come from rules; verdicts of a crawler were reused %d times", byRule, compared, kept)
	}
	t.Logf("%d texts, %d verdicts, %d from rules; verdicts of the first crawler reused %d times", edits, compared, byRule, kept)
}

// urlsLike returns URLs that resemble the rules of a text, with random crawlers that requested them.
func urlsLike(rng *rand.Rand, text []byte) (urls []URL) {
	hasBytes := rng.Int64N(2)
	for i, p := range repcase.PathsLike(rng, text, 60) {
		u := URL{Path: p}
		for a := range names {
			if a == i%len(names) || rng.IntN(3) == 0 {
				u.Counts = append(u.Counts, Count{a, 1 + rng.Int64N(1000), hasBytes * rng.Int64N(1<<20)})
			}
		}
		urls = append(urls, u)
	}
	return urls
}

// responses are one robots.txt.
func responses(body []byte) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		yield(robots.Response{Origin: origin, Name: "robots.txt", Status: 200, Body: body}, nil)
	}
}

// compare compares all verdicts of a text with those of the engine. It returns the number of verdicts, and of those
// that come from rules.
func compare(t *testing.T, log *Log, text *Text, body []byte, d robots.Dialect) (n, byRule int) {
	t.Helper()
	store, err := engine.BuildStore(responses(body), engine.StoreOptions{Dialect: d, Agents: names})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for a, name := range names {
		lines := text.Deciding(a)
		for i, url := range log.agents[a].urls {
			want, err := store.Verdict(origin+string(log.Path(int(url))), name)
			if err != nil {
				t.Fatal(err)
			}
			if path := log.Path(int(url)); want.Access == engine.Denied && robots.IsTxt(path) {
				want = engine.Answer{Access: engine.Allowed} // as reports count it
			}
			line := want.Rule.Line
			if want.Access == engine.Denied {
				line = -line
			}
			if n++; line != 0 {
				byRule++
			}
			if lines[i] != line || allows(text.decidingRule(a, i)) != (want.Access == engine.Allowed) {
				t.Fatalf("%s, %s on %q of\n%s\nline %d; the engine says line %d, %v", d, name, log.Path(int(url)), body, lines[i], line, want)
			}
		}
	}
	return n, byRule
}

func TestTooLarge(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /\n" + strings.Repeat("# remark\n", robots.MaxBytes/9))
	for _, d := range dialects(t) {
		log, err := ReadLog(AppendLog(nil, []URL{{"/", []Count{{0, 1, 0}}}}), d, names)
		if err != nil {
			t.Fatal(err)
		}
		text, err := log.Decide(body, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, log, text, body, d)
	}
}

func TestCompare(t *testing.T) {
	urls := []URL{
		{"/a", []Count{{0, 5, 500}, {2, 2, 20}}},
		{"/b", []Count{{2, 7, 70}}},
		{"/c", []Count{{0, 1, 0}}},
	}
	log, err := ReadLog(AppendLog(nil, urls), robots.Google, []string{"x", "y", "z"})
	if err != nil {
		t.Fatal(err)
	}
	decide := func(text string) *Text {
		t.Helper()
		decided, err := log.Decide([]byte(text), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return decided
	}
	c := log.Compare(decide("user-agent: z\ndisallow: /b\n"), decide("user-agent: *\nallow: /b\ndisallow: /a\n"), All)
	got := string(log.AppendJSON(nil, decide(""), c, 1))
	const want = `{"truncated":false,"open":false,"rules":0,` +
		`"agents":[[6,0,5,5,0,500,0],[0,0,0,0,0,0,0],[9,7,2,2,7,20,70]],"lines":[[2,7,1],[3,7,0]],` +
		`"closed":{"urls":1,"requests":7,"bytes":520,"rows":[{"path":"/a","requests":7,"agents":[0,2],"from":null,"to":[3,"Disallow: /a"]}]},` +
		`"opened":{"urls":1,"requests":7,"bytes":70,"rows":[{"path":"/b","requests":7,"agents":[2],"from":[2,"Disallow: /b"],"to":[2,"Allow: /b"]}]},"wishes":[]}`
	if got != want {
		t.Errorf("the change is\n%s\nwant\n%s", got, want)
	}
	if one := log.Compare(decide(""), decide("user-agent: *\ndisallow: /\n"), 2); len(one.Closed) != 2 || one.Closed[0].Requests != 7 || one.Agents[0].Closed != 6 {
		t.Errorf("of one crawler: %+v", one)
	}
}

// TestUses compares the preferences of random robots.txt files with those of the engine. Each text follows another
// one, sometimes an equal one, so that reused preferences are compared as well.
func TestUses(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 3))
	agents := []string{"a", "b", "*"}
	compared, stated, kept := 0, 0, 0
	for _, d := range dialects(t) {
		var urls []URL
		for len(urls) < 40 {
			path, _, _ := strings.Cut(repcase.RandomPath(rng), "#")
			if !slices.ContainsFunc(urls, func(u URL) bool { return u.Path == path }) {
				urls = append(urls, URL{path, []Count{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}})
			}
		}
		urls = append(urls, URL{"/robots.txt", []Count{{0, 1, 0}, {1, 1, 0}}})
		log, err := ReadLog(AppendLog(nil, urls), d, agents)
		if err != nil {
			t.Fatal(err)
		}
		var before *Text
		body := ""
		for range 300 {
			if body = "# a line\n" + body; rng.IntN(4) > 0 {
				body = repcase.RandomPreferences(rng)
			}
			now, err := log.Decide([]byte(body), before, nil)
			if err != nil {
				t.Fatal(err)
			}
			for a := range agents {
				if before != nil && now.uses[a] != nil && before.uses[a] != nil && &now.uses[a][0] == &before.uses[a][0] {
					kept++
				}
			}
			n, said := compareUses(t, log, now, body, agents)
			compared, stated, before = compared+n, stated+said, now
		}
	}
	if stated < compared/5 || kept < 100 {
		t.Errorf("%d of %d URLs have a preference; preferences of a crawler were reused %d times", stated, compared, kept)
	}
	t.Logf("%d URLs compared, %d with a preference; preferences of a crawler reused %d times", compared, stated, kept)
}

// compareUses compares the preferences of a text for all URLs with the engine. It returns the number of URLs, and of
// those with a stated preference.
func compareUses(t *testing.T, log *Log, text *Text, body string, agents []string) (n, stated int) {
	t.Helper()
	options := engine.StoreOptions{Dialect: log.dialect, Agents: agents, Directives: robots.PreferenceLines()}
	store, err := engine.BuildStore(responses([]byte(body)), options)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for a, name := range agents {
		for i, url := range log.agents[a].urls {
			v, err := store.Verdict(origin+string(log.Path(int(url))), name)
			if err != nil {
				t.Fatal(err)
			}
			want := v.Preferences.Uses()
			if got := text.usesOf(a, i); got != want {
				t.Fatalf("%s, %s on %q of\n%s\n%v; the engine says %v", log.dialect, name, log.Path(int(url)), body, got, want)
			}
			if n++; want != (robots.Uses{}) {
				stated++
			}
		}
	}
	return n, stated
}

// TestWishes counts the preferences in two texts, and explains them for one URL.
func TestWishes(t *testing.T) {
	urls := []URL{{"/news/1", []Count{{0, 5, 0}, {1, 2, 0}}}, {"/news/2", []Count{{0, 6, 0}}}, {"/x", []Count{{1, 9, 0}}}, {"/no", []Count{{1, 4, 0}}}}
	log, err := ReadLog(AppendLog(nil, urls), robots.Google, []string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	var texts []*Text
	const after = "License: https://shop.example/l\nUser-agent: *\nContent-Usage: train-ai=y\nContent-Usage: /news/ train-ai=n, search=y\nContent-Signal: search=no\nDisallow: /no\n"
	for _, body := range []string{"User-agent: *\nContent-Signal: ai-train=yes, ai-input=no\n", after} {
		text, err := log.Decide([]byte(body), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	const want = `"wishes":[[0,2,0,4,1,"/no"],[0,2,1,13,2,"/news/1"],[0,2,2,9,1,"/x"],[1,0,1,26,4,"/x"],[2,1,0,26,4,"/x"]]}`
	if got := string(log.AppendJSON(nil, texts[1], log.Compare(texts[0], texts[1], All), 0)); !strings.HasSuffix(got, want) {
		t.Errorf("the change is\n%s\nwant\n%s", got, want)
	}
	if one := log.Compare(texts[0], texts[1], 0).Wishes; len(one) != 3 || one[0] != (Wish{Use: 0, From: robots.Permitted, To: robots.Refused, Requests: 11, URLs: 2, Top: 1}) {
		t.Errorf("of one crawler: %+v", one)
	}
	for _, c := range []struct{ path, want string }{
		{"/news/1", `"content_usage":[4,"search=y, train-ai=n"],"content_signal":[5,"search=no"],"license":[0,"https://shop.example/l"]`},
		{"/no", `"rules":[{"line":6,"rule":"Disallow: /no","matches":true,"length":3,"stops_at":0,"decides_by":"only"}],"content_signal":[5,"search=no"],"license"`},
	} {
		got := string(AppendExplanation(nil, Question{Body: []byte(after), URL: c.path, Agent: "x", Origin: origin, Dialect: robots.Google}))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nhas no\n%s", c.path, got, c.want)
		}
	}
}

// FuzzReadLog reads any bytes as a log. If that succeeds, it encodes the log and reads it again.
func FuzzReadLog(f *testing.F) {
	f.Add(AppendLog(nil, []URL{{"/", []Count{{0, 1, 0}, {2, 3, 0}}}, {"/a", []Count{{1, 9, 0}}}}))
	f.Add([]byte{1, 200, 1, 'x', 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := ReadLog(data, robots.Google, []string{"a", "b", "c"})
		if err != nil {
			if !errors.Is(err, ErrLog) {
				t.Fatal(err)
			}
			return
		}
		text, err := log.Decide([]byte("user-agent: *\ndisallow: /a\n"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		log.Compare(text, text, All)
	})
}

// TestStopped stops an evaluation at each point where it may pause.
func TestStopped(t *testing.T) {
	var urls []URL
	for i := range 5 * stride {
		urls = append(urls, URL{Path: "/" + strings.Repeat("a", i), Counts: []Count{{Agent: 0, Requests: 1}, {Agent: 1, Requests: 1}}})
	}
	log, err := ReadLog(AppendLog(nil, urls), robots.Google, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("user-agent: a\ndisallow: /a\n\nuser-agent: b\nallow: /\n")
	const pauses = 2 * 5
	for most := range pauses + 2 {
		n := 0
		text, err := log.Decide(body, nil, func() bool { n++; return n <= most })
		if most < pauses && (n != most+1 || text != nil || !errors.Is(err, ErrStopped)) {
			t.Errorf("stopped after %d calls: %d, %v, %v", most, n, text, err)
		}
		if most >= pauses && (n != pauses || err != nil || len(text.Deciding(1)) != len(urls)) {
			t.Errorf("not stopped: %d, %v", n, err)
		}
	}
}
