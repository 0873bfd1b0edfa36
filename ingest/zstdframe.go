package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxDictionary is the longest dictionary of a zstd WARC file that is read, as that format demands.
	maxDictionary = 8 << 20

	// dictionaryMagic starts the skippable frame of the dictionary.
	dictionaryMagic = 0x184d2a5d
)

// openZstd passes over skippable frames and opens the frame after them. A dictionary is one at the start of the file.
func (s *source) openZstd() error {
	for {
		start := s.filePos()
		head, err := s.packed.Peek(8)
		if len(head) < 4 {
			return cutShort(err, len(head))
		}
		magic := binary.LittleEndian.Uint32(head)
		if magic&^0xf != 0x184d2a50 {
			break
		}
		if len(head) < 8 {
			return cutShort(err, len(head))
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
	if err := s.needDecoder(); err != nil {
		return err
	}
	if err := s.frame.reset(s.packed); err != nil {
		return err
	}
	return s.zstd.Reset(&s.frame)
}

// cutShort is the error of a frame of which only n bytes are there.
func cutShort(err error, n int) error {
	if err == io.EOF && n > 0 { //nolint:errorlint // a Reader's end is io.EOF itself
		return io.ErrUnexpectedEOF
	}
	return err
}

// needDecoder makes the decoder, unless there is one. Where the dictionary cannot be used, frames that need none are
// read all the same.
func (s *source) needDecoder() (err error) {
	if s.zstd != nil {
		return nil
	}
	opts := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), // see the package doc
		zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderMaxMemory(maxWindow),
	}
	dict, err := s.dictionary()
	if err == nil && dict != nil {
		if s.zstd, err = zstd.NewReader(nil, append(opts, zstd.WithDecoderDicts(dict))...); err == nil {
			return nil
		}
	}
	s.dictErr = err
	s.zstd, err = zstd.NewReader(nil, opts...)
	return err
}

// dictionary returns the dictionary that the file starts with, or nil: the content of a skippable frame, itself a
// zstd frame or not.
func (s *source) dictionary() ([]byte, error) {
	head, err := s.peekAt(0, 8)
	if err != nil || len(head) < 8 || binary.LittleEndian.Uint32(head) != dictionaryMagic {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if size > maxDictionary {
		return nil, fmt.Errorf("it has %d bytes, and %d is the most", size, maxDictionary)
	}
	dict, err := s.peekAt(8, int(size))
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

// A frameReader gives out the bytes of one zstd frame (RFC 8878 section 3.1.1) and ends behind it, which the decoder by
// itself would not: it goes on with the next frame.
type frameReader struct {
	r       *bufio.Reader
	pending int64 // bytes to give out before the next block header
	last    bool  // no block follows
	check   bool  // a checksum follows the last block
}

// reset starts with the frame at which r stands.
func (f *frameReader) reset(r *bufio.Reader) error {
	head, err := r.Peek(5)
	if err != nil {
		return cutShort(err, len(head))
	}
	n, check := frameHeader(head[4])
	*f = frameReader{r: r, pending: n, check: check}
	return nil
}

// frameHeader returns the length of the header of a frame, magic number included, and whether a checksum follows the
// last block, from the descriptor, which is the byte behind the magic number.
func frameHeader(descriptor byte) (size int64, check bool) {
	size = 5 + [4]int64{0, 1, 2, 4}[descriptor&3] + [4]int64{0, 2, 4, 8}[descriptor>>6]
	if isSingle := descriptor&0x20 != 0; !isSingle || descriptor>>6 == 0 {
		size++
	}
	return size, descriptor&4 != 0
}

// blockHeader returns the length of a block, its header included, and whether it is the last of its frame, from its
// first three bytes.
func blockHeader(head []byte) (size int64, last bool) {
	bits := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	if isRun := bits>>1&3 == 1; isRun {
		return 3 + 1, bits&1 != 0
	}
	return 3 + int64(bits>>3), bits&1 != 0
}

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
