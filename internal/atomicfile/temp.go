package atomicfile

import (
	"os"
	"sync"
)

// A Temp is a file without a name: it is gone when it is closed or the process ends, however it
// ends. Where the system does not remove open files it has a name, which Remove removes.
type Temp struct {
	*os.File
	once  sync.Once
	named bool
}

// CreateTemp creates a file in dir; "" is the usual directory. The pattern is as for
// [os.CreateTemp].
func CreateTemp(dir, pattern string) (*Temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &Temp{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Wrap returns an error of writing to the file as an [*Error], with a remedy for a full disk; nil stays nil.
func (f *Temp) Wrap(err error) error { return wrap("write", f.Name(), err) }

// Named reports whether the file has a name, so that something is left of it unless it is removed.
func (f *Temp) Named() bool { return f.named }

// Remove closes the file and removes its name, if it has one. Further calls, and calls of a nil
// Temp, do nothing. Another goroutine may use the file meanwhile; that fails then.
func (f *Temp) Remove() (err error) {
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
