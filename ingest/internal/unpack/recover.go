package unpack

import (
	"bytes"
	"io"
)

// StopAtSegments makes Text end where a segment does, until it is called with false. NextSegment
// then goes on.
func (s *Segments) StopAtSegments(stop bool) { s.single = stop }

// Rewind goes back to the text at pos. It reports false if that was pruned, or if too much was read
// again already.
func (s *Segments) Rewind(pos int64) bool {
	i := s.markOf(pos)
	if i < 0 {
		return s.ioErr == nil // no segment was opened
	}
	m := s.marks[i]
	if !s.IsPacked() {
		if s.budget -= max(0, s.Pos()-pos); s.budget < 0 {
			return false
		}
		s.SeekText(pos)
		s.isOpen = true
		return s.ioErr == nil
	}
	if s.fault != nil && s.fault.Start == m.file && s.given == m.text {
		return true // that is where it is, and nothing can be read of it
	}
	if s.budget -= max(s.filePos()-m.file, pos-m.text); s.budget < 0 {
		return false
	}
	s.openAt(m.file, m.text, i)
	return s.fault != nil || s.discard(pos-m.text)
}

// OpenAt starts to read in the middle of a file that was just reset: at the segment that begins at
// offset, behind so many bytes of its text.
func (s *Segments) OpenAt(offset, text int64) {
	s.openAt(offset, 0, 0)
	if !s.IsPacked() {
		s.SeekText(offset)
	}
	s.discard(text)
}

// openAt opens the segment at file, which makes it mark i. A fault is left to Read.
func (s *Segments) openAt(file, text int64, i int) {
	s.seekFile(file)
	s.given, s.marks, s.fault, s.isOpen = text, s.marks[:i], nil, false
	s.Text.Reset(textSource{s})
	s.open() //nolint:errcheck // it is a fault, which stays, or ioErr
}

// discard drops n bytes of text and reports whether the file could be read.
func (s *Segments) discard(n int64) bool {
	_, err := io.CopyN(io.Discard, s.Text, n)
	return err == nil || s.ioErr == nil
}

// NextSegment drops the rest of this segment and moves to the start of the next. If this one has a
// fault, that is the next segment in the file that can be read. It reports whether there is one.
func (s *Segments) NextSegment() bool {
	_, err := io.Copy(io.Discard, s.Text)
	switch {
	case s.ioErr != nil || !s.IsPacked():
		return false
	case err != nil:
		return s.SkipFault()
	}
	if err := s.open(); err != nil {
		return s.fault != nil && s.SkipFault()
	}
	return true
}

// SkipFault moves from a segment with a fault to the next segment in the file that can be read, and
// reports whether there is one.
func (s *Segments) SkipFault() bool {
	magic := []byte("\x1f\x8b\x08") // one byte more than detects gzip: only this method exists
	if s.packing == Zstd {
		magic = zstdMagic
	}
	for s.fault != nil && s.ioErr == nil {
		from := s.fault.Start + 1
		if s.budget -= s.filePos() - from; s.budget < 0 {
			return false
		}
		s.seekFile(from)
		at, ok := s.find(magic)
		if !ok {
			return false
		}
		s.openAt(at, s.given, len(s.marks))
		s.Text.Peek(1) //nolint:errcheck // it sets fault
	}
	return s.ioErr == nil
}

// find returns where magic begins in the file, from where packed stands.
func (s *Segments) find(magic []byte) (int64, bool) {
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
