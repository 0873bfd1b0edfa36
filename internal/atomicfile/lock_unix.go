//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// isRunning reports whether there is a process of that number, whoever owns it.
func isRunning(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || !errors.Is(err, syscall.ESRCH)
}

// tryLock locks a directory until the result is closed. The result is nil if another process has the
// lock, or has given the name to another directory meanwhile.
func tryLock(path string) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	ok, err := flock(f)
	if ok && isAt(f, path) {
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// flock locks an open directory until it is closed, and reports whether nobody else has. A file
// system without locks is as if there were nobody else.
func flock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil, errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EBADF):
		return true, nil // network file systems lock only files open for writing
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return false, nil
	}
	return false, os.NewSyscallError("flock", err)
}

// isAt reports whether an open directory still has that name.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}
