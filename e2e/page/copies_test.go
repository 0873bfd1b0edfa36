package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// copied presses a button, and returns what it copies.
func (tb *tab) copied(button string) string {
	tb.t.Helper()
	tb.eval(`{
		globalThis.copied = "";
		navigator.clipboard.writeText = (text) => { globalThis.copied = text; return Promise.resolve(); };
		document.querySelector(`+literal(button)+`).click();
	}`, nil)
	tb.until(`globalThis.copied`)
	return tb.text(`copied`)
}

// TestCopies copies tables whose cells have notes, several URLs, and URLs that are cut off; and the tree.
func TestCopies(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.jsonl")
	if err := os.WriteFile(old, []byte(`{"origin": "https://a.example", "status": 200, "body": "User-agent: *\nDisallow:\n"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := "https://a.example/a/<i>\"" + strings.Repeat("x", 400)
	rules := map[string]string{"https://a.example": "User-agent: *\nDisallow: /a\nDisallow: /a/b\nDisalow: /c\n"}
	name := made(t, rules, []string{long, "https://a.example/a/b", "https://a.example/=c", "https://a.example/a/d", long}, "-agent", "Googlebot", "-old", old)
	tb := open(t, name, "")
	got := tb.copied(`button[aria-label*="rules of https://a.example"]`)
	for _, want := range []string{
		"Requests,URLs,Only matched,Line,robots.txt,robots.txt: notes\r\n",
		"3,2,1,2,Disallow: /a,line 3 decided the others\r\n",
		"1,1,,3,Disallow: /a/b,\"redundant: without it, line 2 would say the same: Disallow: /a\"\r\n", ",,,4,Disalow: /c,\"",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("copied is %q, without %q", got, want)
		}
	}
	got = tb.copied(`button[aria-label*="rules by which requests were closed"]`)
	long = strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22").Replace(long)
	for _, url := range []string{long, "https://a.example/a/b", "https://a.example/a/d"} {
		if !strings.Contains(strings.NewReplacer("<", "%3C", ">", "%3E", `""`, "%22").Replace(got), url) {
			t.Errorf("copied is %q, without %q", got, url)
		}
	}
	if strings.Contains(got, "…") || !strings.Contains(got, "\n") {
		t.Errorf("copied is %q", got)
	}
	got = tb.copied(`button[aria-label="Copy as CSV: the table of paths"]`)
	for _, want := range []string{"Path,Requests,Share of all,Disallowed,Mostly by,Mostly by: notes\r\n", "\r\nhttps://a.example/,5,100%,80.0%,", "\r\nhttps://a.example/a/,4,80.0%,100%,", "\r\nhttps://a.example/a/b,1,20.0%,100%,"} {
		if !strings.Contains(got, want) {
			t.Errorf("copied is %q, without %q", got, want)
		}
	}
}

// TestCopiesTabs copies a line with a tab, at which a spreadsheet would begin another cell of what is pasted.
func TestCopiesTabs(t *testing.T) {
	tb := open(t, cookbook(t), "")
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	tb.typed("User-agent: *\nDisallow: / # \t=1+1\n")
	if got := tb.copied(`button[aria-label="Copy as CSV: the table of lines"]`); !strings.Contains(got, "Disallow: / # \t'=1+1") {
		t.Errorf("copied is %q", got)
	}
}
