package console

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestBarFits draws a bar on terminals of several widths that become narrower. No line may reach the last column or
// contain colours or other escapes, and at the end nothing of the bar may be left.
func TestBarFits(t *testing.T) {
	for _, width := range []int{1, 2, 7, 20, 40, 79, 80, 200} {
		var text bytes.Buffer
		now := width + 30
		b := &bar{w: &text, width: func() int { return now }, what: "URLs", started: time.Now().Add(-time.Minute)}
		b.show(Sample{1, 5e9, 0, true})
		text.Reset()
		now = width
		for done := int64(1e9); done <= 5e9; done += 1e9 {
			b.show(Sample{done, 5e9, done / 100, true})
		}
		b.end()
		lines := strings.Split(text.String(), "\r")
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n >= width && n > 0 || strings.ContainsAny(line, "\x1b\n") {
				t.Errorf("%d columns on a terminal of %d: %q", n, width, line)
			}
		}
		if last := lines[len(lines)-2:]; strings.TrimSpace(last[0]) != "" || last[1] != "" {
			t.Errorf("left at the end on %d columns: %q", width, last)
		}
	}
}

// TestBarLine checks which parts a line has, depending on its width: no part is truncated, and 80 columns have room
// for all parts.
func TestBarLine(t *testing.T) {
	some := Sample{25e6, 1e8, 12345678, true}
	for _, tt := range []struct {
		s    Sample
		room int
		want string
	}{
		{some, 79, "URLs  25 % |████░░░░░░░░░░░░░| 30s left, 12.3 M URLs, 1.23 M/s, 25 MB of 100 MB"},
		{some, 120, "URLs  25 % |█████░░░░░░░░░░░░░░░| 30s left, 12.3 M URLs, 1.23 M/s, 25 MB of 100 MB"},
		{some, 62, "URLs  25 % 30s left, 12.3 M URLs, 1.23 M/s, 25 MB of 100 MB"},
		{some, 55, "URLs  25 % |██░░░░░░░░| 30s left, 12.3 M URLs, 1.23 M/s"},
		{some, 12, "URLs  25 %"},
		{some, 9, ""},
		{Sample{123456e6, 999999e6, 98765432100, true}, 79, "URLs  12 % 1m11s left, 98765.4 M URLs, 9876.54 M/s, 123,456 MB of 999,999 MB"},
		{Sample{Done: 5, Total: -1}, 79, "URLs 5"},
		{Sample{25e6, -1, 12345678, true}, 79, "URLs 12.3 M URLs, 1.23 M/s, 25 MB"},
		{Sample{}, 79, "URLs 0"},
		{Sample{Done: 3, Total: 3}, 79, "URLs 100 % |████████████████████| 3 of 3"},
	} {
		if got := barLine("URLs", tt.s, 10*time.Second, tt.room); got != tt.want {
			t.Errorf("%+v in %d columns gives\n%q, want\n%q", tt.s, tt.room, got, tt.want)
		}
	}
}

// TestProgressOfTerminals checks which terminals get a bar.
func TestProgressOfTerminals(t *testing.T) {
	for _, tt := range []struct {
		name, kind string
		terminal   bool
		want       Mode
	}{
		{"auto", "xterm", true, bars},
		{"auto", "dumb", true, lines},
		{"auto", "xterm", false, lines},
		{"bar", "dumb", true, bars},
		{"off", "xterm", true, Off},
	} {
		t.Setenv("TERM", tt.kind)
		if got, err := parseMode(tt.name, tt.terminal); got != tt.want || err != nil {
			t.Errorf("%s on %s: %v, %v", tt.name, tt.kind, got, err)
		}
	}
}

func TestPlainLine(t *testing.T) {
	for _, tt := range []struct {
		s    Sample
		want string
	}{
		{Sample{Done: 1200, Total: 36000}, "rules: 1,200 of 36,000 (3 %), 4m50s left"},
		{Sample{0, 5e9, 0, true}, "rules: 0 B of 5,000 MB (0 %)"},
		{Sample{25e6, 1e8, 12345678, true}, "rules: 25 MB of 100 MB (25 %), 12,345,678 URLs, 1,234,567/s, 30s left"},
		{Sample{25e6, -1, 1, true}, "rules: 25 MB, 1 URL, 0/s"},
		{Sample{25e6, 25e6, 0, true}, "rules: 25 MB of 25 MB (100 %)"},
	} {
		if got := plainLine("rules", tt.s, 10*time.Second); got != tt.want {
			t.Errorf("%+v gives %q, want %q", tt.s, got, tt.want)
		}
	}
}
