package report

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/listing"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// changed returns the counter of a page about a run with two stores, of the previous rules and of sites, and the run.
func changed(t *testing.T, old map[robots.Origin]string, all []fetch, o engine.StoreOptions) (*Counter, *Run) {
	t.Helper()
	before, err := engine.BuildStore(responses(old), o)
	if err != nil {
		t.Fatal(err)
	}
	now, err := engine.BuildStore(responses(sites), o)
	if err != nil {
		t.Fatal(err)
	}
	c, changes := NewCounter(now, Options{Status: 1}), aggregate.NewChanges(now, before, aggregate.ChangesOptions{})
	stats, err := engine.Run(t.Context(), now, &source{all, 100}, &tee{c, changes}, engine.Options{Workers: 1, Old: before})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, c)
	if err := changes.Finish(); err != nil {
		t.Fatal(err)
	}
	return c, &Run{Stats: stats, Old: "old.txt", Changes: changes.Report(50)}
}

// A tee writes to two sinks.
type tee struct{ a, b engine.Sink }

func (s *tee) Write(b *engine.Batch) error {
	if err := s.a.Write(b); err != nil {
		return err
	}
	return s.b.Write(b)
}

func (s *tee) Close() error { return nil }

// TestChanges checks that the sums equal those over the crawlers, in total and by rule, and that crawlers without
// changes are counted in one row.
func TestChanges(t *testing.T) {
	all := fetches(rand.New(rand.NewPCG(7, 18)), 3000)
	old := map[robots.Origin]string{"https://a.example": "User-agent: *\nDisallow: /q\n", "https://b.example": sites["https://b.example"]}
	for _, fromLog := range []bool{true, false} {
		o := engine.StoreOptions{Dialect: robots.Google, Agents: []string{"Googlebot", "GPTBot", "bingbot"}}
		if fromLog {
			o.Agents, o.LogAgents = nil, engine.LogAgentsStar
		}
		c, run := changed(t, old, all, o)
		v := c.newView(run).Changes
		var sum changeView
		for i := range v.Changed {
			if v.Changed[i].Agent == "*" {
				t.Error("other clients are called *")
			}
			sum.addRequests(&v.Changed[i])
		}
		if sum.Requests+v.SameOf != v.Total.Requests || sum.Closed.Requests != v.Total.Closed.Requests || sum.Closed.Requests == 0 || sum.Opened.Requests == 0 {
			t.Errorf("%+v, want the sum %+v", v.Total, sum)
		}
		rules := map[string]int64{}
		for _, r := range v.Rules {
			rules[r.Kind] += r.Requests
			if r.Crawlers < 1 || r.Crawlers > int64(len(v.Changed)) {
				t.Errorf("%+v", r)
			}
		}
		if rules["closed"] != sum.Closed.Requests || rules["opened"] != sum.Opened.Requests {
			t.Errorf("rules closed and opened %v, want %d and %d", rules, sum.Closed.Requests, sum.Opened.Requests)
		}
		page := pageOf(t, c, run)
		for _, part := range []string{"<h3>Googlebot</h3>", "Closed: " + show.Number(sum.Closed.Requests) + " of " + show.Number(sum.Requests), "Changes by rule", `<tr><th scope="row">all</th>`} {
			if !strings.Contains(page, part) {
				t.Errorf("no %s", part)
			}
		}
		if unit := strings.Contains(page, "verdicts (one for each request and crawler)"); unit == fromLog {
			t.Errorf("with crawlers of the log %v, but the page calls the numbers verdicts: %v", fromLog, unit)
		}
		c, run = changed(t, sites, all, o)
		if v = c.newView(run).Changes; len(v.Changed) > 0 || v.Same == 0 {
			t.Errorf("identical rules gave changes: %+v", v)
		}
		if page = pageOf(t, c, run); !strings.Contains(page, "Nothing changed: none of the "+show.Number(v.Total.Requests)) || strings.Contains(page, `data-name="changes"`) {
			t.Error("the page does not say that nothing changed")
		}
	}
}

