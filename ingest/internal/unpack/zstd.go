package unpack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxDictionary is the maximum length of the dictionary of a zstd WARC file that is read. The WARC zstd format
	// requires support for it.
	maxDictionary = 8 << 20

	// dictionaryMagic is the magic number of the skippable frame with the dictionary.
	dictionaryMagic = 0x184d2a5d
)

// openZstd skips skippable frames and opens the next frame. The first call reads a dictionary at the start of the file.
// The error is io.EOF at the end, ErrTrailing, that of the decoder, or a read error.
func (s *Segments) openZstd() error {
	for {
		start := s.filePos()
		head, err := s.packed.Peek(8)
		if len(head) < 4 {
			if err == io.EOF && s.given > 0 && !mayBeginFrame(head) {
				return ErrTrailing
			}
			return cutShortError(err, len(head))
		}
		if !isSkippable(head) {
			break
		}
		if len(head) < 8 {
			return cutShortError(err, len(head))
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if start+8+size > s.size {
			return io.ErrUnexpectedEOF
		}
		s.seekFile(start + 8 + size)
	}
	if head, _ := s.packed.Peek(4); !bytes.Equal(head, zstdMagic) {
		return zstd.ErrMagicMismatch
	}
	if err := s.ensureDecoder(); err != nil {
		return err
	}
	if err := s.frame.reset(s.packed); err != nil {
		return err
	}
	s.noSum = s.noSum || !s.frame.check
	return s.zstd.Reset(&s.frame)
}

// ensureDecoder creates the decoder, unless it exists. If the dictionary is unusable, it sets s.dictErr, and frames
// that do not need the dictionary are read nevertheless.
func (s *Segments) ensureDecoder() (err error) {
	if s.zstd != nil {
		return nil
	}
	opts := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), // see the package doc
		zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderMaxMemory(maxWindow),
	}
	dict, err := s.readDictionary()
	if err == nil && dict != nil {
		if s.zstd, err = zstd.NewReader(nil, append(opts, zstd.WithDecoderDicts(dict))...); err == nil {
			return nil
		}
	}
	s.dictErr = err
	s.zstd, err = zstd.NewReader(nil, opts...)
	return err
}

