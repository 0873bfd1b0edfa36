package conduct_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A line is a line of a generated log.
type line struct {
	at     time.Time // zero means none
	agent  string    // "" means a browser
	client string
	url    string
	method string
	status int
	size   int    // size of the response; 0 means 10, or unknown for a robots.txt; see unsized and zero
	want   string // the intended conduct; "" for a line that no text disallows, or that is from an impostor
}

// A scene is a log of crawlers with known conduct, and the captures of robots.txt. Its times are days after a random
// start.
type scene struct {
	rng    *rand.Rand
	start  time.Time
	rules  []robots.Response
	lines  []line
	cache  time.Duration
	client string // of the following lines

	isQuiet bool // no noise is added
}

const (
	site   = "https://a.example"
	plain  = "http://a.example"
	other  = "https://b.example"
	allows = "User-agent: *\nAllow: /\n"
	closes = "User-agent: *\nDisallow: /private\nDisallow: /x\n"
	partly = "User-agent: *\nDisallow: /x\n"
	forGPT = "User-agent: GPTBot\nDisallow: /private\nUser-agent: *\nAllow: /\n"
)

// The addresses of Googlebot in the list of the test, and of others.
const (
	googles   = "66.249.64.5"
	impostors = "45.90.1.7"
)

// at returns the time of a day.
func (s *scene) at(day float64) time.Time {
	return s.start.Add(time.Duration(day * 24 * float64(time.Hour))).Truncate(time.Microsecond)
}

// file adds a robots.txt that has always existed.
func (s *scene) file(body string) *scene {
	s.rules = append(s.rules, robots.Response{Origin: site, Status: 200, Body: []byte(body), File: true})
	return s
}

// capture adds a capture of a robots.txt.
func (s *scene) capture(day float64, status int, body string) *scene {
	s.rules = append(s.rules, robots.Response{Origin: site, Status: status, Body: []byte(body), FetchedAt: s.at(day)})
	return s
}

// leads adds a capture of a robots.txt that redirects to another one.
func (s *scene) leads(day float64, from, to string) *scene {
	s.rules = append(s.rules, robots.Response{Origin: robots.Origin(from), Status: 301, Location: to + "/robots.txt", FetchedAt: s.at(day)})
	return s
}

// busy adds crawlers with many requests, some of which also request robots.txt.
func (s *scene) busy(day float64, asking, silent int) *scene {
	for n := range asking + silent {
		agent := []string{"Amazonbot", "Bytespider", "CCBot", "AhrefsBot"}[n]
		for range 20 {
			s.get(day, agent, "", site+"/open")
		}
		if n < asking {
			s.asks(day, agent, 200)
		}
	}
	return s
}

// copies sets the time for which copies of the last capture may be used.
func (s *scene) copies(age time.Duration) *scene {
	r := &s.rules[len(s.rules)-1]
	r.HasMaxAge, r.MaxAge = true, age
	return s
}

// from sets the address of the following lines.
func (s *scene) from(client string) *scene {
	s.client = client
	return s
}

// asks adds a crawler's request for robots.txt, at the site or, if the argument begins with an origin and a space,
// there.
func (s *scene) asks(day float64, agent string, status int) *scene {
	return s.ask(day, agent, status, "GET", site+"/robots.txt")
}

func (s *scene) ask(day float64, agent string, status int, method, url string) *scene {
	s.lines = append(s.lines, line{at: s.at(day), agent: agent, client: s.client, url: url, method: method, status: status})
	return s
}

// sized sets the size of the last line.
func (s *scene) sized(size int) *scene {
	s.lines[len(s.lines)-1].size = size
	return s
}

// gets adds a crawler's requests for private pages at one time. want is the intended conduct; "" if the requests are
// allowed.
func (s *scene) gets(day float64, agent, want string) *scene {
	for range 1 + s.rng.IntN(3) {
		s.get(day, agent, want, fmt.Sprintf("%s/private/%d", site, s.rng.IntN(5)))
	}
	return s
}

func (s *scene) get(day float64, agent, want, url string) *scene {
	s.lines = append(s.lines, line{at: s.at(day), agent: agent, client: s.client, url: url, method: "GET", status: 200, want: want})
	return s
}

// browsed adds a request by a browser.
func (s *scene) browsed(day float64) *scene { return s.get(day, "", "", site+"/private/1") }

// noise adds lines that must have no effect: after the first line, by crawlers and browsers, for paths that all texts
// allow.
func (s *scene) noise() *scene {
	first, last := time.Time{}, time.Time{}
	for _, l := range s.lines {
		if l.at.IsZero() {
			continue
		}
		if first.IsZero() || l.at.Before(first) {
			first = l.at
		}
		if l.at.After(last) {
			last = l.at
		}
	}
	s.client = ""
	for range s.rng.IntN(20) {
		if s.isQuiet {
			break
		}
		at := first.Add(time.Duration(s.rng.Int64N(int64(last.Sub(first)) + int64(time.Second))))
		l := line{at: at, url: site + "/open", method: "GET", status: 200}
		switch s.rng.IntN(5) {
		case 0:
			l.agent = "GPTBot"
		case 1:
			l.agent, l.url = "bingbot", other+"/private/1"
		case 2:
			l.agent, l.url = "bingbot", other+"/robots.txt"
		case 3:
			l.url = site + "/robots.txt"
		}
		s.lines = append(s.lines, l)
	}
	return s
}

