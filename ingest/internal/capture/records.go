package capture

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

var warcMagic = []byte(unpack.WARCMagic)

// records reads the records of a WARC file (ISO 28500:2017; WARC 1.0 and 1.1) in order.
type records struct {
	src  *unpack.Segments
	name string
	head Header
	http Reader

	start  int64   // position of this record in the text
	block  block   // block of this record
	intact int     // valid records so far
	shared bool    // a segment had two records
	damage *Damage // fault of the last record that could not be read
}

func newRecords() records { return records{src: unpack.NewSegments(unpack.WARCMagic)} }

// reset prepares for reading a file.
func (r *records) reset(name string, file io.ReaderAt, size int64) error {
	r.name, r.intact, r.shared, r.damage = name, 0, false, nil
	return r.src.Reset(name, file, size)
}

// nextRecord moves to the next record, skipping extra line ends, and sets r.start. It reports whether there is a record
// or a fault; reading it returns the fault.
func (r *records) nextRecord() bool {
	for {
		b, err := r.src.Text.Peek(1)
		if err != nil {
			r.start = r.src.Pos()
			return err != io.EOF && r.src.IOErr() == nil
		}
		if b[0] != '\r' && b[0] != '\n' {
			break
		}
		r.src.Text.Discard(1) //nolint:errcheck // it is buffered
	}
	r.start = r.src.Pos()
	r.src.Prune(r.start)
	return true
}

// countRecord counts a record whose end is known. isIntact says whether it has no other fault.
func (r *records) countRecord(isIntact bool) {
	if isIntact {
		r.intact++
	}
	r.shared = r.shared || r.location().text > 0
}

// isLossy reports whether the number of lost records is unknown: resume omitted a gzip member or zstd frame, and later
// ones have several records.
func (r *records) isLossy() bool { return r.shared && r.damage != nil }

// resume moves from a record with the error err to the next readable one, and reports whether there is one. It searches
// only if each record has its own gzip member or zstd frame. It sets r.damage in any case.
func (r *records) resume(err error) bool {
	at := r.newProblem(err)
	unread := r.src.Rest()
	if !r.src.IsPacked() {
		unread = r.src.Size() - r.start
	}
	r.damage = newDamage(at, r.src.Size(), unread)
	return r.src.IsPacked() && !r.shared && at.Text == 0 && r.src.Resume(r.start)
}

// A location is the position of a record.
type location struct {
	offset int64 // file position of the record, or of the segment in which it starts
	text   int64 // position of the record in the text of that segment
}

// location returns the position of the record.
func (r *records) location() location {
	offset, text := r.src.Place(r.start)
	return location{offset, text}
}

// newProblem returns the error of the record.
func (r *records) newProblem(err error) *RecordError {
	loc := r.location()
	return &RecordError{Name: r.name, Offset: loc.offset, Text: loc.text, Err: err}
}

// readFields reads the header of the record to r.head, and returns its type, which may be empty, and the length of its
// block. After an error, the end of the record is unknown.
func (r *records) readFields() (kind []byte, length int64, err error) {
	if head, err := r.src.Text.Peek(len(warcMagic)); !bytes.Equal(head, warcMagic) {
		switch {
		case err != nil && err != io.EOF:
			return nil, 0, err
		case err == io.EOF && bytes.HasPrefix(warcMagic, head):
			return nil, 0, newShortError(0, "%w: %w", ErrHeader, io.ErrUnexpectedEOF)
		}
		return nil, 0, fmt.Errorf("%w: it begins %q", ErrNoRecord, head)
	}
	if err = r.head.Read(r.src.Text, r.checkLine); err != nil {
		if errors.Is(err, ErrLongHeader) {
			err = fmt.Errorf("%w: %w", ErrHeader, err)
		} else if err == io.ErrUnexpectedEOF {
			err = newShortError(0, "%w: %w", ErrHeader, err)
		}
		return nil, 0, err
	}
	if length, err = strconv.ParseInt(string(r.head.Get("Content-Length")), 10, 64); err != nil || length < 0 {
		return nil, 0, fmt.Errorf("%w: Content-Length is %q", ErrLength, fault.Short(r.head.Get("Content-Length")))
	}
	return r.head.Get("WARC-Type"), length, nil
}

