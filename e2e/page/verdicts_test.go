package page

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/report/whatif"
	"github.com/robobatch/robobatch/robots"
)

var crawlers = []string{"Googlebot-Image", "AdsBot-Google", "bingbot", "YandexImages", "GPTBot", "nobody"}

// sites returns n origins with real robots.txt files, and URLs that resemble their rules.
func sites(t *testing.T, rng *rand.Rand, n int) (all []whatif.Origin) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "testdata", "quickstart", "rules", "https_*.txt"))
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	for len(all) < n {
		name := names[rng.IntN(len(names))]
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		origin := robots.Origin("https://" + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "https_"), ".txt"))
		paths := repcase.PathsLike(rng, text, 80)
		if len(paths) < 20 || slices.ContainsFunc(all, func(o whatif.Origin) bool { return o.Origin == origin }) {
			continue
		}
		o := whatif.Origin{Origin: origin, Text: text, Name: filepath.Base(name), Requests: 1}
		for i, p := range paths {
			u := whatif.URL{Path: p}
			for a := range crawlers {
				if a == i%len(crawlers) || rng.IntN(4) == 0 {
					u.Counts = append(u.Counts, whatif.Count{Agent: a, Requests: 1 + rng.Int64N(99)})
				}
			}
			o.URLs = append(o.URLs, u)
		}
		slices.SortFunc(o.URLs, func(a, b whatif.URL) int { return strings.Compare(a.Path, b.Path) }) // as the module has them
		all = append(all, o)
	}
	return all
}

// response is one robots.txt.
func response(o robots.Origin, body []byte) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		yield(robots.Response{Origin: o, Name: "robots.txt", Status: 200, Body: body}, nil)
	}
}

// lines evaluates texts in the page, one after the other. For each text and crawler, it returns the
// line that decided each URL, in the form of the module.
func (tb *tab) lines(texts [][]byte) [][][]int32 {
	tb.t.Helper()
	packed := make([]string, len(texts))
	for i, text := range texts {
		packed[i] = base64.StdEncoding.EncodeToString(text)
	}
	var got [][]string
	tb.eval(fmt.Sprintf(`%s.map((text) => {
		robobatchWhatIf.edit(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
		while (!robobatchWhatIf.step());
		const change = JSON.parse(robobatchWhatIf.change(-1, 5));
		if (change.error) throw new Error(change.error);
		return Array.from({length: %d}, (_, a) => btoa(String.fromCharCode(...robobatchWhatIf.lines(a))));
	})`, literal(packed), len(crawlers)), &got)
	all := make([][][]int32, len(got))
	for i := range got {
		for _, s := range got[i] {
			raw, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				tb.t.Fatal(err)
			}
			lines := make([]int32, len(raw)/4)
			for k := range lines {
				lines[k] = int32(binary.LittleEndian.Uint32(raw[4*k:]))
			}
			all[i] = append(all[i], lines)
		}
	}
	return all
}

// TestEdits compares the verdicts of the module in the page for 1,000 random edits of real robots.txt files with
// those of package engine, for all crawlers and URLs, in all dialects.
func TestEdits(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 8))
	edits, verdicts, byRule := 0, 0, 0
	for _, name := range robots.Dialects() {
		d, err := robots.ParseDialect(name)
		if err != nil {
			t.Fatal(err)
		}
		data := whatif.Data{Dialect: d, Agents: crawlers, Origins: sites(t, rng, 10)}
		tb := open(t, write(t, data), "")
		tb.started()
		for i, o := range data.Origins {
			tb.choose(i)
			var paths []string
			for _, u := range o.URLs {
				paths = append(paths, u.Path)
			}
			texts := make([][]byte, 25) // each an edit of the one before
			body := o.Text
			for k := range texts {
				body = repcase.Edit(rng, body, paths, crawlers)
				texts[k] = body
			}
			for k, lines := range tb.lines(texts) {
				n, ruled := compareLines(t, &o, texts[k], d, lines)
				edits, verdicts, byRule = edits+1, verdicts+n, byRule+ruled
			}
		}
	}
	if edits != 1000 || byRule < verdicts/10 {
		t.Errorf("%d edits, %d verdicts, %d by rules", edits, verdicts, byRule)
	}
	t.Logf("%d edits, %d verdicts, %d by rules", edits, verdicts, byRule)
}

