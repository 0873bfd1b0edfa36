package container

import (
	"bufio"
	"errors"
	"io"
)

// sinkBuffer is the size of the writes: large enough that system calls do not count.
const sinkBuffer = 256 << 10

// A Sink buffers the output of a container and counts it. Errors are sticky, and surface at the
// latest with flush: not all of the libraries that write here pass them on.
type Sink struct {
	buf *bufio.Writer
	pos int64
}

// NewSink returns a Sink that writes to w.
func NewSink(w io.Writer) *Sink { return &Sink{buf: bufio.NewWriterSize(w, sinkBuffer)} }

// Reset starts anew on another stream of bytes.
func (s *Sink) Reset(w io.Writer) {
	s.buf.Reset(w)
	s.pos = 0
}

// Write appends p.
func (s *Sink) Write(p []byte) (int, error) {
	n, err := s.buf.Write(p)
	s.pos += int64(n)
	return n, err
}

// Tell returns the position.
func (s *Sink) Tell() int64 { return s.pos }

// errSeek is returned for all seeks but the one that asks for the position.
var errSeek = errors.New("the output cannot be rewound")

// Seek reports the position, which is all that the writer of Arrow files asks for.
func (s *Sink) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errSeek
	}
	return s.pos, nil
}

// Flush passes on the buffered bytes and returns the first error there was.
func (s *Sink) Flush() error { return s.buf.Flush() }

// failed returns the first error there was.
func (s *Sink) failed() error {
	_, err := s.buf.Write(nil)
	return err
}
