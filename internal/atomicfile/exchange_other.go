//go:build !linux

package atomicfile

import (
	"errors"
	"os"
)

// SyncFile makes sure that a file in a [Dir] is on disk when the Dir is committed.
func SyncFile(f *os.File) error { return f.Sync() }

// syncFiles does nothing: SyncFile has done it for each file.
func syncFiles(string) error { return nil }

// exchange cannot be done here.
func exchange(string, string) error { return errors.ErrUnsupported }
