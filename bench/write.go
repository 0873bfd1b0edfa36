package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/robots"
)

// WriteLog writes the log as a text of one URL a line, in so many zstd frames of equally many lines; no frames is
// plain text.
func (g *Generator) WriteLog(w io.Writer, order Order, frames int) (err error) {
	if frames <= 0 {
		return g.writeText(w, order)
	}
	enc, err := zstd.NewWriter(w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, enc.Close()) }()
	per := max(1, (g.spec.URLs+int64(frames)-1)/int64(frames))
	n := int64(0)
	for url := range g.URLs(order) {
		if n > 0 && n%per == 0 {
			if err := enc.Close(); err != nil {
				return err
			}
			enc.Reset(w)
		}
		n++
		if _, err := enc.Write(append(url, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (g *Generator) writeText(w io.Writer, order Order) error {
	buf := bufio.NewWriterSize(w, 1<<16)
	for url := range g.URLs(order) {
		buf.Write(url) //nolint:errcheck // sticky, and Flush returns it
		buf.WriteByte('\n')
	}
	return buf.Flush()
}

// WriteRules writes responses as rules for the command: as JSON Lines, if the name ends in .jsonl or .jsonl.zst, or
// else as files in a directory, which is made.
func WriteRules(name string, all iter.Seq2[robots.Response, error]) error {
	if strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".jsonl.zst") {
		return writeLines(name, all)
	}
	return writeFiles(name, all)
}

// writeFiles writes each body to dir/<scheme>_<host>.txt.
func writeFiles(dir string, all iter.Seq2[robots.Response, error]) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for r, err := range all {
		if err != nil {
			return err
		}
		file := strings.ReplaceAll(strings.Replace(string(r.Origin), "://", "_", 1), ":", "_") + ".txt"
		if err := os.WriteFile(filepath.Join(dir, file), r.Body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A responseLine is a line of JSON Lines as package ingest reads it.
type responseLine struct {
	Origin robots.Origin `json:"origin"`
	Status int           `json:"status"`
	Body   *string       `json:"body,omitempty"`
	Base64 []byte        `json:"body_b64,omitempty"` // what is not UTF-8
}

// writeLines writes a response a line.
func writeLines(name string, all iter.Seq2[robots.Response, error]) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := io.WriteCloser(nopCloser{f})
	if strings.HasSuffix(name, ".zst") {
		if w, err = zstd.NewWriter(f); err != nil {
			return err
		}
	}
	buf := bufio.NewWriterSize(w, 1<<16)
	lines := json.NewEncoder(buf)
	lines.SetEscapeHTML(false)
	for r, err := range all {
		if err != nil {
			return err
		}
		line := responseLine{Origin: r.Origin, Status: r.Status}
		if utf8.Valid(r.Body) {
			body := string(r.Body)
			line.Body = &body
		} else {
			line.Base64 = r.Body
		}
		if err := lines.Encode(line); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return errors.Join(buf.Flush(), w.Close())
}

// A nopCloser leaves closing to somebody else.
type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }

// WriteFile makes a file of what write writes.
func WriteFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
