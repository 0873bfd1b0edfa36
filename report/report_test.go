package report

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/paths"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// A fetch is a row of a log.
type fetch struct {
	url, userAgent string
	at             int64 // engine.NoTime is none
	status         int64 // 0 is none
}

// A source yields fetches.
type source struct {
	all  []fetch
	most int // of a batch
}

func (s *source) Next(b *engine.Batch) bool {
	b.Reset()
	if b.Kept == nil {
		b.Kept = []engine.Kept{{Kind: engine.KeptInt}}
	}
	n := min(s.most, len(s.all))
	for i, f := range s.all[:n] {
		b.AddURL([]byte(f.url), int64(i+1))
		b.UserAgents = append(b.UserAgents, engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(f.userAgent))})
		b.Data = append(b.Data, f.userAgent...)
		b.Times = append(b.Times, f.at)
		b.Kept[0].Ints, b.Kept[0].Present = append(b.Kept[0].Ints, f.status), append(b.Kept[0].Present, f.status != 0)
	}
	s.all = s.all[n:]
	return n > 0
}

func (s *source) Err() error   { return nil }
func (s *source) Close() error { return nil }

// A question is how a test runs.
type question struct {
	engine.StoreOptions
	Options
	workers int
}

// counted runs the fetches through a store of the given rules and counts them. The store is open until the test ends.
func counted(t *testing.T, bodies map[robots.Origin]string, all []fetch, q question) (*Counter, engine.Stats) {
	t.Helper()
	store, err := engine.BuildStore(responses(bodies), q.StoreOptions)
	if err != nil {
		t.Fatal(err)
	}
	q.Status = 1
	c := NewCounter(store, q.Options)
	stats, err := engine.Run(t.Context(), store, &source{all, 100 * q.workers}, c, engine.Options{Workers: q.workers})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, c)
	return c, stats
}

// settle ends a count.
func settle(t *testing.T, c *Counter) {
	t.Helper()
	t.Cleanup(c.CloseTemp)
	if err := c.Settle(); err != nil {
		t.Fatal(err)
	}
}

func responses(bodies map[robots.Origin]string) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, o := range slices.Sorted(maps.Keys(bodies)) {
			if !yield(robots.Response{Origin: o, Status: 200, Body: []byte(bodies[o]), Name: string(o)}, nil) {
				return
			}
		}
	}
}

// sites are the robots.txt files of two origins. A third origin has none.
var sites = map[robots.Origin]string{
	"https://a.example": "User-agent: *\nDisallow: /p/\nAllow: /p/q/\nCrawl-delay: 2\n\nUser-agent: bingbot\nDisallow: /q\nDisallow: /*.php\n",
	"https://b.example": "User-agent: *\nDisallow: /\n",
}

var clients = []string{
	"Mozilla/5.0 (compatible; bingbot/2.0)", "Mozilla/5.0 (compatible; Googlebot/2.1)", "Mozilla/5.0 (X11) Firefox/140.0", "Google-Read-Aloud",
}

// fetches returns made-up requests. Some of them repeat.
func fetches(rng *rand.Rand, number int) (all []fetch) {
	at := time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC)
	for range number {
		names := []string{[]string{"https://a.example", "https://a.example", "https://b.example", "http://c.example:8080"}[rng.IntN(4)]}
		for range 1 + rng.IntN(4) {
			names = append(names, []string{"", "p", "q", "r.php", "long name", "é"}[rng.IntN(6)])
		}
		url := strings.Join(names, "/") + []string{"", "", "?a=" + strconv.Itoa(rng.IntN(9)), "#x", "?"}[rng.IntN(5)]
		if rng.IntN(40) == 0 {
			url = "no url"
		}
		f := fetch{url: url, userAgent: clients[rng.IntN(len(clients))], at: at.UnixMicro(), status: []int64{0, 200, 200, 301, 304, 404, 503, 99}[rng.IntN(8)]}
		at = at.Add(time.Duration(rng.IntN(9)-1) * time.Second)
		if rng.IntN(30) == 0 {
			f.at = engine.NoTime
		}
		all = append(all, f)
	}
	return all
}

