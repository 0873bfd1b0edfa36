// Package wordzstd compresses texts of words and punctuation ("signs"), such as URLs, to Zstandard frames (RFC 8878), which
// any decoder can read.
//
// A general encoder looks for a match at nearly every byte. This one looks only at positions of punctuation, such as "/",
// "-", "." and "%" before the words of a URL, for matches of at least eight bytes; see matches.go. Package huff0 encodes
// literals, and sequences.go encodes sequences. Pages of URLs in DELTA_BYTE_ARRAY take 0.6× the time of package zstd at its
// fastest level. They have the same size if URLs are grouped by host, and are 8 % larger in random order.
//
// Only package parquet imports it.
package wordzstd

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/huff0"
)

const (
	// blockSize is the maximum size of a block in the format.
	blockSize = 128 << 10
	// leastSize and mostSize limit the size of texts: for shorter ones, the tables cost too much, and pages are not longer.
	leastSize = 4 << 10
	mostSize  = 1 << 30
	// fewSigns is the maximum number of bytes per sign: texts with fewer signs are rejected. URLs have one in seven.
	fewSigns = 32
)

// An Encoder compresses one text after the other. It reuses its memory, half a megabyte. A frame depends only on its
// text. An Encoder is not safe for concurrent use.
type Encoder struct {
	finder   finder
	sequence sequencer
	literals []byte // of the block
	huffman  huff0.Scratch
}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder {
	e := &Encoder{literals: make([]byte, 0, blockSize+copySlack)}
	e.huffman.Reuse = huff0.ReusePolicyNone
	return e
}

// Append appends src as a frame. The first bytes of src, up to head, are the numbers of DELTA_BYTE_ARRAY, and get
// separate blocks. If src is too short or too long, or has too few signs, ok is false, and dst is unchanged.
func (e *Encoder) Append(dst, src []byte, head int) (frame []byte, ok bool) {
	if len(src) < leastSize || len(src) > mostSize {
		return dst, false
	}
	// The magic number, and a header which says that the size follows in four bytes, and is also the window size.
	frame = append(dst, 0x28, 0xb5, 0x2f, 0xfd, 2<<6|1<<5)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(src)))
	for at := 0; at < head; {
		end := min(at+blockSize, head)
		e.literals = append(e.literals[:0], src[at:end]...)
		e.sequence.reset()
		frame = e.appendBlock(frame, src, at, end)
		at = end
	}
	e.finder.reset()
	for at := head; at < len(src); {
		end := min(at+blockSize, len(src))
		e.literals, e.sequence.all = e.finder.appendMatches(e.literals[:0], e.sequence.all[:0], src, at, end)
		if at == head && e.finder.signs*fewSigns < e.finder.bytes {
			return dst, false
		}
		frame = e.appendBlock(frame, src, at, end)
		at = end
	}
	return frame, true
}

// Types of blocks and of their literals.
const (
	rawBlock        = 0
	compressedBlock = 2

	rawLiterals        = 0
	repeatedLiterals   = 1
	compressedLiterals = 2
)

// appendBlock appends the block of src[at:end], which e.literals and e.sequence describe. It appends the text itself
// if the block would not be shorter. The block is the last one if end is the end of src.
func (e *Encoder) appendBlock(dst, src []byte, at, end int) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0)
	dst = e.appendLiterals(dst)
	dst = e.sequence.append(dst)
	kind := compressedBlock
	if len(dst)-start-3 >= end-at {
		kind = rawBlock
		dst = append(dst[:start+3], src[at:end]...)
	}
	header := uint32(len(dst)-start-3)<<3 | uint32(kind)<<1
	if end == len(src) {
		header |= 1 // the last block
	}
	dst[start], dst[start+1], dst[start+2] = byte(header), byte(header>>8), byte(header>>16)
	return dst
}

// appendLiterals appends the literals of a block: as four Huffman-coded streams, uncompressed, or as one repeated byte.
func (e *Encoder) appendLiterals(dst []byte) []byte {
	size := uint64(len(e.literals))
	packed, _, err := huff0.Compress4X(e.literals, &e.huffman)
	if err == nil && len(packed) < len(e.literals) {
		var header [8]byte // type, form, and both sizes in 18 bits: five bytes
		binary.LittleEndian.PutUint64(header[:], compressedLiterals|3<<2|size<<4|uint64(len(packed))<<22)
		return append(append(dst, header[:5]...), packed...)
	}
	kind, literals := uint64(rawLiterals), e.literals
	if errors.Is(err, huff0.ErrUseRLE) {
		kind, literals = repeatedLiterals, literals[:1]
	}
	header := kind | 3<<2 | size<<4 // type, form, and the size in 20 bits: three bytes
	return append(append(dst, byte(header), byte(header>>8), byte(header>>16)), literals...)
}
