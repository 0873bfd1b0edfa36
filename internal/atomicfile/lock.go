package atomicfile

import (
	"context"
	"errors"
	"io"
	"time"
)

const (
	// lockWait is how long another process may hold the lock. It holds it while it renames files.
	lockWait = time.Minute
	// lockPause is the time between two looks at the lock.
	lockPause = 20 * time.Millisecond
)

// errLocked says that another process writes to a directory.
var errLocked = errors.New("another run is writing to it: wait until it ends")

// A Lock is held by one process at a time. It ends with the process.
type Lock struct{ held io.Closer }

// LockDir locks a directory against other calls of it, from other processes too, and waits for
// them at most a minute, or until cancel is closed. Where the system has no such locks it does
// nothing.
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

// Unlock gives the lock back. A nil Lock locks nothing.
func (l *Lock) Unlock() error {
	if l == nil {
		return nil
	}
	return l.held.Close()
}
