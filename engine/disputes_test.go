package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// readByReference returns the answers of all readings of the agent's operator for a path as written, by the reference.
func readByReference(body []byte, name, raw string, d robots.Dialect) (by [MaxReadings]ReadBy, allows bool) {
	for i, reading := range robots.Readings(name, d) {
		rules, _ := robots.Parse(body, reading).Select(robots.NewAgent(name, reading))
		path, _ := reading.Path([]byte(raw), nil)
		by[i] = ReadBy{Dialect: reading, Allows: true}
		if winner := robots.Decide(rules, path, reading); winner >= 0 {
			by[i].Allows, by[i].Line = rules[winner].Allow, rules[winner].Line
		}
		if reading.AlwaysAllowed(path) {
			by[i].Allows, by[i].Line = true, 0
		}
		allows = allows || by[i].Allows
	}
	return by, allows
}

// disputeAgents are crawlers of all kinds of operators, with and without habits.
var disputeAgents = []string{
	"*", "Googlebot", "Googlebot-News", "AdsBot-Google", "bingbot", "msnbot", "GPTBot", "YandexBot", "YandexImages", "Yandex", "YandexMobileBot",
	"CCBot", "foobot", "a", "b", "Googlebot-x", "Yandexfoo",
}

// disputed counts the cases that a test of disputes has covered.
type disputed struct{ rows, denied, disputes int }

// checkDisputes compares the disputes of a batch with the reference in each kind of store, for given agents and for the
// crawlers of a log.
func (n *disputed) check(t *testing.T, body []byte, paths []string, d robots.Dialect, packs bool) {
	t.Helper()
	var urls []string
	for _, path := range paths {
		if !strings.HasPrefix(path, "/") || strings.Contains(path, "\n") {
			path = "/" + path
		}
		urls = append(urls, "https://a.com"+path)
	}
	response := robots.Response{Origin: "https://a.com", Status: 200, Body: body}
	for _, opt := range []StoreOptions{{Dialect: d, Agents: disputeAgents}, {Dialect: d, LogAgents: LogAgentsStar}, {Dialect: d, LogAgents: LogAgentsSkip}} {
		memory, err := BuildStore(sequence([]robots.Response{response}), opt)
		if err != nil {
			t.Fatal(err)
		}
		stores := map[string]*Store{"memory": memory}
		if packs {
			for how, s := range waysToOpen(t, makePack(t, d, response), opt) {
				stores[how] = s
			}
		}
		for how, s := range stores {
			b := newBatch(urls...)
			if opt.LogAgents != LogAgentsOff {
				var rows []logRow
				for i, url := range urls { // some rows have the same crawler as the row before, so that one may lead the next
					rows = append(rows, logRow{disputeAgents[(n.rows+i/6)%len(disputeAgents)] + "/1.0", url})
				}
				b = logBatch(rows)
			}
			s.NewEvaluator().Evaluate(b)
			look := s.NewLookup()
			look.Use(b)
			agents := s.agentsPerURL()
			next := 0
			for row := range b.URLs {
				raw := strings.TrimPrefix(string(b.URL(row)), "https://a.com")
				for a := range agents {
					n.rows++
					name := look.AgentName(b.Rulings[row], b.agent(row, a))
					var want *Dispute
					if b.Verdicts[row*agents+a].Access == Denied {
						n.denied++
						by, allows := readByReference(body, name, raw, s.opt.Dialect)
						if allows && !b.IsTxt(row) && robots.NewAgent(name, d).Token != "" {
							want = &Dispute{uint32(row), uint32(a), by}
							n.disputes++
						}
					}
					var got *Dispute
					if next < len(b.Disputes) && int(b.Disputes[next].Row) == row && int(b.Disputes[next].Verdict) == a {
						got = &b.Disputes[next]
						next++
					}
					if (got == nil) != (want == nil) || got != nil && !got.sameAnswers(want) {
						t.Fatalf("%v, %s, mode %d: %s of %s is %+v, want %+v by\n%s", s.opt.Dialect, how, opt.LogAgents, raw, name, got, want, body)
					}
					if opt.LogAgents != LogAgentsOff && (want != nil) && b.Violations[row] != ViolationUnknown {
						t.Fatalf("%v, %s: %s is a violation of %s by\n%s", s.opt.Dialect, how, raw, name, body)
					}
				}
			}
			if next != len(b.Disputes) {
				t.Fatalf("%s: only the first %d of %d disputes are as expected", how, next, len(b.Disputes))
			}
			if s.Err() != nil {
				t.Fatal(s.Err())
			}
		}
	}
}

