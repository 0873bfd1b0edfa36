package unpack

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	files "github.com/robobatch/robobatch/internal/place"
)

// maxDirectory is the longest directory of a zip archive that is read, in bytes: about 100,000
// files. A directory makes several times as much memory.
const maxDirectory = 8 << 20

// A ZipError is the ErrFormat of a zip archive whose files are not read.
type ZipError struct {
	Members []string // the files in it, if one of them must be named
	Reason  string   // the fault; "" if there are several files, and none was named
}

// Error names the fault.
func (e *ZipError) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	return fmt.Sprintf("is a zip archive of %d files, and one is read", len(e.Members))
}

// Unwrap returns ErrFormat.
func (e *ZipError) Unwrap() error { return ErrFormat }

// SplitMember cuts the name of a file in a zip archive into the archive's and its own:
// "logs.zip/a/b.csv" into "logs.zip" and "a/b.csv". ok is false if no such archive is there.
func SplitMember(name string) (archive, member string, ok bool) {
	if files.IsRemote(name) { // each look takes a request
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

// ZipSize returns the packed size of a file in a zip archive. It is the only file if member is "".
// The error is a [*ZipError], or the archive's.
func ZipSize(file io.ReaderAt, size int64, member string) (int64, error) {
	m, err := findMember(file, size, member)
	if err != nil {
		return 0, err
	}
	return int64(m.CompressedSize64), nil
}

// findMember finds a file in a zip archive, the only one if member is "".
func findMember(file io.ReaderAt, size int64, member string) (*zip.File, error) {
	if err := checkDirectory(file, size); err != nil {
		return nil, err
	}
	r, err := zip.NewReader(file, size)
	if err != nil {
		return nil, err
	}
	if err := checkWhole(file, size); err != nil {
		return nil, err
	}
	var found []*zip.File
	var names []string
	for _, m := range r.File {
		switch {
		case m.Name == "[Content_Types].xml" && member == "":
			return nil, &ZipError{Reason: "is a document of Office, such as .xlsx: save the table as CSV"}
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
		return nil, &ZipError{Reason: "is not in the zip archive", Members: names}
	case len(found) == 0:
		return nil, &ZipError{Reason: "is a zip archive without a file"}
	case len(found) > 1:
		return nil, &ZipError{Members: names}
	case found[0].Flags&1 != 0:
		return nil, &ZipError{Reason: "is encrypted: unpack it first"}
	case found[0].Method != zip.Store && found[0].Method != zip.Deflate:
		return nil, &ZipError{Reason: fmt.Sprintf("is packed by method %d of zip, which is not read: unpack it first", found[0].Method)}
	}
	return found[0], nil
}

// The end of a zip archive, as its specification says (APPNOTE 4.3.14 to 4.3.16).
const (
	zipEnd        = "PK\x05\x06" // the end, behind it the size of the directory at 12
	zip64Place    = "PK\x06\x07" // says at 8 where the end of a large archive is
	zip64End      = "PK\x06\x06" // that end, which has the number of files at 32, the size at 40
	zipEndLen     = 22
	zip64EndLen   = 56
	zip64PlaceLen = 20

	// zipTail is how much of a file the library searches for the end, which is more than the end and the longest note.
	zipTail = 65 << 10
)

// checkDirectory returns an error if the directory of a zip archive would take too much memory: the
// reader makes room for as many files as the end promises.
func checkDirectory(file io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, zipTail+zip64EndLen+zip64PlaceLen))
	at := size - int64(len(tail))
	if _, err := file.ReadAt(tail, at); err != nil && err != io.EOF {
		return err
	}
	for i := range max(0, len(tail)-zipEndLen+1) {
		switch string(tail[i : i+4]) {
		case zipEnd:
			if n := binary.LittleEndian.Uint32(tail[i+12:]); n != 1<<32-1 && n > maxDirectory {
				return errLongDirectory
			}
		case zip64Place:
			var end [zip64EndLen]byte
			place := int64(binary.LittleEndian.Uint64(tail[i+8:]) & (1<<63 - 1))
			if n, _ := file.ReadAt(end[:], place); n < len(end) || string(end[:4]) != zip64End {
				continue
			}
			if binary.LittleEndian.Uint64(end[32:]) > maxDirectory/46 || binary.LittleEndian.Uint64(end[40:]) > maxDirectory {
				return errLongDirectory
			}
		}
	}
	return nil
}

// errLongDirectory is the error of a directory of more than maxDirectory bytes.
var errLongDirectory = &ZipError{Reason: "is a zip archive of too many files: unpack it first"}

// errJoined is the error of a file that holds more than the archive of its last directory.
var errJoined = &ZipError{Reason: "is a zip archive with other bytes before or behind it, such as another archive: " +
	"unpack archives each by itself, before they are joined"}

// checkWhole returns an error if the file is more than the archive that its last directory lists:
// a file not listed there would be left out without a word, as where two archives are joined. The
// directory has to end where the end of the archive begins, and that has to be the end of the file.
func checkWhole(file io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, zipTail))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	for i := len(tail) - zipEndLen; i >= 0; i-- {
		end := tail[i:]
		note := int(binary.LittleEndian.Uint16(end[20:]))
		if string(end[:4]) != zipEnd || zipEndLen+note > len(end) {
			continue
		}
		at := size - int64(len(end))
		length, start := uint64(binary.LittleEndian.Uint32(end[12:])), uint64(binary.LittleEndian.Uint32(end[16:]))
		before, large, from := largeDirectory(file, at, length, start) // some write its end for small ones, too
		if at = before; start == 1<<32-1 || length == 1<<32-1 || binary.LittleEndian.Uint16(end[10:]) == 1<<16-1 {
			length, start = large, from
		}
		if zipEndLen+note < len(end) || start+length != uint64(at) {
			return errJoined
		}
		return nil
	}
	return errJoined // the library has found an end that cannot be the file's
}

