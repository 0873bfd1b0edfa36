package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestOtherClients holds that User-Agents of unidentified clients are shown as text, that the lines for -crawlers are
// copied unchanged, and that everything fits on a phone.
func TestOtherClients(t *testing.T) {
	headers := []string{
		"<script>alert(1)</script>EvilBot", "<img src=x onerror=alert(1)> (https://x.example/)", "=cmd|' /C calc'!A0 SheetBot", "\\x1b[31mRedBot\\x1b[0m",
		"\u202eRightBot", "é\u200bBot ÉclairBot", strings.Repeat("long", 500) + "Bot", strings.Repeat("Mozilla/5.0 (x) ", 100) + "LateBot/1", "</pre><b>PreBot", "{{.}}BraceBot",
	}
	for i := range 30 {
		headers = append(headers, fmt.Sprintf("Fetchbotty%02d/%s", i, strings.Repeat("9", 90)))
	}
	var lines []string
	for i, header := range headers {
		line := fmt.Sprintf("192.0.2.1 - - [01/Feb/2026:10:00:%02d +0000] \"GET /p HTTP/1.1\" 200 1 \"-\" \"%s\"", i, header)
		for range 1 + len(headers) - i {
			lines = append(lines, line)
		}
	}
	name := makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: /p\n"}, lines, "-base", "https://a.example", "-agent-from-log")
	tb := open(t, name, "")
	const table = `document.querySelector('[data-name="other clients that may be crawlers"]')`
	names := tb.text(`[...` + table + `.tBodies[0].rows].map((r) => r.cells[0].textContent).join()`)
	if want := "EvilBot,"; !strings.HasPrefix(names, want) || !strings.Contains(names, ",SheetBot,") || !strings.Contains(names, ",PreBot,BraceBot,Fetchbotty00,") {
		t.Errorf("the names are %s", names)
	}
	if got, want := tb.copied(`button[aria-label$=": the lines of these crawlers"]`), "token\n"+strings.ReplaceAll(names, ",", "\n")+"\n"; got != want {
		t.Errorf("copied is %q, want %q", got, want)
	}
	if csv := tb.copied(`button[aria-label$=": the table of User-Agents of other clients"]`); !strings.Contains(csv, "\r\n'=cmd|' /C calc'!A0 SheetBot,") {
		t.Errorf("copied is %q", csv)
	}
	if found := tb.text(`String(document.querySelectorAll("#crawlers script, #crawlers img, #crawlers b").length)`); found != "0" {
		t.Errorf("%s elements are of User-Agents", found)
	}
	if shown := tb.text(table + `.textContent`); !strings.Contains(shown, `\u{202E}RightBot`) || !strings.Contains(shown, "<script>alert(1)</script>EvilBot") {
		t.Errorf("shown is %s", shown)
	}
	tb.axe()
	for _, width := range []int64{390, 320} {
		tb.do(chromedp.EmulateViewport(width, 800))
		var wide int64
		tb.eval(`document.documentElement.scrollWidth`, &wide)
		if wide > width {
			t.Errorf("in a window of %d the page is %d wide", width, wide)
		}
	}
	tb.axe()
}
