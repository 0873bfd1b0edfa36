// Package output writes verdicts as a table: one row per agent for every row of the input, in input order, as
// Parquet, an Arrow IPC file or stream, CSV or JSON Lines. All formats have the same columns with the same values.
// docs/OUTPUT.md lists the columns, their types, and when a value is null.
//
// In the [Wide] layout there is one row for every row of the input. Each agent has columns of its
// own for allowed and rule_line, and for reason and rule if they are named. Their names end in the
// agent's name, in lower case, with an underscore instead of all but letters and digits; the name of
// "*" is star:
//
//	allowed_googlebot_image  bool   no answer
//	rule_line_star           int32  no rule won
//
// A [Where] omits rows before columns are gathered; the engine counts them nevertheless. Kept columns of the input
// follow all others, with the types of their [engine.KeptKind]. All are nullable.
//
// Text is valid UTF-8: a byte that is not part of a valid sequence is written as %XX, and [Writer.InvalidBytes]
// counts them. The same rows and options give the same bytes, regardless of the batches.
//
// # The parts that it hides
//
// Programs see [Options], a [Writer], a [File] and [Verdicts]. Behind them are four packages, each of which may use
// those before it:
//
//   - internal/columnar: which columns there are, and how a batch becomes chunks of them
//   - internal/container: how chunks become the bytes of a file, in each format
//   - internal/order: how rows are sorted, in memory and on disk
//   - internal/partition: how a directory has a file for each partition, and is replaced
//
// CONTRIBUTING.md describes how to add a column. Package output/parquet writes pages, internal/fieldtext formats text
// fields, and internal/extsort sorts on disk.
//
// # Flow
//
// A [Writer] gathers the rows of its batches in a chunk until it is full and hands the chunk to its container.
// Containers of Parquet and of text encode several chunks at once, if [Options].Workers says so, while the next is
// gathered. Repeated texts are numbered instead of hashed for each row: a dictionary has each text once, and small
// tables lead from a site, an agent or a rule to its number. The container determines how long a dictionary is used:
//
//   - Parquet: one row group. A row group ends early when its dictionaries grow, so memory is bounded.
//   - Arrow stream: one record batch, whose dictionaries precede it and replace the ones of the batch
//     before, as the format allows. A batch can be read without the others, and memory is bounded.
//   - Arrow file: the whole file. The format wants one dictionary per column; it is written after the
//     rows, where readers find it by the footer. Memory grows with the number of distinct origins and
//     rules. A reader that ignores the footer finds no dictionaries.
//   - CSV and JSON Lines: until it has grown to some megabytes. Texts are escaped once.
//
// # Order
//
// With [Options].Sort or Partition rows are gathered first, in memory and then in a temporary file,
// and handed on in another order: to the container, or to one file after the other in a directory.
// Rows of few partitions go to their files at once. docs/OUTPUT.md describes that.
//
// # Metadata
//
// Parquet and Arrow carry key-value metadata, whose names begin with "robobatch.". Arrow has its
// metadata before the rows, so there the counts, known only at the end, are missing. Text has none:
// see Format.HasMetadata.
//
// # Text
//
// CSV follows RFC 4180, but lines end in LF. Null is an empty field, and an empty text is "". In JSON Lines, every
// object has all columns in order, including nulls. In both, times are ISO 8601 in UTC with microseconds. In
// compressed text, a chunk is a zstd frame or gzip member.
//
// # Files
//
// A [File] is written under a temporary name in the directory of its final name, which appears only
// when the file is complete: see [Create].
//
// Package pipe and commands import it; package ingest must not.
//
// # Why so
//
//   - The wide layout is gathered, not transposed afterwards. Each agent's columns have
//     dictionaries of their own, so each is numbered in row order, whichever agent comes first.
//     Agents are gathered 64 URLs at a time, and these verdicts are transposed in the cache. 95
//     agents cost 0.8 of the long layout for a run without url, and 0.9 with reason and rule
//     (bench, Layout). A chunk holds at most half a million verdicts.
//   - The writer filters rows before it gathers columns. So the engine counts, and the list of
//     rejects sees, all that was decided. The remaining rows of a batch of many agents have one
//     agent each, like rows of a log's own agents.
//   - Lines of text are encoded by chunk, too. CSV and JSON Lines differ in a table of
//     functions. A text of a dictionary is escaped once, with the comma or key before it, and
//     rows copy it. Each chunk is a zstd frame or gzip member of its own, so compressing is
//     parallel. A chunk whose every line repeats a rule of many kilobytes is cut into pieces
//     of 8 MiB, so memory is bounded. CSV lines end with LF, against the letter of RFC 4180: the
//     tools that CSV is for take CR as text.
//   - Sorting is columnar. Chunks stay as they were gathered, numbered by one set of
//     dictionaries. A counting sort orders references to rows by the rank of their text; an
//     origin is compared as a text once for each dictionary. Rows are copied column by column; a
//     table of numbers moves texts from one dictionary to another. The sorter is a container
//     like Parquet and Arrow, with any of them behind it, so formats know nothing of it. Sorted
//     pieces are in one file without a name, in blocks with dictionaries of their own; a merge
//     holds one block of each piece. Rows decide where blocks, row groups and merges end, not
//     memory: a limit changes no byte.
//   - Few partitions are written side by side, many are a sort. An open Parquet file may take 22 MiB
//     until its row group ends, so as many are open as their memory has room for: 17, or as
//     -max-memory says. The others cannot be, and to close and reopen them would leave splinters.
//     The external sort orders their rows by partition, and the files are written one after the
//     other, for ten as for a million. A file gets the same rows in the same order, hence the same
//     bytes, by either way. With one agent, by agent and allowed, that costs 1.2 times the CPU
//     of one file; the sort costs 2.5 times. Crawlers cost more: in one file the URLs of ten are
//     written once and nine times as "the same as before", in partitions ten times.
//   - A file appears when it is complete. It is written under a temporary name beside the final
//     one. If the input breaks off, the rows decided until then are kept, readable, as
//     .partial.parquet.
//   - A directory is replaced whole, or partition by partition, and never unasked. Two names are
//     exchanged where the system can (Linux), and only if the marker in the directory says that
//     robobatch wrote it. To put parts into an output, the marker first names the run and where
//     its files lie, complete; then each part is one rename. A crash is completed, not undone:
//     the files are there and true, and to undo would need the old ones kept. A part that is
//     done is known by the run's file, which its temporary directory no longer has. Files of
//     such runs are named by a hash of the run, so that no run overwrites another, and the same
//     rows are noticed. output/merge_test.go kills it at each step.
package output