// sameAnswers reports whether two disputes are equal except for lines: if several rules have the same effect, another
// of them may be the longest.
func (d *Dispute) sameAnswers(other *Dispute) bool {
	for i := range d.By {
		if d.By[i].Dialect != other.By[i].Dialect || d.By[i].Allows != other.By[i].Allows {
			return false
		}
	}
	return d.Row == other.Row && d.Verdict == other.Verdict
}

// disputeDialects are the dialects of the runs.
var disputeDialects = []robots.Dialect{
	robots.Google, robots.RFC9309, robots.Yandex, robots.Google2010, robots.Google | robots.WideTokens, robots.Yandex | robots.EmptyAllowIgnored, robots.Google | robots.URLAsIs,
	robots.RFC9309 | robots.URLAsIs,
}

// disputeText returns a robots.txt with lines that readings understand differently.
func disputeText(r *rand.Rand) []byte {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	var sb strings.Builder
	for range 1 + r.IntN(14) {
		switch r.IntN(9) {
		case 0, 1, 2:
			sb.WriteString(pick("User-agent: ", "user-agent: ", "useragent: ", "User agent: ") + pick(append([]string{"*", "* x", "bingbot x", "2b", "a", "b"}, disputeAgents...)...))
		case 3:
			sb.WriteString(pick("Crawl-delay: 1", "", "# c", "Sitemap: /s", "Host: x"))
		default:
			sb.WriteString(pick("Disallow: ", "Disallow: ", "Allow: ", "Disalow: ", "Disallow ", "allowed: "))
			sb.WriteString(pick("", "/", "/a", "/a*", "/a$", "/*b", "/a/b", "a", "*", "*b$", "/%61", "/a b", "/a/index.html", "/é", "/%2A", "/a$b", "/a**b", "/*/b", "/a/*", "/~a", "/%7Ea", "/*%", "/*2"))
		}
		sb.WriteString("\n")
	}
	return []byte(sb.String())
}

var disputePaths = []string{
	"/", "/a", "/ab", "/a/b", "/a/", "/b", "/%61", "/a b", "/a%20b", "/é", "/*", "/a*", "/%2A", "/a$b", "/a%24b", "/~a", "/%7Ea", "/%7ea", "/x/b", "/a/index.html", "/robots.txt", "/aab#c", "/a?b",
	"/%72obots.txt", "/r%6Fbots.txt?x", "/robots%2Etxt", "/robots.txtx", "/r", "/r%C3%A9", "/ab/%7e", "/ab/*",
}

// TestDisputes compares random texts.
func TestDisputes(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 5))
	var n disputed
	texts := 1500
	if testing.Short() {
		texts = 300
	}
	for i := range texts {
		n.check(t, disputeText(r), disputePaths, disputeDialects[r.IntN(len(disputeDialects))], i%5 == 0)
	}
	if n.disputes < n.rows/100 {
		t.Errorf("%d disputes of %d denying verdicts, %d rows", n.disputes, n.denied, n.rows)
	}
	t.Logf("%d rows, %d denied, %d disputes", n.rows, n.denied, n.disputes)
}

// TestDisputesReal compares real texts, unchanged and edited.
func TestDisputesReal(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 6))
	var names []string
	for _, c := range crawlers.Set("all") {
		names = append(names, c.Token)
	}
	var n disputed
	for i, body := range repcase.Robots(t) {
		if testing.Short() && i%40 > 0 {
			continue
		}
		paths := repcase.PathsLike(r, body, 60)
		if i%3 == 0 {
			body = repcase.Edit(r, body, paths, names)
		}
		n.check(t, body, paths, disputeDialects[r.IntN(len(disputeDialects))], i%50 == 0)
	}
	t.Logf("%d rows, %d denied, %d disputes", n.rows, n.denied, n.disputes)
}

