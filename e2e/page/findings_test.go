package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestFindings checks the beginning of the page: seven findings are visible, the others folded, links lead to parts of the page,
// hostile paths are text, and it fits on a phone and, with the crawlers, on two printed pages.
func TestFindings(t *testing.T) {
	dirs := []string{`<img%20src=x%20onerror=alert(1)>`, "<script>alert(2)</script>", strings.Repeat("x", 60)}
	for len(dirs) < 9 {
		dirs = append(dirs, fmt.Sprint("section-", len(dirs)))
	}
	var lines []string
	for hour := range 14 * 24 {
		for i, dir := range dirs {
			status := 200
			if hour/24 == 2+i && hour%24 >= 3 && hour%24 < 9 { // each is down on a day of its own
				status = 503
			}
			for n, agent := range []string{"Googlebot/2.1", "Firefox/140.0", "bingbot/2.0", "Firefox/141.0", "Googlebot/2.1", "Firefox/142.0", "Applebot/0.1"} {
				lines = append(lines, fmt.Sprintf("{\"url\": %s, \"user_agent\": %q, \"client\": \"192.0.2.%d\", \"status\": %d, \"time\": \"2026-02-%02dT%02d:%02d:00Z\"}",
					literal("https://a.example/"+dir+"/"+fmt.Sprint(n)), agent, n, status, 1+hour/24, hour%24, 8*n))
			}
		}
	}
	tb := open(t, makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: /none/\n"}, lines, "-format", "jsonl", "-agent-from-log"), "")
	if got := tb.text(`[...document.querySelectorAll(".findings")].map((l) => l.children.length + " " + (l.closest("details") ? "folded" : "open")).join()`); got != "7 open,2 folded" {
		t.Errorf("findings are %s", got)
	}
	if got := tb.text(`[...document.querySelectorAll(".findings li")].map((li) => li.id + li.dataset.code).join()`); !strings.HasPrefix(got, "finding-1outage,finding-2outage,") {
		t.Errorf("findings are %s", got)
	}
	if got := tb.text(`[...document.querySelectorAll(".findings")].map((l) => l.textContent).join()`); !strings.Contains(got, dirs[0]) || !strings.Contains(got, dirs[1]) {
		t.Errorf("the findings: %s", got)
	}
	if found := tb.text(`String(document.querySelectorAll(".findings :is(script, img), .findings b b").length)`); found != "0" {
		t.Errorf("%s elements are of others", found)
	}
	var lost []string
	tb.eval(`[...document.querySelectorAll(".findings a")].filter((a) => !(`+leads+`)(a)).map((a) => a.hash)`, &lost)
	if len(lost) > 0 {
		t.Errorf("links that lead nowhere: %q", lost)
	}
	for _, size := range [][2]int64{{1440, 900}, {390, 844}, {320, 600}} {
		tb.do(chromedp.EmulateViewport(size[0], size[1]))
		var at struct{ Top, Wide float64 }
		tb.eval(`({top: document.querySelector(".findings li").getBoundingClientRect().bottom, wide: document.documentElement.scrollWidth})`, &at)
		if size[0] == 1440 {
			tb.eval(`document.querySelector(".findings li:nth-child(7)").getBoundingClientRect().bottom`, &at.Top) // all are in sight
		}
		if at.Wide > float64(size[0]) || size[0] > 320 && at.Top > float64(size[1]) {
			t.Errorf("in a window of %d by %d the page is %.0f wide, and findings end at %.0f", size[0], size[1], at.Wide, at.Top)
		}
		tb.axe()
	}
	tb.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	tb.axe()
	if n := tb.pages(); n > 2 {
		t.Errorf("the overview and the crawlers take %d pages", n)
	}
}
