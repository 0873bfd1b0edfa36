package unpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/internal/storage"
)

// A Packing is the compression or archive format of a file.
type Packing uint8

// The packings. Those from XZ on are not supported for captures, and those from LZ4 on not for any input.
const (
	None Packing = iota
	Zstd
	Gzip
	XZ
	Bzip2
	Zip
	LZ4
	Lzip
	Compress
	SevenZip
	RAR
	Tar
	UTF32 // an encoding, but it also needs a conversion tool
)

// packings describes each Packing, indexed by its value.
var packings = [...]struct {
	name  string
	magic string                 // the first bytes
	tool  string                 // the command that unpacks it to standard output
	has   func(head []byte) bool // further checks of the first bytes; nil if there are none
}{
	None:     {"text", "", "", nil},
	Zstd:     {"zstd", "\x28\xb5\x2f\xfd", "zstd -dc", nil},
	Gzip:     {"gzip", "\x1f\x8b", "gzip -dc", nil},
	XZ:       {"xz", "\xfd7zXZ\x00", "xz -dc", nil},
	Bzip2:    {"bzip2", "BZh", "bzip2 -dc", isBzip2},
	Zip:      {"zip", "PK\x03\x04", "unzip -p", nil},
	LZ4:      {"lz4", "\x04\x22\x4d\x18", "lz4 -dc", nil},
	Lzip:     {"lzip", "LZIP\x01", "lzip -dc", nil},
	Compress: {"compress (.Z)", "\x1f\x9d", "gzip -dc", nil},
	SevenZip: {"7z", "7z\xbc\xaf\x27\x1c", "7z x -so", nil},
	RAR:      {"rar", "Rar!\x1a\x07", "unrar p -inul", nil},
	Tar: {"tar", "", "tar -xOf", func(head []byte) bool { // the POSIX magic follows the name and numbers of the first file
		return len(head) >= tarMagicEnd && string(head[tarMagicEnd-5:tarMagicEnd]) == "ustar"
	}},
	UTF32: {"UTF-32", "", "iconv -f UTF-32 -t UTF-8", func(head []byte) bool { // the byte order mark
		return bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")) || bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff"))
	}},
}

const tarMagicEnd = 262

// tarTools are the commands that unpack all files of a tar archive, by packing.
var tarTools = map[Packing]string{
	None: "tar -xOf", Gzip: "tar -xzOf", Zstd: "tar --zstd -xOf", XZ: "tar -xJOf", Bzip2: "tar -xjOf", Zip: "unzip -p",
}

// isBzip2 reports whether head begins a bzip2 file: the block size is followed by the first block or the end of an
// empty file.
func isBzip2(head []byte) bool {
	return len(head) >= 10 && head[3] >= '1' && head[3] <= '9' && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17rE8P\x90")
}

// String returns the name: "zstd".
func (p Packing) String() string { return packings[p].name }

// A PackingError is the ErrFormat of an input with unsupported packing.
type PackingError struct {
	Packing Packing
	Outer   Packing // the outer packing, if the text of a packed file is packed again
	Tool    string  // the command that unpacks a file, or Outer, to standard output: "xz -dc"
}

// Error names the packing.
func (e *PackingError) Error() string {
	if e.Outer != None {
		return fmt.Sprintf("%s within %s is %v", e.Packing, e.Outer, ErrFormat)
	}
	if e.Packing == UTF32 {
		return "the text is UTF-32, which is not supported"
	}
	return fmt.Sprintf("%s is %v", e.Packing, ErrFormat)
}

// Unwrap returns ErrFormat.
func (e *PackingError) Unwrap() error { return ErrFormat }

// refusal returns a PackingError for an unsupported packing, nil for others.
func (p Packing) refusal() error {
	if p <= Gzip {
		return nil
	}
	return &PackingError{Packing: p, Tool: packings[p].tool}
}

// A Content is the kind of an unpacked text.
type Content uint8

// The contents.
const (
	Text    Content = iota // text that is read by lines, or as a whole
	WARC                   // a web archive
	JSONL                  // captures in JSON Lines; detected by name only
	Parquet                // a Parquet file, which is not packed
)

// A Type is the kind of a file.
type Type struct {
	Packing Packing
	Content Content
}

// HeadLen is the number of leading bytes that Detect needs.
const HeadLen = tarMagicEnd

const (
	parquetMagic = "PAR1"

	// WARCMagic begins each record of a WARC file.
	WARCMagic = "WARC/1."
)

// Detect returns the type of an input from its first HeadLen bytes, or all of them if it is shorter. For a packed
// input, the content is unknown and returned as Text.
func Detect(head []byte) Type {
	if isSkippable(head) {
		return Type{Packing: Zstd}
	}
	for p := Zstd; int(p) < len(packings); p++ {
		if is := packings[p]; bytes.HasPrefix(head, []byte(is.magic)) && (is.has == nil || is.has(head)) {
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

// Named returns the content that the base name of a rules file indicates: Text, WARC or JSONL. A name that ends in .txt
// is a host name, even if it contains a format.
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

// DetectFile returns the type of a log. It unpacks the start of a packed file only if the name contains .warc; for
// others, the reader unpacks the text anyway. A file that cannot be read is Text.
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

// Head returns the first [HeadLen] bytes of a named file, or all if it is shorter; nil if it cannot be read.
func Head(name string) []byte {
	f, err := storage.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := readHead(f)
	return head
}

// readHead returns the first HeadLen bytes of a file, or all if it is shorter. The end of the file is not an error.
func readHead(file io.ReaderAt) ([]byte, error) {
	head := make([]byte, HeadLen)
	n, err := file.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

// capturePacking returns the packing of a capture file. If the first bytes match neither a packing nor a capture, they
// may be damaged, so the name decides. An unsupported packing is an ErrFormat with a remedy.
func capturePacking(head []byte, name string) (Packing, error) {
	p := Detect(head).Packing
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), "\r\n\t ")
	switch {
	case p >= XZ: // the remedy writes a file, because a WARC file cannot be piped
		what, verb := fmt.Errorf("%s is %w", p, ErrFormat), "unpack"
		if p == UTF32 {
			what, verb = p.refusal(), "convert"
		}
		return p, fmt.Errorf("%w: %s it first, for example: %s %s > %[2]sed", what, verb, packings[p].tool, fault.Display(name))
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

// ByteOrderMark is optional at the start of UTF-8 text.
const ByteOrderMark = "\ufeff"
