package capture

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// maxEnd is how many bytes behind a record are checked: two line ends, and the start of the next
// record.
const maxEnd = 11

// maxDigested is the longest block whose digest is verified. Longer ones are web pages, and reading
// them costs too much.
const maxDigested = 16 << 20

// A block reads and verifies the block of a WARC record, which follows the header.
type block struct {
	src    *unpack.Segments
	start  int64 // of the record in the text
	left   int64 // of the block
	err    error // of reading it, other than io.EOF
	digest digest

	hasRecord bool   // something in it looks like another record; known only if there is a digest
	tail      []byte // the bytes that were read last
}

// reset starts with the block of the record at start, whose header was read. If the file is not
// packed, it first checks where the block ends, so that a wrong length does not make it read on.
func (b *block) reset(src *unpack.Segments, h warcRecord, start int64) error {
	*b = block{src: src, start: start, left: h.length, digest: b.digest, tail: b.tail[:0]}
	if h.origin != "" && h.length <= maxDigested {
		b.digest.reset(h.digest)
	} else {
		b.digest.reset(nil)
	}
	if src.IsPacked() {
		return nil
	}
	end, there := src.Pos()+h.length, max(0, src.Size()-src.Pos())
	if end > src.Size() || end < 0 {
		return short(h.length-there, "%w: Content-Length is %d, of which %d bytes are there", ErrLength, h.length, there)
	}
	after, err := src.PeekAt(end, maxEnd)
	if err == nil && !endsWell(after) {
		err = fmt.Errorf("%w: Content-Length is %d, and no record ends there", ErrLength, h.length)
	}
	return err
}

// Read reads the block. It ends with io.EOF.
func (b *block) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.err != nil {
		return 0, b.err
	}
	text := b.src.Text
	if _, err := text.Peek(1); err != nil {
		b.err = endsEarly(err, b.left)
		return 0, b.err
	}
	n, _ := text.Read(p[:min(int64(len(p)), b.left, int64(text.Buffered()))]) // it is buffered
	b.left -= int64(n)
	if b.digest.hash != nil {
		b.digest.hash.Write(p[:n])
	}
	b.look(p[:n])
	if b.src.Crossed(b.start) {
		b.err = fmt.Errorf("%w: the next record starts before its end", ErrLength)
	}
	return n, b.err
}

// look sets hasRecord if a record seems to start in the block, which goes on with p.
func (b *block) look(p []byte) {
	if b.digest.hash == nil || b.hasRecord {
		return
	}
	b.tail = append(b.tail, p[:min(len(p), len(warcMagic))]...)
	b.hasRecord = bytes.Contains(b.tail, warcMagic) || bytes.Contains(p, warcMagic)
	b.tail = append(b.tail[:0], p[max(0, len(p)-len(warcMagic)+1):]...)
}

// end skips the rest of the block and checks that the block is whole. It returns the first fault.
func (b *block) end() error {
	if b.err == nil {
		b.err = b.rest()
	}
	if b.err != nil {
		return b.err
	}
	if err := b.ends(); err != nil {
		return err
	}
	if b.digest.hash != nil && !bytes.Equal(b.digest.hash.Sum(nil), b.digest.sum) {
		return fmt.Errorf("%w: it is not %s", ErrDigest, fault.Short(b.digest.want))
	}
	return nil
}

// ends checks that a record can end where the text stands.
func (b *block) ends() error {
	if !b.src.IsPacked() {
		return nil // reset saw to that
	}
	end := b.src.Pos()
	after, err := b.src.Text.Peek(maxEnd)
	switch {
	case len(after) == maxEnd:
	case err == io.EOF:
	case b.src.Fault() == nil: // an error of the file
		return err
	case b.src.IsFaulty(end - 1):
		return err // the block is uncertain, even if all of it is there
	}
	if !endsWell(after) {
		return fmt.Errorf("%w: no record ends there", ErrLength)
	}
	return nil
}

// rest skips the rest of the block.
func (b *block) rest() error {
	if b.digest.hash == nil {
		n := b.left
		b.left = 0
		return b.skip(n)
	}
	_, err := io.Copy(io.Discard, b)
	return err
}

// skip skips n bytes of text. If the text ends before that, or another record starts, the error is
// an ErrLength.
func (b *block) skip(n int64) error {
	s := b.src
	if !s.IsPacked() && n > int64(s.Text.Buffered()) {
		to := s.Pos() + n
		if to > s.Size() {
			return endsEarly(io.EOF, to-s.Size())
		}
		s.SeekText(to)
		return nil
	}
	for n > 0 {
		if _, err := s.Text.Peek(1); err != nil {
			return endsEarly(err, n)
		}
		step := int(min(n, int64(s.Text.Buffered())))
		s.Text.Discard(step) //nolint:errcheck // it is buffered
		n -= int64(step)
		if s.Crossed(b.start) {
			return ErrLength
		}
	}
	return nil
}

// endsEarly returns the error for the end of the text inside a record that has n more bytes.
func endsEarly(err error, n int64) error {
	if err == io.EOF {
		return &shortError{ErrLength, n}
	}
	return err
}

// endsWell reports whether a block can end in front of these bytes: two line ends, the end of the
// file, or any number of line ends and the next record.
func endsWell(after []byte) bool {
	rest := bytes.TrimLeft(after, "\r\n")
	return bytes.HasPrefix(after, []byte("\r\n\r\n")) || len(rest) == 0 || len(rest) < len(after) && bytes.HasPrefix(warcMagic, rest[:min(len(rest), len(warcMagic))])
}

// A digest verifies a WARC digest, as in "sha1:2Y3V6C2TK2GPDQTZSMLOOMXCDPAUSGCA". Digests of other
// kinds count as right.
type digest struct {
	want []byte    // as in the record
	sum  []byte    // the sum in it
	hash hash.Hash // nil if there is nothing to verify
	sha1 hash.Hash // memory, used again for the next record
}

// reset starts to verify a digest.
func (d *digest) reset(want []byte) {
	d.want, d.hash = append(d.want[:0], want...), nil
	name, text, _ := bytes.Cut(d.want, []byte(":"))
	var h hash.Hash
	switch {
	case bytes.EqualFold(name, []byte("sha1")):
		if d.sha1 == nil {
			d.sha1 = sha1.New()
		}
		h = d.sha1
	case bytes.EqualFold(name, []byte("sha256")), bytes.EqualFold(name, []byte("sha-256")):
		h = sha256.New()
	default:
		return
	}
	if d.sum = decodeDigest(string(text), h.Size()); d.sum != nil {
		h.Reset()
		d.hash = h
	}
}

// decodeDigest returns the n bytes that text stands for in base 32 or 16, or nil.
func decodeDigest(text string, n int) []byte {
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	if b, err := enc.DecodeString(string(bytes.TrimRight(bytes.ToUpper([]byte(text)), "="))); err == nil && len(b) == n {
		return b
	}
	if b, err := hex.DecodeString(text); err == nil && len(b) == n {
		return b
	}
	return nil
}
