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
	"github.com/robobatch/robobatch/internal/place"
)

const (
	// maxWindow is the largest zstd window that is decoded, as for the zstd command without
	// --long=31. A frame header of a few bytes makes the decoder allocate this much.
	maxWindow = 128 << 20

	// fileBuffer is how much of a file is read at once. If the text is not packed and the caller
	// reads as much at once, the buffer is not used.
	fileBuffer = 64 << 10

	// maxAhead bounds the memory of unpackers. Sixteen give out more text than one goroutine can
	// cut into lines.
	maxAhead = 16
)

// Texts read the text of one input after the other. They are for one goroutine.
type Texts interface {
	// Open begins the next input: the file of that name, or stdin if the name is [fault.Stdin].
	Open(name string, stdin io.Reader) error
	// Read reads its text, all of it that comes before a fault. The error is io.EOF, or a fault
	// with the remedy.
	io.Reader
	// Verified returns how many bytes of the text, of those that were read, are verified: its zstd
	// frames and gzip members up to there ended, and their checksums are right. The rest may be
	// wrong if a fault comes before the next such end. It is math.MaxInt64 for a text that is not
	// packed. It grows with Read and Take.
	Verified() int64
	// Packing returns how it is packed, once it is open.
	Packing() Packing
	// Packed returns how many bytes of it were read, packed.
	Packed() int64
	// Grown returns by how many bytes the file was longer at its end than when it was opened, once
	// Read has returned io.EOF.
	Grown() int64
	// Close ends it. Another can be opened, unless it ended in a fault.
	Close() error
	// Release closes all that is open, and gives back the memory. The Texts cannot be used any more.
	Release() error
}

// A Taker is a reader that can give away the buffers that the text is in.
type Taker interface {
	io.Reader

	// Take returns the next text, without copying it, as data[start:], and takes buf in exchange:
	// both then belong to the other. At least Headroom bytes of data are in front of start. ok is
	// false if there is no such buffer now: then buf still belongs to the caller, who has to Read.
	Take(buf []byte) (data []byte, start int, ok bool)
}

// Headroom is how many bytes are free in front of the text that a Taker gives, for the line that began in the previous
// text.
const Headroom = 4 << 10

// NewTexts returns Texts of the inputs of these names, which must be opened in that order. They
// unpack ahead of their reader in so many goroutines, at most 16; for 0 or less, in the goroutine
// of the reader. Windows of zstd have at most so many bytes; 0 is 128 MiB. They add the packed bytes that they read to total.
//
// Packed files are read ahead: several frames of a zstd file at once, and several files. The text
// and the faults do not depend on the number of goroutines. Each goroutine has a window of its own,
// and up to 8 MiB of text.
func NewTexts(names []string, ahead int, window int64, total *atomic.Int64) Texts {
	if ahead <= 0 {
		return &textReader{total: total, zstd: zstdReader{most: window}}
	}
	a := newAhead(names, min(ahead, maxAhead), total)
	a.window = window
	return a
}

// A textReader reads the text of one input after the other. It keeps its buffers and decompressors
// between them.
type textReader struct {
	total *atomic.Int64 // counts the bytes read of all files, packed
	read  int64         // bytes read of this file, packed
	size  int64         // bytes that this file had when it was opened; -1 if unknown

	file  io.Reader
	buf   *bufio.Reader
	zstd  zstdReader
	gzip  memberReader
	owned io.Closer // the file that Close closes; nil for standard input

	packing  Packing
	text     io.Reader // the unpacked text
	fault    error     // the error of text, which may still hold text decoded before
	ioFault  error     // the error of file, other than io.EOF
	ended    bool      // file has ended
	anyBytes bool      // there was some text
}

