// Package unpack detects the kind of a file and reads its text. Only the packages below ingest may import it.
//
// It handles zstd and gzip: frames, members, windows, dictionaries, checksums, and the extent to which the text of a
// damaged file can be trusted. It does not interpret lines or records.
//
//   - [Detect] and related functions detect the packing and the content of a file.
//   - [Texts] read one input after the other from start to end. At a fault, they first return all text
//     that was unpacked before it, and report how much of it was verified: frames and members that
//     ended with a correct checksum. One implementation unpacks ahead of its reader, in several
//     goroutines.
//   - [Segments] read one file with random access. They can continue after a fault with the next
//     member or frame.
//   - A [Decoder] converts UTF-16 to UTF-8.
//
// One goroutine unpacks each frame. The concurrency of the zstd decoder is off: its three stages take twice the CPU
// time per byte without being faster on two cores (BenchmarkDecode), and on damaged input it can return an old block
// again (TestLogsStaleBlock).
package unpack
