package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/internal/storage"
)

const (
	// maxWindow is the largest supported zstd window, the same as for the zstd command without --long=31. A frame header
	// of a few bytes makes the decoder allocate this much.
	maxWindow = 128 << 20

	// fileBuffer is the size of a file read. If the text is not packed and the caller reads at least as much at once, the
	// buffer is bypassed.
	fileBuffer = 64 << 10

	// maxAhead limits the number of unpackers and so their memory. Sixteen produce more text than one goroutine can cut
	// into lines.
	maxAhead = 16
)

// Texts read the text of one input after the other. They are for one goroutine.
type Texts interface {
	// Open opens the next input: the file with that name, or stdin if the name is [fault.Stdin].
	Open(name string, stdin io.Reader) error
	// Read reads text, including all text before a fault. The error is io.EOF, or a fault with the remedy.
	io.Reader
	// Verified returns how many bytes of the text read are verified: the zstd frames and gzip members up to there have
	// ended with correct checksums. The rest may be wrong if a fault comes before the next such end. It is math.MaxInt64
	// for a text that is not packed. It grows with Read and Take.
	Verified() int64
	// Packing returns the packing of the open input.
	Packing() Packing
	// Packed returns the number of packed bytes read from the input.
	Packed() int64
	// Grown returns by how many bytes the file grew after it was opened, once Read has returned io.EOF.
	Grown() int64
	// Close closes the input. Another one can be opened, unless this one ended in a fault.
	Close() error
	// Release closes all open files and frees the memory. The Texts cannot be used afterwards.
	Release() error
}

// A Taker is a reader that can hand over its text buffers.
type Taker interface {
	io.Reader

	// Take returns the next text as data[start:] without copying it, in exchange for buf: each side then owns the other's
	// buffer. At least Headroom bytes of data precede start. If ok is false, no buffer is available; the caller still owns
	// buf and must call Read.
	Take(buf []byte) (data []byte, start int, ok bool)
}

// Headroom is the number of free bytes before the text from a Taker, for the line that began in the previous text.
const Headroom = 4 << 10

// NewTexts returns Texts of the inputs with these names, which must be opened in that order. They unpack ahead of their
// reader in up to 16 goroutines; with 0 or less, in the goroutine of the reader. zstd windows are limited to that many
// bytes; 0 means 128 MiB. The number of packed bytes read is added to total.
//
// Packed files are read ahead: several frames of a zstd file in parallel, and several files. The text and the faults do
// not depend on the number of goroutines. Each goroutine has its own window, and up to 8 MiB of text.
func NewTexts(names []string, ahead int, window int64, total *atomic.Int64) Texts {
	if ahead <= 0 {
		return &textReader{total: total, zstd: zstdReader{most: window}}
	}
	a := newAhead(names, min(ahead, maxAhead), total)
	a.window = window
	return a
}

// A textReader reads the text of one input after the other. It reuses its buffers and decompressors.
type textReader struct {
	total *atomic.Int64 // packed bytes read from all files
	read  int64         // packed bytes read from this file
	size  int64         // size of the file when it was opened; -1 if unknown

	file  io.Reader
	buf   *bufio.Reader
	zstd  zstdReader
	gzip  memberReader
	owned io.Closer // closed by Close; nil for standard input

	packing  Packing
	text     io.Reader // the unpacked text
	fault    error     // error of text, which may still hold text decoded earlier
	ioFault  error     // error of file other than io.EOF
	ended    bool      // file has ended
	anyBytes bool      // some text was read
}

// Open opens the file with that name, a file in a zip archive, or stdin. Read returns any fault in the first bytes.
func (t *textReader) Open(name string, stdin io.Reader) error {
	if name == fault.Stdin {
		t.start(stdin, nil)
		t.size = SizeOf(stdin)
	} else {
		member := ""
		f, err := storage.Of(name).Open(name)
		if archive, inside, ok := SplitMember(name); err != nil && ok {
			member = inside
			f, err = storage.Of(archive).Open(archive)
		}
		if err != nil {
			return fault.OfFile(name, err, "check the name and the permissions")
		}
		if head, _ := readHead(f); member != "" || Detect(head).Packing == Zip && SizeOf(f) >= 0 {
			t.openZip(f, member)
			return nil
		}
		t.start(f, f)
		t.size = SizeOf(f)
	}
	head, _ := t.buf.Peek(HeadLen) // the first Read returns an error again
	t.setType(Detect(head))
	return nil
}

