package robots_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

const (
	here  robots.Origin = "https://a.com"
	there robots.Origin = "https://b.com"
)

var (
	start = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	named = []robots.Dialect{robots.RFC9309, robots.Google, robots.Google2010, robots.Yandex}
)

// day returns the time n days after the start.
func day(n float64) time.Time { return start.Add(time.Duration(n * 24 * float64(time.Hour))) }

// outcome returns the outcome of the responses for the origin here, such as "disallow all: unreachable #0".
func outcome(d robots.Dialect, asOf time.Time, responses ...robots.Response) string {
	h := robots.NewHistory(d)
	for _, r := range responses {
		if r.Origin == "" {
			r.Origin = here
		}
		h.Add(r)
	}
	o := h.Outcome(here, asOf)
	return fmt.Sprintf("%s: %s #%d", o.Effect, o.Cause, o.Capture)
}

// TestHTTPStatus runs the table of the meaning of each status in each dialect.
func TestHTTPStatus(t *testing.T) {
	type row struct {
		ID      string          `json:"id"`
		Dialect string          `json:"dialect"`
		Status  json.RawMessage `json:"status"`
		Expect  string          `json:"expect"`
	}
	rows := repcase.Lines[row](t, "http-status")
	for _, r := range rows {
		d, err := robots.ParseDialect(r.Dialect)
		if err != nil {
			t.Fatal(err)
		}
		responses := statusCases(strings.Trim(string(r.Status), `"`))
		switch first, rest, _ := strings.Cut(r.Expect, ";"); {
		case strings.HasPrefix(first, "follow"):
			checkRedirects(t, r.ID, d, responses[0].Status)
		case first == "undefined": // treated as 5xx
			checkEffects(t, r.ID, d, "disallow all", responses)
		default:
			checkEffects(t, r.ID, d, strings.ReplaceAll(first, "_", " "), responses)
			if rest != "" {
				checkLapse(t, r.ID, d, responses[0].Status)
			}
		}
	}
	t.Logf("http-status: %d rows", len(rows))
}

// statusCases returns responses of the kind that the status of a row describes.
func statusCases(status string) []robots.Response {
	if n, err := strconv.Atoi(status); err == nil {
		return []robots.Response{{Status: n}}
	}
	switch status {
	case "not 200":
		var all []robots.Response
		for _, n := range []int{0, 100, 201, 204, 206, 304, 400, 401, 403, 404, 429, 500, 503, 600} {
			all = append(all, robots.Response{Status: n})
		}
		return all
	case ">500KB":
		return []robots.Response{{Status: 200, Size: robots.MaxBytes + 1}, {Status: 200, Body: make([]byte, robots.MaxBytes+1)}}
	case "redirect":
		return []robots.Response{{Status: 301}}
	}
	return []robots.Response{{Error: status}, {Status: 200, Error: status}} // network failures
}

func checkEffects(t *testing.T, id string, d robots.Dialect, want string, responses []robots.Response) {
	t.Helper()
	if want == "parse" {
		want = "use rules"
	}
	for _, r := range responses {
		r.FetchedAt = start
		if got := outcome(d, start, r); !strings.HasPrefix(got, want+":") {
			t.Errorf("%s: status %d: %s, want %s", id, r.Status, got, want)
		}
	}
}

// redirects returns a chain of n redirects that ends with a body.
func redirects(n, status int) []robots.Response {
	var chain []robots.Response
	for i := range n {
		chain = append(chain, robots.Response{Origin: hop(i), Status: status, Location: string(hop(i+1)) + "/robots.txt"})
	}
	return append(chain, robots.Response{Origin: hop(n), Status: 200})
}

func hop(i int) robots.Origin {
	if i == 0 {
		return here
	}
	return robots.Origin(fmt.Sprintf("https://%d.com", i))
}

func checkRedirects(t *testing.T, id string, d robots.Dialect, status int) {
	t.Helper()
	for n := 1; n <= 8; n++ {
		want := fmt.Sprintf("use rules: fetched #%d", n)
		if n > robots.MaxRedirects {
			want = "allow all: redirect_limit #5"
		}
		if got := outcome(d, start, redirects(n, status)...); got != want {
			t.Errorf("%s: %d redirects: %s, want %s", id, n, got, want)
		}
	}
}

