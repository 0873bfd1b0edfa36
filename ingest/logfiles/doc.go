// Package logfiles finds logs: single files, patterns, whole directories, and lists of names. It
// gives their names, which [ingest.OpenLogs] opens, with their sizes and with the paths that their
// outputs have.
//
//	list, err := logfiles.Find([]string{"@month.txt", "logs/", "more/**/*.gz"}, os.Stdin)
//
// It hides how names become files. Package ingest reads the text of logs. Commands and Go
// programs may import it.
//
// # Names
//
//	a.zst        a file; the path of its output is a.zst, for /data/../b/a.zst it is b/a.zst
//	logs/        all logs below the directory, in order of their paths, which begin behind it
//	logs/*.zst   a pattern as of [path/filepath.Match]; paths begin at the first part with a wildcard
//	logs/**/*.gz the same, ** standing for any directories, also none
//	@list.txt    a file with one such name per line, as UTF-8; @- is standard input
//	-            standard input
//
// Lists may begin with a byte order mark, lines may end as in Windows, and blank ones do not count.
// All else is part of a name: there are no comments and no quotes.
//
// A file of a name comes before files that the name matches as a pattern; one that begins with @ is named
// ./@x. In directories, a log is a file whose name ends as names of logs do: .log, .txt, .jsonl,
// .warc and others, numbers behind that as in access.log.1, and .gz, .zst and others behind it.
// Files and directories whose names begin with a dot or a low line are neither logs nor missed.
//
// [ingest.OpenLogs]: https://pkg.go.dev/github.com/robobatch/robobatch/ingest#OpenLogs
package logfiles
