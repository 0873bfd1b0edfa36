package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxWindow is the largest zstd window decoded, as the zstd command does without --long=31: a frame header of a few
	// bytes makes the decoder allocate this much.
	maxWindow = 128 << 20

	// fileBuffer is how much of a file is read at once. A plain text is read past it, as it is no larger than chunkSize.
	fileBuffer = chunkSize

	// magicLen is how many bytes of an input tell its format.
	magicLen = 10
)

// A format is how the text of an input is packed.
type format uint8

const (
	formatText format = iota
	formatZstd
	formatGzip
)

func (f format) String() string { return [...]string{"text", "zstd", "gzip"}[f] }

// foreign are the formats that are recognised in order to refuse them.
var foreign = []struct{ magic, name, tool string }{
	{"\xfd7zXZ\x00", "xz", "xz -dc"},
	{"BZh91AY&SY", "bzip2", "bzip2 -dc"},
	{"PK\x03\x04", "zip", "unzip -p"},
}

// detect returns the format of an input that starts with b, or ErrFormat.
func detect(b []byte) (format, error) {
	switch {
	case bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")),
		len(b) >= 4 && b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18": // a skippable frame
		return formatZstd, nil
	case bytes.HasPrefix(b, []byte("\x1f\x8b")):
		return formatGzip, nil
	}
	for _, f := range foreign {
		if bytes.HasPrefix(b, []byte(f.magic)) {
			return 0, fmt.Errorf("%s is %w: unpack it first, as in: %s file | robobatch -in -", f.name, ErrFormat, f.tool)
		}
	}
	return formatText, nil
}

// A textSource reads the text of one input after the other.
type textSource interface {
	// open begins the next input, which has that name, or is stdin.
	open(name string, stdin io.Reader) error
	// Read reads its text, all of it that comes before a fault. The error is io.EOF, or a fault with the remedy.
	io.Reader
	// packed returns how many bytes of it were read, packed.
	packed() int64
	// close ends it. Another can be opened, unless it ended in a fault.
	close() error
	// release closes what is open, and gives back the memory. It is of no more use then.
	release() error
}

// A textReader reads the text of one input after the other. It keeps its buffers and decompressors between them.
type textReader struct {
	total *atomic.Int64 // counts the bytes read of all files, packed
	read  int64         // bytes read of this file, packed

	file  io.Reader
	buf   *bufio.Reader
	zstd  *zstd.Decoder
	gzip  *gzip.Reader
	owned io.Closer // the file, if close is to close it

	format   format
	text     io.Reader // the unpacked text
	fault    error     // what text failed with, as it said it, while it may still hold text decoded before that
	ioFault  error     // what file failed with, other than io.EOF
	anyBytes bool      // text has given something
}

// open starts to read the file of that name, or stdin. A fault in the first bytes is left to Read.
func (t *textReader) open(name string, stdin io.Reader) error {
	if name == stdinName {
		t.start(stdin, nil)
	} else {
		f, err := os.Open(name)
		if err != nil {
			return fileError(name, err, "check the name and the permissions")
		}
		t.start(f, f)
	}
	magic, _ := t.buf.Peek(magicLen) // a fault comes again with the first Read
	f, err := detect(magic)
	t.unpack(f, err)
	return nil
}

// start starts to read file; unpack must follow. close is to close owned, unless that is nil.
func (t *textReader) start(file io.Reader, owned io.Closer) {
	*t = textReader{total: t.total, buf: t.buf, zstd: t.zstd, gzip: t.gzip, file: file, owned: owned}
	if t.buf == nil {
		t.buf = bufio.NewReaderSize(nil, fileBuffer)
	}
	t.buf.Reset(packedReader{t})
}

// unpack makes Read give out the text of a file of that format, or the error if there is one.
func (t *textReader) unpack(f format, err error) {
	if t.format = f; err == nil {
		err = t.unpacker()
	}
	if err != nil {
		t.text, t.fault = bytes.NewReader(nil), err
	}
}

// unpacker sets t.text to the text of t.buf.
func (t *textReader) unpacker() (err error) {
	switch t.format {
	case formatZstd:
		t.text, err = t.unzstd()
	case formatGzip:
		if t.gzip == nil {
			t.gzip = new(gzip.Reader)
		}
		t.text, err = t.gzip, t.gzip.Reset(t.buf)
		if err == io.EOF { //nolint:errorlint // a header of under 10 bytes, reported bare
			err = io.ErrUnexpectedEOF
		}
	case formatText:
		t.text = t.buf
	}
	return err
}

func (t *textReader) unzstd() (io.Reader, error) {
	if t.zstd != nil {
		return t.zstd, t.zstd.Reset(t.buf)
	}
	var err error
	t.zstd, err = zstd.NewReader(t.buf,
		zstd.WithDecoderConcurrency(1), // see the package doc
		zstd.WithDecoderLowmem(false),
		zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderMaxMemory(maxWindow)) // of a frame in a single segment, whose size is its window
	return t.zstd, err
}

// Read reads the unpacked text. At a fault it first gives out everything that was decoded before. Its errors are
// io.EOF, or a fault with the remedy.
func (t *textReader) Read(p []byte) (int, error) {
	n, err := t.unpacked(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a Reader's end is io.EOF itself
		err = t.classify(err)
	}
	return n, err
}

// unpacked is Read, but its faults are as the decompressor or the file told them.
func (t *textReader) unpacked(p []byte) (int, error) {
	n, err := t.text.Read(p)
	if t.fault == nil {
		if err == nil || err == io.EOF {
			t.anyBytes = t.anyBytes || n > 0
			return n, err
		}
		t.fault = err
		if n == 0 { // the zstd decoder keeps a block back that only a missing or wrong checksum puts in doubt
			n, _ = t.text.Read(p)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, t.fault
}

// classify says what an error of a decompressor or the file means, with the remedy.
func (t *textReader) classify(err error) error {
	const again = "copy or download the file again"
	switch {
	case t.ioFault != nil:
		return fmt.Errorf("read: %w: check the disk and "+again, t.ioFault)
	case errors.Is(err, ErrFormat):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: the file is truncated; "+again, t.format, ErrTruncated)
	case errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("%s: %w, so any line since the frame began may be damaged: "+again, t.format, ErrChecksum)
	case t.anyBytes && (errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, gzip.ErrHeader)):
		return fmt.Errorf("%s: %w: cut them off, or "+again, t.format, ErrTrailing)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: %w: recompress it, as in: zstd -dc --long=31 file | zstd > new.zst", t.format, ErrWindow)
	}
	return fmt.Errorf("%s: %w (%w): "+again, t.format, ErrDamaged, err)
}

// close closes the file, if open opened it. The textReader can open another.
func (t *textReader) close() error {
	if t.owned == nil {
		return nil
	}
	err := t.owned.Close()
	t.owned = nil
	return err
}

// release closes what is open and gives the memory of the decompressors back.
func (t *textReader) release() error {
	if t.zstd != nil {
		t.zstd.Close()
	}
	t.zstd, t.gzip, t.buf = nil, nil, nil
	return t.close()
}

// packed returns how many packed bytes of the file were read.
func (t *textReader) packed() int64 { return t.read }

// A packedReader reads the file of a textReader, counts and remembers faults.
type packedReader struct{ t *textReader }

func (r packedReader) Read(p []byte) (int, error) {
	n, err := r.t.file.Read(p)
	r.t.read += int64(n)
	r.t.total.Add(int64(n))
	if err != nil && err != io.EOF {
		r.t.ioFault = err
	}
	return n, err
}
