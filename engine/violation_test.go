package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// TestViolationLimits has a row before and after each time limit, to the second: it checks for how long a crawler may
// use a copy that allows its request, so that the request is not a violation. It uses each kind of Store.
func TestViolationLimits(t *testing.T) {
	const (
		open, closed = "User-agent: *\nDisallow: /other\n", "User-agent: *\nDisallow: /p\n"
		feeds        = "FeedFetcher-Google; (+http://www.google.com/feedfetcher.html)"
		unknown, no  = ViolationUnknown, NoViolation
	)
	capture := func(n int, text string) robots.Response {
		return robots.Response{Origin: "https://a", Status: 200, Body: []byte(text), FetchedAt: day(n, 0)}
	}
	maxAge := func(r robots.Response, age time.Duration) robots.Response {
		r.HasMaxAge, r.MaxAge = true, age
		return r
	}
	file := func(r robots.Response) robots.Response {
		r.File = true
		return r
	}
	status := func(n, status int) robots.Response {
		return robots.Response{Origin: "https://a", Status: status, FetchedAt: day(n, 0)}
	}
	failed := func(n int) robots.Response { return status(n, 503) }
	undated := func(r robots.Response) robots.Response {
		r.FetchedAt = time.Time{}
		return r
	}
	type row struct {
		at        time.Time
		userAgent string
		want      Violation
	}
	at := func(n int, after time.Duration, want Violation) row {
		return row{day(n, 0).Add(after), googleHeader, want}
	}
	const last = 24*time.Hour - time.Second
	for _, c := range []struct {
		name      string
		cache     time.Duration
		fixed     bool
		responses []robots.Response
		rows      []row
	}{
		{"a day by default", 0, false, []robots.Response{capture(1, open), capture(5, closed)}, []row{
			at(4, last, no), at(5, 0, unknown), at(5, time.Minute, unknown), at(5, last, unknown), at(6, 0, Violated), at(6, time.Minute, Violated),
		}},
		{"an hour", time.Hour, false, []robots.Response{capture(1, open), capture(5, closed)}, []row{
			at(5, time.Hour-time.Second, unknown), at(5, time.Hour, Violated),
		}},
		{"no copies", -1, false, []robots.Response{maxAge(capture(1, open), time.Hour), capture(5, closed)}, []row{
			at(4, last, no), at(5, 0, Violated),
		}},
		{"max-age of an hour", 0, false, []robots.Response{maxAge(capture(1, open), time.Hour), capture(5, closed)}, []row{
			at(5, time.Hour-time.Second, unknown), at(5, time.Hour, Violated),
		}},
		{"max-age of nothing", 0, false, []robots.Response{maxAge(capture(1, open), 0), capture(5, closed)}, []row{at(5, 0, Violated)}},
		{"max-age of what forbids", 0, false, []robots.Response{capture(1, open), maxAge(capture(5, closed), 0)}, []row{
			at(5, last, unknown), at(6, 0, Violated),
		}},
		{"max-age over other captures", 0, false, []robots.Response{
			maxAge(capture(1, open), 10*24*time.Hour), capture(2, closed), capture(3, closed), capture(4, closed+"\n"),
		}, []row{at(11, last, unknown), at(12, 0, Violated)}},
		{"max-age of the first of equal texts", 0, false, []robots.Response{
			maxAge(capture(1, open), 5*24*time.Hour), maxAge(capture(2, open), time.Hour), capture(3, closed),
		}, []row{at(6, last, unknown), at(7, 0, Violated)}},
		{"to and fro", 0, false, []robots.Response{capture(1, closed), capture(5, open), capture(6, closed), capture(20, open)}, []row{
			at(1, 0, Violated), at(4, last, Violated), at(5, 0, no), at(6, last, unknown), at(7, 0, Violated), at(20, 0, no),
		}},
		{"the first capture", 0, false, []robots.Response{capture(5, closed)}, []row{at(4, last, no), at(5, 0, Violated)}},
		{"a crawler that need not", 0, false, []robots.Response{capture(1, closed), capture(9, open)}, []row{
			{day(3, 0), feeds, unknown}, {day(10, 0), feeds, no}, at(3, 0, Violated), {day(3, 0), browserHeader, unknown},
		}},
		{"a file", 0, false, []robots.Response{file(capture(1, closed))}, []row{at(1, 0, unknown), at(20, 0, unknown)}},
		{"a file after a capture", 0, false, []robots.Response{capture(1, closed), file(capture(5, closed+"\n"))}, []row{
			at(4, 0, Violated), at(20, 0, unknown),
		}},
		{"a file that allowed", 0, false, []robots.Response{file(capture(1, open)), capture(5, closed)}, []row{
			at(5, last, unknown), at(6, 0, Violated),
		}},
		{"a capture without a time", 0, false, []robots.Response{undated(capture(1, closed))}, []row{at(20, 0, unknown)}},
		{"a row without a time", 0, false, []robots.Response{capture(1, closed)}, []row{{time.Time{}, googleHeader, unknown}}},
		{"a fetch that failed", 0, false, []robots.Response{failed(1)}, []row{at(1, -time.Second, no), at(1, 0, unknown), at(20, 0, unknown)}},
		{"a fetch that failed after what allowed", -1, false, []robots.Response{capture(1, open), failed(5)}, []row{
			at(4, last, no), at(5, 0, unknown), at(9, 0, unknown),
		}},
		{"a fetch that failed after what forbade", 0, false, []robots.Response{capture(1, closed), failed(5), capture(9, closed)}, []row{
			at(4, last, Violated), at(5, 0, unknown), at(8, last, unknown), at(9, 0, Violated),
		}},
		{"just after failures", 0, false, []robots.Response{capture(1, open), failed(3), failed(5), capture(9, closed)}, []row{
			at(8, last, unknown), at(9, 5*time.Minute, unknown), at(9, last, unknown), at(10, 0, Violated),
		}},
		{"just after failures, and what forbade", 0, false, []robots.Response{capture(1, open), capture(2, closed), failed(5), capture(9, closed)}, []row{
			at(9, 5*time.Minute, Violated),
		}},
		{"just after failures, without copies", -1, false, []robots.Response{capture(1, open), failed(5), capture(9, closed)}, []row{at(9, 0, Violated)}},
		{"just after failures, and none before them", 0, false, []robots.Response{failed(5), capture(9, closed)}, []row{at(9, 5*time.Minute, Violated)}},
		{"just after failures, and a 404", 0, false, []robots.Response{status(1, 404), failed(5), capture(9, closed)}, []row{
			at(9, last, unknown), at(10, 0, Violated),
		}},
		{"max-age before failures", 0, false, []robots.Response{maxAge(capture(1, open), time.Hour), failed(5), capture(9, closed)}, []row{
			at(9, time.Hour-time.Second, unknown), at(9, time.Hour, Violated),
		}},
		{"max-age of a fetch that failed", 0, false, []robots.Response{capture(1, open), maxAge(failed(5), 0), capture(9, closed)}, []row{
			at(9, last, unknown), at(10, 0, Violated),
		}},
		{"max-age of failures that have lapsed", 0, false, []robots.Response{maxAge(failed(1), 90*24*time.Hour), capture(40, closed)}, []row{
			at(39, 0, no), at(40, last, unknown), at(41, 0, Violated),
		}},
		{"max-age of a redirect that leads nowhere", 0, false, []robots.Response{maxAge(status(1, 301), 90*24*time.Hour), capture(9, closed)}, []row{
			at(8, 0, no), at(9, last, unknown), at(10, 0, Violated),
		}},
		{"max-age of a 404", 0, false, []robots.Response{maxAge(status(1, 404), time.Hour), capture(9, closed)}, []row{at(9, time.Hour, Violated)}},
		{"a fetch that failed, and a fixed moment", 0, true, []robots.Response{failed(5)}, []row{at(9, 0, unknown)}},
		{"a fixed moment", 0, true, []robots.Response{capture(1, open), capture(5, closed)}, []row{at(5, 0, Violated), {day(9, 0), feeds, unknown}}},
		{"a fixed moment and a file", 0, true, []robots.Response{file(capture(1, closed))}, []row{at(1, 0, Violated)}},
	} {
		opt := StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, RowTimes: !c.fixed, Cache: c.cache}
		s, err := BuildStore(sequence(c.responses), opt)
		if err != nil {
			t.Fatal(err)
		}
		stores := waysToOpen(t, makePack(t, robots.Google, c.responses...), opt)
		stores["memory"] = s
		for how, s := range stores {
			var rows []logRow
			for _, r := range c.rows {
				rows = append(rows, logRow{r.userAgent, "https://a/p"})
			}
			b := logBatch(rows)
			for _, r := range c.rows {
				moment := int64(NoTime)
				if !r.at.IsZero() {
					moment = r.at.UnixMicro()
				}
				b.Times = append(b.Times, moment)
			}
			s.NewEvaluator().Evaluate(b)
			for i, r := range c.rows {
				if got := b.Violations[i]; got != r.want {
					t.Errorf("%s, %s: at %v: violation %d, want %d (%v)", c.name, how, r.at, got, r.want, b.Verdicts[i].Access)
				}
			}
		}
	}
}

