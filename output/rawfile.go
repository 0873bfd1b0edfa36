package output

import (
	"errors"
	"path/filepath"

	"github.com/robobatch/robobatch/engine"
)

// A RawFile is an output whose user writes its bytes, anywhere in it, and reads them back: a rule pack. It has a temporary
// name until it is complete. It is not safe for concurrent use, but for ReadAt.
type RawFile struct{ place }

var _ engine.PackFile = (*RawFile)(nil)

// ErrNotFile is the cause of a FileError when what cannot be written in order has to be.
var ErrNotFile = errors.New("is no regular file: it is written in more than one pass")

// CreateRaw starts an output of that name, which replaces a file of that name when it is committed. The error is a
// [*FileError]. Use Close in any case.
func CreateRaw(name string) (*RawFile, error) {
	f := &RawFile{place{name: name, path: name}}
	if name == "-" {
		return nil, f.fault("create", ErrNotFile)
	}
	if err := f.open(); err != nil {
		return nil, f.fault("create", err)
	}
	if f.temp == "" {
		return nil, errors.Join(f.fault("create", ErrNotFile), f.drop())
	}
	return f, nil
}

// Write appends bytes.
func (f *RawFile) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	return n, f.writeFault(err)
}

// WriteAt overwrites bytes.
func (f *RawFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.file.WriteAt(b, off)
	return n, f.writeFault(err)
}

func (f *RawFile) writeFault(err error) error {
	if err == nil {
		return nil
	}
	return f.fault("write", err)
}

// ReadAt reads back.
func (f *RawFile) ReadAt(b []byte, off int64) (int, error) { return f.file.ReadAt(b, off) }

// Dir returns the directory of the output.
func (f *RawFile) Dir() string { return filepath.Dir(f.path) }

// Commit gives the output its name.
func (f *RawFile) Commit() error { return f.commit(f.path) }

// Close drops what was written, unless it was committed.
func (f *RawFile) Close() error { return f.drop() }
