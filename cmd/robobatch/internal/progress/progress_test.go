package progress

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestBarFits draws a bar on terminals of several widths: no line may reach the last column, and
// none has colour or another escape.
func TestBarFits(t *testing.T) {
	for _, colour := range []string{"", "1"} {
		t.Setenv("NO_COLOR", colour)
		for _, width := range []int{1, 20, 40, 79, 80, 200} {
			var text bytes.Buffer
			b := newBar(&fitWriter{w: &text, width: func() int { return width }}, "URLs", Sample{0, 5e9, 0, true})
			for done := int64(1e9); done < 5e9; done += 1e9 {
				b.show(Sample{done, 5e9, done / 100, true})
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

// TestFitWriter holds that lines are cut across writes too, by runes, and that a width that is
// unknown cuts nothing.
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
		want       Mode
	}{
		{"auto", "xterm", true, bars},
		{"auto", "dumb", true, lines},
		{"auto", "xterm", false, lines},
		{"bar", "dumb", true, bars},
		{"off", "xterm", true, Off},
	} {
		t.Setenv("TERM", tt.kind)
		if got, err := parse(tt.name, tt.terminal); got != tt.want || err != nil {
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

// TestBar draws a bar, of a known length and of an unknown one.
func TestBar(t *testing.T) {
	for _, total := range []int64{1000, -1} {
		var w bytes.Buffer
		b := newBar(&w, "URLs", Sample{0, total, 0, true})
		b.show(Sample{500, total, 2_000_000, true})
		b.show(Sample{1000, total, 4_000_000, true})
		if got := w.String(); !strings.Contains(got, "4.0 M URLs") || total > 0 && !strings.Contains(got, "50%") {
			t.Errorf("total %d: %q", total, got)
		}
		b.end()
	}
}
