// Package ingest reads logs of URLs as an [engine.Source]: batches of rows, in the order of the
// logs. Package ingest/rulefiles reads robots.txt.
//
// It hides formats: callers see rows, whatever a log is. Commands and Go programs may import it;
// packages engine and output must not. Below it, package internal/unpack tells the kind of a file and
// reads its text, internal/weblog has a parser for each format of lines, and internal/capture reads
// the records of WARC files.
//
//	logs, err := ingest.OpenLogs([]string{"access.log.zst"}, ingest.LogOptions{})
//	for b := (engine.Batch{}); logs.Next(&b); { … }
//	err = logs.Err()
//
// # Logs
//
// A log is text with one URL per line, or with one row per line in one of the [Formats]; or a Parquet file with a
// column for the URL; or a WARC file, where each fetch is a row.
//
//	packed  recognised by                               read as
//	zstd    a frame or a skippable frame comes first    all frames; windows of up to 128 MiB
//	gzip    the bytes 1f 8b                             all members
//	bzip2   "BZh", a digit, and a block                 all streams
//	zip     "PK" 03 04                                  the only file, or a named one: x.zip/a.csv
//	none    anything else                               itself
//
// The name of a log plays no part, except that a packed WARC file needs .warc in it, or
// LogOptions.Format. Other packings, and files packed twice, are refused, as every row of them
// would be noise. The text may be UTF-16, with a byte order mark or without.
//
// A line ends at LF; one CR before it, or before the end of the log, belongs to the end. Spaces and
// tabs around a URL in a list do not count. Every other byte is data. A UTF-8 byte order mark at the
// start of a log is dropped. Empty lines are counted and give no row. A line longer than [MaxLine]
// bytes gives a row without a URL. Lines are numbered from 1 in each log, empty and long ones
// included.
//
// The format of a text is detected from the first lines of each log, unless LogOptions.Format says
// it. Lines that are not of the format are refused: they give no row, are counted by reason, and
// are in [engine.Batch].Rejects if LogOptions.Raws is set. A line longer than MaxLine is refused,
// too. A record of a table that has several lines has at most MaxLine bytes; if its quotes do not
// end, only its first line is refused. So each line that is not empty is a row, a header or
// comment, refused, or part of the record of a row.
//
// Parquet and WARC files must be files, not pipes. Of a Parquet file only the columns that are
// needed are read. A damaged record of a WARC file is refused, and a fault as below, unless each
// record has a gzip member or zstd frame of its own, and it is that which is broken.
//
// # Faults
//
// When the data of a log is faulty, the rows of everything decoded before the fault are yielded:
// the zstd decoder gives out whole blocks of at most 128 KiB, and none that it could not decode.
// The last, partial line before the fault is not a row. Checksums stand at the end of a frame, so a
// wrong one leaves all rows of its frame unverified; the error says so. Errors name the log,
// the line and the byte, see [LineError] and [NameError]. They name no flags: that is the command's
// part.
//
// # Memory and goroutines
//
// Decoding runs in the goroutine that calls [Logs.Next], or, with [LogOptions].Ahead, in others
// ahead of it: several frames of a zstd file at once, and several inputs. Rows, line numbers and
// faults are the same. Standard input, pipes and text that is not packed are not read ahead.
//
// Memory is bounded whatever the input: a batch, a chunk of 64 KiB, and the decompressor's window.
// Each goroutine that decodes ahead has a window of its own, and up to 8 MiB of text.
//
// CONTRIBUTING.md has the steps that add a format.
//
// # Why so
//
//   - One goroutine unpacks a frame. The zstd decoder's own three goroutines take twice the CPU
//     for the same bytes, and on damaged input can yield an old block again. Several frames are
//     unpacked at once. Each block says how long it is, so code finds the end of a frame without
//     unpacking it. The decoder itself gets anything that does not look like a whole frame, and
//     everything behind it; so faults are reported, and rows before them kept, as if all had
//     been read in order. A frame that waits fills at most 8 MiB.
//   - Each frame is verified by itself. The decoder gets one frame or member after the other, so
//     its reader knows which of them ended with the right checksum. A buffer says where in it
//     the last such frame ended. Only then are its line ends counted once more, so most text is
//     not looked at twice. After a fault that gives the first line that nothing has verified.
//   - A buffer becomes a batch. The batch and the unpacker exchange their buffers; the line that
//     began in the buffer before is put in front. Copying took 30 ns a URL, 7 % of a run.
//   - A batch leaves room in the cache. It is 128 KiB of text, a block of zstd. With 1 MiB,
//     evaluating a batch pushed the history of zstd out of the second-level cache, and unpacking
//     took 84 ns a URL in a run, where it takes 60 to 66 alone. Now it takes 73.
//   - Lines are taken apart by bytes. A parser looks at a line once, allocates nothing, and
//     returns parts of it. Only the parts that the batch needs are copied: the URL, and the columns that
//     are asked for. A parser decides for each line alone. The reader keeps the state that spans lines:
//     headers, and records of tables. So a refused line costs no other line.
package ingest
