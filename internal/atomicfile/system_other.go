//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// dirsSync reports whether directories can be synced.
const dirsSync = runtime.GOOS != "windows"

// SyncFile makes sure that a file in a [Dir] is on disk when the Dir is committed.
func SyncFile(f *os.File) error { return f.Sync() }

// syncTree makes sure that all directories below one are on disk. SyncFile has done it for files.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return OS.SyncDir(path)
	})
}

// syncAll does nothing: there is no such call that waits.
func syncAll() {}

// exchange cannot be done here.
func exchange(string, string) error { return errors.ErrUnsupported }
