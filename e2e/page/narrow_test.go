package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestNarrow reads the report on a phone.
func TestNarrow(t *testing.T) {
	tb := open(t, cookbook(t), "", chromedp.EmulateViewport(400, 800))
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	var wide struct{ Text, Path, Page float64 }
	tb.eval(`({
		text: document.querySelector(".code td:last-child").clientWidth,
		path: document.querySelector(".tree tbody th").getBoundingClientRect().width,
		page: document.documentElement.scrollWidth,
	})`, &wide)
	if wide.Text < 200 || wide.Path < 100 || wide.Page > 400 {
		t.Errorf("widths: %+v", wide)
	}
	if broken := tb.text(`[...document.querySelectorAll("#what-if-totals thead th")].filter((th) => getComputedStyle(th).overflowWrap === "anywhere").map((th) => th.textContent).join()`); broken != "" {
		t.Errorf("words of these headings are broken: %s", broken)
	}
	var mute []string
	tb.eval(`[...document.querySelectorAll(".tbl, .whatif-wide")].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth && !(e.tabIndex === 0 && e.getAttribute("role") === "region" && (e.ariaLabel || e.getAttribute("aria-labelledby")))).map((e) => e.innerText.slice(0, 40))`, &mute)
	if len(mute) > 0 {
		t.Errorf("parts that scroll have no name, or are not reached by keys: %s", strings.Join(mute, "; "))
	}
	tb.axe()

	// A window of 1280 at 400% has 320: only parts with their own scroll bar may be wider.
	tb.do(chromedp.EmulateViewport(320, 600))
	var width int
	tb.eval(`document.documentElement.scrollWidth`, &width)
	if width > 320 {
		t.Errorf("in a window of 320 the page is %d wide", width)
	}
}

// TestNarrowColumns holds that on a phone each column of each table can be scrolled into sight, that tables that scroll
// say so, and that the page itself never scrolls sideways.
func TestNarrowColumns(t *testing.T) {
	long := strings.Repeat("x", 300)
	shop := makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: /" + long + "\nDisallow: /*.php\nCrawl-delay: 2\n"},
		[]string{"https://a.example/" + long + ".php", "https://a.example/b/" + long + "?" + long, "https://" + long[:60] + ".example/"}, "-agent", "@search,@ai")
	for _, name := range []string{cookbook(t, sitemaps...), shop} {
		tb := open(t, name, "", chromedp.EmulateViewport(400, 800))
		tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
		tb.started()
		tb.typed("User-agent: *\nDisallow: /b\n")
		tb.eval(`{ document.getElementById("what-if-url").value = "/b/x"; document.querySelector("#what-if-ask button").click(); }`, nil)
		tb.until(`document.querySelector("#what-if-answer table")`)
		tb.eval(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil)
		tb.eval(`document.querySelectorAll(".tiles dd").forEach((dd) => { dd.firstChild.textContent = "26,376,910"; })`, nil) // as of a large log
		for _, width := range []int64{400, 320} {
			tb.do(chromedp.EmulateViewport(width, 800))
			var found struct {
				Tables, Columns int
				Wrong           []string
			}
			tb.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
				const wrong = [];
				let columns = 0;
				if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is " + document.documentElement.scrollWidth + " wide");
				const tables = [...document.querySelectorAll("table")].filter((table) => table.checkVisibility());
				for (const table of tables) {
					const box = table.closest(".tbl, .whatif-wide") || table.parentElement, name = table.dataset.name;
					const heads = [...table.tHead.rows[0].cells];
					columns += heads.length;
					for (const head of heads) {
						const frame = box.getBoundingClientRect();
						box.scrollLeft += head.getBoundingClientRect().left - frame.left;
						const at = head.getBoundingClientRect();
						if (at.width === 0) wrong.push(name + ": no column " + head.textContent);
						else if (at.left < frame.left - 1 || at.left > frame.right - 20 || at.left > innerWidth - 20) wrong.push(name + ": never in sight: " + head.textContent);
					}
					box.scrollLeft = 1e6;
					if (heads.at(-1).getBoundingClientRect().right > Math.min(innerWidth, box.getBoundingClientRect().right) + 1) wrong.push(name + ": the end is cut off");
					box.scrollLeft = 0;
					const hint = box.previousElementSibling.querySelector(".sideways");
					const says = hint !== null && hint.checkVisibility();
					if (box.scrollWidth > box.clientWidth !== says) wrong.push(name + (says ? " says in vain that it scrolls" : " does not say that it scrolls"));
				}
				done({tables: tables.length, columns, wrong});
			})))`, &found)
			if len(found.Wrong) > 0 || found.Tables < 8 || found.Columns < 35 {
				t.Errorf("%d wide, %d tables with %d columns: %q", width, found.Tables, found.Columns, found.Wrong[:min(len(found.Wrong), 12)])
			}
		}
		tb.axe()
	}
}
