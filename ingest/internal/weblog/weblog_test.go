package weblog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestAllocs checks that parsers do not allocate once they have seen the lines.
func TestAllocs(t *testing.T) {
	for _, test := range []struct {
		format Format
		file   string
		keep   []string
	}{
		{Combined, "apache-combined.log", []string{NameStatus, NameReferer, NameUser}},
		{W3C, "iis-w3c.log", []string{NameTime, NameStatus}},
		{CloudFront, "cloudfront.log", []string{NameTime, NameReferer}},
		{ALB, "alb.log", []string{NameStatus, "trace_id", NameMethod}},
		{JSON, "caddy.jsonl", []string{NameStatus, NameReferer, "resp_headers"}},
		{CSV, "semicolons.csv", []string{"ua"}},
		{CDXJ, "index.cdxj", []string{NameStatus, NameTime}},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "formats", test.file))
		if err != nil {
			t.Fatal(err)
		}
		p := everything(t, test.format, test.keep...)
		var lines [][]byte
		var row Row
		for line := range bytes.Lines(text) {
			line = bytes.TrimRight(line, "\r\n")
			if p.Parse(line, &row) == IsRow { // headers may allocate
				lines = append(lines, line)
			}
		}
		if test.format == W3C {
			lines = lines[len(lines)-3:] // the lines after the last header
		}
		if n := testing.AllocsPerRun(20, func() {
			for _, line := range lines {
				if p.Parse(line, &row) != IsRow {
					t.Errorf("%q is no row any more", line)
				}
			}
		}); n > 0 || len(lines) < 2 {
			t.Errorf("%s: %v allocations in %d lines", test.format, n, len(lines))
		}
	}
}

// TestOutsideYears checks that a time whose zone puts it outside the years 1 to 9999 is invalid.
func TestOutsideYears(t *testing.T) {
	for text, ok := range map[string]bool{
		"9999-12-31T23:59:59.999999Z": true, "9999-12-31T23:59:59-00:01": false, "0001-01-01T00:00:00Z": true, "0001-01-01T00:00:00+00:01": false,
		"0000-12-31T23:59:59-00:01": true, "0000-06-01": false, "31/Dec/9999:23:59:59 -0100": false, "31/Dec/9999:23:59:59 +0100": true,
	} {
		if got := ParseTime([]byte(text)); (got != NoTime) != ok {
			t.Errorf("%s is %d", text, got)
		}
	}
}

// TestMoment compares times in 10,000 years with package time, including invalid dates and clocks.
func TestMoment(t *testing.T) {
	clocks := [...][3]int{{0, 0, 0}, {12, 34, 56}, {23, 59, 59}, {23, 59, 60}, {22, 59, 60}, {24, 0, 0}, {0, 60, 0}, {0, 0, 61}, {1, 2, 3}}
	n := 0
	for year := range 10_000 {
		for month := range 14 {
			for _, day := range []int{0, 1, 2, 15, 27, 28, 29, 30, 31, 32} {
				n++
				clock := clocks[n%len(clocks)]
				m := moment{year, month, day, clock[0], clock[1], clock[2], 7, 3600}
				want := int64(NoTime)
				of := time.Date(year, time.Month(month), day, clock[0], clock[1], clock[2], 7000, time.UTC)
				if of.Day() == day && month >= 1 && month <= 12 && clock[0] < 24 && clock[1] < 60 && clock[2] < 61 {
					if of = of.Add(-time.Hour); of.Year() > 0 { // 1 to 9999
						want = of.UnixMicro()
					}
				}
				if got := m.unix(); got != want {
					t.Fatalf("%+v is %d, want %d", m, got, want)
				}
			}
		}
	}
}

