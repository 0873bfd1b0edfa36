package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/robobatch/robobatch/report/whatif"
)

// paths are rows in the tree of paths of pathURLs.
var pathURLs = []string{
	"https://a.example/a/1", "https://a.example/a/1", "https://a.example/a/2", "https://a.example/b/3", "https://a.example/b/3/x",
	"https://a.example/b/3/y", "https://a.example/b/3/y", "https://a.example/c",
}

// tree returns the visible paths, each with its depth and whether it can be unfolded.
func (tb *tab) tree() string {
	tb.t.Helper()
	return tb.text(`[...document.querySelectorAll(".tree tbody tr")].filter((r) => r.checkVisibility()).map((r) =>
		r.ariaLevel + ({true: "-", false: "+"}[r.ariaExpanded] || " ") + r.cells[0].textContent).join(", ")`)
}

// TestTree unfolds, sorts, filters and copies the tree of paths, with the keyboard and the mouse.
func TestTree(t *testing.T) {
	tb := open(t, makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: /b/3/y\n"}, pathURLs, "-agent", "Googlebot"), "")
	is := func(what, want string) {
		t.Helper()
		if got := tb.tree(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
		}
	}
	const first = "1-https://a.example, 2-/, 3+b/, 3+a/, 3 c"
	is("at first", first)
	tb.eval(`document.querySelector(".tree tbody tr").focus()`, nil)
	for _, key := range []string{kb.ArrowDown, kb.ArrowDown, kb.ArrowRight, kb.ArrowRight, kb.End, kb.ArrowUp, " "} {
		tb.do(chromedp.KeyEvent(key))
	}
	is("by keys", "1-https://a.example, 2-/, 3-b/, 4+3/, 4 3, 3-a/, 4 1, 4 2, 3 c")
	for range 3 {
		tb.do(chromedp.KeyEvent(kb.ArrowLeft)) // folds a/, then goes to /, and folds it
	}
	is("folded", "1-https://a.example, 2+/")
	if focused := tb.text(`document.activeElement.cells[0].textContent + document.querySelectorAll(".tree tr[tabindex='0']").length`); focused != "/1" {
		t.Errorf("the row in focus, and the number of those that Tab reaches: %s", focused)
	}
	tb.do(chromedp.KeyEvent("\r"))
	tb.eval(`document.querySelector(".tree thead button").click()`, nil)
	is("by name", "1-https://a.example, 2-/, 3+a/, 3-b/, 4 3, 4+3/, 3 c")
	tb.eval(`document.querySelectorAll(".tree thead button")[3].click()`, nil)
	is("by share", "1-https://a.example, 2-/, 3-b/, 4+3/, 4 3, 3+a/, 3 c")
	filter := func(text string) {
		tb.eval(`{ const f = document.querySelector("#paths input"); f.value = `+literal(text)+`; f.dispatchEvent(new Event("input")); }`, nil)
	}
	filter("/b/3/")
	is("filtered", "1-https://a.example, 2-/, 3-b/, 4+3/")
	got := tb.copied(`#paths .tools button`)
	for _, want := range []string{"\r\nhttps://a.example/b/3/,3,37.5,66.7,line 2: Disallow: /b/3/y\r\n", "\r\nhttps://a.example/b/3/y,2,"} {
		if !strings.Contains(got, want) || strings.Contains(got, "/a/") {
			t.Errorf("copied is %q, without %q", got, want)
		}
	}
	filter("")
	is("not filtered any more", "1-https://a.example, 2-/, 3-b/, 4+3/, 4 3, 3+a/, 3 c")
	tb.axe()
}

// tabbable selects the elements that the Tab key reaches.
const tabbable = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((e) => e.tabIndex >= 0 && e.checkVisibility() && !e.disabled)`

// TestTabStops holds that a few key presses lead past each part of the page.
func TestTabStops(t *testing.T) {
	tb := open(t, cookbook(t, sitemaps...), "")
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	var stops, most int
	tb.eval(tabbable+`.length`, &stops)
	tb.eval(`Math.max(...[...document.querySelectorAll("main > section:not(#what-if)")].map((s) => `+tabbable+`.filter((e) => s.contains(e)).length))`, &most)
	t.Logf("%d stops, %d in a part", stops, most)
	if stops > 90 || most > 12 {
		t.Errorf("%d stops, %d in a part", stops, most)
	}
	var ways []string
	tb.eval(`[...document.querySelectorAll("main > section:not(#what-if)")].map((s) => {
		const link = s.querySelector("a, button, input, [tabindex]");
		const to = document.getElementById(link.hash.slice(1));
		return s.id + ": " + link.textContent + (to === (s.nextElementSibling || document.querySelector("footer")));
	})`, &ways)
	for _, way := range ways {
		if !strings.Contains(way, ": Skip to ") || !strings.HasSuffix(way, "true") {
			t.Error(way)
		}
	}
	tb.eval(`document.querySelector("#paths .skip").focus(); globalThis.seen = document.querySelector("#paths .skip").getBoundingClientRect().left >= 0`, nil)
	tb.until(`globalThis.seen`)
	tb.do(chromedp.KeyEvent("\r"), chromedp.KeyEvent(kb.Tab))
	tb.until(`document.activeElement.textContent === "Skip to Answers"`)
	for _, to := range []string{"Copy as CSV", "all requests", "other clients"} { // one key leads to a group, the arrow keys lead on
		switch to {
		case "Copy as CSV":
			tb.eval(`document.querySelector("#crawlers thead button").focus()`, nil)
			tb.do(chromedp.KeyEvent(kb.ArrowLeft))
		case "all requests":
			tb.eval(`{ const all = `+tabbable+`; all[all.findIndex((e) => e.closest(".choice")) - 1].focus(); }`, nil)
			tb.do(chromedp.KeyEvent(kb.Tab))
		case "other clients":
			tb.do(chromedp.KeyEvent(kb.ArrowRight))
		}
		tb.until(`(document.activeElement.parentNode.matches("label") ? document.activeElement.parentNode : document.activeElement).textContent === ` + literal(to))
	}
	tb.eval(`document.querySelector("#crawlers thead button").focus()`, nil)
	tb.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent("\r"))
	tb.until(`document.querySelector('#crawlers th[aria-sort="descending"]').textContent === "URLs"`)
}

// TestPrintOpen holds that folded parts are printed, with and without JavaScript.
func TestPrintOpen(t *testing.T) {
	name := cookbook(t)
	for _, off := range []bool{false, true} {
		tb := open(t, name, "", emulation.SetScriptExecutionDisabled(off), emulation.SetEmulatedMedia().WithMedia("print"))
		tb.eval(`document.getElementById("whole").checked = true`, nil)
		var folded []string
		tb.eval(`[...document.querySelectorAll("main > section:not(#what-if) :is(table, tr)")].filter((e) => !e.checkVisibility({contentVisibilityAuto: true}) || e.getBoundingClientRect().height === 0).map((e) => e.innerText.slice(0, 40))`, &folded)
		if len(folded) > 0 {
			t.Errorf("without JavaScript: %t; not printed are %d: %q", off, len(folded), folded[:min(5, len(folded))])
		}
	}
	tb := open(t, name, "", emulation.SetEmulatedMedia().WithMedia("print"))
	// Chromium omits the text of buttons in repeated table headers, and prints a footer on each page.
	if got := tb.text(`[getComputedStyle(document.querySelector("thead button")).display, getComputedStyle(document.querySelector("tfoot")).display].join()`); got != "contents,table-row-group" {
		t.Errorf("heads and feet are printed as %s", got)
	}
	tb = open(t, name, "")
	const opened = `String(document.querySelectorAll("details[open]").length)`
	before := tb.text(opened)
	tb.eval(`document.getElementById("whole").click()`, nil)
	tb.eval(`dispatchEvent(new Event("beforeprint"))`, nil)
	if got := tb.text(`String(document.querySelectorAll("details:not([open])").length)`); got != "0" {
		t.Errorf("%s are closed when it is printed", got)
	}
	tb.eval(`dispatchEvent(new Event("afterprint"))`, nil)
	if got := tb.text(opened); got != before {
		t.Errorf("%s are open after it was printed, before it %s", got, before)
	}
}

// TestScale reads the bar chart, which works without JavaScript.
func TestScale(t *testing.T) {
	tb := open(t, cookbook(t), "", emulation.SetScriptExecutionDisabled(true))
	if got := tb.text(`[...document.querySelectorAll(".scale text")].map((e) => e.textContent).join()`); got != "0,50,100" {
		t.Errorf("the scale is %s", got)
	}
	if got := tb.text(`[...document.querySelectorAll(".times span")].map((e) => e.textContent).join()`); !strings.HasPrefix(got, "2015-05-17 10:00,2015-05-18 ") || !strings.HasSuffix(got, ",2015-05-20 21:00") {
		t.Errorf("the times are %s", got)
	}
	// The label belongs to the highest bar.
	most := tb.text(`[...document.querySelectorAll('table[data-name="time"] tbody tr')].map((r) => [r.cells[1].textContent, r.cells[0].textContent]).sort((a, b) => b[0] - a[0])[0].join(", in the hour from ")`)
	if got := tb.text(`document.querySelector("#time .peaks").textContent`); !strings.Contains(got, "Most requests: "+most) || !strings.Contains(got, "Most violations: ") {
		t.Errorf("%s; the most are %s", got, most)
	}
}

// TestWhatIfTables holds that a sorted table of the panel stays sorted after an edit; it also copies the table of an answer.
func TestWhatIfTables(t *testing.T) {
	tb := open(t, cookbook(t), "")
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	tb.eval(`document.querySelector("#what-if-closed th button").click(); document.querySelector("#what-if-totals th button").click()`, nil)
	tb.typed("User-agent: *\nDisallow: /blog\n")
	for _, id := range []string{"what-if-closed", "what-if-totals"} {
		rows := tb.table(id)
		if len(rows) < 20 {
			t.Errorf("%s has %d rows", id, len(rows))
		}
		var sorted []string
		tb.eval(literal(rows)+`.sort((a, b) => a.split("|")[0].localeCompare(b.split("|")[0]))`, &sorted)
		if !slices.Equal(rows, sorted) {
			t.Errorf("%s is not sorted any more: %q", id, rows[:5])
		}
	}
	tb.eval(`{ document.getElementById("what-if-url").value = "/blog/x"; document.querySelector("#what-if-ask button").click(); }`, nil)
	if got := tb.copied(`#what-if-answer .tools button`); got != "Line,Rule,Result\r\n2,Disallow: /blog,\"decides: 5 bytes, no other matches\"\r\n" {
		t.Errorf("copied is %q", got)
	}
	tb.axe()
}

