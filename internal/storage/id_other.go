//go:build !unix

package storage

import "io/fs"

// idOf returns the ID of a file: none, as it would have to be opened.
func idOf(fs.FileInfo) ID { return ID{} }
