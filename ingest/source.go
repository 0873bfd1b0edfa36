package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// sourceBuffer is how much text of a capture can be looked at at once: it is the longest header line, too.
	sourceBuffer = 64 << 10

	// rereadFactor and rereadMin bound the bytes that are read once more after faults, as a multiple of the file's size
	// and at least: a few faults in a file of one member, or any number in one of a member a record. Without a bound,
	// time would be quadratic in the length of a file made for it.
	rereadFactor = 8
	rereadMin    = 64 << 20
)

var (
	gzipMagic = []byte("\x1f\x8b\x08")
	zstdMagic = []byte("\x28\xb5\x2f\xfd")
	warcMagic = []byte("WARC/1.")
)

// A source reads the text of a capture file, which is its segments' text in order: the members of a gzip file, the
// frames of a zstd file, or all of a plain one. A segment that is damaged does not end it: the reader can go back and
// look for the next.
type source struct {
	file   io.ReaderAt
	size   int64 // of file
	off    int64 // what of file was read into packed
	ioErr  error // what file failed with: no fault of the data, and the end
	budget int64 // bytes that may still be read once more

	packed *bufio.Reader // the file
	format format
	gzip   *gzip.Reader
	zstd   *zstd.Decoder
	frame  frameReader

	dictErr error // why the dictionary of a zstd file cannot be used

	text   *bufio.Reader // of this source's Read
	given  int64         // text that Read gave out
	marks  []mark        // where the segments of the text begin, the first at or before what was last pruned
	isOpen bool          // the last of marks is being read
	single bool          // Read ends at the end of a segment
	fault  *segmentError // what Read fails with until the next rewind or segment
}

// A mark is the start of a segment.
type mark struct {
	text   int64 // what of the text comes before it
	file   int64 // what of the file comes before it
	record bool  // it starts as a WARC record does
}

// A segmentError is a fault of a segment.
type segmentError struct {
	start int64 // of the segment in the file
	err   error
}

func (e *segmentError) Error() string { return e.err.Error() }
func (e *segmentError) Unwrap() error { return e.err }

// reset starts to read a file of that name and size.
func (s *source) reset(name string, file io.ReaderAt, size int64) error {
	if s.packed == nil {
		s.packed = bufio.NewReaderSize(nil, fileBuffer)
		s.text = bufio.NewReaderSize(nil, sourceBuffer)
	}
	if s.zstd != nil { // it may have a dictionary
		s.zstd.Close()
	}
	*s = source{
		file: file, size: size, budget: max(rereadMin, size*rereadFactor),
		packed: s.packed, text: s.text, gzip: s.gzip, marks: s.marks[:0],
	}
	s.packed.Reset(packedSource{s})
	s.text.Reset(s)
	head, err := s.packed.Peek(magicLen)
	if err != nil && err != io.EOF { //nolint:errorlint // a Reader's end is io.EOF itself
		return err
	}
	if s.format, err = captureFormat(head, name); err != nil {
		return err
	}
	return nil
}

// captureFormat returns the format of a capture file that starts with head. The name decides only where head says
// nothing, since that may be the damaged part.
func captureFormat(head []byte, name string) (format, error) {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return 0, fmt.Errorf("%s is %w: unpack it first, as in: %s file > unpacked", f.name, ErrFormat, f.tool)
		}
	}
	f, _ := detect(head)
	text := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), "\r\n\t ")
	switch {
	case f != formatText || bytes.HasPrefix(text, warcMagic[:5]) || bytes.HasPrefix(text, []byte("{")):
		return f, nil
	case strings.HasSuffix(name, ".gz"):
		return formatGzip, nil
	case strings.HasSuffix(name, ".zst"), strings.HasSuffix(name, ".zstd"):
		return formatZstd, nil
	}
	return formatText, nil
}

// pos returns how much of the text comes before what text gives next.
func (s *source) pos() int64 { return s.given - int64(s.text.Buffered()) }

// filePos returns how much of the file comes before what packed gives next.
func (s *source) filePos() int64 { return s.off - int64(s.packed.Buffered()) }

// seekFile makes packed go on at pos.
func (s *source) seekFile(pos int64) {
	if ahead := pos - s.filePos(); ahead >= 0 && ahead <= int64(s.packed.Buffered()) {
		s.packed.Discard(int(ahead)) //nolint:errcheck // it is buffered
		return
	}
	s.off = pos
	s.packed.Reset(packedSource{s})
}

// Read reads text. Its errors are io.EOF, a [*segmentError], or what the file failed with.
func (s *source) Read(p []byte) (int, error) {
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
			m.record = bytes.HasPrefix(p[:n], warcMagic)
		}
		s.given += int64(n)
		switch {
		case err == io.EOF: //nolint:errorlint // a Reader's end is io.EOF itself
			s.isOpen = false
		case err != nil && s.ioErr == nil:
			s.fault = &segmentError{s.marks[len(s.marks)-1].file, s.classify(err)}
		case err != nil:
			return n, s.ioErr
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, io.ErrNoProgress
}

