package weblog

import (
	"errors"
	"strings"
	"testing"
)

// TestClients reads the client's address in lines of every format: from the known or the named field, and the requested
// one of several addresses.
func TestClients(t *testing.T) {
	const (
		common = `[31/Jan/2026:18:00:00 +0100] "GET /x HTTP/1.1" 200 1`
		fields = "#Fields: date time c-ip cs-uri-stem cs(User-Agent) X-Forwarded-For\n2026-01-31 18:00:00 192.0.2.1 /x bot "
		cloud  = "#Fields: date time c-ip cs-uri-stem x-edge-location x-forwarded-for\n2026-01-31\t18:00:00\t192.0.2.1\t/x\tA\t"
		alb    = `https 2026-01-31T18:00:00.1Z app/lb/1 192.0.2.1:4711 10.0.0.1:80 0 0 0 200 200 1 1 "GET https://a.example:443/x HTTP/1.1" "bot"`
		list   = "192.0.2.1, 192.0.2.2,192.0.2.3"
	)
	for _, c := range []struct {
		about  string
		format Format
		text   string
		field  string
		place  int
		want   string
	}{
		{"the usual field", Combined, "192.0.2.1 - - " + common, "", 0, "192.0.2.1"},
		{"none", Combined, "- - - " + common, "", 0, ""},
		{"a host name", Combined, "a.example - - " + common, "", 0, "a.example"},
		{"in front of more fields", Combined, "192.0.2.1 - anna - " + common, "", 0, "192.0.2.1"},
		{"behind a virtual host", Combined, "a.example 192.0.2.1 - - " + common, "", 0, "192.0.2.1"},
		{"a list in quotes", Combined, `"` + list + `" 10.0.0.1 - - ` + common, "", 1, "192.0.2.1"},
		{"its last", Combined, `"` + list + `" 10.0.0.1 - - ` + common, "", -1, "192.0.2.3"},
		{"its second", Combined, `"` + list + `" 10.0.0.1 - - ` + common, "client", 2, "192.0.2.2"},
		{"beyond its end", Combined, `"` + list + `" 10.0.0.1 - - ` + common, "client", 4, ""},
		{"a list in front", Combined, "192.0.2.1, 192.0.2.2 - - " + common, "", -1, "192.0.2.2"},
		{"a list before the proxy", Combined, "192.0.2.1, 192.0.2.2 10.0.0.1 - - " + common, "", -1, "192.0.2.2"},
		{"one of a list that has one", Combined, "192.0.2.1 10.0.0.1 - - " + common, "", -1, "192.0.2.1"},
		{"behind the User-Agent", Combined, "10.0.0.1 - - " + common + ` "-" "bot" "` + list + `"`, "x_forwarded_for", 1, "192.0.2.1"},
		{"no list there", Combined, "10.0.0.1 - - " + common + ` "-" "bot" "-"`, "x_forwarded_for", 1, ""},
		{"a line without it", Combined, "10.0.0.1 - - " + common + ` "-" "bot"`, "x_forwarded_for", 1, ""},
		{"of another field", Combined, "- 192.0.2.9 - " + common, "ident", 0, "192.0.2.9"},
		{"the usual field", W3C, fields + "-", "", 0, "192.0.2.1"},
		{"one that is named", W3C, fields + "192.0.2.1,+192.0.2.2", "x-forwarded-for", -1, "192.0.2.2"},
		{"the usual field", CloudFront, cloud + "-", "", 0, "192.0.2.1"},
		{"one that is named", CloudFront, cloud + "192.0.2.1,%20192.0.2.2", "x-forwarded-for", 2, "192.0.2.2"},
		{"none in it", CloudFront, cloud + "-", "x-forwarded-for", 2, ""},
		{"the usual field", ALB, alb, "", 0, "192.0.2.1"},
		{"IPv6 with a port and without brackets", ALB, strings.Replace(alb, "192.0.2.1:", "2001:4860:4801:10:0:0:0:1:", 1), "", 0, "2001:4860:4801:10:0:0:0:1"},
		{"a short one", ALB, strings.Replace(alb, "192.0.2.1:", "2001:db8::1:", 1), "", 0, "2001:db8::1"},
		{"in brackets", ALB, strings.Replace(alb, "192.0.2.1:", "[2001:db8::1]:", 1), "", 0, "2001:db8::1"},
		{"one that is named", ALB, alb, "target", 0, "10.0.0.1"},
		{"the usual field", JSON, `{"uri":"/x","remote_addr":"192.0.2.1"}`, "", 0, "192.0.2.1"},
		{"with its port", Combined, `192.0.2.1:5555 - - [10/Oct/2025:13:55:36 +0000] "GET /x HTTP/1.1" 200 1`, "", 0, "192.0.2.1"},
		{"in brackets", Combined, `[2001:db8::1]:5555 - - [10/Oct/2025:13:55:36 +0000] "GET /x HTTP/1.1" 200 1`, "", 0, "2001:db8::1"},
		{"of a proxy", JSON, `{"request":{"uri":"/x","client_ip":"192.0.2.1","remote_ip":"10.0.0.1"}}`, "", 0, "192.0.2.1"},
		{"one that is named", JSON, `{"uri":"/x","remote_addr":"10.0.0.1","http":{"xff":"` + list + `"}}`, "http.xff", 2, "192.0.2.2"},
		{"none", JSON, `{"uri":"/x"}`, "", 0, ""},
		{"the usual field", CSV, "url,client_ip\n/x,2001:db8::1", "", 0, "2001:db8::1"},
		{"one that is named", CSV, "url,client_ip,xff\n/x,-,\"" + list + `"`, "XFF", -1, "192.0.2.3"},
		{"the usual field", TSV, "ip\turl\n192.0.2.1\t/x", "", 0, "192.0.2.1"},
	} {
		p, err := New(c.format, Options{Base: "https://a.example", Clients: true, Named: namedClient(c.field), ClientAt: c.place})
		if err != nil {
			t.Errorf("%s of %s: %v", c.about, c.format, err)
			continue
		}
		var row Row
		result := NoRow
		for line := range strings.SplitSeq(c.text, "\n") {
			result = p.Parse([]byte(line), &row)
		}
		if result != IsRow || string(row.Client) != c.want {
			t.Errorf("%s of %s: %q, result %d, want %q; %v", c.about, c.format, row.Client, result, c.want, p.Err())
		}
	}
}

