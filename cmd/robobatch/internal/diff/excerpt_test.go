package diff

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/cli"
)

// TestExcerpt checks that an excerpt shows the text that a rule matches, wherever it is in a long URL.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("/langer/ordner", 10)
	for _, test := range []struct{ url, rule, want string }{
		{"/short", "Disallow: /", "/short"},
		{long, "Disallow: /langer", "/langer/ordner/langer/ordner/langer/ord…"},
		{long + "/El_administrador", "Disallow: /*admin*", "/langer/ordne…er/ordner/El_administrador"},
		{long + "/El_administrador" + long, "Disallow: /*admin*", "/langer/ordne…/ordner/El_administrador/…"},
		{long + "/é.pdf", "Disallow: /*.pdf$", "/langer/ordne…ordner/langer/ordner/é.pdf"},
		{"https://a.example" + long + "x1y", "Disallow: /*x1", "https://a.exa…er/ordner/langer/ordnerx1y"},
		{long + "%61dmin", "Disallow: /*admin*", "/langer/ordner/langer/ordner/langer/ord…"},
		{long + strings.Repeat("x", 50), "Disallow: /*" + strings.Repeat("x", 40), "/langer/ordne…xxxxxxxxxxxxxxxxxxxxxxxxx…"},
		{strings.Repeat("/文書", 20) + "/admin", "Disallow: /*admin", "/文書/文書…書/文書/文書/admin"},
		{"://", "", "://"},
		{long, "", "/langer/ordner/langer/ordner/langer/ord…"},
	} {
		got := excerpt(test.url, test.rule, 40)
		if got != test.want || cli.Columns(got) > 40 {
			t.Errorf("excerpt(%q, %q) = %q, want %q", test.url, test.rule, got, test.want)
		}
	}
}

// FuzzExcerpt holds that any texts fit.
func FuzzExcerpt(f *testing.F) {
	f.Add("https://a/é/admin", "Disallow: /*admin*$", 9)
	f.Fuzz(func(t *testing.T, url, rule string, n int) {
		if n = max(1, n%200); utf8.ValidString(url) {
			if got := excerpt(url, rule, n); cli.Columns(got) > n {
				t.Errorf("%q has more than %d columns", got, n)
			}
		}
	})
}
