package sitemaps

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// logged is the number of requests of crawlers for a URL.
type logged struct{ requests, served, failed int64 }

// TestCheck compares all numbers with slow counts that use sets of texts and [robots.Decide], for crawlers of the log
// and for requested crawlers.
func TestCheck(t *testing.T) {
	const text = "User-agent: Googlebot\nDisallow: /private/\nDisallow: /*?q=\n\nUser-agent: *\nDisallow: /private/a\n"
	const origin = robots.Origin("https://a.example")
	crawlers := []Crawler{{"Googlebot", true}, {"GPTBot", false}, {"bingbot", true}}
	rng := rand.New(rand.NewPCG(34, 6))
	url := func() string {
		return string(origin) + []string{"/p/%d", "/private/%d", "/private/a%d", "/p?q=%d"}[rng.IntN(4)] + fmt.Sprintf("x%d", rng.IntN(600))
	}
	var entries []string
	listed, log := map[string]bool{}, map[string]logged{}
	builder := sitemap.NewBuilder(robots.Google, 0)
	for range 1500 {
		one := strings.Replace(url(), "%d", "", 1)
		entries = append(entries, one)
		listed[one] = true
		if _, err := builder.AddURL([]byte(one)); err != nil {
			t.Fatal(err)
		}
	}
	for range 1500 {
		one := strings.Replace(url(), "%d", "", 1)
		n := int64(rng.IntN(5))
		log[one] = logged{n, n / 2, n - n/2}
	}
	odd := func(one string) string { return strings.Replace(one, string(origin), "HTTPS://A.example:443", 1) }
	for _, one := range entries { // some URLs have two spellings: the sum of their requests counts, which may exceed 16 bits
		if rng.IntN(4) == 0 {
			n, failed := rng.Int64N(100_000), rng.Int64N(100_000)
			log[one], log[odd(one)] = logged{n, n, 0}, logged{failed, 0, failed}
		}
	}
	for i := range 50 { // of a site without sitemaps
		log[fmt.Sprintf("https://b.example/%d", i)] = logged{3, 3, 0}
	}
	file := robots.Parse([]byte(text), robots.Google)
	for _, fromLog := range []bool{true, false} {
		opt := engine.StoreOptions{Dialect: robots.Google, Sitemaps: builder.Set()}
		if fromLog {
			opt.LogAgents = engine.LogAgentsStar
		} else {
			for _, c := range crawlers {
				opt.Agents = append(opt.Agents, c.Name)
			}
		}
		store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
			yield(robots.Response{Origin: origin, Status: 200, Body: []byte(text)}, nil)
		}, opt)
		if err != nil {
			t.Fatal(err)
		}
		c := New(builder.Set())
		for one, n := range log {
			c.AddURL([]byte(one), n.requests, n.served, n.failed)
		}
		got, err := c.Check(store, fromLog, crawlers, func(add func([]byte, string, int64) error) error {
			for i, one := range entries {
				if err := add([]byte(one), "x", int64(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := View{Entries: int64(len(entries)), Listed: int64(len(listed))}
		forbidden, rules := map[string]int64{}, map[int64]int64{}
		for one := range listed {
			n, again := log[one], log[odd(one)]
			if n.requests+again.requests > 0 {
				want.Crawled++
			} else {
				want.Never++
			}
			if n.failed+again.failed > n.served+again.served {
				want.Failing++
			}
			denied, closed, lines := false, false, map[int64]bool{}
			for _, crawler := range crawlers {
				bound, _ := file.Select(robots.NewAgent(crawler.Name, robots.Google))
				winner := robots.Decide(bound, []byte(strings.TrimPrefix(one, string(origin))), robots.Google)
				if winner < 0 || bound[winner].Allow {
					continue
				}
				denied, closed = true, closed || crawler.Search
				forbidden[crawler.Name]++
				lines[int64(bound[winner].Line)] = true
			}
			want.Forbidden += bit(denied)
			want.Closed += bit(closed)
			for line := range lines {
				rules[line]++
			}
		}
		for one, n := range log {
			one = strings.Replace(one, odd(string(origin)), string(origin), 1)
			if n.requests > 0 && strings.HasPrefix(one, string(origin)) {
				want.In, want.Out = want.In+bit(listed[one]), want.Out+bit(!listed[one])
			}
		}
		if got.Entries != want.Entries || got.Listed != want.Listed || got.Crawled != want.Crawled || got.Never != want.Never || got.Failing != want.Failing ||
			got.Forbidden != want.Forbidden || got.Closed != want.Closed || got.In != want.In || got.Out != want.Out {
			t.Errorf("got %+v, want %+v", *got, want)
		}
		for _, o := range got.Crawlers {
			if o.Forbidden != forbidden[o.Name] || o.Forbidden == 0 {
				t.Errorf("%s: %d, want %d", o.Name, o.Forbidden, forbidden[o.Name])
			}
		}
		if len(got.Rules) != len(rules) {
			t.Errorf("%d rules, want %d", len(got.Rules), len(rules))
		}
		for _, r := range got.Rules {
			if r.URLs != rules[r.Line] || r.URLs == 0 || r.Origin != string(origin) || len(r.Examples) != shownEach {
				t.Errorf("%+v, want %d", r, rules[r.Line])
			}
		}
		if len(got.Others) != shownURLs || slices.ContainsFunc(got.Others, func(u URL) bool { return listed[u.Text] || log[u.Text].requests != u.Requests }) {
			t.Errorf("others %+v", got.Others)
		}
	}
}

// bit is 1 for true.
func bit(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