// compareLines compares the lines of a text with the verdicts of package engine.
func compareLines(t *testing.T, o *whatif.Origin, body []byte, d robots.Dialect, lines [][]int32) (n, byRule int) {
	t.Helper()
	store, err := engine.BuildStore(response(o.Origin, body), engine.StoreOptions{Dialect: d, Agents: crawlers})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	at := make([]int, len(crawlers)) // by crawler: the next of lines
	for _, u := range o.URLs {
		for _, c := range u.Counts {
			want, err := store.Verdict(string(o.Origin)+u.Path, crawlers[c.Agent])
			if err != nil {
				t.Fatal(err)
			}
			if want.Access == engine.Denied && robots.IsTxt([]byte(u.Path)) {
				want = engine.Answer{Access: engine.Allowed} // as reports count it
			}
			line := want.Rule.Line
			if want.Access == engine.Denied {
				line = -line
			}
			if n++; line != 0 {
				byRule++
			}
			if got := lines[c.Agent][at[c.Agent]]; got != line {
				t.Fatalf("%s, %s on %s%q of\n%q\nline %d; the engine says line %d, %v", d, crawlers[c.Agent], o.Origin, u.Path, body, got, line, want)
			}
			at[c.Agent]++
		}
	}
	for a := range lines {
		if at[a] != len(lines[a]) {
			t.Fatalf("%s has %d URLs, want %d", crawlers[a], len(lines[a]), at[a])
		}
	}
	return n, byRule
}

