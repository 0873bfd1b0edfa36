package page

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// cookbook writes the report of the cookbook with additional flags, and returns its name.
func cookbook(t *testing.T, more ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.html")
	run := exec.Command(command, append([]string{
		"report", "-rules", "testdata/cookbook/robots-new.txt", "-old", "testdata/cookbook/robots.txt",
		"-base", "https://www.semicomplete.com", "-in", "testdata/cookbook/access.log.zst", "-agent-from-log", "-quiet", "-out", name,
	}, more...)...)
	run.Dir = filepath.Join("..", "..")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run, err, out)
	}
	return name
}

// sitemaps are the flags for the sitemap of the cookbook.
var sitemaps = []string{"-in-sitemap", "testdata/cookbook/sitemap.xml"}

// leads reports whether a link leads to an element, or to a crawler that has a view.
const leads = `(a) => document.getElementById(decodeURIComponent(a.hash.slice(1))) ||
	JSON.parse(document.getElementById("crawler-data").textContent).some((c) => a.hash === "#crawler=" + encodeURIComponent(c.name))`

// TestReport opens and uses the report of the cookbook.
func TestReport(t *testing.T) {
	name := cookbook(t)
	tb := open(t, name, "")
	var took float64
	tb.eval(`performance.timing.loadEventEnd - performance.timing.navigationStart`, &took)
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, loaded in %.0f ms", info.Size(), took)
	var sections []string
	tb.eval(`[...document.querySelectorAll("main > section")].map((s) => s.id)`, &sections)
	if got := strings.Join(sections, " "); got != "overview crawlers rules paths time answers changes what-if" {
		t.Errorf("the sections are %s", got)
	}
	var broken []string
	tb.eval(`[...document.querySelectorAll('a[href^="#"]')].filter((a) => !(`+leads+`)(a)).map((a) => a.hash)`, &broken)
	if len(broken) > 0 {
		t.Errorf("links that lead nowhere: %q", broken)
	}

	const crawlers = `document.querySelector('table[data-name="crawlers"]')`
	column := func(n string) (cells []string) {
		tb.eval(`[...`+crawlers+`.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[`+n+`].firstChild.textContent.trim())`, &cells)
		return cells
	}
	tb.eval(crawlers+`.tHead.rows[0].cells[0].querySelector("button").click()`, nil)
	names := column("0")
	if len(names) < 5 || !strings.EqualFold(names[0], "AhrefsBot") && names[0] > names[1] {
		t.Errorf("sorted by name: %q", names)
	}
	tb.eval(crawlers+`.tHead.rows[0].cells[1].querySelector("button").click()`, nil)
	if got := column("1"); len(got[0]) < len(got[len(got)-1]) {
		t.Errorf("sorted by requests: %q", got)
	}
	tb.eval(`{ const f = `+crawlers+`.parentElement.previousElementSibling.querySelector("input"); f.value = "googlebot"; f.dispatchEvent(new Event("input")); }`, nil)
	for _, name := range column("0") {
		if !strings.HasPrefix(name, "Googlebot") {
			t.Errorf("filtered by googlebot there is %q", name)
		}
	}
	tb.eval(`{
		navigator.clipboard.writeText = (text) => { globalThis.copied = text; return Promise.resolve(); };
		[...`+crawlers+`.parentElement.previousElementSibling.querySelectorAll('button[aria-label^="Copy"]')].pop().click();
	}`, nil)
	tb.until(`globalThis.copied`)
	if got := tb.text(`copied`); !strings.HasPrefix(got, "Crawler,Requests,") || !strings.Contains(got, "\r\nGooglebot") {
		t.Errorf("copied is %q", got)
	}

	// The panel gives the same verdicts as the run.
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	want := map[string]string{}
	tb.eval(`Object.fromEntries([...`+crawlers+`.tBodies[0].rows].map((r) => [r.cells[0].firstChild.textContent.trim(), r.cells[1].textContent + "|" + r.cells[3].textContent]))`, &want)
	rows := tb.table("what-if-totals")
	if len(rows) != len(want) {
		t.Errorf("the panel has %d crawlers, the report %d", len(rows), len(want))
	}
	for _, row := range rows {
		cells := strings.Split(row, "|")
		if got := cells[1] + "|" + cells[2]; got != want[cells[0]] || cells[2] != cells[3] {
			t.Errorf("the panel: %s; the report: %s", row, want[cells[0]])
		}
	}
	tb.eval(`document.querySelector("#what-if-totals th:nth-child(3) button").click()`, nil)
	tb.typed("User-agent: *\nDisallow: /\n")
	if closed := tb.table("what-if-closed"); len(closed) != 200 {
		t.Errorf("%d closed URLs are shown", len(closed))
	}
	tb.eval(`{ const f = document.getElementById("what-if-closed").parentElement.previousElementSibling.querySelector("input"); f.value = "/projects"; f.dispatchEvent(new Event("input")); }`, nil)
	var shown int
	tb.eval(`[...document.querySelectorAll("#what-if-closed tbody tr")].filter((r) => !r.hidden).length`, &shown)
	if shown == 0 || shown == 200 {
		t.Errorf("of the closed URLs the filter leaves %d", shown)
	}
}

