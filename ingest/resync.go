package ingest

import (
	"bytes"
	"io"
)

// resync moves to the next record after one that starts at start and is broken, and reports whether there is one.
//
// Where records share a segment, that is the next line like "WARC/1.0", or end of a line, as the one before may be cut
// off. Where every record so far had segments of its own, only the start of a segment counts, so that no body can pose
// as a record.
func (s *source) resync(start int64, aligned bool) bool {
	s.single = true
	defer func() { s.single = false }()
	if !s.rewind(start) {
		return false
	}
	for {
		if !aligned && s.scanRecord() {
			return true
		}
		if !s.nextSegment() {
			return false
		}
		if head, _ := s.text.Peek(len(warcMagic)); bytes.Equal(head, warcMagic) {
			return true
		}
	}
}

// rewind goes back to pos, if as much may be read again.
func (s *source) rewind(pos int64) bool {
	i := s.markOf(pos)
	if i < 0 {
		return s.ioErr == nil // no segment was opened
	}
	m := s.marks[i]
	if s.format == formatText {
		if s.budget -= max(0, s.pos()-pos); s.budget < 0 {
			return false
		}
		s.seekText(pos)
		s.isOpen = true
		return s.ioErr == nil
	}
	if s.fault != nil && s.fault.start == m.file && s.given == m.text {
		return true // that is where it is, and nothing can be read of it
	}
	if s.budget -= max(s.filePos()-m.file, pos-m.text); s.budget < 0 {
		return false
	}
	s.openAt(m.file, m.text, i)
	return s.fault != nil || s.discard(pos-m.text)
}

// openAt opens the segment at file, which makes it mark i. A fault is left to Read.
func (s *source) openAt(file, text int64, i int) {
	s.seekFile(file)
	s.given, s.marks, s.fault, s.isOpen = text, s.marks[:i], nil, false
	s.text.Reset(s)
	s.open() //nolint:errcheck // it is a fault, which stays, or ioErr
}

// discard drops n bytes of text, and reports whether that did not meet an error of the file.
func (s *source) discard(n int64) bool {
	_, err := io.CopyN(io.Discard, s.text, n)
	return err == nil || s.ioErr == nil
}

// scanRecord moves to the next text in this segment that looks like the first line of a record, other than where it
// stands, and reports whether there is one.
func (s *source) scanRecord() bool {
	const first = "WARC/1.0\r\n"
	for skip := 1; ; {
		s.text.Peek(skip + len(first)) //nolint:errcheck // what there is counts
		b, _ := s.text.Peek(s.text.Buffered())
		if len(b) < skip+len(first) {
			return false
		}
		i := bytes.Index(b[skip:], warcMagic)
		switch {
		case i < 0:
			i = len(b) - skip - len(warcMagic) + 1
		case isFirstLine(b[skip+i:]):
			s.text.Discard(skip + i) //nolint:errcheck // it is buffered
			return true
		case len(b)-skip-i >= len(first):
			i++
		}
		s.text.Discard(skip + i) //nolint:errcheck // it is buffered
		skip = 0
	}
}

// isFirstLine reports whether b starts with a line like "WARC/1.0", apart from what precedes the number.
func isFirstLine(b []byte) bool {
	n := len(warcMagic)
	return len(b) >= n+3 && '0' <= b[n] && b[n] <= '9' && b[n+1] == '\r' && b[n+2] == '\n'
}

// nextSegment drops the rest of this segment and moves to the start of the next: of the one behind it, or, if it has a
// fault, of the next in the file that can be read. It reports whether there is one.
func (s *source) nextSegment() bool {
	_, err := io.Copy(io.Discard, s.text)
	switch {
	case s.ioErr != nil || s.format == formatText:
		return false
	case err != nil:
		return s.nextMagic()
	}
	if err := s.open(); err != nil {
		return s.fault != nil && s.nextMagic()
	}
	return true
}

// nextMagic moves to the next segment after the one that has a fault.
func (s *source) nextMagic() bool {
	magic := gzipMagic
	if s.format == formatZstd {
		magic = zstdMagic
	}
	for s.fault != nil && s.ioErr == nil {
		from := s.fault.start + 1
		if s.budget -= s.filePos() - from; s.budget < 0 {
			return false
		}
		s.seekFile(from)
		at, ok := s.find(magic)
		if !ok {
			return false
		}
		s.openAt(at, s.given, len(s.marks))
		s.text.Peek(1) //nolint:errcheck // it sets fault
	}
	return s.ioErr == nil
}

// find returns where in the file, from packed on, magic is.
func (s *source) find(magic []byte) (int64, bool) {
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