// TestAsk asks the field for one URL about URLs and crawlers, and compares the answers with package engine.
func TestAsk(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 9))
	data := whatif.Data{Dialect: robots.Google, Agents: crawlers, Origins: sites(t, rng, 10)}
	tb := open(t, write(t, data), "")
	tb.started()
	ask := func(url, crawler string) string {
		t.Helper()
		return tb.text(`(() => {
			document.getElementById("what-if-url").value = ` + literal(url) + `;
			document.getElementById("what-if-crawler").value = ` + literal(crawler) + `;
			document.querySelector("#what-if-ask button").click();
			return document.getElementById("what-if-answer").textContent;
		})()`)
	}
	asked := 0
	for i, o := range data.Origins {
		tb.choose(i)
		store, err := engine.BuildStore(response(o.Origin, o.Text), engine.StoreOptions{Dialect: data.Dialect, Agents: crawlers})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range o.URLs[:20] {
			if strings.Contains(u.Path, "\xff") { // no text of a page
				continue
			}
			crawler := crawlers[rng.IntN(len(crawlers))]
			want, err := store.Verdict(string(o.Origin)+u.Path, crawler)
			if err != nil {
				t.Fatal(err)
			}
			begin := map[engine.Access]string{engine.Allowed: "allowed: ", engine.Denied: "disallowed: "}[want.Access]
			switch {
			case want.Rule.Line > 0:
				begin += fmt.Sprintf("line %s: %s", commas(int(want.Rule.Line)), want.Rule)
			case want.Reason == engine.ReasonNoGroup:
				begin += "There is no group for this crawler"
			default:
				begin += "No rule"
			}
			if got := ask(string(o.Origin)+u.Path, crawler); !strings.HasPrefix(got, begin) {
				t.Errorf("%s for %s: %.200q, want %q", u.Path, crawler, got, begin)
			}
			asked++
		}
		store.Close()
	}
	if asked < 150 {
		t.Errorf("%d questions", asked)
	}
	last := string(data.Origins[9].Origin)
	for _, c := range []struct{ url, want string }{
		{"https://other.example/", "No answer: a URL of https://other.example: this robots.txt is of " + last + "."},
		{"https://täst.example/ü", "No answer: a URL of https://xn--tst-qla.example: this robots.txt is of " + last + "."},
		{"nothing", "No answer: “nothing” is neither a URL nor a path: a URL starts with https:// or http://, a path with /."},
		{"https://a b/", "No answer: not a valid host"},
	} {
		if got := ask(c.url, "x"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
}

// commas returns a number with commas.
func commas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return commas(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// TestTimes prints the time that the panel takes for as many URLs as a page has, with real rules.
func TestTimes(t *testing.T) {
	for _, urls := range []int{20_000, whatif.MaxURLs} {
		for _, c := range []struct {
			name  string
			rules int
		}{{"www.koreanair.com", 200}, {"www.chainreactioncycles.com", 200}, {"www.last.fm", 200}, {"www.next.co.uk", 1000}} {
			text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "quickstart", "rules", "https_"+c.name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			text, rules := firstRules(text, c.rules)
			d := whatif.Data{Dialect: robots.Google, Agents: crawlers, Origins: []whatif.Origin{{Origin: "https://a.example", Text: text, Name: c.name, Requests: 1, URLs: manyURLs(urls, text)}}}
			tb := open(t, write(t, d), "")
			var loaded float64
			tb.eval(`performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart`, &loaded)
			begin := time.Now()
			tb.started()
			ready := time.Since(begin)
			var took []float64
			tb.eval(`(async () => {
				const area = document.getElementById("what-if-text"), took = [];
				for (const c of "Disallow: /ab") {
					area.value = area.value.replace(/\n*$/, "") + (took.length === 0 ? "\n" : "") + c;
					const begin = performance.now();
					area.dispatchEvent(new Event("input"));
					const table = document.getElementById("what-if-totals");
					await new Promise((done) => new MutationObserver((_, o) => { o.disconnect(); done(); }).observe(table, {childList: true, subtree: true}));
					await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
					took.push(performance.now() - begin);
				}
				return took;
			})()`, &took)
			slices.Sort(took)
			var size int
			tb.eval(`document.getElementById("what-if-data").textContent.length`, &size)
			t.Logf("%d URLs, %d rules of %s: data of %d bytes; page loaded in %.0f ms, panel ready after %d ms more; a keystroke until it is painted: median %.0f ms, most %.0f ms",
				urls, rules, c.name, size, loaded, ready.Milliseconds(), took[len(took)/2], took[len(took)-1])
		}
	}
}

// firstRules returns the beginning of a text with at most the given number of rules, and their number.
func firstRules(text []byte, most int) (begin []byte, rules int) {
	for line := range strings.Lines(string(text)) {
		if strings.Contains(strings.ToLower(line), "allow:") {
			if rules == most {
				break
			}
			rules++
		}
		begin = append(begin, line...)
	}
	return begin, rules
}

// manyURLs returns n URLs that look real: rules match some of them, but not most.
func manyURLs(n int, text []byte) (urls []whatif.URL) {
	rng := rand.New(rand.NewPCG(18, 7))
	like := repcase.PathsLike(rng, text, 80)
	words := strings.Fields("shop product category article news search image user page item tag archive blog list view detail media en de fr")
	for i := range n {
		path := ""
		for range 2 + rng.IntN(3) {
			path += "/" + words[rng.IntN(len(words))]
		}
		path += fmt.Sprintf("/%d", i)
		if rng.IntN(4) == 0 {
			path += fmt.Sprintf("?id=%d&sort=%s", rng.IntN(1e6), words[rng.IntN(len(words))])
		}
		if rng.IntN(5) == 0 {
			path = like[rng.IntN(len(like))] + path
		}
		u := whatif.URL{Path: path, Counts: []whatif.Count{{Agent: i % len(crawlers), Requests: int64(1 + 100_000/(i+1))}}}
		if i%3 == 0 && i%len(crawlers) != len(crawlers)-1 {
			u.Counts = append(u.Counts, whatif.Count{Agent: len(crawlers) - 1, Requests: 1})
		}
		urls = append(urls, u)
	}
	return urls
}
