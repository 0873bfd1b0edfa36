package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// manyFetches returns made-up requests. Most of their URLs occur once, a few often.
func manyFetches(rng *rand.Rand, number int) (all []fetch) {
	for i := range number {
		n := spelt(rng.IntN(1 << 30))
		if rng.IntN(4) == 0 {
			n = spelt(rng.IntN(1 + rng.IntN(2000)))
		}
		url := []string{
			"https://a.example/p/q/" + n, "https://a.example/p/" + n + "/" + n, "https://a.example/q" + n + ".php",
			"https://b.example/" + n[:1] + "/" + n, "http://c.example:8080/" + n,
		}[min(4, rng.IntN(8))]
		if rng.IntN(1000) == 0 {
			url = "https://a.example/p/q/rare.php?" + n
		}
		f := fetch{url: url, userAgent: clients[min(3, rng.IntN(9))], at: int64(i) * 1e6, status: []int64{200, 200, 404}[rng.IntN(3)]}
		all = append(all, f)
	}
	return all
}

// spelt spells a number.
func spelt(n int) string { return fmt.Sprintf("%06x", n) }

// A met counts the requests that a rule decided or matched.
type met struct {
	decided, matched         int64
	decidedURLs, matchedURLs map[string]bool
}

// metSlowly evaluates each rule separately for each crawler that it binds. A request counts once per requested
// crawler.
func metSlowly(all []fetch, agents []string) map[string]*met {
	by := map[string]*met{}
	of := func(origin string, line int32) *met {
		key := fmt.Sprint(origin, " ", line)
		if by[key] == nil {
			by[key] = &met{decidedURLs: map[string]bool{}, matchedURLs: map[string]bool{}}
		}
		return by[key]
	}
	for _, f := range all {
		u, err := robots.SplitURL([]byte(f.url))
		if err != nil {
			continue
		}
		origin, _ := robots.AppendOrigin(nil, u)
		who := agents
		if agents == nil {
			who = []string{[]string{"bingbot", "Googlebot", "*", "Google-Read-Aloud"}[slices.Index(clients, f.userAgent)]}
		}
		path, _ := robots.Google.Path(u.Path, nil)
		for _, name := range who {
			rules, _ := robots.Parse([]byte(sites[robots.Origin(origin)]), robots.Google).Select(robots.NewAgent(name, robots.Google))
			winner := robots.Decide(rules, path, robots.Google)
			for i, r := range rules {
				m := of(string(origin), r.Line)
				switch {
				case i == winner:
					m.decided++
					m.decidedURLs[f.url] = true
				case robots.Decide([]robots.Rule{r}, path, robots.Google) == 0:
					m.matched++
					m.matchedURLs[f.url] = true
				}
			}
		}
	}
	return by
}

// TestSpilled checks that all numbers are exact if requests go to disk, and that the page is the same as without.
func TestSpilled(t *testing.T) {
	for round, agents := range [][]string{nil, {"bingbot"}, {"*", "bingbot", "Googlebot"}} {
		all := manyFetches(rand.New(rand.NewPCG(uint64(round), 19)), 40_000)
		var pages [2]string
		for i, memory := range []int64{1 << 20, 0} {
			q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, Agents: agents}, workers: 2, Options: Options{Memory: memory}}
			if agents == nil {
				q.LogAgents = engine.LogAgentsStar
			}
			c, stats := counted(t, sites, all, q)
			if c.requests.Spilled() != (i == 0) {
				t.Fatalf("with %d bytes of memory, requests went to disk: %t", memory, c.requests.Spilled())
			}
			want := slowly(all, agents)
			checkAsked(t, c, want)
			checkPaths(t, c, want)
			checkMet(t, c, metSlowly(all, agents))
			v := c.newView(&Run{Stats: stats})
			checkLists(t, v, want)
			if v.URLs != int64(len(want.urls)) {
				t.Errorf("%d URLs, want %d", v.URLs, len(want.urls))
			}
			var page bytes.Buffer
			if err := Write(&page, c, &Run{Stats: stats}); err != nil {
				t.Fatal(err)
			}
			pages[i] = page.String()
		}
		if pages[0] != pages[1] {
			t.Error("the page differs if requests go to disk")
		}
	}
}

// checkMet compares the counts by rule.
func checkMet(t *testing.T, c *Counter, want map[string]*met) {
	t.Helper()
	files, _ := c.Busiest(10)
	for _, f := range files {
		for i := range f.Rules {
			r := &f.Rules[i]
			w := want[fmt.Sprint(string(f.Origin), " ", r.Line)]
			if r.Decided.Requests != w.decided || r.Matched.Requests != w.matched {
				t.Errorf("%s, line %d: decided %d, matched %d, want %d and %d", f.Origin, r.Line, r.Decided.Requests, r.Matched.Requests, w.decided, w.matched)
			}
			decided, matched := int64(len(w.decidedURLs)), int64(len(w.matchedURLs))
			if r.Decided.URLs != decided || r.Matched.URLs != matched {
				t.Errorf("%s, line %d: %d and %d URLs, want %d and %d", f.Origin, r.Line, r.Decided.URLs, r.Matched.URLs, decided, matched)
			}
		}
	}
}

