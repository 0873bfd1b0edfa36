package unpack

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Faults of an input. All but ErrFormat are in its data.
var (
	ErrFormat     = errors.New("not a format that is read")
	ErrTruncated  = errors.New("the compressed data ends too early")
	ErrDamaged    = errors.New("the compressed data is damaged")
	ErrChecksum   = errors.New("the checksum is wrong")
	ErrTrailing   = errors.New("after the compressed data come bytes that are not part of it")
	ErrWindow     = errors.New("the frame needs a window of more than 128 MiB, or is damaged")
	ErrDictionary = errors.New("the dictionary that the frame needs is missing or damaged")
)

// ErrShorter is the error of a file that became shorter while it was read. It is not a fault of its
// data: the rest is gone.
var ErrShorter = errors.New("the file became shorter while it was read")

// Again is the remedy at the end of most faults.
const Again = "copy or download the file again"

// explain returns the fault that an error of a decompressor means, with the remedy. anyText is
// whether there was text before it; dictErr is why the dictionary of the file cannot be used, if it
// has one.
func explain(p Packing, err error, anyText bool, dictErr error) error {
	switch {
	case errors.Is(err, ErrFormat):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: the file is truncated; "+Again, p, ErrTruncated)
	case errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("%s: %w, so any line since the frame began may be damaged: "+Again, p, ErrChecksum)
	case errors.Is(err, ErrTrailing), anyText && (errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, gzip.ErrHeader)):
		return fmt.Errorf("%s: %w: cut them off, or "+Again, p, ErrTrailing)
	case isWindow(err):
		return fmt.Errorf("%s: %w: allow more memory, or recompress it, as in: zstd -dc --long=31 file | zstd > new.zst", p, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: %w: recompress it, as in: zstd -dc --long=31 file | zstd > new.zst", p, ErrWindow)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return fmt.Errorf("%s: %w (%w): put it in front, as the zstd format of WARC files says, or recompress the file without", p, ErrDictionary, cmp.Or(dictErr, err))
	}
	return fmt.Errorf("%s: %w (%w): "+Again, p, ErrDamaged, err)
}

// A WindowError is the error of a zstd frame that needs a larger window than there is memory for.
type WindowError struct{ Need, Most int64 } // bytes

func (e *WindowError) Error() string {
	return fmt.Sprintf("the frame needs a window of %d MiB, and there is memory for %d", e.Need>>20, e.Most>>20)
}

// isWindow reports whether an error is a WindowError.
func isWindow(err error) bool {
	_, ok := errors.AsType[*WindowError](err)
	return ok
}
