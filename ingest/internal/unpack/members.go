package unpack

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A memberReader reads the text of all members of a gzip file. The decompressor alone takes fewer
// than ten bytes behind the last member for a header that was cut off.
type memberReader struct {
	gzip  *gzip.Reader // nil before the first reset
	in    *bufio.Reader
	parts verifiedParts
}

// open opens the member where the file stands.
func (m *memberReader) open() error {
	err := resetGzip(&m.gzip, m.in)
	m.gzip.Multistream(false)
	return err
}

// verified returns how much of the text was verified.
func (m *memberReader) verified() *verifiedParts { return &m.parts }

// Read reads text. Its errors are io.EOF, ErrTrailing, or the decompressor's.
func (m *memberReader) Read(p []byte) (int, error) {
	for {
		n, err := m.gzip.Read(p)
		m.parts.given += int64(n)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil // the end comes again
		}
		m.parts.end(true)
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next opens the next member. The error is io.EOF if there is none: zeros may fill the file, as gzip allows.
func (m *memberReader) next() error {
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

// passZeros passes by the zeros that r begins with, and returns why it ends with them: io.EOF, which is no fault, or
// nil where something follows.
func passZeros(r *bufio.Reader) error {
	for {
		if c, err := r.ReadByte(); err != nil || c != 0 {
			return err
		}
	}
}
