// Package parquetfile reads columns of Parquet files, and believes nothing that it can check.
//
// The format says most things twice, and this package compares them before the first row that
// depends on them: rows of the file, of its row groups and of their columns; names and types in the
// schema and beside the data; the values and bytes of all pages of a column, by their headers; the
// checksum of a page, if it has one; the length of a page before and after compression; and that
// the values of a page fill it. So a damaged file is an error. The one unknown is a change in
// the data of a page without a checksum whose compression has none either, and a change in the
// footer that leaves it consistent.
//
// The arrow library reads the footer. Pages are read here, because the library ignores checksums,
// and panics at some damaged pages. Lists are not read. Only package ingest imports it.
package parquetfile
