//go:build !unix

package atomicfile

import (
	"errors"
	"os"
)

// openDescriptor is unsupported: these systems have no names for descriptors.
func openDescriptor(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

// appends returns false, because it is unknown on these systems.
func appends(*os.File) bool { return false }
