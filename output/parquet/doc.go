// Package parquet writes Parquet files from columns of values in memory.
//
// It implements types, pages and statistics, and does not depend on verdicts or robots.txt. Package output and the
// listing of the rules command import it.
//
// A [Writer] writes row groups. For each chunk of rows, the caller requests [Pages] and lets an [Encoder] fill them, one
// column after the other. When enough chunks are encoded, the caller ends the row group. Several encoders may work at
// the same time, each on its own chunk; the file is the same. [Table] is simpler, for small tables: it takes one row at a
// time.
//
// # Why so
//
//   - The arrow library writes only the schema and the footer. Its column writers work value by value: they take 92 ns
//     per row for the columns of output without URLs, whereas pages built here take 35 ns. They also lose the errors of
//     their last pages, and their page headers have no checksums.
//   - A page depends only on its chunk and on the length of the dictionaries at that time, so any goroutine may encode
//     it, and the bytes are the same. This includes texts in DELTA_BYTE_ARRAY: each page begins with a complete text.
//     In files of arrow-go v17, a page continues the previous one, and other readers reject them.
//   - Pages of URLs have their own zstd encoder (wordzstd). Even at its fastest level, the library's encoder
//     searches for matches at nearly every byte, each time with an unpredictable branch, which takes half of the
//     time of the column. Ours looks up only the positions of punctuation, without branches, and then extends the
//     few matches. Its frames are standard zstd, which any decoder reads. The library compresses all other pages,
//     texts with little punctuation, and higher levels.
//   - Statistics are exact or absent. Some readers answer min and max queries with them, and the library cannot mark a
//     value as truncated.
//   - There are no page indexes: the library does not write them, and the readers that we test skip row groups instead.
package parquet