// largeDirectory returns where the end of a large archive is, and how long its directory is and
// where that begins. They are as given if there is no such end before the other one, which is at.
func largeDirectory(file io.ReaderAt, at int64, length, start uint64) (int64, uint64, uint64) {
	var place [zip64PlaceLen]byte
	if _, err := file.ReadAt(place[:], at-zip64PlaceLen); err != nil || string(place[:4]) != zip64Place {
		return at, length, start
	}
	var end [zip64EndLen]byte
	before := int64(binary.LittleEndian.Uint64(place[8:]) & (1<<63 - 1))
	if _, err := file.ReadAt(end[:], before); err != nil || string(end[:4]) != zip64End {
		return at, length, start
	}
	if uint64(before)+12+binary.LittleEndian.Uint64(end[4:])+zip64PlaceLen != uint64(at) {
		return at, length, start
	}
	return before, binary.LittleEndian.Uint64(end[40:]), binary.LittleEndian.Uint64(end[48:])
}

// errContradicts is the error of a file in an archive that ends elsewhere than its directory says: a
// part of it may be missing, however right the sum of the rest is.
var errContradicts = errors.New("the directory of the archive contradicts the file")

// checkEnd returns an error if the bytes behind a file in an archive show that the directory lies
// about it. There stand its sum and sizes once more if its header has left them out, and then the
// next file or the directory.
func checkEnd(file io.ReaderAt, m *zip.File) error {
	at, err := m.DataOffset()
	if err != nil {
		return err
	}
	var behind [zipDescriptor + 4]byte
	n, err := file.ReadAt(behind[:], at+int64(m.CompressedSize64))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	rest := behind[:n]
	if m.Flags&zipHasDescriptor == 0 {
		if !beginsEntry(rest) {
			return errContradicts
		}
		return nil
	}
	for _, sign := range []string{"PK\x07\x08", ""} {
		le := binary.LittleEndian
		sum := le.AppendUint32([]byte(sign), m.CRC32)
		small := le.AppendUint32(le.AppendUint32(bytes.Clone(sum), uint32(m.CompressedSize64)), uint32(m.UncompressedSize64))
		large := le.AppendUint64(le.AppendUint64(sum, m.CompressedSize64), m.UncompressedSize64)
		for _, want := range [][]byte{small, large} {
			if next, ok := bytes.CutPrefix(rest, want); ok && beginsEntry(next) {
				return nil
			}
		}
	}
	return errContradicts
}

const (
	zipHasDescriptor = 8  // the flag of a file whose sum and sizes stand behind it (APPNOTE 4.3.9)
	zipDescriptor    = 24 // the most bytes that they take
)

// beginsEntry reports whether a file of an archive, its directory or the data between them begins.
func beginsEntry(text []byte) bool {
	return len(text) >= 4 && slices.Contains([]string{packings[Zip].magic, "PK\x01\x02", "PK\x06\x08"}, string(text[:4]))
}

// A zipText reads the text of a file in a zip archive.
type zipText struct {
	r       io.Reader
	sum     hash.Hash32
	m       *zip.File
	archive io.ReaderAt
	packed  func() int64 // bytes of the file that were unpacked
	parts   verifiedParts
}

// newZipText returns the text of m, whose packed bytes t reads.
func newZipText(archive io.ReaderAt, m *zip.File, t *textReader) *zipText {
	z := &zipText{r: t.buf, sum: crc32.NewIEEE(), m: m, archive: archive}
	z.packed = func() int64 { return t.read - int64(t.buf.Buffered()) }
	if m.Method == zip.Deflate {
		z.r = flate.NewReader(t.buf)
	}
	return z
}

// Read reads text. At the end it checks the sum.
func (z *zipText) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	z.sum.Write(p[:n])
	z.parts.given += int64(n)
	given := uint64(z.parts.given)
	switch {
	case err == nil && given > z.m.UncompressedSize64:
		return n, zip.ErrFormat
	case err != io.EOF:
		return n, err
	case given < z.m.UncompressedSize64:
		return n, io.ErrUnexpectedEOF
	case given > z.m.UncompressedSize64:
		return n, zip.ErrFormat
	case z.sum.Sum32() != z.m.CRC32:
		return n, zip.ErrChecksum
	case uint64(z.packed()) != z.m.CompressedSize64:
		return n, errContradicts
	}
	if err := checkEnd(z.archive, z.m); err != nil {
		return n, err
	}
	z.parts.end(true)
	return n, io.EOF
}

// verified returns how much of the text was verified: nothing before its end.
func (z *zipText) verified() *verifiedParts { return &z.parts }

// openZip starts to read a file in a zip archive, the only one if member is "". Close closes f.
func (t *textReader) openZip(f files.File, member string) {
	t.start(f, f)
	t.packing = Zip
	m, err := findMember(f, SizeOf(f), member)
	var raw io.Reader
	if err == nil {
		raw, err = m.OpenRaw()
	}
	if err != nil {
		t.text, t.fault = bytes.NewReader(nil), cutShort(err, 1) // a directory that ends too early is no end of the text
		return
	}
	t.start(raw, f)
	t.packing = Zip
	if at, err := m.DataOffset(); err == nil { // the directory may promise more than there is
		t.size = min(int64(m.CompressedSize64&(1<<63-1)), SizeOf(f)-at)
	}
	t.text = newZipText(f, m, t)
}