// TestBusy holds that the panel shows when a decision takes long.
func TestBusy(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	tb.eval(`{
		const edit = robobatchWhatIf.edit;
		globalThis.robobatchWhatIf.edit = (...all) => { const end = performance.now() + 80; while (performance.now() < end); return edit(...all); };
	}`, nil)
	tb.typed("User-agent: *\nDisallow: /1\n") // the first is slow, and so the next is expected to be
	tb.until(`document.querySelector("#what-if-lines tbody tr") === null`)
	var states []string
	tb.eval(`new Promise((done) => {
		const area = document.getElementById("what-if-text"), state = document.getElementById("what-if-state"), body = document.getElementById("what-if-body");
		const now = () => body.ariaBusy + " " + state.textContent;
		area.value = "User-agent: *\nDisallow: /cart\n";
		area.dispatchEvent(new Event("input"));
		const first = now();
		new MutationObserver(() => { if (body.ariaBusy === "false") done([first, now()]); }).observe(body, {attributes: true});
	})`, &states)
	if want := []string{"true Deciding …", "false This is an edit of the text in force."}; !slices.Equal(states, want) {
		t.Errorf("the states are %q, want %q", states, want)
	}
}

// TestSlices opens the page with an edit that takes long to decide: the page says so, shows what is typed
// meanwhile, and then decides the new text.
func TestSlices(t *testing.T) {
	var edit strings.Builder
	edit.WriteString("User-agent: *\n")
	for i := 0; edit.Len() < 499<<10; i++ {
		edit.WriteString("Disallow: ")
		for bit := range 16 {
			edit.WriteString([]string{"*a", "*ab"}[i>>bit&1])
		}
		edit.WriteString("c\n")
	}
	d := shop()
	d.Origins[0].URLs = nil
	for i := range 2000 {
		path := "/" + strings.Repeat("ab", i) + "/b"
		d.Origins[0].URLs = append(d.Origins[0].URLs, whatif.URL{Path: path, Counts: []whatif.Count{{Agent: 0, Requests: 1}}})
	}
	tb := open(t, write(t, d), "#what-if="+edits("https://shop.example", edit.String()))
	tb.started()
	const state = `document.getElementById("what-if-body").ariaBusy + " " + document.getElementById("what-if-state").textContent`
	if got := tb.text(state); got != "true Deciding …" {
		t.Fatalf("the state is %q", got)
	}
	tb.typed("User-agent: *\nDisallow: /ab\n")
	tb.until(`document.getElementById("what-if-body").ariaBusy === "false"`)
	wantRows(t, tb, "what-if-totals", "Googlebot|2,000|0|1,999|100.0%|1,999|0", "GPTBot|0|0|0|–|0|0")
	if got := tb.text(state); got != "false This is an edit of the text in force." {
		t.Errorf("the state is %q", got)
	}
}

