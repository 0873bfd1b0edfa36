package robots_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

func TestSplitURL(t *testing.T) {
	for _, c := range []struct{ raw, scheme, host, port, path string }{
		{"https://example.com/a?b#c", "https", "example.com", "", "/a?b"},
		{"http://h", "http", "h", "", ""},
		{"http://h:", "http", "h", "", ""},
		{"http://h?q/r", "http", "h", "", "?q/r"},
		{"http://h;p", "http", "h", "", ";p"},
		{"http://h#/x", "http", "h", "", ""},
		{"http://u:p@h:8080/", "http", "h", "8080", "/"},
		{"http://a@b@c/", "http", "c", "", "/"},
		{"http://[::1]", "http", "[::1]", "", ""},
		{"http://u@[::1]:80/x", "http", "[::1]", "80", "/x"},
		{"svn+ssh://h/x y ", "svn+ssh", "h", "", "/x y "},
		{"http://h//a/../b", "http", "h", "", "//a/../b"},
		{`http://h\x/y`, "http", `h\x`, "", "/y"},
		{"http://:::cnn.com/", "http", "::", "cnn.com", "/"},
	} {
		u, err := robots.SplitURL([]byte(c.raw))
		if err != nil {
			t.Errorf("SplitURL(%q): %v", c.raw, err)
			continue
		}
		if got := [4]string{string(u.Scheme), string(u.Host), string(u.Port), string(u.Path)}; got != [4]string{c.scheme, c.host, c.port, c.path} {
			t.Errorf("SplitURL(%q) = %q", c.raw, got)
		}
	}
	for raw, want := range map[string]error{
		"": robots.ErrNoScheme, "a.com/x": robots.ErrNoScheme, "//a.com/x": robots.ErrNoScheme, "/x": robots.ErrNoScheme,
		"http:/x": robots.ErrNoScheme, "http:x": robots.ErrNoScheme, "://h/": robots.ErrNoScheme, "1http://h/": robots.ErrNoScheme,
		" http://h/": robots.ErrNoScheme, "javascript:alert(1)": robots.ErrNoScheme, "http://": robots.ErrNoHost, "http": robots.ErrNoScheme,
		"http:///x": robots.ErrNoHost, "http://u@/x": robots.ErrNoHost, "http://:80/": robots.ErrNoHost, "http://#": robots.ErrNoHost,
	} {
		if _, err := robots.SplitURL([]byte(raw)); err != want { //nolint:errorlint // returned as it is, by contract
			t.Errorf("SplitURL(%q): %v, want %v", raw, err, want)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	long := strings.Repeat("a", 300) + ".com"
	for s, want := range map[string]robots.Origin{
		"HTTPS://EXAMPLE.com/":          "https://example.com",
		"https://example.com:443":       "https://example.com",
		"https://example.com:80":        "https://example.com:80",
		"ftp://h:21/robots.txt":         "ftp://h",
		"http://h:00080":                "http://h",
		"http://h:65535":                "http://h:65535",
		"gopher://H:70":                 "gopher://h:70",
		"http://example.com.":           "http://example.com",
		"http://example.com.:8080":      "http://example.com:8080",
		"http://a_b.ex--ample.com":      "http://a_b.ex--ample.com",
		"http://-a..b":                  "http://-a..b",
		"http://www.müller.eu":          "http://www.xn--mller-kva.eu",
		"http://WWW.MÜLLER.EU.":         "http://www.xn--mller-kva.eu",
		"http://WWW.XN--MLLER-KVA.eu":   "http://www.xn--mller-kva.eu",
		"http://faß.de":                 "http://xn--fa-hia.de",
		"http://例え。テスト":                 "http://xn--r8jz45g.xn--zckzah",
		"http://１２７.0.0.1":              "http://127.0.0.1",
		"http://a_b.müller.eu":          "http://a_b.xn--mller-kva.eu",
		"http://[::1]:8080":             "http://[::1]:8080",
		"http://[2001:DB8:0:0:0:0:0:1]": "http://[2001:db8::1]",
		"http://[::ffff:1.2.3.4]/":      "http://[::ffff:1.2.3.4]",
		"http://user:pw@127.0.0.1/":     "http://127.0.0.1",
		"http://" + long:                robots.Origin("http://" + long),
	} {
		got, err := robots.ParseOrigin(s)
		if err != nil || got != want {
			t.Errorf("ParseOrigin(%q) = %q, %v, want %q", s, got, err, want)
		}
	}
	for s, want := range map[string]error{
		"example.com":                        robots.ErrNoScheme,
		"http://":                            robots.ErrNoHost,
		"http://h/folder/robots.txt":         robots.ErrOriginPath,
		"http://h?x":                         robots.ErrOriginPath,
		"http://h:0":                         robots.ErrPort,
		"http://h:65536":                     robots.ErrPort,
		"http://h:99999999999999999999":      robots.ErrPort,
		"http://h:8o":                        robots.ErrPort,
		"http://h:+1":                        robots.ErrPort,
		"http://a b":                         robots.ErrHost,
		"http://a%41":                        robots.ErrHost,
		`http://a\b`:                         robots.ErrHost,
		`http://a\@b`:                        robots.ErrHost,
		`http://a\b@c:80`:                    robots.ErrHost,
		`http://a@b\@c`:                      robots.ErrHost,
		"http://.":                           robots.ErrHost,
		"http://a..":                         robots.ErrHost,
		"http://ü..":                         robots.ErrHost,
		"http://a:b:1":                       robots.ErrHost,
		"http://[::1":                        robots.ErrHost,
		"http://[::1]x":                      robots.ErrHost,
		"http://[1.2.3.4]":                   robots.ErrHost,
		"http://[fe80::1%25eth0]":            robots.ErrHost,
		"http://\ufffd.com":                  robots.ErrHost,
		"http://\xff.com":                    robots.ErrHost,
		"http://a／b.com":                     robots.ErrHost,
		"http://\u00ad":                      robots.ErrHost,
		"http://" + strings.Repeat("ü", 600): robots.ErrHost,
	} {
		_, err := robots.ParseOrigin(s)
		var oe *robots.OriginError
		if !errors.Is(err, want) || !errors.As(err, &oe) || oe.Text != s || !strings.Contains(err.Error(), "https://example.com") {
			t.Errorf("ParseOrigin(%q): %v, want %v", s, err, want)
		}
	}
}

// TestAppendOriginKeepsDst checks that AppendOrigin keeps the contents of dst, and returns dst after an error.
func TestAppendOriginKeepsDst(t *testing.T) {
	dst := []byte("before")
	if got, err := robots.AppendOrigin(dst, robots.URL{Scheme: []byte("http"), Host: []byte("a b")}); err == nil || string(got) != "before" {
		t.Errorf("AppendOrigin = %q, %v", got, err)
	}
	if got, err := robots.AppendOrigin(dst, robots.URL{Scheme: []byte("HTTP"), Host: []byte("H"), Port: []byte("80")}); err != nil || string(got) != "beforehttp://h" {
		t.Errorf("AppendOrigin = %q, %v", got, err)
	}
}

func FuzzSplitURL(f *testing.F) {
	for _, s := range []string{
		"https://example.com/a?b#c", "http://u:p@h:80;x", "http://[::1]:8080/", "http://www.müller.eu./", "ftp://h:21", "a://b://c/x",
		"http://:::cnn.com/", "http://a..", "http://%41/", "//a/b", "http://h\x00/\xff%zz%c3*$", "http://h/%%34%31", "http://xn--/",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, err := robots.SplitURL(raw)
		checkPaths(t, raw, u, err)
		if err != nil {
			return
		}
		origin, err := robots.AppendOrigin(nil, u)
		if err != nil {
			if err != robots.ErrHost && err != robots.ErrPort { //nolint:errorlint // returned as they are, by contract
				t.Errorf("AppendOrigin(%q): %v", raw, err)
			}
			return
		}
		if again, err := robots.ParseOrigin(string(origin)); err != nil || string(again) != string(origin) {
			t.Errorf("origin of %q is %q, whose origin is %q, %v", raw, origin, again, err)
		}
	})
}