// A slow holds the expected numbers of the page, counted row by row.
type slow struct {
	paths                 map[string]int64
	denied                map[string]int64
	urls                  map[string]bool
	served, failed        map[string]int64
	requests              map[string]int64
	gaps                  map[string][]int64
	hours                 map[string][3]int64
	decided               map[string]int64 // by origin, line and crawler
	totalServed, totalBad sumOf
}

// plus adds rows of a crawler. Rows of known crawlers are also listed.
func (p sumOf) plus(crawler string, listed map[string]int64, key string, n int64) sumOf {
	if crawler == "*" {
		p.others += n
		return p
	}
	p.own += n
	listed[key] += n
	return p
}

// slowly evaluates each row with Decide, for the requested crawlers or for the crawler of the row.
func slowly(all []fetch, agents []string) *slow {
	s := &slow{
		paths: map[string]int64{}, denied: map[string]int64{}, urls: map[string]bool{}, served: map[string]int64{}, failed: map[string]int64{},
		requests: map[string]int64{}, gaps: map[string][]int64{}, hours: map[string][3]int64{}, decided: map[string]int64{},
	}
	last := map[string]int64{}
	for _, f := range all {
		u, err := robots.SplitURL([]byte(f.url))
		if err != nil {
			continue
		}
		who, mine := agents, ""
		if agents == nil {
			mine = []string{"bingbot", "Googlebot", "*", "Google-Read-Aloud"}[slices.Index(clients, f.userAgent)]
			who = []string{mine}
		}
		origin, _ := robots.AppendOrigin(nil, u)
		denied := int64(0)
		for _, name := range who {
			rules, _ := robots.Parse([]byte(sites[robots.Origin(origin)]), robots.Google).Select(robots.NewAgent(name, robots.Google))
			path, _ := robots.Google.Path(u.Path, nil)
			n := robots.Decide(rules, path, robots.Google)
			if n < 0 {
				continue
			}
			s.decided[fmt.Sprint(string(origin), " ", rules[n].Line, " ", name)]++
			if !rules[n].Allow {
				denied++
			}
		}
		c := aggregate.RowCounts{Rows: 1}
		if mine != "" && mine != "*" && mine != "Google-Read-Aloud" {
			c.Violations = denied
		}
		if f.status/100 == 2 || f.status == 304 {
			c.Served = 1
		}
		if f.status/100 == 4 || f.status/100 == 5 {
			c.Failed = 1
		}
		for _, path := range prefixes(f.url, len(u.Prefix)) {
			s.paths[path]++
			s.denied[path] += denied
		}
		s.urls[f.url] = true
		key := f.url + " " + mine
		s.requests[key]++
		if denied > 0 {
			s.totalServed = s.totalServed.plus(mine, s.served, key, c.Served)
		}
		if denied < int64(len(who)) {
			s.totalBad = s.totalBad.plus(mine, s.failed, key, c.Failed)
		}
		if f.at == engine.NoTime {
			continue
		}
		hour := time.UnixMicro(f.at).UTC().Format("2006-01-02 15:00")
		sum := s.hours[hour]
		s.hours[hour] = [3]int64{sum[0] + 1, sum[1] + min(1, denied), sum[2] + c.Violations}
		key = mine + " " + string(origin)
		if before, known := last[key]; known {
			s.gaps[key] = append(s.gaps[key], f.at-before)
		}
		last[key] = f.at
	}
	return s
}

// prefixes returns the names of the tree nodes of a URL, each with the names of its parents.
func prefixes(url string, prefix int) []string {
	all, rest := []string{url[:prefix]}, url[prefix:]
	rest, _, _ = strings.Cut(rest, "#")
	path, _, hasQuery := strings.Cut(rest, "?")
	for path != "" && len(all) < paths.MaxDepth {
		end := strings.IndexByte(path, '/') + 1
		if end == 0 {
			end = len(path)
		}
		all = append(all, all[len(all)-1]+"|"+path[:end])
		path = path[end:]
	}
	if hasQuery && len(all) < paths.MaxDepth {
		all = append(all, all[len(all)-1]+"|?")
	}
	return all
}

