//go:build !unix

package atomicfile

import (
	"errors"
	"os"
)

// openDescriptor cannot be done here: no name stands for a descriptor.
func openDescriptor(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

// appends reports whether all writes go to the end of a file, as far as is known.
func appends(*os.File) bool { return false }