// pageOf returns the page.
func pageOf(t *testing.T, c *Counter, run *Run) string {
	t.Helper()
	var page bytes.Buffer
	if err := Write(&page, c, run); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// TestTableNames checks that each table has a unique name.
func TestTableNames(t *testing.T) {
	old := map[robots.Origin]string{"https://a.example": "User-agent: *\nDisallow: /q\n"}
	c, run := changed(t, old, fetches(rand.New(rand.NewPCG(8, 18)), 3000), engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar})
	for _, origin := range []string{"https://a.example", "https://b.example"} {
		text := []byte(sites[robots.Origin(origin)])
		use := Use{Line: 2, Rule: "Disallow: /p", Decided: Count{Requests: 3}, Asked: []aggregate.Asked{{Agent: 1, Requests: 3}}}
		file := File{Origin: origin, Origins: 1, Requests: 3, Text: text, Report: robots.Inspect(text, robots.Google), Uses: []Use{use}}
		older := file
		older.When = "from 2026-01-01 to 2026-01-02"
		run.Files = append(run.Files, file, older)
	}
	tables := regexp.MustCompile(`<table[^>]*>`).FindAllString(pageOf(t, c, run), -1)
	if len(tables) < 12 {
		t.Errorf("%d tables", len(tables))
	}
	names := map[string]bool{}
	for _, table := range tables {
		m := regexp.MustCompile(`data-name="([^"]+)" aria-label="([^"]+)"`).FindStringSubmatch(table)
		if m == nil {
			t.Errorf("no name: %s", table)
			continue
		}
		if names[m[1]] || names["label "+m[2]] {
			t.Errorf("again: %s", table)
		}
		names[m[1]], names["label "+m[2]] = true, true
	}
}

// TestHeading checks that the heading names the busiest host, over all its schemes, and counts the others.
func TestHeading(t *testing.T) {
	of := func(origins int64, busiest ...engine.BusyOrigin) *Run {
		run := &Run{Inputs: []string{`C:\logs\x.log`}}
		run.Stats.Origins = origins
		copy(run.Stats.TopOrigins[:], busiest)
		return run
	}
	for want, run := range map[string]*Run{
		"www.a.example":                     of(2, engine.BusyOrigin{Origin: "https://www.a.example", Rows: 3}, engine.BusyOrigin{Origin: "http://www.a.example", Rows: 2}),
		"b.example:8080 and 1 other host":   of(3, engine.BusyOrigin{Origin: "https://www.a.example", Rows: 4}, engine.BusyOrigin{Origin: "http://b.example:8080", Rows: 3}, engine.BusyOrigin{Origin: "https://b.example:8080", Rows: 2}),
		"c.example and 1,199 other origins": of(1200, engine.BusyOrigin{Origin: "https://c.example", Rows: 9}, engine.BusyOrigin{Origin: "https://a.example", Rows: 8}),
		"x.log":                             of(0),
		"robots.txt report":                 {},
	} {
		if got := (&view{Run: run}).Heading(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTogether checks that sets of crawlers have a row even if some of their crawlers were also requested separately,
// and that the page separates crawlers from unidentified clients.
func TestTogether(t *testing.T) {
	all := fetches(rand.New(rand.NewPCG(9, 18)), 1000)
	c, stats := counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, Agents: []string{"GPTBot", "bingbot/2.0", "Googlebot", "me"}}, workers: 1})
	v := c.newView(&Run{Stats: stats})
	if len(v.Sums) != 2 || v.Sums[0].Name != "search engines" || v.Sums[1].Name != "all" {
		t.Fatalf("%+v", v.Sums) // the set @ai has one crawler and a row of its own
	}
	var requests, denied int64
	for i := range v.Crawlers {
		if row := &v.Crawlers[i]; row.Name == "bingbot/2.0" || row.Name == "Googlebot" {
			requests, denied = requests+row.Requests, denied+row.Denied
		}
	}
	if s := &v.Sums[0]; s.Requests != requests || s.Denied != denied || denied == 0 {
		t.Errorf("%+v, want %d of %d", s, denied, requests)
	}
	if s := &v.Sums[1]; s.Requests != 4000 || s.Denied != stats.Denied || s.URLs != nil {
		t.Errorf("%+v, want %d of 4000 verdicts", s, stats.Denied)
	}
	if v.Own.Requests+v.Others.Requests != 0 {
		t.Error("requested crawlers are separated from unidentified clients")
	}
	c, stats = counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1})
	v = c.newView(&Run{Stats: stats})
	if v.Own.Denied+v.Others.Denied != stats.Denied || v.Own.Denied == 0 || v.Others.Denied == 0 {
		t.Errorf("%d by crawlers and %d by others, want %d", v.Own.Denied, v.Others.Denied, stats.Denied)
	}
}