// readDictionary returns the dictionary at the start of the file; nil if there is none. It is the content of a
// skippable frame, which may itself be a zstd frame.
func (s *Segments) readDictionary() ([]byte, error) {
	head, err := s.PeekAt(0, 8)
	if err != nil || len(head) < 8 || binary.LittleEndian.Uint32(head) != dictionaryMagic {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if size > maxDictionary {
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", size, maxDictionary)
	}
	dict, err := s.PeekAt(8, int(size))
	if err != nil || !bytes.HasPrefix(dict, zstdMagic) {
		return dict, err
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(dict, nil)
}

// A zstdReader reads the text of all frames of a zstd file. It decodes frame by frame to know which ones were verified;
// the decoder alone would continue with the next frame.
type zstdReader struct {
	most  int64         // largest window; 0 means maxWindow
	zstd  *zstd.Decoder // nil before the first frame
	in    *bufio.Reader
	frame frameReader
	open  bool // a frame is being read
	check bool // the frame has a checksum
	parts verifiedParts
}

// reset prepares for the frame at the current position of r.
func (z *zstdReader) reset(r *bufio.Reader) {
	*z = zstdReader{most: z.most, zstd: z.zstd, in: r}
}

// Read reads text. Its errors are io.EOF and those of the decoder. After an error, text decoded earlier may remain.
func (z *zstdReader) Read(p []byte) (int, error) {
	for {
		if !z.open {
			if err := z.openNext(); err != nil {
				return 0, err
			}
		}
		n, err := z.zstd.Read(p)
		z.parts.given += int64(n)
		if err != io.EOF {
			return n, err
		}
		z.open = false
		if z.parts.endPart(z.check); n > 0 {
			return n, nil
		}
	}
}

// openNext opens the next frame, after skippable ones. The error is io.EOF at the end, zstd.ErrMagicMismatch if
// something else follows, a [*WindowError], or that of the decoder or the file.
func (z *zstdReader) openNext() error {
	for {
		head, err := z.in.Peek(8)
		if len(head) < 4 {
			if err == io.EOF && !mayBeginFrame(head) {
				return zstd.ErrMagicMismatch
			}
			return cutShortError(err, len(head))
		}
		if !isSkippable(head) {
			break
		}
		if len(head) < 8 {
			return cutShortError(err, len(head))
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if n, err := io.CopyN(io.Discard, z.in, 8+size); n < 8+size {
			return cutShortError(err, 1)
		}
	}
	if head, _ := z.in.Peek(4); !bytes.Equal(head, zstdMagic) {
		return zstd.ErrMagicMismatch
	}
	if z.most > 0 {
		head, _ := z.in.Peek(zstd.HeaderMaxSize) // an error is reported again
		if need := Window(head); need > z.most {
			return &WindowError{need, z.most}
		}
	}
	if err := z.frame.reset(z.in); err != nil {
		return err
	}
	z.open, z.check = true, z.frame.check
	if z.zstd != nil {
		return z.zstd.Reset(&z.frame)
	}
	var err error
	z.zstd, err = zstd.NewReader(&z.frame,
		zstd.WithDecoderConcurrency(1),     // see the package doc
		zstd.WithDecoderLowmem(z.most > 0), // limits the history to one window
		zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderMaxMemory(maxWindow)) // for a single-segment frame, whose size is its window
	return err
}

// verified returns how much of the text was verified.
func (z *zstdReader) verified() *verifiedParts { return &z.parts }

// close frees the memory of the decoder.
func (z *zstdReader) close() {
	if z.zstd != nil {
		z.zstd.Close()
	}
	*z = zstdReader{most: z.most}
}

// Window returns the window that the first frame of a zstd file needs, in bytes; 0 if head is not the beginning of a
// frame.
func Window(head []byte) int64 {
	var h zstd.Header
	if h.Decode(head) != nil || h.Skippable {
		return 0
	}
	if h.SingleSegment {
		return int64(min(h.FrameContentSize, 1<<62))
	}
	return int64(min(h.WindowSize, 1<<62))
}

var zstdMagic = []byte(packings[Zstd].magic)

// isSkippable reports whether head begins with the magic number of a skippable zstd frame.
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// mayBeginFrame reports whether head, the rest of a file, may be the start of a frame that was truncated within its
// magic number.
func mayBeginFrame(head []byte) bool {
	return bytes.HasPrefix(zstdMagic, head) || len(head) > 0 && head[0]&0xf0 == 0x50 && bytes.HasPrefix([]byte("\x2a\x4d\x18"), head[1:])
}

// leastPiece is the minimum size of a piece in packed bytes, except at the end of a file. It is large enough that
// starting a decoder takes negligible time, and small enough that most of the text fits into the buffers of an
// unpacker.
const leastPiece = 512 << 10

// wholeFile is the end of a piece that reaches to the end of the file.
const wholeFile = math.MaxInt64

// A frameScanner finds the ends of the zstd frames of a file without unpacking them: a frame consists of a header and
// blocks that state their lengths (RFC 8878 section 3.1.1).
type frameScanner struct {
	file  io.ReaderAt
	size  int64 // size of the file
	least int64 // minimum packed bytes of a piece
}

// piece returns the end of the shortest sequence of complete frames from start that has the minimum size, including
// skippable frames. It returns wholeFile if the file is shorter, or something else follows; the decoder then reports
// the fault.
func (s frameScanner) piece(start int64) (end int64) {
	for end = start; end-start < s.least; {
		next, ok := s.frameEnd(end)
		if !ok || next >= s.size {
			return wholeFile
		}
		end = next
	}
	return end
}

// frameEnd returns the end of the frame at the given offset. ok is false if there is no complete frame. It reads only
// headers.
func (s frameScanner) frameEnd(at int64) (end int64, ok bool) {
	var head [8]byte
	if !s.read(head[:], at) {
		return 0, false
	}
	switch {
	case isSkippable(head[:]):
		end = at + 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		return end, end <= s.size
	case !bytes.HasPrefix(head[:], zstdMagic):
		return 0, false
	}
	size, check := frameHeader(head[4])
	at += size
	for last := false; !last; at += size {
		if !s.read(head[:3], at) || head[0]>>1&3 == 3 { // an invalid block type
			return 0, false
		}
		size, last = blockHeader(head[:])
	}
	if check {
		at += 4
	}
	return at, at <= s.size
}

// FramesSize returns the total text size of the frames of a zstd file, according to their headers; 0 if a frame does
// not state its size.
func FramesSize(file io.ReaderAt, size int64) (text int64) {
	s := frameScanner{file: file, size: size}
	for at := int64(0); at < size; {
		head := make([]byte, min(zstd.HeaderMaxSize, size-at))
		var h zstd.Header
		if !s.read(head, at) || h.Decode(head) != nil || !h.Skippable && !h.HasFCS || h.FrameContentSize > math.MaxInt64/2-uint64(text) {
			return 0
		}
		if !h.Skippable {
			text += int64(h.FrameContentSize)
		}
		end, ok := s.frameEnd(at)
		if !ok {
			return 0
		}
		at = end
	}
	return text
}

// read fills p from the given offset and reports whether the file goes that far.
func (s frameScanner) read(p []byte, at int64) bool {
	_, err := s.file.ReadAt(p, at)
	return err == nil
}

// cutShortError returns the error for a frame of which only n bytes could be read: io.ErrUnexpectedEOF if err is io.EOF
// and n is above 0, otherwise err.
func cutShortError(err error, n int) error {
	if err == io.EOF && n > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A frameReader reads the bytes of one zstd frame (RFC 8878 section 3.1.1) and stops at its end. The decoder alone
// would continue with the next frame.
type frameReader struct {
	r       *bufio.Reader
	pending int64 // bytes to return before the next block header
	last    bool  // no block follows
	check   bool  // a checksum follows the last block
}

// reset prepares for the frame at the current position of r.
func (f *frameReader) reset(r *bufio.Reader) error {
	head, err := r.Peek(5)
	if err != nil {
		return cutShortError(err, len(head))
	}
	n, check := frameHeader(head[4])
	*f = frameReader{r: r, pending: n, check: check}
	return nil
}

// frameHeader returns the length of a frame header, including the magic number, and whether a checksum follows the last
// block. descriptor is the byte after the magic number.
func frameHeader(descriptor byte) (size int64, check bool) {
	size = 5 + [4]int64{0, 1, 2, 4}[descriptor&3] + [4]int64{0, 2, 4, 8}[descriptor>>6]
	if isSingle := descriptor&0x20 != 0; !isSingle || descriptor>>6 == 0 {
		size++
	}
	return size, descriptor&4 != 0
}

// blockHeader decodes the first three bytes of a block: its length, including the header, and whether it is the last of
// its frame.
func blockHeader(head []byte) (size int64, last bool) {
	bits := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	if isRun := bits>>1&3 == 1; isRun {
		return 3 + 1, bits&1 != 0
	}
	return 3 + int64(bits>>3), bits&1 != 0
}

// Read reads the packed frame. At its end it returns io.EOF; if the file ends earlier, io.ErrUnexpectedEOF.
func (f *frameReader) Read(p []byte) (int, error) {
	for f.pending == 0 {
		if f.last {
			if !f.check {
				return 0, io.EOF
			}
			f.check = false
			f.pending = 4
			break
		}
		head, err := f.r.Peek(3)
		if err != nil {
			return 0, cutShortError(err, 1)
		}
		f.pending, f.last = blockHeader(head)
	}
	n, err := f.r.Read(p[:min(int64(len(p)), f.pending)])
	f.pending -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
