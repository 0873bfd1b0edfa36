package rulefiles

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// readRegular returns the first MaxBody bytes of a file, its size, and its modification time. ok is false if the file
// is empty, not regular, or changed meanwhile; then package os must read it. Open, stat, read and close are one system
// call each. [os.Open] needs five more to find out whether the file supports polling, which is most of the time for a
// short file.
func readRegular(name string) (body []byte, size int64, changed time.Time, ok bool, err error) {
	fd, err := retry(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, 0, changed, false, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if _, err := retry(func() (int, error) { return 0, syscall.Fstat(fd, &st) }); err != nil {
		return nil, 0, changed, false, os.NewSyscallError("fstat", err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, 0, changed, false, nil
	}
	body = make([]byte, min(st.Size, MaxBody))
	for n := 0; n < len(body); {
		more, err := retry(func() (int, error) { return syscall.Read(fd, body[n:]) })
		if err != nil {
			return nil, 0, changed, false, &fs.PathError{Op: "read", Path: name, Err: err}
		}
		if more == 0 {
			return nil, 0, changed, false, nil
		}
		n += more
	}
	return body, st.Size, time.Unix(st.Mtim.Unix()), st.Size > 0, nil
}

// retry repeats a system call while signals interrupt it.
func retry(call func() (int, error)) (n int, err error) {
	for n, err = call(); err == syscall.EINTR; n, err = call() { //nolint:errorlint // it is a number
	}
	return n, err
}