// TestParseTime parses all formats of times, and rejects others.
func TestParseTime(t *testing.T) {
	at := time.Date(2026, 1, 31, 17, 0, 0, 0, time.UTC).UnixMicro()
	day := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC).UnixMicro()
	for text, want := range map[string]int64{
		"31/Jan/2026:18:00:00 +0100": at, "31/Jan/2026:17:00:00 +0000": at, "31/Jan/2026:17:00:00": at, "31/Jan/2026:12:30:00 -0430": at,
		"2026-01-31T17:00:00Z": at, "2026-01-31 17:00:00": at, "2026-01-31T18:00:00+01:00": at, "2026-01-31t17:00:00.000001z": at + 1,
		"2026-01-31T17:00:00.1234567Z": at + 123456, "2026-01-31T17:00:00,5": at + 500_000, "2026-01-31 17:00:00 UTC": at, "2026-01-31": day,
		"20260131170000": at, "1769878800": at, "1769878800.25": at + 250_000, "1769878800000": at, "1769878800000.25": at + 250, "1769878800000001": at + 1,
		"1769878800000001999": at + 1, "1.7698788e9": at, "631152000": leastMoment, "4102444799999": mostMoment - 1000,
		"31/Jan/2026 17:00:00": at, "31/Jan/2026:17:00:00.655": at + 655_000, "2026/01/31 17:00:00": at, "Sat Jan 31 17:00:00 2026": at, "Thu Jan  1 00:00:00 2026": at - 2_653_200_000_000,
		"Sat, 31 Jan 2026 17:00:00 GMT": at, "Saturday, 31-Jan-2026 17:00:00 GMT": at, "31-Jan-2026 17:00:00": NoTime, "Sat, 31 Jan 2026 17:00 GMT and": NoTime,
		"0": NoTime, "99999999999": NoTime, "100000000000": NoTime, "631151999": NoTime, "4102444800": NoTime, "631151999999": NoTime, "0.125": NoTime, "1.0e3": NoTime,
		"": NoTime, "-": NoTime, "yesterday": NoTime, "2026-02-30": NoTime, "2026-13-01": NoTime, "2026-01-31T25:00:00Z": NoTime,
		"31/Foo/2026:18:00:00 +0100": NoTime, "2026-01-31T17:00:00 PST": NoTime, "-5": NoTime, "99999999999999999999": NoTime, "20261332000000": NoTime,
	} {
		if got := ParseTime([]byte(text)); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}

// TestDetect detects formats from lines that are not in the samples.
func TestDetect(t *testing.T) {
	for _, test := range []struct {
		want  Format
		lines []string
	}{
		{URLs, nil},
		{URLs, []string{"url list", "https://example.com/a,b"}},
		{URLs, []string{"https://example.com/?url=1,2", "{x}"}},
		{URLs, []string{"example.com"}},
		{URLs, []string{"/path/a,url"}},
		{CSV, []string{"URL"}},
		{CSV, []string{"id;url"}},
		{CSV, []string{`"Address","Status Code"`}},
		{TSV, []string{"id\turl"}},
		{JSON, []string{`{"a":1}`, "broken"}},
		{Combined, []string{"garbage", `1.2.3.4 - - [x] "-" 408 -`}},
		{CDXJ, []string{"!OpenWayback-CDXJ 1.0", `com,example)/ 20260131180000 {"url": "https://example.com/"}`}},
		{ALB, []string{`h2 2026-01-31T18:00:00.5Z app/x/1 192.0.2.1:2 - ...`}},
		{W3C, []string{"#Fields: date"}},
	} {
		var lines [][]byte
		for _, line := range test.lines {
			lines = append(lines, []byte(line))
		}
		if got := Detect(lines, Options{}); got != test.want {
			t.Errorf("%q is %s, want %s", test.lines, got, test.want)
		}
	}
	if got := Detect([][]byte{[]byte("a,b")}, Options{Named: map[string]string{"url": "b"}}); got != CSV {
		t.Errorf("a header that has the column that was named is %s", got)
	}
	if got := Detect([][]byte{[]byte("a,url")}, Options{Keep: []string{"nothing"}, Named: map[string]string{"time": "nothing"}}); got != CSV {
		t.Errorf("a header that lacks other fields that were named is %s", got)
	}
}

