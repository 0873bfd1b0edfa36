package unpack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxDictionary is the longest dictionary of a zstd WARC file that is read, as that format
	// demands.
	maxDictionary = 8 << 20

	// dictionaryMagic starts the skippable frame of the dictionary.
	dictionaryMagic = 0x184d2a5d
)

// openZstd passes over skippable frames and opens the frame after them. A dictionary is one at the
// start of the file.
func (s *Segments) openZstd() error {
	for {
		start := s.filePos()
		head, err := s.packed.Peek(8)
		if len(head) < 4 {
			if err == io.EOF && s.given > 0 && !mayBeginFrame(head) {
				return ErrTrailing
			}
			return cutShort(err, len(head))
		}
		if !isSkippable(head) {
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
	s.noSum = s.noSum || !s.frame.check
	return s.zstd.Reset(&s.frame)
}

// needDecoder makes the decoder, unless there is one. Where the dictionary cannot be used, frames
// that need none are read all the same.
func (s *Segments) needDecoder() (err error) {
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

// dictionary returns the dictionary that the file starts with, or nil: the content of a skippable
// frame, itself a zstd frame or not.
func (s *Segments) dictionary() ([]byte, error) {
	head, err := s.PeekAt(0, 8)
	if err != nil || len(head) < 8 || binary.LittleEndian.Uint32(head) != dictionaryMagic {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if size > maxDictionary {
		return nil, fmt.Errorf("it has %d bytes, and %d is the most", size, maxDictionary)
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
