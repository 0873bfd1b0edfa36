package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// many returns made-up rows, most of whose URLs come once, and few often.
func many(rng *rand.Rand, number int) (all []fetch) {
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
		f := fetch{url: url, userAgent: clients[min(3, rng.IntN(9))], at: int64(i) * second, status: []int64{200, 200, 404}[rng.IntN(3)]}
		all = append(all, f)
	}
	return all
}

// spelt spells a number.
func spelt(n int) string { return fmt.Sprintf("%06x", n) }

// A met is what a rule did.
type met struct {
	decided, matched         int64
	decidedURLs, matchedURLs map[string]bool
}

// metSlowly asks each rule that binds a crawler alone. A request counts for each crawler that is asked for.
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

// isNear reports whether an estimate is within five times its error.
func isNear(got aggregate.Estimate, want int64) bool {
	return math.Abs(float64(got.N-want)) <= 5*got.Error*float64(got.N)
}

// TestSampled holds that, when most URLs are not looked at, numbers that are said to be exact are, that others
// are within what they say, and that the page says so.
func TestSampled(t *testing.T) {
	for round, agents := range [][]string{nil, {"bingbot"}, {"*", "bingbot", "Googlebot"}} {
		all := many(rand.New(rand.NewPCG(uint64(round), 19)), 80_000)
		q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, Agents: agents}, workers: 2, Options: Options{Memory: 1 << 20}}
		if agents == nil {
			q.LogAgents = engine.LogAgentsStar
		}
		c, stats := counted(t, sites, all, q)
		want := slowly(all, agents)
		checkAsked(t, c, want)
		v := c.newView(&Run{Stats: stats})
		if !v.Sampled || v.URLs.Error == 0 || !isNear(v.URLs, int64(len(want.urls))) {
			t.Errorf("sampled is %t; %d URLs are %+v", v.Sampled, len(want.urls), v.URLs)
		}
		if got := [2]parted{{v.Served.Total, v.Served.Others}, {v.Failed.Total, v.Failed.Others}}; got != [2]parted{want.totalServed, want.totalBad} {
			t.Errorf("%+v were served and failed, want %+v and %+v", got, want.totalServed, want.totalBad)
		}
		checkMet(t, c, metSlowly(all, agents))
		checkNear(t, c.tree, want)
		checkSure(t, &v.Paths)
		var page bytes.Buffer
		if err := Write(&page, c, &Run{Stats: stats}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), "counted from a sample of the URLs") || !strings.Contains(page.String(), ">~") {
			t.Error("the page does not say that it counts from a sample")
		}
	}
}

// checkMet compares what rules did.
func checkMet(t *testing.T, c *Counter, want map[string]*met) {
	t.Helper()
	files, _ := c.Busiest(10)
	estimates := 0
	for _, f := range files {
		for i := range f.Rules {
			r := &f.Rules[i]
			w := want[fmt.Sprint(string(f.Origin), " ", r.Line)]
			matched := aggregate.Estimate{N: r.Matched.Requests, Error: math.Sqrt(r.Matched.Variance) / float64(max(1, r.Matched.Requests))}
			if r.Decided.Requests != w.decided || r.Decided.Variance != 0 || !isNear(matched, w.matched) {
				t.Errorf("%s, line %d: decided %d, matched %+v, want %d and %d", f.Origin, r.Line, r.Decided.Requests, matched, w.decided, w.matched)
			}
			if !isNear(r.Decided.URLs, int64(len(w.decidedURLs))) || !isNear(r.Matched.URLs, int64(len(w.matchedURLs))) {
				t.Errorf("%s, line %d: %+v and %+v URLs, want %d and %d", f.Origin, r.Line, r.Decided.URLs, r.Matched.URLs, len(w.decidedURLs), len(w.matchedURLs))
			}
			if matched.Error > 0 && matched.Error < 0.1 {
				estimates++
			}
		}
	}
	if estimates == 0 {
		t.Error("no rule has an estimate")
	}
}

