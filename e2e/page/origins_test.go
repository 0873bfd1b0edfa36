package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// makeReport writes a report for URLs and the robots.txt of origins, and returns its name.
func makeReport(t *testing.T, rules map[string]string, urls []string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	var responses strings.Builder
	for origin, text := range rules {
		fmt.Fprintf(&responses, "{\"origin\": %s, \"status\": 200, \"body\": %s}\n", literal(origin), literal(text))
	}
	for name, text := range map[string]string{"rules.jsonl": responses.String(), "urls.txt": strings.Join(urls, "\n") + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "report.html")
	run := exec.Command(command, append([]string{"report", "-rules", "rules.jsonl", "-in", "urls.txt", "-out", name, "-quiet"}, args...)...)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run, err, out)
	}
	return name
}

// TestSharedText edits the robots.txt that three origins share: the requests of all three are decided again.
func TestSharedText(t *testing.T) {
	const text = "User-agent: *\nDisallow: /a\n"
	origins := []string{"https://a.example", "https://b.example", "https://c.example"}
	rules := map[string]string{}
	var urls []string
	for i, o := range origins {
		rules[o] = text
		for range i + 1 {
			urls = append(urls, o+"/a", o+"/"+strconv.Itoa(i))
		}
	}
	tb := open(t, makeReport(t, rules, urls, "-agent", "Googlebot,GPTBot"), "#what-if")
	tb.started()
	share := tb.text(`document.getElementById("what-if-share").textContent`)
	if !strings.Contains(share, "2 other origins have the same text") || !strings.Contains(share, "4 of them, with 24 verdicts: 100% of the 24 to these origins") {
		t.Errorf("the share: %s", share)
	}
	wantRows(t, tb, "what-if-totals", "Googlebot|12|6|6|50.0%|0|0", "GPTBot|12|6|6|50.0%|0|0")
	tb.typed("User-agent: *\nDisallow: /2\n")
	wantRows(t, tb, "what-if-opened", "/a|12|Googlebot, GPTBot|no rule|line 2: Disallow: /a")
	wantRows(t, tb, "what-if-closed", "/2|6|Googlebot, GPTBot|line 2: Disallow: /2|no rule")
}

// TestLargeText has a robots.txt of which only the beginning is loaded, by itself and with another one:
// it cannot be edited, because the rest would be lost.
func TestLargeText(t *testing.T) {
	large := "User-agent: *\nDisallow: /a\n" + strings.Repeat("# more\n", 80_000)
	rules := map[string]string{"https://a.example": large}
	urls := []string{"https://a.example/a", "https://a.example/b", "https://b.example/b"}
	tb := open(t, makeReport(t, rules, urls, "-agent", "Googlebot"), "#what-if")
	if got := tb.text(`document.getElementById("what-if").textContent`); !strings.Contains(got, "The robots.txt of https://a.example is larger than 500 KiB") {
		t.Errorf("the panel: %.300s", got)
	}
	rules["https://b.example"] = "User-agent: *\nDisallow: /b\n"
	tb = open(t, makeReport(t, rules, urls, "-agent", "Googlebot"), "#what-if")
	tb.started()
	if got := tb.text(`document.getElementById("what-if").textContent`); !strings.Contains(got, "The robots.txt of https://a.example is not included, because it is larger than 500 KiB") {
		t.Errorf("the panel: %.300s", got)
	}
	if got := tb.text(`[...document.getElementById("what-if-origin").options].map((o) => o.textContent).join()`); got != "https://b.example" {
		t.Errorf("the origins: %s", got)
	}
}

// choose chooses an origin of the panel by its number.
func (tb *tab) choose(i int) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`{ const o = document.getElementById("what-if-origin"); o.value = %d; o.dispatchEvent(new Event("change")); }`, i), nil)
}