// TestCounter compares the counts with slow counts, for requested crawlers and for crawlers of the log.
func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 18))
	for round := range 6 {
		all := fetches(rng, 3000)
		q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 1 + round%3}
		var agents []string
		switch round % 3 {
		case 0:
			q.LogAgents = engine.LogAgentsStar
		case 1:
			agents = []string{"bingbot"}
		case 2:
			agents = []string{"*", "bingbot", "Googlebot"}
		}
		q.Agents = agents
		c, stats := counted(t, sites, all, q)
		want := slowly(all, agents)
		checkRequested(t, c, all)
		v := c.newView(&Run{Stats: stats})
		if v.URLs != int64(len(want.urls)) {
			t.Errorf("%+v URLs, want %d", v.URLs, len(want.urls))
		}
		checkPaths(t, c, want)
		checkAsked(t, c, want)
		checkLists(t, v, want)
		checkTimes(t, v, want, agents == nil)
	}
}

// checkRequested compares the most requested URLs of an origin by crawler.
func checkRequested(t *testing.T, c *Counter, all []fetch) {
	t.Helper()
	const origin = "https://a.example"
	want := map[string]map[int]int64{}
	for _, f := range all {
		path, ok := strings.CutPrefix(f.url, origin)
		if !ok {
			continue
		}
		if want[path] == nil {
			want[path] = map[int]int64{}
		}
		for a, name := range c.store.Options().Agents {
			client := slices.Index([]string{"bingbot", "Googlebot", "*", "Google-Read-Aloud"}, name)
			if !c.fromLog || client >= 0 && f.userAgent == clients[client] {
				want[path][a]++
			}
		}
	}
	sites := make([][]engine.SiteID, 2)
	for site := range engine.SiteID(c.store.NumSites()) {
		if c.store.NewLookup().Origin(site) == origin {
			sites[1] = append(sites[1], site)
		} else {
			sites[0] = append(sites[0], site)
		}
	}
	got := c.MostRequested(sites, 1_000_000)[1]
	if len(got) != len(want) {
		t.Fatalf("%d URLs, want %d", len(got), len(want))
	}
	last := int64(1_000_000)
	for _, r := range got {
		counts := map[int]int64{}
		for _, n := range r.Counts {
			counts[n.Agent] = n.Requests
		}
		if !maps.Equal(counts, want[r.Path]) || r.requests > last {
			t.Fatalf("%s: %v after %d, want %v", r.Path, counts, last, want[r.Path])
		}
		last = r.requests
	}
	if few := c.MostRequested(sites[1:], 7)[0]; len(few) != 7 || few[6].Path != got[6].Path {
		t.Errorf("of seven: %v", few)
	}
	both := map[string]int64{}
	for _, f := range all {
		for _, o := range []string{origin, "https://b.example"} {
			if path, ok := strings.CutPrefix(f.url, o); ok && c.fromLog {
				both[path]++
			}
		}
	}
	for _, r := range c.MostRequested([][]engine.SiteID{slices.Concat(sites...)}, 1_000_000)[0] {
		if c.fromLog && r.requests != both[r.Path] {
			t.Fatalf("%s requested on both origins: %d, want %d", r.Path, r.requests, both[r.Path])
		}
	}
}