// TestClientErrors expects errors for logs without the field, and for fields with several addresses.
func TestClientErrors(t *testing.T) {
	const common = ` - - [31/Jan/2026:18:00:00 +0100] "GET /x HTTP/1.1" 200 1`
	for _, c := range []struct {
		format      Format
		field, text string
		kind        error
		says        string
	}{
		{Combined, "", `"192.0.2.1, 192.0.2.2" 10.0.0.1` + common, ErrManyClients, `"192.0.2.1, 192.0.2.2"`},
		{Combined, "", "192.0.2.1, 192.0.2.2" + common, ErrManyClients, "192.0.2.2"},
		{Combined, "xff", "", ErrNoField, `"xff"; the fields are host, client`},
		{ALB, "xff", "", ErrNoField, `"xff"`},
		{CDXJ, "", "", ErrNoClients, "index"},
		{CSV, "", "url,page\n/x,y", ErrNoClients, "url, page"},
		{CSV, "xff", "url,ip\n/x,y", ErrNoField, `"xff"; the fields are url, ip`},
		{CSV, "", "url,ip\n/x,\"192.0.2.1, 192.0.2.2\"", ErrManyClients, "192.0.2.2"},
		{W3C, "", "#Fields: cs-uri-stem\n/x", ErrNoClients, "cs-uri-stem"},
		{W3C, "", "#Fields: cs-uri-stem c-ip\n/x 192.0.2.1,+192.0.2.2", ErrManyClients, "192.0.2.2"},
		{JSON, "", `{"uri":"/x","ip":"192.0.2.1, 192.0.2.2"}`, ErrManyClients, "192.0.2.2"},
	} {
		p, err := New(c.format, Options{Base: "https://a.example", Clients: true, Named: namedClient(c.field)})
		if err == nil {
			var row Row
			result := NoRow
			for line := range strings.SplitSeq(c.text, "\n") {
				if result = p.Parse([]byte(line), &row); result == Failed {
					break
				}
			}
			if err = p.Err(); result != Failed {
				t.Errorf("%s of %q: %d, want an error", c.format, c.text, result)
			}
		}
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %q: %v, want %q", c.format, c.text, err, c.says)
		}
	}
}

// namedClient names a field for the client, unless it is "".
func namedClient(field string) map[string]string {
	if field == "" {
		return nil
	}
	return map[string]string{NameClient: field}
}