// TestLongRules copies rules that the page truncates.
func TestLongRules(t *testing.T) {
	long := "/" + strings.Repeat("x", 1000)
	name := makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: " + long + "\n"}, []string{"https://a.example" + long, "https://a.example/"}, "-agent", "Googlebot")
	tb := open(t, name, "")
	for button, want := range map[string]string{
		`button[aria-label*="rules of https://a.example"]`: ",2,Disallow: " + long + "\r\n", `#paths .tools button`: ",line 2: Disallow: " + long + "\r\n",
	} {
		if got := tb.copied(button); !strings.Contains(got, want) {
			t.Errorf("copied is %q", got)
		}
	}
}

// TestAskers reads for which crawlers the lines decided, and filters by one.
func TestAskers(t *testing.T) {
	tb := open(t, cookbook(t), "")
	const table = `document.querySelector('table[data-name="crawlers by line of https://www.semicomplete.com"]')`
	tb.eval(table+`.closest("details").open = true`, nil)
	tb.eval(`{ const f = `+table+`.parentElement.previousElementSibling.querySelector("input"); f.value = "ahrefsbot"; f.dispatchEvent(new Event("input")); }`, nil)
	if got := tb.text(`[...` + table + `.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.textContent).join()`); got != "18Disallow: /AhrefsBot34" {
		t.Errorf("the rows of AhrefsBot: %s", got)
	}
	var sums []string // by line, of this table and of the robots.txt
	tb.eval(`(() => {
		const sums = {};
		for (const r of `+table+`.tBodies[0].rows) sums[r.cells[0].textContent] = (sums[r.cells[0].textContent] || 0) + Number(r.cells[3].textContent.replaceAll(",", ""));
		return [...document.querySelectorAll(".code tbody tr.decided")].map((r) => r.cells[r.cells.length - 2].textContent + ": " + r.cells[0].textContent + (sums[r.cells[r.cells.length - 2].textContent] === Number(r.cells[0].textContent.replaceAll(",", "")) ? "" : ", but " + sums[r.cells[r.cells.length - 2].textContent]));
	})()`, &sums)
	for _, sum := range sums {
		if strings.Contains(sum, "but") {
			t.Errorf("line %s", sum)
		}
	}
	if len(sums) < 8 {
		t.Errorf("%d lines", len(sums))
	}
}

