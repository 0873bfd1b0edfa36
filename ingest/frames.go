package ingest

import (
	"encoding/binary"
	"io"
	"math"
)

// leastPiece is how many packed bytes a piece has at least, unless the file ends: enough that starting a decoder does not
// count, and little enough that most of its text fits the buffers of an unpacker.
const leastPiece = 512 << 10

// wholeFile is the end of a piece that goes on to the end of the file, wherever that is.
const wholeFile = math.MaxInt64

// A frameScanner finds where the zstd frames of a file end. It unpacks nothing: a frame is a header and blocks, each of
// which says how long it is (RFC 8878 section 3.1.1).
type frameScanner struct {
	file  io.ReaderAt
	size  int64 // of the file
	least int64 // packed bytes of a piece
}

// piece returns the end of the shortest run of whole frames from the given offset on, skippable ones included, that has
// the least size of a piece. It is wholeFile if there are no more, or if what follows is no whole frame, as far as it can be seen:
// what that is, the decoder has to say.
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
	switch magic := binary.LittleEndian.Uint32(head[:]); {
	case magic&^0xf == 0x184d2a50:
		end = at + 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		return end, end <= s.size
	case magic != binary.LittleEndian.Uint32(zstdMagic):
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
