package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dirsSync reports whether directories can be synced.
const dirsSync = true

// SyncFile makes sure that a file in a [Dir] is on disk when the Dir is committed. Here it does
// nothing: Commit syncs all files at once, as there may be a million.
func SyncFile(*os.File) error { return nil }

// syncTree makes sure that all of the file system is on disk, and returns the errors of writing
// files there.
func syncTree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
	return errors.Join(err, f.Close())
}

// syncAll makes sure that all file systems are on disk.
func syncAll() { unix.Sync() }

// exchange swaps the names of two directories.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system cannot, or the kernel
		return errors.ErrUnsupported
	}
	return os.NewSyscallError("renameat2", err)
}
