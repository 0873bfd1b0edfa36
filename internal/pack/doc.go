// Package pack is the file format of rule packs: compiled robots.txt of many origins in one file,
// from which single ones are read. It knows nothing of what is compiled: that is package engine's.
//
//	header        256 bytes: magic, version, dialect, lengths, hashes of the indexes, of what is in force, of itself
//	chunks        hash of 8 bytes, and bytes that the engine reads: compiled rules, and texts that refer to them
//	sites         a record for each origin, in the order of their names
//	targets       a record for each other URL that redirects lead to
//	site index    hash of the name, offset of the record: 8 bytes each, in the order of the hashes
//	target index  the same
//	texts         offset, size of a chunk: 8 bytes each, by number of the text
//
// A record is
//
//	length  4 bytes
//	hash    8 bytes, of the rest
//	name    origin, or URL: length and bytes
//	count   of the captures, in the order in which they were read
//	each    flags, status, and as the flags say: time, number of the text, size, location, error
//
// Numbers are little-endian or varints. Hashes are XXH3, of 64 bits. All offsets count from the
// start of the file, those of records from the start of their section.
//
// # Why so
//
// Opening reads the header, the indexes and the table of texts, 16 bytes an entry, and checks them:
// a million origins take some ten milliseconds. Records and chunks are checked when they are read,
// each by itself. So a damaged pack is refused at once or where it matters, and never read whole. A
// hash finds damage and is no signature: whoever can write a pack can make it say anything. But
// whatever the bytes are, reading them ends, without a panic, in memory linear in the length of the
// file.
//
// Records are sorted by name so that what depends on all origins, such as their hash at another
// moment, is computed in one pass. The index is by hash so that it is small and has entries of one
// size; the name in the record decides.
package pack
