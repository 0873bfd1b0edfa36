// Package ingest reads what robobatch works on: logs of URLs, as an [engine.Source], and robots.txt files.
//
// # Logs
//
// A log is text with one URL a line, or with one row a line in a format of package weblog, which takes it apart; or a
// Parquet file with a column for the URL; or a WARC file, of which each fetch is a row. [OpenLogs] reads any number of them as one stream of batches, in the order
// given.
//
//	format   told by                                    read as
//	zstd     a frame or a skippable frame comes first   all frames; windows of up to 128 MiB
//	gzip     the bytes 1f 8b                            all members
//	text     anything else                              itself
//
// The name of a log plays no part, but that a packed WARC file needs .warc in it, or LogOptions.Format. bzip2, xz and zip are recognised and refused, as every row of them would be noise.
//
// A line ends at LF; one CR before it, or before the end of the log, belongs to the end. Every other byte is data. A
// UTF-8 byte order mark at the start of a log is dropped. Empty lines are counted and give no row. A line longer than
// [MaxLine] bytes gives a row without a URL. Lines are numbered from 1 in each log, empty and long ones included.
//
// What a row of text is, is guessed from the first lines of each log, unless LogOptions says it. Lines that are not of the
// format are refused: they give no row, are counted by reason, and are in [engine.Batch].Rejects if LogOptions.Raws is
// set. There, a line longer than [MaxLine] is refused, too. A record of a table that has several lines has at most MaxLine
// bytes; if its quotes do not end, only its first line is refused. So each line that is not empty is a row, a header or
// comment, refused, or part of the record of a row.
//
// When the data of a log is faulty, the rows of everything decoded before the fault are yielded: the zstd decoder
// gives out whole blocks of at most 128 KiB, and none that it could not decode. The last, partial line before the
// fault is no row. Checksums stand at the end of a frame, so a wrong one leaves the rows of its whole frame in doubt;
// the error says so.
//
// Decoding runs in the goroutine that calls [Logs.Next], or, with [LogOptions].Ahead, in others ahead of it: several frames
// of a zstd file at once, and several inputs. Rows, line numbers and faults are the same. Of one frame, one goroutine
// decodes: the zstd decoder's own concurrency is off, as its three stages take twice the CPU time for each byte without
// being faster on two cores (BenchmarkDecode), and on damaged input it can hand out an old block again
// (TestLogsStaleBlock). Standard input, pipes and plain text are not read ahead.
//
// Of Parquet files only the columns that are needed are read. They must be files, not pipes, as WARC files must. Damaged
// records of those are refused, and what is behind them is read.
//
// Memory is bounded whatever the input: a batch, a chunk of 64 KiB, and the decompressor's window. Each goroutine that
// decodes ahead has a window of its own, and up to 8 MiB of text.
//
// # Rules
//
// [Rules] finds the robots.txt files of a directory and which origins each is for, from their names:
//
//	https_example.com.txt, http_example.com_8080.txt   that origin
//	example.com.txt, example.com_8080.txt              http and https of that host and port
//	example.com/robots.txt, example.com_8080/robots.txt   the same
//	*.warc*, *.jsonl*                                  files of captures, which say themselves whose robots.txt they hold
//
// The schemes are http, https and ftp. A host without a scheme has a dot, or is localhost or an IP address. A file for
// exactly one origin beats one for a host. Files with other names are listed and not used.
//
// # Captures
//
// A WARC file (1.0 and 1.1) is plain, or of gzip members or zstd frames, at best one for each record; a dictionary in
// front of zstd frames is used. Of its records count those of type response whose URL has the path /robots.txt,
// whatever their status, and those of what one of them before redirects to. A revisit record has the body of the
// record that it refers to, by WARC-Refers-To, URL and date, or payload digest, in any file. Bodies of status 2xx are
// decoded: chunks, and the content codings gzip, deflate, br and zstd, up to 64 MiB. A body that looks like text is
// not decoded, since many crawlers store it so and leave the fields of the header.
//
// A JSON Lines file has a response a line, at most 16 MiB long:
//
//	url, origin      what was fetched, or whose robots.txt that is; one of them, or both
//	status           the HTTP status, 0 for a network failure; without it, 200 if there is a body
//	fetched_at       RFC 3339, or seconds since 1970; may be missing
//	body, body_b64   text, or bytes in base 64
//	location, error  where a redirect leads, and why a fetch failed
//
// A broken record is left out and counted, see [RuleFiles.Problems]; the others are used. To go on after it, the
// reader looks for the next gzip member, zstd frame, or line like "WARC/1.0". What cannot be told apart is not: a
// plain record with changed bytes is used, unless it has a WARC-Block-Digest; so is a line of a packed JSON Lines file
// whose member has a wrong checksum at its end. After a fault text is read again, in all at most eight times the file,
// and 64 MiB: so in a WARC file that is one large gzip member, few faults can be passed.
//
// Memory is that of the largest window or line, plus about 100 bytes for each capture, which revisit records may refer
// to.
package ingest
