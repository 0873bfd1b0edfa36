package pipe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

const (
	continuation = 0xFFFFFFFF // begins a message, before its length
	maxHeader    = 256 << 20  // bytes of a header: more is damage
	readStep     = 1 << 20    // bytes of memory allocated first, however large a length is
)

// The kinds of messages.
const (
	kindEnd        = 0 // the end of a stream, which is not a message
	kindSchema     = 1
	kindDictionary = 2
	kindRecord     = 3

	kindTensor, kindSparseTensor = 4, 5
)

// A message is a message of a stream, with its kind and body.
type message struct {
	table                        // of the header
	kind    byte                 // kindSchema, …
	version int16                // 3 is V4, 4 is V5
	pairs   flatbuffers.UOffsetT // position of the message's key-value metadata; 0 if it has none
	meta    []byte               // the FlatBuffer with the header
	body    []byte
}

// A frameReader reads messages.
type frameReader struct{ r *bufio.Reader }

func newFrameReader(r io.Reader) *frameReader { return &frameReader{bufio.NewReaderSize(r, 64<<10)} }

// hasStream reports whether another stream follows, after the end of one or at the start. It skips the line with the
// number of rows that ClickHouse sends before a stream if configured (send_chunk_header).
func (f *frameReader) hasStream() (more bool, err error) {
	if _, err := f.r.Peek(1); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	for n := 1; n <= 20; n++ {
		b, err := f.r.Peek(n)
		if err == nil && b[n-1] >= '0' && b[n-1] <= '9' {
			continue
		}
		if err == nil && b[n-1] == '\n' && n > 1 {
			if b, err := f.r.Peek(n + 2); err == nil && b[n] == 0xFF && b[n+1] == 0xFF {
				_, err := f.r.Discard(n)
				return true, err
			}
		}
		break // the error is reported again when the stream is read
	}
	return true, nil
}

// next reads a message into m, and reuses its memory. At the end of a stream, which is an end mark or the end of the
// input, m is a kindEnd. It panics on some damaged data, see recoverDamage.
func (f *frameReader) next(m *message) error {
	*m = message{meta: m.meta[:0], body: m.body[:0]}
	size, err := f.length()
	if err != nil || size == 0 {
		return err
	}
	if m.meta, err = f.read(m.meta, size); err != nil {
		return err
	}
	t := root(m.meta)
	m.version, m.kind = t.int16(messageVersion), t.byte(messageHeaderType)
	m.pairs = t.at(messageMetadata)
	header, ok := t.table(messageHeader)
	if m.table = header; !ok || m.kind == kindEnd {
		return damagedError("a message without a header")
	}
	size = t.int64(messageBodyLength)
	if size < 0 {
		return damagedError("a body of %d bytes", size)
	}
	m.body, err = f.read(m.body, size)
	return err
}

// length reads the length of the next header in bytes; 0 at the end of the stream.
func (f *frameReader) length() (int64, error) {
	size, err := f.readUint32()
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	if err == nil && size == continuation {
		size, err = f.readUint32()
	}
	if err == nil && size > maxHeader {
		err = damagedError("a header of %d bytes", size)
	}
	return int64(size), truncatedError(err)
}

// readUint32 reads a little-endian number. The error is io.EOF if the input ends before it.
func (f *frameReader) readUint32() (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(f.r, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// read reads n bytes into the memory of b.
func (f *frameReader) read(b []byte, n int64) ([]byte, error) {
	b, err := readGrowing(f.r, b, n)
	return b, truncatedError(err)
}

// readGrowing reads n bytes into the memory of b, which grows with the bytes received, so that a damaged length does
// not allocate much. After an error, the result is empty. See isEnd for truncated input.
func readGrowing(r io.Reader, b []byte, n int64) ([]byte, error) {
	b = b[:0]
	for int64(len(b)) < n {
		from := len(b)
		step := int(min(n-int64(from), int64(max(readStep, from, cap(b)-from))))
		b = slices.Grow(b, step)[:from+step]
		if _, err := io.ReadFull(r, b[from:]); err != nil {
			return b[:0], err
		}
	}
	return b, nil
}

// isEnd reports whether an error is the end of the input.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// truncatedError returns an errTruncated if err is the end of the input; it passes other errors on.
func truncatedError(err error) error {
	if isEnd(err) {
		return fmt.Errorf("%w: the program that sends it stopped too early, or the copy is not complete", errTruncated)
	}
	return err
}

// sendStream is the remedy for input that is not a stream.
const sendStream = "send a stream, as pyarrow.ipc.new_stream and ClickHouse's ArrowStream write"

// sniff returns an error if the input begins like another format than a stream. It consumes nothing.
func (f *frameReader) sniff() error {
	for magic, name := range map[string]string{"ARROW1": "an Arrow file", "PAR1": "a Parquet file"} {
		if b, _ := f.r.Peek(len(magic)); string(b) == magic {
			return fmt.Errorf("%w: this is %s, not a stream: %s", errNoSchema, name, sendStream)
		}
	}
	if b, _ := f.r.Peek(4); len(b) == 4 && binary.LittleEndian.Uint32(b) != continuation && binary.LittleEndian.Uint32(b) > maxHeader {
		return fmt.Errorf("%w: it begins with %q, unlike an Arrow stream: %s", errNoSchema, bytes.TrimSpace(b), sendStream)
	}
	return nil
}

// A frameWriter writes messages.
type frameWriter struct{ w *bufio.Writer }

// padded returns n rounded up to a multiple of eight.
func padded(n int) int { return (n + 7) &^ 7 }

// writeHeader writes the length of a message's header, and the header with padding. Errors are sticky in the
// bufio.Writer.
func (f *frameWriter) writeHeader(meta []byte) error {
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:], continuation)
	binary.LittleEndian.PutUint32(b[4:], uint32(padded(len(meta))))
	f.w.Write(b[:])
	return f.writeBody(meta)
}

// writeBody writes a part of a body, and zeros up to a multiple of eight bytes.
func (f *frameWriter) writeBody(b []byte) error {
	var zeros [8]byte
	f.w.Write(b)
	_, err := f.w.Write(zeros[:padded(len(b))-len(b)])
	return err
}

// message writes a message as it was read.
func (f *frameWriter) message(m *message) error {
	f.writeHeader(m.meta) //nolint:errcheck // sticky
	_, err := f.w.Write(m.body)
	return err
}

// end writes the end mark of a stream.
func (f *frameWriter) end() error { return f.writeHeader(nil) }
