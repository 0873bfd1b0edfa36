// Package packed keeps rules in packs: it writes a pack of compiled rules, and opens one as a
// [rules.Store], with or without a memory limit. It hides how a text is laid out in a pack, when
// rules are loaded and dropped, and which captures decide. Only package engine imports it.
//
// # Why so
//
// robobatch compile compiles rules once and writes a pack. A later run may ask for any agent and any moment, but only
// for one dialect. So a pack has
//
//   - each capture, with its time and outcome. robots.History later chooses among the captures of an
//     origin;
//   - for each distinct text, the product tokens of its groups, and one automaton for each set
//     of groups that a token can select. Equal texts are stored once, and so are equal automata:
//     files that differ in a comment share them. A hostile text can have thousands of
//     overlapping selections; it is stored as written and compiled when it is loaded.
//   - of a text that binds some crawler by other rules in another reading, its essence, by which a row that is
//     forbidden is decided in each. Of 2,561 real files that are 519, and 1,238 of their 10,526 selections; the
//     pack has 28 % more bytes. Other texts have not a byte more.
//   - Ready at once. Opening reads the header and the directories of the tables. The header has
//     the hash of the rules in force at the newest capture. A block of a table, a record or a
//     chunk is read and checked when it is first needed: 6 µs for an origin with twenty rules.
//     A run on ten URLs takes little more with a million origins than with ten.
//     For another moment, opening reads all records once, because the hash depends on all of
//     them.
//   - Loaded rules, without a limit, are an atomic pointer for each origin and text, in parts that
//     are made at their first use. A row then costs as much as with rules from files.
//   - Loaded rules, under -max-memory, are 4 bytes for each origin (the ruling in force) and a
//     cache of texts (ristretto). The cache may drop anything at any time, and a text just added
//     may never appear. So code uses the pointer in its hand, workers remember 64 origins, and a
//     batch keeps the names and rules that its verdicts need until it is written, each rule once
//     for all agents that have the same. All of that counts bytes, since a rule may have 500
//     KiB. Of the room for rules, workers may remember an eighth, batches may keep another, and
//     the cache has three; the rest is for rules dropped and not collected yet. A full queue
//     of the cache makes the writer to it wait. Rules that do not fit are loaded again.
//   - A limit is kept, not aimed at. The memory for work on rows is counted before the run
//     (cmd/robobatch/internal/memory): unpackers, batches, chunks, encoders, and the row group
//     or the dictionaries of the output. As many workers run as leave room for rules; if one
//     does not, the run is refused, with the limit that it needs. The numbers are measured, by
//     make memory: a process may hold 1.1 times the limit and 16 MiB. Compiling files under a
//     limit is not counted: its hashes take some 200 bytes per origin, whose number is
//     unknown before. The limit itself never decides where a row group or a chunk ends,
//     because then it would change bytes. Row groups end early by their content: 32 MiB of
//     texts, or 8 MiB of dictionaries, which take three times that while they are written.
//   - Finding an origin does not load its rules. Where each row has another origin, this saves a
//     third to a half of the CPU time. The cache holds texts by number, not origins: that is
//     exact, and origins share a text. The name of an origin is compared with its record after
//     each lookup by hash.
//   - Without a limit the file is mapped; under a limit it is read by system calls. The pages of
//     a mapping would count as memory of the process.
//   - Texts are identified by half of their SHA-256. Strangers write them, and someone can find
//     a second text with the same XXH3 in milliseconds; one origin would then get the rules of
//     another. SHA-256 takes a fourteenth of loading. Checksums are XXH3, of the bytes and of
//     their place, so bytes in a wrong place are found, too.
//   - Another process can cut a mapped file short. The system reports that as a fault. robobatch
//     turns it into an error, as if the file had been read.
//   - A hash is not a signature. Whoever writes a pack can make it say anything. But no pack can
//     make the program panic, hang, or read beyond its end: tables are validated before they are
//     used, in time linear in their length.
//   - Files under a limit become a temporary pack beside the output. So there is only one form
//     on disk. Where the system can, the pack loses its name as soon as it is open, so no signal
//     leaves it behind.
//
// A pack is written as a stream. Parallel compilers give texts in order; captures go through the
// external sort. Memory holds the hash and place of each distinct text and rule set.
package packed
