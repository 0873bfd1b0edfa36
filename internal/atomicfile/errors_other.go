//go:build !windows

package atomicfile

import (
	"os"
	"syscall"
)

// Errors for [IsFull], [IsClosedPipe] and wrapError.
var (
	fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT}
	pipeErrors = []error{syscall.EPIPE}
	useErrors  []error // none: open files can be replaced
)

func rename(from, to string) error { return os.Rename(from, to) }