// checkNear compares the nodes of the tree, as far as they are not said to lack rows.
func checkNear(t *testing.T, tr *tree, want *slow) {
	t.Helper()
	compared, names := 0, make([]string, len(tr.nodes))
	for i := range tr.nodes {
		n := &tr.nodes[i]
		if i == 0 || n.parent < 0 {
			continue
		}
		if names[i] = string(tr.name(uint32(i))); n.parent > 0 {
			names[i] = names[n.parent] + "|" + names[i]
		}
		got, w := n.rows, want.paths[names[i]]
		off := 5 * rowsError(n.level, got, n.variance) * float64(got)
		if n.exact {
			off = 0
		}
		if float64(got)-off > float64(w) || float64(got+n.missed)+off < float64(w) {
			t.Errorf("%s: %d rows ± %.0f, missed %d; want %d", names[i], got, off, n.missed, w)
		}
		if off < float64(got) {
			compared++
		}
	}
	if compared < 5 {
		t.Errorf("%d paths have a number that says something", compared)
	}
}

// checkSure holds that no path is shown that may have no request at all.
func checkSure(t *testing.T, p *Path) {
	t.Helper()
	for i := range p.Below {
		if below := &p.Below[i]; below.Error >= 0.5 {
			t.Errorf("%s is shown with %s", below.Name, below.Number())
		}
		checkSure(t, &p.Below[i])
	}
}

// TestSmallOrigin holds that nothing is an estimate of an origin all of whose rows were looked at, though
// few are of another one; and that of that one what is nearly all of it is nearly exact.
func TestSmallOrigin(t *testing.T) {
	var all []fetch
	for i := range 60_000 {
		all = append(all, fetch{url: fmt.Sprintf("https://a.example/p/%d/%d", i%7, i), at: noTime})
		if i%100 == 0 {
			all = append(all, fetch{url: fmt.Sprintf("https://b.example/%d/%d", i%3, i), at: noTime})
		}
	}
	q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 1, Options: Options{Memory: 1 << 20}}
	c, stats := counted(t, sites, all, q)
	v := c.newView(&Run{Stats: stats})
	if below := v.Paths.Below; len(below) != 2 || below[0].Number() != "60,000" || below[0].ShareError != 0 || below[0].Denied != 60_000 {
		t.Fatalf("the origins are %+v", below)
	}
	weight := float64(int64(1) << c.tree.nodes[0].level)
	for p := v.Paths.Below[0].Below[0]; ; p = p.Below[0] {
		if off := p.Error * float64(p.Requests); off == 0 || (off > weight) != (p.Depth > 3) {
			t.Errorf("%s has %s requests; one stands for up to %g", p.Name, p.Number(), weight)
		}
		if p.Depth > 3 {
			break
		}
	}
	want := map[string]string{"https://b.example": "600", "/": "600", "0/": "200"}
	for p := v.Paths.Below[1]; len(p.Below) > 0; p = p.Below[0] {
		if p.Number() != want[p.Name] || p.ShareError != 0 {
			t.Errorf("%s has %s requests, want %s; the error of its share is %g", p.Name, p.Number(), want[p.Name], p.ShareError)
		}
	}
}

// TestLate holds that an origin that comes late, when hardly any URL is looked at, has its robots.txt and rules
// counted, and that origins that share a text are told apart.
func TestLate(t *testing.T) {
	const text = "User-agent: *\nDisallow: /p\n"
	bodies := map[robots.Origin]string{"https://a.example": text, "https://b.example": text, "https://c.example": "User-agent: *\nDisallow: /q\n"}
	var all []fetch
	for i := range 200_000 {
		all = append(all, fetch{url: "https://a.example/p/" + spelt(i), at: noTime})
	}
	all = append(all, fetch{url: "https://b.example/p/" + spelt(200_000), at: noTime}, fetch{url: "https://c.example/q", at: noTime})
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

// TestVersions holds that URLs are counted for each text that is in force in the course of a log.
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
		all = append(all, fetch{url: "https://a.example/p/" + spelt(int(i%50)), at: at.UnixMicro() + i*second})
	}
	c := NewCounter(store, Options{Status: 1})
	if _, err := engine.Run(t.Context(), store, &source{all, 100}, c, engine.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	files, _ := c.Busiest(3)
	if len(files) != 2 || c.whole.URLs().N != 50 {
		t.Fatalf("%d URLs; %+v", c.whole.URLs().N, files)
	}
	for _, f := range files {
		if d := f.Rules[0].Decided; d.Requests != 100 || d.URLs.N != 50 || f.First.Equal(*f.Last) {
			t.Errorf("from %s to %s: %+v, want 100 requests of 50 URLs", f.First, f.Last, d)
		}
	}
}

