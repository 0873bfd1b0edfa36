package main

import (
	"bytes"
	"crypto/sha1" // it is what the index has, and nothing is secured by it
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
)

// writeLines writes lines as one zstd frame.
func writeLines(name string, lines [][]byte) error {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	text := append(bytes.Join(lines, []byte("\n")), '\n')
	return os.WriteFile(name, enc.EncodeAll(text, nil), 0o644)
}

// writeRules copies the chosen files of the collection into rules, checks each against its SHA-1,
// and lists them in sources.tsv.
func writeRules(c *corpus.Corpus, out string, chosen []source) error {
	rules := filepath.Join(out, "rules")
	if err := errors.Join(os.RemoveAll(rules), os.MkdirAll(rules, 0o755)); err != nil {
		return err
	}
	bodies := map[string][]byte{}
	for r, err := range c.Rules {
		if err != nil {
			return err
		}
		bodies[r.Name] = r.Body
	}
	list := []string{strings.Join(columns, "\t")}
	for i := range chosen {
		s := &chosen[i]
		body, ok := bodies[s.field("path")]
		if sum := sha1.Sum(body); !ok || hex.EncodeToString(sum[:]) != s.field("sha1") {
			return fmt.Errorf("%s is missing or not the file that the index describes", s.field("path"))
		}
		if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(s.field("path"))), body, 0o644); err != nil {
			return err
		}
		list = append(list, strings.Join(s.fields, "\t"))
	}
	return os.WriteFile(filepath.Join(out, "sources.tsv"), []byte(strings.Join(list, "\n")+"\n"), 0o644)
}

// copyLicences copies the files of a folder.
func copyLicences(from, to string) error {
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o755)); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