// checkAsked compares the requests that each line decided, by crawler.
func checkAsked(t *testing.T, c *Counter, want *slow) {
	t.Helper()
	got := map[string]int64{}
	files, more := c.Busiest(10)
	for _, f := range files {
		for i := range f.Rules {
			r, sum, last := &f.Rules[i], int64(0), int64(math.MaxInt64)
			for _, n := range r.Asked {
				got[fmt.Sprint(string(f.Origin), " ", r.Line, " ", c.store.Options().Agents[n.Agent])] = n.Requests
				if sum += n.Requests; n.Requests > last {
					t.Errorf("line %d: crawlers %v are not sorted", r.Line, r.Asked)
				}
				last = n.Requests
			}
			if sum != r.Decided.Requests {
				t.Errorf("line %d decided %d requests, but its crawlers have %d", r.Line, r.Decided.Requests, sum)
			}
		}
	}
	if len(files) != 2 || more != 0 || !maps.Equal(got, want.decided) {
		t.Errorf("%d files and %d more: lines decided %v, want %v", len(files), more, got, want.decided)
	}
}

// checkPaths compares the paths of a page. There are few, so the page shows all of them.
func checkPaths(t *testing.T, c *Counter, want *slow) {
	t.Helper()
	var compare func(p *paths.Path, above string) int
	compare = func(p *paths.Path, above string) int {
		shown := 0
		for _, b := range p.Below {
			name := strings.TrimSuffix(above+b.Name, "…")
			if b.Requests != want.paths[name] || b.Denied != want.denied[name] || (b.Rule >= 0) != (b.Denied > 0) {
				t.Fatalf("%s: %+v; want %d, %d", name, b, want.paths[name], want.denied[name])
			}
			shown += 1 + compare(b, name+"|")
		}
		return shown
	}
	if shown := compare(c.root, ""); shown != len(want.paths) && shown < 100 {
		t.Errorf("%d paths, want %d", shown, len(want.paths))
	}
}

// checkLists compares the lists of URLs.
func checkLists(t *testing.T, v *view, want *slow) {
	t.Helper()
	for _, l := range []struct {
		name  string
		got   *list
		want  map[string]int64
		total sumOf
	}{{"served", v.Served, want.served, want.totalServed}, {"failed", v.Failed, want.failed, want.totalBad}} {
		if got := (sumOf{l.got.Total, l.got.Others}); got != l.total || l.total.own == 0 {
			t.Errorf("%s: %+v in all, want %+v", l.name, got, l.total)
		}
		sorted := slices.SortedFunc(maps.Values(l.want), func(a, b int64) int { return cmp.Compare(b, a) })
		for i, row := range l.got.Rows {
			key := row.URL + " " + row.Crawler
			if row.Requests != l.want[key] || row.Requests != sorted[i] || row.Of != want.requests[key] {
				t.Fatalf("%s: row %d is %+v, want %d requests of %d; the list has %d there", l.name, i, row, l.want[key], want.requests[key], sorted[i])
			}
		}
	}
}

// checkTimes compares the hours.
func checkTimes(t *testing.T, v *view, want *slow, fromLog bool) {
	t.Helper()
	if v.Time.Step != "hour" {
		t.Fatalf("by %s", v.Time.Step)
	}
	seen := 0
	for i, row := range v.Time.Rows {
		hour := want.hours[row.At]
		if !fromLog {
			hour[2] = 0
		}
		if got := [3]int64{row.All, row.Denied, row.Bad}; got != hour {
			t.Errorf("%s: %v, want %v", row.At, got, hour)
		}
		if !fromLog {
			hour[2] = hour[1]
		}
		if got := v.Time.Chart.Lines[0].Marks[i]; got != hour[2] {
			t.Errorf("%s: the chart marks %d requests, want %d", row.At, got, hour[2])
		}
		if row.All > 0 {
			seen++
		}
	}
	if seen != len(want.hours) {
		t.Errorf("%d hours, want %d", seen, len(want.hours))
	}
}

// TestSameBytes checks that the page has the same bytes in each run, with any number of workers.
func TestSameBytes(t *testing.T) {
	all := fetches(rand.New(rand.NewPCG(2, 18)), 5000)
	var first []byte
	for _, workers := range []int{1, 2, 3, 1} {
		c, stats := counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: workers})
		var page bytes.Buffer
		if err := Write(&page, c, &Run{Version: "v", Inputs: []string{"x.log"}, Stats: stats}); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = page.Bytes()
		}
		if !bytes.Equal(first, page.Bytes()) {
			t.Errorf("%d workers write another page", workers)
		}
	}
}

