package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
)

// A traffic is a made-up log of a site and of its robots.txt, with the faults of a test. Without one, there is nothing to
// do: crawlers obey, come all the time, and hardly ever fail.
type traffic struct {
	lines    int
	days     int
	captures []sent
	client   func(v *visit) // has the faults of a request; nil is none
	more     func(rng *rand.Rand) []visit
	args     []string
}

// A sent is a robots.txt from a day on.
type sent struct {
	day  float64
	body string
}

// A visit is a request.
type visit struct {
	at      time.Time
	day     float64 // since the first one
	address string
	agent   string
	path    string
	status  int
	size    int    // bytes of the answer; 0 is as usual, and less is 0 bytes
	method  string // "" is GET
	skip    bool   // it was not made
	robot   bool   // a crawler sends it
	rng     *rand.Rand
}

const (
	firefox   = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	bingbot   = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
)

// usualText is a robots.txt without a fault.
const usualText = "User-agent: *\nDisallow: /private/\nDisallow: /search\nAllow: /search/help\n\nSitemap: https://www.shop.example/sitemap.xml\n"

// begin is when the logs begin.
var begin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// write writes the log and the captures of the robots.txt to a directory.
func (c *traffic) write(t *testing.T, dir string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(34, uint64(c.lines)))
	sections := []string{"/shop/", "/shop/", "/shop/", "/blog/", "/blog/", "/news/", "/about/", "/search/help/", "/img/", "/img/"}
	var all []visit
	for i := range c.lines {
		day := float64(i) / float64(c.lines) * float64(c.days)
		v := visit{day: day, agent: firefox, address: fmt.Sprintf("91.65.12.%d", rng.IntN(250)), status: 200, rng: rng}
		switch n := rng.IntN(100); {
		case n < 12:
			v.agent, v.robot, v.address = googlebot, true, fmt.Sprintf("66.249.64.%d", rng.IntN(30))
		case n < 20:
			v.agent, v.robot, v.address = bingbot, true, fmt.Sprintf("157.55.39.%d", rng.IntN(250))
		case n < 24:
			v.agent, v.robot, v.address = gptbot, true, fmt.Sprintf("20.171.206.%d", rng.IntN(250))
		}
		v.path = fmt.Sprintf("%s%d.html", sections[rng.IntN(len(sections))], rng.IntN(300))
		if v.robot && rng.IntN(100) == 0 {
			v.path = "/robots.txt"
		} else if !v.robot && rng.IntN(20) == 0 {
			v.path = fmt.Sprintf("/search?q=%d", rng.IntN(900)) // which crawlers may not fetch
		}
		switch n := rng.IntN(1000); {
		case n < 30:
			v.status = 404
		case n < 90:
			v.status = 301
		case n < 95:
			v.status = 503
		}
		if c.client != nil {
			c.client(&v)
		}
		all = append(all, v)
	}
	if c.more != nil {
		all = append(all, c.more(rng)...)
	}
	for i := range all {
		all[i].at = begin.Add(time.Duration(all[i].day * 24 * float64(time.Hour)))
	}
	slices.SortStableFunc(all, func(a, b visit) int { return a.at.Compare(b.at) })
	var log, rules strings.Builder
	for i := range all {
		if v := &all[i]; !v.skip {
			fmt.Fprintf(&log, "%s - - [%s] \"%s %s HTTP/1.1\" %d %d \"-\" \"%s\"\n", v.address, v.at.Format("02/Jan/2006:15:04:05 -0700"), cmp.Or(v.method, "GET"), v.path, v.status, max(0, cmp.Or(v.size, 5120)), v.agent)
		}
	}
	captures := c.captures
	if captures == nil {
		captures = []sent{{-5, usualText}}
	}
	for _, s := range captures {
		fmt.Fprintf(&rules, "{\"origin\": \"https://www.shop.example\", \"status\": 200, \"fetched_at\": %d, \"body\": %q}\n", begin.Add(time.Duration(s.day*24*float64(time.Hour))).Unix(), s.body)
	}
	for name, text := range map[string]string{"access.log": log.String(), "rules.jsonl": rules.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// findingPattern is a finding on a page.
var findingPattern = regexp.MustCompile(`<li data-kind="([a-z-]+)"><p><b>([^\n]*)</b>[^\n]*\n<p class="facts">([^\n]*)</p>\n<p>([^\n]*)</p></li>`)

// tags are those of HTML.
var tags = regexp.MustCompile(`<[^>]*>`)

// findings makes a report, and returns the kinds of its findings in their order, and their texts.
func findings(t *testing.T, dir string, args ...string) (kinds []string, said string) {
	t.Helper()
	out := filepath.Join(dir, "report.html")
	args = append([]string{"report", "-agent-from-log", "-what-if", "off", "-quiet", "-out", out}, args...)
	if code := run(args, console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}); code != exitDone {
		t.Fatalf("%q: exit code %d", args, code)
	}
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, m := range findingPattern.FindAllStringSubmatch(string(page), -1) {
		kinds = append(kinds, m[1])
		lines.WriteString(m[1] + ": " + html.UnescapeString(tags.ReplaceAllString(strings.Join(m[2:], " | "), "")) + "\n")
	}
	if none := strings.Contains(string(page), "Nothing that calls for action was found."); none != (len(kinds) == 0) {
		t.Errorf("there are %d findings, and the page says that there is none: %t", len(kinds), none)
	}
	return kinds, lines.String()
}