// TestEditsOfAll edits the robots.txt of three origins, and opens the address in another tab: all edits are there.
func TestEditsOfAll(t *testing.T) {
	rules := map[string]string{}
	var urls []string
	for i := range 3 {
		o := fmt.Sprintf("https://%d.example", i)
		rules[o] = fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i)
		urls = append(urls, o+"/a")
	}
	name := makeReport(t, rules, urls, "-agent", "Googlebot")
	tb := open(t, name, "#what-if")
	tb.started()
	const text = `document.getElementById("what-if-text").value`
	list := func(tb *tab) string {
		return tb.text(`[...document.getElementById("what-if-origin").options].map((o) => o.textContent).join()`)
	}
	for i := range 3 {
		tb.choose(i)
		tb.typed(fmt.Sprintf("User-agent: *\nDisallow: /a # %d ü\n", i))
	}
	tb.choose(1)
	tb.until(`location.hash.startsWith("#what-if=")`)
	old := tb.text(`location.hash`)
	const all = "https://0.example (edited),https://1.example (edited),https://2.example (edited)"
	if got := list(tb); got != all {
		t.Errorf("the origins: %s", got)
	}
	again := open(t, name, old)
	again.started()
	if got := list(again); got != all {
		t.Errorf("the origins in the other tab: %s", got)
	}
	for _, i := range []int{1, 0, 2} { // the one that was in sight is the first
		if i != 1 {
			again.choose(i)
		}
		if got, want := again.text(text), fmt.Sprintf("User-agent: *\nDisallow: /a # %d ü\n", i); got != want {
			t.Errorf("the text of origin %d is %q, want %q", i, got, want)
		}
		if state := again.text(`document.getElementById("what-if-state").textContent`); !strings.Contains(state, "comes from the address") {
			t.Errorf("the state of origin %d is %q", i, state)
		}
	}
	again.typed("User-agent: *\n")
	if state := again.text(`document.getElementById("what-if-state").textContent`); state != "This is an edit of the text in force." {
		t.Errorf("the state after an edit is %q", state)
	}

	// Edits that do not fit into the address are named: first that of another origin, then the visible one.
	tb.choose(0)
	tb.eval(`{
		let text = "";
		for (let n = 1, i = 0; i < 9000; i++) text += "Disallow: /" + (n = n * 48271 % 2147483647) + "\n";
		globalThis.long = "User-agent: *\n" + text;
		const area = document.getElementById("what-if-text");
		area.value = long;
		area.dispatchEvent(new Event("input"));
	}`, nil)
	const state = `document.getElementById("what-if-state").textContent`
	tb.until(state + `.includes("edit of the text in force. It is too long for the address of this page: save it as a file.")`)
	tb.choose(2)
	tb.until(state + `.includes("The address of this page has no room for the edit of https://0.example: save it as a file.")`)
	rest := open(t, name, tb.text(`location.hash`))
	rest.started()
	if got := list(rest); got != "https://0.example,https://1.example (edited),https://2.example (edited)" {
		t.Errorf("the origins without the long one: %s", got)
	}
	tb.choose(0)
	if same := tb.text(`String(` + text + ` === long)`); same != "true" {
		t.Error("the long edit is gone")
	}
}

// TestSameText finds the robots.txt of an origin that shares it with others.
func TestSameText(t *testing.T) {
	rules := map[string]string{"https://z.example": "User-agent: *\nDisallow: /z\n"}
	urls := []string{"https://z.example/z"}
	for i := range 6 {
		rules[fmt.Sprintf("https://%d.example", i)] = "User-agent: *\nDisallow: /a\n"
		rules[fmt.Sprintf("https://%d.y.example", i)] = fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i)
		urls = append(urls, fmt.Sprintf("https://%d.example/a", i), fmt.Sprintf("https://%d.y.example/a", i))
	}
	tb := open(t, makeReport(t, rules, urls, "-agent", "Googlebot"), "")
	const table = `document.querySelector('table[data-name="robots.txt files"]')`
	tb.eval(`{ const f = `+table+`.parentElement.previousElementSibling.querySelector("input"); f.value = "4.example"; f.dispatchEvent(new Event("input")); }`, nil)
	const want = "robots.txt of,Requests,Rules that decided,Rules that lost,Rules that matched nothing,Findings,robots.txt of: notes\r\n" +
		"https://0.example,6,1,0,0,0,\"and 5 other origins with the same text: https://1.example, https://2.example, https://3.example, https://4.example, https://5.example\"\r\n"
	if got := tb.copied(`button[aria-label="Copy as CSV: the table of robots.txt files"]`); got != want {
		t.Errorf("copied is %q, want %q", got, want)
	}
	tb.axe()
}
