// Package rulefiles finds and reads robots.txt: one file, a directory of files that are named for
// their origins, or files of captures. It gives [robots.Response] values, which package engine
// compiles.
//
//	files, err := rulefiles.Find("rules", "")
//	for response, err := range files.Responses() { … }
//
// It hides names, directories, links and pipes. A file of captures is read by package
// ingest/internal/capture. Commands and Go programs may import it; packages engine and output must
// not.
//
// # Names
//
//	https_example.com.txt, http_example.com_8080.txt      that origin
//	example.com.txt, example.com_8080.txt                 http and https of that host and port
//	example.com/robots.txt, example.com_8080/robots.txt   the same
//	*.warc*, *.jsonl*                                     files of captures, which say themselves whose robots.txt they hold
//
// A file name starts with http, https or ftp and an underscore, or directly with the host. Such a
// host has a dot, or is localhost or an IP address. A file for exactly one origin beats one for a
// host. Files with other names are listed and not used.
//
// # Captures
//
// A WARC file (1.0 and 1.1) is not packed, or consists of gzip members or zstd frames, at best one
// for each record. A dictionary in front of zstd frames is used. Records of type response count if
// their URL has the path /robots.txt, whatever their status, or if one of them before redirects to
// it. A revisit record has the body of the record that it refers to, by WARC-Refers-To, URL and
// date, or payload digest, in any file. Bodies of status 2xx are decoded: chunks, and the content
// codings gzip, deflate, br and zstd, up to 64 MiB. A body that looks like text is not decoded,
// since many crawlers store it so and leave the fields of the header.
//
// A JSON Lines file has one response per line, at most 16 MiB long:
//
//	url, origin      the fetched URL, or whose robots.txt that is; one of them, or both
//	status           the HTTP status, 0 for a network failure; without it, 200 if there is a body
//	fetched_at       RFC 3339, or seconds since 1970; may be missing
//	body, body_b64   text, or bytes in base 64
//	location, error  where a redirect leads, and why a fetch failed
//
// A broken record is omitted and counted, see [Files.Problems]; the others are used. To continue after it, the reader
// searches for the next gzip member, zstd frame, or line like "WARC/1.0". Two kinds of damage cannot be seen: a record
// that is not packed and has changed bytes, unless it has a WARC-Block-Digest; and a line of a packed JSON Lines file
// whose member has a wrong checksum at its end. Both are used. After a fault, text is read again, in all at most eight
// times the file, and 64 MiB: so in a WARC file that is one large gzip member, few faults can be passed.
//
// Memory is the memory of the largest window or line, plus about 100 bytes for each capture, which
// revisit records may refer to.
package rulefiles
