package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestImpostors holds that the panel of impostors shows hostile URLs and addresses as texts, that its numbers add up
// to those of the table of crawlers, and that everything fits on a phone.
func TestImpostors(t *testing.T) {
	list := filepath.Join(t.TempDir(), "googlebot.json")
	if err := os.WriteFile(list, []byte(`{"creationTime": "2026-02-01T00:00:00Z", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range 300 {
		client := []string{"66.249.64.5", "10.0.0.1", "<img/src=x/onerror=alert(1)>", fmt.Sprintf("45.90.%d.7", i/3), fmt.Sprintf("2a0e:97c0:%x::1", i)}[i%5]
		path := []string{"/p", "/<script>alert(1)</script>", "/" + strings.Repeat("long", 200), "/q?\u202e=1", "/=cmd"}[i%7%5]
		lines = append(lines, fmt.Sprintf("%s - - [01/Feb/2026:10:00:%02d +0000] \"GET %s HTTP/1.1\" 200 %d \"-\" \"Googlebot/2.1\"", client, i%60, path, i))
	}
	name := makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: /p\n"}, lines, "-base", "https://a.example", "-agent-from-log", "-ranges", list)
	tb := open(t, name, "")
	sum := func(table, column string) string {
		return tb.text(`String([...document.querySelector('[data-name="` + table + `"]').tBodies[0].rows].reduce((n, r) => n + parseInt(r.cells[` + column + `].firstChild.data.replaceAll(",", "")), 0))`)
	}
	all, by := sum("verified crawlers", "3"), sum("crawlers with impostors", "1")
	if listed := sum("URLs that impostors took", "1"); all == "0" || all != by || all != listed {
		t.Errorf("%s impostors in the table of crawlers, %s by name, %s by URL", all, by, listed)
	}
	if parts := sum("verified crawlers", "2") + " " + sum("verified crawlers", "3") + " " + sum("verified crawlers", "6") + " " + sum("verified crawlers", "1"); !strings.HasSuffix(parts, " 300") || !strings.HasPrefix(parts, "60 ") {
		t.Errorf("verified, impostors, no address, and all are %s", parts)
	}
	if found := tb.text(`String(document.querySelectorAll("#impostors script, #impostors img").length)`); found != "0" {
		t.Errorf("%s elements are of URLs", found)
	}
	if csv := tb.copied(`button[aria-label$=": the table of URLs that impostors took"]`); !strings.Contains(csv, strings.Repeat("long", 200)) {
		t.Errorf("what is cut off is not copied: %.300q", csv)
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
