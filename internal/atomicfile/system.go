package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A System has the calls that change names, or make such changes durable. [OS] is that of the operating system. Tests
// have others, which fail or end the process at a certain call.
type System interface {
	Rename(from, to string) error
	// Link gives a file a second name, which must not exist.
	Link(from, to string) error
	// Exchange swaps two names atomically. It returns errors.ErrUnsupported if the system cannot do that.
	Exchange(a, b string) error
	MkdirAll(dir string) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	RemoveAll(name string) error
	// WriteFile overwrites or creates a file, and syncs it.
	WriteFile(name string, text []byte) error
	// SyncDir syncs the names in a directory.
	SyncDir(dir string) error
	// SyncTree syncs a directory with everything below it.
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

// SyncDir calls [SyncDir].
func (system) SyncDir(dir string) error { return SyncDir(dir) }

// SyncDir syncs the names in a directory. It does nothing if the file system does not support that.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) { // a directory that is writable, but not readable
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

// syncParent syncs the name of a file that was just renamed.
func (t *target) syncParent(path string) error {
	if err := t.sys.SyncDir(filepath.Dir(path)); err != nil {
		err = fmt.Errorf("%w: the output is complete, but a power failure might undo that", WithoutPath(err))
		return t.Wrap("sync the directory of", err)
	}
	return nil
}