// kinds add lines to a scene, one function for each kind of conduct. GPTBot and OAI-SearchBot are crawlers of OpenAI.
var kinds = []struct {
	name string
	make func(s *scene)
}{
	{"asks each day", func(s *scene) {
		s.file(closes)
		for day := range 5 {
			s.asks(float64(day), "GPTBot", 200).gets(float64(day)+0.3, "GPTBot", "knew")
		}
	}},
	{"asks once", func(s *scene) { s.file(closes).asks(0, "GPTBot", 200).gets(40, "GPTBot", "knew") }},
	{"asks for a query", func(s *scene) {
		s.file(closes).ask(0, "GPTBot", 200, "GET", site+"/robots.txt?v=2").gets(1, "GPTBot", "knew")
	}},
	{"is told that nothing is new", func(s *scene) { s.file(closes).asks(0, "GPTBot", 304).gets(1, "GPTBot", "knew") }},
	{"never asks", func(s *scene) {
		s.file(closes).browsed(0).gets(1.1, "GPTBot", "never_asked").gets(7, "GPTBot", "never_asked")
	}},
	{"never asks, a day after the log begins", func(s *scene) { s.file(closes).browsed(0).gets(1, "GPTBot", "never_asked") }},
	{"never asks in a log that begins later", func(s *scene) { s.file(closes).browsed(0).gets(0.99, "GPTBot", "unseen") }},
	{"comes first", func(s *scene) { s.file(closes).gets(0, "GPTBot", "unseen").gets(1.5, "GPTBot", "never_asked") }},
	{"asks later", func(s *scene) {
		s.file(closes).browsed(0).gets(2, "GPTBot", "never_asked").asks(3, "GPTBot", 200).gets(3, "GPTBot", "knew")
	}},
	{"asks at the same moment", func(s *scene) { s.file(closes).browsed(0).gets(2, "GPTBot", "knew").asks(2, "GPTBot", 200) }},
	{"asks a microsecond later", func(s *scene) {
		s.file(closes).browsed(0).gets(2, "GPTBot", "never_asked").asks(2, "GPTBot", 200)
		s.lines[len(s.lines)-1].at = s.at(2).Add(time.Microsecond)
	}},
	{"asks under another scheme", func(s *scene) {
		s.file(closes).browsed(0).ask(1, "GPTBot", 200, "GET", plain+"/robots.txt").gets(2, "GPTBot", "never_asked")
	}},
	{"asks another host", func(s *scene) {
		s.file(closes).browsed(0).ask(1, "GPTBot", 200, "GET", other+"/robots.txt").gets(2, "GPTBot", "never_asked")
	}},
	{"the origin is new in the log", func(s *scene) {
		s.isQuiet = true
		s.file(closes).get(0, "", "", other+"/").gets(2, "GPTBot", "unseen")
	}},
	{"asks by HEAD", func(s *scene) {
		s.file(closes).browsed(0).ask(1, "GPTBot", 200, "HEAD", site+"/robots.txt").gets(2, "GPTBot", "never_asked")
	}},
	{"asks for a file of that name", func(s *scene) {
		s.file(closes).browsed(0).ask(1, "GPTBot", 200, "GET", site+"/a/robots.txt").ask(1, "GPTBot", 200, "GET", site+"/robots.txt.bak").gets(2, "GPTBot", "never_asked")
	}},
	{"the server fails", func(s *scene) { s.file(closes).browsed(0).asks(1, "GPTBot", 503).gets(2, "GPTBot", "never_asked") }},
	{"too many requests", func(s *scene) { s.file(closes).browsed(0).asks(1, "GPTBot", 429).gets(2, "GPTBot", "never_asked") }},
	{"is redirected", func(s *scene) { s.file(closes).browsed(0).asks(1, "GPTBot", 301).gets(2, "GPTBot", "unseen") }},
	{"is redirected later", func(s *scene) { s.file(closes).browsed(0).gets(2, "GPTBot", "unseen").asks(3, "GPTBot", 301) }},
	{"is redirected by HEAD", func(s *scene) {
		s.file(closes).browsed(0).ask(1, "GPTBot", 302, "HEAD", site+"/robots.txt").gets(2, "GPTBot", "never_asked")
	}},
	{"asks for a fragment", func(s *scene) {
		s.file(closes).ask(0, "GPTBot", 200, "GET", site+"/robots.txt#z").gets(1, "GPTBot", "knew").ask(2, "bingbot", 200, "GET", site+"/robots.txt?v=2#z").gets(3, "bingbot", "knew")
	}},
	{"half of the busy crawlers ask", func(s *scene) { s.file(closes).busy(0, 1, 1).gets(2, "GPTBot", "never_asked") }},
	{"a CDN answers robots.txt", func(s *scene) {
		s.file(closes).busy(0, 1, 2).gets(2, "GPTBot", "unseen").asks(2, "bingbot", 200).gets(3, "bingbot", "knew")
	}},
	{"the busy crawlers ask later", func(s *scene) {
		s.file(closes).busy(0, 0, 2).gets(2, "GPTBot", "never_asked").asks(3, "Amazonbot", 200)
	}},
	{"the log of one busy crawler", func(s *scene) {
		s.file(closes).browsed(0)
		for range 19 {
			s.get(0.1, "GPTBot", "", site+"/open")
		}
		s.get(2, "GPTBot", "unseen", site+"/private/1")
	}},
	{"19 requests are not many", func(s *scene) {
		s.isQuiet = true
		s.file(closes).browsed(0)
		for range 18 {
			s.get(0.1, "GPTBot", "", site+"/open")
		}
		s.get(2, "GPTBot", "never_asked", site+"/private/1")
	}},
	{"an impostor is busy", func(s *scene) {
		s.file(closes).browsed(0).from(impostors)
		for range 30 {
			s.get(0.1, "Googlebot", "", site+"/open")
		}
		s.from(googles).gets(2, "Googlebot", "never_asked").from("").gets(2, "GPTBot", "never_asked")
	}},
	{"its refreshes fail", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).asks(9, "GPTBot", 200).asks(10.5, "GPTBot", 503).asks(12, "GPTBot", 429)
		s.gets(13, "GPTBot", "held").gets(39, "GPTBot", "held").gets(39.01, "GPTBot", "outdated").asks(9, "bingbot", 200).gets(13, "bingbot", "outdated")
	}},
	{"a refresh fails later", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).asks(9, "GPTBot", 200).gets(11, "GPTBot", "outdated").asks(11.5, "GPTBot", 503).gets(11.5, "GPTBot", "held").asks(12, "GPTBot", 304).gets(12, "GPTBot", "knew")
	}},
	{"a refresh fails before an answer", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).asks(8, "GPTBot", 503).asks(9, "GPTBot", 200).asks(9, "GPTBot", 503).gets(11, "GPTBot", "outdated")
	}},
	{"a refresh fails, and another is redirected", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).asks(9, "GPTBot", 200).asks(10, "GPTBot", 503).gets(10.5, "GPTBot", "held").asks(11, "GPTBot", 302).gets(12, "GPTBot", "outdated")
	}},
	{"a refresh by HEAD fails", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).asks(9, "GPTBot", 200).ask(10, "GPTBot", 503, "HEAD", site+"/robots.txt").gets(12, "GPTBot", "outdated")
	}},
	{"an impostor's refresh fails", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).from(googles).asks(9, "Googlebot", 200).from(impostors).asks(10, "Googlebot", 503).from(googles).gets(12, "Googlebot", "outdated")
	}},
	{"http leads to https", func(s *scene) {
		s.capture(0, 200, closes).leads(0, plain, site).browsed(0).ask(1, "GPTBot", 301, "GET", plain+"/robots.txt").asks(1, "GPTBot", 200)
		s.get(0, "", "", plain+"/").get(2, "GPTBot", "knew", plain+"/private/1").get(2, "bingbot", "never_asked", plain+"/private/1").get(2, "OAI-SearchBot", "shared", plain+"/private/1")
	}},
	{"http leads to https, whose text closes a page", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).leads(0, plain, site).asks(9, "GPTBot", 200).ask(9, "bingbot", 200, "GET", plain+"/robots.txt")
		s.get(9.5, "GPTBot", "", plain+"/private/1").get(10, "GPTBot", "held", plain+"/private/1").get(11, "GPTBot", "outdated", plain+"/private/1").asks(12, "GPTBot", 503)
		s.get(13, "GPTBot", "held", plain+"/private/1").asks(14, "GPTBot", 200).get(15, "GPTBot", "knew", plain+"/private/1").get(15, "bingbot", "outdated", plain+"/private/1")
	}},
	{"a refresh at https fails before an answer", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes).leads(0, plain, site).asks(7, "GPTBot", 200).asks(8, "GPTBot", 503).asks(9, "GPTBot", 200)
		s.get(0, "", "", plain+"/").get(12, "GPTBot", "outdated", plain+"/private/1")
	}},
	{"www leads over http", func(s *scene) {
		s.capture(0, 200, closes).leads(0, "http://www.a.example", plain).leads(0, plain, site).asks(1, "GPTBot", 200)
		s.get(0, "", "", "http://www.a.example/").get(2, "GPTBot", "knew", "http://www.a.example/private/1").get(2, "GPTBot", "knew", plain+"/private/1").gets(2, "GPTBot", "knew")
	}},
	{"https does not lead to http", func(s *scene) {
		s.capture(0, 200, closes).leads(0, plain, site).browsed(0).ask(1, "GPTBot", 200, "GET", plain+"/robots.txt").gets(2, "GPTBot", "never_asked")
	}},
	{"http led to https later", func(s *scene) {
		s.capture(0, 200, closes).leads(3, plain, site).asks(1, "GPTBot", 200).get(0, "", "", plain+"/").get(4, "GPTBot", "never_asked", plain+"/private/1").asks(5, "GPTBot", 304).get(6, "GPTBot", "knew", plain+"/private/1")
	}},
	{"no status", func(s *scene) { s.file(closes).browsed(0).asks(1, "GPTBot", 0).gets(2, "GPTBot", "never_asked") }},
	{"failures do not undo an answer", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 200).asks(1, "GPTBot", 500).asks(2, "GPTBot", 429).gets(3, "GPTBot", "knew")
	}},
	{"gets the response that there is none", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 404).gets(1, "GPTBot", "held").gets(1.01, "GPTBot", "unseen").gets(1.01, "bingbot", "never_asked")
	}},
	{"all get the response that there is none", func(s *scene) {
		for day := range 5 {
			s.asks(float64(day), "GPTBot", 404).asks(float64(day), "bingbot", 410).asks(float64(day), "Amazonbot", 301).asks(float64(day), "Amazonbot", 503)
		}
		s.file(closes).gets(4.5, "GPTBot", "held").gets(7, "GPTBot", "unseen").gets(7, "bingbot", "unseen").gets(7, "Amazonbot", "unseen").gets(7, "OAI-SearchBot", "shared")
	}},
	{"most get the response that there is none", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 200).asks(0, "bingbot", 404).asks(1, "bingbot", 404).gets(3, "GPTBot", "knew").gets(3, "bingbot", "unseen")
	}},
	{"half get the response that there is none", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 304).asks(0, "bingbot", 404).gets(3, "GPTBot", "knew").gets(3, "bingbot", "outdated")
	}},
	{"gets the response once that there is none", func(s *scene) {
		for day := range 5 {
			s.asks(float64(day), "GPTBot", []int{200, 304, 206, 404, 200}[day])
		}
		s.file(closes).gets(3.5, "GPTBot", "held").gets(5, "GPTBot", "knew").asks(6, "bingbot", 404).gets(8, "bingbot", "outdated")
	}},
	{"gets a HEAD response that there is none", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 404).ask(1, "bingbot", 404, "HEAD", site+"/robots.txt").asks(2, "bingbot", 200).gets(3, "GPTBot", "outdated").gets(3, "bingbot", "knew")
	}},
	{"an impostor gets the response that there is none", func(s *scene) {
		s.file(closes).from(impostors).asks(0, "Googlebot", 404).asks(1, "Googlebot", 404).from(googles).asks(1, "Googlebot", 200).asks(2, "Googlebot", 404).gets(4, "Googlebot", "outdated")
	}},
	{"a capture says that there was none", func(s *scene) {
		s.capture(0, 404, "").capture(9, 200, closes)
		for day := range 8 {
			s.asks(float64(day), "GPTBot", 404)
		}
		s.gets(7.5, "GPTBot", "").gets(9, "GPTBot", "outdated").asks(10, "bingbot", 200).gets(11, "bingbot", "knew")
	}},
	{"another host has none", func(s *scene) {
		s.file(closes).ask(0, "GPTBot", 404, "GET", other+"/robots.txt").ask(1, "GPTBot", 404, "GET", plain+"/robots.txt").asks(1, "GPTBot", 403).gets(3, "GPTBot", "outdated")
	}},
	{"may not ask", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 403).gets(0.5, "GPTBot", "held").asks(1, "GPTBot", 401).gets(3, "GPTBot", "outdated")
	}},
	{"is told two things at once", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 404).asks(0, "GPTBot", 200).gets(0.5, "GPTBot", "held")
	}},
	{"is told another thing later", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 404).asks(0.1, "GPTBot", 200).gets(0.5, "GPTBot", "knew")
	}},
	{"its operator asks", func(s *scene) {
		s.file(closes).browsed(0).asks(1, "OAI-SearchBot", 200).gets(2, "GPTBot", "shared").gets(0.5, "GPTBot", "unseen").gets(2, "bingbot", "never_asked")
	}},
	{"its operator asks later", func(s *scene) {
		s.file(closes).browsed(0).asks(3, "OAI-SearchBot", 200).gets(2, "GPTBot", "never_asked").gets(3, "GPTBot", "shared")
	}},
	{"its operator asks another host", func(s *scene) {
		s.file(closes).browsed(0).ask(1, "OAI-SearchBot", 200, "GET", other+"/robots.txt").gets(2, "GPTBot", "never_asked")
	}},
	{"asks itself, after its operator", func(s *scene) {
		s.file(closes).asks(0, "OAI-SearchBot", 200).asks(1, "GPTBot", 404).gets(5, "GPTBot", "outdated")
	}},
	{"the text closes a page", func(s *scene) {
		s.capture(0, 200, allows).capture(10, 200, closes)
		s.asks(9, "GPTBot", 200).gets(9.5, "GPTBot", "").gets(10, "GPTBot", "held").gets(10.01, "GPTBot", "outdated").asks(11, "GPTBot", 200).gets(11, "GPTBot", "knew")
	}},
	{"the text stays closed", func(s *scene) {
		s.capture(0, 200, closes).capture(10, 200, closes+"# new\n").asks(1, "GPTBot", 200).gets(10, "GPTBot", "knew").gets(30, "GPTBot", "knew")
	}},
	{"the text opens and closes", func(s *scene) {
		s.capture(0, 200, closes).capture(2, 200, partly).capture(4, 200, closes)
		s.asks(1, "GPTBot", 200).gets(1, "GPTBot", "knew").asks(3, "GPTBot", 200).gets(3.2, "GPTBot", "").gets(4, "GPTBot", "held").gets(4.5, "GPTBot", "outdated")
		s.asks(1.5, "bingbot", 200).gets(4.5, "bingbot", "knew").get(4.6, "GPTBot", "knew", site+"/x")
	}},
	{"no capture yet", func(s *scene) {
		s.capture(5, 200, closes).asks(1, "GPTBot", 200).gets(2, "GPTBot", "").gets(5.1, "GPTBot", "outdated").asks(4.5, "bingbot", 200).gets(5.1, "bingbot", "held")
	}},
	{"a fetch failed in between", func(s *scene) {
		s.capture(0, 200, closes).capture(2, 503, "").capture(4, 200, closes)
		s.asks(1, "GPTBot", 200).gets(3, "GPTBot", "").gets(4, "GPTBot", "knew").asks(3, "bingbot", 200).gets(4.5, "bingbot", "outdated").gets(4, "bingbot", "held")
	}},
	{"there was none before", func(s *scene) {
		s.capture(0, 404, "").capture(2, 200, closes).asks(1.5, "GPTBot", 404).gets(1.6, "GPTBot", "").gets(2.1, "GPTBot", "held").gets(3, "GPTBot", "outdated")
	}},
	{"copies may be old", func(s *scene) {
		s.capture(0, 200, allows).copies(72*time.Hour).capture(10, 200, closes)
		s.asks(9, "GPTBot", 200).gets(11.9, "GPTBot", "held").gets(12.1, "GPTBot", "outdated")
	}},
	{"nobody has copies", func(s *scene) {
		s.cache = -1
		s.capture(0, 200, allows).capture(10, 200, closes).asks(9.9, "GPTBot", 200).gets(10, "GPTBot", "outdated").gets(10, "bingbot", "never_asked")
	}},
	{"copies for an hour", func(s *scene) {
		s.cache = time.Hour
		s.file(closes).asks(0, "GPTBot", 404).gets(1./24, "GPTBot", "held").gets(1.1/24, "GPTBot", "unseen").gets(1./24, "bingbot", "never_asked").gets(0.9/24, "Amazonbot", "unseen")
	}},
	{"only a group of its own", func(s *scene) {
		s.capture(0, 200, allows).capture(3, 200, forGPT).asks(4, "GPTBot", 200).asks(4, "bingbot", 200).gets(5, "GPTBot", "knew").gets(5, "bingbot", "")
	}},
	{"a crawler that only robots.txt names", func(s *scene) {
		s.capture(0, 200, allows).capture(3, 200, allows+"\nUser-agent: Ownbot\nDisallow: /private\n")
		s.asks(4, "ownbot", 200).gets(5, "ownbot", "knew")
	}},
	{"an impostor asks", func(s *scene) {
		s.file(closes).browsed(0).from(impostors).asks(1, "Googlebot", 200).from(googles).gets(2, "Googlebot", "never_asked")
	}},
	{"an impostor comes", func(s *scene) {
		s.file(closes).from(googles).asks(1, "Googlebot", 200).from(impostors).gets(2, "Googlebot", "").from(googles).gets(3, "Googlebot", "knew")
	}},
	{"an impostor makes the log begin", func(s *scene) {
		s.file(closes).from(impostors).gets(0, "Googlebot", "").from(googles).gets(2, "Googlebot", "never_asked")
	}},
	{"is sent the text", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 200).sized(len(closes)).gets(1, "GPTBot", "knew").asks(2, "bingbot", 200).sized(len(closes)+2).gets(3, "bingbot", "knew")
	}},
	{"is sent another text", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 200).sized(tooLong).gets(1, "GPTBot", "unseen").asks(2, "GPTBot", 200).sized(len(closes)).gets(3, "GPTBot", "knew")
		s.asks(4, "GPTBot", 200).sized(1).gets(5, "GPTBot", "unseen")
	}},
	{"is sent a longer text", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 200).sized(len(closes)+longer).gets(1, "GPTBot", "unseen").gets(2, "bingbot", "never_asked")
	}},
	{"keeps another text", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 200).sized(tooLong).asks(1, "GPTBot", 304).gets(2, "GPTBot", "unseen").asks(3, "GPTBot", 206).gets(4, "GPTBot", "unseen")
		s.asks(5, "GPTBot", 200).sized(len(closes)).asks(6, "GPTBot", 304).gets(7, "GPTBot", "knew").asks(0, "bingbot", 304).gets(1, "bingbot", "knew")
	}},
	{"its operator is sent another text", func(s *scene) {
		s.file(closes).browsed(0).asks(1, "OAI-SearchBot", 200).sized(tooLong).asks(1.5, "OAI-SearchBot", 304).gets(2, "GPTBot", "never_asked")
		s.asks(3, "OAI-SearchBot", 200).sized(len(closes)).gets(4, "GPTBot", "shared")
	}},
	{"its operator receives a longer text", func(s *scene) {
		s.file(closes).browsed(0).asks(1, "OAI-SearchBot", 200).sized(len(closes)+longer).gets(2, "GPTBot", "never_asked")
	}},
	{"its operator keeps a text, and receives another", func(s *scene) {
		s.file(closes).browsed(0).asks(1, "OAI-SearchBot", 304).asks(2, "OAI-SearchBot", 200).sized(tooLong).gets(3, "GPTBot", "shared")
	}},
	{"its operator is sent headers", func(s *scene) {
		s.file(closes).browsed(0).asks(1, "OAI-SearchBot", 200).sized(len(closes)+longer).gets(2, "GPTBot", "shared")
		s.ask(0.5, "bingbot", 304, "GET", site+"/open").sized(180)
	}},
	{"the log counts headers", func(s *scene) {
		s.file(closes).asks(0, "GPTBot", 200).sized(len(closes)+longer).gets(1, "GPTBot", "knew").asks(2, "GPTBot", 200).sized(tooLong).gets(3, "GPTBot", "unseen")
		s.ask(0.5, "bingbot", 304, "GET", site+"/open").sized(180)
	}},
	{"is sent the text before", func(s *scene) {
		s.capture(0, 200, partly).capture(10, 200, closes)
		s.asks(11, "GPTBot", 200).sized(tooLong).gets(12, "GPTBot", "unseen").asks(13, "GPTBot", 200).sized(len(closes)).gets(13, "GPTBot", "knew")
	}},
	{"no times", func(s *scene) {
		s.file(closes).asks(1, "GPTBot", 200).gets(2, "GPTBot", "knew").gets(0, "GPTBot", "").gets(0, "bingbot", "")
		for i := range s.lines {
			if s.lines[i].want == "" && !strings.HasSuffix(s.lines[i].url, "robots.txt") {
				s.lines[i].at = time.Time{}
			}
		}
	}},
}