func (s *source) unpack(p []byte) (int, error) {
	switch s.format {
	case formatGzip:
		return s.gzip.Read(p)
	case formatZstd:
		return s.zstd.Read(p)
	default:
		return s.packed.Read(p)
	}
}

// open opens the segment at which packed stands. Its error is io.EOF, a fault that it also sets, or that of the file.
func (s *source) open() error {
	start := s.filePos()
	if _, err := s.packed.Peek(1); err != nil {
		return err
	}
	var err error
	switch s.format {
	case formatGzip:
		err = s.openGzip()
	case formatZstd:
		err = s.openZstd()
	case formatText:
	}
	if err == io.EOF { //nolint:errorlint // there were only skippable frames
		return err
	}
	if s.ioErr != nil {
		return s.ioErr
	}
	s.marks = append(s.marks, mark{text: s.given, file: start})
	s.isOpen = true
	if err != nil {
		s.fault = &segmentError{start, s.classify(err)}
		return s.fault
	}
	return nil
}

func (s *source) openGzip() error {
	if s.gzip == nil {
		s.gzip = new(gzip.Reader)
	}
	err := s.gzip.Reset(s.packed)
	if err == io.EOF { //nolint:errorlint // a header of under 10 bytes, reported bare
		err = io.ErrUnexpectedEOF
	}
	s.gzip.Multistream(false)
	return err
}

// classify says what an error of a decompressor means, with the remedy.
func (s *source) classify(err error) error {
	const again = "copy or download the file again"
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: "+again, s.format, ErrTruncated)
	case errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("%s: %w: "+again, s.format, ErrChecksum)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: %w: recompress it, as in: zstd -dc --long=31 file | zstd > new.zst", s.format, ErrWindow)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return fmt.Errorf("%s: %w (%w): put it in front, as the zstd format of WARC files says, or recompress the file without", s.format, ErrDictionary, cmp.Or(s.dictErr, err))
	}
	return fmt.Errorf("%s: %w (%w): "+again, s.format, ErrDamaged, err)
}

// prune forgets the segments that end before pos, which then cannot be gone back to.
func (s *source) prune(pos int64) {
	if i := s.markOf(pos); i > 0 {
		s.marks = slices.Delete(s.marks, 0, i)
	}
}

// markOf returns the index of the last mark at or before pos, or -1.
func (s *source) markOf(pos int64) int {
	i := len(s.marks) - 1
	for i >= 0 && s.marks[i].text > pos {
		i--
	}
	return i
}

// crossed reports whether text was read of a segment that starts as a record does, apart from one that starts at start.
func (s *source) crossed(start int64) bool {
	for i := len(s.marks) - 1; i >= 0 && s.marks[i].text > start; i-- {
		if s.marks[i].record && s.marks[i].text < s.pos() {
			return true
		}
	}
	return false
}

// skip passes over n bytes of text of the record that starts at start. If the text ends before that, or another
// record starts, the error is ErrLength.
func (s *source) skip(n, start int64) error {
	if s.format == formatText && n > int64(s.text.Buffered()) {
		to := s.pos() + n
		if to > s.size {
			return ErrLength
		}
		s.seekText(to)
		return nil
	}
	for n > 0 {
		if _, err := s.text.Peek(1); err != nil {
			return endsEarly(err)
		}
		step := int(min(n, int64(s.text.Buffered())))
		s.text.Discard(step) //nolint:errcheck // it is buffered
		n -= int64(step)
		if s.crossed(start) {
			return ErrLength
		}
	}
	return nil
}

// endsEarly is the error for the end of the text inside a record.
func endsEarly(err error) error {
	if err == io.EOF { //nolint:errorlint // a Reader's end is io.EOF itself
		return ErrLength
	}
	return err
}

// seekText makes text, which is plain, go on at pos.
func (s *source) seekText(pos int64) {
	s.seekFile(pos)
	s.given = pos
	s.fault = nil
	s.text.Reset(s)
}

// peekAt returns up to n bytes of plain text at pos, which need not be near.
func (s *source) peekAt(pos int64, n int) ([]byte, error) {
	b := make([]byte, n)
	m, err := s.file.ReadAt(b, pos)
	if err != nil && err != io.EOF {
		s.ioErr = err
		return nil, err
	}
	return b[:m], nil
}

// release gives back the memory that closing alone frees.
func (s *source) release() {
	if s.zstd != nil {
		s.zstd.Close()
		s.zstd = nil
	}
}

// A packedSource reads the file of a source.
type packedSource struct{ s *source }

func (r packedSource) Read(p []byte) (int, error) {
	n, err := r.s.file.ReadAt(p, r.s.off)
	r.s.off += int64(n)
	if err != nil && err != io.EOF {
		r.s.ioErr = err
	}
	if n > 0 {
		err = nil // it comes again
	}
	return n, err
}
