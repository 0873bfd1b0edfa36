// Package output writes verdicts as a table: one row per agent for every row of the input, in input
// order, as Parquet, an Arrow IPC file or stream, CSV or JSON Lines. All hold the same columns with
// the same values. docs/OUTPUT.md has a table of the columns: names, types, and when a value is
// null.
//
// In the [Wide] layout there is one row for every row of the input. Each agent has columns of its
// own for allowed and rule_line, and for reason and rule if they are named. Their names end in the
// agent's name, in lower case, with an underscore in place of all but letters and digits; that of
// "*" is star:
//
//	allowed_googlebot_image  bool   no answer
//	rule_line_star           int32  no rule won
//
// A [Where] leaves rows out before columns are gathered; the engine counts them all the same.
// Columns of the input that are kept follow all others, with the types of their [engine.KeptKind].
// All have nulls.
//
// Text is valid UTF-8: a byte that is not part of a valid sequence is written as %XX, and
// [Writer.InvalidBytes] counts them. Same rows and options give the same bytes, however the rows
// are cut into batches.
//
// # What it hides
//
// Programs see [Options], a [Writer], a [File] and [Verdicts]. Inside, a column is an object:
// schema.go lists them, gather.go computes them, and column.go has one implementation for each type
// of value. CONTRIBUTING.md has the steps that add one. Package output/parquet knows pages,
// internal/fieldtext fields of text, internal/extsort the sort on disk.
//
// # Flow
//
// A [Writer] gathers the rows of its batches in a chunk until it is full and hands the chunk to its
// container. Those of Parquet and of text encode several chunks at once, if [Options].Workers says
// so, while the next is gathered. Texts that repeat are numbered, not hashed, row by row: a
// dictionary has each text once, and small tables lead from a site, an agent or a rule to its
// number. How long a dictionary lives is the container's choice:
//
//   - Parquet: one row group. A row group ends early when its dictionaries grow, so memory is bounded.
//   - Arrow stream: one record batch, whose dictionaries precede it and replace those of the batch
//     before, as the format allows. A batch can be read without the others, and memory is bounded.
//   - Arrow file: the whole file. The format wants one dictionary per column; it is written after the
//     rows, where readers find it by the footer. Memory grows with the number of distinct origins and
//     rules. A reader that ignores the footer finds no dictionaries.
//   - CSV and JSON Lines: until it has grown to some megabytes. Texts are escaped once.
//
// # Order
//
// With [Options].Sort or Partition all rows are gathered first, in memory and then in a temporary
// file, and handed on in another order: to the container, or to one file after the other in a
// directory. docs/OUTPUT.md describes that.
//
// # Metadata
//
// Parquet and Arrow carry key-value metadata, whose names begin with "robobatch.". Arrow has its
// metadata before the rows, so there the counts, known only at the end, are missing. Text has none:
// see [Format.HasMetadata].
//
// # Text
//
// CSV is that of RFC 4180 with LF at the end of lines. Null is an empty field, and the empty text
// "". In JSON Lines every object has all columns in their order, null included. Moments are ISO
// 8601 in UTC with microseconds, in both. Compressed, a chunk is a zstd frame or gzip member.
//
// # Files
//
// A [File] is written under a temporary name in the directory of its final name, which appears only
// when the file is complete: see [Create].
package output
