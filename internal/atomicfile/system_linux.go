package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dirsSync reports whether directories can be synced.
const dirsSync = true

// SyncFile must be called for each file in a [Dir], so that Commit can sync them. On Linux it does nothing: Commit
// syncs all files at once, because there may be a million.
func SyncFile(*os.File) error { return nil }

// syncTree syncs the whole file system that contains dir. The error may be about any file in it.
func syncTree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
	return errors.Join(err, f.Close())
}

// syncAll syncs all file systems.
func syncAll() { unix.Sync() }

// exchange swaps the names of two directories.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // unsupported by the file system or the kernel
		return errors.ErrUnsupported
	}
	return os.NewSyscallError("renameat2", err)
}