// TestFields requests fields that formats cannot have.
func TestFields(t *testing.T) {
	for _, f := range []Format{Combined, ALB} {
		all := []Options{{Keep: []string{"nothing"}}}
		for _, role := range []string{"url", "host", "agent", "time"} {
			all = append(all, Options{Named: map[string]string{role: "x"}})
		}
		for _, opt := range all {
			if _, err := New(f, opt); !errors.Is(err, ErrNoField) {
				t.Errorf("%s with %+v: %v", f, opt, err)
			}
		}
	}
	for _, f := range []Format{Auto, URLs, Parquet} {
		if _, err := New(f, Options{}); !errors.Is(err, ErrFormat) {
			t.Errorf("a parser of %s: %v", f, err)
		}
	}
	for name, want := range map[string]engine.KeptKind{
		"status": engine.KeptInt, "sc-status": engine.KeptInt, "EdgeStartTimestamp": engine.KeptTime,
		"referer": engine.KeptText, "x": engine.KeptText, "bytes": engine.KeptInt,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("%s is of kind %d, want %d", name, got, want)
		}
	}
}

// TestBase completes paths, and expects an error if that is impossible.
func TestBase(t *testing.T) {
	for _, test := range []struct {
		base       robots.Origin
		line, want string
	}{
		{"https://b.example", `1.2.3.4 - - [t] "GET /x HTTP/1.1" 200 1`, "https://b.example/x"},
		{"http://b.example:8080", `1.2.3.4 - - [t] "GET /x HTTP/1.1" 200 1`, "http://b.example:8080/x"},
		{"http://b.example", `v.example 1.2.3.4 - - [t] "GET /x HTTP/1.1" 200 1`, "http://v.example/x"},
		{"", `v.example 1.2.3.4 - - [t] "GET /x HTTP/1.1" 200 1`, "https://v.example/x"},
		{"https://b.example", `v.example:80 ::1 - - [t] "GET /x HTTP/1.1" 200 1`, "http://v.example:80/x"},
		{"https://b.example", `b.example:80 ::1 - - [t] "GET /x HTTP/1.1" 200 1`, "https://b.example/x"},
		{"http://b.example", `B.example:443 ::1 - - [t] "GET /x HTTP/1.1" 200 1`, "http://b.example/x"},
		{"https://b.example", `b.example:8080 ::1 - - [t] "GET /x HTTP/1.1" 200 1`, "https://b.example:8080/x"},
		{"", `[::1]:443 ::1 - - [t] "GET /x HTTP/1.1" 200 1`, "https://[::1]:443/x"},
		{"", `1.2.3.4 - - [t] "GET http://a.example/x HTTP/1.1" 200 1`, "http://a.example/x"},
		{"", `1.2.3.4 - - [t] "OPTIONS * HTTP/1.1" 200 1`, "*"},
		{"https://b.example", `1.2.3.4 - - [t] "GET /robots.txt HTTPgrou/1.0" 400 1`, "https://b.example/robots.txt"},
		{"https://b.example", `1.2.3.4 - - [t] "GET /a b HTTP/" 400 1`, "https://b.example/a b"},
		{"https://b.example", `1.2.3.4 - - [t] "GET /about HTTPS/docs" 400 1`, "https://b.example/about HTTPS/docs"},
		{"https://b.example", `1.2.3.4 - - [t] "GET /about HTTP2" 400 1`, "https://b.example/about HTTP2"},
		{"https://b.example", `1.2.3.4 - - [t] "GET /about HTTP-x/1" 400 1`, "https://b.example/about HTTP-x/1"},
		{"", `1.2.3.4 - john q. doe [t] "GET /x HTTP/1.1" 200 1`, ""},
		{"https://b.example", `1.2.3.4 - john q. doe [t] "GET /x HTTP/1.1" 200 1`, "https://b.example/x"},
	} {
		p, err := New(Combined, Options{Base: test.base})
		if err != nil {
			t.Fatal(err)
		}
		var r Row
		result := p.Parse([]byte(test.line), &r)
		if test.want == "" {
			if result != Failed || !errors.Is(p.Err(), ErrNoBase) {
				t.Errorf("%s: %s, %v", test.line, result, p.Err())
			}
			continue
		}
		if got := string(r.AppendURL(nil)); result != IsRow || got != test.want {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
}
