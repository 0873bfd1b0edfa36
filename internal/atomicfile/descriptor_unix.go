//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errNotGiven means that the process was not started with this descriptor.
var errNotGiven = errors.New("this descriptor is not open: open it in the shell, as in 3>file")

// errNotWritable means that the descriptor is open, but not for writing.
var errNotWritable = errors.New("this descriptor is open for reading only: open it for writing, as in 3>file")

// openDescriptor duplicates a descriptor with which the process was started, so that the duplicate can be closed.
// Descriptors that the process has opened itself are rejected: they are closed on exec, unlike inherited ones.
func openDescriptor(fd int, name string) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return nil, errNotGiven
	}
	if mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, errNotWritable
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(own), name), nil
}

// appends reports whether all writes go to the end of a file.
func appends(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	mode := 0
	err = raw.Control(func(fd uintptr) { mode, _ = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	return err == nil && mode&unix.O_APPEND != 0
}
