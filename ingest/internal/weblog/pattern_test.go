package weblog

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// TestPasted reads lines with patterns as in configurations.
func TestPasted(t *testing.T) {
	const (
		moment = "1773147600000000" // 10/Mar/2026:13:00:00 +0000
		front  = `192.0.2.1 - - [10/Mar/2026:13:00:00 +0000] "GET /p?q=1 HTTP/1.1" 200 512`
	)
	for _, test := range []struct{ name, pattern, line, want string }{ // url client time agent status
		{
			"nginx", `$host $remote_addr - [$time_local] "$request" $status "$http_user_agent"`,
			`a.example 192.0.2.1 - [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 "bot/1 (a b)"`, "https://a.example/p|192.0.2.1|bot/1 (a b)|200",
		},
		{
			"pieces with a name", "log_format main '$remote_addr - $remote_user [$time_local] \"$request\" '\n    '$status $body_bytes_sent \"$http_referer\" '\n    '\"$http_user_agent\" \"$http_x_forwarded_for\"';",
			front + ` "-" "bot" "198.51.100.7"`, "https://base.example/p?q=1|192.0.2.1|bot|200",
		},
		{"a name and escape", "log_format x escape=json '$remote_addr $remote_user [$time_local] \"$request\" $status';", strings.TrimSuffix(strings.Replace(front, "- - ", "a b ", 1), " 512"), "https://base.example/p?q=1|192.0.2.1||200"},
		{
			"Apache", `%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"`,
			`a.example:443 ` + front + ` "-" "bot"`, "https://a.example/p?q=1|192.0.2.1|bot|200",
		},
		{"LogFormat", `LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" vhost_combined`, `a.example:80 ` + front + ` "-" "bot"`, "http://a.example/p?q=1|192.0.2.1|bot|200"},
		{"a path and its query", `%h %t %m %U%q %>s "%{User-agent}i"`, `192.0.2.1 [10/Mar/2026:13:00:00 +0000] GET /a?b=c 404 "x"`, "https://base.example/a?b=c|192.0.2.1|x|404"},
		{"a request in three fields", `%h %l %u %t "%m %U%q %H" %>s %b`, front, "https://base.example/p?q=1|192.0.2.1||200"},
		{"tabs", "$time_local\t$remote_addr\t$request\t$status\t$http_user_agent\t$host", "10/Mar/2026:13:00:00 +0000\t192.0.2.1\tGET /p HTTP/1.1\t200\tbot/1 (a b)\ta.example", "https://a.example/p|192.0.2.1|bot/1 (a b)|200"},
		{"bars with blanks", "$time_local | $remote_addr | $request | $status | $http_user_agent | $host", "10/Mar/2026:13:00:00 +0000 | 192.0.2.1 | GET /p HTTP/1.1 | 200 | bot/1 (a b) | a.example", "https://a.example/p|192.0.2.1|bot/1 (a b)|200"},
		{"a quote that does not end", `$remote_addr $status $time_iso8601 "$request_uri`, `192.0.2.1 200 2026-03-10T13:00:00+00:00 "/p`, "https://base.example/p|192.0.2.1||200"},
		{"a path, and its query elsewhere", `$time_local|$remote_addr|$uri|$args|$status`, `10/Mar/2026:13:00:00 +0000|192.0.2.1|/a|b=c|404`, "https://base.example/a?b=c|192.0.2.1||404"},
		{"no query", `$time_local|$remote_addr|$uri|$args|$status`, `10/Mar/2026:13:00:00 +0000|192.0.2.1|/a|-|404`, "https://base.example/a|192.0.2.1||404"},
		{"a host and a target", `[$time_iso8601] $remote_addr $host$request_uri $status`, `[2026-03-10T13:00:00+00:00] 192.0.2.1 a.example/x?y 200`, "https://a.example/x?y|192.0.2.1||200"},
		{"a whole URL", `$msec $remote_addr:$remote_port $scheme://$host$request_uri $status`, `1773147600.000 2001:db8::1:4711 http://a.example/x 200`, "http://a.example/x|2001:db8::1||200"},
		{"a time without brackets", `$remote_addr $time_local $request_uri $status`, `192.0.2.1 10/Mar/2026:13:00:00 +0000 /x 200`, "https://base.example/x|192.0.2.1||200"},
		{
			"JSON", `log_format j escape=json '{"t":"$time_iso8601","c":"$remote_addr","r":"$request","s":$status,' '"a":"$http_user_agent"}';`,
			`{"t":"2026-03-10T13:00:00+00:00","c":"192.0.2.1","r":"GET /\"x HTTP/1.1","s":200,"a":"a \"b\""}`, `https://base.example/"x|192.0.2.1|a "b"|200`,
		},
		{
			"JSON with control characters", `log_format j escape=json '{"t":"$time_iso8601","c":"$remote_addr","u":"$request_uri","h":"$host","s":"$status","a":"$http_user_agent"}';`,
			`{"t":"2026-03-10T13:00:00+00:00","c":"192.0.2.1","u":"/p?q=\u007Fx","h":"a.example","s":"200","a":"a\u0001\u0022\\u0022\u20ac"}`, "https://a.example/p?q=\x7fx|192.0.2.1|a\x01\"\\u0022\\u20ac|200",
		},
		{
			"JSON of Apache", `LogFormat "{ \"time\":\"%{%Y-%m-%dT%H:%M:%S%z}t\", \"client\":\"%a\", \"url\":\"%U%q\", \"status\":\"%>s\", \"agent\":\"%{User-Agent}i\" }" json`,
			`{ "time":"2026-03-10T13:00:00+0000", "client":"192.0.2.1", "url":"/p?q=1", "status":"200", "agent":"bot \"x\"" }`, `https://base.example/p?q=1|192.0.2.1|bot "x"|200`,
		},
		{"several fields in quotes", `$remote_addr [$time_local] "$request_method $scheme://$host$request_uri $server_protocol" $status "$http_user_agent"`, `192.0.2.1 [10/Mar/2026:13:00:00 +0000] "GET http://a.example/x?y HTTP/1.1" 200 "bot"`, "http://a.example/x?y|192.0.2.1|bot|200"},
		{"a quote that nobody has escaped", `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`, front + ` "https://r.example/?"x" y" "bot"`, "https://base.example/p?q=1|192.0.2.1|bot|200"},
		{"two hosts, of which the request's counts", `$remote_addr $http_host $server_name [$time_local] "$request" $status "$http_user_agent"`, `192.0.2.1 a.example default.example [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 "bot"`, "https://a.example/p|192.0.2.1|bot|200"},
		{"two times the same, the first empty", `$remote_addr [$time_local] "$request" $status $http_x_real_ip "$http_user_agent" $http_host $host`, `192.0.2.1 [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 - "bot" a.example -`, "https://a.example/p|192.0.2.1|bot|200"},
		{"a time in parts, in another zone", `%h [%{%d/%b/%Y:%H:%M:%S}t.%{msec_frac}t %{%z}t] "%r" %>s "%{User-Agent}i"`, `192.0.2.1 [10/Mar/2026:14:00:00.000 +0100] "GET /p HTTP/1.1" 200 "bot"`, "https://base.example/p|192.0.2.1|bot|200"},
		{"a time of parts that blanks separate", `%{%Y-%m-%d}t %{%H:%M:%S}t %{%z}t %h %m %U%q %>s "%{User-Agent}i"`, `2026-03-10 14:00:00 +0100 192.0.2.1 GET /p?a 200 "bot"`, "https://base.example/p?a|192.0.2.1|bot|200"},
		{"a form with blanks", `%h %{%Y-%m-%d %H:%M:%S %z}t %U %>s`, `192.0.2.1 2026-03-10 14:00:00 +0100 /p 200`, "https://base.example/p|192.0.2.1||200"},
		{"a form without a zone", `%{%Y-%m-%d %T}t|%h|%U|%>s`, `2026-03-10 13:00:00|192.0.2.1|/p|200`, "https://base.example/p|192.0.2.1||200"},
		{"milliseconds", `%{begin:msec}t %h %U %>s`, `1773147600000 192.0.2.1 /p 200`, "https://base.example/p|192.0.2.1||200"},
		{"the client's of several addresses", `%{X-Forwarded-For}i %l %t %U %>s`, `192.0.2.1, 10.0.0.1 - [10/Mar/2026:13:00:00 +0000] /p 200`, "https://base.example/p|192.0.2.1||200"},
		{"a line that is cut off", `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`, front + ` "-" "bo`, "https://base.example/p?q=1|192.0.2.1||200"},
	} {
		format, err := ParseFormat(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		p, err := New(format, Options{Base: "https://base.example", Agents: true, Times: true, Clients: true, ClientAt: 1, Keep: []string{NameStatus}})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var r Row
		if result := p.Parse([]byte(test.line), &r); result != IsRow {
			t.Errorf("%s: %v", test.name, result)
			continue
		}
		got := strings.Join([]string{string(r.AppendURL(nil)), string(r.Client), string(r.Agent), string(r.Fields[0])}, "|")
		if got != test.want || r.Time != 1773147600000000 {
			t.Errorf("%s: %s at %d, want %s at %s", test.name, got, r.Time, test.want, moment)
		}
	}
}

// TestPastedErrors lists invalid patterns, and lines that do not match a pattern.
func TestPastedErrors(t *testing.T) {
	for text, says := range map[string]string{
		"$remote_addr $status":      "it has no known field",
		"$status$request":           "missing text between",
		"$request $":                `"$"`,
		"%h %{x":                    `"%{x"`,
		"$status (? $request":       "follows status",
		"http {\n$request":          "several lines",
		strings.Repeat("$uri ", 65): "65 fields",
		`%ci:%cp [%tr] %ft %{+Q}r`:  "HAProxy",
	} {
		if _, err := ParseFormat(text); !errors.Is(err, ErrPattern) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	p, err := New(`$remote_addr - $host [$time_local] "$request" $status`, Options{Base: "https://a.example"})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Result{
		`192.0.2.1 - a.example [x] "GET / HTTP/1.1" 200`:       IsRow,
		`192.0.2.1 x - a.example [x] "GET / HTTP/1.1" 200`:     RefusedFormat,
		`"192.0.2.1 - a.example [x] "GET / HTTP/1.1" 200`:      RefusedFormat,
		`192.0.2.1 - a.example [x] "GET / HTTP/1.1`:            RefusedQuote,
		`192.0.2.1 - a.example [x] "GET / HTTP/1.1" two`:       RefusedFields,
		`192.0.2.1 - web-1 a.example [x] "GET / HTTP/1.1" 200`: RefusedFormat,
	} {
		if got := p.Parse([]byte(line), &Row{}); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	for _, f := range formats { // all known patterns compile
		if len(f.shapes()) != len(f.patterns) {
			t.Errorf("%s: %d of %d patterns are valid", f.name, len(f.shapes()), len(f.patterns))
		}
	}
}

// TestPastedTimes checks that parts of times only count as a time if they are one together, and that a forwarded
// address is the client if there is no other field for it.
func TestPastedTimes(t *testing.T) {
	for pattern, want := range map[string]string{`%h %{%H:%M:%S}t "%r" %{%z}t %>s`: "-", `%h %{sec}t %{usec}t "%r" %>s`: "-", `%h %{%d/%m/%Y %T}t "%r" %>s`: "-", `%h %{%s}t "%r" %>s`: "time"} {
		p, err := compilePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		got := "-"
		if p.plan.of[roleTime] != nil {
			got = "time"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
	p, err := New(`$http_x_forwarded_for|$request_uri|$status`, Options{Base: "https://a.example", Keep: []string{NameClient}})
	var r Row
	if err != nil || p.Parse([]byte("192.0.2.1|/a|200"), &r) != IsRow || string(r.Fields[0]) != "192.0.2.1" {
		t.Errorf("%s: %v", r.Fields, err)
	}
}

// TestPatternNamed reads fields of a pattern in the roles that they were named for.
func TestPatternNamed(t *testing.T) {
	const (
		pattern = `$remote_addr $host [$time_local] "$request" $status "$http_user_agent" $msec "$http_x_forwarded_host" "$http_x_original_uri" "$http_x_ua" $args`
		line    = `10.0.0.1 inside [31/Jan/2026:18:00:00 +0000] "GET /a HTTP/1.1" 200 "proxy" 1769882400.000 "www.example.org" "/b?c=1" "bot" d=2`
	)
	for _, test := range []struct{ named, want string }{
		{"", "https://inside/a|proxy|10.0.0.1|1769882400000000|200"},
		{"host=http_x_forwarded_host", "https://www.example.org/a|proxy|10.0.0.1|1769882400000000|200"},
		{"host=none", "https://base.example/a|proxy|10.0.0.1|1769882400000000|200"},
		{"url=http_x_original_uri", "https://inside/b?c=1|proxy|10.0.0.1|1769882400000000|200"},
		{"path=http_x_original_uri", "https://inside/b?c=1|proxy|10.0.0.1|1769882400000000|200"},
		{"agent=http_x_ua", "https://inside/a|bot|10.0.0.1|1769882400000000|200"},
		{"agent=none", "https://inside/a||10.0.0.1|1769882400000000|200"},
		{"time=none", "https://inside/a|proxy|10.0.0.1|none|200"},
		{"time=time_local", "https://inside/a|proxy|10.0.0.1|1769882400000000|200"},
		{"client=http_x_forwarded_host", "https://inside/a|proxy|www.example.org|1769882400000000|200"},
		{"status=msec", "https://inside/a|proxy|10.0.0.1|1769882400000000|1769882400.000"},
		{"url=nothing", "no such field"},
	} {
		opt := Options{Base: "https://base.example", Agents: true, Times: true, Clients: true, Keep: []string{NameStatus}}
		if role, name, ok := strings.Cut(test.named, "="); ok {
			opt.Named = map[string]string{role: name}
		}
		p, err := New(Format(pattern), opt)
		if err != nil {
			if !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: %v", test.named, err)
			}
			continue
		}
		var r Row
		result, at := p.Parse([]byte(line), &r), "none"
		if r.Time != NoTime {
			at = strconv.FormatInt(r.Time, 10)
		}
		if got := string(r.AppendURL(nil)) + "|" + string(r.Agent) + "|" + string(r.Client) + "|" + at; result != IsRow || got+"|"+string(r.Fields[0]) != test.want {
			t.Errorf("%s: %v, %s|%s, want %s", test.named, result, got, r.Fields[0], test.want)
		}
	}
}

// TestPatternTook checks the described field for the URL, including that nginx has decoded it.
func TestPatternTook(t *testing.T) {
	for pattern, want := range map[string]string{
		`$remote_addr [$time_local] $uri $args $status`:                "url = uri + args (decoded: log $request_uri)",
		`$remote_addr [$time_local] "$request" $uri $args $status`:     "url = request",
		`$remote_addr [$time_local] $uri $args $status "$request_uri"`: "url = request_uri",
	} {
		p, err := New(Format(pattern), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if took := p.(Sampler).Sample(nil).Took; took.Fields[0] != want || strings.HasPrefix(took.Fields[1], "url") {
			t.Errorf("%s: %q, want %q", pattern, took.Fields, want)
		}
	}
}

// TestPatternTookLess checks that a field is not described as read if no line has it, such as the User-Agent after
// custom fields.
func TestPatternTookLess(t *testing.T) {
	for line, want := range map[string]bool{
		`192.0.2.1 - - [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 512 "-" "x/1"`:     true,
		`192.0.2.1 - - [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 512 400 "-" "x/1"`: false,
		`192.0.2.1 - - [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 512`:               false,
	} {
		p, err := New(Combined, Options{Agents: true})
		if err != nil {
			t.Fatal(err)
		}
		if took := p.(Sampler).Sample([][]byte{[]byte(line)}).Took; strings.Contains(strings.Join(took.Fields, ";"), "agent = ") != want || len(took.Fields) < 3 {
			t.Errorf("%s: %q", line, took.Fields)
		}
	}
}
