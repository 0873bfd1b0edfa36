package measure

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Exec runs a command and measures its process, not this one; its memory only where the system
// tells. The command's output is in the error if it fails.
func Exec(cmd *exec.Cmd) (Sample, error) {
	var said strings.Builder
	cmd.Stderr = &said
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return Sample{}, fmt.Errorf("%s: %w: %s", cmd, err, said.String())
	}
	p := cmd.ProcessState
	return Sample{Wall: time.Since(started), CPU: p.SystemTime() + p.UserTime(), Peak: PeakOf(p)}, nil
}
