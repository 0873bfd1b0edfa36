package pack

import "github.com/zeebo/xxh3"

// checksum returns the checksum of a chunk or record that begins at a place of the file. It is of
// the place too, so that one that was moved, or exchanged with another, is found to be damaged.
func checksum(data []byte, at uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // spreads places over all bits
	return xxh3.Hash(data) + at*odd
}