// checkLapse checks that a restriction lapses after 30 days: then the previous copy decides, or everything is allowed.
func checkLapse(t *testing.T, id string, d robots.Dialect, status int) {
	t.Helper()
	failure := robots.Response{Status: status, FetchedAt: day(1)}
	good := robots.Response{Status: 200, FetchedAt: day(0)}
	for days, want := range map[float64]string{1: "disallow all: unreachable #0", 31: "disallow all: unreachable #0", 31.01: "allow all: unreachable_expired #0"} {
		if got := outcome(d, day(days), failure); got != want {
			t.Errorf("%s: on day %v: %s, want %s", id, days, got, want)
		}
	}
	for days, want := range map[float64]string{0.5: "use rules: fetched #1", 31: "disallow all: unreachable #0", 31.01: "use rules: fetched #1"} {
		if got := outcome(d, day(days), failure, good); got != want {
			t.Errorf("%s: with a good copy, on day %v: %s, want %s", id, days, got, want)
		}
	}
}

// silent lists the points on which the specifications are silent, and the decision for each dialect, in the order
// rfc9309, google, google-2010, yandex.
var silent = []struct {
	name      string
	responses []robots.Response
	want      [4]string
}{
	{"304 without a cache", []robots.Response{{Status: 304}}, asFailure},
	{"1xx", []robots.Response{{Status: 103}}, asFailure},
	{"unknown code 600", []robots.Response{{Status: 600}}, asFailure},
	{"unknown code 999", []robots.Response{{Status: 999}}, asFailure},
	{"negative code", []robots.Response{{Status: -1}}, asFailure},
	{"network failure", []robots.Response{{}}, asFailure},
	{"broken off body", []robots.Response{{Status: 200, Error: "unexpected EOF", Body: []byte("User")}}, asFailure},
	{"redirect to what is not in the input", []robots.Response{{Status: 302, Location: "https://b.com/robots.txt"}}, as404},
	{"redirect without a target", []robots.Response{{Status: 302}}, as404},
	{"redirect to a target that is no URL", []robots.Response{{Status: 302, Location: "https://[/robots.txt"}}, as404},
	{"redirect to itself", []robots.Response{{Status: 301, Location: "/robots.txt"}}, all4("allow all: redirect_limit #0")},
	{"300 with a target", []robots.Response{{Status: 300, Location: "/x"}, {URL: "https://a.com/x", Status: 200}}, all4("use rules: fetched #1")},
	{"redirect to 404", []robots.Response{{Status: 302, Location: "/x"}, {URL: "https://a.com/x", Status: 404}}, all4("allow all: status_4xx #1")},
	{"429", []robots.Response{{Status: 429}}, as404},
	{"401", []robots.Response{{Status: 401}}, as404},
	{"204", []robots.Response{{Status: 204}}, [4]string{"use rules: fetched #0", "use rules: fetched #0", "use rules: fetched #0", "allow all: status_4xx #0"}},
	{"503 in place of 404", []robots.Response{{Status: 503}}, asFailure},
	{"large body", []robots.Response{{Status: 200, Size: robots.MaxBytes + 1}}, [4]string{"use rules: fetched #0", "use rules: fetched #0", "use rules: fetched #0", "allow all: too_large #0"}},
	{"nothing at all", nil, all4("no record: none #-1")},
}

var (
	asFailure = [4]string{"disallow all: unreachable #0", "disallow all: unreachable #0", "disallow all: unreachable #0", "allow all: unreachable #0"}
	as404     = all4("allow all: status_4xx #0")
)

func all4(s string) [4]string { return [4]string{s, s, s, s} }

// TestSilentPoints checks each point on which the specifications are silent.
func TestSilentPoints(t *testing.T) {
	for _, c := range silent {
		t.Run(c.name, func(t *testing.T) {
			for i, d := range named {
				if got := outcome(d, time.Time{}, c.responses...); got != c.want[i] {
					t.Errorf("%v: %s, want %s", d, got, c.want[i])
				}
			}
		})
	}
}

// TestLapseByDialect checks that permanent errors lapse where the specification says so.
func TestLapseByDialect(t *testing.T) {
	want := [4]string{"allow all: unreachable_expired #0", "allow all: unreachable_expired #0", "disallow all: unreachable #0", "allow all: unreachable #0"}
	for i, d := range named {
		if got := outcome(d, day(40), robots.Response{Status: 500, FetchedAt: start}); got != want[i] {
			t.Errorf("%v: %s, want %s", d, got, want[i])
		}
	}
}