// TestManyKinds holds that, where there are more kinds of rows than there is memory for, sums stay exact, and no
// rule is named for what another one denied.
func TestManyKinds(t *testing.T) {
	bodies, all := map[robots.Origin]string{}, []fetch(nil)
	for n := range 400 {
		origin := robots.Origin(fmt.Sprintf("https://%d.example", n))
		bodies[origin] = fmt.Sprintf("# %d\nUser-agent: *\nDisallow: /a\nDisallow: /b%d\n", n, n)
		all = append(all, fetch{url: string(origin) + "/a", at: noTime}, fetch{url: fmt.Sprintf("%s/b%d", origin, n), at: noTime}, fetch{url: string(origin) + "/", at: noTime})
	}
	c, stats := counted(t, bodies, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 1, Options: Options{Memory: 1 << 18}})
	files, more := c.Busiest(1000)
	told, decided := int64(0), int64(0)
	for _, f := range files {
		told += f.Requests
		for i := range f.Rules {
			decided += f.Rules[i].Decided.Requests
			if n := f.Rules[i].Decided.Requests; n > 1 {
				t.Errorf("%s: line %d decided %d requests of one", f.Origin, f.Rules[i].Line, n)
			}
		}
	}
	if len(c.kinds.all) <= c.kinds.most || c.ruled.untold == 0 || told+c.ruled.untold != int64(len(all)) || more != 0 || 3*decided != 2*told {
		t.Errorf("%d kinds of %d; %d rows told and %d not, of %d; %d decided", len(c.kinds.all), c.kinds.most, told, c.ruled.untold, len(all), decided)
	}
	if root := c.tree.nodes[0]; root.rows != int64(len(all)) || root.denied != stats.Denied {
		t.Errorf("%d rows, %d denied of %d", root.rows, root.denied, stats.Denied)
	}
	v := c.newView(&Run{Stats: stats})
	for _, site := range v.Paths.Below {
		number := strings.TrimSuffix(strings.TrimPrefix(site.Name, "https://"), ".example")
		for _, path := range append(site.Below[0].Below, site.Below[0]) {
			if _, rule, _ := strings.Cut(path.By, "/b"); rule != "" && rule != number {
				t.Errorf("%s%s is denied by %s", site.Name, path.Name, path.By)
			}
		}
	}
}

// TestSpread holds that estimates are as far from the truth as they say, also where many crawlers fetch the
// same URLs one after the other, and where the same URLs come again.
func TestSpread(t *testing.T) {
	bots := []string{"bingbot", "Googlebot", "GPTBot", "ClaudeBot", "CCBot", "PerplexityBot", "YandexBot", "Applebot", "AhrefsBot", "SemrushBot"}
	logs := map[string]func(rng *rand.Rand, i int) (bot, url int){
		"each by one":        func(rng *rand.Rand, i int) (int, int) { return rng.IntN(len(bots)), i },
		"each by all":        func(_ *rand.Rand, i int) (int, int) { return i % len(bots), i / len(bots) },
		"all again by one":   func(_ *rand.Rand, i int) (int, int) { return 0, i % 20_000 },
		"all again by other": func(_ *rand.Rand, i int) (int, int) { return i / 20_000 % len(bots), i % 20_000 },
	}
	for name, next := range logs {
		compared, far := 0, 0
		for seed := range uint64(3) {
			rng, all, want := rand.New(rand.NewPCG(seed, 21)), []fetch(nil), map[string]int64{}
			for i := range 120_000 {
				bot, n := next(rng, i)
				hash := aggregate.Hash(fmt.Append(nil, seed, n))
				path := fmt.Sprintf("https://a.example/%d/", hash%8)
				want[path]++
				all = append(all, fetch{url: path + spelt(int(hash>>40)), userAgent: bots[bot] + "/1.0", at: noTime})
			}
			bodies := map[robots.Origin]string{"https://a.example": "User-agent: *\nDisallow: /1\n"}
			c, stats := counted(t, bodies, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1, Options: Options{Memory: 1 << 20}})
			v := c.newView(&Run{Stats: stats})
			for _, p := range v.Paths.Below[0].Below[0].Below {
				n := want["https://a.example/"+p.Name]
				if p.Missed != 0 || n == 0 || p.Error == 0 {
					t.Fatalf("%s: %+v, want %d", name, p, n)
				}
				if compared++; math.Abs(float64(p.Requests-n)) > 2*p.Error*float64(p.Requests) {
					far++
				}
			}
		}
		if compared != 24 || far > 4 { // one of 20 is beyond twice the error; five of 24 are once in 160 logs
			t.Errorf("%s: %d of %d numbers are beyond twice their error", name, far, compared)
		}
	}
}

