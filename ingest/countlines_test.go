package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/ingest"
)

// TestCountLines counts the line ends of packed and unpacked logs, and expects an error for inputs that are not text.
func TestCountLines(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain.txt")
	if err := os.WriteFile(plain, []byte(strings.Repeat("https://a.com/\n", 70_000)+"https://a.com/no-end"), 0o666); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join("..", "testdata", "quickstart", "urls.zst")
	for _, ahead := range []int{0, 2} {
		if n, err := ingest.CountLines([]string{plain, packed, plain}, ingest.LogOptions{Ahead: ahead}); n != 2*70_000+32_576 || err != nil {
			t.Errorf("with %d ahead: %d lines, %v", ahead, n, err)
		}
	}
	warc := filepath.Join(t.TempDir(), "x.warc")
	if err := os.WriteFile(warc, []byte("WARC/1.0\r\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if n, err := ingest.CountLines([]string{plain, warc}, ingest.LogOptions{}); n != 0 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("captures: %d lines, %v", n, err)
	}
	if _, err := ingest.CountLines([]string{"nosuch"}, ingest.LogOptions{}); err == nil {
		t.Error("no error without the file")
	}
}
