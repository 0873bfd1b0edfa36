//go:build unix

package measure

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// CPU returns the processor time that the process has taken: all threads, user and system; 0 if that is not known.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Exec runs a command and measures its process, not this one. What the command prints is in the error if it fails.
func Exec(cmd *exec.Cmd) (Sample, error) {
	var said strings.Builder
	cmd.Stderr = &said
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return Sample{}, fmt.Errorf("%s: %w: %s", cmd, err, said.String())
	}
	s := Sample{Wall: time.Since(started), CPU: cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.Peak = int64(u.Maxrss) //nolint:unconvert // it is an int32 on some systems
		if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
			s.Peak *= 1024 // there it is in bytes, elsewhere in KiB
		}
	}
	return s, nil
}
