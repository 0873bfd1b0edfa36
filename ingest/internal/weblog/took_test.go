package weblog

import (
	"fmt"
	"strings"
	"testing"
)

// TestLeft checks the advice for lines of a known format with an additional host or User-Agent, and that following it
// reads that field.
func TestLeft(t *testing.T) {
	const front, bot = `192.0.2.7 - - [31/Jan/2026:18:00:00 +0000] "GET /a HTTP/1.1" 200 12`, `"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"`
	for _, test := range []struct{ lines, left, row string }{ // role = field; the URL and the User-Agent after following the advice
		{front + ` "-" ` + bot, "", ""},
		{front + ` "-" ` + bot + ` 0.003 "192.0.2.9"`, "", ""},
		{front + ` "https://a.example/" ` + bot + ` "198.51.100.7"`, "", ""},
		{front + ` ` + bot + ` "-"`, "agent = http_referer", "https://base.example/a GPTBot"},
		{front + ` ` + bot + ` "https://a.example/"`, "agent = http_referer", "https://base.example/a GPTBot"},
		{front + ` ` + bot, "agent = http_referer", "https://base.example/a GPTBot"},
		{front + ` 0.003 "-" ` + bot, "agent = ", "https://base.example/a GPTBot"},
		{front + ` 0.003 ` + bot, "agent = ", "https://base.example/a GPTBot"},
		{front + ` "-" ` + bot + ` 128 0.2 10.0.0.2:8080 www.example.com r-1`, "host = ", "https://www.example.com/a GPTBot"},
		{front + ` "-" ` + bot + ` "www.example.com"`, "host = x_forwarded_for", "https://www.example.com/a GPTBot"},
		{front + ` "-" ` + bot + ` host=www.example.com`, "host = ", "https://www.example.com/a GPTBot"},
		{strings.Replace(front, "- -", "- www.example.com", 1) + ` "-" ` + bot, "host = remote_user", "https://www.example.com/a GPTBot"},
		// a masked address is no host
		{front + ` "-" ` + bot + ` "192.0.2.x"`, "", ""},
		{strings.Replace(front, "- -", "- 192.0.2.xxx", 1) + ` "-" ` + bot, "", ""},
		{strings.Replace(front, "192.0.2.7", "192.0.2.x", 1) + ` www.example.com "-" ` + bot + ` "-"`, "host = , agent = ", "https://www.example.com/a GPTBot"},
	} {
		lines := [][]byte{[]byte(test.lines), []byte(test.lines)}
		opt := Options{Base: "https://base.example", Agents: true}
		f := Detect(lines, opt)
		p, err := New(f, opt)
		if err != nil {
			t.Fatal(err)
		}
		left, names := p.(Sampler).Sample(lines).Took.Left, []string(nil)
		for _, l := range left {
			names = append(names, l.Role+" = "+l.Field)
			if opt.Named = map[string]string{l.Role: l.Field}; l.Pattern != "" {
				f, opt.Named = Format(l.Pattern), nil
			}
		}
		if got := strings.Join(names, ", "); got != test.left {
			t.Errorf("%s: %s, want %s", test.lines, got, test.left)
		}
		if test.row == "" {
			continue
		}
		if p, err = New(f, opt); err != nil {
			t.Fatal(err)
		}
		var r Row
		p.Parse(lines[0], &r)
		agent := "other"
		if strings.HasPrefix(string(r.Agent), "Mozilla/") && strings.HasSuffix(string(r.Agent), "gptbot)") {
			agent = "GPTBot"
		}
		if got := fmt.Sprintf("%s %s", r.AppendURL(nil), agent); got != test.row {
			t.Errorf("%s: %s, want %s", test.lines, got, test.row)
		}
	}
}

// TestProxied checks that addresses in the place of a user are reported, as with %{X-Forwarded-For}i before %t.
func TestProxied(t *testing.T) {
	for front, want := range map[string]string{
		"10.0.0.1 - - 203.0.113.5, 192.0.2.7": "remote_user", "198.51.100.1 - - 203.0.113.6": "remote_user", "10.0.0.1 - frank": "", "10.0.0.1 - -": "",
	} {
		lines := [][]byte{[]byte(front + ` [31/Jan/2026:18:00:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/8.9.1"`)}
		p, err := New(Detect(lines, Options{}), Options{Base: "https://base.example", Clients: true, ClientAt: 1})
		if err != nil {
			t.Fatal(err)
		}
		if took := p.(Sampler).Sample(lines).Took; took.Proxied != want {
			t.Errorf("%s: %q, want %q", front, took.Proxied, want)
		}
	}
}
