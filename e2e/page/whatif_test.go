package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/robobatch/robobatch/report/whatif"
	"github.com/robobatch/robobatch/robots"
)

// frame is a minimal page around a panel, with the content security policy of a report.
var frame = template.Must(template.New("frame").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>What if</title>
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<style>{{.Style}}</style></head>
<body><main><h1>A page</h1>{{.HTML}}</main>{{range .Scripts}}<script>{{.}}</script>{{end}}</body></html>
`))

// colours are the colours of the page around the panel.
const colours = `:root { --page: #fff; --panel: #fff; --text: #18212c; --quiet: #55616f; --head: #f7f9fb; --accent: #2b6cc4; --deny: #b3261e; --allow: #17693f;
	--mono: monospace; color: var(--text); background: var(--page); }
@media (prefers-color-scheme: dark) { :root { --page: #0e1218; --panel: #171d26; --text: #e4e9ef; --quiet: #a3afbd; --head: #1c232d;
	--accent: #6ea8fe; --deny: #ff9389; --allow: #72d3a2; color-scheme: dark; } }
`

// write writes a page with only the panel, and returns its name.
func write(t *testing.T, d whatif.Data) string {
	t.Helper()
	p := whatif.New(d)
	html, err := p.HTML(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	fill := struct {
		Policy  string
		Style   template.CSS
		HTML    template.HTML
		Scripts []template.JS
	}{Style: template.CSS(colours + p.Style), HTML: html}
	fill.Policy = "default-src 'none'; script-src 'wasm-unsafe-eval'"
	for _, s := range p.Scripts {
		fill.Policy += " " + hash(s)
		fill.Scripts = append(fill.Scripts, template.JS(s))
	}
	fill.Policy += "; style-src " + hash(colours+p.Style)
	var b bytes.Buffer
	if err := frame.Execute(&b, fill); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", t.Name(), b.Len())
	return name
}

// started starts the panel unless it is running, and waits until it shows a result.
func (tb *tab) started() {
	tb.t.Helper()
	tb.eval(`document.getElementById("what-if-start")?.click()`, nil)
	tb.until(`!document.getElementById("what-if-body").hidden`)
}

// typed replaces the text in the editor, as when pasting, and waits for the result.
func (tb *tab) typed(text string) {
	tb.t.Helper()
	tb.eval(`{
		const area = document.getElementById("what-if-text");
		area.value = `+literal(text)+`;
		area.dispatchEvent(new Event("input", {bubbles: true}));
		new Promise((done) => setTimeout(() => requestAnimationFrame(done), 350)).then(() => true);
	}`, new(bool))
}

// painted waits until the current page has been painted.
func (tb *tab) painted() {
	tb.t.Helper()
	tb.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`, new(bool))
}

// table returns the texts of the cells of a table, row by row, separated by "|".
func (tb *tab) table(id string) (rows []string) {
	tb.t.Helper()
	tb.eval(`[...document.querySelectorAll("#`+id+` tbody tr")].map((tr) => [...tr.cells].map((c) => c.textContent).join("|"))`, &rows)
	return rows
}

// shop is a site with two crawlers.
func shop() whatif.Data {
	return whatif.Data{
		Dialect: robots.Google, Agents: []string{"Googlebot", "GPTBot"},
		Origins: []whatif.Origin{{
			Origin: "https://shop.example", Name: "robots.txt", Requests: 200,
			Text: []byte("User-agent: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /\nAllow: /blog\n"),
			URLs: []whatif.URL{
				{Path: "/", Counts: []whatif.Count{{Agent: 0, Requests: 70}, {Agent: 1, Requests: 20}}},
				{Path: "/cart?id=1", Counts: []whatif.Count{{Agent: 0, Requests: 30}}},
				{Path: "/blog/1", Counts: []whatif.Count{{Agent: 1, Requests: 15}}},
				{Path: "/search?q=x", Counts: []whatif.Count{{Agent: 0, Requests: 10}, {Agent: 1, Requests: 5}}},
			},
		}},
	}
}

// TestWhatIf edits a robots.txt, and reads the results in the panel.
func TestWhatIf(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	wantRows(t, tb, "what-if-totals", "Googlebot|110|30|30|27.3%|0|0", "GPTBot|40|25|25|62.5%|0|0")
	wantRows(t, tb, "what-if-lines", "2|Disallow: /cart|30|disallowed", "5|Disallow: /|25|disallowed", "6|Allow: /blog|15|allowed")
	if share := tb.text(`document.getElementById("what-if-share").textContent`); !strings.Contains(share, "4 of them, with 150 requests: 75.0% of the 200") {
		t.Errorf("the share: %s", share)
	}
	tb.typed("User-agent: *\nDisallow: /search\n")
	wantRows(t, tb, "what-if-totals", "Googlebot|110|30|10|9.1%|10|30", "GPTBot|40|25|5|12.5%|0|20")
	if all := tb.text(`document.querySelector("#what-if-totals tfoot").textContent`); all != "all crawlers150551510.0%1050" {
		t.Errorf("all crawlers: %s", all)
	}
	wantRows(t, tb, "what-if-closed", "/search?q=x|10|Googlebot|line 2: Disallow: /search|no rule")
	wantRows(t, tb, "what-if-opened", "/cart?id=1|30|Googlebot|no rule|line 2: Disallow: /cart", "/|20|GPTBot|no rule|line 5: Disallow: /")
}

// TestWhatIfPreferences edits usage preferences, and asks about a page.
func TestWhatIfPreferences(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	const hidden = `String(document.getElementById("what-if-wishes-part").hidden)`
	if got := tb.text(hidden); got != "true" {
		t.Errorf("of a text without preferences the part is hidden: %s", got)
	}
	const text = "User-agent: *\nDisallow: /cart\nContent-Signal: search=yes\nContent-Usage: /search train-ai=n\n\nUser-agent: GPTBot\nDisallow: /\nAllow: /blog\nContent-Usage: train-ai=n\n"
	tb.typed(text)
	wantRows(t, tb, "what-if-wishes", "train AI|nobody says|no|25|2|/blog/1", "search|nobody says|yes|110|3|/")
	if got := tb.text(hidden); got != "false" {
		t.Errorf("the part is hidden: %s", got)
	}
	tb.until(`document.getElementById("what-if-change").textContent === "Closed: nothing. Opened: nothing. Other preferences: train AI for 25 requests, search for 110 requests."`)
	tb.eval(`{ const a = document.getElementById("what-if-agent"); a.value = 1; a.dispatchEvent(new Event("change")); }`, nil)
	wantRows(t, tb, "what-if-wishes", "train AI|nobody says|no|15|1|/blog/1")
	for _, c := range []struct{ url, crawler, want string }{
		{"/search?q=x", "Googlebot", "Content-Usage (draft)train-ai=n (line 4)Content-Signal (draft)search=yes (line 3)"},
		{"/cart", "Googlebot", "Content-Signal (draft)search=yes (line 3)"},
		{"/blog/1", "GPTBot", "Content-Usage (draft)train-ai=n (line 9)"},
	} {
		tb.eval(`{
			document.getElementById("what-if-url").value = `+literal(c.url)+`;
			document.getElementById("what-if-crawler").value = `+literal(c.crawler)+`;
			document.querySelector("#what-if-ask button").click();
		}`, nil)
		got := tb.text(`document.getElementById("what-if-answer").textContent`)
		if _, from, _ := strings.Cut(got, "(draft)"); !strings.Contains(got, c.want) || strings.Count(from, "(draft)") != strings.Count(c.want, "(draft)")-1 {
			t.Errorf("%s by %s: %s, want %s", c.url, c.crawler, got, c.want)
		}
	}
	tb.axe()
}

func wantRows(t *testing.T, tb *tab, id string, want ...string) {
	t.Helper()
	if got := tb.table(id); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", id, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestHarness opens a page with errors and requests, which a report must not have: the harness must detect them.
func TestHarness(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bad.html")
	const bad = `<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; img-src http:">
		<p style="color: red">x</p><img src="http://127.0.0.1:9/pixel"><script>console.warn("w"); fetch("http://127.0.0.1:9/f").catch(() => {}); undefined.x;</script>`
	if err := os.WriteFile(name, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	tb := openUnchecked(t, name, "")
	deadline := time.Now().Add(15 * time.Minute)
	for _, want := range []string{"127.0.0.1:9/pixel", "console: warning", "inline style", "Cannot read properties of undefined", "127.0.0.1:9/f"} {
		for {
			tb.mu.Lock()
			all := strings.Join(tb.requests, "\n") + strings.Join(tb.faults, "\n")
			tb.mu.Unlock()
			if strings.Contains(all, want) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the harness does not see %q:\n%s", want, all)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// TestAddress reloads an edit from the address.
func TestAddress(t *testing.T) {
	d := shop()
	d.Origins = append(d.Origins, whatif.Origin{Origin: "https://b.example", Name: "b.txt", Requests: 1, Text: []byte("user-agent: *\n"), URLs: []whatif.URL{{Path: "/x", Counts: []whatif.Count{{Agent: 1, Requests: 1}}}}})
	name := write(t, d)
	tb := open(t, name, "")
	tb.started()
	tb.choose(1)
	const edit = "User-agent: *\nDisallow: /x # ü \U0001f916\n"
	tb.typed(edit)
	tb.until(`location.hash.startsWith("#what-if=")`)
	fragment := tb.text(`location.hash`)

	again := open(t, name, fragment)
	again.started()
	if got := again.text(`document.getElementById("what-if-text").value`); got != edit {
		t.Errorf("the text is %q, want %q", got, edit)
	}
	wantRows(t, again, "what-if-closed", "/x|1|GPTBot|line 2: Disallow: /x|no rule")
	if state := again.text(`document.getElementById("what-if-state").textContent`); !strings.Contains(state, "comes from the address") {
		t.Errorf("the state is %q", state)
	}
	again.eval(`document.getElementById("what-if-reset").click()`, nil)
	again.until(`location.hash === "#what-if"`)
}

// TestEditsStay follows a link of the page, goes back, and changes the origin: edits stay.
func TestEditsStay(t *testing.T) {
	d := shop()
	d.Origins = append(d.Origins, whatif.Origin{Origin: "https://b.example", Name: "b.txt", Requests: 1, Text: []byte("user-agent: *\n"), URLs: []whatif.URL{{Path: "/x", Counts: []whatif.Count{{Agent: 1, Requests: 1}}}}})
	name := write(t, d)
	tb := open(t, name, "")
	tb.started()
	shown := func() string { return tb.text(`document.getElementById("what-if-text").value`) }
	const first, second = "User-agent: *\nDisallow: /1\n", "User-agent: *\nDisallow: /2\n"
	tb.typed(first)
	tb.until(`location.hash.startsWith("#what-if=")`)
	old := tb.text(`location.hash`)
	tb.eval(`{ const a = document.createElement("a"); a.href = "#what-if-lines"; document.body.append(a); a.click(); }`, nil)
	tb.until(`location.hash === ` + literal(old))
	tb.typed(second)
	tb.until(`location.hash.startsWith("#what-if=") && location.hash !== ` + literal(old))
	now := tb.text(`location.hash`)
	tb.eval(`history.back()`, nil)
	tb.until(`history.state && location.hash === ` + literal(now))
	if got := shown(); got != second {
		t.Errorf("after Back the text is %q, want %q", got, second)
	}
	tb.choose(1)
	if got := shown(); got != "user-agent: *\n" {
		t.Errorf("the other origin has %q", got)
	}
	tb.choose(0)
	if got := shown(); got != second {
		t.Errorf("after other origins the text is %q, want %q", got, second)
	}
	const reset = `document.getElementById("what-if-reset").click()`
	tb.eval(reset, nil)
	if got := shown(); got != string(d.Origins[0].Text) {
		t.Errorf("the text in force is %q", got)
	}
	tb.eval(reset, nil)
	if got := shown(); got != second {
		t.Errorf("back to the edit is %q, want %q", got, second)
	}
	tb.eval(`{ location.hash = `+literal(old)+` }`, nil) // as someone pastes a link
	tb.until(`document.getElementById("what-if-text").value === ` + literal(first))
}

// TestChosen chooses one crawler: the line under the editor shows its name and its numbers.
func TestChosen(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	tb.eval(`{ const a = document.getElementById("what-if-agent"); a.value = 1; a.dispatchEvent(new Event("change")); }`, nil)
	tb.typed("User-agent: *\nDisallow: /cart\nDisallow: /search\n\nUser-agent: GPTBot\nDisallow: /\nAllow: /blog\n")
	const want = "GPTBot: Closed: nothing. Opened: nothing. All crawlers: 10 requests closed, 0 opened."
	tb.until(`document.getElementById("what-if-change").textContent === ` + literal(want))
}

// TestAskFaults asks questions that cannot be answered.
func TestAskFaults(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	for _, c := range []struct{ url, crawler, want string }{
		{"files/", "GPTBot", "“files/” is neither a URL nor a path: a URL starts with https:// or http://, a path with /."},
		{"/", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "write that alone, Googlebot."},
		{"/", "Mozilla/5.0 (compatible; newbot/1.0)", "write that alone, such as GPTBot."},
		{"/", "GPTBot/1.2", "disallowed"},
	} {
		tb.eval(`{
			document.getElementById("what-if-url").value = `+literal(c.url)+`;
			document.getElementById("what-if-crawler").value = `+literal(c.crawler)+`;
			document.querySelector("#what-if-ask button").click();
		}`, nil)
		if got := tb.text(`document.getElementById("what-if-answer").textContent`); !strings.Contains(got, c.want) {
			t.Errorf("%s by %s: %s, want %s", c.url, c.crawler, got, c.want)
		}
	}
}

// pack returns a text in the form of the fragment.
func pack(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// edits returns origins and their texts in the form of the fragment.
func edits(all ...string) string {
	var sb strings.Builder
	for i := 0; i < len(all); i += 2 {
		fmt.Fprintf(&sb, "%s\n%d\n%s", all[i], len(all[i+1]), all[i+1])
	}
	return pack(sb.String())
}

// TestHostileAddress opens the page with hostile fragments.
func TestHostileAddress(t *testing.T) {
	name := write(t, shop())
	for _, c := range []struct{ fragment, text string }{ // text "" is that in force
		{"", ""},
		{"%", ""},
		{"AAAA", ""},
		{"<script>hacked=1</script>", ""},
		{pack(""), ""},
		{edits("https://other.example", "User-agent: *"), ""},
		{edits("__proto__", "x"), ""},
		{pack("https://shop.example\n9\nx"), ""},
		{pack("https://shop.example\n-1\nx"), ""},
		{pack("https://shop.example\n1\nxhttps://shop.example"), ""},
		{edits("https://shop.example", strings.Repeat("A", 50<<20)), ""}, // 50 MB in 50 kB
		{edits("https://shop.example", "x")[:20], ""},
		{edits("https://shop.example", "\"><img src=x onerror=hacked=1></textarea><script>hacked=1</script>"), "\"><img src=x onerror=hacked=1></textarea><script>hacked=1</script>"},
		{edits("https://shop.example", "User-agent: *\r\nDisallow: /<svg/onload=hacked=1>\rAllow: /\x00\xff\u202e"), "User-agent: *\nDisallow: /<svg/onload=hacked=1>\nAllow: /\x00\xff\u202e"},
	} {
		tb := open(t, name, "#what-if="+c.fragment)
		tb.started()
		want := c.text
		if want == "" {
			want = string(shop().Origins[0].Text)
		}
		want = strings.ReplaceAll(want, "\xff", "\ufffd") // a lone surrogate has no form in JSON
		if got := tb.text(`document.getElementById("what-if-text").value.replace(/[\udc80-\udcff]/g, (c, i, s) => /[\ud800-\udbff]/.test(s[i - 1] || "") ? c : "\ufffd")`); got != want {
			t.Errorf("%.60s: the text is %.100q, want %q", c.fragment, got, want)
		}
		tb.unharmed()
		if c.text != "" {
			continue
		}
		tb.until(`location.hash === "#what-if"`) // nobody types: what was wrong with the address is still said
		if state := tb.text(`document.getElementById("what-if-state").textContent`); !strings.Contains(state, "contains no edit") || !strings.Contains(state, "This is the text in force.") {
			t.Errorf("%.60s: the state is %q", c.fragment, state)
		}
	}
}

// unharmed checks that nothing was injected.
func (tb *tab) unharmed() {
	tb.t.Helper()
	if n := tb.text(`String(typeof hacked) + document.querySelectorAll("img, svg, iframe, object, b i, a[href^=javascript]").length + document.querySelectorAll("script").length`); n != "undefined04" {
		tb.t.Errorf("something was injected: %s, want undefined04", n)
	}
}

// TestHostile has markup in every field whose content comes from others.
func TestHostile(t *testing.T) {
	const evil = `</script></textarea></template>"'><img src=x onerror=hacked=1><svg onload=hacked=1>&lt;b&gt;{{.}}${hacked=1}`
	d := whatif.Data{Dialect: robots.Google, Agents: []string{evil, "b\u202e", "__proto__"}}
	d.Origins = []whatif.Origin{{
		Origin: "https://shop.example", Name: evil, Others: 1, Requests: 9,
		Text: []byte("User-agent: *\nDisallow: /" + evil + "\nSitemap: " + evil + "\n"),
		URLs: []whatif.URL{{Path: "/" + evil, Counts: []whatif.Count{{Agent: 0, Requests: 3}, {Agent: 1, Requests: 2}}}, {Path: "/\xff\x00\x1b[0m", Counts: []whatif.Count{{Agent: 2, Requests: 1}}}},
	}}
	tb := open(t, write(t, d), "")
	tb.started()
	for _, text := range []string{"", "User-agent: *\nDisallow: /*" + evil + "\n", "User-agent: *\nDisallow: /", "User-agent: " + evil + "\n" + evil + ": " + evil} {
		tb.typed(text)
		for _, url := range []string{evil, "/" + evil, "https://shop.example/" + evil, "https://" + evil, "javascript:hacked=1"} {
			tb.eval(`{
				document.getElementById("what-if-url").value = `+literal(url)+`;
				document.getElementById("what-if-crawler").value = `+literal(evil)+`;
				document.querySelector("#what-if-ask button").click();
			}`, nil)
		}
		tb.unharmed()
	}
	if got := tb.table("what-if-totals"); len(got) != 3 || !strings.HasPrefix(got[0], evil) {
		t.Errorf("the crawlers are %q", got)
	}
}

// TestBytes saves robots.txt files with bytes that an editor cannot show, unchanged and edited.
func TestBytes(t *testing.T) {
	for _, c := range []struct{ text, edited string }{
		{"User-agent: *\r\nDisallow: /a\r\n", "#\r\nUser-agent: *\r\nDisallow: /a\r\n"},
		{"User-agent: *\rDisallow: /a\n\r\n", "#\nUser-agent: *\nDisallow: /a\n\n"},
		{"\xef\xbb\xbfUser-agent: *\nDisallow: /\xff\xfe\xc3\n\xe2\x82\xac \xf0\x9f\xa4\x96 \xed\xb2\x80 \x00.", "#\n\xef\xbb\xbfUser-agent: *\nDisallow: /\xff\xfe\xc3\n\xe2\x82\xac \xf0\x9f\xa4\x96 \xed\xb2\x80 \x00."},
	} {
		d := shop()
		d.Origins[0].Text = []byte(c.text)
		tb := open(t, write(t, d), "")
		tb.started()
		save := func() string {
			t.Helper()
			tb.eval(`{
				const make = URL.createObjectURL;
				const click = HTMLAnchorElement.prototype.click;
				HTMLAnchorElement.prototype.click = () => {};
				let saved = null;
				URL.createObjectURL = (blob) => { saved = blob; return make.call(URL, blob); };
				document.getElementById("what-if-save").click();
				URL.createObjectURL = make;
				HTMLAnchorElement.prototype.click = click;
				globalThis.saved = saved.arrayBuffer().then((b) => btoa(String.fromCharCode(...new Uint8Array(b))));
			}`, nil)
			got, err := base64.StdEncoding.DecodeString(tb.text(`saved`))
			if err != nil {
				t.Fatal(err)
			}
			return string(got)
		}
		if got := save(); got != c.text {
			t.Errorf("saved is %q, want %q", got, c.text)
		}
		tb.eval(`{ const a = document.getElementById("what-if-text"); a.value = "#\n" + a.value; a.dispatchEvent(new Event("input")); }`, nil)
		if got := save(); got != c.edited {
			t.Errorf("saved after an edit is %q, want %q", got, c.edited)
		}
	}
}

// TestOldBrowser opens the page without DecompressionStream, and without JavaScript.
func TestOldBrowser(t *testing.T) {
	name := write(t, shop())
	tb := open(t, name, "", chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`delete window.DecompressionStream`).Do(ctx)
		return err
	}))
	tb.eval(`document.getElementById("what-if-start").click()`, nil)
	tb.until(`document.getElementById("what-if-state").textContent.startsWith("This panel needs a newer browser")`)
	without := open(t, name, "", emulation.SetScriptExecutionDisabled(true))
	var text string
	without.do(chromedp.Text("#what-if", &text))
	if !strings.Contains(text, "This panel needs JavaScript.") || strings.Contains(text, "Save as file") {
		t.Errorf("without JavaScript the panel is %q", text)
	}
}

// TestKeyboard edits and asks using only the keyboard.
func TestKeyboard(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	focus := func() string {
		return tb.text(`document.activeElement.id || document.activeElement.textContent.trim().slice(0, 20)`)
	}
	var order []string
	for range 30 {
		tb.do(chromedp.KeyEvent(kb.Tab))
		order = append(order, focus())
		if focus() == "what-if-text" {
			tb.do(chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(input.ModifierCtrl)), chromedp.KeyEvent("Disallow: /blog/1\n"))
			tb.until(`document.querySelectorAll("#what-if-closed tbody tr").length === 1`)
		}
		if focus() == "what-if-url" {
			tb.do(chromedp.KeyEvent("/"))
		}
		if focus() == "what-if-crawler" {
			tb.do(chromedp.KeyEvent("\r"))
			break
		}
	}
	tb.until(`document.getElementById("what-if-answer").textContent.startsWith("allowed")`)
	all := strings.Join(order, " ")
	for _, id := range []string{"what-if-agent", "what-if-reset", "what-if-save", "what-if-text", "what-if-url", "what-if-crawler"} {
		if !strings.Contains(all, id) {
			t.Errorf("the key Tab does not reach %s: %s", id, all)
		}
	}
}

// TestAccessible checks the panel with axe-core in the light and the dark theme, and prints it.
func TestAccessible(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	tb.typed("User-agent: *\nDisallow: /search\n")
	tb.eval(`document.getElementById("what-if-url").value = "/"; document.querySelector("#what-if-ask button").click()`, nil)
	tb.axe()
	tb.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	tb.axe()
	if c := tb.text(`getComputedStyle(document.getElementById("what-if-text")).backgroundColor`); c != "rgb(23, 29, 38)" {
		t.Errorf("in the dark the editor is %s", c)
	}
	tb.do(emulation.SetEmulatedMedia().WithMedia("print"))
	if shown := tb.text(`String([...document.querySelectorAll("#what-if button")].filter((b) => b.checkVisibility()).length)`); shown != "0" {
		t.Errorf("printed are %s buttons", shown)
	}
	var pdf []byte
	tb.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Error("nothing is printed")
	}
}

// TestCopy copies a list as CSV.
func TestCopy(t *testing.T) {
	tb := open(t, write(t, shop()), "")
	tb.started()
	tb.typed("User-agent: *\nDisallow: /search\n")
	tb.eval(`{
		navigator.clipboard.writeText = (text) => { globalThis.copied = text; return Promise.resolve(); };
		document.getElementById("what-if-opened-copy").click();
	}`, nil)
	tb.until(`globalThis.copied`)
	const want = "path,requests,crawlers,line,rule,line_before,rule_before\r\n" +
		"/cart?id=1,30,Googlebot,,,2,Disallow: /cart\r\n/,20,GPTBot,,,5,Disallow: /\r\n"
	if got := tb.text(`copied`); got != want {
		t.Errorf("copied is %q, want %q", got, want)
	}
}

// TestHidden has invisible characters, and characters that change the text direction, in URLs, rules and
// questions: tables, answers and copies must show them.
func TestHidden(t *testing.T) {
	rules := map[string]string{"https://a.example": "User-agent: *\nDisallow: /a\u202eb\u0001\n"}
	urls := []string{"https://a.example/a\u202eb\u0001c", "https://a.example/x/\u202egpj.exe", "https://a.example/x/\u200b\x7f\ufe0f", "https://a.example/x/é ü"}
	tb := open(t, makeReport(t, rules, urls, "-agent", "Googlebot"), "#what-if")
	tb.started()
	wantRows(t, tb, "what-if-lines", `2|Disallow: /a\u{202E}b\u{1}|1|disallowed`)
	tb.typed("# \u2066x\nUser-agent: *\n\nDisallow: /x\t# \u202a\n")
	wantRows(t, tb, "what-if-opened", `/a\u{202E}b\u{1}c|1|Googlebot|no rule|line 2: Disallow: /a\u{202E}b\u{1}`)
	rows := strings.Join(tb.table("what-if-closed"), "\n")
	for _, want := range []string{`/x/\u{202E}gpj.exe|`, `/x/\u{200B}\u{7F}\u{FE0F}|`, "/x/é ü|"} {
		if !strings.Contains(rows, want) {
			t.Errorf("no %s in %s", want, rows)
		}
	}
	if got := tb.copied(`button[aria-label="Copy as CSV: the table of opened URLs"]`); !strings.Contains(got, `/a\u{202E}b\u{1}c,1,`) {
		t.Errorf("copied is %q", got)
	}
	tb.until(`document.getElementById("what-if-change").textContent.includes("are in lines 1, 4.")`)
	for _, ask := range [][2]string{{"/x\u202e", "/x%E2%80%AE"}, {"\u202e/x", `“\u{202E}/x” is neither`}} {
		url, want := ask[0], ask[1]
		tb.eval(`{ document.getElementById("what-if-url").value = `+literal(url)+`; document.querySelector("#what-if-ask button").click(); }`, nil)
		if got := tb.text(`document.getElementById("what-if-answer").textContent`); !strings.Contains(got, want) || strings.ContainsAny(got, "\u202e\u202a") {
			t.Errorf("the answer on %q is %q, without %s", url, got, want)
		}
		tb.painted() // with a table, and without
	}
	if got := tb.text(`document.getElementById("what-if").innerText`); strings.ContainsAny(got, "\u202e\u0001\u200b") {
		t.Errorf("the panel shows %q", got)
	}
}

// TestWhatIfBytes holds that the panel shows how many bytes an edit saves, if the log has response sizes.
func TestWhatIfBytes(t *testing.T) {
	d := shop()
	for i := range d.Origins[0].URLs {
		u := &d.Origins[0].URLs[i]
		for k := range u.Counts {
			u.Counts[k].Bytes = 100 * u.Counts[k].Requests
		}
	}
	tb := open(t, write(t, d), "")
	tb.started()
	tb.typed("User-agent: *\nDisallow: /blog\n")
	if got := tb.text(`document.getElementById("what-if-closed-sum").textContent`); got != "1 URL, 15 requests, 1,500 bytes." {
		t.Errorf("closed is %q", got)
	}
	wantRows(t, tb, "what-if-totals", "Googlebot|110|30|0|0%|0|30|0|3,000", "GPTBot|40|25|15|37.5%|15|25|1,500|2,500")
}
