package console

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
)

// TestQuiet checks that a quiet console prints no hints and no reports, but every warning once and every text of
// Tell. Characters that control a terminal must be escaped.
func TestQuiet(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "err")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		c := &Console{Streams: Streams{Err: f}, Quiet: quiet}
		c.Print("printed\n")
		c.Hint("hinted")
		c.Hint("")
		c.Tell("told\x1b[2J\n")
		one, other := warning.Warning{Code: warning.NoRows, Text: "empty", Count: 1}, warning.Warning{Code: warning.NoTimes, Text: "late", Count: 2}
		c.Warn(one)
		c.WarnOnce([]warning.Warning{one, other})
		c.WarnOnce([]warning.Warning{other})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := string(text)
		for part, want := range map[string]int{"printed": 1, "robobatch: hint: hinted\n": 1, "told": 1, "robobatch: warning: empty [no_rows]\n": 1, "late [no_times]": 1, "\x1b": 0} {
			if quiet && (part == "printed" || strings.Contains(part, "hint")) {
				want = 0
			}
			if n := strings.Count(got, part); n != want {
				t.Errorf("quiet %t: %q is there %d times, want %d:\n%s", quiet, part, n, want, got)
			}
		}
		if len(c.Warnings) != 2 {
			t.Errorf("%d warnings are kept", len(c.Warnings))
		}
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestWriter checks that a Writer returns the first write error at once, and keeps it.
func TestWriter(t *testing.T) {
	first := errors.New("first")
	w := NewWriter(failing{first})
	select {
	case <-w.Failed:
		t.Fatal("it has not failed yet")
	default:
	}
	for range 2 {
		if _, err := w.Write([]byte("x")); !errors.Is(err, first) {
			t.Error(err)
		}
	}
	<-w.Failed
	if !errors.Is(w.Err, first) || OutError(nil) != nil || !strings.Contains(OutError(first).Error(), "first") {
		t.Errorf("%v, %v", w.Err, OutError(first))
	}
}