// TestReportAccessible checks the report with axe-core in the light and the dark theme, and prints it.
func TestReportAccessible(t *testing.T) {
	tb := open(t, cookbook(t), "")
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	tb.axe()
	tb.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	tb.axe()
	tb.do(emulation.SetEmulatedMedia().WithMedia("print"))
	tb.eval(`document.getElementById("whole").click()`, nil)
	var pdf []byte
	tb.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if len(pdf) < 50_000 {
		t.Errorf("printed are %d bytes", len(pdf))
	}
}

// TestReportWithoutScript reads the report without JavaScript.
func TestReportWithoutScript(t *testing.T) {
	tb := open(t, cookbook(t), "", emulation.SetScriptExecutionDisabled(true))
	var text string
	tb.do(chromedp.Text("main", &text))
	for _, want := range []string{"Googlebot", "Disallow: /", "/projects", "This panel needs JavaScript."} {
		if !strings.Contains(text, want) {
			t.Errorf("without JavaScript there is no %q", want)
		}
	}
}

// TestReportOrigins chooses each origin of a report with many, and compares the counts of the panel
// with the command.
func TestReportOrigins(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.html")
	run := exec.Command(command, "report", "-rules", "testdata/quickstart/rules", "-in", "testdata/quickstart/urls.zst",
		"-agent", "Googlebot,GPTBot", "-quiet", "-out", name)
	run.Dir = filepath.Join("..", "..")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run, err, out)
	}
	tb := open(t, name, "")
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	var origins []struct{ Origin, Share, Change string }
	tb.eval(`[...document.getElementById("what-if-origin").options].map((o, i) => {
		const list = document.getElementById("what-if-origin");
		list.value = i;
		list.dispatchEvent(new Event("change"));
		return {
			origin: o.textContent, share: document.getElementById("what-if-share").textContent,
			change: document.getElementById("what-if-closed-sum").textContent + document.getElementById("what-if-opened-sum").textContent,
		};
	})`, &origins)
	if len(origins) != 20 {
		t.Errorf("%d origins", len(origins))
	}
	for _, o := range origins {
		if !strings.Contains(o.Share, " 100% of the ") && !strings.Contains(o.Share, "origins have this text") {
			t.Errorf("%s: %s", o.Origin, o.Share) // the log is small, so all of it is there
		}
		if o.Change != "Nothing.Nothing." {
			t.Errorf("%s: without an edit there is a change: %s", o.Origin, o.Change)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 4_000_000 {
		t.Errorf("the page has %d bytes", len(text))
	}
}
