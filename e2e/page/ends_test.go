package page

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	known "github.com/robobatch/robobatch/crawlers"
)

// TestPageEnds holds that no part of a page extends below its footer: with many hosts, the path tree has its own scroll bar.
func TestPageEnds(t *testing.T) {
	rules, urls := map[string]string{}, []string(nil)
	for i := range 800 {
		origin := "https://host" + strconv.Itoa(i) + ".example"
		rules[origin] = "User-agent: *\nDisallow: /a/" + strconv.Itoa(i%7) + "\n"
		for n := range 30 {
			urls = append(urls, fmt.Sprintf("%s/a/%d/%d", origin, n%5, n))
		}
	}
	tb := open(t, makeReport(t, rules, urls, "-agent", "Googlebot"), "")
	var rows int
	tb.eval(`document.querySelectorAll(".tree tbody tr").length`, &rows)
	if rows < 250 {
		t.Fatalf("the tree has %d rows, which show nothing", rows)
	}
	tb.eval(`{ const sites = document.querySelector(".tools select"); sites.selectedIndex = sites.options.length - 1; sites.dispatchEvent(new Event("change")); }`, nil) // all of them
	for _, width := range []int64{1440, 390} {
		tb.do(chromedp.EmulateViewport(width, 900))
		var behind float64
		tb.eval(`document.documentElement.scrollHeight - (document.querySelector("footer").getBoundingClientRect().bottom + scrollY)`, &behind)
		if behind > 1 {
			t.Errorf("in a window of %d, %.0f pixels are below the footer of the page", width, behind)
		}
	}
}

// TestManyCrawlers holds that no crawler row is scrolled out of sight: 30 are shown, and a button shows the number of
// others. Filters and sorting apply to all of them.
func TestManyCrawlers(t *testing.T) {
	var names []string
	for _, c := range known.Set("all") {
		if len(names) < 34 && !strings.Contains(c.Token, "*") {
			names = append(names, c.Token)
		}
	}
	tb := open(t, makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: /a\n"}, []string{"https://a.example/a", "https://a.example/b"}, "-agent", strings.Join(names, ",")), "")
	const table = `document.querySelector('table[data-name="crawlers"]')`
	shown := func(when string, rows int, says string) {
		t.Helper()
		got := tb.text(`[...` + table + `.tBodies[0].rows].filter((r) => r.checkVisibility()).length + " " + (() => { const b = ` + table + `.parentNode.nextElementSibling; return b.hidden ? "" : b.textContent; })()`)
		if want := strconv.Itoa(rows) + " " + says; got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	shown("at first", 30, "4 more")
	var inner float64
	tb.eval(table+`.parentNode.scrollHeight - `+table+`.parentNode.clientHeight`, &inner)
	if inner > 0 {
		t.Errorf("%.0f pixels of the table are scrolled out of sight", inner)
	}
	hidden := tb.text(table + `.tBodies[0].rows[33].cells[0].firstChild.textContent`)
	filter := func(text string) {
		tb.eval(`{ const f = document.querySelector("#crawlers input"); f.value = `+literal(text)+`; f.dispatchEvent(new Event("input")); }`, nil)
	}
	filter(hidden)
	shown("filtered", 1, "")
	filter("")
	if got := tb.copied(`#crawlers .tools button`); strings.Count(got, "\r\n") < 35 {
		t.Errorf("copied are %d lines", strings.Count(got, "\r\n"))
	}
	tb.eval(table+`.tHead.rows[0].cells[0].querySelector("button").click()`, nil)
	shown("sorted", 30, "4 more")
	tb.eval(table+`.parentNode.nextElementSibling.click()`, nil)
	shown("all of them", 34, "Only the first 30")
	tb.axe()
}

// pages prints the report, and returns the number of pages.
func (tb *tab) pages() int {
	tb.t.Helper()
	var pdf []byte
	tb.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().WithPaperWidth(8.27).WithPaperHeight(11.69).Do(ctx)
		return err
	}))
	return bytes.Count(pdf, []byte("/Type /Page\n"))
}

// TestPrintPages holds that the overview and the crawlers are printed on two pages, and the whole report on request.
func TestPrintPages(t *testing.T) {
	tb := open(t, cookbook(t), "")
	if n := tb.pages(); n > 2 {
		t.Errorf("the overview and the crawlers take %d pages", n)
	}
	tb.eval(`document.getElementById("whole").click()`, nil)
	if n := tb.pages(); n < 5 {
		t.Errorf("the whole report takes %d pages", n)
	}
}

// TestWhatIfFirst holds that the panel begins with the host in the heading, although another text has more
// requests, and that it shows the shares of URLs and requests that it decides, also with captures. The field for one URL
// sets the question.
func TestWhatIfFirst(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	capture := func(origin, at, text string) string {
		return fmt.Sprintf("{\"origin\": %s, \"status\": 200, \"fetched_at\": %s, \"body\": %s}\n", literal(origin), literal(at), literal(text))
	}
	write("rules.jsonl", capture("https://www.example", "2026-01-01T00:00:00Z", "User-agent: *\nDisallow: /a\n")+
		capture("https://www.example", "2026-01-03T00:00:00Z", "User-agent: *\nDisallow: /b\n")+capture("https://blog.example", "2026-01-01T00:00:00Z", "User-agent: *\nDisallow: /c\n"))
	var log strings.Builder
	for i := range 100 {
		for _, host := range []string{"www", "www", "www", "blog", "blog"} {
			fmt.Fprintf(&log, "{\"url\":\"https://%s.example/%d\",\"time\":\"2026-01-0%dT01:00:00Z\"}\n", host, i, 2+i%2*2)
		}
	}
	write("log.jsonl", log.String())
	name := filepath.Join(dir, "report.html")
	run := exec.Command(command, "report", "-rules", "rules.jsonl", "-in", "log.jsonl", "-as-of", "log", "-agent", "Googlebot", "-out", name, "-quiet")
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run, err, out)
	}
	tb := open(t, name, "#what-if")
	tb.started()
	if got := tb.text(`document.querySelector("h1").textContent + "; " + document.getElementById("what-if-origin").selectedOptions[0].textContent`); got != "www.example and 1 other host; https://www.example" {
		t.Errorf("the heading, and the panel: %s", got)
	}
	if got := tb.text(`document.getElementById("what-if-share").textContent`); !strings.Contains(got, "The editor decides all 100 URLs, with 300 requests: 100% of the 300 to https://www.example") {
		t.Errorf("the share: %s", got)
	}
	if got := tb.text(`[...document.querySelectorAll('[data-name="changes of robots.txt"] tbody tr')].map((r) => [...r.cells].map((c) => c.textContent).join("|")).join() + " " + JSON.parse(document.getElementById("chart-data").textContent).changes`); got != "2026-01-03 00:00:00|https://www.example|2 Disallow: /b|2 Disallow: /a 1767398400" {
		t.Errorf("robots.txt changed: %s", got)
	}
	tb.eval(`document.getElementById("what-if-url").focus()`, nil)
	tb.do(chromedp.KeyEvent("/b/x"))
	tb.eval(`document.querySelector("#what-if-ask button").click()`, nil)
	tb.until(`document.querySelector("#what-if-answer strong")`)
	if got := tb.text(`document.getElementById("what-if-answer").textContent`); !strings.HasPrefix(got, "disallowed: line 2: Disallow: /b") || strings.Contains(got, "//b") {
		t.Errorf("the answer: %s", got)
	}
}