// closedText closes all of a site.
const closedText = "User-agent: *\nDisallow: /\n"

// faults are the logs of TestFindings.
var faults = map[string]struct {
	traffic
	want  string // kinds in their order
	first string // a part of the first finding's text
}{
	"none":   {traffic{}, "", ""},
	"closed": {traffic{captures: []sent{{-5, usualText}, {4, closedText}, {11, usualText}}, client: func(v *visit) { v.skip = v.robot && v.day > 4 && v.day < 11 && v.path != "/robots.txt" }}, "closed", "The robots.txt shut out Googlebot and bingbot for a time: its line 2 was Disallow: /, which closes the whole site. | 38,"},
	"closed to one": {
		traffic{captures: []sent{{-5, "User-agent: Googlebot\nDisallow: /\n\n" + usualText}}, client: func(v *visit) { v.skip = v.agent == googlebot && v.path != "/robots.txt" }},
		"closed", "Googlebot may fetch nothing",
	},
	"HTML":    {traffic{captures: []sent{{-5, usualText}, {6, "<!DOCTYPE html>\n<html><body>Welcome</body></html>\n"}}}, "misplaced", "sends as robots.txt is an HTML page"},
	"staging": {traffic{captures: []sent{{-5, strings.Replace(usualText, "www.", "staging.", 1)}}}, "foreign", "its sitemap in line 6 is on staging.shop.example"},
	"a path":  {traffic{captures: []sent{{-5, usualText + "\nUser-agent: bingbot\nDisallow: /shop/\n"}}, client: func(v *visit) { v.skip = v.agent == bingbot && strings.HasPrefix(v.path, "/shop/") }}, "closed-path", "bingbot may not fetch /shop/, the path of 27.0% of the site's requests: line 9, Disallow: /shop/. | 26,358 requests"},
	"a path of another": {
		traffic{captures: []sent{{-5, usualText}, {7, usualText + "Disallow: /docs/api/\n"}}, client: func(v *visit) { v.ask("/docs/", "/docs/api/") }},
		"closed-path changed",
		"closed-path: Googlebot and bingbot may not fetch /docs/api/: line 7, Disallow: /docs/api/. While they might, they made 2",
	},
	"a path for a time": {
		traffic{captures: []sent{{-5, usualText}, {7, usualText + "Disallow: /docs/api/\n"}, {12, usualText}}, client: func(v *visit) { v.ask("/docs/", "/docs/api/") }},
		"closed-path changed",
		"closed-path: For a time Googlebot and bingbot might not fetch /docs/api/: line 7 was Disallow: /docs/api/. While they might, they made 2",
	},
	"a path that was never crawled": {
		traffic{captures: []sent{{-5, usualText + "Disallow: /docs/api/\n"}}, client: func(v *visit) {
			v.ask("/docs/", "/docs/api/")
			v.skip = v.robot && strings.HasPrefix(v.path, "/docs/api/")
		}}, "", "",
	},
	"carts": {
		traffic{captures: []sent{{-5, usualText}, {7, usualText + "Disallow: /cart/\nDisallow: /de/login/\n"}}, client: func(v *visit) { v.ask("/de/", "/cart/") }}, "changed", "",
	},
	"a trap that was closed": {
		traffic{captures: []sent{{-5, usualText}, {7, usualText + "Disallow: /shop/filter/\n"}}, client: func(v *visit) {
			if v.robot && v.path != "/robots.txt" && v.rng.IntN(4) == 0 {
				v.path, v.status, v.skip = "/shop/filter/?"+v.filters("&", "="), 200, v.day > 7
			}
		}}, "endless changed", "endless: ",
	},
	"stopped": {traffic{client: func(v *visit) { v.skip = v.agent == bingbot && v.day > 9 }}, "stopped", "bingbot stopped: it made "},
	"slowed":  {traffic{client: func(v *visit) { v.skip = v.agent == googlebot && v.day > 10 && v.rng.IntN(10) > 0 }}, "slowed", "Googlebot came much less: "},
	"failing": {traffic{client: func(v *visit) { failSome(v, 8, 503, 10) }}, "failing", "% of the requests of Googlebot in that time, 10.4% of those of bingbot and 12.0% of those of GPTBot were answered by an error of the server (5xx), most often 503."},
	"failing of a directory": {traffic{client: func(v *visit) {
		if v.robot && v.day > 8 && strings.HasPrefix(v.path, "/news/") {
			v.status = []int{500, 500, 500, 502}[v.rng.IntN(4)]
		}
	}}, "failing-path", "/news/ answers errors (5xx), most often 500, to every crawler since 2026-03-09 00:"},
	"failing for one": {traffic{client: func(v *visit) {
		if v.agent == bingbot && v.day > 8.25 && v.rng.IntN(8) > 0 {
			v.status = 503
		}
	}}, "failing-path", "Nearly all pages answer 503 to bingbot since 2026-03-09 06:"},
	"a failing directory and no robots.txt": {traffic{captures: []sent{{-5, usualText}, {3, "<!DOCTYPE html>\n<html><body>Welcome</body></html>\n"}}, client: func(v *visit) {
		if v.robot && v.day > 11 && strings.HasPrefix(v.path, "/news/") {
			v.status = 502
		}
	}}, "failing-path misplaced", "/news/ answers 502 to every crawler since 2026-03-12 00:"},
	"a directory that was repaired": {traffic{client: func(v *visit) {
		if v.robot && v.day > 8 && v.day < 12 && strings.HasPrefix(v.path, "/news/") {
			v.status = 502
		}
	}}, "failing", "were answered by an error of the server (5xx), most often 502 and below /news/."},
	"a page that always fails": {traffic{client: func(v *visit) { // which is seldom asked for
		if v.robot && v.path != "/robots.txt" && v.rng.IntN(400) == 0 {
			v.path, v.status = "/old.php", 500
		}
	}}, "", ""},
	"violations": {traffic{more: violations}, "violated", "GPTBot fetched what robots.txt disallows to it: 300 times. All of these requests broke line 2 of the robots.txt, Disallow: /private/. It knew of 286: its copy of robots.txt disallowed them."},
	"violations of versions": {
		traffic{captures: []sent{{-5, usualText}, {7, usualText + "Disallow: /x/\n"}}, more: manyViolations},
		"violated changed",
		"All of these requests broke line 2 of the robots.txt, Disallow: /private/.",
	},
	"violations of a line that moves": {
		traffic{captures: []sent{{-5, usualText}, {7, "# new\n" + usualText}}, more: manyViolations}, "violated changed", "All of these requests broke a line of the robots.txt, Disallow: /private/.",
	},
	"impostors":           {traffic{more: impostors, args: []string{"-ranges", "ranges"}}, "faked", "Clients that are not Googlebot use that name; 100% of their requests came from 5.188.10.0/24. | 400 requests"},
	"redirects":           {traffic{client: func(v *visit) { failSome(v, 0, 301, 3) }}, "redirected", "37.7% of the requests of Googlebot, 37.5% of those of bingbot and 36.8% of those of GPTBot were answered by a redirect (3xx), most often 301"},
	"changes":             {traffic{captures: []sent{{-5, usualText}, {3, usualText + "\nUser-agent: Bytespider\nDisallow: /img/\n"}, {9, usualText}}}, "changed", "changed 2 times: from 2026-03-04 00:00 to 2026-03-10 00:00 “Disallow: /img/” and 1 more line were in it. | 2 changes"},
	"idle rules":          {traffic{captures: []sent{{-5, "User-agent: *\nDisallow: /old1/\nDisallow: /old2/\nDisallow: /old3/\nDisallow: /search?\n"}}}, "idle", "3 of 4 rules matched none of 100,000 requests"},
	"rules that are kept": {traffic{captures: []sent{{-5, "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\nDisallow: /checkout/\nDisallow: /search?\n"}}}, "", ""},
	"beaten rule":         {traffic{captures: []sent{{-5, "User-agent: *\nDisallow: /search/x\nAllow: /search/x\nDisallow: /search?\n"}}}, "idle", "1 rule never decides anything, as another rule always wins (line 2). | 1 without effect | Line 3 always wins over it: Allow: /search/x. Take out the one that is not meant."},
	"a trap": {traffic{client: func(v *visit) {
		if v.robot && v.rng.IntN(3) == 0 {
			v.path = fmt.Sprintf("/shop/?sort=%d&colour=%d", v.rng.IntN(90), v.rng.IntN(90))
		} else if v.rng.IntN(500) == 0 {
			v.path = "/shop/"
		}
	}}, "endless", "combined filters, by “sort” and “colour”"},
	"two parameters": {traffic{client: func(v *visit) {
		if v.robot && v.rng.IntN(3) == 0 {
			v.path = fmt.Sprintf("/shop/?tab=%d&view=%d", v.rng.IntN(90), v.rng.IntN(90))
		} else if v.rng.IntN(500) == 0 {
			v.path = "/shop/"
		}
	}}, "wasted", "of their requests on the parameter “tab”: "},
	"comparisons": {traffic{client: func(v *visit) { // whose values are other pages
		v.compare(2000, 58_000)
	}}, "", ""},
	"comparisons of one template": {traffic{client: func(v *visit) { v.compare(50_000, 4000) }}, "", ""},
	"comparisons, not modified": {traffic{client: func(v *visit) { // whose answers are headers
		if v.compare(2000, 58_000) && v.rng.IntN(5) > 0 {
			v.status, v.size = 304, 180+v.rng.IntN(2)
		}
	}}, "", ""},
	"comparisons by HEAD": {traffic{client: func(v *visit) {
		if v.compare(2000, 58_000) {
			v.method, v.status, v.size = "HEAD", 200, 320+v.rng.IntN(3)
		}
	}}, "", ""},
	"a list, mostly not modified": {traffic{client: func(v *visit) {
		if v.list() && v.rng.IntN(5) > 0 {
			v.status, v.size = 304, -1
		}
	}}, "wasted", "of their requests on the parameter “hue”: "},
	"a list with a token": {traffic{client: func(v *visit) {
		if v.list() {
			v.status, v.size = 200, 5100+v.rng.IntN(40)
		}
	}}, "wasted", "of their requests on the parameter “hue”: "},
	"a list of no known sizes": {traffic{client: func(v *visit) {
		if v.list() {
			v.status, v.size = 200, -1
		}
	}}, "", ""},
	"a forum": {traffic{client: func(v *visit) { // whose pages are not without their number
		if v.robot && v.rng.IntN(2) == 0 {
			v.path = fmt.Sprintf("/showthread.php?t=%d", v.rng.IntN(20_000))
		}
	}}, "", ""},
	"a parameter": {traffic{client: func(v *visit) {
		if v.robot && v.rng.IntN(3) == 0 {
			v.path = fmt.Sprintf("/shop/%d.html?view=%d", v.rng.IntN(30), v.rng.IntN(90))
		}
	}}, "wasted", "of their requests on the parameter “view”: "},
	"a rule that is a URL": {
		traffic{captures: []sent{{-5, usualText + "Disallow: https://www.shop.example/news/\n"}}},
		"ineffective",
		"Line 7 of the robots.txt, Disallow: https://www.shop.example/news/, is a whole URL, and matches nothing: 3 crawlers fetched what it means, Googlebot alone 1,",
	},
	"a rule that is a URL of nothing":      {traffic{captures: []sent{{-5, usualText + "Disallow: https://www.shop.example/cart/\n"}}}, "", ""},
	"a rule that is a URL of another site": {traffic{captures: []sent{{-5, usualText + "Disallow: https://other.example/news/\nDisallow: https://www.shop.example/\n"}}}, "idle", ""},
	"a chain of redirects": {traffic{more: chains, client: func(v *visit) { // which other requests are between
		if v.status == 301 {
			v.status = 200
		}
	}}, "redirected", " were answered by a redirect (3xx), most often 301. Most are 3 in a row: /tag/X → /topic/X → /topics/X → /topics/X/. | 12,000 requests of all crawlers · in the whole log of 14 days | Let the first redirect lead to the last address. Link"},
	"redirects of one": {traffic{client: func(v *visit) {
		v.status = map[bool]int{true: 301, false: v.status}[v.agent == bingbot && v.rng.IntN(2) == 0]
	}}, "redirected", " of the requests of bingbot were answered by a redirect (3xx), most often 301"},
	"missing": {traffic{client: func(v *visit) { failSome(v, 0, 404, 2) }}, "missing", " of those of GPTBot found no page, or were refused (4xx), most often 404"},
	"five": {
		traffic{captures: []sent{{-5, usualText}, {6, closedText}}, client: func(v *visit) {
			v.skip = v.robot && v.day > 6 && v.path != "/robots.txt"
			failSome(v, 2, 503, 8)
		}, more: func(rng *rand.Rand) []visit { return append(violations(rng), impostors(rng)...) }, args: []string{"-ranges", "ranges"}},
		"closed failing violated faked", "Googlebot and bingbot may fetch nothing",
	},
}