// TestEmptyColumns holds that columns without any value are omitted.
func TestEmptyColumns(t *testing.T) {
	heads := func(tb *tab, name string) string {
		return tb.text(`[...document.querySelector('table[data-name="` + name + `"]').tHead.rows[0].cells].map((c) => c.textContent).join()`)
	}
	tb := open(t, cookbook(t), "")
	for name, want := range map[string]string{
		"URLs that are allowed but failing":   "URL,Crawler,Failing,All requests",
		"URLs that are disallowed but served": "URL,Crawler,Served,All requests,Rule",
	} {
		if got := heads(tb, name); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"crawlers", "URLs that are allowed but failing"} {
		if got := tb.text(`String([...document.querySelector('table[data-name="` + name + `"]').tBodies[0].rows].every((r) => r.cells.length === r.closest("table").tHead.rows[0].cells.length))`); got != "true" {
			t.Errorf("%s has rows that are longer than its head", name)
		}
	}
}

// TestSums sorts, filters and copies crawlers: the rows of sets and of all crawlers always stay below the others, are
// not counted, and are omitted if only some rows are shown.
func TestSums(t *testing.T) {
	tb := open(t, cookbook(t), "")
	const table = `document.querySelector('table[data-name="crawlers"]')`
	const button = `#crawlers .tools button`
	tb.eval(table+`.scrollIntoView()`, nil)
	if got := tb.text(`String([0, 1].map((i) => ` + table + `.tFoot.rows[i].getBoundingClientRect().bottom - ` + table + `.parentElement.getBoundingClientRect().bottom <= 1))`); got != "true,true" {
		t.Errorf("the sums are in sight: %s", got)
	}
	names := func() string {
		return tb.text(`[...` + table + `.tFoot.rows].map((r) => r.cells[0].firstChild.textContent).join()`)
	}
	for range 2 {
		tb.eval(table+`.tHead.rows[0].cells[1].querySelector("button").click()`, nil)
		if got := names(); got != "search engines,all" {
			t.Errorf("the sums are %s", got)
		}
	}
	got := tb.copied(button)
	want := tb.text(`[1, 2, 3].map((i) => "," + ` + table + `.tFoot.rows[1].cells[i].textContent.replaceAll(",", "")).join("")`)
	if !strings.Contains(got, "\r\nall"+want+",") || !strings.HasPrefix(want, ",10000,") {
		t.Errorf("copied is %q, without all%s", got, want)
	}
	filter := func(text string) {
		tb.eval(`{ const f = `+table+`.parentElement.previousElementSibling.querySelector("input"); f.value = `+literal(text)+`; f.dispatchEvent(new Event("input")); }`, nil)
	}
	filter("googlebot")
	if got := tb.copied(button); strings.Contains(got, "\r\nall,") || !strings.Contains(got, "\r\nGooglebot,") {
		t.Errorf("of some rows, copied is %q", got)
	}
	if left := tb.text(table + `.parentElement.previousElementSibling.querySelector(".left").textContent + ` + table + `.tFoot.checkVisibility()`); !strings.HasSuffix(left, "rowsfalse") {
		t.Errorf("of some rows: %s", left)
	}
	filter("")
	if got := tb.copied(button); !strings.Contains(got, "\r\nall,10000,") {
		t.Errorf("of all rows again, copied is %q", got)
	}
}