func FuzzDisputes(f *testing.F) {
	r := rand.New(rand.NewPCG(51, 7))
	for i := range 20 {
		f.Add(disputeText(r), disputePaths[i%len(disputePaths)], uint8(i))
	}
	f.Fuzz(func(t *testing.T, body []byte, path string, dialect uint8) {
		new(disputed).check(t, body, append([]string{path}, disputePaths[:8]...), disputeDialects[int(dialect)%len(disputeDialects)], false)
	})
}

// TestDisputed checks the common cases of real sites: a URL that only some readings disallow is not a violation, and
// the first dispute is the example.
func TestDisputed(t *testing.T) {
	const delay = "User-agent: bingbot\nCrawl-delay: 1\n\nUser-agent: AhrefsBot\nDisallow: /search\n"
	const star = "User-agent: *\nCrawl-delay: 10\nUser-agent: CCBot\nDisallow: /\n"
	const typo = "User-agent: *\nDisalow: /x\n"
	const named = "User-agent: WireReaderBot\nCrawl-delay: 10\nUser-agent: CCBot\nDisallow: /\n"
	const plain = "User-agent: *\nDisallow: /x\nAllow: /x/y\n"
	for _, c := range []struct {
		text, agent, path string
		want              Violation
	}{
		{delay, "bingbot", "/search", ViolationUnknown},
		{delay, "AhrefsBot", "/search", Violated},
		{delay, "bingbot", "/", NoViolation},
		{star, "bingbot", "/", ViolationUnknown},
		{star, "CCBot", "/", Violated},
		{star, "Googlebot", "/", Violated},
		{typo, "bingbot", "/x", ViolationUnknown},
		{typo, "Googlebot", "/x", Violated},
		{typo, "YandexBot", "/x", ViolationUnknown},
		{named, "WireReaderBot", "/", ViolationUnknown},
		{plain, "bingbot", "/x", Violated},
		{plain, "bingbot", "/x/y", NoViolation},
		{plain, "YandexBot", "/x", Violated},
		{"User-agent: *\nAllow: /\nDisallow: /*/people/\n", "YandexBot", "/x/people/", ViolationUnknown},
		{"User-agent: *\nAllow: /\nDisallow: /*/people/\n", "bingbot", "/x/people/", Violated},
		{"User-agent: *\nDisallow: /\nUser-agent: Yandex\nAllow: /\n", "YandexBot", "/x", ViolationUnknown},
		{"User-agent: *\nDisallow: /\nAllow: /~a\n", "bingbot", "/%7Ea", ViolationUnknown},
		{"User-agent: *\nDisallow: /\nAllow: /~a\n", "Googlebot", "/%7Ea", Violated},
	} {
		s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, "https://a.com", c.text)
		for _, old := range []*Store{nil, s} { // if there is an old store, its verdicts decide violations
			source := &caseSource{c: &namedCase{rows: []namedRow{{0, c.agent + "/1.0", c.path}, {0, c.agent + "/1.0", c.path}}}}
			sink := &violations{}
			stats, err := Run(context.Background(), s, source, sink, Options{Workers: 2, Old: old})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sink.all, []Violation{c.want, c.want}) {
				t.Errorf("%s at %s: %v, want %v by\n%s", c.agent, c.path, sink.all, c.want, c.text)
			}
			if d := stats.Disputes; (d.Rows == 2) != (c.want == ViolationUnknown) || d.Rows > 0 &&
				(d.Worst[0] != BusyOrigin{"https://a.com", 2} || d.Example.URL != "https://a.com"+c.path || !strings.EqualFold(d.Example.Agent, c.agent) || d.Example.Line == 0) {
				t.Errorf("%s at %s: %+v", c.agent, c.path, d)
			}
		}
	}
}

// violations keeps the violations of rows.
type violations struct{ all []Violation }

func (s *violations) Write(b *Batch) error { s.all = append(s.all, b.Violations...); return nil }
func (s *violations) Close() error         { return nil }

