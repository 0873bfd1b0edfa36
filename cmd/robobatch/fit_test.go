package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBarFits draws a bar on terminals of several widths: no line may reach the last column, and none has colour or
// another escape.
func TestBarFits(t *testing.T) {
	for _, colour := range []string{"", "1"} {
		t.Setenv("NO_COLOR", colour)
		for _, width := range []int{1, 20, 40, 79, 80, 200} {
			var text bytes.Buffer
			b := newBar(&fitWriter{w: &text, width: func() int { return width }}, "URLs", sample{0, 5e9, 0, true})
			for done := int64(1e9); done < 5e9; done += 1e9 {
				b.show(sample{done, 5e9, done / 100, true})
			}
			b.end()
			if strings.ContainsRune(text.String(), '\x1b') {
				t.Errorf("an escape in %q", text.String())
			}
			for line := range strings.SplitSeq(text.String(), "\r") {
				if n := utf8.RuneCountInString(line); n >= width && n > 0 {
					t.Errorf("%d columns on a terminal of %d: %q", n, width, line)
				}
			}
			if width >= 40 && !strings.Contains(text.String(), "40.0 M URLs") {
				t.Errorf("nothing to read on %d columns: %q", width, text.String())
			}
		}
	}
}

// TestFitWriter holds that lines are cut across writes too, by runes, and that a width that is unknown cuts nothing.
func TestFitWriter(t *testing.T) {
	var text bytes.Buffer
	width := 4
	w := &fitWriter{w: &text, width: func() int { return width }}
	for _, s := range []string{"é", "█bcd", "\rab\ncdef"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%q: %d, %v", s, n, err)
		}
	}
	width = 0
	w.Write([]byte("ghij"))
	if got, want := text.String(), "é█b\rab\ncdeghij"; got != want {
		t.Errorf("%q is kept, want %q", got, want)
	}
	w.w = failingWriter{}
	if _, err := w.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestProgressOfTerminals holds which terminals get a bar.
func TestProgressOfTerminals(t *testing.T) {
	for _, tt := range []struct {
		name, kind string
		terminal   bool
		want       progressMode
	}{
		{"auto", "xterm", true, progressBar},
		{"auto", "dumb", true, progressPlain},
		{"auto", "xterm", false, progressPlain},
		{"bar", "dumb", true, progressBar},
		{"off", "xterm", true, progressOff},
	} {
		t.Setenv("TERM", tt.kind)
		if got, err := progressOn(tt.name, tt.terminal); got != tt.want || err != nil {
			t.Errorf("%s on %s: %v, %v", tt.name, tt.kind, got, err)
		}
	}
}
