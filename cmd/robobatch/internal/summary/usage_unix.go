//go:build unix

package summary

import (
	"runtime"
	"syscall"
	"time"
)

// UsedResources returns the CPU time of the process so far, and the most memory that it held at
// once, in bytes.
func UsedResources() (cpu time.Duration, peak int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	peak = int64(u.Maxrss) //nolint:unconvert // it is an int32 on some systems
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak *= 1024 // there it is in bytes, elsewhere in KiB
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), peak
}
