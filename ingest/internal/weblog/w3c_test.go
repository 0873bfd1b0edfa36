package weblog

import (
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestW3CPort holds that the port of a server tells the scheme, but for rows of the site that is named.
func TestW3CPort(t *testing.T) {
	for _, test := range []struct {
		base             robots.Origin
		fields, row, url string
	}{
		{"https://a.example", "cs-uri-stem s-port", "/x 80", "https://a.example/x"},
		{"http://a.example", "cs-uri-stem s-port", "/x 443", "http://a.example/x"},
		{"https://a.example", "cs-uri-stem s-port cs-host", "/x 80 -", "https://a.example/x"},
		{"https://a.example", "cs-uri-stem s-port cs-host", "/x 80 A.example", "https://a.example/x"},
		{"https://a.example", "cs-uri-stem s-port cs-host", "/x 80 b.example", "http://b.example/x"},
		{"http://a.example", "cs-uri-stem s-port cs-host", "/x 443 b.example", "https://b.example/x"},
		{"https://a.example", "cs-uri-stem s-port cs-host", "/x 8080 b.example", "https://b.example/x"},
		{"", "cs-uri-stem s-port cs-host", "/x 80 b.example", "http://b.example/x"},
		{"https://a.example", "cs-uri-stem s-port x-forwarded-proto", "/x 443 http", "http://a.example/x"},
	} {
		w := newW3C(Options{Base: test.base}, false)
		var r Row
		w.Parse([]byte("#Fields: "+test.fields), &r)
		if result := w.Parse([]byte(test.row), &r); result != IsRow || string(r.AppendURL(nil)) != test.url {
			t.Errorf("%q of %s at %q: %v, %s; want %s", test.row, test.fields, test.base, result, r.AppendURL(nil), test.url)
		}
	}
}
