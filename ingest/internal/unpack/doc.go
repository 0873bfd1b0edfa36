// Package unpack tells the kind of a file and reads its text. Only the packages below ingest may import
// it.
//
// It hides zstd and gzip: frames, members, windows, dictionaries, checksums, and where the text of a damaged file can
// be trusted. It does not interpret lines or records.
//
//   - [Detect] and its kin are the one place that tells the kind of a file: how it is packed, and what
//     it holds.
//   - [Texts] read one input after the other from start to end. At a fault they first give out
//     everything that was unpacked before it, and say how much of it was verified: which frames and
//     members ended, with the right checksum. One of them unpacks ahead of its reader, in several
//     goroutines.
//   - [Segments] read one file at random. They can continue behind a fault, with the next member or
//     frame.
//
// A frame is unpacked by one goroutine: the zstd decoder's own concurrency is off, because its three stages take twice
// the CPU time for each byte without being faster on two cores (BenchmarkDecode), and on damaged input it can hand out
// an old block again (TestLogsStaleBlock).
package unpack
