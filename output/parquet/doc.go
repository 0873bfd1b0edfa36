// Package parquet writes Parquet files from columns of values that are in memory already.
//
// It implements types, pages and statistics, and does not depend on verdicts or robots.txt. Packages output and
// listfile use it, and any program with columns in memory can. The arrow library writes schema and footer. Pages
// are built here, because the library's column writers work value by value: 92 ns a row for the columns of output
// without URLs, against 35. Their headers are written here, because the library's have no checksums.
//
// A [Writer] writes row groups. For each chunk of rows, the caller requests [Pages] and lets an [Encoder] fill
// them, one column after the other. When enough chunks are encoded, the caller ends the row group. Several encoders
// may work at once, each on its own chunk; the file is the same. [Table] is simpler, for small tables: it takes one
// row at a time.
//
// Statistics are exact or absent, because some readers answer queries for the least and greatest
// value with them.
//
// Package output and the listing of the command rules import it.
//
// # Why so
//
//   - robobatch builds pages, arrow-go frames them. The library's column writers take 92 ns a
//     row for the columns without url, and lose the errors of their last pages; building pages
//     directly takes 35. The writer numbers dictionaries in row order. A page depends only on
//     its chunk and on the length of the dictionaries at that time, so any goroutine may encode
//     it, and the bytes are the same. That goes for texts in DELTA_BYTE_ARRAY, too: each of our
//     pages begins with a whole text, whereas arrow-go v17 goes on from the page before, and
//     other readers refuse its files.
//   - Pages of URLs have their own zstd encoder (wordzstd). Even at its fastest level, the library's encoder
//     searches for matches at nearly every byte, each time with an unpredictable branch, which takes half of the
//     time of the column. Ours looks up only the positions of punctuation, without branches, and then extends the
//     few matches. Its frames are standard zstd, which any decoder reads. The library compresses all other pages,
//     texts with little punctuation, and higher levels.
//   - Statistics are exact or absent. Some readers answer min and max with them, and the library
//     cannot say that a value was cut.
//   - Page indexes are left out: the library does not write them, and the readers that we test
//     skip by row group.
package parquet