// TestTimeless counts the verdicts that disallow a URL by a text whose time is that of a file, or unknown.
func TestTimeless(t *testing.T) {
	const closed = "User-agent: *\nDisallow: /p\n\nUser-agent: b\nDisallow: /q\n"
	text := func(origin robots.Origin, n int, file bool) robots.Response {
		r := robots.Response{Origin: origin, Status: 200, Body: []byte(closed), File: file}
		if n > 0 {
			r.FetchedAt = day(n, 0)
		}
		return r
	}
	responses := []robots.Response{
		text("https://file", 5, true), text("https://undated", 0, false), text("https://known", 5, false),
		text("https://both", 5, true), text("https://both", 9, false),
	}
	rows := []struct {
		header, url  string
		at           time.Time
		asked, fetch int // counted for the agents * and b, and for the crawler of the header
	}{
		{googleHeader, "https://file/p", day(1, 0), 1, 1},
		{googleHeader, "https://file/p", day(7, 0), 1, 1},
		{googleHeader, "https://file/q", day(7, 0), 1, 0},
		{googleHeader, "https://file/x", day(7, 0), 0, 0},
		{googleHeader, "https://undated/p", day(7, 0), 1, 1},
		{browserHeader, "https://file/p", day(7, 0), 1, 0},
		{googleHeader, "https://file/p", time.Time{}, 1, 0},
		{googleHeader, "https://known/p", day(3, 0), 0, 0},
		{googleHeader, "https://known/p", day(7, 0), 0, 0},
		{googleHeader, "not a URL", day(7, 0), 0, 0},
		{googleHeader, "https://both/p", day(7, 0), 1, 1},
		{googleHeader, "https://both/p", day(12, 0), 0, 0},
		{googleHeader, "https://stray/p", day(12, 0), 0, 0},
	}
	for _, logAgents := range []LogAgents{LogAgentsOff, LogAgentsStar} {
		opt := StoreOptions{Dialect: robots.Google, Agents: []string{"*", "b"}, LogAgents: logAgents, RowTimes: true}
		s, err := BuildStore(sequence(responses), opt)
		if err != nil {
			t.Fatal(err)
		}
		stores := waysToOpen(t, makePack(t, robots.Google, responses...), opt)
		stores["memory"] = s
		for how, s := range stores {
			var all []logRow
			want := 0
			for _, r := range rows {
				all = append(all, logRow{r.header, r.url})
				want += map[bool]int{true: r.asked, false: r.fetch}[logAgents == LogAgentsOff]
			}
			b := logBatch(all)
			for _, r := range rows {
				moment := int64(NoTime)
				if !r.at.IsZero() {
					moment = r.at.UnixMicro()
				}
				b.Times = append(b.Times, moment)
			}
			c := newCounter(s, 1)
			s.NewEvaluator().Evaluate(b)
			c.countBatch(b)
			if b.Timeless != want || sumCounts([]*counter{c}, newBusiest(s, nil)).Timeless != int64(want) {
				t.Errorf("%s, agents of the log %d: %d timeless verdicts, want %d", how, logAgents, b.Timeless, want)
			}
		}
	}
}

