package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestFindings reads what the page begins with: it is in sight at once, its links lead to a part of the page, it is text
// whatever anyone wrote into a path or a rule, and it fits on a telephone and on one printed page.
func TestFindings(t *testing.T) {
	const evil = `/<img src=x onerror=alert(1)>"onclick=alert(2)`
	long := strings.Repeat("x", 200)
	rules := map[string]string{
		"https://a.example": "User-agent: *\nDisallow: " + strings.ReplaceAll(evil, " ", "%20") + "/\n",
		"https://b.example": "User-agent: *\nDisallow: /\n# <script>alert(3)</script>\n",
		"https://c.example": "# the staging server <b>of c</b>\nUser-agent: *\nDisallow: /" + long + "/\n",
		"https://d.example": "<!DOCTYPE html><script>alert(4)</script>\n",
	}
	var lines []string
	for i := range 120 {
		for path, agent := range map[string]string{
			"a.example" + strings.ReplaceAll(evil, " ", "%20") + "/": "Mozilla/5.0 Firefox/140.0", "a.example/": "Mozilla/5.0 (compatible; Googlebot/2.1)",
			"b.example/": "Mozilla/5.0 Firefox/140.0", "c.example/" + long + "/": "Mozilla/5.0 Firefox/140.0", "d.example/": "<script>alert(5)</script>",
		} {
			lines = append(lines, fmt.Sprintf("{\"url\": %s, \"user_agent\": %s, \"status\": 200, \"time\": \"2026-02-%02dT10:00:00Z\"}", literal("https://"+path+fmt.Sprint(i)), literal(agent), 1+i%20))
		}
	}
	tb := open(t, makeReport(t, rules, lines, "-format", "jsonl", "-agent-from-log"), "")
	if n := tb.text(`String(document.querySelectorAll(".findings li").length)`); n < "5" {
		t.Errorf("there are %s findings, too few to fill a window", n)
	}
	kinds := tb.text(`[...document.querySelectorAll(".findings li")].map((li) => li.dataset.kind).join(" ")`)
	for _, kind := range []string{"closed", "misplaced", "closed-path"} {
		if !strings.Contains(kinds, kind) {
			t.Errorf("found are %s, without %s", kinds, kind)
		}
	}
	if got := tb.text(`document.querySelector(".findings").textContent`); !strings.Contains(got, `<img%20src`) {
		t.Errorf("the findings: %s", got)
	}
	if found := tb.text(`String(document.querySelectorAll(".findings :is(script, img), .findings b b").length)`); found != "0" {
		t.Errorf("%s elements are of others", found)
	}
	var lost []string
	tb.eval(`[...document.querySelectorAll(".findings a")].filter((a) => !document.getElementById(a.hash.slice(1))).map((a) => a.hash)`, &lost)
	if len(lost) > 0 {
		t.Errorf("links that lead nowhere: %q", lost)
	}
	for _, size := range [][2]int64{{1440, 900}, {390, 844}, {320, 600}} {
		tb.do(chromedp.EmulateViewport(size[0], size[1]))
		var at struct{ Top, Wide float64 }
		tb.eval(`({top: document.querySelector(".findings li").getBoundingClientRect().bottom, wide: document.documentElement.scrollWidth})`, &at)
		if size[0] == 1440 {
			tb.eval(`document.querySelector(".findings li:last-child").getBoundingClientRect().bottom`, &at.Top) // all are in sight
		}
		if at.Wide > float64(size[0]) || size[0] > 320 && at.Top > float64(size[1]) {
			t.Errorf("in a window of %d by %d the page is %.0f wide, and findings end at %.0f", size[0], size[1], at.Wide, at.Top)
		}
		tb.axe()
	}
	tb.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	tb.axe()
	if n := tb.pages(); n != 1 {
		t.Errorf("the overview takes %d pages", n)
	}
}