// compare has a third of the requests of crawlers compare two things. Each two have their own size.
func (v *visit) compare(least, more int) bool {
	if !v.robot || v.rng.IntN(3) > 0 {
		if v.rng.IntN(500) == 0 {
			v.path = "/versus"
		}
		return false
	}
	a, b := v.rng.IntN(90), v.rng.IntN(90)
	v.path, v.size = fmt.Sprintf("/versus?a=%d&b=%d", a, b), least+(a*7919+b*104_729)%more
	return true
}

// list has half of the requests of crawlers ask for one list in many ways.
func (v *visit) list() bool {
	if !v.robot || v.rng.IntN(2) == 0 {
		if v.rng.IntN(100) == 0 {
			v.path = "/list"
		}
		return false
	}
	v.path = fmt.Sprintf("/list?hue=%d&tone=%d", v.rng.IntN(30), v.rng.IntN(30))
	return true
}

// ask has a third of the requests for a directory, and a fourth of all of crawlers are for one that is closed from day 7 on,
// which crawlers obey.
func (v *visit) ask(open, closed string) {
	switch n := v.rng.IntN(12); {
	case v.path == "/robots.txt" || n > 6:
	case n < 3 && v.robot:
		v.path, v.skip = fmt.Sprintf("%s%d.html", closed, v.rng.IntN(3000)), v.day > 7
	case n == 0:
		v.path = fmt.Sprintf("%s%d.html", closed, v.rng.IntN(3000))
	case n > 2:
		v.path = fmt.Sprintf("%s%d.html", open, v.rng.IntN(3000))
	}
}

