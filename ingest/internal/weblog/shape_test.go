package weblog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuess holds what is said of lines of no known format: the pattern reads the line.
func TestGuess(t *testing.T) {
	for _, test := range []struct{ line, pattern, row string }{ // URL, client, agent, time
		{`192.0.2.9|31.01.2026|"GET /a HTTP/1.1"|200|12`, `$remote_addr|$field_2|"$request"|$status|$body_bytes_sent`, "https://base.example/a|192.0.2.9||false"},
		{`2026-01-31 18:00:00 192.0.2.9 GET /a?b=c HTTP/1.1 200 12 "Mozilla/5.0 (x; y)"`, `$time_local $remote_addr $request_method $request_uri $server_protocol $status $body_bytes_sent "$http_user_agent"`, "https://base.example/a?b=c|192.0.2.9|Mozilla/5.0 (x; y)|true"},
		{`[31/Jan/2026:18:00:00 +0000] www.example.com 192.0.2.9:4711   "GET / HTTP/1.1" (200) rt=0.01 "-" "curl/8.9.1"`, `[$time_local] $host $remote_addr:$remote_port   "$request" \($status) rt=$field_6 "$field_7" "$http_user_agent"`, "https://www.example.com/|192.0.2.9|curl/8.9.1|true"},
		{"1769882400.123\t2001:db8::1\thttps://www.example.com/x\t200\t$5\t'a'", "$msec\t$remote_addr\t$request_uri\t$status\t$field_5\t$field_6", "https://www.example.com/x|2001:db8::1||true"},
		{`INFO:     192.0.2.9:51318 - "GET / HTTP/1.1" 200 OK`, `$field_1  $remote_addr:$remote_port $field_3 "$request" $status $field_6`, "https://base.example/|192.0.2.9||false"},
		{`started worker 29 with 100 % of C:\x (?all)`, "", ""},
	} {
		e := guess([]byte(test.line))
		if e.Pattern != test.pattern {
			t.Errorf("%s: %s (%v), want %s", test.line, e.Pattern, e, test.pattern)
		}
		if e.Pattern == "" {
			continue
		}
		f, err := ParseFormat(e.Pattern)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(f, Options{Base: "https://base.example", Agents: true, Times: true, Clients: true})
		if err != nil {
			t.Fatal(err)
		}
		var r Row
		p.Parse([]byte(test.line), &r)
		got := strings.Join([]string{string(r.AppendURL(nil)), string(r.Client), string(r.Agent), map[bool]string{true: "true", false: "false"}[r.Time != NoTime]}, "|")
		if got != test.row {
			t.Errorf("%s: %s, want %s", test.line, got, test.row)
		}
	}
}

// TestGuessSamples reads lines of known formats by the patterns that would be said to start from.
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
			if lines++; guess(line).Pattern != "" {
				read++
			}
		}
	}
	if 10*read < 8*lines { // others have no target, or are damaged
		t.Errorf("%d of %d lines have a pattern", read, lines)
	}
}

// TestCheckShape tells lists of URLs from logs of no known format.
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

// TestCheckShapeBlank takes a line of blanks among the first ones for no line of another shape.
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