// newScene generates a log of a kind.
func newScene(kind int, seed uint64) *scene {
	rng := rand.New(rand.NewPCG(seed, uint64(kind)))
	s := &scene{rng: rng, start: time.Date(2026, 8, 11, 0, 0, rng.IntN(86400), 1000*rng.IntN(2)*rng.IntN(1e6), time.UTC)}
	kinds[kind].make(s)
	return s.noise()
}

// forbids reports whether the text in force at a time disallows a URL for a crawler. It is a slow implementation of
// SEMANTICS.md, section 13.
func (s *scene) forbids(agent, url string, at time.Time) bool {
	rule, ok := s.rule(agent, url, at)
	return ok && !rule.Allow
}

// rule returns the rule that decides a URL for a crawler at a time. ok is false if there is none.
func (s *scene) rule(agent, url string, at time.Time) (rule robots.Rule, ok bool) {
	r := s.inForce(url, at)
	if r == nil || r.Status != 200 {
		return rule, false
	}
	f := robots.Parse(r.Body, robots.Google)
	path := strings.TrimPrefix(url, originOf(url))
	rules, _ := f.Select(robots.NewAgent(agent, robots.Google))
	n := robots.Decide(rules, []byte(path), robots.Google)
	if n < 0 {
		return rule, false
	}
	return rules[n], true
}

