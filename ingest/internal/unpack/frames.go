package unpack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

var zstdMagic = []byte(packings[Zstd].magic)

// isSkippable reports whether head begins with the magic number of a skippable zstd frame.
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// mayBeginFrame reports whether head, all that is left of a file, may be the start of a frame that
// was cut off in its magic number.
func mayBeginFrame(head []byte) bool {
	return bytes.HasPrefix(zstdMagic, head) || len(head) > 0 && head[0]&0xf0 == 0x50 && bytes.HasPrefix([]byte("\x2a\x4d\x18"), head[1:])
}

// leastPiece is the least size of a piece in packed bytes, unless the file ends: so much that
// starting a decoder takes no time beside it, and so little that most of its text fits the buffers
// of an unpacker.
const leastPiece = 512 << 10

// wholeFile is the end of a piece that goes on to the end of the file, wherever that is.
const wholeFile = math.MaxInt64

// A frameScanner finds the ends of the zstd frames of a file without unpacking them: a frame is a
// header and blocks, and each says how long it is (RFC 8878 section 3.1.1).
type frameScanner struct {
	file  io.ReaderAt
	size  int64 // of the file
	least int64 // packed bytes of a piece
}

// piece returns the end of the shortest run of whole frames from start that has the least size,
// skippable frames included. It is wholeFile if the file has no more, or if something else follows:
// the decoder then reports its kind.
func (s frameScanner) piece(start int64) (end int64) {
	for end = start; end-start < s.least; {
		next, ok := s.frame(end)
		if !ok || next >= s.size {
			return wholeFile
		}
		end = next
	}
	return end
}

// frame returns where the frame at the given offset ends. ok is false if it does not look like one.
func (s frameScanner) frame(at int64) (end int64, ok bool) {
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
		if !s.read(head[:3], at) || head[0]>>1&3 == 3 { // a type that does not exist
			return 0, false
		}
		size, last = blockHeader(head[:])
	}
	if check {
		at += 4
	}
	return at, at <= s.size
}

// read fills p from the given offset and reports whether the file goes that far.
func (s frameScanner) read(p []byte, at int64) bool {
	_, err := s.file.ReadAt(p, at)
	return err == nil
}

// cutShort is the error of a frame with only n bytes there.
func cutShort(err error, n int) error {
	if err == io.EOF && n > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A frameReader reads the bytes of one zstd frame (RFC 8878 section 3.1.1) and ends behind it. The
// decoder alone would go on with the next frame.
type frameReader struct {
	r       *bufio.Reader
	pending int64 // bytes to give out before the next block header
	last    bool  // no block follows
	check   bool  // a checksum follows the last block
}

// reset starts with the frame where r stands.
func (f *frameReader) reset(r *bufio.Reader) error {
	head, err := r.Peek(5)
	if err != nil {
		return cutShort(err, len(head))
	}
	n, check := frameHeader(head[4])
	*f = frameReader{r: r, pending: n, check: check}
	return nil
}

// frameHeader returns the length of a frame header, magic number included, and whether a checksum
// follows the last block. descriptor is the byte behind the magic number.
func frameHeader(descriptor byte) (size int64, check bool) {
	size = 5 + [4]int64{0, 1, 2, 4}[descriptor&3] + [4]int64{0, 2, 4, 8}[descriptor>>6]
	if isSingle := descriptor&0x20 != 0; !isSingle || descriptor>>6 == 0 {
		size++
	}
	return size, descriptor&4 != 0
}

// blockHeader returns the length of a block, header included, and whether it is the last of its
// frame, from its first three bytes.
func blockHeader(head []byte) (size int64, last bool) {
	bits := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	if isRun := bits>>1&3 == 1; isRun {
		return 3 + 1, bits&1 != 0
	}
	return 3 + int64(bits>>3), bits&1 != 0
}

// Read reads the frame as it is packed.
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
			return 0, cutShort(err, 1)
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
