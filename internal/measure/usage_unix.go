//go:build unix

package measure

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// CPU returns the processor time that the process has taken: all threads, user and system; 0 if
// that is not known.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakOf returns the most memory that a process had, in bytes; 0 if that is not known.
func peakOf(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	peak := int64(u.Maxrss) //nolint:unconvert // it is an int32 on some systems
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak *= 1024 // there it is in bytes, elsewhere in KiB
	}
	return peak
}
