package unpack

import (
	"bytes"
	"io"
)

// Resume moves from the faulty segment at pos to the next segment that begins with the record prefix and has a correct
// checksum. It reports whether there is one. A body that is itself a packed record, stored in the damaged segment,
// cannot be distinguished from one and is used.
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
		at, ok := s.find(from)
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

// OpenAt starts reading in the middle of a file that was just reset: at the segment at offset, after that many bytes of
// its text.
func (s *Segments) OpenAt(offset, text int64) {
	s.openAt(offset, 0)
	if !s.IsPacked() {
		s.SeekText(offset)
	}
	io.CopyN(io.Discard, s.Text, text) //nolint:errcheck // what follows cannot be read either
}

// openAt opens the segment at a file position, with the number of text bytes before it. Read returns any fault.
func (s *Segments) openAt(file, text int64) {
	s.seekFile(file)
	s.given, s.marks, s.fault, s.isOpen = text, s.marks[:0], nil, false
	s.Text.Reset(textSource{s})
	s.open() //nolint:errcheck // it is a fault, which stays, or ioErr
}

// find returns the next position of a segment's magic number in the file, from pos on.
func (s *Segments) find(pos int64) (int64, bool) {
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