// failSome has one of so many requests of crawlers answered by a status, from a day on.
func failSome(v *visit, day float64, status, of int) {
	if v.robot && v.day > day && v.rng.IntN(of) == 0 {
		v.status = status
	}
}

// violations are requests of GPTBot that the rules disallow.
func violations(rng *rand.Rand) (all []visit) {
	for range 300 {
		all = append(all, visit{day: rng.Float64() * 14, agent: gptbot, address: "20.171.206.9", path: fmt.Sprintf("/private/%d", rng.IntN(90)), status: 200})
	}
	return all
}

// manyViolations are four times as many.
func manyViolations(rng *rand.Rand) []visit {
	return slices.Concat(violations(rng), violations(rng), violations(rng), violations(rng))
}

// chains are requests of two crawlers for pages that three redirects in a row lead to.
func chains(rng *rand.Rand) (all []visit) {
	for range 4000 {
		day, name := rng.Float64()*14, fmt.Sprintf("topic-%d", rng.IntN(900))
		v := visit{agent: googlebot, address: "66.249.64.7", status: 301}
		if rng.IntN(4) == 0 {
			v.agent, v.address = gptbot, "20.171.206.7"
		}
		for i, path := range []string{"/tag/", "/topic/", "/topics/", "/topics/"} {
			v.day, v.path = day+float64(i)*4/86400, path+name
			if i == 3 {
				v.path, v.status = v.path+"/", 200
			}
			all = append(all, v)
		}
	}
	return all
}