// TestBounded checks that tables do not grow beyond their limits, and that sums stay exact.
func TestBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 18))
	const rows = 60_000
	all := make([]fetch, rows)
	for i := range all {
		n := rng.IntN(200) * rng.IntN(200) // few are requested often
		if rng.IntN(3) == 0 {
			n = 1000 + i // each once
		}
		all[i] = fetch{url: fmt.Sprintf("https://a.example/p/%d/%d", n%97, n), userAgent: clients[i%2], at: int64(i) * 1e6, status: 200}
	}
	q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 2, Options: Options{Memory: 1}}
	c, _ := counted(t, sites, all, q)
	if !c.requests.Spilled() {
		t.Fatal("all requests were in memory")
	}
	want := slowly(all, nil)
	if c.served.total != want.totalServed {
		t.Errorf("%+v were served, want %+v", c.served.total, want.totalServed)
	}
	if root := c.root; root.Requests != rows || len(root.Below) != 1 || root.Below[0].Requests != rows {
		t.Errorf("%+v", root)
	}
}

// TestSpellings checks that all spellings of an origin count as one, and that no user name is kept.
func TestSpellings(t *testing.T) {
	var all []fetch
	for i := range 500 {
		for _, origin := range []string{"https://a.example", "https://A.example:443", "HTTPS://a.example.", "https://me:secret@a.example"} {
			all = append(all, fetch{url: fmt.Sprintf("%s/dir/%d", origin, i%50), at: engine.NoTime})
		}
	}
	c, stats := counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 2})
	v := c.newView(&Run{Stats: stats})
	if below := v.Paths.Below; len(below) != 1 || below[0].Name != "https://a.example" || below[0].Requests != 2000 {
		t.Errorf("the origins are %+v", below)
	}
	urls := c.MostRequested([][]engine.SiteID{{0}}, 100)[0]
	if len(urls) != 50 || !strings.HasPrefix(urls[0].Path, "/dir/") || urls[0].requests != 40 {
		t.Errorf("%d URLs, the first of them %+v", len(urls), urls[0])
	}
	for _, r := range c.requested.Items() {
		if strings.Contains(string(r.path), "secret") {
			t.Error("a password is kept")
		}
	}
}

// TestRulesBounded checks that the counts by rule stay within their memory limit, and that the page states how many
// requests they omit.
func TestRulesBounded(t *testing.T) {
	bodies, all := map[robots.Origin]string{}, []fetch(nil)
	for n := range 400 {
		origin := robots.Origin(fmt.Sprintf("https://%d.example", n))
		bodies[origin] = fmt.Sprintf("# %d\nUser-agent: *\nDisallow: /a\nDisallow: /*b\nDisallow: /*c\nDisallow: /*d\n", n)
		for i := range 1 + max(0, 60-n) {
			all = append(all, fetch{url: fmt.Sprintf("%s/%s%d", origin, []string{"a", "ab", "abc", "x", "ad", "acd"}[i%6], i), at: engine.NoTime})
		}
	}
	q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google}, workers: 2, Options: Options{Memory: 400 << 10}}
	c, stats := counted(t, bodies, all, q)
	busiest, more := c.Busiest(1000)
	told, decided := int64(0), int64(0)
	for _, f := range busiest {
		told += f.Requests
		for _, r := range f.Rules {
			decided += r.Decided.Requests
		}
	}
	if limit := int64(400<<10) * 3 / 16; c.rules.Size() > limit*9/8 || len(busiest) < 20 || len(busiest) >= 400 || more != 0 {
		t.Errorf("%d robots.txt files take %d bytes, the limit is %d; %d more were not counted", len(busiest), c.rules.Size(), limit, more)
	}
	if told+c.rules.uncounted != int64(len(all)) || decided == 0 || busiest[0].Requests != 61 {
		t.Errorf("%d requests of %d are counted by rule, %d are not; %d decided; the busiest has %d", told, len(all), c.rules.uncounted, decided, busiest[0].Requests)
	}
	var page bytes.Buffer
	run := &Run{Stats: stats, Files: []File{{Origin: string(busiest[0].Origin), Requests: 61, Text: []byte(bodies[busiest[0].Origin])}}}
	if err := Write(&page, c, run); err != nil {
		t.Fatal(err)
	}
	if note := show.Plural(c.rules.uncounted, "request") + " are not in these numbers: the memory"; !strings.Contains(page.String(), note) {
		t.Errorf("the page lacks %q", note)
	}
}

