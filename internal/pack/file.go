package pack

import (
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/exp/mmap"
)

// OpenFile reads the pack of that name. A mapped file is read by copies out of its mapping, which
// takes some 20 ns, and what was read counts as memory of the process until the system wants it
// back; one that is not costs a system call a read, and no memory. Use Close. Errors are those of
// Open, and of package os.
func OpenFile(name string, mapped bool) (*Reader, error) {
	var (
		file io.ReaderAt
		size int64
	)
	if mapped {
		m, err := mmap.Open(name)
		if err != nil {
			return nil, err
		}
		file, size = mapping{m}, int64(m.Len())
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			f.Close() //nolint:errcheck // nothing was written
			return nil, err
		}
		file, size = f, info.Size()
	}
	r, err := Open(file, size)
	if err != nil {
		file.(io.Closer).Close() //nolint:errcheck // nothing was written
		return nil, err
	}
	return r, nil
}

// A mapping is a mapped file.
type mapping struct{ *mmap.ReaderAt }

// ReadAt is that of mmap, but that a file that somebody has cut short since is an error, and not
// the end of the process.
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
