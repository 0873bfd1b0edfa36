package robots_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

var allDialects = []robots.Dialect{robots.Google, robots.RFC9309, robots.Google | robots.URLAsIs, robots.RFC9309 | robots.URLAsIs, robots.Google2010, robots.Yandex, 0}

// The bytes of a literal "*" and "$" in the normal form of rfc9309.
const star, dollar = "\xaa", "\xa4"

func TestPath(t *testing.T) {
	for _, c := range []struct{ raw, google, rfc9309, asIs string }{
		{"", "/", "/", "/"},
		{"?x", "/?x", "/?x", "/?x"},
		{";x", "/;x", "/;x", "/;x"},
		{"/a b", "/a%20b", "/a%20b", "/a b"},
		{"?é", "/?%C3%A9", "/?%C3%A9", "/?é"},
		{"/%c3%A9%", "/%C3%A9%", "/%C3%A9%", "/%c3%A9%"},
		{"/%7e%2f%3F", "/%7E%2F%3F", "/~%2F%3F", "/%7e%2f%3F"},
		{"/*$%2a%24", "/*$%2A%24", "/" + star + dollar + star + dollar, "/*$%2a%24"},
		{"/\t\"<>\\^`{|}\x7f", "/\t\"<>\\^`{|}\x7f", "/%09%22%3C%3E%5C%5E%60%7B%7C%7D%7F", "/\t\"<>\\^`{|}\x7f"},
		{"//a/./../b;p?[x]=1&y='z'!(~)", "//a/./../b;p?[x]=1&y='z'!(~)", "//a/./../b;p?[x]=1&y='z'!(~)", "//a/./../b;p?[x]=1&y='z'!(~)"},
		{"/aaaaaaaaaaaaaaa%", "/aaaaaaaaaaaaaaa%", "/aaaaaaaaaaaaaaa%", "/aaaaaaaaaaaaaaa%"},
		{"/%%41", "/%%41", "/%A", "/%%41"},
	} {
		for d, want := range map[robots.Dialect]string{robots.Google: c.google, robots.RFC9309: c.rfc9309, robots.Google | robots.URLAsIs: c.asIs} {
			if got, _ := d.Path([]byte(c.raw), nil); string(got) != want {
				t.Errorf("%v.Path(%q) = %q, want %q", d, c.raw, got, want)
			}
		}
	}
}

// TestPathReturnsRaw checks that a path in normal form is not copied, and that buf is reused for others.
func TestPathReturnsRaw(t *testing.T) {
	raw, buf := []byte("/a/b?c=%C3%A9&d"), make([]byte, 0, 64)
	for _, d := range allDialects {
		if path, newbuf := d.Path(raw, buf); &path[0] != &raw[0] || cap(newbuf) != cap(buf) {
			t.Errorf("%v.Path copied %q", d, raw)
		}
	}
	if path, newbuf := robots.Google.Path([]byte("/é"), buf); &path[0] != &buf[:1][0] || &newbuf[0] != &path[0] {
		t.Error("Path did not build in buf")
	}
	for text, want := range map[string]bool{"/a/b?c=d&e": true, "/~a": true, "": false, "a": false, "/*": false, "/%C3%A9": false, "/é": false} {
		if robots.IsPlain([]byte(text)) != want {
			t.Errorf("IsPlain(%q) is not %t", text, want)
		}
	}
}

func TestPatternForms(t *testing.T) {
	for _, c := range []struct{ value, google, rfc9309 string }{
		{"/a*b$", "/a*b$", "/a*b$"},
		{"/a$b$", "/a$b$", "/a" + dollar + "b$"},
		{"/$$", "/$$", "/" + dollar + "$"},
		{"$", "$", "$"},
		{"/%2a%24", "/%2A%24", "/" + star + dollar},
		{"/%61 b", "/%61 b", "/a%20b"},
		{"/é$", "/%C3%A9$", "/%C3%A9$"},
		{"/%2f$x", "/%2F$x", "/%2F" + dollar + "x"},
	} {
		for d, want := range map[robots.Dialect]string{robots.Google: c.google, robots.RFC9309: c.rfc9309} {
			if got := robots.PatternOf(c.value, d); got != want {
				t.Errorf("%v: pattern of %q is %q, want %q", d, c.value, got, want)
			}
		}
	}
}

