//go:build !windows

package atomicfile

import (
	"os"
	"syscall"
)

// The errors that have a meaning here, see [IsFull], [IsClosedPipe] and isInUse.
var (
	fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT}
	pipeErrors = []error{syscall.EPIPE}
	useErrors  []error // open files can be replaced
)

func rename(from, to string) error { return os.Rename(from, to) }