// TestViolationAssumed checks that a URL that is only disallowed because there is no robots.txt is not a violation.
func TestViolationAssumed(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, Missing: MissingDisallow})
	b := logBatch([]logRow{{googleHeader, "https://stray.com/x"}})
	s.NewEvaluator().Evaluate(b)
	if b.Verdicts[0].Access != Denied || b.Violations[0] != ViolationUnknown {
		t.Errorf("%v, violation %d", b.Verdicts[0], b.Violations[0])
	}
}

// TestViolationOfRobotsTxt checks that a request for robots.txt is never a violation, however its URL is spelled.
func TestViolationOfRobotsTxt(t *testing.T) {
	for _, d := range []robots.Dialect{robots.RFC9309, robots.Google, robots.Google2010, robots.Yandex} {
		closed := robots.Response{Origin: "https://a", Status: 200, Body: []byte("User-agent: *\nDisallow: /\n")}
		s, err := BuildStore(sequence([]robots.Response{closed}), StoreOptions{Dialect: d, LogAgents: LogAgentsStar})
		if err != nil {
			t.Fatal(err)
		}
		b := logBatch([]logRow{
			{googleHeader, "https://a/robots.txt"},
			{googleHeader, "https://a/robots.txt?x"},
			{googleHeader, "https://a/robots.txt#z"},
			{googleHeader, "https://a/robots.txt?x#z"},
			{googleHeader, "https://a/robots.txt.bak#z"},
			{googleHeader, "https://a/#/robots.txt"},
		})
		s.NewEvaluator().Evaluate(b)
		if want := []Violation{NoViolation, NoViolation, NoViolation, NoViolation, Violated, Violated}; !slices.Equal(b.Violations, want) {
			t.Errorf("%v: violations %v, want %v", d, b.Violations, want)
		}
	}
}