// hostile are texts that would have an effect if they became markup, script or style.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'onmouseover='alert(1)`, `</script><script>alert(1)</script>`, `</style><b>`,
	`javascript:alert(1)`, `{{.}}`, "<!--", "]]>", `\u003cscript>`, "\u202efdp", "\x00\x1b[31m", "\xff<svg/onload=alert(1)>", "</template>", "=1+1", "&lt;b&gt;",
}

// TestHostile writes hostile texts everywhere, and searches the page for the markup or script that they would have
// become.
func TestHostile(t *testing.T) {
	var all []fetch
	var rules strings.Builder
	rules.WriteString("User-agent: *\n")
	for i, text := range hostile {
		path := strings.NewReplacer("\n", "", "#", "").Replace(text)
		rules.WriteString("Disallow: /" + path + "\n# " + text + "\n" + text + "\n")
		all = append(all, fetch{url: "https://a.example/" + path + "?" + path, userAgent: "bingbot " + text, at: int64(i) * 3600e6, status: 200})
		all = append(all, fetch{url: "https://a.example/ok/" + path, userAgent: text, at: int64(i) * 3600e6, status: 404})
	}
	body, agents := rules.String(), append([]string{"*"}, hostile...)
	for _, fromLog := range []bool{true, false} {
		q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, Agents: agents}, workers: 1}
		if fromLog {
			q.LogAgents = engine.LogAgentsStar
		}
		c, stats := counted(t, map[robots.Origin]string{"https://a.example": body}, all, q)
		run := &Run{Stats: stats, Inputs: hostile, Rules: hostile[0], Old: hostile[1], Version: hostile[2], RulesHash: hostile[3]}
		for _, text := range hostile {
			run.Flags = append(run.Flags, Flag{"-agent", text})
			run.Warnings = append(run.Warnings, Warning{Code: "x", Text: text, Examples: []string{text}})
			run.Files = append(run.Files, File{
				Origin: text, Requests: 3, Origins: 2, Text: []byte(body), Report: robots.Inspect([]byte(body), robots.Google),
				Uses: []Use{{Line: 2, Rule: text}}, Findings: []Finding{{Line: 2, Severity: "error", Code: "y", Text: text, Do: text}},
			})
			run.Diagnosis.Findings = append(run.Diagnosis.Findings, diagnose.Row{
				Code: diagnose.Outage, Class: "A", Sentence: text, When: text, Evidence: diagnose.Evidence{Rule: text, Network: text}, Remedy: diagnose.Remedy{Action: text, Pattern: text, Text: text + "\n"},
				Effects: []diagnose.Effect{{Code: diagnose.CrawlerStopped, Agents: []string{text}, Path: text}},
			})
			run.Diagnosis.Limits = append(run.Diagnosis.Limits, diagnose.Row{Sentence: text})
		}
		var page bytes.Buffer
		if err := Write(&page, c, run); err != nil {
			t.Fatal(err)
		}
		checkMarkup(t, page.String())
	}
}

