// Package e2e runs the command over real data and reads its output with the readers of other
// projects: Parquet with DuckDB and ClickHouse, Arrow files and streams with Apache Arrow for
// JavaScript and ClickHouse. It is a module of its own, so that its needs (cgo, Node.js, 200 MB
// of databases) are not dependencies of the command: run `make e2e`.
//
// TestDocs runs the commands and queries of documents, docs/COOKBOOK.md first, and holds their
// outputs; go test -run TestDocs -update writes them again.
//
// Every reader counts the same things, [counts], and they must equal those that the command printed
// with -stats. Where a reader cannot be run, as without Node.js or its packages, its test is
// skipped and says so; CI has them all.
package e2e
