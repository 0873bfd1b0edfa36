// Package parquet writes Parquet files from columns of values that are in memory already.
//
// It knows types, pages, statistics and Bloom filters, and nothing of verdicts or robots.txt.
// Packages output and listfile use it, and any program with columns in memory can. The arrow
// library writes schema and footer. Pages are built here, because the library's column writers work
// value by value: 92 ns a row for the columns of output without URLs, against 35. Their headers are
// written here, because those of the library have no checksums.
//
// A [Writer] writes row groups. For each chunk of rows the caller asks for [Pages], has an
// [Encoder] fill them, one column after the other, and ends the row group when enough chunks are
// encoded. Several encoders may work at once, each on its own chunk; they change no byte of the
// file. [Table] is the simple way for small tables: one row at a time.
//
// Statistics are exact or absent, because some readers answer queries for the least and greatest
// value with them. Bloom filters are split block filters over XXH64, as the format specifies.
package parquet
