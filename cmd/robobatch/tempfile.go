package main

import (
	"os"
	"sync"
)

// A tempFile is a file that is gone when it is closed, or the process ends, however it ends: it has no name. On systems that do
// not remove what is open it has one, which remove removes.
type tempFile struct {
	*os.File
	once  sync.Once
	named bool
}

// newTempFile creates a file in a directory. The pattern is as for [os.CreateTemp].
func newTempFile(dir, pattern string) (*tempFile, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &tempFile{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// remove closes the file and removes its name, if that is not gone. Further calls, and those of a nil tempFile, do nothing. Another
// goroutine may use the file meanwhile, which fails then.
func (f *tempFile) remove() (err error) {
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		f.Close() //nolint:errcheck // nobody reads it any more, and it may be closed already
		if f.named {
			err = os.Remove(f.Name())
		}
	})
	return err
}
