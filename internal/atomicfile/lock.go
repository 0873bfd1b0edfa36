package atomicfile

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// lockWait is how long another process may hold the lock. It holds it while it renames files.
	lockWait = time.Minute
	// lockPause is the time between two looks at the lock.
	lockPause = 20 * time.Millisecond
)

// errLocked says that another process writes to a directory.
var errLocked = errors.New("another run is writing to it: wait until that has ended")

// A Lock is held by one process at a time. It ends with the process.
type Lock struct{ dir *os.File }

// LockDir locks a directory against other calls of it, those of other processes too, and waits for
// them at most a minute, or until cancel is closed. Where the system has no such locks it does
// nothing.
func LockDir(path string, cancel <-chan struct{}) (*Lock, error) {
	for end := time.Now().Add(lockWait); ; {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		ok, err := tryLock(f)
		if ok && isAt(f, path) {
			return &Lock{f}, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if ok {
			continue // another directory has taken the name meanwhile
		}
		if time.Now().After(end) {
			return nil, errLocked
		}
		select {
		case <-cancel:
			return nil, context.Canceled
		case <-time.After(lockPause):
		}
	}
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

// Unlock gives the lock back. A nil Lock is none.
func (l *Lock) Unlock() error {
	if l == nil {
		return nil
	}
	return l.dir.Close()
}
