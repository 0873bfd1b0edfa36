package rulefiles

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

func TestParseName(t *testing.T) {
	both := func(rest string) string { return "http://" + rest + " https://" + rest }
	cases := []struct {
		dir, base string
		want      string // origins, with "=" before exact ones
		err       error
	}{
		// <scheme>_<host>[_<port>].txt
		{"", "https_example.com.txt", "=https://example.com", nil},
		{"x", "https_example.com.txt", "=https://example.com", nil},
		{"", "http_example.com_8080.txt", "=http://example.com:8080", nil},
		{"", "https_[::1]_8080.txt", "=https://[::1]:8080", nil},
		{"", "https_[0:0::1].txt", "=https://[::1]", nil},
		{"", "ftp_example.com.txt", "=ftp://example.com", nil},
		{"", "gopher_t.test.txt", "=gopher://t.test", nil},
		{"", "sftp_t.test_2222.txt", "=sftp://t.test:2222", nil},
		{"", "wss_t.txt", "=wss://t", nil},
		{"", "coap+tcp_t.test.txt", "=coap+tcp://t.test", nil},
		{"", "my_t.test.txt", "http://my_t.test https://my_t.test", nil},
		{"", "https_EXAMPLE.com..txt", "=https://example.com", nil},
		{"", "https_example.com_443.txt", "=https://example.com", nil},
		{"", "http_example.com_443.txt", "=http://example.com:443", nil},
		{"", "https_www.müller.eu.txt", "=https://www.xn--mller-kva.eu", nil},
		{"", "https_my_host.example.com.txt", "=https://my_host.example.com", nil},
		{"", "https_a_1_b.example_81.txt", "=https://a_1_b.example:81", nil},
		{"", "https_intranet.txt", "=https://intranet", nil},
		{"", "https_intranet_81.txt", "=https://intranet:81", nil},
		{"", "https_127.0.0.1_81.txt", "=https://127.0.0.1:81", nil},
		{"", "https_robots.txt", "=https://robots", nil},

		// <host>[_<port>].txt
		{"", "example.com.txt", both("example.com"), nil},
		{"", "example.com_8080.txt", both("example.com:8080"), nil},
		{"", "example.com_443.txt", "http://example.com:443 https://example.com", nil},
		{"", "my_host.example.com.txt", both("my_host.example.com"), nil},
		{"", "localhost.txt", both("localhost"), nil},
		{"", "LocalHost_81.txt", both("localhost:81"), nil},
		{"", "127.0.0.1.txt", both("127.0.0.1"), nil},
		{"", "[::1]_8080.txt", both("[::1]:8080"), nil},
		{"", "httpx_example.com.txt", both("httpx_example.com"), nil},

		// <host>[_<port>]/robots.txt
		{"example.com", "robots.txt", both("example.com"), nil},
		{"example.com_8080", "robots.txt", both("example.com:8080"), nil},
		{"localhost", "robots.txt", both("localhost"), nil},
		{"example.com.", "robots.txt", both("example.com"), nil},

		// Names that are rejected.
		{"", "robots.txt", "", errNoHostDir},
		{"rules", "robots.txt", "", errBareHost},
		{"https_example.com", "Robots.txt", "", errBareHost},
		{"", "README.txt", "", errBareHost},
		{"", "README..txt", "", errBareHost},
		{"", ".txt", "", errBareHost},
		{"", "..txt", "", errBareHost},
		{"", "_8080.txt", "", errBareHost},
		{"", "README", "", errNotNamed},
		{"", "example.com", "", errNotNamed},
		{"", "example.com.TXT", "", errNotNamed},
		{"", "example.com.txt.gz", "", errNotNamed},
		{"", "example.com.json", "", errNotNamed},
		{"", "https_.txt", "", errEmptyLabel},
		{"", "https__80.txt", "", errEmptyLabel},
		{"", "https_...txt", "", errEmptyLabel},
		{"", "https_a..b.txt", "", errEmptyLabel},
		{"", ".example.com.txt", "", errEmptyLabel},
		{"..", "robots.txt", "", errEmptyLabel},
		{"", "https_example.com:8080.txt", "", errHostBytes},
		{"", "https_user@example.com.txt", "", errHostBytes},
		{"", "example.com;x.txt", "", errHostBytes},
		{"", "example.com#x.txt", "", errHostBytes},
		{"", "example.com?x.txt", "", errHostBytes},
		{"", "example.com%2f.txt", "", errHostBytes},
		{"", "example.com\\x.txt", "", errHostBytes},
		{"", "example.com\n.txt", "", errHostBytes},
		{"", "example.com\x00.txt", "", errHostBytes},
		{"", "release notes 1.2.txt", "", errHostBytes},
		{"", "https_example.com_0.txt", "", robots.ErrPort},
		{"", "https_example.com_65536.txt", "", robots.ErrPort},
		{"", "https_ex(ample.com.txt", "", robots.ErrHost},
		{"", "https_\xff.com.txt", "", robots.ErrHost},
		{"", "https_[::1.txt", "", robots.ErrHost},
		{"", "https_[::1]x.txt", "", robots.ErrHost},
		{"", "https_[1.2.3.4].txt", "", robots.ErrHost},
	}
	for _, c := range cases {
		got, err := parseName(c.dir, c.base)
		if !errors.Is(err, c.err) || err != nil && c.err == nil {
			t.Errorf("parseName(%q, %q): err = %v, want %v", c.dir, c.base, err, c.err)
			continue
		}
		if err != nil {
			continue
		}
		var parts []string
		for _, o := range got.origins {
			parts = append(parts, string(o))
		}
		s := strings.Join(parts, " ")
		if got.exact {
			s = "=" + s
		}
		if s != c.want {
			t.Errorf("parseName(%q, %q) = %s, want %s", c.dir, c.base, s, c.want)
		}
	}
}

