package weblog

import (
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestJSONPort checks that the port of a host determines the scheme, except for rows of the named site.
func TestJSONPort(t *testing.T) {
	for _, test := range []struct {
		base      robots.Origin
		line, url string
	}{
		{"https://a.example", `{"url":"/x","host":"a.example:80"}`, "https://a.example/x"},
		{"https://a.example", `{"url":"/x","host":"b.example:80"}`, "http://b.example/x"},
		{"http://a.example", `{"url":"/x","host":"a.example:80","scheme":"https"}`, "https://a.example:80/x"},
		{"", `{"url":"/x","host":"a.example:443"}`, "https://a.example/x"},
		{"", `{"url":"/x?\x22\x5C\u0022","host":"a.example"}`, `https://a.example/x?"\"`}, // nginx without escape=json
	} {
		j := newJSON(Options{Base: test.base})
		var r Row
		if result := j.Parse([]byte(test.line), &r); result != IsRow || string(r.AppendURL(nil)) != test.url {
			t.Errorf("%s at %q: %v, %s; want %s", test.line, test.base, result, r.AppendURL(nil), test.url)
		}
	}
}

// TestElsewhere checks that rows with another host than -base are counted, unless the log has a whole URL of that host.
func TestElsewhere(t *testing.T) {
	j := newJSON(Options{Base: "https://a.example"})
	var got []bool
	for _, url := range []string{"http://b.example/x", "https://b.example", "https://a.example.b.example/", "https://A.example:443?x", "http://b.example/"} {
		var r Row
		j.Parse([]byte(`{"url":"`+url+`"}`), &r)
		got = append(got, r.Elsewhere)
	}
	if want := []bool{true, true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestIsWrapped distinguishes the JSON of Docker from logs that also have a field called log.
func TestIsWrapped(t *testing.T) {
	const docker = `{"log":"127.0.0.1 - -\n","stream":"stdout"}`
	for text, want := range map[string]bool{
		docker: true, docker + "\n" + docker: true, docker + "\n{}": false, docker + "\nhttps://a.example/": false,
		`{"log":"done","url":"https://a.example/"}`: false, `{"log":""}`: false, `{"log":{"url":"/x"}}`: false, `{"msg":"x"}`: false,
	} {
		var lines [][]byte
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, []byte(line))
		}
		if got := IsWrapped(lines, Options{}); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
		if IsWrapped(lines, Options{Named: map[string]string{"url": "log"}}) {
			t.Errorf("%s: wrapped, though the field is named", text)
		}
	}
}

// TestJSONFields lists the fields of lines, including those in key-value lists.
func TestJSONFields(t *testing.T) {
	for line, want := range map[string]string{
		`{"event_name":"x","event_params":[{"key":"page","value":{"string_value":"https://a.example/"}},{"key":"n","value":{"int_value":"1"}}],"t":{"l":["/a","b c"]}}`: "these look like URLs: event_params.page, t.l.0, and these do not: event_name, event_params.n, t.l.1",
		`{"a":{"b":null},"c":[]}`:                                "none looks like a URL: a.b",
		`com,example)/ 20260131180000 {"u":"http://a.example/"}`: "these look like URLs: u",
		`no object`: "none looks like a URL: ",
	} {
		if got := JSONFields([]byte(line)).String(); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
