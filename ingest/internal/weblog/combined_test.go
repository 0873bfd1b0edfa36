package weblog

import (
	"bytes"
	"errors"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestCombinedFront reads hosts and addresses at the start of a line, with and without quotes.
func TestCombinedFront(t *testing.T) {
	for _, test := range []struct {
		base         robots.Origin
		front        string
		host, client string // without a host, the log has no site
		address      bool
	}{
		{"https://www.example.com", `"203.0.113.9, 10.0.0.2" 148.251.1.1 - anna`, "www.example.com", "203.0.113.9", false},
		{"https://www.example.com", `"203.0.113.9,10.0.0.2, 10.0.0.3" 148.251.1.1 - anna`, "www.example.com", "203.0.113.9", false},
		{"https://www.example.com", `"unknown, 10.0.0.2" 148.251.1.1 - anna`, "www.example.com", "unknown", false},
		{"https://www.example.com", `"203.0.113.9, 10.0.0.2" - anna`, "www.example.com", "203.0.113.9", false},
		{"https://www.example.com", `"203.0.113.9" 148.251.1.1 - anna`, "www.example.com", "203.0.113.9", false},
		{"https://www.example.com", `"-" 148.251.1.1 - anna`, "www.example.com", "148.251.1.1", false},
		{"https://www.example.com", `"" 148.251.1.1 - anna`, "www.example.com", "148.251.1.1", false},
		{"https://www.example.com", `"shop.example" 148.251.1.1 - anna`, "shop.example", "148.251.1.1", false},
		{"", `"203.0.113.9" 148.251.1.1 - anna`, "203.0.113.9", "148.251.1.1", true},
		{"", `"203.0.113.9, 10.0.0.2" 148.251.1.1 - anna`, "", "", false},
		{"", `shop.example "203.0.113.9, 10.0.0.2" - anna`, "shop.example", "203.0.113.9", false},
		{"", `shop.example "-" - anna`, "shop.example", "", false},
		{"", `shop.example 203.0.113.9, 10.0.0.2 - anna`, "shop.example", "203.0.113.9", false},
		{"", `shop.example localhost, localhost - anna`, "shop.example", "localhost", false},
		{"", `shop.example:443 - - anna`, "shop.example:443", "", false},
		{"", `203.0.113.9 shop.example anna`, "shop.example", "203.0.113.9", false},
		{"https://www.example.com", `203.0.113.9 192.0.2.1 anna`, "www.example.com", "203.0.113.9", false}, // an ident
		{"", `intranet - - anna`, "intranet", "", false},
	} {
		c, err := New(Combined, Options{Base: test.base, Keep: []string{NameClient, NameUser, NameHost}})
		if err != nil {
			t.Fatal(err)
		}
		line := []byte(test.front + ` [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 512`)
		if !combinedFormat.isLine(line, signsOf(line)) {
			t.Errorf("%s: not recognised", line)
		}
		var r Row
		result := c.Parse(line, &r)
		switch {
		case test.host == "":
			if result != Failed || !errors.Is(c.Err(), ErrNoBase) {
				t.Errorf("%s: %v, %v", line, result, c.Err())
			}
		case result != IsRow || string(r.Host) != test.host || string(r.Fields[0]) != test.client || string(r.Fields[1]) != "anna" || r.Address != test.address:
			t.Errorf("%s: %v, host %q, fields %q, address %t", line, result, r.Host, r.Fields, r.Address)
		case test.client != "" && bytes.HasPrefix(r.Fields[2], []byte(test.client)):
			t.Errorf("%s: host %q, which is the client's address", line, r.Fields[2])
		}
	}
}

// TestCombinedCutOff checks that a line that ends within the referer or the User-Agent is a row, also if these are not
// requested.
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

// TestCombinedOther checks that fields before malformed ones are kept.
func TestCombinedOther(t *testing.T) {
	p, err := New(Combined, Options{Base: "https://example.com", Agents: true, Keep: []string{NameBytes, NameReferer}})
	if err != nil {
		t.Fatal(err)
	}
	for rest, want := range map[string]string{ // bytes referer agent
		`512`:                   "512||",
		`512 `:                  "512||",
		`512 0.005`:             "512||",
		`512 - -`:               "512||",
		`512 0.005 "-" "bot"`:   "512||",
		`512 "r"`:               "512|r|",
		`512 "r" bot`:           "512|r|",
		`512 "r"  "bot"`:        "512|r|",
		`512 "r" - "192.0.2.9"`: "512|r|",
		`512 "r" x" "bot"`:      `512|r" x|bot`,
		`512 "r" "bot" 0.005`:   "512|r|bot",
	} {
		var r Row
		line := `192.0.2.1 - - [31/Jan/2026:18:00:03 +0100] "GET /a HTTP/1.1" 200 ` + rest
		if result := p.Parse([]byte(line), &r); result != IsRow {
			t.Errorf("%s: %v", rest, result)
		} else if got := string(r.Fields[0]) + "|" + string(r.Fields[1]) + "|" + string(r.Agent); got != want {
			t.Errorf("%s: %s, want %s", rest, got, want)
		}
	}
}