// TestUnclearNames checks which names seem to begin with an unknown scheme.
func TestUnclearNames(t *testing.T) {
	for stem, want := range map[string]bool{
		"gopherx_t.test": true, "x-y_example.com": true, "Foo_b.example.com": true, "x+y_example.com": false, "Foo_localhost": false,
		"gopher_t.test": false, "example.com": false, "www.my_shop.example": false, "my_shop": false,
		"_dmarc.example.com": false, "9_example.com": false, "example.com_8080": false, "a~b_example.com": false,
	} {
		c, err := parseName("", stem+".txt")
		if (err == nil && c.unclear) != want {
			t.Errorf("%s: unclear is %v (%v), want %v", stem, c.unclear, err, want)
		}
	}
}

// FuzzParseName checks that every accepted name has valid origins, and that everything except scheme and port is the
// host.
func FuzzParseName(f *testing.F) {
	for _, name := range []string{"https_example.com_8080.txt", "[::1].txt", "müller.eu.txt", "a@b.c.txt", "..txt", "x_1_2.y_3.txt"} {
		f.Add("", name)
		f.Add(strings.TrimSuffix(name, ".txt"), "robots.txt")
	}
	f.Fuzz(func(t *testing.T, dir, base string) {
		c, err := parseName(dir, base)
		if err != nil {
			return
		}
		if want := map[bool]int{true: 1, false: 2}[c.exact]; len(c.origins) != want {
			t.Fatalf("%d origins, want %d", len(c.origins), want)
		}
		for _, o := range c.origins {
			if again, err := robots.ParseOrigin(string(o)); err != nil || again != o {
				t.Errorf("origin %q parses to %q, %v", o, again, err)
			}
			u, err := robots.SplitURL([]byte(o))
			if err != nil || len(u.Path) > 0 {
				t.Errorf("origin %q splits into %v, %v", o, u, err)
			}
			if !slices.Contains(schemes, string(u.Scheme)) {
				t.Errorf("origin %q has another scheme", o)
			}
			if ascii := strings.ToLower(dir + base); isASCII(ascii) && u.Host[0] != '[' && !strings.Contains(ascii, string(u.Host)) {
				t.Errorf("host %q is not in %q", u.Host, ascii)
			}
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}
