package unpack

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// segmentBuffer is the amount of text that can be peeked at.
	segmentBuffer = 64 << 10

	// rereadFactor and rereadMin limit the bytes read to find segments after faults: that many times the file size, and at
	// least that many bytes. Without a limit, an attacker could make the time quadratic in the file size.
	rereadFactor = 8
	rereadMin    = 64 << 20

	// maxEmptyReads is the maximum number of consecutive reads without data or error, as in package bufio.
	maxEmptyReads = 100
)

// Segments reads the text of a file by segments: the members of a gzip file, the frames of a zstd file, or a whole
// unpacked file. It reuses its memory for the next file, and is for one goroutine.
type Segments struct {
	Text *bufio.Reader // text of the file; 64 KiB can be peeked at

	file   io.ReaderAt
	size   int64 // size of file
	off    int64 // bytes of file read into packed
	ioErr  error // read error of the file; the text ends there
	budget int64 // bytes that Resume may still read

	packed  *bufio.Reader // the file
	packing Packing
	gzip    *gzip.Reader
	zstd    *zstd.Decoder
	frame   frameReader
	dictErr error // why the dictionary of a zstd file is unusable

	prefix []byte // first bytes of a record
	given  int64  // bytes of text read so far
	marks  []mark // starts of segments; the first is at or before the last pruned text
	isOpen bool   // the last of marks is being read
	noSum  bool   // an opened segment has no checksum
	single bool   // the text ends with the current segment
	fault  *SegmentError
}

// A mark is the start of a segment.
type mark struct {
	text   int64 // bytes of text before it
	file   int64 // bytes of the file before it
	record bool  // begins with the record prefix
}

// A SegmentError is a fault of a segment.
type SegmentError struct {
	Start int64 // position of the segment in the file
	Err   error // ErrTruncated or a similar fault, with the remedy
}

// Error returns the fault.
func (e *SegmentError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *SegmentError) Unwrap() error { return e.Err }

// NewSegments returns Segments for files whose records begin with prefix.
func NewSegments(prefix string) *Segments { return &Segments{prefix: []byte(prefix)} }

// Reset prepares for reading a file with that name and size. If the first bytes are damaged, the name decides the
// packing. The error is a read error or ErrFormat.
func (s *Segments) Reset(name string, file io.ReaderAt, size int64) error {
	if s.packed == nil {
		s.packed = bufio.NewReaderSize(nil, fileBuffer)
		s.Text = bufio.NewReaderSize(nil, segmentBuffer)
	}
	s.Release() // the decoder may have a dictionary
	*s = Segments{
		file: file, size: size, budget: max(rereadMin, size*rereadFactor),
		packed: s.packed, Text: s.Text, gzip: s.gzip, marks: s.marks[:0], prefix: s.prefix,
	}
	s.packed.Reset(packedSource{s})
	s.Text.Reset(textSource{s})
	head, err := s.packed.Peek(HeadLen)
	if err != nil && err != io.EOF {
		return err
	}
	s.packing, err = capturePacking(head, name)
	return err
}

// IsPacked reports whether the file is packed. If not, the file is one segment and equal to the text.
func (s *Segments) IsPacked() bool { return s.packing != None }

// Size returns the size of the file.
func (s *Segments) Size() int64 { return s.size }

// BytesRead returns the number of bytes of the file that were read.
func (s *Segments) BytesRead() int64 { return s.off }

// IOErr returns the read error of the file, as opposed to a fault in its data, or nil. The text ends there.
func (s *Segments) IOErr() error { return s.ioErr }

// Fault returns the fault of the current segment, or nil. Text then fails with it.
func (s *Segments) Fault() *SegmentError { return s.fault }

// Rest returns the number of bytes after the part of the file unpacked last.
func (s *Segments) Rest() int64 { return max(0, s.size-s.filePos()) }

// Unchecked reports whether an opened segment has no checksum.
func (s *Segments) Unchecked() bool { return s.noSum }

// Pos returns the position of Text.
func (s *Segments) Pos() int64 { return s.given - int64(s.Text.Buffered()) }

