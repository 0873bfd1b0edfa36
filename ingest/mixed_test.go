package ingest

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
)

// TestMixed reads logs with parts in other formats, with batches of each size.
func TestMixed(t *testing.T) {
	const (
		row  = "192.0.2.1 - - [01/Feb/2026:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 1\n"
		iis  = "2026-02-01 10:00:00 W3SVC1 192.0.2.7 GET /c - 443 200\n"
		json = "{\"url\":\"https://a.example/\"}\n"
		urls = "https://a.example/\n"
		text = "shop[12]: took 20 s\n"
	)
	for _, c := range []struct {
		name, log string
		lines     int64
		first     []Place
	}{
		{"no part", row + row, 0, nil},
		{"two lines", row + iis + iis + row + json + json + row, 0, nil},
		{"three lines", row + iis + iis + iis + row, 3, []Place{{0, 2}}},
		{"mixed with text", row + iis + text + iis + text + iis + text + row, 6, []Place{{0, 2}}},
		{"two parts", row + strings.Repeat(json, 4) + row + strings.Repeat(urls, 3) + row, 7, []Place{{0, 2}, {0, 7}}},
		{"nine lines of text", row + strings.Repeat(text, 9) + row, 0, nil},
		{"ten lines of text", row + strings.Repeat(text, 10) + row, 10, []Place{{0, 2}}},
		{"a traceback", row + "Traceback (most recent call last):\n" + strings.Repeat("  File \"a.py\", line 1, in f\n    f()\n", 20) + "ValueError: f\n" + row, 0, nil},
		{"a stack", row + "panic: f\ngoroutine 1 [running]:\n" + strings.Repeat("main.f()\n\t/a.go:1 +0x1\n", 6) + row, 0, nil},
		{"many tracebacks", row + strings.Repeat("E: f\n\tat f\n\tat g\n", 12) + row, 36, []Place{{0, 2}}},
		{"requests in a traceback", row + "E: f\n\tat f\n" + iis + iis + iis + row, 5, []Place{{0, 2}}},
		{"indented text", row + strings.Repeat("   7 /a\n", 10) + row, 10, []Place{{0, 2}}},
		{"indented requests", row + text + strings.Repeat(" "+json, 3) + row, 4, []Place{{0, 2}}},
		{"few apart", strings.Repeat(row+iis, 9), 0, nil},
		{"apart", strings.Repeat(row+iis, 20), 20, []Place{{0, 2}}},
		{"apart, and a part", strings.Repeat(row+iis, 12) + row + iis + iis + iis + row, 15, []Place{{0, 2}, {0, 26}}},
		{"a part, and apart", row + iis + iis + iis + strings.Repeat(row+iis, 12), 15, []Place{{0, 2}, {0, 6}}},
		{"an application", row + strings.Repeat("2026-08-01 00:00:00 INFO [main] c.e.App - started GET in 3 s\n", 9) + row, 0, nil},
		{"objects without a URL", row + strings.Repeat("{\"level\":\"info\",\"msg\":\"renew\"}\n", 9) + row, 0, nil},
	} {
		for _, size := range []int{1, 100, 1 << 20} {
			l, err := OpenLogs([]string{"-"}, LogOptions{Stdin: bytes.NewReader([]byte(c.log)), BatchBytes: size, Format: "combined", Fields: Fields{Base: "https://a.example"}})
			if err != nil {
				t.Fatal(err)
			}
			for b := new(engine.Batch); l.Next(b); {
			}
			if got := l.Counts(); l.Err() != nil || got.Mixed != c.lines || !reflect.DeepEqual(got.FirstMixed, c.first) {
				t.Errorf("%s, batches of %d: %v, %d lines, %v; want %d, %v", c.name, size, l.Err(), got.Mixed, got.FirstMixed, c.lines, c.first)
			}
		}
	}
}

// TestOwnShape reads a JSON log whose server also logs other events than requests. These lines are rows without a URL,
// as in tables, and not a part in another format.
func TestOwnShape(t *testing.T) {
	log := `{"url":"https://a.example/"}` + strings.Repeat("\n"+`{"level":"info","logger":"tls","msg":"renew"}`, 15) + "\n"
	l, err := OpenLogs([]string{"-"}, LogOptions{Stdin: strings.NewReader(log), Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	for b := new(engine.Batch); l.Next(b); {
	}
	if got := l.Counts(); l.Err() != nil || got.Mixed != 0 || len(got.Refused) != 0 || got.Odd["empty_request"] != 15 {
		t.Errorf("%v, %d lines, refused %v, odd %v", l.Err(), got.Mixed, got.Refused, got.Odd)
	}
}
