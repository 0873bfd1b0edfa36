//go:build unix

package storage

import (
	"io/fs"
	"syscall"
)

// idOf returns the ID of a file. File systems without file numbers report 0.
func idOf(info fs.FileInfo) ID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Ino == 0 {
		return ID{}
	}
	return ID{uint64(s.Dev), uint64(s.Ino)} //nolint:gosec,unconvert // other systems have other types
}
