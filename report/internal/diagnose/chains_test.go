package diagnose

import (
	"fmt"
	"strings"
	"testing"
)

// TestChains holds along which paths redirects lead, where a crawler asks for other pages between them, and that redirects of pages that
// only have a name in common lead nowhere.
func TestChains(t *testing.T) {
	for _, c := range []struct {
		name  string
		paths []string // of a page; the last is not redirected
		step  int      // of pages between two paths of one
		want  string
	}{
		{"three", []string{"/tag/%d", "/topic/%d", "/topics/%d", "/topics/%d/"}, 1, "/tag/X /topic/X /topics/X /topics/X/ 300"},
		{"with others between", []string{"/tag/%d", "/topic/%d", "/topics/%d?page=2"}, 3, "/tag/X /topic/X /topics/X 191"},
		{"one", []string{"/old/%d", "/new/%d"}, 1, "/old/X /new/X 100"},
		{"from the root", []string{"/%d", "/blog/%d"}, 1, "/X /blog/X 100"},
		{"to many directories", []string{"/old/%d", "/new/%d", "/%[1]d/%[1]d"}, 1, "/old/X /new/X /…/X 200"},
		{"the same path", []string{"/old/%d", "/old/%d"}, 1, " 0"},
		{"long after", []string{"/old/%d", "/new/%d"}, 40, " 0"},
	} {
		var all Chains
		for i := range 100 {
			for n, path := range c.paths {
				page := i - n*c.step
				if c.step == 1 {
					page = i
				}
				if page < 0 {
					continue
				}
				if n > 0 && c.step > 8 {
					for range recentRows {
						all.AddAnswer(0, []byte("https://a.example/shop/"), 1, false)
					}
				}
				all.AddAnswer(0, fmt.Appendf(nil, "https://a.example"+path, page), 1, n < len(c.paths)-1)
				all.AddAnswer(0, []byte("https://a.example/"), 1, false)
				all.AddAnswer(0, fmt.Appendf(nil, "https://a.example"+path, page), 2, false)
			}
		}
		shapes, n := all.Longest()
		if got := fmt.Sprint(strings.Join(shapes, " "), " ", n); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSiblings holds that paths beside each other, which a crawler asks for before it follows the redirect of the first, are no chain.
func TestSiblings(t *testing.T) {
	for _, targets := range [][]string{{"de", "en", "fr"}, {"en", "fr", "de"}} {
		var all Chains
		for page := range 100 {
			for _, language := range []string{"de", "en", "fr"} {
				all.AddAnswer(0, fmt.Appendf(nil, "https://a.example/%s/%d", language, page), 1, true)
			}
			for _, language := range targets {
				all.AddAnswer(0, fmt.Appendf(nil, "https://a.example/%s/%d/", language, page), 1, false)
			}
		}
		if shapes, n := all.Longest(); n > 0 {
			t.Errorf("%s: %q, %d", targets, shapes, n)
		}
	}
}
