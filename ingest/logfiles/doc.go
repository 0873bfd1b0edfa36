// Package logfiles finds logs: single files, patterns, whole directories, and lists of names. It returns their names
// for [ingest.OpenLogs], their sizes, and the relative paths of their outputs.
//
//	list, err := logfiles.Find([]string{"@month.txt", "logs/", "more/**/*.gz"}, os.Stdin)
//
// Package ingest reads the text of logs. Commands and Go programs may import this package.
//
// # Names
//
//	a.zst        a file; the path of its output is a.zst; for /data/../b/a.zst it is b/a.zst
//	logs/        all logs below the directory, ordered by path; paths are relative to it
//	logs/*.zst   a pattern as in [path/filepath.Match]; paths begin at the first part with a wildcard
//	logs/**/*.gz the same; ** matches any number of directories, including none
//	@list.txt    a UTF-8 file with one such name per line; @- is standard input
//	-            standard input
//
// Lists may begin with a byte order mark, and lines may end in CR LF. Blank lines are ignored. Everything else is part
// of a name: there are no comments and no quotes.
//
// If a file with exactly the name of a pattern exists, it takes precedence over the files that match. A file whose name
// begins with @ is named ./@x. In directories, a log is a file with the extension of a log: .log, .txt, .jsonl, .warc
// and others, also with numbers after it as in access.log.1, and with .gz, .zst and others after that. Files and
// directories whose names begin with a dot or an underscore are ignored.
//
// [ingest.OpenLogs]: https://pkg.go.dev/github.com/robobatch/robobatch/ingest#OpenLogs
package logfiles
