package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha1" // it is what the index has, and nothing is secured by it
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// readLines returns the lines of a zstd file, without their ends.
func readLines(name string) ([][]byte, error) {
	packed, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	text, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), nil
}

// writeLines writes lines as one zstd frame.
func writeLines(name string, lines [][]byte) error {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	text := append(bytes.Join(lines, []byte("\n")), '\n')
	return os.WriteFile(name, enc.EncodeAll(text, nil), 0o644)
}

// writeRules copies the chosen files out of the archive into rules, checks each against its SHA-1,
// and lists them in sources.tsv.
func writeRules(archive, out string, chosen []source) error {
	rules := filepath.Join(out, "rules")
	if err := errors.Join(os.RemoveAll(rules), os.MkdirAll(rules, 0o755)); err != nil {
		return err
	}
	bodies, err := readArchive(archive)
	if err != nil {
		return err
	}
	list := []string{strings.Join(columns, "\t")}
	for i := range chosen {
		s := &chosen[i]
		body, ok := bodies[s.field("path")]
		if sum := sha1.Sum(body); !ok || hex.EncodeToString(sum[:]) != s.field("sha1") {
			return fmt.Errorf("%s: %s is missing or not the file that the index describes", archive, s.field("path"))
		}
		if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(s.field("path"))), body, 0o644); err != nil {
			return err
		}
		list = append(list, strings.Join(s.fields, "\t"))
	}
	return os.WriteFile(filepath.Join(out, "sources.tsv"), []byte(strings.Join(list, "\n")+"\n"), 0o644)
}

// readArchive returns the files of a .tar.zst by name.
func readArchive(name string) (map[string][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	dec, err := zstd.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	bodies := make(map[string][]byte)
	for r := tar.NewReader(dec); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return bodies, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if bodies[h.Name], err = io.ReadAll(r); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, h.Name, err)
		}
	}
}

// copyLicences copies the files of a folder.
func copyLicences(from, to string) error {
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o755)); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
