package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestCrawlerView opens the view of a crawler with the keyboard, from a table that names it. The view has the numbers of the tables and can
// be left like any other part; an address with an unknown crawler shows no view.
func TestCrawlerView(t *testing.T) {
	tb := open(t, cookbook(t), "")
	const row = `[...document.querySelectorAll('table[data-name="crawlers"] tbody tr')].find((r) => r.cells[0].firstChild.textContent === "Googlebot")`
	tb.eval(row+`.querySelector("a").focus()`, nil)
	tb.do(chromedp.KeyEvent("\r"))
	tb.until(`document.activeElement.id === "crawler-h"`)
	if got := tb.text(`location.hash + " " + document.activeElement.firstChild.textContent`); got != "#crawler=Googlebot Googlebot" {
		t.Errorf("the view is %s", got)
	}
	want := tb.text(row + `.cells[1].textContent + "," + ` + row + `.cells[5].textContent + "," + ` + row + `.cells[11].textContent`)
	number := func(name string) string {
		return tb.text(`[...document.querySelectorAll('table[data-name="numbers of Googlebot"] tbody tr')].find((r) => r.cells[0].textContent === ` + literal(name) + `).cells[1].textContent`)
	}
	if got := number("Requests") + "," + number("Violations") + "," + number("Bytes"); got != want {
		t.Errorf("the view has %s, the table %s", got, want)
	}
	if got := tb.text(`String(document.querySelectorAll("#crawler canvas").length) + document.querySelectorAll('table[data-name="sections of Googlebot"] tbody tr').length`); got != "110" {
		t.Errorf("canvases and sections: %s", got)
	}
	const sum = `(name, column) => [...document.querySelectorAll("table[data-name=" + JSON.stringify(name) + "] tbody tr")].reduce((sum, r) => sum + Number(r.cells[column].textContent.replaceAll(",", "")), 0)`
	if got := tb.text(`(` + sum + `)("statuses of Googlebot", 1).toLocaleString("en-US")`); got != number("Requests") {
		t.Errorf("the statuses are of %s requests, want %s", got, number("Requests"))
	}
	if got := tb.text(`(` + sum + `)("fetches of robots.txt by Googlebot", 2) + " of " + JSON.parse(document.getElementById("crawler-data").textContent).find((c) => c.name === "Googlebot").fetched`); got == "0 of 0" || strings.Split(got, " of ")[0] != strings.Split(got, " of ")[1] {
		t.Errorf("fetches of robots.txt: %s", got)
	}
	tb.axe()
	tb.eval(`location.hash = "#crawler=none"`, nil)
	tb.until(`!document.getElementById("crawler")`)
}

// TestTableTools filters until no row is left, saves a table as a file, and sorts abbreviated numbers by their values.
func TestTableTools(t *testing.T) {
	tb := open(t, cookbook(t), "")
	const table = `document.querySelector('table[data-name="crawlers"]')`
	tb.eval(`{ const f = `+table+`.parentElement.previousElementSibling.querySelector("input"); f.value = "nobody"; f.dispatchEvent(new Event("input")); }`, nil)
	if got := tb.text(table + `.parentElement.previousElementSibling.querySelector(".left").textContent`); got != "No row matches" {
		t.Errorf("a filter that leaves nothing says %q", got)
	}
	tb.eval(`{ const f = `+table+`.parentElement.previousElementSibling.querySelector("input"); f.value = ""; f.dispatchEvent(new Event("input")); }`, nil)
	if got := tb.text(table + `.tHead.querySelector("[aria-sort]").textContent`); got != "Violations" {
		t.Errorf("the table is sorted by %s", got)
	}
	tb.eval(`[...`+table+`.tHead.rows[0].cells].find((th) => th.textContent === "Bytes").querySelector("button").click()`, nil)
	var wrong int
	tb.eval(`[...`+table+`.tBodies[0].rows].map((r) => Number(r.cells[11].dataset.n)).filter((n, i, all) => i > 0 && n > all[i - 1]).length`, &wrong)
	if wrong > 0 {
		t.Errorf("%d rows have more bytes than the row before", wrong)
	}
	tb.eval(`{
		globalThis.saved = "";
		HTMLAnchorElement.prototype.click = async function () { globalThis.saved = this.download + "\n" + await (await new Response(globalThis.blob)).text(); };
		URL.createObjectURL = (blob) => { globalThis.blob = blob; return "#"; };
	}`, nil)
	tb.eval(`document.querySelector('button[aria-label="Save as CSV: crawlers"]').click()`, nil)
	tb.until(`globalThis.saved`)
	if got := tb.text(`saved`); !strings.HasPrefix(got, "crawlers.csv\nCrawler,Requests,") || strings.Contains(got, " MB") {
		t.Errorf("saved is %.200q", got)
	}
	// What if is reached with the keyboard, and started with a button.
	tb.eval(`document.querySelector("#what-if-start").focus()`, nil)
	tb.do(chromedp.KeyEvent(kb.Enter))
	tb.started()
	tb.until(`document.activeElement.id === "what-if-text"`)
	if got := tb.text(`document.getElementById("what-if-agent").selectedOptions[0].textContent + document.getElementById("what-if-agent").value`); got != "all crawlers-2" {
		t.Errorf("chosen are %s", got)
	}
}
