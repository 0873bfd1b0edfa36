package partition

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestHiveEscape tests names that Windows rejects or changes.
func TestHiveEscape(t *testing.T) {
	for _, test := range []struct{ value, want, windows string }{
		{"https://a.example:80", "https%3A%2F%2Fa.example%3A80", "https%3A%2F%2Fa.example%3A80"},
		{"a b<c>d|e", "a b<c>d|e", "a%20b%3Cc%3Ed%7Ce"},
		{"a..", "a..", "a.%2E"},
		{".", ".", "%2E"},
		{"a ", "a ", "a%20"},
	} {
		if got := hiveEscape(test.value, false); got != test.want {
			t.Errorf("%q is %q, want %q", test.value, got, test.want)
		}
		if got := hiveEscape(test.value, true); got != test.windows {
			t.Errorf("%q is %q on Windows, want %q", test.value, got, test.windows)
		}
	}
}

// TestMarkerLink tests that a link is not treated as a file of an earlier run, which may be replaced.
func TestMarkerLink(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "host=a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(root, "host=a", "part-0.csv")); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	m := Marker{PartitionBy: []string{"host"}, Format: ".csv"}
	if err := m.checkFiles(root, ".", entries); !errors.Is(err, ErrForeign) {
		t.Errorf("a link: %v", err)
	}
}
