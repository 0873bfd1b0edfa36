package unpack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A zstdReader reads the text of all frames of a zstd file, one after the other, so that it knows
// which were verified. The decoder alone goes on with the next frame by itself.
type zstdReader struct {
	most  int64         // the largest window; 0 is maxWindow
	zstd  *zstd.Decoder // nil before the first frame
	in    *bufio.Reader
	frame frameReader
	open  bool // a frame is being read
	check bool // it has a checksum
	parts verifiedParts
}

// reset starts with the frame where r stands.
func (z *zstdReader) reset(r *bufio.Reader) {
	*z = zstdReader{most: z.most, zstd: z.zstd, in: r}
}

// Read reads text. Its errors are io.EOF, or the decoder's. After an error it may still have
// text that was decoded before.
func (z *zstdReader) Read(p []byte) (int, error) {
	for {
		if !z.open {
			if err := z.next(); err != nil {
				return 0, err
			}
		}
		n, err := z.zstd.Read(p)
		z.parts.given += int64(n)
		if err != io.EOF {
			return n, err
		}
		z.open = false
		if z.parts.end(z.check); n > 0 {
			return n, nil
		}
	}
}

// next opens the next frame, behind skippable ones. The error is io.EOF if there is none.
func (z *zstdReader) next() error {
	for {
		head, err := z.in.Peek(8)
		if len(head) < 4 {
			if err == io.EOF && !mayBeginFrame(head) {
				return zstd.ErrMagicMismatch
			}
			return cutShort(err, len(head))
		}
		if !isSkippable(head) {
			break
		}
		if len(head) < 8 {
			return cutShort(err, len(head))
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if n, err := io.CopyN(io.Discard, z.in, 8+size); n < 8+size {
			return cutShort(err, 1)
		}
	}
	if head, _ := z.in.Peek(4); !bytes.Equal(head, zstdMagic) {
		return zstd.ErrMagicMismatch
	}
	if err := checkWindow(z.in, z.most); err != nil {
		return err
	}
	if err := z.frame.reset(z.in); err != nil {
		return err
	}
	z.open, z.check = true, z.frame.check
	if z.zstd != nil {
		return z.zstd.Reset(&z.frame)
	}
	var err error
	z.zstd, err = zstd.NewReader(&z.frame,
		zstd.WithDecoderConcurrency(1),     // see the package doc
		zstd.WithDecoderLowmem(z.most > 0), // then the history has a window, and no more
		zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderMaxMemory(maxWindow)) // of a frame in a single segment, whose size is its window
	return err
}

// verified returns how much of the text was verified.
func (z *zstdReader) verified() *verifiedParts { return &z.parts }

// close gives back the memory of the decoder.
func (z *zstdReader) close() {
	if z.zstd != nil {
		z.zstd.Close()
	}
	*z = zstdReader{most: z.most}
}

// Window returns the window that the first frame of a zstd file needs, which begins with head; 0 if that
// is none. It is in bytes.
func Window(head []byte) int64 {
	var h zstd.Header
	if h.Decode(head) != nil || h.Skippable {
		return 0
	}
	if h.SingleSegment {
		return int64(min(h.FrameContentSize, 1<<62))
	}
	return int64(min(h.WindowSize, 1<<62))
}

// checkWindow returns a [*WindowError] if the frame where r stands needs a larger window than the most; 0
// is no limit here.
func checkWindow(r *bufio.Reader, most int64) error {
	if most <= 0 {
		return nil
	}
	head, _ := r.Peek(zstd.HeaderMaxSize) // a fault comes again
	if need := Window(head); need > most {
		return &WindowError{need, most}
	}
	return nil
}
