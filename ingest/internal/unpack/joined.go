package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// ErrJoined is the fault of a text followed by a packed file, for example after files were concatenated.
var ErrJoined = errors.New("text is followed by a packed file")

// Joined returns the ErrJoined of a packing.
func (p Packing) Joined() error { return fmt.Errorf("%w (%s)", ErrJoined, p) }

// JoinedHead is the amount of text after a line that FindJoined reads to check for a packed file in that line.
const JoinedHead = 4 << 10

// mostLooked is the maximum amount of text that FindJoined unpacks per line.
const mostLooked = 64 << 10

// skippableMagic is the end of the magic number of a skippable zstd frame; its first byte has 16 possible values.
const skippableMagic = "\x2a\x4d\x18"

// FindJoined searches text[from:to], which are complete lines, for the start of a packed file. It returns its position
// and packing; -1 if there is none. At the start of a line, a valid header is enough. Within a line, which then lacks
// its own end, the end of the line must also belong to the packed data. Otherwise the line merely contains packed
// bytes, for example in the value of a request.
func FindJoined(text []byte, from, to int) (at int, p Packing) {
	at = -1
	for q := Zstd; q < Tar; q++ {
		for i := from; i < to; i++ {
			n := bytes.Index(text[i:to], []byte(packings[q].magic))
			if n < 0 {
				break
			}
			i += n
			if !q.mayBegin(text[i:]) {
				continue
			}
			if isLineStart(text, i) || q.includesLineEnd(text[i:]) {
				at, p, to = i, q, i
				break
			}
			i += max(0, bytes.IndexByte(text[i:to], '\n')) // one check per line keeps the time linear
		}
	}
	for i := from; i < to; i++ {
		n := bytes.Index(text[i:to], []byte(skippableMagic))
		if n < 0 {
			break
		}
		// A size that consists of four letters would be larger than a realistic one.
		if i += n; i > 0 && isLineStart(text, i-1) && isSkippable(text[i-1:]) && len(text) >= i+7 && text[i+6] < ' ' {
			return i - 1, Zstd
		}
	}
	return at, p
}

// wideHead is the number of bytes of a packed file that findJoinedWide checks.
const wideHead = 10

// findJoinedWide is like FindJoined, for all of a UTF-16 text. A packed file may begin anywhere, because its magic and
// header are not valid characters of a text. The magic of compress is too short for this.
func findJoinedWide(text []byte) (at int, p Packing) {
	at = -1
	for q := Zstd; q < Tar; q++ {
		magic := []byte(packings[q].magic)
		if q == Compress {
			continue
		}
		for i := 0; ; i++ {
			n := bytes.Index(text[i:], magic)
			if n < 0 {
				break
			}
			if i += n; q.mayBegin(text[i:]) && (len(magic) > 2 || len(text)-i >= wideHead) {
				at, p, text = i, q, text[:min(len(text), i+wideHead)]
				break
			}
		}
	}
	return at, p
}

// HoldsMagic reports whether a text contains the magic bytes of a packing.
func HoldsMagic(text []byte) bool {
	for p := Zstd; p < Tar; p++ {
		if bytes.Contains(text, []byte(packings[p].magic)) {
			return true
		}
	}
	return bytes.Contains(text, []byte(skippableMagic))
}

// isLineStart reports whether a line begins at a position of a text.
func isLineStart(text []byte, at int) bool {
	return at == 0 || text[at-1] == '\n' || text[at-1] == '\r'
}

// mayBegin reports whether a text that begins with the magic of a packing continues with a valid header, as far as the
// text goes.
func (p Packing) mayBegin(text []byte) bool {
	byteAt := func(i int) byte {
		if i < len(text) {
			return text[i]
		}
		return 0
	}
	switch p { //nolint:exhaustive // the magic of all others is long
	case Zstd:
		return byteAt(4)&8 == 0
	case Gzip: // the only method, valid flags, a valid system
		return byteAt(2) == 8 && byteAt(3)&0xe0 == 0 && (byteAt(9) <= 13 || byteAt(9) == 0xff)
	case Bzip2:
		return isBzip2(text)
	case Zip:
		return byteAt(4) < 100 && byteAt(5) <= 20
	case LZ4:
		return byteAt(4)>>6 == 1
	case Compress:
		return byteAt(2)&0x60 == 0 && byteAt(2)&0x1f >= 9 && byteAt(2)&0x1f <= 16
	}
	return true
}

// includesLineEnd reports whether the packed data at the start of a text includes the first line feed, or the text ends
// before one. After the line feed, binary data counts as packed.
func (p Packing) includesLineEnd(text []byte) bool {
	feed := bytes.IndexByte(text, '\n')
	if feed < 0 || isBinary(text[feed+1:]) {
		return true
	}
	switch p { //nolint:exhaustive // all others pack short texts, too
	case Zstd:
		size, _ := frameHeader(text[len(zstdMagic)])
		if size+3 > int64(feed) {
			return size+3 < int64(len(text))
		}
		block, _ := blockHeader(text[size:])
		return size+block > int64(feed)
	case Gzip:
		r := bytes.NewReader(text)
		z, err := gzip.NewReader(r)
		if err != nil {
			return false
		}
		z.Multistream(false)
		_, err = io.CopyN(io.Discard, z, mostLooked)
		return (err == nil || errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF) && len(text)-r.Len() > feed+1
	}
	return false
}

// isBinary reports whether the start of a text is binary: at least an eighth of it is control characters or invalid
// UTF-8. A start that is too short to decide counts as binary.
func isBinary(text []byte) bool {
	const looked, least = 64, 16
	text = text[:min(len(text), looked)]
	odd, all := 0, len(text)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			odd++
		}
		text = text[n:]
	}
	return all < least || 8*odd >= all
}

// A memberReader reads the text of all members of a gzip file. The decompressor alone would treat fewer than ten bytes
// after the last member as a truncated header.
type memberReader struct {
	gzip  *gzip.Reader // nil before the first reset
	in    *bufio.Reader
	parts verifiedParts
}

// open opens the member at the current file position.
func (m *memberReader) open() error {
	err := resetGzip(&m.gzip, m.in)
	m.gzip.Multistream(false)
	return err
}

// verified returns how much of the text was verified.
func (m *memberReader) verified() *verifiedParts { return &m.parts }

// Read reads text. Its errors are io.EOF, ErrTrailing, or those of the decompressor or the file.
func (m *memberReader) Read(p []byte) (int, error) {
	for {
		n, err := m.gzip.Read(p)
		m.parts.given += int64(n)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil // the end is reported again
		}
		m.parts.endPart(true)
		if err := m.openNext(); err != nil {
			return 0, err
		}
	}
}

// openNext opens the next member. The error is io.EOF at the end, before which gzip allows zeros, or ErrTrailing if
// something else follows.
func (m *memberReader) openNext() error {
	magic := []byte(packings[Gzip].magic)
	head, err := m.in.Peek(len(magic))
	switch {
	case len(head) == 0:
		return err
	case head[0] == 0:
		if err := passZeros(m.in); err != nil {
			return err
		}
		return ErrTrailing
	case !bytes.HasPrefix(magic, head):
		return ErrTrailing
	}
	return m.open()
}

// passZeros skips zeros, and returns how they end: io.EOF, which is not a fault, or nil if something follows.
func passZeros(r *bufio.Reader) error {
	for {
		if c, err := r.ReadByte(); err != nil || c != 0 {
			return err
		}
	}
}
