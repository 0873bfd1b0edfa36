package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// made makes a report of URLs and of the robots.txt of origins, and returns
// its name.
func made(t *testing.T, rules map[string]string, urls []string, args ...string) string {
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

// TestSharedText edits the robots.txt of three origins: the requests of all of them are decided again.
func TestSharedText(t *testing.T) {
	const text = "User-agent: *\nDisallow: /a\n"
	origins := []string{"https://a.example", "https://b.example", "https://c.example"}
	rules := map[string]string{}
	var urls []string
	for i, o := range origins {
		rules[o] = text
		for range i + 1 {
			urls = append(urls, o+"/a", o+"/"+fmt.Sprint(i))
		}
	}
	tb := open(t, made(t, rules, urls, "-agent", "Googlebot,GPTBot"), "#what-if")
	tb.started()
	share := tb.text(`document.getElementById("what-if-share").textContent`)
	if !strings.Contains(share, "2 other origins have the same text") || !strings.Contains(share, "4 of them, with 24 requests: 100 % of the 24 to these origins") {
		t.Errorf("the share: %s", share)
	}
	wantRows(t, tb, "what-if-totals", "Googlebot|12|6|6|50.0 %|0|0", "GPTBot|12|6|6|50.0 %|0|0")
	tb.typed("User-agent: *\nDisallow: /2\n")
	wantRows(t, tb, "what-if-opened", "/a|12|Googlebot, GPTBot|no rule|line 2: Disallow: /a")
	wantRows(t, tb, "what-if-closed", "/2|6|Googlebot, GPTBot|line 2: Disallow: /2|no rule")
}

// TestLargeText has a robots.txt of which only the beginning is loaded, alone and beside another one:
// it cannot be edited, as its rest would be lost.
func TestLargeText(t *testing.T) {
	large := "User-agent: *\nDisallow: /a\n" + strings.Repeat("# more\n", 80_000)
	rules := map[string]string{"https://a.example": large}
	urls := []string{"https://a.example/a", "https://a.example/b", "https://b.example/b"}
	tb := open(t, made(t, rules, urls, "-agent", "Googlebot"), "#what-if")
	if got := tb.text(`document.getElementById("what-if").textContent`); !strings.Contains(got, "This panel is left out. The robots.txt of https://a.example is over 500 KiB") {
		t.Errorf("the panel: %.300s", got)
	}
	rules["https://b.example"] = "User-agent: *\nDisallow: /b\n"
	tb = open(t, made(t, rules, urls, "-agent", "Googlebot"), "#what-if")
	tb.started()
	if got := tb.text(`document.getElementById("what-if").textContent`); !strings.Contains(got, "Not here is the robots.txt of https://a.example, which is over 500 KiB") {
		t.Errorf("the panel: %.300s", got)
	}
	if got := tb.text(`[...document.getElementById("what-if-origin").options].map((o) => o.textContent).join()`); got != "https://b.example" {
		t.Errorf("the origins: %s", got)
	}
}