// checkPaths compares the path of a URL in all dialects with slowPath, and SplitURL with the definition of
// google/robotstxt.
func checkPaths(t *testing.T, raw []byte, u robots.URL, splitErr error) {
	t.Helper()
	part := repcase.PathOf(raw)
	if splitErr == nil && !bytes.Equal(part, u.Path) {
		t.Errorf("path of %q is %q, google/robotstxt's is %q", raw, u.Path, part)
	}
	for _, d := range allDialects {
		before := bytes.Clone(part)
		got, _ := d.Path(part, nil)
		if want := slowPath(string(part), d); string(got) != want {
			t.Errorf("%v.Path(%q) = %q, want %q", d, part, got, want)
		}
		if robots.IsPlain(part) && (len(got) != len(part) || &got[0] != &part[0]) {
			t.Errorf("%v: %q is not plain", d, part)
		}
		if readable := d.ReadablePath(got); !d.Has(robots.URLAsIs) && strings.Contains(readable, star) {
			t.Errorf("%v: the path of %q reads %q", d, part, readable)
		} else if again, _ := (d | robots.URLAsIs).Path([]byte(readable), nil); !bytes.Equal(again, got) {
			t.Errorf("%v: the path of %q reads %q, whose path is %q and not %q", d, part, readable, again, got)
		} else if d.Has(robots.URLAsIs) && strings.TrimPrefix(readable, "/") != strings.TrimPrefix(string(part), "/") {
			t.Errorf("%v: %q as it is reads %q", d, part, readable)
		}
		if behind, _ := d.Path(append(bytes.Clone(part), "#%2f#"...), nil); !bytes.Equal(behind, got) {
			t.Errorf("%v.Path(%q) with a fragment = %q, without %q", d, part, behind, got)
		}
		if !bytes.Equal(before, part) {
			t.Errorf("%v.Path changed %q", d, before)
		}
	}
}

// slowPath normalises escape by escape with net/url.
func slowPath(raw string, d robots.Dialect) string {
	if !strings.HasPrefix(raw, "/") {
		raw = "/" + raw
	}
	if d.Has(robots.URLAsIs | robots.FullEscapes) {
		return strings.NewReplacer("*", star, star, "*", "$", dollar, dollar, "$").Replace(raw)
	} else if d.Has(robots.URLAsIs) {
		return raw
	}
	encoded := " "
	if d.Has(robots.FullEscapes) {
		encoded = " \"<>\\^`{|}\x7f"
	}
	var b strings.Builder
	for raw != "" {
		n := 1
		c := raw[0]
		if len(raw) >= 3 {
			if s, err := url.PathUnescape(raw[:3]); err == nil && len(s) == 1 {
				n, c = 3, s[0]
			}
		}
		escaped := n == 3
		unreserved := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) >= 0
		switch {
		case c == '*' && d.Has(robots.FullEscapes):
			b.WriteString(star)
		case c == '$' && d.Has(robots.FullEscapes):
			b.WriteString(dollar)
		case escaped && d.Has(robots.FullEscapes) && unreserved:
			b.WriteByte(c)
		case escaped, c >= 0x80, strings.IndexByte(encoded, c) >= 0, d.Has(robots.FullEscapes) && c < ' ':
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
		raw = raw[n:]
	}
	return b.String()
}

// TestHotPathAllocs checks that the functions that run once per URL do not allocate.
func TestHotPathAllocs(t *testing.T) {
	urls := [][]byte{
		[]byte("https://user@WWW.Example.com.:8443/some/path?with=a&query#fragment"), []byte("http://example.com/%7euser/é *$"), []byte("no url"),
		[]byte("http://bad host/"), []byte("http://h:99999/"),
	}
	origin, buf := make([]byte, 0, 256), make([]byte, 0, 256)
	origins := map[robots.Origin]int{"https://www.example.com:8443": 1}
	for _, d := range allDialects {
		allocs := testing.AllocsPerRun(100, func() {
			for _, raw := range urls {
				u, err := robots.SplitURL(raw)
				if err != nil {
					continue
				}
				if origin, err = robots.AppendOrigin(origin[:0], u); err == nil {
					_ = origins[robots.Origin(origin)]
				}
				var path []byte
				path, buf = d.Path(u.Path, buf)
				_ = d.AlwaysAllowed(path)
			}
		})
		if allocs != 0 {
			t.Errorf("%v: %v allocations", d, allocs)
		}
	}
}