// SizeOf returns the number of unread bytes of a regular file; -1 for anything else.
func SizeOf(r io.Reader) int64 {
	if f, ok := r.(storage.File); ok { // nothing was read from it yet
		info, err := f.Info()
		if err != nil || info.Dir {
			return -1
		}
		return info.Size
	}
	f, ok := r.(*os.File)
	if !ok {
		return -1
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	return max(0, info.Size()-at)
}

// start prepares for reading file; call setType next, and set size if it is known. Close closes owned unless it is nil.
func (t *textReader) start(file io.Reader, owned io.Closer) {
	*t = textReader{total: t.total, size: -1, buf: t.buf, zstd: t.zstd, gzip: t.gzip, file: file, owned: owned}
	if t.buf == nil {
		t.buf = bufio.NewReaderSize(nil, fileBuffer)
	}
	t.buf.Reset(packedReader{t})
}

// setType makes Read return the text of a file with that type, or an error if the type is unsupported or the first
// bytes are invalid.
func (t *textReader) setType(is Type) {
	t.packing = is.Packing
	t.text = t.buf
	var err error
	switch {
	case is.Content == Parquet:
		err = fmt.Errorf("a Parquet file in a pipe is %w: write it to a file, and name that", ErrFormat)
	case is.Packing == Zstd:
		t.zstd.reset(t.buf)
		t.text = &t.zstd
	case is.Packing == Gzip:
		t.text = &t.gzip
		t.gzip.in, t.gzip.parts = t.buf, verifiedParts{}
		err = t.gzip.open()
	case is.Packing == Bzip2:
		t.text = bzip2.NewReader(t.buf)
	default:
		err = is.Packing.refusal()
	}
	if err != nil {
		t.text, t.fault = bytes.NewReader(nil), err
	}
}

// resetGzip makes *z read the member at the current position of r. It allocates the reader if *z is nil. An empty file
// is io.ErrUnexpectedEOF.
func resetGzip(z **gzip.Reader, r *bufio.Reader) error {
	if *z == nil {
		*z = new(gzip.Reader)
	}
	err := (*z).Reset(r)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Read reads the unpacked text. Before a fault, it returns all text that was decoded earlier. Its errors are io.EOF, or
// a fault with the remedy.
func (t *textReader) Read(p []byte) (int, error) {
	n, err := t.readRaw(p)
	if err != nil && err != io.EOF {
		err = t.classify(err)
	}
	return n, err
}

// readRaw is like Read, but returns the original errors of the decompressor or the file. It repeats an error.
func (t *textReader) readRaw(p []byte) (int, error) {
	n, err := t.text.Read(p)
	if t.fault == nil {
		if err == nil || err == io.EOF {
			t.anyBytes = t.anyBytes || n > 0
			return n, err
		}
		t.fault = err
		if n == 0 { // the zstd decoder holds back a block that only a missing or wrong checksum makes uncertain
			n, _ = t.text.Read(p)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, t.fault
}

// classify converts an error of a decompressor or the file to a fault with the remedy. An error of the file comes
// first.
func (t *textReader) classify(err error) error {
	if errors.Is(t.ioFault, ErrShorter) {
		return fmt.Errorf("%w: it had %d more bytes when it was opened: wait until no other process writes to it, or copy it first", t.ioFault, t.size-t.read)
	}
	if t.ioFault != nil {
		return fmt.Errorf("read: %w%s", t.ioFault, storage.ReadRemedy(t.ioFault))
	}
	return explain(t.packing, err, t.anyBytes, nil)
}

// Close closes the file, if Open opened it.
func (t *textReader) Close() error {
	if t.owned == nil {
		return nil
	}
	err := t.owned.Close()
	t.owned = nil
	return err
}

// Release closes all open files and frees the memory of the decompressors.
func (t *textReader) Release() error {
	t.zstd.close()
	t.gzip, t.buf = memberReader{}, nil
	return t.Close()
}

// Packing returns the packing of the file.
func (t *textReader) Packing() Packing { return t.packing }

// Packed returns the number of packed bytes read from the file.
func (t *textReader) Packed() int64 { return t.read }

// Verified returns how much of the text is verified.
func (t *textReader) Verified() int64 {
	if t.packing == None {
		return allVerified
	}
	return t.verified().bytes
}

// verified returns the verified parts of a packed text; empty if its reader does not track them.
func (t *textReader) verified() *verifiedParts {
	if r, ok := t.text.(interface{ verified() *verifiedParts }); ok {
		return r.verified()
	}
	return &verifiedParts{}
}

// Grown returns by how many bytes the file has grown. A size of 0 is ignored: virtual files of the system report it.
func (t *textReader) Grown() int64 {
	if t.size <= 0 {
		return 0
	}
	return max(0, t.read-t.size)
}

// A packedReader reads the file of a textReader, counts bytes and records errors.
type packedReader struct{ t *textReader }

// Read reads packed bytes of the file and counts them. The error is ErrShorter if the file was truncated meanwhile. It
// sets t.ioFault for any error except io.EOF.
func (r packedReader) Read(p []byte) (int, error) {
	if r.t.ended { // a terminal would wait for a second end of file
		return 0, io.EOF
	}
	n, err := r.t.file.Read(p)
	r.t.ended = err == io.EOF
	r.t.read += int64(n)
	r.t.total.Add(int64(n))
	if err == io.EOF && r.t.read < r.t.size {
		err = ErrShorter
	}
	if err != nil && err != io.EOF {
		r.t.ioFault = err
	}
	return n, err
}