// checkMarkup checks that a page has only the elements and attributes of the templates.
func checkMarkup(t *testing.T, page string) {
	t.Helper()
	scripts := regexp.MustCompile(`(?s)<(script|style)([^>]*)>.*?</(script|style)>`)
	for _, m := range scripts.FindAllStringSubmatch(page, -1) {
		if attributes := strings.TrimSpace(m[2]); attributes != "" && attributes != `type="application/json" id="chart-data"` && attributes != `type="application/json" id="crawler-data"` {
			t.Errorf("a script %q", attributes)
		}
	}
	page = strings.Replace(scripts.ReplaceAllString(page, "<script>"), favicon, "", 1)
	if n := strings.Count(page, "<script>"); n > 4+3 {
		t.Errorf("%d scripts and styles", n)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`</?([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*/?>`).FindAllStringSubmatch(page, -1) {
		names[m[1]] = true
		for _, a := range regexp.MustCompile(`\s([a-zA-Z-]+)(="([^"]*)")?`).FindAllStringSubmatch(m[2], -1) {
			if name := strings.ToLower(a[1]); strings.HasPrefix(name, "on") || name == "style" || name == "src" || name == "href" && !strings.HasPrefix(a[3], "#") {
				t.Errorf("an attribute: %s of %q", a[1], m[0])
			}
		}
	}
	for _, name := range []string{"img", "b2", "iframe", "object", "embed", "template", "link", "base", "form"} {
		if names[name] {
			t.Errorf("an element <%s>", name)
		}
	}
	if stray := regexp.MustCompile(`<[^a-zA-Z/!]|<!--|\x00|\x1b|\x{202e}`).FindString(page); stray != "" {
		t.Errorf("%q in the page", stray)
	}
	for _, part := range []string{"alert(1)>", "<svg/", "onerror=alert(1)>", "</style><b>"} {
		if strings.Contains(page, part) {
			t.Errorf("%q in the page", part)
		}
	}
}

