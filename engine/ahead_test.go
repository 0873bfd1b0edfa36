package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestAhead compares the verdicts on URLs of thousands of origins in random order, most of whose rules are looked for
// ahead of their rows, with those of a store in memory, which looks for each row by itself.
func TestAhead(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 3))
	const origins = 6000
	var all []robots.Response
	for i := range origins {
		all = append(all, robots.Response{
			Origin: robots.Origin(fmt.Sprintf("https://h%d.example", i)), Status: []int{200, 200, 200, 404, 503}[r.IntN(5)],
			Body: fmt.Appendf(nil, "%s\n# %d\n", packTexts[r.IntN(len(packTexts))], r.IntN(origins)),
		})
	}
	opt := StoreOptions{Dialect: robots.Google, Agents: []string{"*", "a", "Googlebot-News", "YandexImages"}, Missing: MissingUnknown}
	want := storeOf(t, opt, all...)
	paths := []string{"/", "/private/x", "/a/b", "/x1.css", "/robots.txt", "/q/7/z", ""}
	hosts := []string{"https://h%d.example", "https://h%d.example", "https://h%d.example", "HTTPS://H%d.example", "https://h%d.example:443", "http://h%d.example", "h%d"}
	for way, got := range waysToOpen(t, makePack(t, robots.Google, all...), opt) {
		e, f := got.NewEvaluator(), want.NewEvaluator()
		looked := false
		for range 12 {
			var urls []string
			for range 500 + r.IntN(300) {
				urls = append(urls, fmt.Sprintf(hosts[r.IntN(len(hosts))], r.IntN(origins+100))+paths[r.IntN(len(paths))])
			}
			b, c := newBatch(urls...), newBatch(urls...)
			e.Evaluate(b)
			f.Evaluate(c)
			looked = looked || e.ahead.useful
			for i := range urls {
				if g, w := describe(got, b, i), describe(want, c, i); g != w {
					t.Fatalf("%s: %s: %s, want %s", way, urls[i], g, w)
				}
			}
		}
		if err := got.Err(); err != nil || looked != (way == "unlimited") {
			t.Errorf("%s: looked ahead: %t, %v", way, looked, err)
		}
	}
}
