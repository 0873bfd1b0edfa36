package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/windows"
)

// Errors for [IsFull], [IsClosedPipe] and wrapError.
var (
	fullErrors = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, syscall.ENOSPC}
	pipeErrors = []error{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED, syscall.EPIPE}
	useErrors  = []error{windows.ERROR_SHARING_VIOLATION, windows.ERROR_ACCESS_DENIED, windows.ERROR_USER_MAPPED_FILE}
)

const (
	// renameWait is the maximum time that a rename waits for a program that has one of the files open. Virus scanners
	// and indexers open each new file for a moment.
	renameWait = 2 * time.Second
	// renamePause is the time between two attempts.
	renamePause = 50 * time.Millisecond
)

// rename is like [os.Rename], but waits while a program has one of the files open, because then os.Rename fails on
// Windows.
func rename(from, to string) error {
	for end := time.Now().Add(renameWait); ; time.Sleep(renamePause) {
		err := os.Rename(from, to)
		if err == nil || !isOneOf(err, useErrors) || time.Now().After(end) {
			return err
		}
	}
}

// isRunning reports whether a process with that number exists, also of another user.
func isRunning(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // other errors mean that it exists, but of another user
	}
	defer windows.CloseHandle(process)
	const stillActive = 259
	var code uint32
	return windows.GetExitCodeProcess(process, &code) != nil || code == stillActive
}

// A nameLock is a named mutex, which only one process can create.
type nameLock windows.Handle

// tryLock locks the name of a directory until the result is closed. The result is nil if another process has the lock.
// The directory is not opened, because then it could not be renamed.
func tryLock(path string) (io.Closer, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name, err := windows.UTF16PtrFromString(fmt.Sprintf(`Global\robobatch-%016x`, xxh3.HashString(strings.ToLower(path))))
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateMutex(nil, false, name)
	switch {
	case err == nil:
		return nameLock(handle), nil
	case handle != 0: // it already exists
		return nil, windows.CloseHandle(handle)
	case errors.Is(err, windows.ERROR_ACCESS_DENIED): // another user's
		return nil, nil
	}
	return nil, os.NewSyscallError("CreateMutex", err)
}

// Close releases the lock.
func (l nameLock) Close() error { return windows.CloseHandle(windows.Handle(l)) }