func TestBinding(t *testing.T) {
	s := buildStore(t, StoreOptions{Agents: []string{"*", "Googlebot/2.1", "ChatGPT-User", "Nobody"}})
	var got []string
	for a := range s.Options().Agents {
		got = append(got, s.NewLookup().Binding(a).String())
	}
	if want := []string{"unknown", "yes", "no", "unknown"}; !slices.Equal(got, want) {
		t.Errorf("bindings %s, want %s", got, want)
	}
}

// TestPast checks that each disallowed request is compared with older texts by its own path.
func TestPast(t *testing.T) {
	s, err := BuildStore(sequence([]robots.Response{
		{Origin: "https://a.com", Status: 200, FetchedAt: day(1, 0), Body: []byte("User-agent: *\nDisallow: /x\n")},
		{Origin: "https://a.com", Status: 200, FetchedAt: day(2, 0), Body: []byte("User-agent: *\nDisallow: /\n")},
	}), StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, RowTimes: true, Evidence: true})
	if err != nil {
		t.Fatal(err)
	}
	b := logBatch([]logRow{{"GPTBot", "https://a.com/x"}, {"GPTBot", "https://a.com/y"}, {"GPTBot", "https://a.com/x"}})
	b.Times = slices.Repeat([]int64{day(3, 0).UnixMicro()}, 3)
	s.NewEvaluator().Evaluate(b)
	var was []bool
	for i := range b.Evidence {
		was = append(was, WasDisallowed(b.DisallowedIn(&b.Evidence[i]), b.Evidence[i].Period, 1))
	}
	if want := []bool{true, false, true}; !slices.Equal(was, want) {
		t.Errorf("the first text disallows %v, want %v", was, want)
	}
}
