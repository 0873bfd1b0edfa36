// Package ingest reads logs of URLs as an [engine.Source]: batches of rows, in the order of the
// logs. Package ingest/rulefiles reads robots.txt.
//
// It handles all formats: callers see rows. Commands and Go programs may import it; packages engine and output
// must not. Below it, package internal/unpack detects the kind of a file and reads its text, internal/weblog has
// a parser for each line format, and internal/capture reads the records of WARC files.
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
// The name of a log does not matter, except that a packed WARC file needs .warc in its name, or
// LogOptions.Format. Other packings, and files packed twice, are rejected. The text may be UTF-16, with or
// without a byte order mark.
//
// A line ends at LF; one CR before it, or before the end of the log, belongs to the line end. Spaces and tabs
// around a URL in a list are ignored. Every other byte is data. A UTF-8 byte order mark at the start of a log is
// dropped. Empty lines are counted and give no row. A line longer than [MaxLine] bytes gives a row without a
// URL. Lines are numbered from 1 in each log, including empty and long ones.
//
// The format of a text is detected from the first lines of each log, unless LogOptions.Format is set. Lines that
// do not match the format are rejected: they give no row, are counted by reason, and are in
// [engine.Batch].Rejects if LogOptions.Raws is set. Lines longer than MaxLine are also rejected. A multi-line
// record of a table has at most MaxLine bytes; if its quotes do not end, only its first line is rejected. Each
// non-empty line is therefore a row, a header or comment, rejected, or part of the record of a row.
//
// Parquet and WARC files must be files, not pipes. From a Parquet file, only the required columns are read. A
// damaged record of a WARC file is rejected. It is also a fault as described below, unless each record has its
// own gzip member or zstd frame, and the damage is there.
//
// # Faults
//
// If the data of a log is faulty, the rows of everything decoded before the fault are yielded: the zstd decoder
// returns whole blocks of at most 128 KiB, and no block that it could not decode. The last, partial line before
// the fault is not a row. Checksums are at the end of a frame, so a wrong one leaves all rows of its frame
// unverified, and the error says so. Errors name the log, the line and the byte, see [LineError] and
// [NameError]. They do not name flags, which only commands know.
//
// # Memory and goroutines
//
// Decoding runs in the goroutine that calls [Logs.Next], or, with [LogOptions].Ahead, in others ahead of it:
// several frames of a zstd file in parallel, and several inputs. Rows, line numbers and faults do not depend on
// that. Standard input, pipes and unpacked text are not read ahead.
//
// Memory is bounded for any input: a batch, a chunk of 64 KiB, and the decompressor's window. Each goroutine
// that decodes ahead has its own window, and up to 8 MiB of text.
//
// CONTRIBUTING.md describes how to add a format.
//
// # Design notes
//
//   - One goroutine unpacks a frame. The zstd decoder's own three goroutines take twice the CPU time for the
//     same bytes, and on damaged input can yield an old block again. Instead, several frames are unpacked in
//     parallel. Each block states its length, so the end of a frame is found without unpacking it. Anything that
//     does not look like a complete frame is passed to the decoder, with everything after it. Faults are
//     therefore reported, and rows before them kept, as if everything had been read in order. A waiting frame
//     fills at most 8 MiB.
//   - Each frame is verified separately. The decoder gets one frame or member after the other, so its reader
//     knows which of them ended with the right checksum. A buffer records where the last such frame ended. Only
//     then are its line ends counted again, so most text is not read twice. After a fault, the count gives the
//     first unverified line.
//   - A buffer becomes a batch. The batch and the unpacker exchange their buffers; the line that began in the
//     previous buffer is put in front. Copying took 30 ns per URL, 7 % of a run.
//   - A batch leaves space in the cache. It is 128 KiB of text, a block of zstd. With 1 MiB, evaluating a batch
//     evicted the history of zstd from the second-level cache: unpacking took 84 ns per URL in a run, compared
//     with 60 to 66 ns without evaluation. Now it takes 73.
//   - Lines are parsed as bytes. A parser reads a line once, allocates nothing, and returns parts of it. Only
//     the parts that the batch needs are copied: the URL, and the requested columns. A parser decides for each
//     line separately. The reader keeps the state that spans lines: headers, and records of tables. A rejected
//     line therefore never costs another line.
package ingest
