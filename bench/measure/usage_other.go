//go:build !unix

package measure

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// CPU returns 0: the processor time is not known here.
func CPU() time.Duration { return 0 }

// Exec runs a command and measures its process, not this one, without its memory. What the command prints is in the
// error if it fails.
func Exec(cmd *exec.Cmd) (Sample, error) {
	var said strings.Builder
	cmd.Stderr = &said
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return Sample{}, fmt.Errorf("%s: %w: %s", cmd, err, said.String())
	}
	return Sample{Wall: time.Since(started), CPU: cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()}, nil
}