// Open starts to read the file of that name, or stdin. A fault in the first bytes is left to Read.
func (t *textReader) Open(name string, stdin io.Reader) error {
	if name == fault.Stdin {
		t.start(stdin, nil)
		t.size = SizeOf(stdin)
	} else {
		f, member, err := openFile(name)
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
	head, _ := t.buf.Peek(HeadLen) // a fault comes again with the first Read
	t.unpack(Detect(head))
	return nil
}

// openFile opens a file. If the name names a file in a zip archive, that is the archive, and
// member the file.
func openFile(name string) (f place.File, member string, err error) {
	f, err = place.Of(name).Open(name)
	if err != nil {
		if archive, member, ok := SplitMember(name); ok {
			f, err := place.Of(archive).Open(archive)
			return f, member, err
		}
	}
	return f, "", err
}

// SizeOf returns how many bytes of a regular file are left to read; -1 for anything else.
func SizeOf(r io.Reader) int64 {
	if f, ok := r.(place.File); ok { // that nothing was read from
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

// start starts to read file; unpack must follow. Close closes owned, unless that is nil. Set size if
// it is known.
func (t *textReader) start(file io.Reader, owned io.Closer) {
	*t = textReader{total: t.total, size: -1, buf: t.buf, zstd: t.zstd, gzip: t.gzip, file: file, owned: owned}
	if t.buf == nil {
		t.buf = bufio.NewReaderSize(nil, fileBuffer)
	}
	t.buf.Reset(packedReader{t})
}

// unpack makes Read return the text of a file of that type, or the error that it is not read.
func (t *textReader) unpack(is Type) {
	if err := t.unpacker(is); err != nil {
		t.text, t.fault = bytes.NewReader(nil), err
	}
}

// unpacker sets t.text to the text of t.buf.
func (t *textReader) unpacker(is Type) (err error) {
	t.packing = is.Packing
	switch {
	case is.Content == Parquet:
		return fmt.Errorf("a Parquet file in a pipe is %w: write it to a file, and name that", ErrFormat)
	case is.Packing == Zstd:
		t.zstd.reset(t.buf)
		t.text = &t.zstd
		return nil
	case is.Packing == Gzip:
		t.text = &t.gzip
		t.gzip.in, t.gzip.parts = t.buf, verifiedParts{}
		return t.gzip.open()
	case is.Packing == Bzip2:
		t.text = bzip2.NewReader(t.buf)
		return nil
	}
	t.text = t.buf
	return is.Packing.refusal()
}

// resetGzip makes z, or a new one if it is nil, read from r.
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

// Read reads the unpacked text. At a fault it first gives out everything that was decoded before.
// Its errors are io.EOF, or a fault with the remedy.
func (t *textReader) Read(p []byte) (int, error) {
	n, err := t.unpacked(p)
	if err != nil && err != io.EOF {
		err = t.classify(err)
	}
	return n, err
}

// unpacked is Read with faults as the decompressor or the file returned them.
func (t *textReader) unpacked(p []byte) (int, error) {
	n, err := t.text.Read(p)
	if t.fault == nil {
		if err == nil || err == io.EOF {
			t.anyBytes = t.anyBytes || n > 0
			return n, err
		}
		t.fault = err
		if n == 0 { // the zstd decoder keeps a block back that only a missing or wrong checksum makes uncertain
			n, _ = t.text.Read(p)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, t.fault
}

// classify returns the fault that an error of a decompressor or the file means, with the remedy.
func (t *textReader) classify(err error) error {
	if errors.Is(t.ioFault, ErrShorter) {
		return fmt.Errorf("%w: it had %d more bytes when it was opened: wait until no other process writes to it, or copy it first", t.ioFault, t.size-t.read)
	}
	if t.ioFault != nil {
		return fmt.Errorf("read: %w%s", t.ioFault, place.ReadRemedy(t.ioFault))
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

// Release closes all that is open and gives the memory of the decompressors back.
func (t *textReader) Release() error {
	t.zstd.close()
	t.gzip, t.buf = memberReader{}, nil
	return t.Close()
}

// Packing returns how the file is packed.
func (t *textReader) Packing() Packing { return t.packing }

// Packed returns how many packed bytes of the file were read.
func (t *textReader) Packed() int64 { return t.read }

// Verified returns how much of the text is verified.
func (t *textReader) Verified() int64 {
	if t.packing == None {
		return allVerified
	}
	return t.verified().bytes
}

// verified returns the verified parts of a packed text; none, if its reader does not know them.
func (t *textReader) verified() *verifiedParts {
	if r, ok := t.text.(interface{ verified() *verifiedParts }); ok {
		return r.verified()
	}
	return &verifiedParts{}
}

// Grown returns how much longer the file is than it was. A size of 0 is the size of files that the
// system makes up.
func (t *textReader) Grown() int64 {
	if t.size <= 0 {
		return 0
	}
	return max(0, t.read-t.size)
}

// A packedReader reads the file of a textReader, counts and remembers faults.
type packedReader struct{ t *textReader }

// Read reads packed bytes of the file and counts them. A file that has become shorter is an error.
func (r packedReader) Read(p []byte) (int, error) {
	if r.t.ended { // a terminal would wait for a second end
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