// inForce returns the capture in force after redirects; nil if there is none.
func (s *scene) inForce(url string, at time.Time) *robots.Response {
	r := s.own(url, at)
	for r != nil && r.Status == 301 {
		r = s.own(r.Location, at)
	}
	return r
}

// leadTo returns the origins that the capture in force for an origin redirects to.
func (s *scene) leadTo(origin string, at time.Time) (all []string) {
	for r := s.own(origin, at); r != nil && r.Status == 301; r = s.own(r.Location, at) {
		all = append(all, originOf(r.Location))
	}
	return all
}

// isOf reports whether a line is about an origin: it is a request to it, or for a robots.txt to which its capture
// redirects.
func (s *scene) isOf(l *line, origin string) bool {
	return originOf(l.url) == origin || isTxt(l.url) && slices.Contains(s.leadTo(origin, l.at), originOf(l.url))
}

// fails reports whether a line is a failed request for an origin's robots.txt, and whether it was redirected although
// no capture is a redirect.
func (s *scene) fails(l *line, origin string) (failed, moved bool) {
	if !isTxt(l.url) || l.counts() || l.at.IsZero() || l.isImpostor() || l.method == "HEAD" || l.status == 0 {
		return false, false
	}
	isMoved := l.status/100 == 3
	return !isMoved, isMoved && originOf(l.url) == origin && len(s.leadTo(origin, l.at)) == 0
}

