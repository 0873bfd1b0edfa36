//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"os/exec"

	"github.com/klauspost/compress/zstd"
)

// A packing is a way to pack a text, and a strict reader of it: one that returns an error for
// anything that is not as it should be, and the text before.
type packing struct {
	name   string
	pack   func(texts [][]byte) ([]byte, error) // each text becomes a frame, member or stream, if there are such
	unpack func(data []byte) ([]byte, error)
}

var packings = []packing{
	{"gz", packGzip, func(data []byte) ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}},
	{"zst", func(texts [][]byte) ([]byte, error) { return packZstd(texts, true) }, unpackZstd},
	{"zst without checksums", func(texts [][]byte) ([]byte, error) { return packZstd(texts, false) }, unpackZstd},
	{"xz", packTool("xz", "-c"), unpackTool("xz", "-dc")},
	{"bz2", packTool("bzip2", "-c"), func(data []byte) ([]byte, error) { return io.ReadAll(bzip2.NewReader(bytes.NewReader(data))) }},
	{"zip", packZip, unpackZip},
}

func packGzip(texts [][]byte) ([]byte, error) {
	var out bytes.Buffer
	for _, text := range texts {
		w := gzip.NewWriter(&out)
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func packZstd(texts [][]byte, checksum bool) (out []byte, err error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(checksum), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		out = w.EncodeAll(text, out)
	}
	return out, w.Close()
}

func unpackZstd(data []byte) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// packTool returns a packer that runs a tool for each text.
func packTool(name string, arguments ...string) func([][]byte) ([]byte, error) {
	unpack := unpackTool(name, arguments...)
	return func(texts [][]byte) (out []byte, err error) {
		for _, text := range texts {
			packed, err := unpack(text)
			if err != nil {
				return nil, err
			}
			out = append(out, packed...)
		}
		return out, nil
	}
}

// unpackTool returns a function that sends bytes through a tool.
func unpackTool(name string, arguments ...string) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		cmd := exec.Command(name, arguments...)
		cmd.Stdin = bytes.NewReader(data)
		return cmd.Output()
	}
}

func packZip(texts [][]byte) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.Create("log.txt")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(bytes.Join(texts, nil)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func unpackZip(data []byte) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if len(r.File) != 1 {
		return nil, fmt.Errorf("%d members", len(r.File))
	}
	f, err := r.File[0].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(f)
}

// pieces cuts a text at ends of lines, or one in two anywhere, into as many parts.
func pieces(text []byte, n int) (parts [][]byte) {
	for size := len(text)/n + 1; len(text) > size; {
		at := size
		if end := bytes.IndexByte(text[size:], '\n'); end >= 0 && len(parts)%2 == 0 {
			at += end + 1
		}
		parts = append(parts, text[:at])
		text = text[at:]
	}
	return append(parts, text)
}

// judgePacked judges the rows of a packed text that was damaged. If the strict reader takes it, the
// rows are the rows of the text that it gives. If it does not, the run must say so, and its rows are
// the rows of the text before the damage, or said not to be verified.
func (a *attack) judgePacked(f *textFormat, p *packing, b *base, data []byte, res *result) (judgement, string) {
	text, err := p.unpack(data)
	if err == nil {
		j, reason := a.judgeText(f, b, text, res)
		if j == whole && !bytes.Equal(text, b.text) {
			j = unseen
		}
		return j, reason
	}
	if res.code == 0 {
		if j, _ := judgeRecoded(b, res); j == whole || res.warned() { // the damage is to bytes that nobody needs
			return j, ""
		}
		return wrong, fmt.Sprintf("exit code 0, and the strict reader says: %v", err)
	}
	for _, got := range res.rows {
		if !b.has(got) {
			return excused(res, got.Line, false, fmt.Sprintf("%v is no row of what was packed", got))
		}
	}
	return refused, ""
}
