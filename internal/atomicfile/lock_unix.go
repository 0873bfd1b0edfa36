//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// isRunning reports whether a process with that number exists, also of another user.
func isRunning(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || !errors.Is(err, syscall.ESRCH)
}

// tryLock locks a directory until the result is closed. The result is nil, without an error, if another process has the
// lock, or has renamed another directory to path in the meantime. On file systems without locks, the lock counts as
// free.
func tryLock(path string) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	// File systems without locks are treated as if the lock were free. Network file systems lock only files that are
	// open for writing.
	case err == nil, errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EBADF):
		open, errOpen := f.Stat()
		named, errNamed := os.Stat(path)
		if errOpen == nil && errNamed == nil && os.SameFile(open, named) {
			return f, nil
		}
		return nil, f.Close()
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return nil, f.Close()
	}
	return nil, errors.Join(os.NewSyscallError("flock", err), f.Close())
}
