// Package output writes verdicts as a table: one row per agent for every row of the input, in input order, as
// Parquet, an Arrow IPC file or stream, CSV or JSON Lines. All formats have the same columns with the same values.
// docs/OUTPUT.md lists the columns, their types, and when a value is null.
//
// In the [Wide] layout there is one row for every row of the input. Each agent has its own columns allowed and
// rule_line, and, if requested, reason and rule. Their names end in the agent's name in lower case, with
// underscores for all characters except letters and digits; for "*" they end in star:
//
//	allowed_googlebot_image  bool   no answer
//	rule_line_star           int32  no rule won
//
// A [Where] omits rows before columns are gathered, but the engine counts them. Columns kept from the input follow
// all others, with the types of their [engine.KeptKind]. All of them are nullable.
//
// Text is valid UTF-8: a byte that is not part of a valid sequence is written as %XX, and [Writer.InvalidBytes]
// counts them. The same rows and options give the same bytes, regardless of the batches.
//
// # The parts that it hides
//
// Programs use [Options], a [Writer], a [File] and [Verdicts]. These are built on four packages, each of which may
// use the ones before it:
//
//   - internal/columnar: the columns, and how a batch becomes chunks of columns
//   - internal/container: how chunks become a file, in each format
//   - internal/order: how rows are sorted, in memory and on disk
//   - internal/partition: how a directory with a file per partition is written and replaced
//
// CONTRIBUTING.md describes how to add a column. Package output/parquet writes pages, internal/fieldtext formats text
// fields, and internal/extsort sorts on disk.
//
// # Flow
//
// A [Writer] gathers the rows of its batches in a chunk until the chunk is full, and passes it to its container.
// With several [Options].Workers, containers of Parquet and of text encode several chunks at once while the next is
// gathered. Repeated texts are numbered rather than hashed per row: a dictionary has each text once, and small
// tables map a site, an agent or a rule to its number. The container determines how long a dictionary is used:
//
//   - Parquet: one row group. A row group ends early when its dictionaries grow, so memory is bounded.
//   - Arrow stream: one record batch. Its dictionaries precede it and replace those of the previous batch, which
//     the format allows. Each batch can be read without the others, and memory is bounded.
//   - Arrow file: the whole file. The format requires one dictionary per column. It is written after the rows, and
//     readers find it through the footer; a reader that ignores the footer finds no dictionaries. Memory grows with
//     the number of distinct origins and rules.
//   - CSV and JSON Lines: until it has a few megabytes. Each text is escaped once.
//
// # Order
//
// With [Options].Sort or Partition, rows are first gathered, in memory and then in a temporary file. They are
// passed on in another order: to the container, or to one file after the other in a directory. If there are few
// partitions, rows go directly to their files. docs/OUTPUT.md describes that.
//
// # Metadata
//
// Parquet and Arrow files have key-value metadata, with keys that begin with "robobatch.". Arrow writes metadata
// before the rows, so it lacks the counts, which are known only at the end. Text formats have no metadata: see
// Format.HasMetadata.
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
//   - The wide layout is gathered directly. Each agent's columns have their own dictionaries, so each is numbered
//     in row order, whichever agent comes first. Agents are gathered 64 URLs at a time, and their verdicts are
//     transposed in the cache. With 95 agents, a run without url costs 0.8× the long layout, and 0.9× with reason
//     and rule (bench, Layout). A chunk has at most half a million verdicts.
//   - The writer filters rows before it gathers columns. So the counts and the list of rejects include all rows.
//     After filtering a batch of many agents, each remaining row has one agent, like rows of a log with its own
//     agents.
//   - Lines of text are encoded by chunk, too. CSV and JSON Lines differ in a table of functions. A text in a
//     dictionary is escaped once, together with the comma or key before it, and rows copy the result. Each chunk is
//     a separate zstd frame or gzip member, so compression is parallel. If every line of a chunk repeats a rule of
//     many kilobytes, the chunk is divided into pieces of 8 MiB, so memory is bounded. CSV lines end with LF,
//     although RFC 4180 says CRLF: command-line tools treat the CR as text.
//   - Sorting is columnar. Chunks stay as they were gathered, with one set of dictionaries. A counting sort orders
//     references to rows by the rank of their text, so origins are compared as text only once per dictionary. Rows
//     are copied column by column; a table translates numbers from one dictionary to another. The sorter is a
//     container like Parquet and Arrow and writes to any other container, so formats need no code for it. Sorted
//     pieces are in one unnamed file, in blocks with their own dictionaries; a merge keeps one block of each piece
//     in memory. Blocks, row groups and merges end at rows that do not depend on the memory limit, so the limit
//     does not change the output.
//   - Few partitions are written at the same time; for many, rows are sorted. An open Parquet file may take 22 MiB
//     until its row group ends, so the number of open files is limited to 17, or by -max-memory. Closing and
//     reopening files would leave many small row groups. Instead, the rows of all other partitions are sorted by
//     partition in the external sort, and their files are written one after the other, whether there are ten or a
//     million. Both ways give a file the same rows in the same order, and thus the same bytes. With one agent,
//     partitions by agent and allowed cost 1.2× the CPU time of one file, and the sort 2.5×. Several crawlers cost
//     more: for ten crawlers, one file stores each URL once and nine times as "the same as before", but partitions
//     store it ten times.
//   - A file appears when it is complete. It is written under a temporary name beside the final one. If the input
//     fails, the rows decided so far are kept in a readable file, .partial.parquet.
//   - A directory is replaced as a whole or partition by partition, and only on request. It is replaced only if its
//     marker says that robobatch wrote it. If the system supports it (Linux), the two names are exchanged. To add
//     parts to an output, the marker first records the run and the location of its complete files; then each part
//     takes one rename. After a crash, the next run finishes the renames. It does not undo them, because the files
//     are complete and correct, and undoing would require the old ones. A part is done if its file is no longer in
//     the run's temporary directory. Files of such runs are named by a hash of the run, so that runs do not
//     overwrite each other, and a repeated run is noticed. output/merge_test.go kills the process at each step.
package output