// checkLine returns io.ErrUnexpectedEOF if the header was cut off: then the line is, or ends with, the first line of
// the next record, such as "WARC/1.0".
func (r *records) checkLine(line []byte) error {
	next := line[max(0, len(line)-len("WARC/1.0\r\n")):]
	digit, isNext := bytes.CutPrefix(next, warcMagic)
	isNext = isNext && len(digit) == 3 && '0' <= digit[0] && digit[0] <= '9' && digit[1] == '\r' && !r.head.IsEmpty()
	if isNext || r.src.Crossed(r.start) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// release frees memory before closing.
func (r *records) release() {
	r.src.Release()
	r.http.Release()
}

// maxEnd is the number of bytes after a record that are checked: two line ends, and the start of the next record.
const maxEnd = 11

// maxDigested is the maximum length of a block with verified digest. Longer ones are web pages, which would take too
// long to read.
const maxDigested = 16 << 20

// A block reads and verifies the block of a WARC record, which follows the header.
type block struct {
	src    *unpack.Segments
	start  int64 // position of the record in the text
	left   int64 // remaining bytes of the block
	err    error // read error other than io.EOF
	digest digest

	hasRecord bool   // the block seems to contain another record; only known if there is a digest
	tail      []byte // last bytes read
}

// reset prepares for the block of the record at start, whose header was read. It verifies the digest only of a wanted
// record of at most maxDigested bytes. In an unpacked file it first checks the end of the block, so that a wrong length
// does not cause a long read.
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
		return newShortError(h.length-there, "%w: Content-Length is %d, but only %d bytes were received", ErrLength, h.length, there)
	}
	after, err := src.PeekAt(end, maxEnd)
	if err == nil && !endsWell(after) {
		err = fmt.Errorf("%w: Content-Length is %d, but no record ends there", ErrLength, h.length)
	}
	return err
}

// Read reads the block. It ends with io.EOF. If the text ends earlier, or another record starts, the error is an
// ErrLength.
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
	n, _ := text.Read(p[:min(int64(len(p)), b.left, int64(text.Buffered()))]) // already buffered
	b.left -= int64(n)
	if b.digest.hash != nil {
		b.digest.hash.Write(p[:n])
	}
	if p := p[:n]; b.digest.hash != nil && !b.hasRecord {
		b.tail = append(b.tail, p[:min(len(p), len(warcMagic))]...)
		b.hasRecord = bytes.Contains(b.tail, warcMagic) || bytes.Contains(p, warcMagic)
		b.tail = append(b.tail[:0], p[max(0, len(p)-len(warcMagic)+1):]...)
	}
	if b.src.Crossed(b.start) {
		b.err = fmt.Errorf("%w: the next record starts before its end", ErrLength)
	}
	return n, b.err
}