// hasRobots reports whether at least half of the crawlers with at least 20 requests to an origin had a response for
// robots.txt there.
func (s *scene) hasRobots(origin string) bool {
	requests, answers := map[string]int{}, map[string]bool{}
	for i := range s.lines {
		l := &s.lines[i]
		if l.agent == "" || l.isImpostor() {
			continue
		}
		if originOf(l.url) == origin {
			requests[l.agent]++
		}
		if l.counts() && s.isOf(l, origin) {
			answers[l.agent] = true
		}
	}
	busy, asked := 0, 0
	for agent, n := range requests {
		if n >= 20 {
			busy++
			if answers[agent] {
				asked++
			}
		}
	}
	return 2*asked >= busy
}

// own returns the capture in force of an origin itself, before redirects; nil if there is none.
func (s *scene) own(url string, at time.Time) (last *robots.Response) {
	for i := range s.rules {
		if r := &s.rules[i]; string(r.Origin) == originOf(url) && !r.FetchedAt.After(at) && (last == nil || !r.FetchedAt.Before(last.FetchedAt)) {
			last = r
		}
	}
	return last
}

// originOf returns the origin of a URL in a scene.
func originOf(url string) string {
	rest := url[strings.Index(url, "//")+2:]
	host, _, _ := strings.Cut(rest, "/")
	return url[:len(url)-len(rest)] + host
}

