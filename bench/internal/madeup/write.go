package madeup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// WriteLog writes the log as text with one URL per line, in zstd frames with equal numbers of lines. 0 frames mean
// plain text.
func (g *Generator) WriteLog(w io.Writer, order Order, frames int) error {
	return g.writeLines(w, order, frames, "", func(dst, url []byte, _ int64) []byte { return append(dst, url...) })
}

// writeLines writes a header, and the line that appendLine makes for each URL and its number in the log, in zstd
// frames with equal numbers of lines. 0 frames mean plain text. The header has no frame of its own.
func (g *Generator) writeLines(w io.Writer, order Order, frames int, header string, appendLine func(dst, url []byte, n int64) []byte) error {
	text, perFrame := bufio.NewWriterSize(w, 1<<16), g.spec.URLs
	enc, err := zstd.NewWriter(w)
	if err != nil {
		return err
	}
	if frames > 0 {
		text.Reset(enc)
		perFrame = (g.spec.URLs + int64(frames) - 1) / int64(frames)
	}
	text.WriteString(header)
	var line []byte
	n := int64(0)
	for url := range g.URLs(order) {
		if n > 0 && n%perFrame == 0 {
			if err := errors.Join(text.Flush(), enc.Close()); err != nil {
				return err
			}
			enc.Reset(w)
		}
		line = append(appendLine(line[:0], url, n), '\n')
		n++
		text.Write(line)
	}
	err = text.Flush()
	if frames > 0 {
		err = errors.Join(err, enc.Close())
	}
	return err
}

// WriteRules writes responses as rules for the command: as JSON Lines if the name ends in .jsonl or .jsonl.zst,
// otherwise as files in a new directory.
func WriteRules(name string, all iter.Seq2[robots.Response, error]) error {
	if !strings.HasSuffix(name, ".jsonl.zst") && !strings.HasSuffix(name, ".jsonl") {
		// Write each body to dir/<scheme>_<host>.txt.
		err := os.MkdirAll(name, 0o755)
		for r, errRead := range all {
			if err = errors.Join(err, errRead); err != nil {
				break
			}
			file := strings.ReplaceAll(strings.Replace(string(r.Origin), "://", "_", 1), ":", "_") + ".txt"
			err = os.WriteFile(filepath.Join(name, file), r.Body, 0o644)
		}
		return err
	}
	return WriteFile(name, func(w io.Writer) (err error) {
		enc, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		text := bufio.NewWriterSize(w, 1<<16)
		if strings.HasSuffix(name, ".zst") {
			text.Reset(enc)
			defer func() { err = errors.Join(err, enc.Close()) }()
		}
		lines := json.NewEncoder(text)
		lines.SetEscapeHTML(false)
		for r, err := range all {
			if err != nil {
				return err
			}
			line := struct { // as package ingest reads it
				Origin robots.Origin `json:"origin"`
				Status int           `json:"status"`
				Body   *string       `json:"body,omitempty"`
				Base64 []byte        `json:"body_b64,omitempty"` // the body, if it is not UTF-8
			}{Origin: r.Origin, Status: r.Status, Base64: r.Body}
			if body := string(r.Body); utf8.ValidString(body) {
				line.Body, line.Base64 = &body, nil
			}
			if err := lines.Encode(line); err != nil {
				return err
			}
		}
		return text.Flush()
	})
}

// WritePack compiles responses in the command's default dialect.
func WritePack(name string, all iter.Seq2[robots.Response, error]) error {
	return WriteFile(name, func(w io.Writer) error {
		_, err := engine.WritePack(context.Background(), w.(*os.File), all, engine.PackOptions{Dialect: robots.Google, TempDir: filepath.Dir(name)})
		return err
	})
}

// WriteFile creates or replaces a file, and calls write to fill it.
func WriteFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
