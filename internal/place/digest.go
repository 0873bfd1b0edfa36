package place

import (
	"encoding/hex"
	"io"

	"github.com/zeebo/xxh3"
)

// A Digest counts and hashes the bytes written to an output.
type Digest struct {
	w     io.Writer
	hash  *xxh3.Hasher
	bytes int64
}

// NewDigest returns a Digest of the bytes it writes to w.
func NewDigest(w io.Writer) *Digest { return &Digest{w: w, hash: xxh3.New()} }

// Write writes bytes, and takes those in that were written.
func (d *Digest) Write(b []byte) (int, error) {
	n, err := d.w.Write(b)
	d.hash.Write(b[:n])
	d.bytes += int64(n)
	return n, err
}

// Sum returns the size so far, and XXH3 of 128 bits as text.
func (d *Digest) Sum() (size int64, hash string) {
	sum := d.hash.Sum128().Bytes()
	return d.bytes, hex.EncodeToString(sum[:])
}

// Sum reads a file, and returns its size and XXH3 of 128 bits as text.
func Sum(name string) (size int64, hash string, err error) {
	r, err := Open(name)
	if err != nil {
		return 0, "", err
	}
	d := NewDigest(io.Discard)
	_, err = io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	if errClose := r.Close(); err == nil {
		err = errClose
	}
	size, hash = d.Sum()
	return size, hash, err
}