// finish skips the rest of the block, and checks that the block is whole and matches its digest. It returns the first
// fault, also one of Read.
func (b *block) finish() error {
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

// ends checks that a record can end at the current position. Only in a packed file is this necessary: reset has
// checked the others.
func (b *block) ends() error {
	if !b.src.IsPacked() {
		return nil // checked by reset
	}
	end := b.src.Pos()
	after, err := b.src.Text.Peek(maxEnd)
	switch {
	case len(after) == maxEnd:
	case err == io.EOF:
	case b.src.Fault() == nil: // an error of the file
		return err
	case b.src.IsFaulty(end - 1):
		return err // the block is uncertain, even if it is complete
	}
	if !endsWell(after) {
		return fmt.Errorf("%w: no record ends there", ErrLength)
	}
	return nil
}

// rest skips the rest of the block. If the text ends earlier, or another record starts, it returns an ErrLength.
func (b *block) rest() error {
	if b.digest.hash != nil {
		_, err := io.Copy(io.Discard, b)
		return err
	}
	s, n := b.src, b.left
	b.left = 0
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

// endsEarly returns the error for a text that ends n bytes before the end of a record: a shortError if err is io.EOF,
// otherwise err.
func endsEarly(err error, n int64) error {
	if err == io.EOF {
		return &shortError{ErrLength, n}
	}
	return err
}

// endsWell reports whether a block can end before these bytes: two line ends, the end of the file, or any number of
// line ends and the next record.
func endsWell(after []byte) bool {
	rest := bytes.TrimLeft(after, "\r\n")
	return bytes.HasPrefix(after, []byte("\r\n\r\n")) || len(rest) == 0 || len(rest) < len(after) && bytes.HasPrefix(warcMagic, rest[:min(len(rest), len(warcMagic))])
}

// A digest verifies a WARC digest, such as "sha1:2Y3V6C2TK2GPDQTZSMLOOMXCDPAUSGCA". Digests of unknown kinds count as
// correct.
type digest struct {
	want []byte    // as in the record
	sum  []byte    // the decoded sum
	hash hash.Hash // nil if nothing is verified
	sha1 hash.Hash // reused for the next record
}

// reset prepares for verifying a digest. If want is nil or has an unknown form, d.hash is nil, and nothing is verified.
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
	// The sum is in base 32 or 16.
	sum, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(string(bytes.TrimRight(bytes.ToUpper(text), "=")))
	if err != nil || len(sum) != h.Size() {
		sum, err = hex.DecodeString(string(text))
	}
	if err == nil && len(sum) == h.Size() {
		h.Reset()
		d.sum, d.hash = sum, h
	}
}

// maxHeader is the maximum size of a record's header, or of the HTTP header in it, in bytes.
const maxHeader = 256 << 10

// ErrLongHeader is the error for a header above the maximum size.
var ErrLongHeader = errors.New("over 256 KiB, or a line over 64 KiB")

// A Header is the header of a WARC record or an HTTP message: a first line, and named fields. All slices that it
// returns are valid until the next Read.
type Header struct {
	raw    []byte // without line ends; the memory is reused
	first  []byte
	fields []field
}

// A field is a line of a header.
type field struct{ name, value []byte }

// Read reads a header and the empty line at its end. check, unless nil, is called with each line. The errors are
// ErrLongHeader, io.ErrUnexpectedEOF, and those of r and check.
func (h *Header) Read(r *bufio.Reader, check func(line []byte) error) error {
	h.raw, h.fields = h.raw[:0], h.fields[:0]
	ends := make([]int, 0, 32)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || len(h.raw)+len(line) > maxHeader:
			return ErrLongHeader
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		if check != nil {
			if err := check(line); err != nil {
				return err
			}
		}
		if line = trimEnd(line); len(line) == 0 {
			break
		}
		h.raw = append(h.raw, line...)
		if isFolded := line[0] == ' ' || line[0] == '\t'; isFolded && len(ends) > 1 {
			ends[len(ends)-1] = len(h.raw)
			continue
		}
		ends = append(ends, len(h.raw))
	}
	// Set the first line and the fields.
	h.first = nil
	start := 0
	for i, end := range ends {
		line := h.raw[start:end]
		start = end
		if i == 0 {
			h.first = line
			continue
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok {
			h.fields = append(h.fields, field{bytes.TrimSpace(name), bytes.TrimSpace(value)})
		}
	}
	return nil
}

// First returns the first line.
func (h *Header) First() []byte { return h.first }

// IsEmpty reports whether nothing of the header was read yet.
func (h *Header) IsEmpty() bool { return len(h.raw) == 0 }

// Get returns the value of the first field with that name, ignoring case; nil if absent.
func (h *Header) Get(name string) []byte {
	for _, f := range h.fields {
		if len(f.name) == len(name) && strings.EqualFold(string(f.name), name) {
			return f.value
		}
	}
	return nil
}

// trimEnd cuts off LF or CRLF.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