// Place converts a text position to the file offset of its segment, and the position in that segment's text. If the
// file is not packed, the offset is pos.
func (s *Segments) Place(pos int64) (offset, text int64) {
	if i := s.markOf(pos); s.IsPacked() && i >= 0 {
		return s.marks[i].file, pos - s.marks[i].text
	}
	return pos, 0
}

// filePos returns the position of packed in the file.
func (s *Segments) filePos() int64 { return s.off - int64(s.packed.Buffered()) }

// seekFile makes packed continue at pos, a position in the file.
func (s *Segments) seekFile(pos int64) {
	if ahead := pos - s.filePos(); ahead >= 0 && ahead <= int64(s.packed.Buffered()) {
		s.packed.Discard(int(ahead)) //nolint:errcheck // it is buffered
		return
	}
	s.off = pos
	s.packed.Reset(packedSource{s})
}

// A textSource reads the text of Segments. Its errors are io.EOF, a [*SegmentError], or the read error of the file.
type textSource struct{ s *Segments }

// Read reads text, and opens the next segment when one ends. An error comes after all text before it.
func (r textSource) Read(p []byte) (int, error) {
	s := r.s
	for range maxEmptyReads {
		if s.fault != nil {
			return 0, s.fault
		}
		if !s.isOpen {
			if s.single {
				return 0, io.EOF
			}
			if err := s.open(); err != nil {
				return 0, err
			}
		}
		n, err := s.unpack(p)
		if m := &s.marks[len(s.marks)-1]; m.text == s.given && n > 0 {
			m.record = bytes.HasPrefix(p[:n], s.prefix)
		}
		s.given += int64(n)
		switch {
		case err == io.EOF:
			s.isOpen = false
		case err != nil && s.ioErr == nil:
			s.fail(s.marks[len(s.marks)-1].file, err) //nolint:errcheck // the next read returns it
		case err != nil:
			return n, s.ioErr
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, io.ErrNoProgress
}

// unpack reads from the unpacker of the open segment.
func (s *Segments) unpack(p []byte) (int, error) {
	switch s.packing {
	case Gzip:
		return s.gzip.Read(p)
	case Zstd:
		return s.zstd.Read(p)
	default:
		return s.packed.Read(p)
	}
}

// open opens the segment at the current position of packed. The error is io.EOF, a fault that it also records, or the
// read error of the file.
func (s *Segments) open() error {
	start := s.filePos()
	if _, err := s.packed.Peek(1); err != nil {
		return err
	}
	var err error
	switch s.packing {
	case Gzip:
		err = s.openGzip()
	case Zstd:
		err = s.openZstd()
	default:
	}
	if err == io.EOF {
		return err
	}
	if s.ioErr != nil {
		return s.ioErr
	}
	s.marks = append(s.marks, mark{text: s.given, file: start})
	s.isOpen = true
	if err != nil {
		return s.fail(start, err)
	}
	return nil
}

// openGzip opens the member at the current position of packed. The error is io.EOF if only zeros follow the last
// member, or ErrTrailing if a few other bytes follow it, which are not treated as a truncated member.
func (s *Segments) openGzip() error {
	head, _ := s.packed.Peek(leastMember)
	if start := s.filePos(); s.given > 0 && head[0] == 0 {
		if err := passZeros(s.packed); err != nil {
			return err
		}
		s.seekFile(start)
	}
	if magic := []byte(packings[Gzip].magic); s.given > 0 && len(head) < leastMember && !bytes.HasPrefix(head, magic[:min(len(head), len(magic))]) {
		return ErrTrailing
	}
	err := resetGzip(&s.gzip, s.packed)
	s.gzip.Multistream(false)
	return err
}

// leastMember is the minimum length of a gzip member: header and checksum.
const leastMember = 18

// fail records and returns the fault of the segment at start.
func (s *Segments) fail(start int64, err error) error {
	s.fault = &SegmentError{start, explain(s.packing, err, false, s.dictErr)}
	return s.fault
}

// Prune forgets segments that end before pos.
func (s *Segments) Prune(pos int64) {
	if i := s.markOf(pos); i > 0 {
		s.marks = slices.Delete(s.marks, 0, i)
	}
}

// markOf returns the index of the last mark at or before pos, or -1.
func (s *Segments) markOf(pos int64) int {
	i := len(s.marks) - 1
	for i >= 0 && s.marks[i].text > pos {
		i--
	}
	return i
}

// Crossed reports whether the reader has entered a segment that begins with the record prefix and starts after the text
// position start.
func (s *Segments) Crossed(start int64) bool {
	for i := len(s.marks) - 1; i >= 0 && s.marks[i].text > start; i-- {
		if s.marks[i].record && s.marks[i].text < s.Pos() {
			return true
		}
	}
	return false
}

// IsFaulty reports whether the text at pos belongs to the faulty segment.
func (s *Segments) IsFaulty(pos int64) bool {
	return s.fault != nil && s.marks[s.markOf(pos)].file == s.fault.Start
}

// SeekText makes Text continue at pos. The file must not be packed.
func (s *Segments) SeekText(pos int64) {
	s.seekFile(pos)
	s.given = pos
	s.fault = nil
	s.Text.Reset(textSource{s})
}

// PeekAt returns up to n bytes of the file at any position; fewer only at the end of the file. The caller owns them.
// The position of Text does not change.
func (s *Segments) PeekAt(pos int64, n int) ([]byte, error) {
	b := make([]byte, n)
	m, err := s.file.ReadAt(b, pos)
	if err != nil && err != io.EOF {
		s.ioErr = err
		return nil, err
	}
	return b[:m], nil
}

// Resume moves from the faulty segment, which must include the text position pos, to the next segment that begins with
// the record prefix and has a correct checksum. It reports whether there is one, within a limit for the bytes read. A
// body that is itself a packed record, stored in the damaged segment, cannot be distinguished from one and is used.
func (s *Segments) Resume(pos int64) bool {
	noSum := s.noSum
	s.single = true
	defer func() { s.single, s.noSum = false, noSum }()
	s.drain()
	if !s.IsFaulty(pos) {
		return false
	}
	text, from := s.given, s.fault.Start+1
	for s.ioErr == nil && s.budget >= 0 {
		at, ok := s.findMagic(from)
		if !ok {
			return false
		}
		s.noSum = false
		s.openAt(at, text)
		head, _ := s.Text.Peek(len(s.prefix))
		isRecord := bytes.Equal(head, s.prefix)
		if isRecord {
			s.drain()
		}
		s.budget -= s.filePos() - from
		if isRecord && s.fault == nil && !s.noSum && s.budget >= 0 {
			s.openAt(at, text)
			return s.ioErr == nil
		}
		from = at + 1
	}
	return false
}

// drain skips the rest of the segment.
func (s *Segments) drain() { io.Copy(io.Discard, s.Text) } //nolint:errcheck // it is the fault, or ioErr

// OpenAt starts reading in the middle of a file, after Reset: at the segment at offset, after text bytes of its text.
func (s *Segments) OpenAt(offset, text int64) {
	s.openAt(offset, 0)
	if !s.IsPacked() {
		s.SeekText(offset)
	}
	io.CopyN(io.Discard, s.Text, text) //nolint:errcheck // what follows cannot be read either
}

// openAt opens the segment at a file position. text is the number of text bytes before it. Read returns any fault.
func (s *Segments) openAt(file, text int64) {
	s.seekFile(file)
	s.given, s.marks, s.fault, s.isOpen = text, s.marks[:0], nil, false
	s.Text.Reset(textSource{s})
	s.open() //nolint:errcheck // it is a fault, which stays, or ioErr
}

// findMagic returns the next position of a segment's magic number in the file, from pos on. The bool is false if there
// is none, or after a read error.
func (s *Segments) findMagic(pos int64) (int64, bool) {
	magic := []byte("\x1f\x8b\x08") // one byte more than needed to detect gzip: no other method exists
	if s.packing == Zstd {
		magic = zstdMagic
	}
	s.seekFile(pos)
	for {
		if _, err := s.packed.Peek(len(magic)); err != nil {
			return 0, false
		}
		b, _ := s.packed.Peek(s.packed.Buffered())
		if i := bytes.Index(b, magic); i >= 0 {
			return s.filePos() + int64(i), true
		}
		s.packed.Discard(len(b) - len(magic) + 1) //nolint:errcheck // it is buffered
	}
}

// Release frees memory before closing.
func (s *Segments) Release() {
	if s.zstd != nil {
		s.zstd.Close()
		s.zstd = nil
	}
}

// A packedSource reads the file of Segments.
type packedSource struct{ s *Segments }

// Read reads packed bytes of the file. The error is ErrShorter if the file was truncated meanwhile. It sets s.ioErr for
// any error except io.EOF.
func (r packedSource) Read(p []byte) (int, error) {
	n, err := r.s.file.ReadAt(p, r.s.off)
	r.s.off += int64(n)
	if err == io.EOF && r.s.off < r.s.size {
		err = ErrShorter
	}
	if err != nil && err != io.EOF {
		r.s.ioErr = err
	}
	if n > 0 {
		err = nil // it is reported again
	}
	return n, err
}

// verifiedParts track how much of a text is verified from its start: all frames or members with correct checksums, up
// to the first one without a checksum.
//
// A frame without a checksum is never verified, because its size says nothing about its bytes. That matters only if a
// fault shows that the file is damaged.
type verifiedParts struct {
	given     int64 // bytes of text so far
	bytes     int64 // verified bytes at the start of the text
	unchecked bool  // a part without a checksum has ended
}

// endPart records the end of a part with a correct checksum, or with none.
func (v *verifiedParts) endPart(check bool) {
	if v.unchecked = v.unchecked || !check; !v.unchecked {
		v.bytes = v.given
	}
}

// allVerified is the number of verified bytes of a text that is not packed: nothing that was read can make its bytes
// uncertain.
const allVerified = math.MaxInt64

// Faults of an input. All except ErrFormat are in its data.
var (
	ErrFormat     = errors.New("an unsupported format")
	ErrTruncated  = errors.New("the compressed data ends too early")
	ErrDamaged    = errors.New("the compressed data is damaged")
	ErrChecksum   = errors.New("the checksum is wrong")
	ErrTrailing   = errors.New("the compressed data is followed by other bytes")
	ErrWindow     = errors.New("the frame needs a window of more than 128 MiB, or is damaged")
	ErrDictionary = errors.New("the dictionary that the frame needs is missing or damaged")
)

// ErrShorter means that a file was truncated while it was read. The data before is valid; the rest is gone.
var ErrShorter = errors.New("the file became shorter while it was read")

// Again is the remedy of most faults.
const Again = "copy or download the file again"

// explain converts an error of a decompressor to a fault with a remedy. anyText says whether text came before it;
// dictErr is why the dictionary of the file is unusable, or nil. An ErrFormat stays as it is.
func explain(p Packing, err error, anyText bool, dictErr error) error {
	_, isWindow := errors.AsType[*WindowError](err)
	switch {
	case errors.Is(err, ErrFormat):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: the file is truncated; "+Again, p, ErrTruncated)
	case errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("%s: %w, so any line since the frame began may be damaged: "+Again, p, ErrChecksum)
	case errors.Is(err, ErrTrailing), anyText && (errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, gzip.ErrHeader)):
		return fmt.Errorf("%s: %w: cut them off, or "+Again, p, ErrTrailing)
	case isWindow:
		return fmt.Errorf("%s: %w: allow more memory, or recompress it, for example: zstd -dc --long=31 file | zstd > new.zst", p, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: %w: recompress it, for example: zstd -dc --long=31 file | zstd > new.zst", p, ErrWindow)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return fmt.Errorf("%s: %w (%w): add the dictionary as the first frame, as in the zstd format of WARC files, or recompress the file without it", p, ErrDictionary, cmp.Or(dictErr, err))
	}
	return fmt.Errorf("%s: %w (%w): "+Again, p, ErrDamaged, err)
}

// A WindowError means that a zstd frame needs a window larger than the memory limit.
type WindowError struct{ Need, Most int64 } // bytes

func (e *WindowError) Error() string {
	return fmt.Sprintf("the frame needs a window of %d MiB, but there is memory for only %d MiB", e.Need>>20, e.Most>>20)
}
