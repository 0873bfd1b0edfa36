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
	readStep     = 1 << 20    // how many bytes are taken on trust, at first
)

// The kinds of messages.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindRecord     = 3

	kindTensor, kindSparseTensor = 4, 5

	kindEnd = 0 // the end of a stream, which is no message
)

// A message is one of a stream.
type message struct {
	table                        // of the header
	kind    byte                 // kindSchema, …
	version int16                // 3 is V4, 4 is V5
	pairs   flatbuffers.UOffsetT // where the message has key-value pairs of its own; 0 if it has none
	meta    []byte               // the FlatBuffer with the header
	body    []byte
}

// A frameReader reads messages.
type frameReader struct {
	r *bufio.Reader
}

func newFrameReader(r io.Reader) *frameReader { return &frameReader{bufio.NewReaderSize(r, 64<<10)} }

// between reports whether there is another stream, at the end of one, or at the start. It skips the number of rows that
// ClickHouse, where asked to (send_chunk_header), sends before a stream, in a line of its own.
func (f *frameReader) between() (more bool, err error) {
	if _, err := f.r.Peek(1); err != nil {
		return false, ended(err)
	}
	for n := 1; n <= 20; n++ {
		b, err := f.r.Peek(n)
		if err != nil {
			return true, nil //nolint:nilerr // who reads on meets it again
		}
		switch c := b[n-1]; {
		case c >= '0' && c <= '9':
		case c == '\n' && n > 1:
			if b, err := f.r.Peek(n + 2); err == nil && b[n] == 0xFF && b[n+1] == 0xFF {
				_, err := f.r.Discard(n)
				return true, err
			}
			return true, nil
		default:
			return true, nil
		}
	}
	return true, nil
}

// ended returns nil for the end of the input.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// next reads a message into m, and reuses its memory. At the end of a stream m is a kindEnd: where its mark is, or where
// the input ends.
func (f *frameReader) next(m *message) error {
	*m = message{meta: m.meta[:0], body: m.body[:0]}
	size, err := f.length()
	if err != nil || size == 0 {
		return err
	}
	if m.meta, err = f.read(m.meta, int64(size)); err != nil {
		return err
	}
	t := root(m.meta)
	m.version, m.kind = t.int16(messageVersion), t.byte(messageHeaderType)
	m.pairs = t.at(messageMetadata)
	header, ok := t.table(messageHeader)
	if m.table = header; !ok || m.kind == kindEnd {
		return damaged("a message without a header")
	}
	body := t.int64(messageBodyLength)
	if body < 0 {
		return damaged("a body of %d bytes", body)
	}
	m.body, err = f.read(m.body, body)
	return err
}

// length reads the length of the next header, 0 at the end of the stream.
func (f *frameReader) length() (int, error) {
	size, err := f.uint32()
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, nil
	}
	if err == nil && size == continuation {
		if size, err = f.uint32(); errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
	}
	if err != nil {
		return 0, truncated(err)
	}
	if size > maxHeader {
		return 0, damaged("a header of %d bytes", size)
	}
	return int(size), nil
}

// uint32 reads a number. The error is io.EOF itself if there is nothing more.
func (f *frameReader) uint32() (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(f.r, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// read reads n bytes into the memory of b.
func (f *frameReader) read(b []byte, n int64) ([]byte, error) {
	b, err := readGrowing(f.r, b, n)
	return b, truncated(err)
}

// readGrowing reads n bytes into the memory of b, which grows as they come. The error of an input that ends before is
// io.ErrUnexpectedEOF.
func readGrowing(r io.Reader, b []byte, n int64) ([]byte, error) {
	b = b[:0]
	for int64(len(b)) < n {
		from := len(b)
		step := int(min(n-int64(from), int64(max(readStep, from, cap(b)-from))))
		b = slices.Grow(b, step)[:from+step]
		if _, err := io.ReadFull(r, b[from:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return b[:0], err
		}
	}
	return b, nil
}

// truncated is the error of an input that ends too early; another one is passed on.
func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the program that sends it stopped too early, or the copy is not complete", ErrTruncated)
	}
	return err
}

// foreign are beginnings of what is no Arrow stream.
var foreign = []struct{ magic, remedy string }{
	{"ARROW1", "this is an Arrow file, not a stream: send a stream, as pyarrow.ipc.new_stream and ClickHouse's ArrowStream write"},
	{"PAR1", "this is a Parquet file: name it with robobatch -in"},
}

// sniff returns the error of an input that begins as something else does.
func (f *frameReader) sniff() error {
	for _, other := range foreign {
		if b, _ := f.r.Peek(len(other.magic)); string(b) == other.magic {
			return fmt.Errorf("%w: %s", ErrNoSchema, other.remedy)
		}
	}
	if b, _ := f.r.Peek(4); len(b) == 4 && binary.LittleEndian.Uint32(b) != continuation && binary.LittleEndian.Uint32(b) > maxHeader {
		return fmt.Errorf("%w: it begins %q, as no Arrow stream does: send a stream, as pyarrow.ipc.new_stream and ClickHouse's ArrowStream write", ErrNoSchema, bytes.TrimSpace(b))
	}
	return nil
}

// A frameWriter writes messages.
type frameWriter struct {
	w *bufio.Writer
}

var zeros [8]byte

// header writes the header of a message, which is padded.
func (f *frameWriter) header(meta []byte) error {
	padded := (len(meta) + 7) &^ 7
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:], continuation)
	binary.LittleEndian.PutUint32(b[4:], uint32(padded))
	f.w.Write(b[:]) //nolint:errcheck // sticky
	return f.body(meta)
}

// body writes a part of a body, and what brings it to a multiple of eight.
func (f *frameWriter) body(b []byte) error {
	f.w.Write(b) //nolint:errcheck // sticky
	_, err := f.w.Write(zeros[:-len(b)&7])
	return err
}

// message writes a message as it was read.
func (f *frameWriter) message(m *message) error {
	if err := f.header(m.meta); err != nil {
		return err
	}
	_, err := f.w.Write(m.body)
	return err
}

// end writes the end of a stream.
func (f *frameWriter) end() error {
	_, err := f.w.Write([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0})
	return err
}
