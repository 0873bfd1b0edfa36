package weblog

import (
	"bytes"
	"testing"
)

// TestLacksFields distinguishes rows of W3C without a header from other lines.
func TestLacksFields(t *testing.T) {
	const iis, cloudFront = "2010-08-15 00:39:30 W3SVC20 192.0.2.1 GET /a.htm - 80 - 192.0.2.9 curl 200", "2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.9\tGET\td1.cloudfront.net\t/index.html\t200"
	for text, want := range map[string]bool{
		iis: true, cloudFront: true, iis + "\n" + iis + "\n2010-08-15 00:39:32 W3SVC20 cut": true, "#Software: x\n" + iis: true,
		iis + "\n#Fields: date time": true, "#Fields: date time\n" + iis: false, "https://a.example/\n" + iis: false,
		iis + "\nhttps://a.example/\nhttps://a.example/": false, "2010-08-15 00:39:30 started": false, `2010-08-15 00:39:30 "GET /a HTTP/1.1" 200`: false,
		"2010-08-15,00:39:30,/a,200": false, "# a note": false,
	} {
		if got := LacksFields(bytes.Split([]byte(text), []byte{'\n'})); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

// TestForeignOf distinguishes texts that are not logs from lists of URLs and tables.
func TestForeignOf(t *testing.T) {
	for _, test := range []struct {
		text string
		want Foreign
	}{
		{"2026/01/31 18:00:04 [error] 29#29: *1 open() failed, request: \"GET /x HTTP/1.1\"\n2026/01/31 18:00:05 [notice] 1#1: start", ForeignErrors},
		{"[Sat Jan 31 18:00:00.123456 2026] [core:error] [pid 1] x\n[Sat Jan 31 18:00:01 2026] [error] x", ForeignErrors},
		{"2026/01/31 18:00:04 [error] a, b\n2026/01/31 18:00:04 [error] c, d", ForeignErrors}, // like a table
		{"<?xml version=\"1.0\"?>\n<urlset>", ForeignXML},
		{"\ufeff <urlset>", ForeignXML},
		{"<!DOCTYPE html>\n<a href=\"https://a.example/\">", ForeignXML},
		{"<190>Mar  3 10:15:00 x y: z\n<190>Mar  3 10:15:00 x y: z", ""},
		{"Feb  6 12:12:56 localhost haproxy[14387]: 10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0", ForeignTCP},
		{"127.0.0.1:48454 [28/Nov/2026:15:19:41.065] tcp-in tcp/srv1 1/0/5 +165 -- 1/1/0/0/0 0/0", ForeignTCP},
		{"1|\"GET / HTTP/1.1\"|200\n2|\"GET /a HTTP/2\"|200", ""},
		{"Jan 31 app: \"GET / HTTP/1.1\" 200\nJan 31 app: done\nJan 31 app: \"HEAD / HTTP/1.1\" 200", ""},
		{"Jan 31 app: \"GET / HTTP/1.1\" 200\nJan 31 app: done", ""},
		{"2015-05-13T23:39:43.94Z lb 1.2.3.4:28 10.0.0.1:80 200 \"GET https://a.example:443/ HTTP/1.1\" \"x\" - -\n# TCP\n2015-05-13T23:39:43.94Z lb 1.2.3.4:28 10.0.0.1:80 - \"- - - \" \"-\" - -", ""},
		{"time,call\n1,\"GET / HTTP/1.1\"\n2,\"GET /a HTTP/1.1\"", ""},
		{"1,\"GET / HTTP/1.1\"\nhttps://a.example/", ""},
		{"https://a.example/?q=\"GET / HTTP/1.1\"", ""},
		{"/a\n/b", ""},
		{"www.example.com/a", ""},
		{"host www.example.com path /a", ""},
	} {
		lines := bytes.Split([]byte(test.text), []byte{'\n'})
		if got := ForeignOf(Detect(lines, Options{}), lines); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
	if got := ForeignOf(Combined, [][]byte{[]byte("<a>")}); got != "" {
		t.Errorf("combined: %q", got)
	}
	if got := ForeignOf(URLs, nil); got != "" {
		t.Errorf("no lines: %q", got)
	}
}
