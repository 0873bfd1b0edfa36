package weblog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuess checks the suggestions for lines of unknown formats: a suggested pattern must read all lines as a person
// would.
func TestGuess(t *testing.T) {
	const bot, spider = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "Mozilla/5.0 (Linux; Android 5.0) (compatible; Bytespider; a@b.example)"
	for _, test := range []struct{ lines, pattern, rows string }{ // URL, client, agent, time
		{`192.0.2.9|31.01.2026|"GET /a HTTP/1.1"|200|12`, `$remote_addr|$field_2|"$request"|$status|$body_bytes_sent`, "https://base.example/a|192.0.2.9||false"},
		{`2026-01-31 18:00:00 192.0.2.9 GET /a?b=c HTTP/1.1 200 12 "Mozilla/5.0 (x; y)"`, `$time_local $remote_addr $request_method $request_uri $server_protocol $status $body_bytes_sent "$http_user_agent"`, "https://base.example/a?b=c|192.0.2.9|Mozilla/5.0 (x; y)|true"},
		{`[31/Jan/2026:18:00:00 +0000] www.example.com 192.0.2.9:4711   "GET / HTTP/1.1" (200) rt=0.01 "-" "curl/8.9.1"`, `[$time_local] $host $remote_addr:$remote_port   "$request" \($status) rt=$field_6 "$field_7" "$http_user_agent"`, "https://www.example.com/|192.0.2.9|curl/8.9.1|true"},
		{"1769882400.123\t2001:db8::1\thttps://www.example.com/x\t200\t$5\t'a'", "$msec\t$remote_addr\t$request_uri\t$status\t$field_5\t$field_6", "https://www.example.com/x|2001:db8::1||true"},
		{`INFO:     192.0.2.9:51318 - "GET / HTTP/1.1" 200 OK`, `$field_1  $remote_addr:$remote_port $field_3 "$request" $status $field_6`, "https://base.example/|192.0.2.9||false"},
		{`started worker 29 with 100 % of C:\x (?all)`, "", ""},
		// a User-Agent without quotes extends to its last word
		{
			"2026-03-18T14:32:01Z 192.0.2.7 GET /a 200 " + bot + "\n2026-03-18T14:32:02Z 192.0.2.8 GET /b 404 " + spider, `$time_iso8601 $remote_addr $request_method $request_uri $status $http_user_agent`,
			"https://base.example/a|192.0.2.7|" + bot + "|true\nhttps://base.example/b|192.0.2.8|" + spider + "|true",
		},
		{"192.0.2.7 " + bot + " GET /a 200\n192.0.2.8 curl/8.9.1 GET /b 200", "", ""}, // its end is unknown
		{"192.0.2.7 GET /a 200 " + bot + " 12", "", ""},
		{`192.0.2.7 [31/Jan/2026:18:00:00 +0000] "GET /a HTTP/1.1 200 0" https://www.example.com/b ` + bot, "", ""}, // the referer is not the URL
		{`2026/01/31 18:00:00.5 192.0.2.7 GET /a 200`, `$time_local $remote_addr $request_method $request_uri $status`, "https://base.example/a|192.0.2.7||true"},
		// columns, of which one line has more; clocks are not addresses
		{
			"2026-01-31 23:59:26.178|192.0.2.7|\"GET /a HTTP/1.1\"|200|\"" + bot + "\"\n2026-01-31 23:59:27.178|192.0.2.8|\"GET /b|c HTTP/1.1\"|200|\"" + spider + `"`, `$time_local|$remote_addr|"$request"|$status|"$http_user_agent"`,
			"https://base.example/a|192.0.2.7|" + bot + "|true\nhttps://base.example/b|c|192.0.2.8|" + spider + "|true",
		},
		{"[GIN] 2026/11/29 - 23:16:25 | 200 |     1.2ms |   192.0.2.7 | GET      \"/a\"\n[GIN] 2026/11/29 - 23:16:26 | 404 |  4µs | 192.0.2.8 | GET      \"/b\"", `[$field_1] $field_2 $field_3 $field_4 | $status |  $field_6 |  $remote_addr | $request_method      "$request_uri"`, ""},
		{"time:2026-01-31T18:00:00Z|remote_addr:192.0.2.7|method:GET|uri:/a|upstream_status:502|status:200|upstream_addr:192.0.2.1:80", `time:$time_iso8601|remote_addr:$remote_addr|method:$request_method|uri:$request_uri|upstream_status:$field_5|status:$status|upstream_addr:$field_7`, "https://base.example/a|192.0.2.7||true"},
		{
			"[2026-03-18 14:32:01] | 192.0.2.7 | GET /a | Ref:- | UA:" + bot + "\n[2026-03-18 14:32:02] | 192.0.2.8 | GET /b | Ref:https://www.example.com/a | UA:" + spider, `[$time_local] | $remote_addr | $request_method $request_uri | Ref:$http_referer | UA:$http_user_agent`,
			"https://base.example/a|192.0.2.7|" + bot + "|true\nhttps://base.example/b|192.0.2.8|" + spider + "|true",
		},
		{"2026-03-10 14:00:00 +0100 192.0.2.7 GET /a 200 \"curl/8.9.1\"", `$time_local $remote_addr $request_method $request_uri $status "$http_user_agent"`, "https://base.example/a|192.0.2.7|curl/8.9.1|true"},
		// IPv6 addresses; a mail address is not a host, and neither are two names
		{`[2026-04-03T00:07:52.699] [INFO] access - ::ffff:192.0.2.7 - - "GET /a HTTP/1.1" 200 3363 "" "curl/8.9.1"`, `[$time_iso8601] [$field_2] $field_3 $field_4 $remote_addr $field_6 $field_7 "$request" $status $body_bytes_sent "$field_11" "$http_user_agent"`, "https://base.example/a|::ffff:192.0.2.7|curl/8.9.1|true"},
		{"2026-05-20T08:40:05.323Z|27d6c2004320ef8a|192.0.2.7|a@b.example|GET|/a|200|2|" + bot, `$time_iso8601|$field_2|$remote_addr|$field_4|$request_method|$request_uri|$status|$body_bytes_sent|$http_user_agent`, "https://base.example/a|192.0.2.7|" + bot + "|true"},
		{"web-1.example.net www.example.com 192.0.2.7 192.0.2.8 GET /a 200\nweb-2.example.net www.example.com 192.0.2.6 192.0.2.9 GET /b 200", `$field_1 $field_2 $field_3 $field_4 $request_method $request_uri $status`, "https://base.example/a|||false\nhttps://base.example/b|||false"},
		// masked addresses are clients, not hosts
		{
			`192.0.2.x - - [24/Aug/2015:00:00:00 +0200] "GET /a HTTP/1.1" 200 36 www.example.com "https://www.example.com/" "` + bot + `" "-"` + "\n" + `198.51.100.x - - [24/Aug/2015:00:00:01 +0200] "GET / HTTP/1.1" 301 - en.example.com:80 "-" "` + spider + `" "-"`,
			`$remote_addr $field_2 $field_3 [$time_local] "$request" $status $body_bytes_sent $host "$http_referer" "$http_user_agent" "$field_11"`,
			"https://www.example.com/a|192.0.2.x|" + bot + "|true\nhttp://en.example.com:80/|198.51.100.x|" + spider + "|true",
		},
		{"192.0.xxx.xxx /a 200\n203.0.113.0 /b 200\n192.0.2.- /c 200\n192.0.*.*:80 /d 200\n192.0.2.X /e 200", `$remote_addr $request_uri $status`, ""},
		{"a.b.c.x /a 200\n192.0.2.xyz /b 200", `$host $request_uri $status`, "https://a.b.c.x/a|||false\nhttps://192.0.2.xyz/b|||false"},
		// a value in one line may be missing in others
		{"192.0.2.7 GET /a 200 curl/8.9.1\nundefined GET /b 200 Mozilla/5.0 (x)\n192.0.2.7 GET /a abc -", "", ""},
		{"192.0.2.7 GET /a 200 curl/8.9.1\nundefined GET /b 200 Mozilla/5.0 (x)\n192.0.2.7 GET /a - -", `$field_1 $request_method $request_uri $status $http_user_agent`, "https://base.example/a||curl/8.9.1|false\nhttps://base.example/b||Mozilla/5.0 (x)|false\nhttps://base.example/a|||false"},
	} {
		var lines [][]byte
		for line := range strings.SplitSeq(test.lines, "\n") {
			lines = append(lines, []byte(line))
		}
		e := guess(lines)
		if e.Pattern != test.pattern {
			t.Errorf("%s: %s (%v), want %s", test.lines, e.Pattern, e, test.pattern)
		}
		if e.Pattern == "" || test.rows == "" {
			continue
		}
		f, err := ParseFormat(e.Pattern)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Base: "https://base.example", Agents: true, Times: true}
		p, err := New(f, opt)
		if opt.Clients = true; strings.Contains(e.Pattern, "$remote_addr") {
			p, err = New(f, opt)
		}
		if err != nil {
			t.Fatal(err)
		}
		var r Row
		var rows []string
		for _, line := range lines {
			p.Parse(line, &r)
			rows = append(rows, fmt.Sprintf("%s|%s|%s|%v", r.AppendURL(nil), r.Client, r.Agent, r.Time != NoTime))
		}
		if got := strings.Join(rows, "\n"); got != test.rows {
			t.Errorf("%s: %s, want %s", test.lines, got, test.rows)
		}
	}
}

