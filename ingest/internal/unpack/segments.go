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
	// segmentBuffer is how much of the text can be peeked at.
	segmentBuffer = 64 << 10

	// rereadFactor and rereadMin bound the bytes that are read to find segments behind faults: so
	// many times the size of the file, and at least so many bytes. Without a bound, an attacker could
	// make the time quadratic in the length of a file.
	rereadFactor = 8
	rereadMin    = 64 << 20

	// maxEmptyReads bounds the reads without data or error in a row, as package bufio does.
	maxEmptyReads = 100
)

// Segments read the text of a file segment by segment: the members of a gzip file, the frames of a
// zstd file, or all of a file that is not packed. Segments keep their memory from file to file, and are for one goroutine.
type Segments struct {
	Text *bufio.Reader // the text of the file; 64 KiB of it can be peeked at

	file   io.ReaderAt
	size   int64 // of file
	off    int64 // bytes of file that were read into packed
	ioErr  error // why the file itself could not be read; the text ends there
	budget int64 // bytes that Resume may still read

	packed  *bufio.Reader // the file
	packing Packing
	gzip    *gzip.Reader
	zstd    *zstd.Decoder
	frame   frameReader
	dictErr error // why the dictionary of a zstd file cannot be used

	prefix []byte // first bytes of a record
	given  int64  // bytes of text read so far
	marks  []mark // where the segments of the text begin, the first at or before the last pruned text
	isOpen bool   // the last of marks is being read
	noSum  bool   // a segment that was opened has no checksum
	single bool   // the text ends where a segment does
	fault  *SegmentError
}

// A mark is the start of a segment.
type mark struct {
	text   int64 // bytes of text before it
	file   int64 // bytes of the file before it
	record bool  // it begins with the prefix of records
}

// A SegmentError is a fault of a segment.
type SegmentError struct {
	Start int64 // of the segment in the file
	Err   error // ErrTruncated and kin, with the remedy
}

// Error returns the fault.
func (e *SegmentError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *SegmentError) Unwrap() error { return e.Err }

// NewSegments returns Segments of files whose records begin with prefix.
func NewSegments(prefix string) *Segments { return &Segments{prefix: []byte(prefix)} }

// Reset starts to read a file of that name and size. The name decides how the file is packed if its
// first bytes are damaged. The error is the file's, or ErrFormat.
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

// IsPacked reports whether the file is packed. If it is not, there is one segment, and the text is
// the file.
func (s *Segments) IsPacked() bool { return s.packing != None }

// Size returns the size of the file.
func (s *Segments) Size() int64 { return s.size }

// BytesRead returns how far the file was read.
func (s *Segments) BytesRead() int64 { return s.off }

// IOErr returns the error of the file, which is not a fault of its data, or nil. The text ends
// there.
func (s *Segments) IOErr() error { return s.ioErr }

// Fault returns the fault of the segment being read, or nil. Text then fails with it.
func (s *Segments) Fault() *SegmentError { return s.fault }

// Rest returns how many bytes of the file are behind the part unpacked last.
func (s *Segments) Rest() int64 { return max(0, s.size-s.filePos()) }

// Unchecked reports whether a segment that was opened has no checksum.
func (s *Segments) Unchecked() bool { return s.noSum }

// Pos returns the position of Text: the bytes of text before it.
func (s *Segments) Pos() int64 { return s.given - int64(s.Text.Buffered()) }

// Place returns where the text at pos is in the file: the offset of its segment, and the bytes of
// text before it in that segment. If the file is not packed, the offset is pos.
func (s *Segments) Place(pos int64) (offset, text int64) {
	if i := s.markOf(pos); s.IsPacked() && i >= 0 {
		return s.marks[i].file, pos - s.marks[i].text
	}
	return pos, 0
}

// filePos returns the position of packed in the file.
func (s *Segments) filePos() int64 { return s.off - int64(s.packed.Buffered()) }

// seekFile makes packed continue at pos.
func (s *Segments) seekFile(pos int64) {
	if ahead := pos - s.filePos(); ahead >= 0 && ahead <= int64(s.packed.Buffered()) {
		s.packed.Discard(int(ahead)) //nolint:errcheck // it is buffered
		return
	}
	s.off = pos
	s.packed.Reset(packedSource{s})
}

// A textSource reads the text of Segments. Its errors are io.EOF, a [*SegmentError], or what the
// file failed with.
type textSource struct{ s *Segments }

