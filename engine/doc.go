// Package engine decides the URLs of a log.
//
// A [Store] has the compiled rules of every origin. [BuildStore] compiles robots.txt responses and
// keeps all rules in memory. [WritePack] compiles them into a file, for any agent and any moment,
// and [OpenPack] makes a Store of that file, which loads rules when rows need them. [Store.Verdict]
// decides one URL. [Run] takes the rows of a [Source] through a Store to a [Sink]:
//
//	Source ── Batch ──> reader ──┬── worker: Evaluator ──┬──> writer ── Batch ──> Sink
//	  ^                          └── worker: Evaluator ──┘                          │
//	  └─────────────────────────────── empty Batches <──────────────────────────────┘
//
// The moving unit is a [Batch] of some thousand rows: there is no channel operation, lock or allocation for a
// single row. The number of batches is fixed, so memory is bounded however fast either end is. Workers finish in
// any order, but the writer restores the order of the source, so the sink sees the same rows in the same order with
// any number of workers. With one worker, a single goroutine reads, decides and writes.
//
// Each row takes three steps: find the site of its URL, normalise its path, and match the path for each agent. If
// the outcome of a fetch decides, for example because the server is unreachable, the site has a rule set without
// rules that gives every URL the same verdict.
//
// The package hides how the site of a URL is found ([Evaluator]), the data in memory, and how batches flow. Its
// packages internal/rules and internal/packed hide compiled rules and packs. Package ingest implements Source and
// package output implements Sink. Both import this package, which imports neither.
//
// # Design
//
// Before it reads the first URL, robobatch parses and compiles all robots.txt files in parallel, each distinct text
// once. (14 % of our 2,561 real files have the same text as another one.) It keeps only what decisions need: tables
// without pointers, and the line and text of the rules in force. Rules from files stay in memory during the run.
//
// Reading one file of a directory takes four system calls. With package os it takes nine, and loading 30,000 files
// took a tenth longer.
//
// A URL belongs to the site with the same normalised origin, and to no other. A worker finds the site of a URL in
// four steps, and stops at the first that succeeds:
//
//  1. The scheme and authority, as written, are those of the previous row. Nearly all logs have many consecutive
//     rows of one host.
//  2. They are among the 4,096 that the worker remembers, as written, one cache line each. Even in random order,
//     most URLs have one of a few hosts: evaluation takes 0.6× to 0.7× the time.
//  3. The text as written is the origin of a site. Nearly all URLs have a normalised origin, so the normalisation
//     is skipped: evaluation over 30,000 origins takes 0.8× to 0.94× the time.
//  4. The origin is normalised and looked up.
//
// Most crawlers are bound by the groups for *. Agents that are bound by the same groups of a file share one rule
// set, and a URL is matched once for each distinct rule set. A small index per text says which agent uses which
// rule set. The verdicts of such agents form a streak, which the writer encodes at once. A run with ten agents
// costs 2.0× a run with one, without the column url (bench, Agents). Compiling for all 95 known crawlers takes 1.5×
// the CPU time of compiling for * only, so -agent-from-log compiles for all of them. A crawler that only a
// robots.txt names gets a higher number, which is valid only for that text; its rules are compiled when a row needs
// them.
//
//   - Most paths are already in normal form. One pass looks up 32 bytes at a time in two tables of 16 entries, by
//     the lower and the upper four bits of each byte, and finds the first byte that is an escape, must be escaped,
//     or begins a fragment (robots/path.go, in assembly and in Go as in the automaton). Only the bytes after it are
//     examined one by one. Compared with arithmetic on eight bytes at a time, which also stopped at each &,
//     evaluation takes 0.84× to 0.88× the time for grouped hosts, and 0.92× in random order.
//   - A row can decide later rows. Matching leaves the trie at the first byte that no rule has there, and then only
//     patterns with wildcards can still match. Without such patterns, the bytes up to there decide
//     (Automaton.Reads). A later row with the same rules whose path begins with these bytes gets the same verdicts;
//     its path is neither normalised nor matched (engine/lead.go). This applies to half of the rows if hosts are
//     grouped: evaluation takes 0.84× the time, and a run without url 0.88× to 0.92×, or 0.95× in random order.
//     With generated rules, few rows are decided this way, and evaluation may take a few per cent longer because of
//     unsuccessful attempts.
//   - If sites change often, rows are matched in the order of their sites. A counting sort of the batch makes it
//     possible to fetch the rules once for all rows of a site; verdicts are still stored by row. If a site has four
//     consecutive rows on average, the batch is not sorted. An array of pointers, by ruling, leads directly to the
//     rule set that all agents share, if they share one, which is usual. A row then waits for memory once instead
//     of four times: a run in random order takes 0.87× the time.
//   - A verdict is a pair of numbers, site and rule. The writer needs each text once per dictionary. Repeated
//     strings are numbered and never hashed row by row. The table of numbered rules is bounded and may drop
//     entries; the dictionary of texts then assigns the same number again.
//   - A streak is gathered and counted once. If hosts are grouped, a streak of rows with one origin and verdict has
//     about 200 rows. In a chunk that has one row per URL and directly becomes pages, a streak is one value: 6 ns
//     per row instead of 17. With short streaks, and for other uses of a chunk, the same columns have one value per
//     row. The output bytes are the same.
//   - Captures are resolved before the run. At a given moment, all captures of an origin result in one outcome
//     (robots.History): rules or a fixed verdict. The hot path does not see captures.
//
// A run can compare two stores (Options.Old). Each worker decides its batch by the new rules, and then finds the
// rulings of the old store for the same rows (engine/compare.go). If both stores have the same text, by its key of
// 16 bytes, or the same outcome, the worker copies the verdicts: a site with an unchanged robots.txt costs a second
// look-up but no matching. The result of the old store is a separate batch that shares the input columns of the
// first, so look-ups, filters and columns work on both. The worker also classifies each row: closed, opened,
// decided by another rule (compared by text, not by line), or the same. So the sink only counts, and needs only the
// changed rows. A row that is unchanged for all agents is counted with one addition. A changed row is attributed to
// a rule by the line in its text, so a rule that 100 origins share is one rule. The output of changed rows is like
// any other, with a filter and four more columns. Without a log, the paths come from internal/witness, and nothing
// else differs.
package engine
