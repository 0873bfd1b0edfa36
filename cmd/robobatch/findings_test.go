package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/report"
)

// A traffic is a generated log of a site and the history of its robots.txt, with the faults of a test. Without
// faults, a report has no findings: crawlers obey, their traffic is steady, and requests rarely fail.
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
	size    int    // bytes of the response; 0 means the usual size, and a negative number means 0 bytes
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

// codePattern matches the code of a finding on a page.
var codePattern = regexp.MustCompile(`<li id="finding-[0-9]+" data-code="([a-z_]+)"`)

// findings makes a report, and returns the codes of its findings, in order, and their sentences. It checks that the
// page has the same codes.
func findings(t *testing.T, dir string, args ...string) (codes []string, said string) {
	t.Helper()
	page := filepath.Join(dir, "report.html")
	args = append([]string{"report", "-agent-from-log", "-what-if", "off", "-quiet", "-print", "json", "-out", page}, args...)
	code, out, messages := runIn(t, args)
	if code != exitDone {
		t.Fatalf("%q: exit code %d: %s", args, code, messages)
	}
	var d report.Diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range d.Findings {
		f := &d.Findings[i]
		codes = append(codes, f.Code)
		lines.WriteString(f.Code + ": " + f.Sentence + "\n")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, m := range codePattern.FindAllSubmatch(text, -1) {
		shown = append(shown, string(m[1]))
	}
	if !slices.Equal(shown, codes) {
		t.Errorf("the page has %q, JSON %q", shown, codes)
	}
	if isClear := bytes.Contains(text, []byte("Nothing was found that requires action.")); isClear != (len(codes) == 0) {
		t.Errorf("there are %d findings, and the page says that there is none: %t", len(codes), isClear)
	}
	return codes, lines.String()
}

// closedText closes all of a site.
const closedText = "User-agent: *\nDisallow: /\n"

// faults are the logs of TestFindings.
var faults = map[string]struct {
	traffic
	want  string // codes in their order
	first string // a part of the first finding's sentence
}{
	"none": {traffic{}, "", ""},
	"closed": {
		traffic{captures: []sent{{-5, usualText}, {4, closedText}, {11, usualText}}, client: func(v *visit) { v.skip = v.robot && v.day > 4 && v.day < 11 && v.path != "/robots.txt" }},
		"site_closed", "From 5 Mar 00:00 to 12 Mar 00:00 (7 days) robots.txt blocked Googlebot and bingbot from the whole site (line 2, `Disallow: /`).",
	},
	"closed to one all the time": {
		traffic{captures: []sent{{-5, "User-agent: Googlebot\nDisallow: /\n\n" + usualText}}, client: func(v *visit) { v.skip = v.agent == googlebot && v.path != "/robots.txt" }},
		"site_closed", "During the whole log of 14 days robots.txt blocks Googlebot from the whole site (line 2, `Disallow: /`). 1 other search crawler may still fetch it.",
	},
	"closed to all all the time": {
		traffic{captures: []sent{{-5, closedText}}, client: func(v *visit) { v.skip = v.robot && v.path != "/robots.txt" }},
		"site_closed", "During the whole log of 14 days robots.txt blocks Googlebot and bingbot from the whole site (line 2, `Disallow: /`).",
	},
	"a path that was never crawled": {
		traffic{captures: []sent{{-5, usualText + "Disallow: /docs/guide/\n"}}, client: func(v *visit) {
			v.ask("/docs/", "/docs/guide/")
			v.skip = v.robot && strings.HasPrefix(v.path, "/docs/guide/")
		}}, "", "",
	},
	"a path": {
		traffic{captures: []sent{{-5, usualText}, {7, usualText + "Disallow: /docs/guide/\n"}}, client: func(v *visit) { v.ask("/docs/", "/docs/guide/") }},
		"section_closed", "Since 8 Mar 00:00 robots.txt blocks ",
	},
	"carts":   {traffic{captures: []sent{{-5, usualText}, {7, usualText + "Disallow: /cart/\nDisallow: /de/login/\n"}}, client: func(v *visit) { v.ask("/de/", "/cart/") }}, "", ""},
	"changes": {traffic{captures: []sent{{-5, usualText}, {3, usualText + "\nUser-agent: Bytespider\nDisallow: /img/\n"}, {9, "# new\n" + usualText}}}, "", ""},
	"stopped": {traffic{client: func(v *visit) { v.skip = v.agent == bingbot && v.day > 9 }}, "crawler_stopped", "bingbot have made no requests since 9 Mar 23:"},
	"slowed":  {traffic{client: func(v *visit) { v.skip = v.agent == googlebot && v.day > 10 && v.rng.IntN(10) > 0 }}, "crawler_slowed", "Since 11 Mar 00:00 clients that claim to be Googlebot fetch 90"},
	"failing": {traffic{client: func(v *visit) { failSome(v, 8, 503, 10) }}, "server_errors", "Since 9 Mar 00:"},
	"failing for one": {traffic{client: func(v *visit) {
		if v.agent == bingbot && v.day > 8.25 && v.rng.IntN(8) > 0 {
			v.status = 503
		}
	}}, "crawler_refused", "Since 9 Mar 06:"},
	"a page that always fails": {traffic{client: func(v *visit) { // which is seldom asked for
		if v.robot && v.path != "/robots.txt" && v.rng.IntN(400) == 0 {
			v.path, v.status = "/old.php", 500
		}
	}}, "", ""},
	"violations":          {traffic{more: violations}, "rules_ignored", "During the whole log of 14 days clients that claim to be GPTBot made 286 requests that the previously fetched robots.txt disallows"},
	"impostors":           {traffic{more: impostors, args: []string{"-ranges", "ranges"}}, "crawler_impostors", "400 requests with the name Googlebot came from addresses that its operator does not list"},
	"rules that are kept": {traffic{captures: []sent{{-5, "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\nDisallow: /checkout/\nDisallow: /search?\n"}}}, "", ""},
	"two parameters": {traffic{client: func(v *visit) {
		if v.robot && v.rng.IntN(3) == 0 {
			v.path = fmt.Sprintf("/shop/?tab=%d&view=%d", v.rng.IntN(90), v.rng.IntN(90))
		} else if v.rng.IntN(500) == 0 {
			v.path = "/shop/"
		}
	}}, "parameter_crawl", "of the requests by clients that claim to be bingbot are for page variants with `tab, view=`: 8,001 requests by Googlebot, bingbot and GPTBot for 5,086 URLs, but only 1 page."},
	"a list, mostly not modified": {traffic{client: func(v *visit) {
		if v.list() && v.rng.IntN(5) > 0 {
			v.status, v.size = 304, -1
		}
	}}, "parameter_crawl", " page variants with `hue, tone=`: "},
	"a list with a token": {traffic{client: func(v *visit) {
		if v.list() {
			v.status, v.size = 200, 5100+v.rng.IntN(40)
		}
	}}, "parameter_crawl", " page variants with `hue, tone=`: "},
	"a forum": {traffic{client: func(v *visit) { // whose pages are not without their number
		if v.robot && v.rng.IntN(2) == 0 {
			v.path = fmt.Sprintf("/showthread.php?t=%d", v.rng.IntN(20_000))
		}
	}}, "", ""},
	"comparisons by HEAD, which have one size": {traffic{client: func(v *visit) {
		if v.robot && v.rng.IntN(3) == 0 {
			v.path, v.method, v.status, v.size = fmt.Sprintf("/versus?a=%d&b=%d", v.rng.IntN(90), v.rng.IntN(90)), "HEAD", 200, 320
		}
	}}, "", ""},
	"a chain of redirects": {traffic{more: chains, client: func(v *visit) { // which other requests are between
		if v.status == 301 {
			v.status = 200
		}
	}}, "redirect_chain", " encounter redirect chains: /tag/X -> /topic/X -> /topics/X -> /topics/X/, 12,000 redirects."},
	"five": {
		traffic{captures: []sent{{-5, usualText}, {6, closedText}}, client: func(v *visit) {
			v.skip = v.robot && v.day > 6 && v.path != "/robots.txt"
			failSome(v, 2, 503, 8)
		}, more: func(rng *rand.Rand) []visit { return append(violations(rng), impostors(rng)...) }, args: []string{"-ranges", "ranges"}},
		"site_closed server_errors crawler_impostors rules_ignored", "Since 7 Mar 00:00 robots.txt blocks Googlebot and bingbot from the whole site",
	},
}

// list turns a crawler's request, with probability 1/2, into a request for a list page with one of many combinations
// of query parameters.
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

// ask turns a third of the requests into requests for the directory open. A fourth of the crawlers' requests are for
// the directory closed, which robots.txt disallows from day 7 on and crawlers then skip.
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

// failSome gives a crawler's request a status code with probability 1/of, from a given day on.
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

// chains returns requests of two crawlers for pages behind chains of three redirects.
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

// impostors returns requests of a client that sends Googlebot's User-Agent.
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

// TestFindings puts a fault into a log of 100,000 lines. The first finding must be about the fault, and all other
// findings must be consequences of it.
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

// TestImpostorsApart checks that requests of impostors do not change the shares of the crawler whose name they use.
func TestImpostorsApart(t *testing.T) {
	for kind, name := range map[string]string{"crawler_slowed": "slowed", "parameter_crawl": "two parameters"} {
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
			if strings.Contains(said, "crawler_impostors: ") != (more != nil) {
				t.Errorf("%s: %s", kind, said)
			}
			page, err := os.ReadFile(filepath.Join(dir, "report.html"))
			if err != nil || bytes.Contains(page, []byte("In other tables, requests of impostors count for the crawler that they name.")) != (more != nil) {
				t.Errorf("%s: the page does not say where impostors are counted only if there are some: %v", kind, err)
			}
		}
		if len(lines) != 2 || lines[0] != lines[1] {
			t.Errorf("%s: with impostors the finding is another one: %q", kind, lines)
		}
	}
}

// TestMethodsWithDraft checks that request methods are also read in a report on a draft, in which requests cannot be
// violations: responses to HEAD must not count as pages of the same size.
func TestMethodsWithDraft(t *testing.T) {
	dir := t.TempDir()
	log := faults["comparisons by HEAD, which have one size"].traffic
	log.lines, log.days = 20_000, 14
	log.write(t, dir)
	for name, text := range map[string]string{"old.txt": usualText, "new.txt": usualText + "Disallow: /x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-old", filepath.Join(dir, "old.txt"), "-rules", filepath.Join(dir, "new.txt"), "-in", filepath.Join(dir, "access.log"), "-base", "https://www.shop.example"}
	if _, said := findings(t, dir, args...); said != "" {
		t.Errorf("found are:\n%s", said)
	}
}

// TestNoFindings makes a report on a public log with a robots.txt that allows everything. It must not have any
// findings.
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