// isTxt reports whether a URL names a robots.txt.
func isTxt(url string) bool {
	path, _, _ := strings.Cut(strings.TrimPrefix(url, originOf(url)), "#")
	path, _, _ = strings.Cut(path, "?")
	return path == "/robots.txt"
}

// operators are the operators of the crawlers in scenes.
var operators = map[string]string{"GPTBot": "OpenAI", "OAI-SearchBot": "OpenAI"}

// isImpostor reports whether the sender of a line is not the crawler that it names.
func (l *line) isImpostor() bool { return l.agent == "Googlebot" && l.client == impostors }

// counts reports whether a line is a response that counts.
func (l *line) counts() bool {
	says := l.status/100 == 2 || l.status == 304 || l.status/100 == 4 && l.status != 429
	return isTxt(l.url) && !l.at.IsZero() && !l.isImpostor() && l.method != "HEAD" && says
}

// tooLong is greater than the size of any response with a text in a scene. longer is the size of a header.
const (
	tooLong = 20_000
	longer  = 400
)

// isOther reports whether the size of a response shows that it is not the text in force.
func (s *scene) isOther(l *line) bool {
	r := s.inForce(l.url, l.at)
	if l.size == 0 || l.status != 200 || !isTxt(l.url) || r == nil || r.Status != 200 {
		return false
	}
	headers := slices.ContainsFunc(s.lines, func(o line) bool { return o.status == 304 && o.size > 0 })
	return l.size == 1 || l.size == tooLong || l.size == len(r.Body)+longer && !headers
}

