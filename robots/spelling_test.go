package robots_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/robobatch/robobatch/robots"
)

// FuzzOrigin writes the same scheme, host and port in different ways, which must all have the same origin, also if they
// are parsed again.
func FuzzOrigin(f *testing.F) {
	for _, seed := range [][3]string{
		{"https", "example.com", ""},
		{"http", "EXAMPLE.com.", "80"},
		{"ftp", "a_b--c.example", "21"},
		{"https", "[2001:db8::1]", "8443"},
		{"http", "www.müller.eu", "8080"},
		{"https", "ＥＸＡＭＰＬＥ。com", ""},
		{"https", "xn--mller-kva.eu", "443"},
		{"gopher", "1.2.3.4", "70"},
		{"http", "ß.example", "080"},
		{"https", "日本語.jp", "443"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, scheme, host, port string) {
		if strings.ContainsAny(port, "@:/?;#]") || strings.ContainsAny(host, "@/?;#") || strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
			return // it contains other parts of a URL
		}
		url := scheme + "://" + host
		if port != "" {
			url += ":" + port
		}
		origin, err := robots.ParseOrigin(url)
		if err != nil {
			return
		}
		for _, other := range spellings(url, string(origin)) {
			if got, err := robots.ParseOrigin(other); err != nil || got != origin {
				t.Errorf("%q gives %q, %v; %q gives %q", other, got, err, url, origin)
			}
		}
	})
}

// spellings returns other ways to write the URL of an origin.
func spellings(url, origin string) []string {
	scheme, rest, _ := strings.Cut(origin, "://")
	host, port := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		host, port = rest[:i], rest[i:]
	}
	all := []string{
		origin, url + "/", url + "/robots.txt", url + "/#fragment",
		string(bytes.ToUpper([]byte(origin))),
		scheme + "://user:pa:ss@" + rest, scheme + "://@" + rest,
	}
	if !strings.HasPrefix(host, "[") {
		all = append(all, scheme+"://"+host+"."+port)
	}
	if port == "" {
		all = append(all, origin+":")
		if number, ok := map[string]string{"http": "80", "https": "443", "ftp": "21"}[scheme]; ok {
			all = append(all, origin+":"+number, origin+":0"+number)
		}
	}
	if name, err := idna.Punycode.ToUnicode(host); err == nil && name != host && isRoundTrip(name, host) {
		all = append(all, scheme+"://"+name+port)
	}
	return all
}

// isRoundTrip reports whether UTS 46 converts a Punycode name to a name beyond ASCII and back. Not every text like xn--
// encodes a valid name; an origin keeps the others as they are.
func isRoundTrip(name, punycode string) bool {
	back, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.StrictDomainName(false),
		idna.CheckHyphens(false)).ToASCII(name)
	return err == nil && back == punycode && len(name) <= 1012
}