// TestDisputedCopy checks that a crawler may use an older copy that one reading allows.
func TestDisputedCopy(t *testing.T) {
	s, err := BuildStore(sequence([]robots.Response{
		{Origin: "https://a.com", Status: 200, FetchedAt: day(1, 0), Body: []byte("User-agent: *\nDisalow: /x\n")},
		{Origin: "https://a.com", Status: 200, FetchedAt: day(2, 0), Body: []byte("User-agent: *\nDisallow: /x\n")},
	}), StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, RowTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string][]Violation{
		"bingbot":   {ViolationUnknown, ViolationUnknown, Violated},
		"Googlebot": {Violated, Violated, Violated},
	} {
		b := logBatch([]logRow{{agent, "https://a.com/x"}, {agent, "https://a.com/x"}, {agent, "https://a.com/x"}})
		b.Times = []int64{day(1, 30).UnixMicro(), day(2, 1).UnixMicro(), day(3, 30).UnixMicro()}
		s.NewEvaluator().Evaluate(b)
		if !slices.Equal(b.Violations, want) {
			t.Errorf("%s: %v, want %v", agent, b.Violations, want)
		}
	}
}

// TestOpened checks that there is no violation of a text that readers of yandex ignore, because its response has
// another status than 200 or because it is the last good copy; nor just after a failure, which opens the site for them.
// Google's crawlers have no such reading. All stores agree.
func TestOpened(t *testing.T) {
	closed := []byte("User-agent: *\nDisallow: /x\n")
	fetch := func(at time.Time, status int) robots.Response {
		r := robots.Response{Origin: "https://a.com", Status: status, FetchedAt: at}
		if status/100 == 2 {
			r.Body = closed
		}
		return r
	}
	for name, test := range map[string]struct {
		captures []robots.Response
		rows     bool
		at       time.Time
		bing     Violation // for Googlebot, it is always Violated
	}{
		"206":                      {[]robots.Response{fetch(day(1, 0), 206)}, true, day(9, 0), ViolationUnknown},
		"206 at a moment":          {[]robots.Response{fetch(day(1, 0), 206)}, false, day(9, 0), ViolationUnknown},
		"206, then 200":            {[]robots.Response{fetch(day(1, 0), 206), fetch(day(2, 0), 200)}, false, day(9, 0), Violated},
		"a copy at a moment":       {[]robots.Response{fetch(day(1, 0), 200), fetch(day(2, 0), 503), fetch(day(50, 0), 503)}, false, day(9, 0), ViolationUnknown},
		"206, time unknown":        {[]robots.Response{fetch(time.Time{}, 206)}, false, day(9, 0), ViolationUnknown},
		"200":                      {[]robots.Response{fetch(day(1, 0), 200)}, false, day(9, 0), Violated},
		"200, by the row":          {[]robots.Response{fetch(day(1, 0), 200)}, true, day(9, 0), Violated},
		"a copy":                   {[]robots.Response{fetch(day(1, 0), 200), fetch(day(2, 0), 503)}, true, day(50, 0), ViolationUnknown},
		"an hour after a failure":  {[]robots.Response{fetch(day(1, 0), 200), fetch(day(2, 0), 503), fetch(day(3, 0), 200)}, true, day(3, 1), ViolationUnknown},
		"two days after a failure": {[]robots.Response{fetch(day(1, 0), 200), fetch(day(2, 0), 503), fetch(day(3, 0), 200)}, true, day(5, 1), Violated},
	} {
		opt := StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, RowTimes: test.rows}
		s, err := BuildStore(sequence(test.captures), opt)
		if err != nil {
			t.Fatal(err)
		}
		if other := buildStore(t, opt, "https://a.com", "User-agent: *\nDisallow: /y\n"); !test.rows {
			for _, pair := range [][]*Store{{s, s}, {s, other}, {other, s}} {
				if origins, same, err := Differing(pair[0], pair[1]); err != nil || len(origins)+same != 1 || (same == 1) != (pair[0] == pair[1]) {
					t.Errorf("%s: %v differ and %d are equal, %v", name, origins, same, err)
				}
			}
		}
		for agent, want := range map[string]Violation{"bingbot": test.bing, "YandexBot": test.bing, "Googlebot": Violated} {
			b := logBatch([]logRow{{agent, "https://a.com/x"}})
			b.Times = []int64{test.at.UnixMicro()}
			s.NewEvaluator().Evaluate(b)
			if b.Violations[0] != want {
				t.Errorf("%s: %s is %v, want %v", name, agent, b.Violations[0], want)
			}
		}
	}
}

