//go:build linux

package rulefiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDescriptor checks that a file descriptor is read as captures, or as the robots.txt of an origin if one is given.
func TestDescriptor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rules")
	text := `{"origin": "https://a.example", "body": "User-agent: *\nDisallow: /x\n"}` + "\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/dev/fd/%d", f.Fd())
	for _, c := range []struct{ origin, want, body string }{
		{"", "https://a.example", "User-agent: *\nDisallow: /x\n"},
		{"https://b.example", "https://b.example", text},
	} {
		files, err := Find(path, c.origin)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for r, err := range files.Responses() {
			if seen++; err != nil || string(r.Origin) != c.want || string(r.Body) != c.body {
				t.Errorf("origin %q: %q, %q, %v", c.origin, r.Origin, r.Body, err)
			}
		}
		if seen != 1 {
			t.Errorf("origin %q: %d responses", c.origin, seen)
		}
	}
	if _, err := Find(name, ""); err == nil || errors.Is(err, ErrNoOrigin) {
		t.Errorf("a name that is gone: %v", err)
	}
}