// TestShares holds that shares are as far from the truth as they say, and say little more: where all URLs are sampled, where
// those that come often are all allowed, and for several crawlers; and that they are exact for what has all requests.
func TestShares(t *testing.T) {
	const often = 400 // URLs that come again and again
	for name, log := range map[string]struct {
		agents []string
		seldom int // of 4 rows
	}{"all seldom": {nil, 4}, "half seldom": {nil, 2}, "several": {[]string{"*", "bingbot"}, 4}} {
		compared, far, wide := 0, 0, 0
		for seed := range uint64(3) {
			rng, all, rows, denied := rand.New(rand.NewPCG(seed, 22)), []fetch(nil), map[string]float64{}, map[string]float64{}
			for i := range 120_000 {
				n, end := rng.IntN(1<<30), ""
				if rng.IntN(4) >= log.seldom {
					n = rng.IntN(often)
				} else if rng.IntN(3) == 0 {
					end = []string{"x", "y"}[i%2]
				}
				path := fmt.Sprintf("%d/", n%8)
				rows[path]++
				switch {
				case end == "x", end == "y" && log.agents == nil:
					denied[path]++
				case end == "y": // for one of two
					denied[path] += 0.5
				}
				all = append(all, fetch{url: "https://a.example/" + path + spelt(n) + end, userAgent: "Googlebot/2.1", at: noTime})
			}
			bodies := map[robots.Origin]string{"https://a.example": "User-agent: *\nDisallow: /*x$\nDisallow: /*y$\n\nUser-agent: bingbot\nDisallow: /*x$\n"}
			q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, Agents: log.agents}, workers: 1, Options: Options{Memory: 1 << 20}}
			if log.agents == nil {
				q.LogAgents = engine.LogAgentsStar
			}
			c, stats := counted(t, bodies, all, q)
			v := c.newView(&Run{Stats: stats})
			site := &v.Paths.Below[0]
			if site.Error != 0 || site.ShareError != 0 || site.Denied != stats.Denied || site.ShareText() != percent(share(stats.Denied, stats.Rows)) {
				t.Errorf("%s: all requests are %+v; %d are denied", name, site, stats.Denied)
			}
			for _, p := range site.Below[0].Below {
				if p.ShareError == 0 || p.Missed != 0 {
					t.Fatalf("%s: %+v", name, p)
				}
				off := math.Abs(p.Share - denied[p.Name]/rows[p.Name])
				if compared++; off > 2*p.ShareError {
					far++
				}
				if off > p.ShareError/4 {
					wide++
				}
			}
		}
		if compared != 24 || far > 4 || wide < 8 { // of an error that is right, a quarter is exceeded in 19 of 24 cases
			t.Errorf("%s: of %d shares %d are beyond twice their error, and %d beyond a quarter", name, compared, far, wide)
		}
	}
}

func TestPortion(t *testing.T) {
	for want, p := range map[string][3]float64{
		"0%": {}, "12.3%": {0.123, 0.123, 0}, "12.3–13.0%": {0.123, 0.13, 0}, "~12.3% ±0.40 points": {0.123, 0.123, 0.002}, "~12.3–13.0% ±1.5 points": {0.123, 0.13, 0.0075},
		"~40.0% ±24 points": {0.4, 0.4, 0.12}, "~0% ±100 points": {0, 0, 3}, "50.0%": {0.5, 0.5, 0.0001}, "<0.01–0.02%": {0.00001, 0.0002, 0}, "~0.50% ±0.01 points": {0.005, 0.005, 0.00004},
	} {
		if got := portion(p[0], p[1], p[2]); got != want {
			t.Errorf("%v is %q, want %q", p, got, want)
		}
	}
}
