package weblog

import (
	"testing"
)

// TestCombinedCutOff holds that a line that ends within the referer or the user agent gives a row,
// as it does where these are not asked for.
func TestCombinedCutOff(t *testing.T) {
	const line = `192.0.2.1 - - [31/Jan/2026:18:00:03 +0100] "GET /a HTTP/1.1" 200 12 "https://ref.example/" "Mozilla/5.0 (compatible; GPTBot"`
	for cut := len(line); cut > len(line)-60; cut-- {
		p, err := New(Combined, Options{Base: "https://example.com", Agents: true, Keep: []string{NameStatus, NameReferer}})
		if err != nil {
			t.Fatal(err)
		}
		var r Row
		if result := p.Parse([]byte(line[:cut]), &r); result != IsRow {
			t.Fatalf("%s: %s", line[:cut], result)
		}
		whole := cut == len(line)
		if string(r.Fields[0]) != "200" || (r.Agent != nil) != whole {
			t.Errorf("%s: status %q, user agent %q", line[:cut], r.Fields[0], r.Agent)
		}
	}
}
