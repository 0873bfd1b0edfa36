package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A System is the calls that change names, and those that make the changes last. There is one of
// the operating system; tests have others, which fail or end the process at a step.
type System interface {
	Rename(from, to string) error
	// Link gives a file another name, which must be free.
	Link(from, to string) error
	// Exchange swaps two names. It returns errors.ErrUnsupported where that cannot be done at once.
	Exchange(a, b string) error
	MkdirAll(dir string) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	RemoveAll(name string) error
	// WriteFile writes a new file, in place of the old one, and makes sure that it is on disk.
	WriteFile(name string, text []byte) error
	// SyncDir makes sure that the names in a directory are on disk.
	SyncDir(dir string) error
	// SyncTree makes sure that all that is in a directory is on disk, to any depth.
	SyncTree(dir string) error
}

// OS is the operating system.
var OS System = system{}

type system struct{}

func (system) Rename(from, to string) error { return rename(from, to) }
func (system) Link(from, to string) error   { return os.Link(from, to) }
func (system) Exchange(a, b string) error   { return exchange(a, b) }
func (system) MkdirAll(dir string) error    { return os.MkdirAll(dir, 0o777) }
func (system) Remove(name string) error     { return os.Remove(name) }
func (system) RemoveAll(name string) error  { return os.RemoveAll(name) }
func (system) SyncTree(dir string) error    { return syncTree(dir) }

func (system) WriteFile(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// SyncDir does as [SyncDir].
func (system) SyncDir(dir string) error { return SyncDir(dir) }

// SyncDir makes sure that the names in a directory are on disk. It does nothing where the file system has no such thing.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) { // one that may be written, but not listed
		syncAll()
		return nil
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || !dirsSync {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// syncParent makes sure that the name of a file just renamed is on disk.
func (t *target) syncParent(path string) error {
	if err := t.sys.SyncDir(filepath.Dir(path)); err != nil {
		err = fmt.Errorf("%w: it is in place and complete, but a power failure might undo that", Cause(err))
		return t.Wrap("sync the directory of", err)
	}
	return nil
}
