package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncFile makes sure that a file in a [Dir] is on disk when the Dir is committed. Here it does
// nothing: Commit syncs all files at once, as there may be a million.
func SyncFile(*os.File) error { return nil }

// syncFiles makes sure that all files are on disk, and returns the errors of writing them there.
func syncFiles(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
	return errors.Join(err, f.Close())
}

// exchange swaps the names of two directories.
func exchange(a, b string) error {
	return os.NewSyscallError("renameat2", unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE))
}
