//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package atomicfile

import "io"

// isRunning is unknown here: any number may belong to a process.
func isRunning(int) bool { return true }

// tryLock does nothing here.
func tryLock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
