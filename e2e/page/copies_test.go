package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// copied clicks a button, and returns the copied text.
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

// TestCopies copies tables whose cells contain notes, several URLs, or truncated URLs; and the tree.
func TestCopies(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.jsonl")
	if err := os.WriteFile(old, []byte(`{"origin": "https://a.example", "status": 200, "body": "User-agent: *\nDisallow:\n"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := "https://a.example/a/<i>\"" + strings.Repeat("x", 400)
	rules := map[string]string{"https://a.example": "User-agent: *\nDisallow: /a\nDisallow: /a/b\nDisalow: /c\n"}
	name := makeReport(t, rules, []string{long, "https://a.example/a/b", "https://a.example/=c", "https://a.example/a/d", long}, "-agent", "Googlebot", "-old", old)
	tb := open(t, name, "")
	got := tb.copied(`button[aria-label*="rules of https://a.example"]`)
	for _, want := range []string{
		"Requests,URLs,Lost,Line,robots.txt,robots.txt: notes\r\n",
		"3,2,1,2,Disallow: /a,line 3 decided the others\r\n",
		"1,1,,3,Disallow: /a/b,\"redundant: without it, line 2 would decide in the same way: Disallow: /a\"\r\n", ",,,4,Disalow: /c,\"",
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
	for _, want := range []string{"Path,Requests,Share of all (%),Disallowed (%),Mostly by,Mostly by: notes\r\n", "\r\nhttps://a.example/,5,100,80.0,", "\r\nhttps://a.example/a/,4,80.0,100,", "\r\nhttps://a.example/a/b,1,20.0,100,"} {
		if !strings.Contains(got, want) {
			t.Errorf("copied is %q, without %q", got, want)
		}
	}
}

// TestCopiesTabs copies a line with a tab, which would begin another cell when pasted into a spreadsheet.
func TestCopiesTabs(t *testing.T) {
	tb := open(t, cookbook(t), "")
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	tb.typed("User-agent: *\nDisallow: / # \t=1+1\n")
	if got := tb.copied(`button[aria-label="Copy as CSV: the table of lines"]`); !strings.Contains(got, "Disallow: / # \t'=1+1") {
		t.Errorf("copied is %q", got)
	}
}

// TestCopiesNumbers copies and sorts numbers in each form of the page: in CSV they are plain numbers, and formulas are text.
func TestCopiesNumbers(t *testing.T) {
	tb := open(t, makeReport(t, map[string]string{"https://a.example": "User-agent: *\nDisallow: /a\n"}, []string{"https://a.example/a"}, "-agent", "Googlebot"), "")
	rows := [][5]string{
		{"=1+1", "12,345", "<0.01%", "600.0 s <small>or more</small>", "-5"},
		{"-2", "1,234", "12.3%", "–", "1,234"},
		{"a;=b", "9,000", ">99.99%", "none", "=2"},
		{"\uff1d1", "99,999", "0%", "12.5 s", "0"},
		{"+3", "", "100%", "2 s", "1,000,000"},
	}
	var html strings.Builder
	for _, row := range rows {
		html.WriteString("<tr><td>" + strings.Join(row[:], "</td><td>") + "</td></tr>")
	}
	tb.eval(`{
		const table = document.createElement("table");
		table.innerHTML = '<thead><tr><th>Name</th><th class="n">Requests</th><th class="n">Share</th><th class="n">Gap</th><th class="n">Change</th></tr></thead><tbody>' + `+literal(html.String())+` + "</tbody>";
		table.dataset.name = "numbers";
		const place = document.createElement("div");
		place.append(table);
		document.querySelector("main").append(place);
		table.dispatchEvent(new Event("table", {bubbles: true}));
	}`, nil)
	const button = `button[aria-label="Copy as CSV: the table of numbers"]`
	want := "Name,Requests,Share (%),Gap (s),Change,Gap (s): notes\r\n" +
		"'=1+1,12345,0.005,600.0,-5,or more\r\n" +
		"'-2,1234,12.3,,1234,\r\n" +
		"\"a;'=b\",9000,99.995,,'=2,\r\n" +
		"'\uff1d1,99999,0,12.5,0,\r\n" +
		"'+3,,100,2,1000000,\r\n"
	if got := tb.copied(button); got != want {
		t.Errorf("copied is\n%s, want\n%s", got, want)
	}
	for column, want := range map[int]string{
		1: "1,234|9,000|12,345|99,999|", 2: "0%|<0.01%|12.3%|>99.99%|100%",
		3: "2 s|12.5 s|600.0 s or more|none|–", 4: "-5|0|1,234|1,000,000|=2",
	} {
		var got []string
		tb.eval(`(() => {
			const table = document.querySelector('table[data-name="numbers"]'), head = table.tHead.rows[0].cells[`+literal(column)+`];
			head.querySelector("button").click();
			if (head.ariaSort === "descending") head.querySelector("button").click();
			return [...table.tBodies[0].rows].map((r) => r.cells[`+literal(column)+`].textContent);
		})()`, &got)
		if strings.Join(got, "|") != want && (column != 3 || strings.Join(got, "|") != "2 s|12.5 s|600.0 s or more|–|none") {
			t.Errorf("column %d is sorted as %q, want %s", column, got, want)
		}
	}
}

// TestSitemapURLs holds that three of the sitemap URLs that were never crawled are visible, that the others unfold, and
// that a copy contains all of them.
func TestSitemapURLs(t *testing.T) {
	tb := open(t, cookbook(t, sitemaps...), "#sitemaps")
	const table = `document.querySelector('table[data-name="URLs of sitemaps"]')`
	seen := func() string {
		return tb.text(`[...` + table + `.tBodies[0].rows[1].cells[3].querySelectorAll("div")].filter((d) => d.checkVisibility({contentVisibilityAuto: true})).length + ""`)
	}
	if got := seen(); got != "3" {
		t.Errorf("%s URLs are in sight", got)
	}
	never := tb.copied(`#sitemaps .tools button`)
	if n := strings.Count(never, "https://www.semicomplete.com/"); n != 19 || strings.Contains(never, "the next") {
		t.Errorf("copied are %d URLs: %s", n, never)
	}
	tb.eval(table+`.querySelector("summary").click()`, nil)
	if got := seen(); got != "19" {
		t.Errorf("%s URLs are in sight, unfolded", got)
	}
}
