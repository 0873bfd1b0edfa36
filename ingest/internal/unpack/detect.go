package unpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
)

// A Packing is how the text of a file is packed.
type Packing uint8

// The packings. Those from XZ on are recognised only to refuse them.
const (
	None Packing = iota
	Zstd
	Gzip
	XZ
	Bzip2
	Zip
)

// packings describes each Packing, by its value.
var packings = [...]struct {
	name  string
	magic string // the first bytes
	tool  string // what unpacks it, where this package does not
}{
	None:  {name: "text"},
	Zstd:  {name: "zstd", magic: "\x28\xb5\x2f\xfd"},
	Gzip:  {name: "gzip", magic: "\x1f\x8b"},
	XZ:    {"xz", "\xfd7zXZ\x00", "xz -dc"},
	Bzip2: {"bzip2", "BZh91AY&SY", "bzip2 -dc"},
	Zip:   {"zip", "PK\x03\x04", "unzip -p"},
}

// String returns the name: "zstd".
func (p Packing) String() string { return packings[p].name }

// A PackingError is an ErrFormat: the input is packed in a way that is not read.
type PackingError struct {
	Packing Packing
	Tool    string // the command that unpacks a file to standard output: "xz -dc"
}

// Error names the packing.
func (e *PackingError) Error() string { return fmt.Sprintf("%s is %v", e.Packing, ErrFormat) }

// Unwrap returns ErrFormat.
func (e *PackingError) Unwrap() error { return ErrFormat }

// refusal returns a PackingError for a packing that is not read, nil for others.
func (p Packing) refusal() error {
	if p < XZ {
		return nil
	}
	return &PackingError{p, packings[p].tool}
}

// A Content is what a file holds once it is unpacked.
type Content uint8

// The contents.
const (
	Text    Content = iota // anything that is read by lines, or as a whole
	WARC                   // a web archive
	JSONL                  // captures in JSON Lines; only a name says so
	Parquet                // a Parquet file, which is not packed
)

// A Type is what a file is.
type Type struct {
	Packing Packing
	Content Content
}

// HeadLen is how many of the first bytes Detect needs.
const HeadLen = 10

const (
	parquetMagic = "PAR1"

	// WARCMagic begins each record of a WARC file.
	WARCMagic = "WARC/1."
)

// Detect returns the type of an input by its first HeadLen bytes; by all of its bytes if there are
// fewer. The content of a packed input is unknown: Text.
func Detect(head []byte) Type {
	if isSkippable(head) {
		return Type{Packing: Zstd}
	}
	for p := Zstd; int(p) < len(packings); p++ {
		if bytes.HasPrefix(head, []byte(packings[p].magic)) {
			return Type{Packing: p}
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte(parquetMagic)):
		return Type{Content: Parquet}
	case bytes.HasPrefix(bytes.TrimLeft(head, "\r\n"), []byte(WARCMagic)):
		return Type{Content: WARC}
	}
	return Type{}
}

// Named returns the content that the base name of a file claims, for files that are rules: Text,
// WARC or JSONL. A name that ends in .txt is that of a host, whatever the host.
func Named(base string) Content {
	switch {
	case strings.HasSuffix(base, ".txt"):
		return Text
	case strings.Contains(base, ".warc"):
		return WARC
	case strings.Contains(base, ".jsonl"):
		return JSONL
	}
	return Text
}

// DetectFile returns the type of a log. It looks into a packed file only if the name has .warc in
// it: for all others the reader unpacks the text anyway. If such a file cannot be unpacked, its
// name decides.
func DetectFile(name string, file io.ReaderAt, size int64) Type {
	head, err := readHead(file)
	if err != nil {
		return Type{}
	}
	t := Detect(head)
	if t.Packing != Zstd && t.Packing != Gzip || !strings.Contains(name, ".warc") {
		return t
	}
	s := NewSegments("")
	defer s.Release()
	if s.Reset(name, file, size) != nil {
		return t
	}
	text, _ := s.Text.Peek(len(WARCMagic))
	if bytes.HasPrefix(bytes.TrimLeft(text, "\r\n"), []byte(WARCMagic[:len(text)])) {
		t.Content = WARC
	}
	return t
}

// readHead returns the first bytes of a file.
func readHead(file io.ReaderAt) ([]byte, error) {
	head := make([]byte, HeadLen)
	n, err := file.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

// capturePacking returns the packing of a file of captures. If the first bytes are neither of a
// packing nor of a capture, they may be damaged: then the name decides.
func capturePacking(head []byte, name string) (Packing, error) {
	p := Detect(head).Packing
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), "\r\n\t ")
	switch {
	case p >= XZ: // a WARC file has to be unpacked to a file, not into a pipe
		return p, fmt.Errorf("%s is %w: unpack it first, as in: %s %s > unpacked", p, ErrFormat, packings[p].tool, fault.Display(name))
	case p != None:
		return p, nil
	case bytes.HasPrefix(text, []byte(WARCMagic[:5])) || bytes.HasPrefix(text, []byte("{")):
		return None, nil
	case strings.HasSuffix(name, ".gz"):
		return Gzip, nil
	case strings.HasSuffix(name, ".zst"), strings.HasSuffix(name, ".zstd"):
		return Zstd, nil
	}
	return None, nil
}

// ByteOrderMark may stand at the start of a text in UTF-8.
const ByteOrderMark = "\ufeff"
