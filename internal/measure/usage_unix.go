//go:build unix

package measure

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// Used returns the CPU time of the process (all threads, user and system), and its peak memory in bytes; zeros if
// unknown.
func Used() (cpu time.Duration, peak int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	if peak = peakOfImage(); peak == 0 {
		peak = maxRSS(&u)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), peak
}

// PeakOf returns the peak memory of a process that has ended, in bytes; 0 if unknown.
func PeakOf(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return maxRSS(u)
	}
	return 0
}

// maxRSS returns the peak memory in bytes.
func maxRSS(u *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) //nolint:unconvert // it is an int32 on some systems
	}
	return int64(u.Maxrss) * 1024 //nolint:unconvert // KiB, but bytes on Apple's systems
}
