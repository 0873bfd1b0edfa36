//go:build !amd64 || purego

package linefeed

// find is findGeneric.
func find(text []byte, places []uint32) (n, read int, s Seen) { return findGeneric(text, places) }
