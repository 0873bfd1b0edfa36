package outputs

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// TestDamagedLogClosedPipe checks that a damaged log is an error even if the reader of the rows has closed the pipe.
func TestDamagedLogClosedPipe(t *testing.T) {
	pipe := &atomicfile.Error{Doing: "write", Name: msg.Std, Err: syscall.EPIPE}
	if !IsClosedPipe(pipe) {
		t.Error("a closed pipe alone is an error")
	}
	fault := &FaultError{Err: errors.New("a.zst: damaged"), Rows: 3, Out: msg.Std, Lost: pipe}
	if IsClosedPipe(errors.Join(fault)) {
		t.Error("a damaged log passes for a closed pipe")
	}
	if want := "a.zst: damaged\nthe rows before the fault could not be kept: write standard output: "; !strings.HasPrefix(fault.Error(), want) {
		t.Errorf("%q does not start with %q", fault, want)
	}
}