// isOff reports whether a crawler had another text than the one in force after a response. It judges by the size of
// the response, or of the response that it confirms.
func (s *scene) isOff(l *line) bool {
	if l.status != 304 && l.status != 206 {
		return s.isOther(l)
	}
	var f *line
	for i := range s.lines {
		if o := &s.lines[i]; o.agent == l.agent && originOf(o.url) == originOf(l.url) && o.counts() && o.at.Before(l.at) && (f == nil || o.at.After(f.at)) {
			f = o
		}
	}
	return f != nil && s.isOff(f)
}

// hasText reports whether a text is in force for a line.
func (s *scene) hasText(l *line) bool {
	r := s.inForce(l.url, l.at)
	return r != nil && r.Status == 200
}

// denies reports whether a response says that there is no robots.txt although a text is in force.
func (s *scene) denies(l *line) bool { return (l.status == 404 || l.status == 410) && s.hasText(l) }

// toldNone returns the number of an origin's responses that say that there is no robots.txt, and the number of these
// plus those with a text.
func (s *scene) toldNone(origin string) (denied, told int64) {
	for i := range s.lines {
		l := &s.lines[i]
		switch {
		case l.agent == "" || originOf(l.url) != origin || !l.counts():
		case s.denies(l):
			denied++
			told++
		case l.status/100 != 4 && s.hasText(l):
			told++
		}
	}
	return denied, told
}

// reference returns the conduct of a line that the text disallows, by the table of section 13; "" for other lines.
func (s *scene) reference(l *line) string { return s.referenceIf(l, s.hasRobots(originOf(l.url))) }

