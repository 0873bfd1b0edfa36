// Package ingest reads what robobatch works on: logs of URLs, as an [engine.Source], and robots.txt files.
//
// # Logs
//
// A log is text with one URL a line. [OpenLogs] reads any number of them as one stream of batches, in the order given.
//
//	format   told by                                    read as
//	zstd     a frame or a skippable frame comes first   all frames; windows of up to 128 MiB
//	gzip     the bytes 1f 8b                            all members
//	text     anything else                              itself
//
// The name of a log plays no part. bzip2, xz and zip are recognised and refused, as every row of them would be noise.
//
// A line ends at LF; one CR before it, or before the end of the log, belongs to the end. Every other byte is data. A UTF-8
// byte order mark at the start of a log is dropped. Empty lines are counted and give no row. A line longer than [MaxLine]
// bytes gives a row without a URL. Lines are numbered from 1 in each log, empty and long ones included.
//
// When the data of a log is faulty, the rows of everything decoded before the fault are yielded: the zstd decoder gives
// out whole blocks of at most 128 KiB, and none that it could not decode. The last, partial line before the fault is no
// row. Checksums stand at the end of a frame, so a wrong one leaves the rows of its whole frame in doubt; the error says so.
//
// Memory is bounded whatever the input: a batch, a chunk of 64 KiB, and the decompressor's window. Decoding runs in the
// goroutine that calls [Logs.Next]. The zstd decoder's own concurrency is off: its three stages take twice the CPU time
// for each byte without being faster on two cores (BenchmarkDecode), and on damaged input it can hand out
// an old block again (TestLogsStaleBlock). So the pipeline that calls Next is what decodes ahead.
//
// # Rules
//
// [Rules] finds the robots.txt files of a directory and which origins each is for, from their names:
//
//	https_example.com.txt, http_example.com_8080.txt   that origin
//	example.com.txt, example.com_8080.txt              http and https of that host and port
//	example.com/robots.txt, example.com_8080/robots.txt   the same
//
// The schemes are http, https and ftp. A host without a scheme has a dot, or is localhost or an IP address. A file for
// exactly one origin beats one for a host. Files with other names are listed and not used.
package ingest
