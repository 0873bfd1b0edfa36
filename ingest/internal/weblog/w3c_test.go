package weblog

import (
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestCloudFrontAgent checks how often the User-Agent of CloudFront is decoded.
func TestCloudFrontAgent(t *testing.T) {
	for field, want := range map[string]string{
		"Mozilla/5.0%2520(compatible;%2520Googlebot/2.1)": "Mozilla/5.0 (compatible; Googlebot/2.1)", // until about 2019
		"Mozilla/5.0%20(compatible;%20Googlebot/2.1)":     "Mozilla/5.0 (compatible; Googlebot/2.1)",
		"The%2520App/1%20CFNetwork/1":                     "The%20App/1 CFNetwork/1", // the client has sent %20
		"The%252520App/1%2520CFNetwork/1":                 "The%20App/1 CFNetwork/1",
		"100%25":                                          "100%", "100%25%20sure": "100% sure", "curl/8": "curl/8", "a%2": "a%2", "-": "",
	} {
		w := newW3C(Options{Agents: true, Base: "https://a.example", Keep: []string{NameAgent}}, percentCode)
		var r Row
		w.Parse([]byte("#Fields: x-edge-location cs-uri-stem cs(User-Agent)"), &r)
		if result := w.Parse([]byte("FRA2\t/x\t"+field), &r); result != IsRow || string(r.Agent) != want || string(r.Fields[0]) != want {
			t.Errorf("%s: %v, %q, kept %q; want %q", field, result, r.Agent, r.Fields, want)
		}
	}
	iis := newW3C(Options{Agents: true, Base: "https://a.example"}, plusCode)
	var r Row
	iis.Parse([]byte("#Fields: cs-uri-stem cs(User-Agent)"), &r)
	if iis.Parse([]byte("/x a%2520b+c;++d"), &r) != IsRow || string(r.Agent) != "a%2520b c; +d" {
		t.Errorf("IIS: %q", r.Agent)
	}
}

// TestW3CPort checks that the port of a server determines the scheme, except for rows of the named site.
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
		w := newW3C(Options{Base: test.base}, plusCode)
		var r Row
		w.Parse([]byte("#Fields: "+test.fields), &r)
		if result := w.Parse([]byte(test.row), &r); result != IsRow || string(r.AppendURL(nil)) != test.url {
			t.Errorf("%q of %s at %q: %v, %s; want %s", test.row, test.fields, test.base, result, r.AppendURL(nil), test.url)
		}
	}
}

// TestW3CQuotes checks that quoted fields may have spaces and quotes, and that other quotes have no meaning.
func TestW3CQuotes(t *testing.T) {
	for _, test := range []struct {
		line   string
		result Result
		url    string
		fields string // the User-Agent, and x
	}{
		{`/a "Mozilla/5.0 (a; b+c)" -`, IsRow, "/a", "Mozilla/5.0 (a; b+c)|"},
		{`"/a" "bot+1" "say ""x"""`, IsRow, "/a", `bot 1|say "x"`},
		{`/a "bot/1" c`, IsRow, "/a", "bot/1|c"},
		{"/a\t\"a b\"\t\"c\td\"", IsRow, "/a", "a b|c\td"},
		{`/a - "c d"`, IsRow, "/a", "|c d"},
		{`"/a" "" ""`, IsRow, "/a", "|"},
		{`/a "bot x`, IsRow, "/a", `"bot|x`},
		{`/a "bot"x y`, IsRow, "/a", `"bot"x|y`},
		{`/a bot" y`, IsRow, "/a", `bot"|y`},
		{`/a "b c" d e`, RefusedFields, "", ""},
		{`/a "b c d e`, RefusedFields, "", ""},
		{`/a "b c"`, IsRow, "/a", `"b|c"`},
		{`"/a" "b" `, IsRow, "/a", "b|"},
	} {
		w := newW3C(Options{Agents: true, Base: "https://a.example", Keep: []string{"x"}}, plusCode)
		var r Row
		w.Parse([]byte("#Fields: cs-uri-stem cs(User-Agent) x"), &r)
		result := w.Parse([]byte(test.line), &r)
		if result != test.result {
			t.Errorf("%s: %v, want %v", test.line, result, test.result)
		} else if result == IsRow {
			if got := string(r.Agent) + "|" + string(r.Fields[0]); string(r.AppendURL(nil)) != "https://a.example"+test.url || got != test.fields {
				t.Errorf("%s: %s, %q; want %s, %q", test.line, r.AppendURL(nil), got, test.url, test.fields)
			}
		}
	}
}
