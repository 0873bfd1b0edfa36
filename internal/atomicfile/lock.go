package atomicfile

import (
	"context"
	"errors"
	"io"
	"time"
)

const (
	// lockWait is the maximum time to wait for another process, which has the lock while it renames files.
	lockWait = time.Minute
	// lockPause is the time between two attempts.
	lockPause = 20 * time.Millisecond
)

// errLocked means that another process has the lock.
var errLocked = errors.New("another run is writing to it: wait until it ends")

// A Lock is a lock of a directory, which only one process can have. It ends with the process.
type Lock struct{ held io.Closer }

// LockDir locks a directory, which must exist, for which other calls of LockDir, also in other processes, have to wait.
// It waits for at most a minute, and then returns errLocked; when cancel is closed, it returns context.Canceled. On
// systems without such locks, it locks nothing.
func LockDir(path string, cancel <-chan struct{}) (*Lock, error) {
	for end := time.Now().Add(lockWait); ; {
		held, err := tryLock(path)
		switch {
		case err != nil:
			return nil, err
		case held != nil:
			return &Lock{held}, nil
		case time.Now().After(end):
			return nil, errLocked
		}
		select {
		case <-cancel:
			return nil, context.Canceled
		case <-time.After(lockPause):
		}
	}
}

// Unlock releases the lock. It does nothing if l is nil.
func (l *Lock) Unlock() error {
	if l == nil {
		return nil
	}
	return l.held.Close()
}