// TestLate checks that the robots.txt and rules of an origin are counted even if it occurs late, when most memory is
// taken, and that origins with the same text are kept apart.
func TestLate(t *testing.T) {
	const text = "User-agent: *\nDisallow: /p\n"
	bodies := map[robots.Origin]string{"https://a.example": text, "https://b.example": text, "https://c.example": "User-agent: *\nDisallow: /q\n"}
	var all []fetch
	for i := range 200_000 {
		all = append(all, fetch{url: "https://a.example/p/" + spelt(i), at: engine.NoTime})
	}
	all = append(all, fetch{url: "https://b.example/p/" + spelt(200_000), at: engine.NoTime}, fetch{url: "https://c.example/q", at: engine.NoTime})
	c, _ := counted(t, bodies, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 1, Options: Options{Memory: 1 << 18}})
	files, _ := c.Busiest(3)
	if len(files) != 2 || len(files[0].Sites) != 2 || files[0].Requests != 200_001 || files[1].Requests != 1 {
		t.Fatalf("%+v", files)
	}
	for i, want := range []int64{200_001, 1} {
		if got := files[i].Rules[0].Decided.Requests; got != want {
			t.Errorf("%s: the rule decided %d requests, want %d", files[i].Origin, got, want)
		}
	}
}

// TestVersions checks that URLs are counted separately for each text that was in force in the course of a log.
func TestVersions(t *testing.T) {
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	texts := func(yield func(robots.Response, error) bool) {
		for i, body := range []string{"User-agent: *\nDisallow: /p\n", "User-agent: *\nAllow: /p\nDisallow: /\n"} {
			r := robots.Response{Origin: "https://a.example", Status: 200, FetchedAt: at.Add(time.Duration(i) * 100 * time.Second), Body: []byte(body)}
			if !yield(r, nil) {
				return
			}
		}
	}
	store, err := engine.BuildStore(texts, engine.StoreOptions{Dialect: robots.Google, RowTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []fetch
	for i := range int64(200) {
		all = append(all, fetch{url: "https://a.example/p/" + spelt(int(i%50)), at: at.UnixMicro() + i*1e6})
	}
	c := NewCounter(store, Options{Status: 1})
	if _, err := engine.Run(t.Context(), store, &source{all, 100}, c, engine.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	settle(t, c)
	files, _ := c.Busiest(3)
	if len(files) != 2 || c.urls != 50 {
		t.Fatalf("%d URLs; %+v", c.urls, files)
	}
	for _, f := range files {
		if d := f.Rules[0].Decided; d.Requests != 100 || d.URLs != 50 || f.First.Equal(*f.Last) {
			t.Errorf("from %s to %s: %+v, want 100 requests of 50 URLs", f.First, f.Last, d)
		}
	}
}

// TestManyKinds checks that sums stay exact if there are more kinds of rows than fit in memory, and that no denial is
// attributed to a wrong rule.
func TestManyKinds(t *testing.T) {
	bodies, all := map[robots.Origin]string{}, []fetch(nil)
	for n := range 400 {
		origin := robots.Origin(fmt.Sprintf("https://%d.example", n))
		bodies[origin] = fmt.Sprintf("# %d\nUser-agent: *\nDisallow: /a\nDisallow: /b%d\n", n, n)
		all = append(all, fetch{url: string(origin) + "/a", at: engine.NoTime}, fetch{url: fmt.Sprintf("%s/b%d", origin, n), at: engine.NoTime}, fetch{url: string(origin) + "/", at: engine.NoTime})
	}
	c, stats := counted(t, bodies, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 1, Options: Options{Memory: 1 << 18}})
	files, more := c.Busiest(1000)
	told, decided := int64(0), int64(0)
	for _, f := range files {
		told += f.Requests
		for i := range f.Rules {
			decided += f.Rules[i].Decided.Requests
			if n := f.Rules[i].Decided.Requests; n > 1 {
				t.Errorf("%s: line %d decided %d requests, want 1", f.Origin, f.Rules[i].Line, n)
			}
		}
	}
	if len(c.kinds.all) <= c.kinds.most || c.rules.uncounted == 0 || told+c.rules.uncounted != int64(len(all)) || more != 0 || decided != told-told/3 {
		t.Errorf("%d kinds, the limit is %d; %d rows are attributed to rules and %d are not, of %d; %d decided", len(c.kinds.all), c.kinds.most, told, c.rules.uncounted, len(all), decided)
	}
	v := c.newView(&Run{Stats: stats})
	if v.Paths.Requests != int64(len(all)) || v.Paths.Denied != stats.Denied {
		t.Errorf("%d requests, %d denied of %d", v.Paths.Requests, v.Paths.Denied, stats.Denied)
	}
	for _, site := range v.Paths.Below {
		number := strings.TrimSuffix(strings.TrimPrefix(site.Name, "https://"), ".example")
		for _, path := range append(site.Below[0].Below, site.Below[0]) {
			if _, rule, _ := strings.Cut(path.By, "/b"); rule != "" && rule != number {
				t.Errorf("%s%s is denied by %s", site.Name, path.Name, path.By)
			}
		}
	}
}
