package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestNarrow reads the report on a telephone.
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

	// 400 % of a window of 1280 are 320: nothing but parts that scroll by themselves is wider.
	tb.do(chromedp.EmulateViewport(320, 600))
	var width int
	tb.eval(`document.documentElement.scrollWidth`, &width)
	if width > 320 {
		t.Errorf("in a window of 320 the page is %d wide", width)
	}
}