// TestMoment checks that a store for a fixed moment keeps the other properties of the response in force, in every kind
// of store.
func TestMoment(t *testing.T) {
	closed := []byte("User-agent: *\nDisallow: /x\n")
	responses := []robots.Response{
		{Origin: "https://a.com", Status: 200, FetchedAt: day(1, 0), Body: closed, HasMaxAge: true, MaxAge: time.Hour},
		{Origin: "https://b.com", Status: 206, FetchedAt: day(1, 0), Body: closed},
		{Origin: "https://c.com", Status: 200, FetchedAt: day(1, 0), Body: closed},
	}
	opt := StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, Evidence: true}
	stores := waysToOpen(t, makePack(t, opt.Dialect, responses...), opt)
	built, err := BuildStore(sequence(responses), opt)
	if err != nil {
		t.Fatal(err)
	}
	stores["built"] = built
	for name, s := range stores {
		e, lookup := s.NewEvaluator(), s.NewLookup()
		for range 2 { // a store with a memory limit has dropped the ruling by the second time
			b := logBatch([]logRow{
				{"bingbot", "https://a.com/robots.txt"},
				{"bingbot", "https://b.com/robots.txt"},
				{"bingbot", "https://c.com/robots.txt"},
				{"bingbot", "https://a.com/x"},
				{"bingbot", "https://b.com/x"},
				{"bingbot", "https://c.com/x"},
			})
			e.Evaluate(b)
			if want := []Violation{NoViolation, NoViolation, NoViolation, Violated, ViolationUnknown, Violated}; !slices.Equal(b.Violations, want) {
				t.Errorf("%s: violations %v, want %v", name, b.Violations, want)
			}
			for row, want := range []time.Duration{time.Hour, DefaultCache, DefaultCache} {
				spans := lookup.Periods(nil, b.Sites[row], b.Rulings[row])
				if got := b.Evidence[row].CacheFor; got != want.Microseconds() || len(spans) != 1 || spans[0].CacheFor != got || spans[0].HasTime {
					t.Errorf("%s: a copy of %s may be used for %d µs, want %v; periods %+v", name, b.URL(row), got, want, spans)
				}
			}
		}
	}
}

// TestOlderName checks a crawler that only the text in force names. For a reading that ignores "User agent", an older
// text may name it as well, and then has no group for all crawlers.
func TestOlderName(t *testing.T) {
	for name, test := range map[string]struct {
		older string
		want  Violation
	}{
		"a reading allows": {"User agent: *\nDisallow: /\n", ViolationUnknown},
		"all forbid":       {"User-agent: *\nDisallow: /\n", Violated},
	} {
		s, err := BuildStore(sequence([]robots.Response{
			{Origin: "https://a.com", Status: 200, FetchedAt: day(1, 0), Body: []byte(test.older)},
			{Origin: "https://a.com", Status: 200, FetchedAt: day(2, 0), Body: []byte("User-agent: WireReaderBot\nDisallow: /\n")},
		}), StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, RowTimes: true})
		if err != nil {
			t.Fatal(err)
		}
		b := logBatch([]logRow{{"WireReaderBot/1.0", "https://a.com/x"}})
		b.Times = []int64{day(2, 1).UnixMicro()}
		s.NewEvaluator().Evaluate(b)
		if b.Violations[0] != test.want {
			t.Errorf("%s: %v, want %v", name, b.Violations[0], test.want)
		}
	}
}

// TestOwnURLEncoded checks that a reading allows the URL of robots.txt itself if only its normal form is /robots.txt.
func TestOwnURLEncoded(t *testing.T) {
	s, err := BuildStore(sequence([]robots.Response{{Origin: "https://a.com", Status: 200, Body: []byte("User-agent: *\nDisallow: /\n")}}), StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar})
	if err != nil {
		t.Fatal(err)
	}
	b := logBatch([]logRow{
		{"GPTBot", "https://a.com/%72obots.txt"}, {"GPTBot", "https://a.com/r"}, // "/r" leads the next row
		{"GPTBot", "https://a.com/r%6fbots.txt"}, {"GPTBot", "https://a.com/ro%62ots.txt"}, {"GPTBot", "https://a.com/ro%62ots"},
	})
	s.NewEvaluator().Evaluate(b)
	if want := []Violation{ViolationUnknown, Violated, ViolationUnknown, ViolationUnknown, Violated}; !slices.Equal(b.Violations, want) {
		t.Errorf("%v, want %v", b.Violations, want)
	}
}
