//go:build !linux

package output

import (
	"errors"
	"os"
)

// syncPart makes sure that a file is on disk.
func syncPart(f *os.File) error { return f.Sync() }

// syncTree does nothing: syncPart has done it for each file.
func syncTree(string) error { return nil }

// exchange cannot be done here.
func exchange(string, string) error { return errors.ErrUnsupported }