// impostors are requests of a client that says that it is Googlebot.
func impostors(rng *rand.Rand) (all []visit) {
	for range 400 {
		all = append(all, visit{day: rng.Float64() * 14, agent: googlebot, address: "5.188.10.77", path: fmt.Sprintf("/shop/%d.html", rng.IntN(300)), status: 200})
	}
	return all
}

// lists are the addresses of the crawlers of the logs.
var lists = map[string]string{"googlebot": "66.249.64.0/27", "bingbot": "157.55.39.0/24", "gptbot": "20.171.206.0/24"}

// writeRanges writes the lists to the directory ranges.
func writeRanges(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll("ranges", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, prefix := range lists {
		text := fmt.Sprintf("{\"creationTime\": \"2026-03-08T00:00:00.000000\", \"prefixes\": [{\"ipv4Prefix\": %q}]}", prefix)
		if err := os.WriteFile(filepath.Join("ranges", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFindings plants a fault of each kind in a log of 100,000 lines. The fault is the first finding, and all others
// follow from it.
func TestFindings(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			fault.lines, fault.days = 100_000, 14
			fault.write(t, dir)
			writeRanges(t)
			kinds, said := findings(t, dir, append([]string{"-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example", "-as-of", "log"}, fault.args...)...)
			if got := strings.Join(kinds, " "); got != fault.want {
				t.Errorf("found are %q, want %q:\n%s", got, fault.want, said)
			}
			if first, _, _ := strings.Cut(said, "\n"); !strings.Contains(first, fault.first) {
				t.Errorf("the first is %q, without %q", first, fault.first)
			}
			t.Log(said)
		})
	}
}

// TestImpostorsApart holds that impostors change no share of the crawler whose name they use.
func TestImpostorsApart(t *testing.T) {
	for kind, name := range map[string]string{"failing": "failing", "redirected": "redirects", "wasted": "two parameters"} {
		dir := t.TempDir()
		t.Chdir(dir)
		writeRanges(t)
		var lines []string
		for _, more := range []func(rng *rand.Rand) []visit{nil, func(rng *rand.Rand) (all []visit) {
			for i, v := range append(impostors(rng), impostors(rng)...) {
				v.path, v.status = fmt.Sprintf("/shop/?tab=%d&view=%d", i, 100+i), []int{200, 301, 503}[i%3]
				all = append(all, v)
			}
			return all
		}} {
			log := faults[name].traffic
			log.lines, log.days, log.more = 20_000, 14, more
			log.write(t, dir)
			_, said := findings(t, dir, "-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example", "-as-of", "log", "-ranges", "ranges")
			for line := range strings.Lines(said) {
				if strings.HasPrefix(line, kind+": ") {
					lines = append(lines, line)
				}
			}
			if strings.Contains(said, "faked: ") != (more != nil) {
				t.Errorf("%s: %s", kind, said)
			}
			page, err := os.ReadFile(filepath.Join(dir, "report.html"))
			if err != nil || bytes.Contains(page, []byte("In the other tables the requests of impostors count as those of the crawler that they name.")) != (more != nil) {
				t.Errorf("%s: the page does not say where impostors are counted only if there are some: %v", kind, err)
			}
		}
		if len(lines) != 2 || lines[0] != lines[1] {
			t.Errorf("%s: with impostors the finding is another one: %q", kind, lines)
		}
	}
}

// TestMethodsWithDraft holds that the method of requests is read with a draft, too, which judges no crawler: the answers to HEAD are no
// pages of one size.
func TestMethodsWithDraft(t *testing.T) {
	dir := t.TempDir()
	log := faults["comparisons by HEAD"].traffic
	log.lines, log.days = 20_000, 14
	log.write(t, dir)
	for name, text := range map[string]string{"old.txt": usualText, "new.txt": usualText + "Disallow: /x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-old", filepath.Join(dir, "old.txt"), "-rules", filepath.Join(dir, "new.txt"), "-in", filepath.Join(dir, "access.log"), "-base", "https://www.shop.example"}
	if _, said := findings(t, dir, args...); strings.Contains(said, "wasted: ") {
		t.Errorf("found are:\n%s", said)
	}
}

// TestNoFindings makes a report of a public log by a robots.txt that allows everything: there is nothing to act on.
func TestNoFindings(t *testing.T) {
	log := filepath.Join(repcase.SharedDir(t), "data", "apache-semicomplete.access.log.zst")
	dir := t.TempDir()
	rules := filepath.Join(dir, "robots.txt")
	if err := os.WriteFile(rules, []byte("User-agent: *\nDisallow:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said := findings(t, dir, "-rules", rules, "-in", log, "-base", "https://www.example.com"); said != "" {
		t.Errorf("found are:\n%s", said)
	}
}
