package engine

import (
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestIsTxt compares IsTxt with the path of the split URL.
func TestIsTxt(t *testing.T) {
	b, named := new(Batch), 0
	for _, start := range []string{"", "https://a.example", "ftp://a", "https://a.example/dir", "https://a.example?", "https://a.example#", "long-scheme://u:p@a:8/", "https:///", "/", " https://a"} {
		for _, end := range []string{"/robots.txt", "/robots.tx", "/robots.txtx", "robots.txt", ""} {
			for _, rest := range []string{"", "?", "?a#b", "#", "#a?b", "?/robots.txt", "#/robots.txt", ";a"} {
				b.AddURL([]byte(start+end+rest), 1)
			}
		}
	}
	for i := range b.Len() {
		u, err := robots.SplitURL(b.URL(i))
		want := err == nil && robots.IsTxt(u.Path)
		if got := b.IsTxt(i); got != want {
			t.Errorf("%q: %t, want %t", b.URL(i), got, want)
		}
		if want {
			named++
		}
	}
	if named == 0 {
		t.Error("no URL names a robots.txt")
	}
}
