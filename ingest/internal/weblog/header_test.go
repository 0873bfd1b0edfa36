package weblog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestReorderedHeader reads concatenated tables whose columns are in different orders, and compares the fields by name.
func TestReorderedHeader(t *testing.T) {
	const first = "url,referer,status\nhttps://a.example/1,https://r.example/1,201\n"
	for _, test := range []struct{ name, behind, joined string }{
		{"the same header", "url,referer,status\nhttps://a.example/2,https://r.example/2,202", ""},
		{"another order", "status,url,referer\n202,https://a.example/2,https://r.example/2", ""},
		{"other letters, blanks and a mark", "\ufeffReferer, STATUS ,Url\nhttps://r.example/2,202,https://a.example/2", ""},
		{"in quotes", "\"status\",\"referer\",\"url\"\n202,https://r.example/2,https://a.example/2", ""},
		{"no line end in front", "https://a.example/x,https://r.example/x,209status,referer,url\n202,https://r.example/2,https://a.example/2", "209status"},
	} {
		p := newTable(Options{Agents: true, Keep: []string{"status", "referer"}}, 0)
		p.Sample(bytes.Split([]byte(first+test.behind), []byte("\n")))
		var got []string
		var r Row
		for line := range strings.SplitSeq(first+test.behind, "\n") {
			switch result := p.Parse([]byte(line), &r); {
			case result == IsRow:
				got = append(got, string(r.Target)+" "+string(r.Fields[0])+" "+string(r.Fields[1]))
			case result.Refused():
				if test.joined == "" || !strings.Contains(line, test.joined) || !p.Joined([]byte(line)) {
					t.Errorf("%s: %q is refused, as %v", test.name, line, result)
				}
			}
		}
		want := "https://a.example/1 201 https://r.example/1|https://a.example/2 202 https://r.example/2"
		if got := strings.Join(got, "|"); got != want {
			t.Errorf("%s: %s, want %s", test.name, got, want)
		}
	}
}

// TestNoReorderedHeader reads rows that contain names of the header row, but are rows.
func TestNoReorderedHeader(t *testing.T) {
	for _, line := range []string{"url,x", "status,status", "/url,status", ",", "url,"} {
		p := newTable(Options{Keep: []string{"status"}}, 0)
		var r Row
		p.Parse([]byte("url,status"), &r)
		if result := p.Parse([]byte(line), &r); result == NoRow {
			t.Errorf("%q is taken for a header", line)
		}
		if p.Parse([]byte("https://a.example/,200"), &r) != IsRow || string(r.Target) != "https://a.example/" || string(r.Fields[0]) != "200" {
			t.Errorf("behind %q: %q, %q", line, r.Target, r.Fields)
		}
	}
}

// TestAddressInFront reads lines whose first field is an address, with and without a site.
func TestAddressInFront(t *testing.T) {
	const rest = ` - anna [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 512`
	for _, test := range []struct{ front, host, client string }{
		{"203.0.113.9 10.0.0.1", "203.0.113.9", "203.0.113.9"},
		{"2001:db8::1 10.0.0.1", "2001:db8::1", "2001:db8::1"},
		{"203.0.113.9, 10.0.0.1 10.0.0.2", "203.0.113.9", "203.0.113.9"},
		{"203.0.113.9, 10.0.0.1, 10.0.0.3 10.0.0.2", "203.0.113.9", "203.0.113.9"},
	} {
		for _, base := range []string{"", "https://www.example.com"} {
			host, client := test.host, test.client
			if base != "" {
				host = "www.example.com"
			} else {
				client = "10.0.0.1" // the second field
			}
			c, err := New(Combined, Options{Base: robots.Origin(base), Keep: []string{NameClient, NameUser}})
			if err != nil {
				t.Fatal(err)
			}
			var r Row
			if result := c.Parse([]byte(test.front+rest), &r); result != IsRow || string(r.Host) != host || string(r.Fields[0]) != client ||
				string(r.Fields[1]) != "anna" || r.Address != (base == "") {
				t.Errorf("%q with %q: %v, host %q, fields %q, address %t; want %q, %q", test.front, base, result, r.Host, r.Fields, r.Address, host, client)
			}
		}
	}
	c, err := New(Combined, Options{Base: "https://www.example.com", Keep: []string{NameClient}})
	if err != nil {
		t.Fatal(err)
	}
	for front, client := range map[string]string{ // only a private address is a proxy before a public one
		"127.0.0.1 203.0.113.9": "203.0.113.9", "10.0.0.1 203.0.113.9, 10.0.0.2": "10.0.0.1", "::1 2001:db8::1": "2001:db8::1",
		"10.0.0.1 10.0.0.2": "10.0.0.1", "203.0.113.9 198.51.100.7": "203.0.113.9", "10.0.0.1 -": "10.0.0.1",
	} {
		var r Row
		if c.Parse([]byte(front+rest), &r) != IsRow || string(r.Fields[0]) != client {
			t.Errorf("%s: client %q, want %q", front, r.Fields, client)
		}
	}
	for _, host := range []string{"shop.example", "203.0.113.9:443", "[2001:db8::1]:80"} {
		var r Row
		if c.Parse([]byte(host+" 10.0.0.1"+rest), &r) != IsRow || string(r.Host) != host || string(r.Fields[0]) != "10.0.0.1" || r.Address {
			t.Errorf("the virtual host %s: %q, %q", host, r.Host, r.Fields)
		}
	}
}

func TestIsURLHeader(t *testing.T) {
	for line, want := range map[string]bool{
		"url,status": true, "status;URL": true, "\"url\",\"clicks\"": true, "clicks\tpage": true, "url | n": true,
		"url": false, "page,12": false, "/url,status": false, "https://a.example/x,y": false, "url,": false, "a,b": false, "example.com,url=1": false,
	} {
		if got := IsURLHeader([]byte(line)); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
