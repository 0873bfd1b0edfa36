package diagnose

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A trail is requests of crawlers, one after the other.
type trail []struct {
	url        string
	crawler    uint16
	redirected bool
	at         int64 // seconds
}

// add adds a request some seconds after the last.
func (t *trail) add(after int64, url string, crawler uint16, redirected bool) {
	at := after
	if n := len(*t); n > 0 {
		at += (*t)[n-1].at
	}
	*t = append(*t, trail{{"https://a.example" + url, crawler, redirected, at}}...)
}

// longest returns the longest chain of a trail, and tests that it does not depend on the order of its requests.
func longest(t *testing.T, all trail, name string) (got string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 3 {
		var c Chains
		for _, n := range rng.Perm(len(all)) {
			if one := &all[n]; i > 0 {
				c.AddAnswer([]byte(one.url), one.crawler, one.redirected, one.at*1e6)
			}
		}
		for n := 0; i == 0 && n < len(all); n++ {
			one := &all[n]
			c.AddAnswer([]byte(one.url), one.crawler, one.redirected, one.at*1e6)
		}
		shapes, n := c.Longest()
		text := fmt.Sprint(strings.Join(shapes, " "), " ", n)
		if i > 0 && text != got {
			t.Errorf("%s: %q, and in another order %q", name, got, text)
		}
		got = text
	}
	return got
}

// TestChains holds along which paths redirects lead, where a crawler asks for other pages between them or within a second, and that redirects of
// pages that only have a name in common lead nowhere.
func TestChains(t *testing.T) {
	for _, c := range []struct {
		name  string
		paths []string // of a page; the last is not redirected
		step  int      // of pages between two paths of one
		want  string
	}{
		{"three", []string{"/tag/%d", "/topic/%d", "/topics/%d", "/topics/%d/"}, 0, "/tag/X /topic/X /topics/X /topics/X/ 300"},
		{"with others between", []string{"/tag/%d", "/topic/%d", "/topics/%d?page=2"}, 3, "/tag/X /topic/X /topics/X 191"},
		{"one", []string{"/old/%d", "/new/%d"}, 0, " 0"},
		{"from the root", []string{"/%d", "/blog/%d", "/blog/%d/"}, 0, "/X /blog/X /blog/X/ 200"},
		{"to many directories", []string{"/old/%d", "/new/%d", "/%[1]d/%[1]d"}, 0, "/old/X /new/X /…/X 200"},
		{"the same path", []string{"/old/%d", "/old/%d"}, 0, " 0"},
		{"long after", []string{"/old/%d", "/new/%d"}, 40, " 0"},
	} {
		var all trail
		for i := range 100 {
			for n, path := range c.paths {
				if page := i - n*c.step; page >= 0 {
					url := fmt.Sprintf(path, page)
					all.add(int64(bit(n == 0 || i%2 == 0)), url, 1, n < len(c.paths)-1) // every other page within a second
					all.add(0, "/", 1, false)
					all.add(0, url, 2, false)
					all.add(int64(bit(c.step > 0)), "/", 2, false)
				}
			}
		}
		if got := longest(t, all, c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSiblings holds that paths beside each other, which a crawler asks for before it follows the redirect of the first, are no chain.
func TestSiblings(t *testing.T) {
	for _, targets := range [][]string{{"de", "en", "fr"}, {"en", "fr", "de"}} {
		var all trail
		for page := range 100 {
			for _, language := range []string{"de", "en", "fr"} {
				all.add(1, fmt.Sprintf("/%s/%d", language, page), 1, true)
			}
			for _, language := range targets {
				all.add(1, fmt.Sprintf("/%s/%d/", language, page), 1, false)
			}
		}
		if got := longest(t, all, targets[0]); got != " 0" {
			t.Errorf("%s: %q", targets, got)
		}
	}
}

// TestManySteps holds that a chain is estimated among more requests than are remembered, whatever their order.
func TestManySteps(t *testing.T) {
	var all trail
	for i := range 3 * mostSteps {
		if i%20 == 0 {
			for n, path := range []string{"/a/", "/b/", "/c/"} {
				all.add(1, fmt.Sprint(path, i), 1, n < 2)
			}
		}
		all.add(1, fmt.Sprintf("/page/%d", i), 1, false)
	}
	var shapes string
	var n int
	if _, err := fmt.Sscanf(strings.ReplaceAll(longest(t, all, "many"), "X /", "X,/"), "%s %d", &shapes, &n); err != nil || shapes != "/a/X,/b/X,/c/X" || n < 3*mostSteps/10*9/10 || n > 3*mostSteps/10*11/10 {
		t.Errorf("%s: %d redirects, want some %d; %v", shapes, n, 3*mostSteps/10, err)
	}
}
