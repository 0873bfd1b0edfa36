// Package packed keeps rules in packs: it writes a pack of compiled rules, and opens one as a
// [rules.Store], with or without a memory limit. It hides how a text is laid out in a pack, when
// rules are loaded and dropped, and which captures decide. Only package engine imports it.
//
// # Design
//
// robobatch compile compiles rules once and writes a pack. A later run can use any agent and any moment, but only
// the dialect of the pack. So a pack contains
//
//   - each capture, with its time and outcome. When the pack is used, robots.History chooses among the captures of
//     an origin;
//   - for each distinct text, the product tokens of its groups, and one automaton for each set of groups that a
//     token can select. Equal texts are stored once, and so are equal automata: files that differ only in comments
//     share them. A hostile text can have thousands of overlapping selections; such a text is stored as written and
//     compiled when it is loaded;
//   - for a text that has different rules for some crawler in another reading, its essence. With it, disallowed
//     rows are decided again in each reading. This concerns 519 of 2,561 real files, and 1,238 of their 10,526
//     selections, and makes the pack 28 % larger. Other texts do not grow.
//   - A pack is ready at once. Opening reads the header and the directories of the tables. The header contains the
//     hash of the rules in force at the newest capture. A table block, a record or a chunk is read and checked when
//     it is first needed: 6 µs for an origin with twenty rules. A run on ten URLs takes only a little longer with a
//     million origins than with ten. If the run uses another moment, opening reads all records once, because the
//     hash depends on all of them.
//   - Without a limit, there is an atomic pointer to the loaded rules for each origin and text. The arrays of
//     pointers are allocated in parts, at their first use. A row then costs as much as with rules from files.
//   - Under -max-memory, there are 4 bytes per origin (the ruling in force) and a cache of texts (ristretto). The
//     cache may drop anything at any time, even a text just added. So code uses the pointer that it already has,
//     workers remember 64 origins, and a batch keeps the names and rules that its verdicts need until it is
//     written, each rule once for all agents that share it. All of these count bytes, because a rule can have 500
//     KiB. Of the memory for rules, workers may use an eighth, batches an eighth, and the cache three eighths; the
//     rest is for dropped rules that are not yet garbage-collected. If the queue of the cache is full, adding to it
//     waits. Rules that do not fit are loaded again.
//   - The limit is enforced. The memory for processing rows is computed before the run
//     (cmd/robobatch/internal/memory): decompression, batches, chunks, encoders, and the row group or the
//     dictionaries of the output. The number of workers is chosen so that room for rules is left. If even one
//     worker leaves too little, the run stops with an error that says which limit it needs. make memory checks this
//     by measurement: a process may use 1.1 times the limit plus 16 MiB. Compiling files under a limit is not
//     included: its hashes take about 200 bytes per origin, and the number of origins is not known before. The
//     limit never determines where a row group or a chunk ends, because then it would change the output. Row groups
//     end early only because of their content: 32 MiB of texts, or 8 MiB of dictionaries, which take three times as
//     much while they are written.
//   - Finding an origin does not load its rules. If each row has a different origin, this saves a third to a half
//     of the CPU time. The cache is indexed by the number of the text: origins share texts, and numbers do not
//     collide. After each lookup by hash, the name of the origin is compared with its record.
//   - Without a limit, the file is memory-mapped. Under a limit, it is read with system calls, because the pages of
//     a mapping would count as memory of the process.
//   - Texts are identified by half of their SHA-256. Anyone can write a robots.txt, and a second text with the same
//     XXH3 can be found in milliseconds; one origin would then get the rules of another. SHA-256 takes a fourteenth
//     of the loading time. Checksums are XXH3 of the bytes and of their offset, so they also detect bytes in the
//     wrong place.
//   - Another process can truncate a mapped file. The system reports that as a fault, which robobatch turns into a
//     read error.
//   - A hash is not a signature: the author of a pack can put any rules into it. But no pack can make the program
//     panic, hang, or read beyond its end. Tables are validated before they are used, in time linear in their
//     length.
//   - Under a limit, rules from files become a temporary pack beside the output, so there is only one format on
//     disk. If the system supports it, the pack is unlinked as soon as it is open, so that no signal leaves it
//     behind.
//
// A pack is written as a stream. Texts are compiled in parallel and written in order; captures pass through the
// external sort. Memory holds only the hash and the offset of each distinct text and rule set.
package packed
