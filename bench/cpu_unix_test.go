//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that the process has taken: all threads, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