// TestNoScriptNeeded checks that a page without its scripts still has its tables and bars.
func TestNoScriptNeeded(t *testing.T) {
	c, stats := counted(t, sites, fetches(rand.New(rand.NewPCG(6, 18)), 2000), question{
		StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1,
	})
	var page bytes.Buffer
	if err := Write(&page, c, &Run{Stats: stats}); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(page.String(), "")
	for _, part := range []string{
		`<table data-name="crawlers" aria-label="Crawlers">`, `<th scope="row">Googlebot<small>`, `<table data-name="time" aria-label="Requests by hour">`, `<path class="all" d="M`,
		`<tr class="i1"><th scope="row">https://a.example</th>`, "Disallowed but served", `http-equiv="Content-Security-Policy"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s", part)
		}
	}
}

// TestPolicy checks that the policy has the hash of each script and style, and that no text closes its element early.
func TestPolicy(t *testing.T) {
	h := header{title: "x"}
	h.addStyle("a{}")
	h.addScript("1")
	if got, want := h.policy(), "default-src 'none'; script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='; "+
		"style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; img-src data:; base-uri 'none'; form-action 'none'"; got != want {
		t.Error(got)
	}
	h.wasm = true
	if !strings.Contains(h.policy(), "'wasm-unsafe-eval'; style-src") {
		t.Error(h.policy())
	}
	for _, name := range []string{"report.js", "uplot.min.js", "style.css", "uplot.min.css", "LICENSE-uplot"} {
		if text := strings.ToLower(pageFile(name)); strings.Contains(text, "</s") || strings.Contains(text, "<!--") {
			t.Errorf("%s ends its element", name)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"/a b": "/a b", "é": "é", "\x00\u202e": `\u{0}\u{202E}`, "\xffx": "%FFx", strings.Repeat("x", 300): strings.Repeat("x", 240) + "…",
		strings.Repeat("é", 240): strings.Repeat("é", 240), "/a\ufe0f\U000e0101\u034f": `/a\u{FE0F}\u{E0101}\u{34F}`, "\u2800": `\u{2800}`,
	} {
		if got := show.Text(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	for in, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := show.Number(in); got != want {
			t.Errorf("%d is %s", in, got)
		}
	}
	for in, want := range map[float64]string{0: "0%", 1: "100%", 0.00001: "<0.01%", 0.99999: ">99.99%", 0.005: "0.50%", 0.5: "50.0%", 0.9999: "99.99%"} {
		if got := show.Percent(in); got != want {
			t.Errorf("%g is %s, want %s", in, got, want)
		}
	}
}

// TestRobotsFetched checks that requests for a robots.txt never count as disallowed on the page, because crawlers
// must fetch it: for crawlers of the log and for requested crawlers.
func TestRobotsFetched(t *testing.T) {
	bot, at := clients[1], time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC).UnixMicro()
	all := []fetch{
		{url: "https://b.example/robots.txt", userAgent: bot, at: at, status: 200},
		{url: "https://b.example/robots.txt?x", userAgent: bot, at: at, status: 200},
		{url: "https://b.example/x/robots.txt", userAgent: bot, at: at, status: 200},
	}
	for n := range len(all) + 1 {
		for _, agents := range [][]string{nil, {"bingbot"}, {"*", "bingbot"}} {
			q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, Agents: agents}, workers: 1}
			if agents == nil {
				q.LogAgents = engine.LogAgentsStar
			}
			c, stats := counted(t, sites, all[n:], q)
			run := &Run{Stats: stats}
			want, verdicts := int64(min(1, len(all)-n)), int64(max(1, len(agents)))
			v, crawlers := c.newView(run), int64(0)
			for _, row := range v.Crawlers {
				crawlers += row.Denied
			}
			if v.Served.Total != want || len(v.Served.Rows) != int(want) || want > 0 && v.Served.Rows[0].URL != all[2].url {
				t.Errorf("of %d for %v: %+v", len(all)-n, agents, v.Served)
			}
			if v.Denied != want*verdicts || crawlers != want*verdicts || v.Paths.Denied != want*verdicts || want > 0 && v.Time.Rows[0].Denied != want {
				t.Errorf("%d requests for %v: %d disallowed in total, %d by crawler, %d by path", len(all)-n, agents, v.Denied, crawlers, v.Paths.Denied)
			}
		}
	}
}

// TestApart checks the rows that the page shows for requests outside of its chart.
func TestApart(t *testing.T) {
	all := fetches(rand.New(rand.NewPCG(8, 18)), 500)
	for i := range all {
		all[i].at = time.Date(2026, 1, 5+i/20, 22, 0, 0, 0, time.UTC).UnixMicro()
	}
	stray := fetch{url: "https://a.example/q", userAgent: clients[0], at: 0, status: 200}
	late := stray
	late.at = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
	c, stats := counted(t, sites, append(all, stray, late), question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1})
	var page bytes.Buffer
	if err := Write(&page, c, &Run{Stats: stats}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2026-01-05 22:00:00 to 2026-01-29 22:59:59 UTC, except 2 requests",
		"Not in the chart: 1 request before it, at 1970-01-01 00:00:00, and 1 request after it, at 9999-12-31 23:59:59 UTC. The table has them in its last rows.",
		`<tr><th scope="row">before<small>at 1970-01-01 00:00:00</small></th><td class="n">1</td><td class="n">1</td><td class="n">1</td>`,
		"The bars exclude 2 requests far from the others: see Time.",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestTxtAnswers checks that responses to requests for robots.txt are not counted among those of pages.
func TestTxtAnswers(t *testing.T) {
	var all []fetch
	for i := range 60 {
		f := fetch{url: "https://a.example/q/1", userAgent: clients[1], at: 1_770_000_000_000_000 + int64(i)*1e6, status: 200}
		if i%3 > 0 {
			f.url, f.status = "https://a.example"+robots.TxtPath+[]string{"", "?x=1"}[i%3-1], 404
		}
		all = append(all, f)
	}
	c, stats := counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1})
	v := c.newView(&Run{Stats: stats})
	if row := v.Crawlers[0]; row.Classes != [statuses]int64{2: 20} || v.Failed.Total != 0 {
		t.Errorf("answers are %v, %d fail", row.Classes, v.Failed.Total)
	}
}
