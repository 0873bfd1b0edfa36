package series

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/ingest/logfiles"
)

// BenchmarkSourceOf measures what records and -resume cost per byte of an input.
func BenchmarkSourceOf(b *testing.B) {
	name := filepath.Join(b.TempDir(), "log")
	if err := os.WriteFile(name, make([]byte, 64<<20), 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(64 << 20)
	for b.Loop() {
		if _, err := SourceOf(&Item{File: logfiles.File{Name: name}}, name); err != nil {
			b.Fatal(err)
		}
	}
}