// TestHistory has histories of several responses.
func TestHistory(t *testing.T) {
	at := func(days float64, r robots.Response) robots.Response {
		r.FetchedAt = day(days)
		return r
	}
	ok, gone, bad := robots.Response{Status: 200}, robots.Response{Status: 404}, robots.Response{Status: 500}
	moved := robots.Response{Status: 301, Location: "//B.com:443/robots.txt#x"}
	target := func(r robots.Response) robots.Response { r.Origin = there; return r }
	for _, c := range []struct {
		name      string
		asOf      time.Time
		responses []robots.Response
		want      string
	}{
		{"the newest counts", time.Time{}, []robots.Response{at(2, ok), at(3, gone), at(1, bad)}, "allow all: status_4xx #1"},
		{"not later than the moment", day(2), []robots.Response{at(2, ok), at(3, gone), at(1, bad)}, "use rules: fetched #0"},
		{"before the first", day(0), []robots.Response{at(2, ok), at(3, gone)}, "no record: none #-1"},
		{"of two at one time the last", day(2), []robots.Response{at(2, ok), at(2, gone)}, "allow all: status_4xx #1"},
		{"unknown time is the earliest", day(2), []robots.Response{at(2, gone), ok}, "allow all: status_4xx #0"},
		{"unknown time holds before", day(1), []robots.Response{at(2, gone), ok}, "use rules: fetched #1"},
		{"failure of unknown time does not lapse", day(99), []robots.Response{bad}, "disallow all: unreachable #0"},
		{"failures in a row count from the first", day(40), []robots.Response{at(0, ok), at(5, bad), at(20, bad), at(39, bad)}, "use rules: fetched #0"},
		{"a success between them begins anew", day(40), []robots.Response{at(5, bad), at(20, ok), at(39, bad)}, "disallow all: unreachable #2"},
		{"no file before the failures", day(40), []robots.Response{at(0, ok), at(1, gone), at(2, bad)}, "allow all: unreachable_expired #2"},
		{"ages count from the newest of the origin", time.Time{}, []robots.Response{at(0, bad), {Origin: "https://c.com", Status: 200, FetchedAt: day(31)}}, "disallow all: unreachable #0"},
		{"ages count from the newest of the target", time.Time{}, []robots.Response{at(0, moved), target(at(0, bad)), target(at(31, bad))}, "allow all: unreachable_expired #2"},
		{"ages do not count from a target that is one no more", time.Time{}, []robots.Response{at(0, moved), at(1, bad), target(at(40, ok))}, "disallow all: unreachable #1"},
		{"rules of the target", time.Time{}, []robots.Response{at(1, moved), target(at(1, ok))}, "use rules: fetched #1"},
		{"target fetched a little later", day(1), []robots.Response{at(1, moved), target(at(1.1, ok))}, "use rules: fetched #1"},
		{"target changed later", day(9), []robots.Response{at(1, moved), target(at(1.1, ok)), target(at(8, gone))}, "allow all: status_4xx #2"},
		{"target fails for long", day(40), []robots.Response{at(0, moved), target(at(0.1, ok)), target(at(1, bad)), target(at(30, bad))}, "use rules: fetched #1"},
		{"target fails since lately", day(40), []robots.Response{at(0, moved), target(at(0.1, ok)), target(at(20, bad))}, "disallow all: unreachable #2"},
		{"moved to where it fails from the start", day(40), []robots.Response{at(0, moved), target(at(0.1, bad))}, "allow all: unreachable_expired #1"},
		{"a good copy before the move", day(40), []robots.Response{at(0, ok), at(1, moved), target(at(1.1, bad))}, "use rules: fetched #0"},
		{"relative target", time.Time{}, []robots.Response{{Status: 302, Location: "x/../y?q=1"}, {URL: "HTTPS://a.com:443/y?q=1#z", Status: 200}}, "use rules: fetched #1"},
		{"target with a name beyond ASCII", time.Time{}, []robots.Response{{Status: 302, Location: "https://Müller.eu"}, {URL: "https://xn--mller-kva.eu/", Status: 200}}, "use rules: fetched #1"},
		{"what is no robots.txt is none", time.Time{}, []robots.Response{{URL: "https://a.com/y", Status: 200}}, "no record: none #-1"},
	} {
		if got := outcome(robots.RFC9309, c.asOf, c.responses...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestHistoryOrigins(t *testing.T) {
	h := robots.NewHistory(robots.Google)
	for i, r := range []robots.Response{
		{Origin: there, Status: 200}, {Origin: here, Status: 500}, {Origin: there, Status: 404}, {URL: "https://c.com/x", Origin: "https://c.com"}, {URL: "no URL", Origin: "https://d.com"},
	} {
		if n := h.Add(r); n != i {
			t.Errorf("response %d has number %d", i, n)
		}
	}
	if got := h.Origins(); !slices.Equal(got, []robots.Origin{there, here}) {
		t.Errorf("origins %q", got)
	}
	if !h.Newest().IsZero() {
		t.Errorf("newest of unknown times is %v", h.Newest())
	}
}

// TestHistoryManyFailures checks that many consecutive failures take linear time.
func TestHistoryManyFailures(t *testing.T) {
	h := robots.NewHistory(robots.RFC9309)
	const n = 100_000
	for i := range n {
		h.Add(robots.Response{Origin: here, Status: 500, FetchedAt: start.Add(-time.Duration(i) * time.Minute)})
	}
	if o := h.Outcome(here, time.Time{}); o.Cause != robots.CauseExpired {
		t.Errorf("after %d failures: %v", n, o)
	}
}

// TestHistoryManyRedirects checks that many origins that redirect to the same failing one take linear time.
func TestHistoryManyRedirects(t *testing.T) {
	h := robots.NewHistory(robots.RFC9309)
	const n = 20_000
	for i := range n {
		h.Add(robots.Response{Origin: here, Status: 500, FetchedAt: start.Add(-time.Duration(i) * time.Minute)})
		h.Add(robots.Response{Origin: robots.Origin(fmt.Sprintf("https://%d.example", i)), Status: 301, Location: string(here) + "/robots.txt", FetchedAt: start.Add(-(n - 1) * time.Minute)})
	}
	for _, o := range h.Origins() {
		if got := h.Outcome(o, start.Add(17*24*time.Hour)); got.Cause != robots.CauseExpired {
			t.Fatalf("%s: %v", o, got)
		}
		if got := h.Outcome(o, start.Add(16*24*time.Hour)); got.Cause != robots.CauseUnreachable {
			t.Fatalf("%s a day before: %v", o, got)
		}
	}
}

// TestHistoryTies checks that the response added last decides among those of the same time.
func TestHistoryTies(t *testing.T) {
	h := robots.NewHistory(robots.RFC9309)
	h.Add(robots.Response{Origin: here, Status: 200, FetchedAt: start.Add(time.Hour)}) // so that they are not sorted
	for i := range 100 {
		h.Add(robots.Response{Origin: here, Status: 200 + i%7, FetchedAt: start.Add(time.Duration(i%3) * time.Minute)})
	}
	for minute, want := range []int{100, 98, 99} {
		if got := h.Outcome(here, start.Add(time.Duration(minute)*time.Minute)); got.Capture != want {
			t.Errorf("minute %d: capture %d, want %d", minute, got.Capture, want)
		}
	}
}

// TestResolveURL checks that absolute and relative references and the URLs of responses have the same normal form.
func TestResolveURL(t *testing.T) {
	const base = "https://a.example/d/e/robots.txt?q"
	for location, want := range map[string]string{
		"/x": "https://a.example/x", "x": "https://a.example/d/e/x", "./x": "https://a.example/d/e/x", "../x/": "https://a.example/d/x/",
		"../../../x": "https://a.example/x", "/a/./b/../c/..": "https://a.example/a/", "?r": "https://a.example/d/e/robots.txt?r",
		"//B.example": "https://b.example/", "HTTP://b.example:80/x/../y#f": "http://b.example/y", "https://cdn.example/ü.txt": "https://cdn.example/%C3%BC.txt",
		"/ü.txt": "https://a.example/%C3%BC.txt", "/%c3%bc.txt": "https://a.example/%C3%BC.txt", "/a b": "https://a.example/a%20b", "/a%zz": "https://a.example/a%zz",
		" /x ": "https://a.example/x", "/x?y/../z": "https://a.example/x?y/../z", "..x": "https://a.example/d/e/..x",
		"": "", "#f": "", "mailto:x": "", "https:/x": "", "//": "", "https://a b/": "",
	} {
		if got, ok := robots.ResolveURL(base, location); got != want || ok != (want != "") {
			t.Errorf("%q leads to %q, %t, want %q", location, got, ok, want)
		}
		if got, _ := robots.ResolveURL("http://z.example/", want); got != want {
			t.Errorf("%q is not in normal form: %q", want, got)
		}
	}
}

// FuzzRedirect checks that no Location causes a panic, and that a response is found under its URL where the redirect
// leads to it.
func FuzzRedirect(f *testing.F) {
	for _, location := range []string{"", "/x", "//b.com", "https://b.com/robots.txt", "?q", "#f", "..//x", "http://[::1]:8080/", "x:y", "%zz", "//", "https://b.com//x"} {
		f.Add(location, location)
	}
	f.Fuzz(func(t *testing.T, url, location string) {
		h := robots.NewHistory(robots.RFC9309)
		h.Add(robots.Response{Origin: here, Status: 301, Location: location})
		h.Add(robots.Response{Origin: there, URL: url, Status: 301, Location: location})
		first := h.Outcome(here, start)
		if first.Effect != robots.AllowAll || first.Capture < 0 || first.Capture > 1 {
			t.Errorf("redirects without a body: %+v", first)
		}
		h = robots.NewHistory(robots.RFC9309)
		h.Add(robots.Response{Origin: here, Status: 301, Location: url})
		h.Add(robots.Response{Origin: there, URL: url, Status: 200})
		if o, err := robots.SplitURL([]byte(url)); err == nil && url == strings.TrimSpace(url) {
			_, hostErr := robots.AppendOrigin(nil, o)
			if got := h.Outcome(here, start); (got.Effect == robots.UseRules) != (hostErr == nil) && len(h.Origins()) == 1 {
				t.Errorf("%q leads to itself: %+v, origin error %v", url, got, hostErr)
			}
		}
	})
}

// TestHops follows redirects. After a failure that has lapsed, it follows the redirect before it, which leads to the
// last good copy.
func TestHops(t *testing.T) {
	url := func(n int) string { return fmt.Sprintf("https://b.com/%d", n) }
	moved := func(at time.Time, from, to string) robots.Response {
		return robots.Response{Origin: here, URL: from, Status: 301, Location: to, FetchedAt: at}
	}
	var long []robots.Response
	for i := range 7 {
		from := ""
		if i > 0 {
			from = url(i)
		}
		long = append(long, moved(day(0), from, url(i+1)))
	}
	good := robots.Response{Origin: there, Status: 200, FetchedAt: day(0)}
	for _, c := range []struct {
		name      string
		asOf      time.Time
		responses []robots.Response
		capture   int
		hops      []int
	}{
		{"none", time.Time{}, []robots.Response{{Origin: here, Status: 200}}, 0, nil},
		{"nothing known", time.Time{}, []robots.Response{good}, -1, nil},
		{"two", time.Time{}, []robots.Response{good, moved(day(0), "", url(1)), moved(day(0), url(1), "/robots.txt")}, 0, []int{1, 2}},
		{"target unknown", time.Time{}, []robots.Response{moved(day(0), "", url(1)), moved(day(0), url(1), url(2))}, 1, []int{0}},
		{"too many", time.Time{}, long, 5, []int{0, 1, 2, 3, 4}},
		{
			"lapsed", day(50),
			[]robots.Response{good, moved(day(0), "", "https://b.com/robots.txt"), {Origin: here, Status: 503, FetchedAt: day(2)}, {Origin: here, Status: 503, FetchedAt: day(40)}},
			0,
			[]int{1},
		},
		{"failing", day(10), []robots.Response{moved(day(0), "", "https://b.com/robots.txt"), {Origin: here, Status: 503, FetchedAt: day(2)}}, 1, nil},
	} {
		h := robots.NewHistory(robots.Google)
		for _, r := range c.responses {
			h.Add(r)
		}
		if got := h.Outcome(here, c.asOf); got.Capture != c.capture {
			t.Errorf("%s: response %d decides, want %d", c.name, got.Capture, c.capture)
		}
		if got := h.Hops(here, c.asOf); !slices.Equal(got, c.hops) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.hops)
		}
	}
}