// TestAll compares the row of all crawlers with the statistics of the run, and response shares with slow counts.
func TestAll(t *testing.T) {
	all := fetches(rand.New(rand.NewPCG(10, 18)), 3000)
	c, stats := counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 2})
	v := c.newView(&Run{Stats: stats})
	names := map[string]string{clients[0]: "bingbot", clients[1]: "Googlebot", clients[2]: otherClients, clients[3]: "Google-Read-Aloud"}
	answers := map[string]*[6]int64{}
	for _, name := range append(slices.Collect(maps.Values(names)), "all") {
		answers[name] = new([6]int64)
	}
	urls := map[string]bool{}
	for _, f := range all {
		if f.url == "no url" {
			continue
		}
		urls[f.url] = true
		if class := f.status / 100; class > 0 {
			answers[names[f.userAgent]][class]++
			answers["all"][class]++
		}
	}
	sum := v.Sums[len(v.Sums)-1]
	if sum.Name != "all" || sum.Requests != 3000 || sum.Denied != stats.Denied || sum.Violations != stats.Violations || *sum.URLs != int64(len(urls)) || sum.Spark == "" {
		t.Errorf("all: %+v, %d URLs; want %+v, %d URLs", sum, *sum.URLs, stats, len(urls))
	}
	for _, row := range append(v.Crawlers, sum) {
		of := answers[row.Name]
		var want [4]string
		for i := range want {
			want[i] = show.Percent(float64(of[i+2]) / float64(of[1]+of[2]+of[3]+of[4]+of[5]))
		}
		if got := row.Shares(); got != want || got[0] == "0%" {
			t.Errorf("%s: %s, want %s", row.Name, got, want)
		}
	}
	c, stats = counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, Agents: []string{"bingbot"}}, workers: 1})
	if sums := c.newView(&Run{Stats: stats}).Sums; len(sums) > 0 {
		t.Errorf("one crawler has sums: %+v", sums)
	}
}

// TestLinesLeftOut checks which lines of a robots.txt the page leaves out.
func TestLinesLeftOut(t *testing.T) {
	uses := []Use{{Line: 3, Rule: "Disallow: /p", Decided: Count{Requests: 1}}, {Line: 6, Rule: "Disallow: /q"}}
	f := listing.View{File: &File{Origin: "https://a.example", Origins: 1, Uses: uses}, Hidden: 4}
	f.Lines = []listing.Line{{No: 3, Text: uses[0].Rule, Use: &uses[0], Gap: 1}, {No: 6, Text: uses[1].Rule, Use: &uses[1], Gap: 2}}
	var got bytes.Buffer
	if err := page().Lookup("rules").Execute(&got, &view{Run: &Run{}, Listings: []listing.View{f}}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{">1 line left out<", ">2 lines left out<", ">4 lines are left out in total"} {
		if !strings.Contains(got.String(), part) {
			t.Errorf("no %s", part)
		}
	}
}
