// Package testpack packs files for tests of the packages below ingest, which import it.
package testpack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Zstd returns text as one zstd frame.
func Zstd(tb testing.TB, text []byte, opts ...zstd.EOption) []byte {
	tb.Helper()
	e, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return e.EncodeAll(text, nil)
}

// Gzip returns text as one gzip member.
func Gzip(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// Skippable returns a Skippable zstd frame of n bytes.
func Skippable(n byte) []byte {
	return append([]byte{0x5a, 0x2a, 0x4d, 0x18, n, 0, 0, 0}, make([]byte, n)...)
}

// WriteFile writes a file in a directory and returns its path.
func WriteFile(tb testing.TB, dir, name string, data []byte) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

// HardText returns a text of n lines in which zstd finds few repetitions.
func HardText(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var buf bytes.Buffer
	for i := range n {
		fmt.Fprintf(&buf, "https://www.example.com/%d/%x/%x/index.html\n", i, r.Uint64(), r.Uint64N(1<<20))
	}
	return buf.Bytes()
}