// TestGuessSamples reads lines of known formats with the patterns that would be suggested for them.
func TestGuessSamples(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "formats", "*.log"))
	if err != nil || len(names) < 10 {
		t.Fatal(err, names)
	}
	lines, read := 0, 0
	for _, name := range names {
		if _, err := os.Stat(name + ".golden"); err != nil {
			t.Fatal(err)
		}
		for _, line := range linesOf(t, filepath.Base(name)) {
			if line[0] == '#' {
				continue
			}
			if lines++; guess([][]byte{line}).Pattern != "" {
				read++
			}
		}
	}
	if 10*read < 8*lines { // the others have no target, or are damaged
		t.Errorf("%d of %d lines have a pattern", read, lines)
	}
}

// TestCheckShape distinguishes lists of URLs from logs in unknown formats.
func TestCheckShape(t *testing.T) {
	const url, row = "https://www.example.com/a", "x 192.0.2.1 GET /a 200"
	for _, test := range []struct {
		text string
		odd  bool
	}{
		{url, false},
		{url + "\n" + row, false},
		{row, true},
		{row + "\n" + row + "\n" + url, true},
		{"www.example.com/a\nwww.example.com/b", false},
		{"/a b\n/c d\n# a note", false},
		{strings.Repeat(url+"\n", 17) + row + "\n" + row, true},
		{strings.Repeat(url+"\n", 19) + row + "\n" + row, false},
		{"id|url\n1|" + url, false},
		{"192.0.2.9|\"GET / HTTP/1.1\"|200\n192.0.2.9|\"GET /a HTTP/1.1\"|200", true},
		{"time:2026-01-31|method:GET|uri:/a\ntime:2026-01-31|method:GET|uri:/b", true}, // rows instead of names
		{"192.0.2.9 | GET /a | x\n192.0.2.9 | GET /b | y", true},
		{"/var/log/x:12: 2026-01-31T18:00:00Z GET /a 200 192.0.2.9", true}, // more than a path
		{"https://www.example.com/a 192.0.2.9 2026-01-31T18:00:00Z", true},
		{"https://www.example.com/a 200 12\n/a b c d", false},
	} {
		var lines [][]byte
		for line := range strings.Lines(test.text) {
			lines = append(lines, []byte(strings.TrimSuffix(line, "\n")))
		}
		err := CheckShape(Detect(lines, Options{}), lines, Options{})
		if shape := (*ShapeError)(nil); (err != nil) != test.odd || test.odd && !errors.As(err, &shape) {
			t.Errorf("%q: %v", test.text, err)
		}
	}
	if got := Stop(Combined, []byte(row)); got != NameUser {
		t.Errorf("%s stops at %q", row, got)
	}
}

// TestCheckShapeBlank checks that a blank line among the first ones does not count as a line of another format.
func TestCheckShapeBlank(t *testing.T) {
	for text, want := range map[string]bool{"  \nhttps://a.example/": true, "https://a.example/\n\t": true, " ": true, "a b c\n  \nd e f": false} {
		var lines [][]byte
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, []byte(line))
		}
		if err := CheckShape(URLs, lines, Options{}); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
