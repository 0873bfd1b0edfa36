package unpack

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/flate"

	files "github.com/robobatch/robobatch/internal/storage"
)

// maxDirectory is the maximum size of the directory of a zip archive, enough for about 100,000 files. In memory, a
// directory is several times larger.
const maxDirectory = 8 << 20

// A ZipError is the ErrFormat of a zip archive whose files cannot be read.
type ZipError struct {
	Members []string // files in the archive, if one must be named
	Reason  string   // the fault; "" if several files exist and none was named
}

// Error names the fault.
func (e *ZipError) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	return fmt.Sprintf("is a zip archive of %d files, but only one can be read", len(e.Members))
}

// Unwrap returns ErrFormat.
func (e *ZipError) Unwrap() error { return ErrFormat }

// SplitMember splits the name of a file in a zip archive: "logs.zip/a/b.csv" into "logs.zip" and "a/b.csv". ok is false
// if no such archive exists.
func SplitMember(name string) (archive, member string, ok bool) {
	if files.IsRemote(name) { // each check takes a request
		archive, member, ok = strings.Cut(name, ".zip/")
		return archive + ".zip", member, ok && member != ""
	}
	for i := len(filepath.VolumeName(name)) + 1; i < len(name); i++ {
		if !os.IsPathSeparator(name[i]) {
			continue
		}
		info, err := os.Stat(name[:i])
		if err != nil {
			return "", "", false
		}
		if info.Mode().IsRegular() {
			return name[:i], filepath.ToSlash(name[i+1:]), true
		}
	}
	return "", "", false
}

// ZipSize returns the packed size of a file in a zip archive. If member is "", the archive must have only one file. The
// error is a [*ZipError] or that of the archive.
func ZipSize(file io.ReaderAt, size int64, member string) (int64, error) {
	_, m, err := findMember(file, size, member)
	if err != nil {
		return 0, err
	}
	return int64(m.CompressedSize64), nil
}

// findMember finds a file in a zip archive of the given size. If member is "", the archive must have only one file. The
// error is a [*ZipError] or that of the archive. r can register decompressors before m is opened.
func findMember(file io.ReaderAt, size int64, member string) (r *zip.Reader, m *zip.File, err error) {
	directory := &boundedFile{file, maxDirectory}
	if r, err = zip.NewReader(directory, size); err != nil {
		return nil, nil, err
	}
	directory.left = math.MaxInt64
	// The file must contain nothing besides the archive of its last directory: other files would be silently omitted, for
	// example if two archives were concatenated. The directory must end where the end record begins. The record is
	// followed by the comment, whose length it states, and nothing else.
	note := len(r.Comment)
	var end [zip64EndLen + zip64PlaceLen + zipEndLen]byte
	at := size - int64(note) - int64(len(end)) // position of the end record of a large archive, before that of a small one
	if _, err := file.ReadAt(end[max(0, -at):][:min(int64(len(end)), max(0, size-int64(note)))], max(0, at)); err != nil {
		return nil, nil, err
	}
	le, large, small := binary.LittleEndian, end[:zip64EndLen], end[zip64EndLen+zip64PlaceLen:]
	length, start := uint64(le.Uint32(small[12:])), uint64(le.Uint32(small[16:]))
	switch isLarge := string(large[:4]) == zip64End && string(end[zip64EndLen:][:4]) == zip64Place; {
	case string(small[:4]) != zipEnd:
		return nil, nil, errJoined
	case !isLarge:
		at += int64(len(large)) + zip64PlaceLen
	case start == 1<<32-1, length == 1<<32-1, le.Uint16(small[10:]) == 1<<16-1: // some write both in any case
		length, start = le.Uint64(large[40:]), le.Uint64(large[48:])
	}
	if start+length != uint64(at) {
		return nil, nil, errJoined
	}

	var found []*zip.File
	var names []string
	for _, m := range r.File {
		switch {
		case m.Name == "[Content_Types].xml" && member == "":
			return nil, nil, &ZipError{Reason: "is an Office document, such as .xlsx: save the table as CSV"}
		case strings.HasSuffix(m.Name, "/"), strings.HasPrefix(m.Name, "__MACOSX/"), path.Base(m.Name) == ".DS_Store":
		default:
			names = append(names, m.Name)
			if member == "" || m.Name == member {
				found = append(found, m)
			}
		}
	}
	switch {
	case len(found) == 0 && member != "":
		return nil, nil, &ZipError{Reason: "is not in the zip archive", Members: names}
	case len(found) == 0:
		return nil, nil, &ZipError{Reason: "is a zip archive without a file"}
	case len(found) > 1:
		return nil, nil, &ZipError{Members: names}
	case found[0].Flags&1 != 0:
		return nil, nil, &ZipError{Reason: "is encrypted: unpack it first"}
	case found[0].Method != zip.Store && found[0].Method != zip.Deflate:
		return nil, nil, &ZipError{Reason: fmt.Sprintf("is compressed with the unsupported zip method %d: unpack it first", found[0].Method)}
	case found[0].CRC32 == 0 && found[0].UncompressedSize64 > 0: // the library would not check it
		return nil, nil, &ZipError{Reason: "has no checksum: unpack it first"}
	}
	return r, found[0], nil
}

