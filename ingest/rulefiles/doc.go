// Package rulefiles finds and reads robots.txt files: a single file, a directory of files named after their origins, or
// files of captures. It returns [robots.Response] values, which package engine compiles.
//
//	files, err := rulefiles.Find("rules", "")
//	for response, err := range files.Responses() { … }
//
// It handles names, directories, links and pipes. Package ingest/internal/capture reads capture files. Commands and Go
// programs may import this package; packages engine and output must not.
//
// # Names
//
//	https_example.com.txt, http_example.com_8080.txt      that origin
//	example.com.txt, example.com_8080.txt                 http and https of that host and port
//	example.com/robots.txt, example.com_8080/robots.txt   the same
//	*.warc*, *.jsonl*                                     captures, which contain their origins
//
// A file name starts with a scheme and an underscore, or directly with the host. Such a host has a dot, or is localhost
// or an IP address. A file for exactly one origin takes precedence over one for a host. Files with other names are
// listed, but not used.
//
// # Captures
//
// A WARC file (1.0 and 1.1) is not packed, or consists of gzip members or zstd frames, preferably one per record. A
// dictionary before zstd frames is used. Records of type response are used, with any status, if their URL has the path
// /robots.txt, or if an earlier one of them redirects to it. A revisit record has the body of the record that it refers
// to, by WARC-Refers-To, URL and date, or payload digest, in any file. Bodies of status 2xx are decoded: chunks, and
// the content codings gzip, deflate, br and zstd, up to 64 MiB. A body that looks like text is not decoded, because
// many crawlers store it decoded without changing the header.
//
// A JSON Lines file has one response per line, at most 16 MiB long:
//
//	url, origin      the fetched URL, the origin of the robots.txt, or both
//	status           the HTTP status, 0 for a network failure; the default is 200 if there is a body
//	fetched_at       RFC 3339, or seconds since 1970; may be missing
//	body, body_b64   text, or bytes in base64
//	location, error  the target of a redirect, and the cause of a failed fetch
//
// A corrupt record is skipped and counted, see [Files.Problems]; the others are used. To continue after it, the reader
// searches for the next gzip member, zstd frame, or line like "WARC/1.0". Two kinds of damage cannot be detected:
// altered bytes in a record that is not packed, unless it has a WARC-Block-Digest; and altered bytes in a line of a
// packed JSON Lines file whose checksum comes later. Both are used. After a fault, text is read again, in total at most
// eight times the file size plus 64 MiB. In a WARC file that is one large gzip member, reading can therefore continue
// after only a few faults.
//
// Memory is bounded by the largest window or line, plus about 100 bytes per capture, to which revisit records may
// refer.
package rulefiles