// Read reads text.
func (r textSource) Read(p []byte) (int, error) {
	// Read unpacked text, and open one segment after the other.
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

// open opens the segment where packed stands. Its error is io.EOF, a fault that it also sets, or
// the file's.
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

// openGzip opens the member where packed stands. The error is io.EOF if only zeros follow the last one. A few bytes
// that do not begin like a member are not a truncated member.
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

// leastMember is the least length of a gzip member: its header and its checksum.
const leastMember = 18

// fail keeps and returns the fault of the segment at start.
func (s *Segments) fail(start int64, err error) error {
	s.fault = &SegmentError{start, explain(s.packing, err, false, s.dictErr)}
	return s.fault
}

// Prune forgets the segments that end before pos.
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

// Crossed reports whether the reader has entered a segment that begins with the prefix of records,
// behind the position start.
func (s *Segments) Crossed(start int64) bool {
	for i := len(s.marks) - 1; i >= 0 && s.marks[i].text > start; i-- {
		if s.marks[i].record && s.marks[i].text < s.Pos() {
			return true
		}
	}
	return false
}

// IsFaulty reports whether the text at pos is of the segment that has the fault.
func (s *Segments) IsFaulty(pos int64) bool {
	return s.fault != nil && s.marks[s.markOf(pos)].file == s.fault.Start
}

// SeekText makes Text continue at pos of a file that is not packed.
func (s *Segments) SeekText(pos int64) {
	s.seekFile(pos)
	s.given = pos
	s.fault = nil
	s.Text.Reset(textSource{s})
}

// PeekAt returns up to n bytes of the file at pos, which need not be near.
func (s *Segments) PeekAt(pos int64, n int) ([]byte, error) {
	b := make([]byte, n)
	m, err := s.file.ReadAt(b, pos)
	if err != nil && err != io.EOF {
		s.ioErr = err
		return nil, err
	}
	return b[:m], nil
}

// Release frees memory that would otherwise be held until closing.
func (s *Segments) Release() {
	if s.zstd != nil {
		s.zstd.Close()
		s.zstd = nil
	}
}

// A packedSource reads the file of Segments.
type packedSource struct{ s *Segments }

// Read reads packed bytes of the file. A file that has become shorter is an error.
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
		err = nil // it comes again
	}
	return n, err
}

// verifiedParts say how much of a text was verified, from its start: all frames or members whose
// checksums were right, up to the first that ended without one.
//
// A frame without a checksum is never verified: its size, if it has one, says nothing about its
// bytes. That matters only where a fault shows that the file is damaged.
type verifiedParts struct {
	given     int64 // bytes of text so far
	bytes     int64 // of them, the first so many are verified
	unchecked bool  // a part without a checksum has ended
}

// end ends a part, which has a checksum that is right, or none.
func (v *verifiedParts) end(check bool) {
	if v.unchecked = v.unchecked || !check; !v.unchecked {
		v.bytes = v.given
	}
}

// allVerified is the number of verified bytes of a text that is not packed: nothing is known about its
// bytes, and nothing that was read can make them uncertain.
const allVerified = math.MaxInt64

// Faults of an input. All but ErrFormat are in its data.
var (
	ErrFormat     = errors.New("an unsupported format")
	ErrTruncated  = errors.New("the compressed data ends too early")
	ErrDamaged    = errors.New("the compressed data is damaged")
	ErrChecksum   = errors.New("the checksum is wrong")
	ErrTrailing   = errors.New("the compressed data is followed by other bytes")
	ErrWindow     = errors.New("the frame needs a window of more than 128 MiB, or is damaged")
	ErrDictionary = errors.New("the dictionary that the frame needs is missing or damaged")
)

// ErrShorter is the error of a file that became shorter while it was read. It is not a fault of its
// data: the rest is gone.
var ErrShorter = errors.New("the file became shorter while it was read")

// Again is the remedy at the end of most faults.
const Again = "copy or download the file again"

// explain returns the fault that an error of a decompressor means, with the remedy. anyText is
// whether there was text before it; dictErr is why the dictionary of the file cannot be used, if it
// has one.
func explain(p Packing, err error, anyText bool, dictErr error) error {
	switch {
	case errors.Is(err, ErrFormat):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: the file is truncated; "+Again, p, ErrTruncated)
	case errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("%s: %w, so any line since the frame began may be damaged: "+Again, p, ErrChecksum)
	case errors.Is(err, ErrTrailing), anyText && (errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, gzip.ErrHeader)):
		return fmt.Errorf("%s: %w: cut them off, or "+Again, p, ErrTrailing)
	case isWindow(err):
		return fmt.Errorf("%s: %w: allow more memory, or recompress it, for example: zstd -dc --long=31 file | zstd > new.zst", p, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: %w: recompress it, for example: zstd -dc --long=31 file | zstd > new.zst", p, ErrWindow)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return fmt.Errorf("%s: %w (%w): put it in front, as the zstd format of WARC files says, or recompress the file without", p, ErrDictionary, cmp.Or(dictErr, err))
	}
	return fmt.Errorf("%s: %w (%w): "+Again, p, ErrDamaged, err)
}

// A WindowError is the error of a zstd frame that needs a larger window than there is memory for.
type WindowError struct{ Need, Most int64 } // bytes

func (e *WindowError) Error() string {
	return fmt.Sprintf("the frame needs a window of %d MiB, but there is memory for only %d MiB", e.Need>>20, e.Most>>20)
}

// isWindow reports whether an error is a WindowError.
func isWindow(err error) bool {
	_, ok := errors.AsType[*WindowError](err)
	return ok
}