// End records of a zip archive (APPNOTE 4.3.14 to 4.3.16).
const (
	zipEnd        = "PK\x05\x06" // size of the directory at 12, its position at 16
	zip64Place    = "PK\x06\x07" // before it, in a large archive
	zip64End      = "PK\x06\x06" // before that: size at 40, position at 48
	zipEndLen     = 22
	zip64EndLen   = 56
	zip64PlaceLen = 20
)

// A boundedFile is a file from which only a limited number of bytes can be read.
type boundedFile struct {
	io.ReaderAt
	left int
}

// ReadAt reads, or returns an errLongDirectory.
func (f *boundedFile) ReadAt(p []byte, at int64) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errLongDirectory
	}
	return f.ReaderAt.ReadAt(p, at)
}

// errLongDirectory means that a directory is larger than maxDirectory.
var errLongDirectory = &ZipError{Reason: "is a zip archive of too many files: unpack it first"}

// errJoined means that a file holds more than the archive of its last directory.
var errJoined = &ZipError{Reason: "is a zip archive with other bytes before or after it, such as another archive: " +
	"unpack the archives separately before you join them"}

// A zipText reads the text of a file in a zip archive. The text is unverified until its end, where the library checks
// the sum.
type zipText struct {
	r     io.Reader
	last  lastRead
	parts verifiedParts
}

// Read reads text. For a wrong size, the library returns an error without the text that it has unpacked; Read returns
// that text, too.
func (z *zipText) Read(p []byte) (int, error) {
	z.last.n = 0
	n, err := z.r.Read(p)
	if err != nil {
		n = z.last.n
	}
	z.parts.given += int64(n)
	if err == io.EOF {
		z.parts.endPart(true)
	}
	return n, err
}

func (z *zipText) verified() *verifiedParts { return &z.parts }

// A lastRead records the size of the last read.
type lastRead struct {
	io.Reader
	n int
}

// Read reads.
func (r *lastRead) Read(p []byte) (n int, err error) {
	r.n, err = r.Reader.Read(p)
	return r.n, err
}

// Close does nothing.
func (r *lastRead) Close() error { return nil }

// openZip opens a file in a zip archive. If member is "", the archive must have only one file. Read returns any fault.
// Close closes f.
func (t *textReader) openZip(f files.File, member string) {
	t.start(f, f)
	t.packing = Zip
	r, m, err := findMember(f, SizeOf(f), member)
	if err == nil {
		text := &zipText{}
		from := func(raw, unpacked io.Reader) io.ReadCloser {
			t.file, text.last.Reader = raw, unpacked
			return &text.last
		}
		// Read packed bytes through t.buf, which counts them, and reads more than 4 KiB at once.
		r.RegisterDecompressor(zip.Store, func(raw io.Reader) io.ReadCloser { return from(raw, t.buf) })
		r.RegisterDecompressor(zip.Deflate, func(raw io.Reader) io.ReadCloser { return from(raw, flate.NewReader(t.buf)) })
		text.r, err = m.Open()
		t.text = text
	}
	if err != nil {
		t.text, t.fault = bytes.NewReader(nil), cutShortError(err, 1) // a truncated directory is not an end of the text
		return
	}
	if at, err := m.DataOffset(); err == nil { // the directory may claim more than exists
		t.size = min(int64(m.CompressedSize64&(1<<63-1)), SizeOf(f)-at)
	}
}
