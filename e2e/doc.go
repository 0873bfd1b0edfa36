// Package e2e runs the command over real data and reads its output with the readers of other
// projects: Parquet with DuckDB and ClickHouse, Arrow files and streams with Apache Arrow for
// JavaScript and ClickHouse. It is a separate module, so that the command does not depend on cgo, Node.js and 200 MB
// of databases. Run it with `make e2e`.
//
// TestDocs runs the commands and queries of docs/COOKBOOK.md, and compares their
// outputs; go test -run TestDocs -update updates them.
//
// All readers compute the same [counts], which must equal those that the command wrote
// with -stats. If a reader is missing, such as Node.js or its packages, its test is
// skipped with a reason; CI has all readers.
package e2e
