package output

import (
	"bufio"
	"errors"
	"io"
)

// sinkBuffer is the size of the writes: large enough that system calls do not count.
const sinkBuffer = 256 << 10

// A sink buffers what a container writes and counts it. Errors are sticky, and surface at the
// latest with flush: not all of the libraries that write here pass them on.
type sink struct {
	buf *bufio.Writer
	pos int64
}

func newSink(w io.Writer) *sink { return &sink{buf: bufio.NewWriterSize(w, sinkBuffer)} }

// reset starts anew on another stream of bytes.
func (s *sink) reset(w io.Writer) {
	s.buf.Reset(w)
	s.pos = 0
}

// Write appends p.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.buf.Write(p)
	s.pos += int64(n)
	return n, err
}

// Tell returns the position.
func (s *sink) Tell() int64 { return s.pos }

// errSeek is returned for all seeks but the one that asks for the position.
var errSeek = errors.New("the output cannot be rewound")

// Seek reports the position, which is all that the writer of Arrow files asks for.
func (s *sink) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errSeek
	}
	return s.pos, nil
}

// flush passes on what is buffered and returns the first error there was.
func (s *sink) flush() error { return s.buf.Flush() }

// failed returns the first error there was.
func (s *sink) failed() error {
	_, err := s.buf.Write(nil)
	return err
}
