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

// SyncFile must be called for each file in a [Dir], so that Commit can sync them.
func SyncFile(f *os.File) error { return f.Sync() }

// syncTree syncs a directory and the directories below it. SyncFile has synced the files.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return OS.SyncDir(path)
	})
}

// syncAll does nothing: these systems have no such call that waits.
func syncAll() {}

// exchange is unsupported.
func exchange(string, string) error { return errors.ErrUnsupported }
