// Package pack implements the file format of rule packs: one file with the compiled robots.txt files of many origins,
// which can be read individually.
//
// The package hides the layout of the file, its checksums, and how a name is found. It does not interpret the
// compiled content: a chunk is a sequence of bytes. Only the packages below engine and rulefiles import it.
//
//	header        256 bytes: magic, version, dialect, lengths; hashes of directories, the rules in force, itself
//	chunks        hash of 8 bytes, and bytes: compiled rules, and texts that refer to them
//	sites         a record for each origin, in the order of their names
//	targets       a record for each other URL that redirects lead to
//	site index    hash of the name, offset of the record: 8 bytes each, in the order of the hashes
//	target index  the same
//	texts         offset, size of a chunk: 8 bytes each, by number of the text
//	notes         bytes from the compiler: errors in the rules
//
// Each of the three tables is followed by its directory: for each block of 256 entries, its first 8 bytes and its
// hash.
//
// The header may refer to two more chunks: which texts are invalid, and the product tokens in the texts.
//
// A record is
//
//	length  4 bytes
//	hash    8 bytes, of the rest
//	name    origin, or URL: length and bytes
//	count   number of captures, in the order of reading
//	each    flags, status; depending on the flags: time, number of the text, size, location, error
//
// Numbers are little-endian or varints. Hashes are XXH3 of 64 bits. Offsets of chunks count from
// the start of the file, offsets of records from the start of their section.
//
// # Why so
//
// Opening a pack reads and checks the header, the directories and the notes: 128 KB for a million origins. A lookup
// reads a block of a table, 4 KiB, unless it was read before. Each block, record and chunk has its own checksum,
// which is checked when it is read. So damage is detected when the pack is opened or when the damaged part is read;
// the file is never read in full for that. A hash detects damage but is not a signature: the author of a pack can
// put any rules into it. But whatever the bytes are, reading them terminates without a panic, in memory linear in
// the length of the file.
//
// Records are sorted by name, so that one pass can compute values that depend on all origins, such as the hash of
// the rules in force at another moment. The index is sorted by hash, so that it is small and its entries have a
// fixed size. The name in the record shows whether it is the right one.
package pack
