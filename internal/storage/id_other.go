//go:build !unix

package storage

import "io/fs"

// idOf returns no ID: it would require opening the file.
func idOf(fs.FileInfo) ID { return ID{} }