// referenceIf is like reference, for a log that has requests for robots.txt or not.
func (s *scene) referenceIf(l *line, hasRobots bool) string {
	if l.agent == "" || l.isImpostor() || l.at.IsZero() || isTxt(l.url) || !s.forbids(l.agent, l.url, l.at) {
		return ""
	}
	cache := s.cache
	switch {
	case cache == 0:
		cache = 24 * time.Hour
	case cache < 0:
		cache = 0
	}
	var f *line
	shared, begun, moved := false, false, false
	origin := originOf(l.url)
	for i := range s.lines {
		o := &s.lines[i]
		moved = moved || originOf(o.url) == origin && o.agent == l.agent && isTxt(o.url) && o.status/100 == 3 && o.status != 304 && o.method != "HEAD" && !o.isImpostor()
		if !s.isOf(o, origin) || o.at.IsZero() || o.at.After(l.at) {
			continue
		}
		begun = begun || originOf(o.url) == origin && !o.at.After(l.at.Add(-cache))
		if !o.counts() {
			continue
		}
		shared = shared || o.agent != l.agent && operators[o.agent] != "" && operators[o.agent] == operators[l.agent] && !s.isOff(o)
		if o.agent == l.agent && (f == nil || o.at.After(f.at) || o.at.Equal(f.at) && o.status/100 == 4) {
			f = o
		}
	}
	switch {
	case f != nil && s.isOff(f):
		return "unseen"
	case f != nil && f.status/100 != 4 && s.forbids(l.agent, l.url, f.at):
		return "knew"
	case f != nil:
		if r := s.inForce(l.url, f.at); r != nil && r.HasMaxAge && s.cache >= 0 {
			cache = r.MaxAge
		}
		anyFailed, allFailed := false, true
		for i := range s.lines {
			if o := &s.lines[i]; o.agent == l.agent && o.at.After(f.at) && !o.at.After(l.at) && s.isOf(o, origin) {
				failed, moved := s.fails(o, origin)
				anyFailed, allFailed = anyFailed || failed, allFailed && !moved
			}
		}
		if age := l.at.Sub(f.at); age <= cache || anyFailed && allFailed && age <= 30*24*time.Hour {
			return "held"
		}
		if denied, told := s.toldNone(originOf(l.url)); s.denies(f) && 2*denied > told {
			return "unseen"
		}
		return "outdated"
	case shared:
		return "shared"
	case begun && !moved && hasRobots:
		return "never_asked"
	}
	return "unseen"
}

// isHidden reports whether an unseen line would be never_asked if more busy crawlers had responses.
func (s *scene) isHidden(l *line) bool {
	if s.hasRobots(originOf(l.url)) {
		return false
	}
	return s.referenceIf(l, true) == "never_asked"
}

// responses yields the captures.
func (s *scene) responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, r := range s.rules {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// A source yields lines in batches of a few rows.
type source struct {
	lines []line
	rows  int
}

func (s *source) Err() error   { return nil }
func (s *source) Close() error { return nil }

// Next fills a batch.
func (s *source) Next(b *engine.Batch) bool {
	b.Reset()
	n := min(s.rows, len(s.lines))
	if n == 0 {
		return false
	}
	if len(b.Kept) == 0 {
		b.Kept = []engine.Kept{{Kind: engine.KeptInt}, {Kind: engine.KeptText}, {Kind: engine.KeptInt}}
	}
	text := func(text string) engine.Span {
		if text == "" {
			return engine.NoURL
		}
		b.Data = append(b.Data, text...)
		return engine.Span{Off: uint32(len(b.Data) - len(text)), Len: uint32(len(text))}
	}
	for i, l := range s.lines[:n] {
		b.AddURL([]byte(l.url), int64(i+1))
		header := l.agent + "/1.0"
		if l.agent == "" {
			header = "Mozilla/5.0 (X11) Firefox/130.0"
		}
		at := int64(math.MinInt64)
		if !l.at.IsZero() {
			at = l.at.UnixMicro()
		}
		b.UserAgents, b.Clients, b.Times = append(b.UserAgents, text(header)), append(b.Clients, text(l.client)), append(b.Times, at)
		status, method, size := &b.Kept[0], &b.Kept[1], &b.Kept[2]
		status.Ints, status.Present = append(status.Ints, int64(l.status)), append(status.Present, l.status > 0)
		method.Texts, method.Present = append(method.Texts, text(l.method)), append(method.Present, true)
		sent, isSized := l.bytes()
		size.Ints, size.Present = append(size.Ints, sent), append(size.Present, isSized)
	}
	s.lines = s.lines[n:]
	return true
}

// Logged sizes of a line without a size, and of a line with size 0.
const (
	unsized = -1 - iota
	zero
)

// bytes returns the size in a line; false if it has none.
func (l *line) bytes() (n int64, ok bool) {
	switch {
	case l.size == unsized:
		return 0, false
	case l.size == zero:
		return 0, true
	case l.size > 0:
		return int64(l.size), true
	case isTxt(l.url):
		return 0, false
	}
	return 10, true
}

// A findings is a Report that keeps everything.
type findings struct {
	rows       []conduct.Row
	requests   []conduct.Request
	changes    []conduct.Change
	mismatches []conduct.Mismatch
}

func (f *findings) Row(r *conduct.Row) error { f.rows = append(f.rows, *r); return nil }

func (f *findings) Request(r *conduct.Request) error {
	q := *r
	q.URL, q.Client, q.UserAgent, q.Rule = slices.Clone(q.URL), slices.Clone(q.Client), slices.Clone(q.UserAgent), slices.Clone(q.Rule)
	f.requests = append(f.requests, q)
	return nil
}

func (f *findings) Change(c *conduct.Change) error { f.changes = append(f.changes, *c); return nil }

func (f *findings) Mismatch(m *conduct.Mismatch) error {
	f.mismatches = append(f.mismatches, *m)
	return nil
}
