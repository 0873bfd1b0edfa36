package pack

import (
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/exp/mmap"

	"github.com/robobatch/robobatch/internal/place"
)

// OpenFile reads the pack of that name. If mapped, a read copies from the mapping, in some 20 ns,
// and the pages count as memory of the process until the system takes them back. If not, a read is
// a system call and takes no memory. A remote file
// is read by blocks; place.RandomMemory of them stay in memory. Use Close. Errors are Open's and package os's.
func OpenFile(name string, mapped bool) (*Reader, error) {
	open := openUnmapped
	switch {
	case place.IsRemote(name):
		open = openRemote
	case mapped:
		open = openMapped
	}
	file, size, err := open(name)
	if err != nil {
		return nil, err
	}
	r, err := Open(file, size)
	if err != nil {
		file.(io.Closer).Close()
	}
	return r, err
}

func openRemote(name string) (io.ReaderAt, int64, error) {
	file, size, err := place.OpenRandom(name)
	return file, size, err
}

func openMapped(name string) (io.ReaderAt, int64, error) {
	m, err := mmap.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return mapping{m}, int64(m.Len()), nil
}

// openUnmapped opens a file that cannot be mapped, and returns its size.
func openUnmapped(name string) (io.ReaderAt, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// A mapping is a mapped file.
type mapping struct{ *mmap.ReaderAt }

// ReadAt reads from the mapping. A file that was cut after it was mapped is an error; without the
// recover it would end the process.
func (m mapping) ReadAt(b []byte, off int64) (n int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault := recover()
		if _, ok := fault.(interface{ Addr() uintptr }); ok {
			n, err = 0, ErrTruncated
		} else if fault != nil {
			panic(fault)
		}
	}()
	return m.ReaderAt.ReadAt(b, off)
}

// Close closes the file. The Reader must not be used any more.
func (r *Reader) Close() error {
	if c, ok := r.file.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
